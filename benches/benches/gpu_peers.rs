//! girih beside its peers, measured in turns; prints a table and, with `GIRIH_RECORD=FILE`, appends JSON lines.
//!
//! Every girih result is checked against f64 before it is timed. The peer of a product is the best of cuBLASLt's
//! heuristic list: all of the list in a short contest, the two fastest in the one that counts.
#![allow(missing_docs, reason = "a binary")]

use std::time::Duration;

use girih_device::{Device, Pod};
use girih_kernels::{
    copy,
    gemm::{Gemms, KernelKind, Layout, Problem, check},
};
use girih_peers::{
    contest::{Clock, Contestant, Failure, Rules, contest},
    cublas, gpu, normal,
    record::{record, save},
};
use girih_tensor::{DType, Element};
use half::{bf16, f16};
use serde_json::{Value, json};

const RANKING: Rules = Rules {
    rounds: 2,
    settle: Duration::from_millis(40),
    timed: Duration::from_millis(40),
    clock: Clock::Device,
};
const FINAL: Rules = Rules { rounds: 9, timed: Duration::from_millis(60), ..RANKING };

fn main() -> Result<(), Failure> {
    let Some(device) = gpu() else { return Ok(()) };
    println!("{}", device.name());
    let mut records = vec![copies(&device)?];
    let square = Layout::ALL.map(|layout| ([4096; 3], layout));
    let others = [[1024, 4096, 2048], [2048; 3], [8192; 3]].map(|mnk| (mnk, Layout::Tn));
    for (mnk, layout) in square.into_iter().chain(others) {
        records.push(gemm::<f32>(&device, mnk, layout)?);
        records.push(gemm::<bf16>(&device, mnk, layout)?);
        records.push(gemm::<f16>(&device, mnk, layout)?);
    }
    save(&device, records)
}

fn copies(device: &Device) -> Result<Value, Failure> {
    let elements = 64 << 20;
    let problem = copy::Problem::new(DType::F32, 1, elements, elements, elements)?;
    let host = normal::<f32>(elements as usize, 0);
    let from = device.upload(&host)?;
    let (ours, theirs) = (device.alloc::<f32>(elements as usize)?, device.alloc::<f32>(elements as usize)?);
    let kernel = copy::Copy::new(device, &problem)?;
    kernel.run(&ours, &from)?;
    if ours.download()? != host {
        return Err("the copy differs from its source".into());
    }
    let times = contest(
        device,
        FINAL,
        &mut [
            Contestant { name: "girih".into(), run: Box::new(|| Ok(kernel.run(&ours, &from)?)) },
            Contestant { name: "device-to-device".into(), run: Box::new(|| Ok(theirs.copy_from(&from)?)) },
        ],
    )?;
    let what = json!({"op": "copy", "dtype": "f32", "elements": elements});
    Ok(record(what, "GB/s", problem.bytes() as f64, 1e9, &times[0], &times[1]))
}

fn gemm<T: Element + Pod>(device: &Device, mnk: [i64; 3], layout: Layout) -> Result<Value, Failure> {
    let problem = Problem::new(T::DTYPE, mnk, layout)?;
    let host =
        [(problem.a(), 1), (problem.b(), 2)].map(|(matrix, seed)| normal::<T>(matrix.span() as usize, seed));
    let (a, b) = (device.upload(&host[0])?, device.upload(&host[1])?);
    let c = device.alloc::<T>(problem.c().span() as usize)?;
    c.fill_bytes(0xff)?;
    let ours = Gemms::new(device).get(&problem, KernelKind::for_problem(&problem, device.limits().sm))?;
    ours.run(&a, &b, &c)?;
    let found = check(&problem, &host[0], &host[1], &c.download()?, None)?;
    if !found.passed() {
        return Err(format!("{problem:?}: {found:?}").into());
    }
    let operands = [device.upload(&host[1])?, device.upload(&host[0])?, device.alloc::<T>(c.len())?];
    let peer = cublas::Gemm::plan(device, cublas::Problem::of(&problem), operands)?;
    let algorithm = |index: usize| Contestant {
        name: format!("cublaslt {index} of {}", peer.algorithms()),
        run: Box::new({
            let peer = &peer;
            move || Ok(peer.run_algorithm(index)?)
        }),
    };
    let mut all: Vec<Contestant<'_>> = (0..peer.algorithms()).map(algorithm).collect();
    let mut ranked: Vec<(usize, Duration)> =
        contest(device, RANKING, &mut all)?.iter().map(|times| times.samples.median()).enumerate().collect();
    ranked.sort_by_key(|(_, median)| *median);
    let mut finalists: Vec<Contestant<'_>> =
        ranked.iter().take(2).map(|&(index, _)| algorithm(index)).collect();
    finalists.push(Contestant { name: "girih".into(), run: Box::new(|| Ok(ours.run(&a, &b, &c)?)) });
    let mut times = contest(device, FINAL, &mut finalists)?;
    let girih = times.pop().ok_or("no contestant")?;
    let best =
        times.into_iter().min_by_key(|times| times.samples.median()).ok_or("cuBLASLt lists no algorithm")?;
    let [m, n, k] = mnk;
    let what =
        json!({"op": "gemm", "dtype": T::DTYPE.name(), "layout": layout.name(), "m": m, "n": n, "k": k});
    Ok(record(what, "TFLOP/s", problem.flops(), 1e12, &girih, &best))
}
