//! The simulator on one core: GEMMs of all families, with and without checks.
#![allow(missing_docs, reason = "criterion's macros")]

use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use girih_device::{Arg, Device, LaunchConfig, Pod, SimOptions, TensorMap};
use girih_kernels::gemm::{Gemms, KernelKind, Layout, Problem};
use girih_ptx::{Module, TensorElement, TensorSwizzle, Tiled};
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
    let c = device.zeros::<T>(problem.c().span() as usize).expect("memory");
    let mut group = criterion.benchmark_group("simulator");
    group.sample_size(10).measurement_time(Duration::from_secs(10));
    group.bench_function(format!("{name} {} {side}^3", T::DTYPE), |bencher| {
        bencher.iter(|| gemm.run(&a, &b, &c).expect("a launch"));
    });
    group.finish();
}

/// A kernel written by hand for Hopper: tiles of 128 x 256, tensor copies, warp-specialised `wgmma`.
fn wgmma(criterion: &mut Criterion, name: &str, side: usize, options: SimOptions) {
    let device = Device::open_sim(SimOptions { threads: Some(1), ..options }).expect("the simulator");
    let text = include_str!("../../sim/tests/ptx/best-128x256.ptx");
    let kernel =
        device.load(&Module::parse(text).expect("PTX")).expect("a module").kernel("gemm").expect("gemm");
    let upload = |seed| device.upload(&random::<bf16>((side * side) as i64, seed)).expect("memory");
    let (a, b, c) = (upload(1), upload(2), upload(3));
    let tiled = |box_rows| {
        let tiled = Tiled::new(TensorElement::Bf16, &[side as u64; 2], &[64, box_rows]);
        tiled.with_swizzle(TensorSwizzle::B128)
    };
    let map = |buffer, box_rows| TensorMap::new(buffer, &tiled(box_rows)).expect("a tensor map");
    let maps = [map(&a, 128), map(&b, 256), map(&c, 64)];
    let (rows, tiles) = (side / 128, side / 128 * (side / 256));
    let order: Vec<u32> = (0..tiles).map(|i| (i % rows) as u32 | ((i / rows) as u32) << 16).collect();
    let order = device.upload(&order).expect("memory");
    let [ma, mb, mc] = maps.each_ref().map(Arg::from);
    let args = [ma, mb, mc, Arg::from(&order), Arg::from(side as u32 / 64), Arg::from(tiles as u32)];
    let config = LaunchConfig::new([tiles as u32, 1, 1], [384, 1, 1]).with_dynamic_shared(213_056);
    let mut group = criterion.benchmark_group("simulator");
    group.sample_size(10).measurement_time(Duration::from_secs(10));
    group.bench_function(format!("{name} bf16 {side}^3"), |bencher| {
        // SAFETY: the maps are those of whole matrices, the order has every tile once.
        #[allow(unsafe_code, reason = "the kernel takes what it is given")]
        bencher.iter(|| unsafe { kernel.launch(&config, &args) }.expect("a launch"));
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
    wgmma(criterion, "wgmma", 512, SimOptions::default());
    wgmma(criterion, "wgmma, all checks", 512, SimOptions::checked());
}

criterion_group!(benches, gemms);
criterion_main!(benches);
