//! The layout algebra on the CPU, one operation a line.
#![allow(missing_docs, reason = "criterion's macros")]

use std::hint::black_box;

use criterion::{BenchmarkGroup, Criterion, criterion_group, criterion_main, measurement::WallTime};
use girih_layout::{Error, Int, Lay, Tiler};

/// Layouts as kernels use them.
struct Operands {
    matrix: Lay,
    tv: Lay,
    nested: Lay,
    tiler: Tiler,
}

fn operands() -> Result<Operands, Error> {
    Ok(Operands {
        matrix: Lay::parse("(4096,4096):(4096,1)")?,
        // The C fragment of m16n8k16, thread and value to column-major 16 x 8.
        tv: Lay::parse("((4,8),(2,2)):((32,1),(16,8))")?,
        nested: Lay::parse("((2,4),(8,(2,2))):((1,4),(16,(2,128)))")?,
        tiler: Tiler::parse("<128,32>")?,
    })
}

/// Measures an operation, which must succeed.
fn bench<T: std::fmt::Debug>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    operation: impl Fn() -> Result<T, Error>,
) {
    operation().expect(name);
    group.bench_function(name, |bencher| bencher.iter(&operation));
}

fn algebra(criterion: &mut Criterion) {
    let Operands { matrix, tv, nested, tiler } = &operands().expect("the operands are layouts");
    let mut group = criterion.benchmark_group("layout");
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

criterion_group!(benches, algebra);
criterion_main!(benches);
