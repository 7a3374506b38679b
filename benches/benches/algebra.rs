//! The layout algebra on the CPU, one operation a line: first the cases that CuTe's rivals were timed on, with every integer a run-time
//! value, then layouts as kernels use them.
#![allow(missing_docs, reason = "criterion's macros")]

use std::hint::black_box;

use criterion::{BenchmarkGroup, Criterion, criterion_group, criterion_main, measurement::WallTime};
use girih_layout::{Coord, Error, Int, Lay, Tiler};

/// Measures an operation, which must succeed.
fn bench<T: std::fmt::Debug>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    operation: impl Fn() -> Result<T, Error>,
) {
    operation().expect(name);
    group.bench_function(name, |bencher| bencher.iter(&operation));
}

/// The cases of the table in `records/layout-algebra.md`.
fn rivals(criterion: &mut Criterion) {
    let lay = |text: &str| Lay::parse(text).expect("a layout");
    let mut group = criterion.benchmark_group("rivals");
    let (matrix, tile) = (&lay("(128,64):(1,128)"), &lay("(16,8):(8,128)"));
    let (nested, blocks) = (&lay("((8,16),(4,16))"), &lay("(32,4):(1,128)"));
    bench(&mut group, "composition", || black_box(matrix).composition(black_box(tile)));
    bench(&mut group, "composition nested", || black_box(nested).composition(black_box(blocks)));
    bench(&mut group, "coalesce", || Ok(black_box(matrix).coalesce()));
    bench(&mut group, "coalesce nested", || Ok(black_box(nested).coalesce()));
    let (line, tiler) = (&lay("16:8"), &Tiler::Lay(lay("16:8")));
    bench(&mut group, "complement", || black_box(line).complement(black_box(Int::value(8192))));
    bench(&mut group, "logical_divide", || black_box(matrix).logical_divide(black_box(tiler)));
    bench(&mut group, "crd2idx", || black_box(matrix).crd2idx(black_box(&Coord::at(777))));
    bench(&mut group, "at", || black_box(matrix).at(black_box(777)));
    group.finish();
}

/// Layouts as kernels use them.
fn kernels(criterion: &mut Criterion) {
    let lay = |text: &str| Lay::parse(text).expect("a layout");
    let mut group = criterion.benchmark_group("layout");
    // The C fragment of m16n8k16, thread and value to column-major 16 x 8.
    let (matrix, tv) = (&lay("(4096,4096):(4096,1)"), &lay("((4,8),(2,2)):((32,1),(16,8))"));
    let nested = &lay("((2,4),(8,(2,2))):((1,4),(16,(2,128)))");
    let tiler = &Tiler::parse("<128,32>").expect("a tiler");
    bench(&mut group, "parse", || Lay::parse(black_box("((2,4),(8,(2,2))):((1,4),(16,(2,128)))")));
    bench(&mut group, "crd2idx", || black_box(nested).at(black_box(77)));
    bench(&mut group, "coalesce", || Ok(black_box(nested).coalesce()));
    bench(&mut group, "composition", || black_box(matrix).composition(black_box(tv)));
    bench(&mut group, "complement", || black_box(tv).complement(black_box(Int::fixed(1024))));
    bench(&mut group, "right_inverse", || black_box(tv).right_inverse());
    bench(&mut group, "zipped_divide", || black_box(matrix).zipped_divide(black_box(tiler)));
    bench(&mut group, "blocked_product", || black_box(tv).blocked_product(black_box(tv)));
    group.finish();
}

criterion_group!(benches, rivals, kernels);
criterion_main!(benches);
