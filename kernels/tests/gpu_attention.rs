//! Random problems of attention on a GPU. Skips with one line where there is none.
//!
//! A number says everything about a problem, so that one that has failed can be run again: `GIRIH_SEEDS=1308..1309` runs number 1308. `GIRIH_CASES=200`
//! runs the first 200, and `GIRIH_SECONDS=200` begins nothing after so many seconds, and says which numbers are left.

mod common;

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{env, thread};

use common::Failure;
use common::attention::{exact, generator, random, verify, verify_values};
use common::unjudged::Unjudged;
use girih_device::{Device, Select};
use girih_kernels::attention::{Attentions, KernelKind, MAX_HEADS, Order, Problem};
use girih_tensor::DType;
use rand::RngExt;

/// Problems that have the same dtype and head dim follow each other: compiling a kernel takes longer than many problems by it.
const FAMILY: u64 = 8;
const CASES: u64 = 1000;
/// Threads that compile, run and check.
const WORKERS: usize = 16;
/// The most queries and keys.
const LONGEST: i64 = 5000;

/// The numbers that `GIRIH_SEEDS` names as `from..to`, or the first `GIRIH_CASES` ones.
fn seeds(usual: u64) -> Result<Range<u64>, Failure> {
    if let Ok(text) = env::var("GIRIH_SEEDS") {
        let (from, to) = text.split_once("..").ok_or("GIRIH_SEEDS is not `from..to`")?;
        return Ok(from.trim().parse()?..to.trim().parse()?);
    }
    Ok(0..env::var("GIRIH_CASES").ok().map_or(Ok(usual), |cases| cases.parse())?)
}

/// Runs a problem by the kernel that is chosen for it, and one of eight by the kernel for other GPUs too.
fn one(attentions: &Attentions, device: &Device, seed: u64) -> Result<(), Failure> {
    let mut of_family = generator(seed / FAMILY);
    let dtype = [DType::Bf16, DType::Bf16, DType::F16, DType::F32][of_family.random_range(0..4)];
    let dims = [64, 128, 128, 96, 192, 256, of_family.random_range(1..=256)];
    let dim = dims[of_family.random_range(0..dims.len())];
    // Products of f32 by multiply-adds take long.
    let most =
        [LONGEST, 700][of_family.random_range(0..2)].min(if dtype == DType::F32 { 1500 } else { LONGEST });
    let mut rng = generator(seed + 1_000_000);
    let problem = random(&mut rng, dtype, dim, most)?;
    let stretch = [1.0, 1.0, 4.0, 12.0, 100.0][rng.random_range(0..5)];
    verify(&attentions.get(&problem)?, device, seed, stretch)?;
    if seed.is_multiple_of(8) {
        verify(&attentions.by(&problem, Some(KernelKind::Sm80))?, device, seed, stretch)?;
    }
    Ok(())
}

#[test]
fn random_problems() -> Result<(), Failure> {
    run(CASES, one)
}

#[test]
fn large_scores_and_finite_masks() -> Result<(), Failure> {
    run(2 * CASES, large)
}

/// Runs so many problems by this function, or those that the environment names.
fn run(cases: u64, one: fn(&Attentions, &Device, u64) -> Result<(), Failure>) -> Result<(), Failure> {
    let device = match Device::open(Select::Cuda(0)) {
        Ok(device) => device,
        Err(error) => {
            println!("skipped: {error}");
            return Ok(());
        }
    };
    let (seeds, begun) = (seeds(cases)?, Instant::now());
    let most = env::var("GIRIH_SECONDS").ok().map(|text| text.parse()).transpose()?.map(Duration::from_secs);
    let families: Vec<u64> = (seeds.start / FAMILY..seeds.end.div_ceil(FAMILY)).collect();
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(0));
    let (run, unjudged, kernels) = (AtomicU64::new(0), AtomicU64::new(0), AtomicUsize::new(0));
    let work = || {
        while most.is_none_or(|most| begun.elapsed() < most) {
            let Some(&number) = families.get(next.fetch_add(1, Ordering::Relaxed)) else { return };
            let attentions = Attentions::new(&device);
            for seed in seeds.start.max(number * FAMILY)..seeds.end.min((number + 1) * FAMILY) {
                run.fetch_add(1, Ordering::Relaxed);
                match one(&attentions, &device, seed) {
                    Ok(()) => {}
                    Err(error) if error.is::<Unjudged>() => _ = unjudged.fetch_add(1, Ordering::Relaxed),
                    Err(error) => {
                        println!("failed: {seed}: {}", error.to_string().replace('\n', " "));
                        *failures.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) += 1;
                    }
                }
            }
            kernels.fetch_add(attentions.modules(), Ordering::Relaxed);
        }
    };
    thread::scope(|scope| (0..WORKERS).for_each(|_| _ = scope.spawn(work)));
    let (run, unjudged, kernels) = (run.into_inner(), unjudged.into_inner(), kernels.into_inner());
    println!(
        "{run} problems, {unjudged} of them not judged, {kernels} kernels, {:.1} s",
        begun.elapsed().as_secs_f64()
    );
    // Few problems have scores whose rounding alone may change a result by a tenth.
    if 20 * unjudged > run.max(40) {
        return Err(format!("{unjudged} of {run} problems were not judged").into());
    }
    let left = families.get(next.into_inner()).map(|family| format!("{}..{}", family * FAMILY, seeds.end));
    match (failures.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()), left) {
        (0, None) => Ok(()),
        (0, Some(left)) => Err(format!("no time for the rest: GIRIH_SEEDS={left}").into()),
        (failures, _) => Err(format!("{failures} of {run} problems failed").into()),
    }
}

/// Runs a problem of scores of up to 1e30, of finite masks, and of what is not a number where no query sees it, by both kernels.
fn large(attentions: &Attentions, device: &Device, seed: u64) -> Result<(), Failure> {
    let mut of_family = generator(seed / FAMILY + 5_000_000);
    let dtype = [DType::Bf16, DType::F16, DType::F32][of_family.random_range(0..3)];
    let dim = [64, 128, 96, 40][of_family.random_range(0..4)];
    let mut rng = generator(seed + 6_000_000);
    let (problem, values) = exact(&mut rng, dtype, dim, [600, 200][of_family.random_range(0..2)])?;
    for kind in [None, Some(KernelKind::Sm80)] {
        verify_values(&attentions.by(&problem, kind)?, device, seed, values)?;
    }
    Ok(())
}

/// Heads of which some have numbers with all 16 bits, in more batches than one: more tiles than the second axis of a grid has blocks.
#[test]
fn as_many_heads_as_there_may_be() -> Result<(), Failure> {
    let device = match Device::open(Select::Cuda(0)) {
        Ok(device) => device,
        Err(error) => {
            println!("skipped: {error}");
            return Ok(());
        }
    };
    let attentions = Attentions::new(&device);
    for kv_heads in [MAX_HEADS, MAX_HEADS / 3] {
        let problem =
            Problem::new(DType::Bf16, Order::Bhsd, [2, MAX_HEADS, 2, 3, 8])?.with_kv_heads(kv_heads)?;
        for kind in [None, Some(KernelKind::Sm80)] {
            verify(&attentions.by(&problem.clone().with_lse(true), kind)?, &device, 1, 4.0)?;
        }
    }
    Ok(())
}
