//! Kernels on the GPU beside their peers; says "skipped" and succeeds where there is none.
//!
//! Carried to a machine without cargo, the binary wants the argument `--bench`.
#![allow(missing_docs, reason = "criterion's macros")]

use std::time::Duration;

use criterion::{BenchmarkGroup, Criterion, Throughput, measurement::WallTime};
use girih_benches::{
    cublas::{Element, Error, Gemm, Problem},
    gpu, measure,
};
use girih_device::Device;
use half::{bf16, f16};

fn main() {
    let Some(device) = gpu() else { return };
    println!("{}: {:?}", device.name(), device.limits());
    let mut criterion = Criterion::default().configure_from_args();
    copy(&mut criterion, &device);
    gemm::<f32>(&mut criterion, &device, "f32");
    gemm::<bf16>(&mut criterion, &device, "bf16");
    gemm::<f16>(&mut criterion, &device, "f16");
    criterion.final_summary();
}

fn group<'a>(criterion: &'a mut Criterion, name: &str) -> BenchmarkGroup<'a, WallTime> {
    let mut group = criterion.benchmark_group(name);
    group.sample_size(20).warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(3));
    group
}

/// 256 MiB from device to device: more than the L2 holds. Bytes read and written both count.
fn copy(criterion: &mut Criterion, device: &Device) {
    const BYTES: usize = 256 << 20;
    let (Ok(from), Ok(to)) = (device.zeros::<u8>(BYTES), device.zeros::<u8>(BYTES)) else {
        return println!("copy: not enough device memory");
    };
    let mut group = group(criterion, "copy");
    group.throughput(Throughput::Bytes(2 * BYTES as u64));
    group.bench_function("device-to-device", |bencher| measure(bencher, device, || to.copy_from(&from)));
    group.finish();
}

/// 4096 x 4096 x 4096, both operands k-contiguous.
fn gemm<T: Element>(criterion: &mut Criterion, device: &Device, dtype: &str) {
    let problem = Problem::tn(4096, 4096, 4096);
    let mut group = group(criterion, &format!("gemm {dtype} tn 4096"));
    group.throughput(Throughput::Elements(problem.flops()));
    match plan::<T>(device, problem) {
        Ok(peer) => {
            group.bench_function("cublaslt", |bencher| measure(bencher, device, || peer.run()));
        }
        Err(error) => println!("cublaslt skipped: {error}"),
    }
    group.finish();
}

/// The peer's product of two matrices of normally distributed values: power, and with it speed, depends on the data.
fn plan<T: Element>(device: &Device, problem: Problem) -> Result<Gemm<T>, Error> {
    let Problem { m, n, k, .. } = problem;
    let mut seed = 0x9E37_79B9_7F4A_7C15;
    let mut matrix = |len: u64| device.upload(&normal::<T>(len as usize, &mut seed));
    let operands = [matrix(m * k)?, matrix(k * n)?, device.zeros((m * n) as usize)?];
    Gemm::plan(device, problem, operands)
}

/// Sums of twelve uniform values, less their mean: close to N(0, 1).
fn normal<T: Element>(len: usize, state: &mut u64) -> Vec<T> {
    let mut uniform = || {
        // xorshift64*
        *state ^= *state >> 12;
        *state ^= *state << 25;
        *state ^= *state >> 27;
        (state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 40) as f32 / (1u64 << 24) as f32
    };
    (0..len).map(|_| T::from_f32((0..12).map(|_| uniform()).sum::<f32>() - 6.0)).collect()
}
