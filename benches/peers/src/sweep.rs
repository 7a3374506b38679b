//! Configurations of girih for one row against each other, and the best of them against the peer.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use float8::F8E4M3;
use girih_codegen::gemm::Schedule;
use girih_device::Pod;
use girih_kernels::gemm::choose::Plan;
use girih_kernels::gemm::{
    Gemm, GemmConfig, KernelKind, Problem, candidates, configurations, described, portable,
};
use girih_tensor::{DType, Element};
use half::{bf16, f16};
use serde_json::{Value, json};

use crate::contest::{Contestant, Failure, Times, contest};
use crate::fields;
use crate::measure::{Bench, Side};
use crate::operands::{Operands, problem};
use crate::ours::{Ours, chosen, epilogue};
use crate::product::typed;
use crate::record::micros;
use crate::rows::{Product, Row, Work};
use crate::theirs::{closest, finalists, plan};

/// Those that are measured beside girih's choice and the peer's best ones.
const FINALISTS: usize = 4;
const PEERS: usize = 2;
/// One of this many configurations of a sweep is not taken for one of the fastest. A model that is fitted to likely ones alone knows nothing of
/// the others.
const OTHERS: usize = 4;

impl Bench {
    /// Measures configurations of girih for a row that is a product: each in a short slice, the best ones beside each other and the peer.
    ///
    /// # Errors
    /// What refuses the problem; the device's.
    pub(crate) fn product_sweep(&self, row: &Row, product: &Product) -> Result<Value, Failure> {
        typed!(product, sweep(self, row, product))
    }
}

fn sweep<T: Element + Pod, C: Element + Pod>(
    bench: &Bench,
    row: &Row,
    product: &Product,
) -> Result<Value, Failure> {
    let device = &bench.device;
    let operands = Operands::<T, C>::new(bench, product)?;
    let problem = problem(product)?;
    let mut configs = vec![chosen(bench, product, &problem)?];
    for config in found(bench, product, &problem) {
        if !configs.contains(&config) && !bench.blamed.contains(&described(&config)) {
            configs.push(config);
        }
    }
    let (mut sides, mut ran, mut failed) = (Vec::new(), Vec::new(), Vec::new());
    for (config, loaded) in configs.iter().zip(bench.load(product, &problem, &configs)) {
        let length = bench.effort.sweep.timed / 3;
        match loaded.and_then(|gemm| Ours::loaded(bench, gemm, &operands, length).map_err(|e| e.to_string()))
        {
            Ok(ours) => {
                sides.push(ours.side.named(described(config)));
                ran.push(config);
            }
            Err(error) => {
                // Where the device has failed, so will all that comes.
                device.synchronize().map_err(|stopped| format!("{stopped} after: {error}"))?;
                println!("  left out {}: {error}", described(config));
                failed.push(json!({"config": described(config), "why": error}));
            }
        }
    }
    if sides.is_empty() {
        return Err("no configuration runs".into());
    }
    let mut contestants: Vec<Contestant<'_>> = sides.iter().map(Side::contestant).collect();
    let times = contest(device, bench.effort.sweep, &mut contestants)?;
    drop(contestants);
    let mut all: Vec<_> = times.iter().map(micros).zip(&times).zip(&ran).collect();
    all.sort_by(|a, b| a.0.0.total_cmp(&b.0.0));
    let told = |((us, times), config): &((f64, &Times), &&GemmConfig)| json!({"config": times.name, "us": us, "spread": times.samples.spread(), "fields": fields::config(config)});
    let all: Vec<Value> = all.iter().map(told).collect();
    // girih's choice stays to the end, for comparison.
    let usual = (sides[0].name == described(&configs[0])).then(|| sides.remove(0));
    let mut last = closest(sides, &times[usize::from(usual.is_some())..], FINALISTS);
    last.extend(usual);
    let plan = plan(bench, product, &operands);
    let peers =
        plan.as_ref().map_err(|e| e.to_string().into()).and_then(|plan| finalists(bench, plan, &operands));
    let peers = peers.map(|peers| peers.into_iter().take(PEERS).collect::<Vec<_>>());
    let both = last.iter().chain(peers.iter().flatten());
    let mut contestants: Vec<Contestant<'_>> = both.map(Side::contestant).collect();
    let mut times = contest(device, bench.effort.last, &mut contestants)?;
    drop(contestants);
    let theirs = times.split_off(last.len());
    let best = theirs.iter().min_by_key(|times| times.samples.median());
    let mut finalists: Vec<Value> = times
        .iter()
        .map(|times| {
            let ratio = best.map(|best| times.speed_beside(best));
            let config = configs.iter().find(|config| described(config) == times.name);
            json!({
                "config": times.name, "plan": config.and_then(Plan::of).map(|plan| plan.to_string()),
                "us": micros(times), "spread": times.samples.spread(),
                "ratio": ratio.map(|r| r.mean), "ratio_lower": ratio.map(|r| r.lower),
            })
        })
        .collect();
    finalists.sort_by(|a, b| a["us"].as_f64().unwrap_or(0.0).total_cmp(&b["us"].as_f64().unwrap_or(0.0)));
    Ok(json!({
        "sweep": row.name, "bar": row.bar, "product": fields::product(product), "chosen": described(&configs[0]),
        "finalists": finalists, "configs": all, "failed": failed,
        "peer": best.map(|best| best.name.as_str()), "peer_us": best.map(micros),
    }))
}

/// What is measured beside girih's choice.
fn found(bench: &Bench, product: &Product, problem: &Problem) -> Vec<GemmConfig> {
    let multiprocessors = bench.device.limits().multiprocessors;
    let by_warps = product.kernel == Some(KernelKind::Sm80);
    let all = || if by_warps { portable(problem) } else { configurations(problem, multiprocessors) };
    match (bench.configs.is_empty(), by_warps) {
        (true, true) => portable(problem),
        (true, false) => {
            let others = bench.most / OTHERS;
            let mut found = candidates(problem, multiprocessors, bench.most - others);
            // Groups have few configurations.
            if problem.groups().is_none() {
                let all: Vec<_> =
                    all().into_iter().filter(|config| passed(problem, config) <= PASSED).collect();
                found.extend(spread(&all, others));
            }
            found
        }
        (false, _) => {
            let wanted = |line: &str| {
                bench.configs.iter().any(|parts| parts.split('&').all(|part| line.contains(part)))
            };
            all().into_iter().filter(|config| wanted(&described(config))).take(2 * bench.most).collect()
        }
    }
}

/// The most bytes that the blocks of a configuration pass to one another: the device has the memory for more, and nothing fast takes it.
const PASSED: i64 = 1 << 30;

/// The bytes of the sums that blocks which share a tile pass to one another in memory.
fn passed(problem: &Problem, config: &GemmConfig) -> i64 {
    let Schedule::SplitK { parts, cluster } = config.schedule else { return 0 };
    let [m, n, _] = problem.oriented(config.c_major).0.mnk();
    let tiles = (m + config.tile[0] - 1) / config.tile[0] * ((n + config.tile[1] - 1) / config.tile[1]);
    let sums = tiles * config.tile[0] * config.tile[1] * 4 * problem.batches();
    if parts == cluster { 0 } else { sums.saturating_mul(parts) }
}

/// This many of the likelier half of all configurations, whose places have logarithms at equal distances.
fn spread(all: &[GemmConfig], count: usize) -> impl Iterator<Item = GemmConfig> {
    let half = (all.len() / 2) as f64;
    (1..=count).filter_map(move |i| all.get(half.powf(i as f64 / count as f64) as usize).copied())
}

impl Bench {
    /// Each configuration's kernel. Threads load them, since the driver compiles for a tenth of a second and more.
    fn load(
        &self,
        product: &Product,
        problem: &Problem,
        configs: &[GemmConfig],
    ) -> Vec<Result<Gemm, String>> {
        let (gemms, epilogue) = (&self.gemms, epilogue(product));
        at_once(configs, |config| {
            gemms.configured(problem, *config, &epilogue).map_err(|error| error.to_string())
        })
    }

    /// Loads what girih chooses for rows that are products, all at once. What can't be loaded is found again where it is measured.
    pub fn prepare(&self, rows: &[Row]) {
        let products = rows.iter().filter_map(|row| match &row.work {
            Work::Product(product) if product.tile.is_none() => Some(product),
            _ => None,
        });
        let chosen = products.filter_map(|product| {
            let problem = problem(product).ok()?;
            Some((problem, chosen(self, product, &problem).ok()?, epilogue(product)))
        });
        let gemms = &self.gemms;
        at_once(&chosen.collect::<Vec<_>>(), |(problem, config, epilogue)| {
            gemms.configured(problem, *config, epilogue).is_ok()
        });
    }
}

/// What a function gives for each, by as many threads as there are processors.
fn at_once<T: Sync, R: Send>(all: &[T], call: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let places: Vec<Mutex<Option<R>>> = all.iter().map(|_| Mutex::new(None)).collect();
    let (next, threads) = (AtomicUsize::new(0), thread::available_parallelism().map_or(1, NonZero::get));
    thread::scope(|scope| {
        for _ in 0..threads.min(all.len()) {
            scope.spawn(|| {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let Some(one) = all.get(i) else { break };
                    let given = call(one);
                    *places[i].lock().unwrap_or_else(PoisonError::into_inner) = Some(given);
                }
            });
        }
    });
    places
        .into_iter()
        .filter_map(|place| place.into_inner().unwrap_or_else(PoisonError::into_inner))
        .collect()
}
