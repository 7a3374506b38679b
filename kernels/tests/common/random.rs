//! Random problems that numbers name.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{env, fmt, thread};

use super::Failure;

/// Threads that compile, run and check.
const WORKERS: usize = 16;

/// The bounds of a problem's results are too wide to say anything about them.
#[derive(Debug)]
pub(crate) struct Unjudged(pub(crate) String);

impl fmt::Display for Unjudged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unjudged {}

/// The numbers that `GIRIH_SEEDS` names as `from..to`, or the first `GIRIH_CASES` ones, of which there are usually so many.
fn seeds(usual: u64) -> Result<Range<u64>, Failure> {
    if let Ok(text) = env::var("GIRIH_SEEDS") {
        let (from, to) = text.split_once("..").ok_or("GIRIH_SEEDS is not `from..to`")?;
        return Ok(from.trim().parse()?..to.trim().parse()?);
    }
    Ok(0..env::var("GIRIH_CASES").ok().map_or(Ok(usual), |cases| cases.parse())?)
}

/// Runs numbered problems in families of so many neighbours, which one thread runs one after the other: compiling a kernel takes longer than many
/// problems by it. `shared` makes what the problems of a family share, `one` runs a problem, and `kernels` counts what was compiled.
pub(crate) fn run<S>(
    usual: u64,
    family: u64,
    shared: impl Fn(u64) -> S + Sync,
    one: impl Fn(&S, u64) -> Result<(), Failure> + Sync,
    kernels: impl Fn(&S) -> usize + Sync,
) -> Result<(), Failure> {
    let (seeds, begun) = (seeds(usual)?, Instant::now());
    let most = env::var("GIRIH_SECONDS").ok().map(|text| text.parse()).transpose()?.map(Duration::from_secs);
    let families: Vec<u64> = (seeds.start / family..seeds.end.div_ceil(family)).collect();
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(0));
    let (run, unjudged, compiled) = (AtomicU64::new(0), AtomicU64::new(0), AtomicUsize::new(0));
    let work = || {
        while most.is_none_or(|most| begun.elapsed() < most) {
            let Some(&number) = families.get(next.fetch_add(1, Ordering::Relaxed)) else { return };
            let shared = shared(number);
            for seed in seeds.start.max(number * family)..seeds.end.min((number + 1) * family) {
                run.fetch_add(1, Ordering::Relaxed);
                match one(&shared, seed) {
                    Ok(()) => {}
                    Err(error) if error.is::<Unjudged>() => _ = unjudged.fetch_add(1, Ordering::Relaxed),
                    Err(error) => {
                        println!("failed: {seed}: {}", error.to_string().replace('\n', " "));
                        *failures.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) += 1;
                    }
                }
            }
            compiled.fetch_add(kernels(&shared), Ordering::Relaxed);
        }
    };
    thread::scope(|scope| (0..WORKERS).for_each(|_| _ = scope.spawn(work)));
    let (run, unjudged, compiled) = (run.into_inner(), unjudged.into_inner(), compiled.into_inner());
    let seconds = begun.elapsed().as_secs_f64();
    println!("{run} problems, {unjudged} of them not judged, {compiled} kernels, {seconds:.1} s");
    // Few problems have scores whose rounding alone may change a result by a tenth.
    if 20 * unjudged > run.max(40) {
        return Err(format!("{unjudged} of {run} problems were not judged").into());
    }
    let left = families.get(next.into_inner()).map(|number| format!("{}..{}", number * family, seeds.end));
    match (failures.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()), left) {
        (0, None) => Ok(()),
        (0, Some(left)) => Err(format!("no time for the rest: GIRIH_SEEDS={left}").into()),
        (failures, _) => Err(format!("{failures} of {run} problems failed").into()),
    }
}
