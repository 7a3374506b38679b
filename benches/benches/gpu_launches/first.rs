//! First uses of a problem, in processes of their own.

use std::process::{self, Command};
use std::time::Instant;
use std::{env, fs};

use girih_codegen::gemm::generate;
use girih_kernels::attention::{self, Attentions};
use girih_kernels::gemm::{Epilogue, Gemms, KernelKind, Layout, Problem, choose};
use girih_peers::contest::Failure;
use girih_peers::gpu;
use girih_tensor::DType;
use half::bf16;
use serde_json::{Value, json};

use super::attended;

/// The products whose first uses are measured, in this order: the first one pays for what a process does once.
const FIRST: [[i64; 3]; 4] = [[256; 3], [512; 3], [4096; 3], [128, 128, 65536]];

const FIRST_ATTENDED: [[i64; 5]; 2] = [[4, 16, 4096, 4096, 128], [4, 32, 4096, 4096, 64]];

/// Says to a process that it measures first uses.
pub(super) const WORKER: &str = "GIRIH_FIRST_USES";

/// Measures first uses in processes of their own, with an empty cache on disk and with what the process before has left there.
pub(super) fn second_uses() -> Result<Vec<Value>, Failure> {
    let folder = env::temp_dir().join(format!("girih-first-uses-{}", process::id()));
    let assembler = env::var_os("GIRIH_PTXAS").filter(|path| !path.is_empty());
    let mut records = Vec::new();
    for cache in ["driver", "girih"] {
        for count in 1..=2 {
            let mut worker = Command::new(env::current_exe()?);
            worker
                .env(WORKER, "1")
                .env("CUDA_CACHE_DISABLE", "0")
                .env("CUDA_CACHE_PATH", folder.join("driver"));
            match (cache, &assembler) {
                ("driver", _) => worker.env_remove("GIRIH_PTXAS"),
                (_, Some(path)) => worker.env("GIRIH_PTXAS", path).env("GIRIH_CACHE", folder.join("girih")),
                _ => continue,
            };
            let output = worker.output()?;
            let text = String::from_utf8_lossy(&output.stdout);
            if !output.status.success() {
                return Err(format!("{text}{}", String::from_utf8_lossy(&output.stderr)).into());
            }
            for line in text.lines().filter(|line| line.starts_with('{')) {
                let mut record: Value = serde_json::from_str(line)?;
                (record["what"]["cache"], record["what"]["use"]) = (cache.into(), count.into());
                println!("{record}");
                records.push(record);
            }
        }
    }
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    Ok(records)
}

/// What comes before the first launch of each product, in microseconds, as lines of JSON.
pub(super) fn first_uses() -> Result<(), Failure> {
    let Some(device) = gpu() else { return Ok(()) };
    let limits = device.limits();
    for [m, n, k] in FIRST {
        let problem = Problem::new(DType::Bf16, [m, n, k], Layout::Tn)?;
        let kind = KernelKind::for_problem(&problem, limits.sm);
        let (config, choose) = timed(|| Ok(choose(&problem, kind, limits.multiprocessors)?))?;
        let (kernel, generate) = timed(|| Ok(generate(&config, &Epilogue::new())?))?;
        let (text, print) = timed(|| Ok(kernel.kernel.module().to_string()))?;
        let (loaded, load) = timed(|| Ok(device.load(&kernel.kernel)?.kernel(config.name)?))?;
        let gemms = Gemms::new(&device);
        let (gemm, get) = timed(|| Ok(gemms.get(&problem, kind)?))?;
        let (mut finds, mut runs) = (Vec::new(), Vec::new());
        let [a, b, c] = [problem.a(), problem.b(), problem.c()]
            .map(|matrix| device.zeros::<bf16>(matrix.span() as usize));
        let (a, b, c) = (a?, b?, c?);
        for _ in 0..101 {
            finds.push(timed(|| Ok(gemms.get(&problem, kind)?))?.1);
            device.synchronize()?;
            runs.push(timed(|| Ok(gemm.run(&a, &b, &c)?))?.1);
        }
        let first_run = runs[0];
        finds.sort_by(f64::total_cmp);
        println!(
            "{}",
            json!({
                "what": {"op": "first use", "dtype": "bf16", "layout": "tn", "m": m, "n": n, "k": k},
                "choose_us": choose, "generate_us": generate, "print_us": print, "text_bytes": text.len(),
                "load_us": load, "get_us": get, "first_run_us": first_run, "find_us": finds[finds.len() / 2],
            })
        );
        drop(loaded);
    }
    for sizes in FIRST_ATTENDED {
        let problem = attention::Problem::new(DType::Bf16, attention::Order::Bhsd, sizes)?;
        let (config, choose) = timed(|| Ok(attention::choose(&problem, None, limits)?))?;
        let (kernel, generate) = timed(|| Ok(girih_codegen::attention::generate(&config)?))?;
        let (text, print) = timed(|| Ok(kernel.kernel.module().to_string()))?;
        let (loaded, load) = timed(|| Ok(device.load(&kernel.kernel)?.kernel(config.name)?))?;
        let all = Attentions::new(&device);
        let (found, get) = timed(|| Ok(all.get(&problem)?))?;
        let set = attended(&device, &problem)?;
        let first_run = timed(|| Ok(found.run_with(set.each_ref(), &[])?))?.1;
        let mut finds = Vec::new();
        for _ in 0..101 {
            finds.push(timed(|| Ok(all.get(&problem)?))?.1);
        }
        finds.sort_by(f64::total_cmp);
        println!(
            "{}",
            json!({
                "what": {"op": "first use", "dtype": "bf16", "attention": sizes},
                "choose_us": choose, "generate_us": generate, "print_us": print, "text_bytes": text.len(),
                "load_us": load, "get_us": get, "first_run_us": first_run, "find_us": finds[finds.len() / 2],
            })
        );
        drop(loaded);
    }
    Ok(())
}

/// What `work` returns, and the microseconds that it takes.
fn timed<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<(T, f64), Failure> {
    let begun = Instant::now();
    let done = work()?;
    Ok((done, begun.elapsed().as_secs_f64() * 1e6))
}
