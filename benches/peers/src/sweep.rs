//! Configurations of girih for one row against each other, and the best of them against the peer.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use float8::F8E4M3;
use girih_device::{Device, Pod};
use girih_kernels::gemm::{
    Epilogue, Gemm, GemmConfig, Gemms, KernelKind, Problem, candidates, configurations, described, portable,
};
use girih_tensor::{DType, Element};
use half::{bf16, f16};
use serde_json::{Value, json};

use crate::contest::{Contestant, Failure, contest};
use crate::measure::{Bench, Side};
use crate::operands::{Operands, problem};
use crate::ours::{Ours, chosen, epilogue};
use crate::product::typed;
use crate::record::micros;
use crate::rows::{Product, Row};
use crate::theirs::{closest, finalists, plan};

/// Configurations of a sweep.
const MOST: usize = 40;
/// Those that are measured beside girih's choice and the peer's best ones.
const FINALISTS: usize = 4;
const PEERS: usize = 2;
/// Threads that the driver compiles in.
const COMPILERS: usize = 8;

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
    let multiprocessors = device.limits().multiprocessors;
    let by_warps = product.kernel == Some(KernelKind::Sm80);
    let found = match (bench.configs.is_empty(), by_warps) {
        (true, true) => portable(&problem),
        (true, false) => candidates(&problem, multiprocessors, MOST),
        (false, _) => {
            let wanted = |line: &str| {
                bench.configs.iter().any(|parts| parts.split('&').all(|part| line.contains(part)))
            };
            let all = if by_warps { portable(&problem) } else { configurations(&problem, multiprocessors) };
            all.into_iter().filter(|config| wanted(&described(config))).take(2 * MOST).collect()
        }
    };
    for config in found {
        if !configs.contains(&config) && !bench.blamed.contains(&described(&config)) {
            configs.push(config);
        }
    }
    let (mut sides, mut failed) = (Vec::new(), Vec::new());
    for (config, loaded) in configs.iter().zip(load(device, &problem, &epilogue(product), &configs)) {
        let length = bench.effort.sweep.timed / 3;
        match loaded.and_then(|gemm| Ours::loaded(bench, gemm, &operands, length).map_err(|e| e.to_string()))
        {
            Ok(ours) => sides.push(ours.side.named(described(config))),
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
    let mut all: Vec<(f64, &str)> = times.iter().map(|times| (micros(times), &*times.name)).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let all: Vec<Value> = all.iter().map(|(us, config)| json!({"config": config, "us": us})).collect();
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
            json!({
                "config": times.name, "us": micros(times), "spread": times.samples.spread(),
                "ratio": ratio.map(|r| r.mean), "ratio_lower": ratio.map(|r| r.lower),
            })
        })
        .collect();
    finalists.sort_by(|a, b| a["us"].as_f64().unwrap_or(0.0).total_cmp(&b["us"].as_f64().unwrap_or(0.0)));
    Ok(json!({
        "sweep": row.name, "bar": row.bar, "chosen": described(&configs[0]),
        "finalists": finalists, "configs": all, "failed": failed,
        "peer": best.map(|best| best.name.as_str()), "peer_us": best.map(micros),
    }))
}

/// Each configuration's kernel. Several threads load them, since the driver compiles for a tenth of a second and more.
fn load(
    device: &Device,
    problem: &Problem,
    epilogue: &Epilogue,
    configs: &[GemmConfig],
) -> Vec<Result<Gemm, String>> {
    let loaded: Vec<_> = configs.iter().map(|_| Mutex::new(Err(String::from("not loaded")))).collect();
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..COMPILERS.min(configs.len()) {
            scope.spawn(|| {
                // A set of kernels of its own: a set loads one at a time.
                let gemms = Gemms::new(device);
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let Some(config) = configs.get(i) else { break };
                    let gemm = gemms.configured(problem, *config, epilogue);
                    if let Ok(mut place) = loaded[i].lock() {
                        *place = gemm.map_err(|error| error.to_string());
                    }
                }
            });
        }
    });
    loaded.into_iter().map(|place| place.into_inner().unwrap_or_else(PoisonError::into_inner)).collect()
}
