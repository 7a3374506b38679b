//! The simulator on one core: GEMMs of both families, with and without checks.
#![allow(missing_docs, reason = "criterion's macros")]

use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use girih_device::{Device, Pod, SimOptions};
use girih_kernels::gemm::{Gemms, KernelKind, Layout, Problem};
use girih_tensor::Element;
use half::bf16;
use rand::{RngExt, SeedableRng, rngs::StdRng};

fn random<T: Element>(len: i64, seed: u64) -> Vec<T> {
    let mut rng = StdRng::seed_from_u64(seed);
    (0..len).map(|_| T::from_f64(rng.random_range(-1.0..1.0))).collect()
}

/// A cube of side `side`, A and B contiguous along K.
fn gemm<T: Element + Pod>(criterion: &mut Criterion, name: &str, side: i64, options: SimOptions) {
    let device = Device::open_sim(SimOptions { threads: Some(1), ..options }).expect("the simulator");
    let problem = Problem::new(T::DTYPE, [side; 3], Layout::Tn).expect("a problem");
    let gemm = Gemms::new(&device).get(&problem, KernelKind::for_dtype(T::DTYPE)).expect("a kernel");
    let upload = |span, seed| device.upload(&random::<T>(span, seed)).expect("memory");
    let (a, b) = (upload(problem.a().span(), 1), upload(problem.b().span(), 2));
    let mut c = device.zeros::<T>(problem.c().span() as usize).expect("memory");
    let mut group = criterion.benchmark_group("simulator");
    group.sample_size(10).measurement_time(Duration::from_secs(10));
    group.bench_function(format!("{name} {} {side}^3", T::DTYPE), |bencher| {
        bencher.iter(|| gemm.run(&a, &b, &mut c).expect("a launch"));
    });
    group.finish();
}

fn gemms(criterion: &mut Criterion) {
    let races = || SimOptions { races: true, ..SimOptions::default() };
    gemm::<f32>(criterion, "simt", 256, SimOptions::default());
    gemm::<f32>(criterion, "simt, races", 256, races());
    gemm::<f32>(criterion, "simt, all checks", 256, SimOptions::checked());
    gemm::<bf16>(criterion, "mma.sync", 512, SimOptions::default());
    gemm::<bf16>(criterion, "mma.sync, all checks", 512, SimOptions::checked());
}

criterion_group!(benches, gemms);
criterion_main!(benches);
