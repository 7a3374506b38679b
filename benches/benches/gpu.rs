//! Kernels on the GPU beside their peers; says "skipped" and succeeds where there is none.
//!
//! Carried to a machine without cargo, the binary wants the argument `--bench`. Numbers to quote come from
//! `gpu_rows`, which measures in turns.
#![allow(missing_docs, reason = "criterion's macros")]

use std::{fmt::Display, time::Duration};

use criterion::{Bencher, BenchmarkGroup, Criterion, Throughput, measurement::WallTime};
use girih_device::{Device, Error, Pod};
use girih_kernels::{
    copy,
    gemm::{Gemms, KernelKind, Layout, Problem},
};
use girih_peers::{
    cublas::{self, CublasLt, Plan},
    gpu, normal,
};
use girih_tensor::{DType, Element};
use half::{bf16, f16};

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let Some(device) = gpu() else { return Ok(()) };
    println!("{}: {:?}", device.name(), device.limits());
    let mut criterion = Criterion::default().configure_from_args();
    copies(&mut criterion, &device)?;
    gemm::<f32>(&mut criterion, &device)?;
    gemm::<bf16>(&mut criterion, &device)?;
    gemm::<f16>(&mut criterion, &device)?;
    criterion.final_summary();
    Ok(())
}

fn group<'a>(criterion: &'a mut Criterion, name: &str) -> BenchmarkGroup<'a, WallTime> {
    let mut group = criterion.benchmark_group(name);
    group.sample_size(10).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
    group
}

/// 256 MiB from device to device: more than the L2 holds. Bytes read and written both count.
fn copies(criterion: &mut Criterion, device: &Device) -> Result<(), Failure> {
    let elements = 64 << 20;
    let problem = copy::Problem::strided(DType::F32, &[elements], &[1], &[1])?;
    let from = device.upload(&normal::<f32>(elements as usize, 0))?;
    let to = device.zeros::<f32>(elements as usize)?;
    let kernel = copy::Copy::new(device, &problem)?;
    let mut group = group(criterion, "copy f32 256 MiB");
    group.throughput(Throughput::Bytes(problem.bytes() as u64));
    group.bench_function("girih", |bencher| measure(bencher, device, || kernel.run(&to, &from)));
    group.bench_function("device-to-device", |bencher| measure(bencher, device, || to.copy_from(&from)));
    group.finish();
    Ok(())
}

/// 4096 x 4096 x 4096, both operands K-contiguous.
fn gemm<T: Element + Pod>(criterion: &mut Criterion, device: &Device) -> Result<(), Failure> {
    let problem = Problem::new(T::DTYPE, [4096; 3], Layout::Tn)?;
    let operand = |seed| device.upload(&normal::<T>(4096 * 4096, seed));
    let (a, b, c) = (operand(1)?, operand(2)?, device.alloc::<T>(4096 * 4096)?);
    let mut group = group(criterion, &format!("gemm {} tn 4096", T::DTYPE));
    group.throughput(Throughput::Elements(problem.flops() as u64));
    let ours = Gemms::new(device).get(&problem, KernelKind::for_problem(&problem, device.limits().sm))?;
    group.bench_function("girih", |bencher| measure(bencher, device, || ours.run(&a, &b, &c)));
    let plan =
        CublasLt::open(device).and_then(|library| Plan::new(&library, cublas::Problem::of(&problem), None));
    match plan {
        Ok(peer) => {
            // C' = B' A'
            let run = || peer.run(0, [&b, &a], &c);
            group.bench_function("cublaslt", |bencher| measure(bencher, device, run));
        }
        Err(error) => println!("cublaslt skipped: {error}"),
    }
    group.finish();
    Ok(())
}

/// Times `work` on the device: each sample is the time between two events around all its iterations, so that the
/// launches overlap as they do in use and the host's cost shows only where it is the bottleneck.
///
/// An error ends the sample, is printed once, and shows as a time of zero.
fn measure<E: From<Error> + Display>(
    bencher: &mut Bencher<'_, WallTime>,
    device: &Device,
    mut work: impl FnMut() -> Result<(), E>,
) {
    let mut failed = false;
    bencher.iter_custom(|iterations| {
        let sample = device.time(|| (0..iterations).try_for_each(|_| work()));
        sample.unwrap_or_else(|error| {
            if !failed {
                println!("error: {error}");
            }
            failed = true;
            Duration::ZERO
        })
    });
}
