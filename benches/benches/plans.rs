//! From a problem to a module on the CPU: how long it takes to choose a configuration, to find a kernel that is loaded, and to
//! generate the text of one that is not.
#![allow(missing_docs, reason = "criterion's macros")]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use girih_codegen::gemm::{Epilogue, generate};
use girih_device::{Device, Select};
use girih_kernels::gemm::{Gemms, KernelKind, Layout, Problem, choose};
use girih_tensor::DType;

/// Multiprocessors of an H200.
const MULTIPROCESSORS: u32 = 132;

/// Problems of each family of kernels and schedule.
const PROBLEMS: [(DType, [i64; 3], Layout); 7] = [
    (DType::Bf16, [4096; 3], Layout::Tn),
    (DType::Bf16, [512; 3], Layout::Nn),
    (DType::Bf16, [16, 28672, 4096], Layout::Tn),
    (DType::Bf16, [128, 128, 65536], Layout::Tn),
    (DType::E4m3, [4096; 3], Layout::Tn),
    (DType::F64, [4096; 3], Layout::Tn),
    (DType::F32, [4096; 3], Layout::Nt),
];

fn plans(criterion: &mut Criterion) {
    let problems = PROBLEMS.map(|(dtype, mnk, layout)| {
        let problem = Problem::new(dtype, mnk, layout).expect("a problem");
        let [m, n, k] = mnk;
        (format!("{dtype} {layout} {m}x{n}x{k}"), problem, KernelKind::for_problem(&problem, 90))
    });
    let mut group = criterion.benchmark_group("choose");
    for (name, problem, kind) in &problems {
        group.bench_function(name, |b| b.iter(|| choose(black_box(problem), *kind, MULTIPROCESSORS)));
    }
    group.finish();
    let mut group = criterion.benchmark_group("choose, generate, print");
    for (name, problem, kind) in &problems {
        let text = || {
            let config = choose(black_box(problem), *kind, MULTIPROCESSORS).expect("a configuration");
            generate(&config, &Epilogue::new()).expect("a kernel").kernel.module().to_string()
        };
        group.bench_function(name, |b| b.iter(text));
    }
    group.finish();
    let gemms = Gemms::new(&Device::open(Select::Sim).expect("the simulator"));
    for (_, problem, kind) in &problems {
        gemms.get(problem, *kind).expect("a GEMM");
    }
    let mut group = criterion.benchmark_group("find what is loaded");
    for (name, problem, kind) in &problems {
        group.bench_function(name, |b| b.iter(|| gemms.get(black_box(problem), *kind)));
    }
    group.finish();
}

criterion_group!(benches, plans);
criterion_main!(benches);
