//! Registers: what a kernel needs is known before it spills.

use girih_tensor::DType;
use girih_tile::compile;
use girih_tile::facts::{ArrayFacts, Facts};
use girih_tile::ir::{Func, Known};
use girih_tile::lower::lower;
use girih_tile::prelude::*;
use girih_tile::resources::Resources;
use girih_tile_reference::{ArrayData, float};
use rand::RngExt;

use crate::common::assembler::complaints;
use crate::common::differ::{self, Tolerance};

/// Attention with a soft cap of the scores, whose `tanh` is exact.
#[kernel]
fn capped<const BM: usize, const BN: usize, const D: usize>(
    q: &Array<bf16, 2>,
    k: &Array<bf16, 2>,
    v: &Array<bf16, 2>,
    o: &mut Array<bf16, 2>,
) {
    let i = bid(0);
    let x = q.tiles([BM, D]).padding(Padding::Zero).load((i, 0));
    let mut sum = zeros::<f32>([BM, D]);
    let mut most = full::<f32>([BM, 1], -1e30);
    for j in 0..cdiv(k.dim(0), BN) {
        let keys = k.tiles([BN, D]).padding(Padding::Zero).load((j, 0));
        let values = v.tiles([BN, D]).padding(Padding::Zero).load((j, 0));
        let s = (mma(x, keys.t(), zeros::<f32>([BM, BN])) * 0.02).tanh() * 50.0;
        let next = maximum(most, s.max(keep(1)));
        sum = mma((s - next).exp().to::<bf16>(), values, sum * (most - next).exp());
        most = next;
    }
    o.tiles_mut([BM, D]).store((i, 0), sum.to::<bf16>());
}

fn with_facts(func: Func, columns: i64) -> Func {
    let array = ArrayFacts {
        extents: vec![Known::MultipleOf(1), Known::MultipleOf(columns)],
        strides: vec![Known::MultipleOf(columns), Known::Is(1)],
        align: 16,
    };
    func.with_facts(&Facts { arrays: vec![array; func.arrays().len()], scalars: Vec::new() })
}

#[test]
fn a_kernel_that_spills_says_so_with_its_line_and_a_smaller_tile() {
    let compiled = compile(&with_facts(capped::<192, 128, 64>::ir().unwrap(), 64), 90).unwrap();
    let spill = compiled.spill().expect("192 rows are too many for a warpgroup");
    assert!(compiled.resources.spills() && spill.registers > spill.limit, "{spill}");
    assert!(spill.site.contains("tile/tests/place/registers.rs:"), "{spill}");
    assert!(spill.tile.contains("[192, 128] at ") && spill.smaller.ends_with("[128, 128]"), "{spill}");
}

#[test]
fn a_kernel_that_does_not_spill_fits_the_limit_of_its_warpgroups() {
    for sm in [90, 80] {
        let compiled = compile(&with_facts(capped::<64, 64, 64>::ir().unwrap(), 64), sm).unwrap();
        let resources = &compiled.resources;
        assert!(resources.limit <= 255 && compiled.spill().is_none(), "{resources:?}");
        assert!(resources.blocks.fit() >= 1, "{resources:?}");
    }
}

/// An exact `tanh` of a tile of scores has many values at a time, unless it is computed element by element.
#[test]
fn functions_are_computed_element_by_element_where_registers_are_few() {
    let func = with_facts(capped::<128, 128, 64>::ir().unwrap(), 64);
    let compiled = compile(&func, 90).unwrap();
    let written = lower(&compiled.plan, 90).unwrap().kernel;
    assert!(Resources::of(&written, 90).spills() && compiled.spill().is_none(), "{:?}", compiled.resources);
    let bad = complaints(&compiled.kernel.module().to_string(), "90a").unwrap_or_default();
    assert!(bad.is_empty(), "{bad:?}");
    let mut rng = differ::random(1);
    let mut numbers = |rows: i64, least: f64| {
        let one = |_| float::encode(DType::Bf16, rng.random_range(least..1.0), Rounding::Nearest);
        ArrayData::dense(DType::Bf16, &[rows, 64], &(0..rows * 64).map(one).collect::<Vec<_>>())
    };
    let arrays =
        [numbers(128, -1.0), numbers(200, -1.0), numbers(200, 0.5), differ::zeros(DType::Bf16, &[128, 64])];
    differ::differ(&func, [1, 1, 1], &arrays, &[], |_| Tolerance(0.05)).unwrap();
}

/// A function of many values that are live at once: fewer elements in a thread are chosen.
#[kernel]
fn wide<const N: usize>(x: &Array<f32, 2>, y: &mut Array<f32, 2>) {
    let x = x.tiles([1, N]).load((bid(0), 0)).reshape([N as i64]);
    let sorted = x.sort(0);
    y.tiles_mut([1, N]).store((bid(0), 0), (sorted * x).reshape([1, N as i64]));
}

#[test]
fn more_warps_are_taken_where_fewer_spill() {
    let func = with_facts(wide::<8192>::ir().unwrap(), 8192);
    let mut fewer = func.clone();
    fewer.hints.all.num_worker_warps = Some(4);
    let [chosen, fewer] = [func, fewer].map(|func| compile(&func, 90).unwrap().resources);
    assert!(fewer.threads == 128 && fewer.spills(), "{fewer:?}");
    assert!(chosen.threads > 128 && !chosen.spills(), "{chosen:?}");
}

fn facts_of(extents: &[i64], align: u32) -> ArrayFacts {
    let strides = (1..=extents.len()).map(|at| match &extents[at..] {
        [] => Known::Is(1),
        inner => Known::MultipleOf(inner.iter().product()),
    });
    let extents = extents.iter().map(|&n| Known::MultipleOf(n)).collect();
    ArrayFacts { extents, strides: strides.collect(), align }
}

/// A product with what is loaded and stored element by element after it.
#[kernel]
fn added<const BM: usize, const BN: usize>(
    a: &Array<bf16, 2>,
    b: &Array<bf16, 2>,
    r: &Array<bf16, 2>,
    c: &mut Array<u8, 2>,
) {
    let (i, j) = (bid(0), bid(1));
    let mut sum = zeros::<f32>([BM, BN]);
    for k in 0..cdiv(a.dim(1), 64) {
        let x = a.tiles([BM, 64]).padding(Padding::Zero).load((i, k));
        let y = b.tiles([64, BN]).padding(Padding::Zero).load((k, j));
        sum = mma(x, y, sum);
    }
    let residual = r.tiles([BM, BN]).load((i, j)).to::<f32>();
    c.tiles_mut([BM, BN]).store((i, j), (sum.tanh() + residual).to::<u8>());
}

/// Numbers of 16 bits that are loaded one by one have a register each.
#[test]
fn what_is_loaded_element_by_element_is_counted() {
    let facts = |columns: i64| {
        let operands = [[128, 64], [64, 256]].map(|extents| facts_of(&extents, 16));
        let others = [2, 1].map(|align| facts_of(&[128, columns], if columns == 1 { align } else { 16 }));
        Facts { arrays: operands.into_iter().chain(others).collect(), scalars: Vec::new() }
    };
    for columns in [1, 256] {
        let func = added::<128, 256>::ir().unwrap().with_facts(&facts(columns));
        let compiled = compile(&func, 90).unwrap();
        let bad = complaints(&compiled.kernel.module().to_string(), "90a").unwrap_or_default();
        assert!(bad.is_empty() || compiled.spill().is_some(), "{:?}: {bad:?}", compiled.resources);
        assert!(columns == 1 || compiled.spill().is_none(), "{:?}", compiled.resources);
    }
}

/// `y = (x - mean) / sqrt(variance + eps) * weight + bias` of rows.
#[kernel]
fn normalised<const R: usize, const N: usize>(
    x: &Array<bf16, 2>,
    weight: &Array<bf16, 1>,
    bias: &Array<bf16, 1>,
    y: &mut Array<bf16, 2>,
    eps: Scalar<f32>,
) {
    let (rows, columns) = (bid(0), x.dim(1));
    let scale = 1.0 / columns.to::<f32>();
    let x = x.tiles([R, N]).padding(Padding::Zero).load((rows, 0)).to::<f32>();
    let centred = where_(arange::<i32>(N) < columns, x - x.sum(keep(1)) * scale, 0.0);
    let deviation = ((centred * centred).sum(keep(1)) * scale + eps).rsqrt();
    let weight = weight.tiles([N]).load((0,)).to::<f32>();
    let bias = bias.tiles([N]).load((0,)).to::<f32>();
    y.tiles_mut([R, N]).store((rows, 0), (centred * deviation * weight + bias).to::<bf16>());
}

/// The assembler has spilled where 40 registers of 53 make room for three blocks of 512 threads.
#[test]
fn a_kernel_does_not_spill_to_make_room_for_one_more_block() {
    let arrays = [&[2, 4096][..], &[4096], &[4096], &[2, 4096]].map(|extents| facts_of(extents, 16));
    let facts = Facts { arrays: arrays.into(), scalars: vec![Known::MultipleOf(1)] };
    let compiled = compile(&normalised::<2, 4096>::ir().unwrap().with_facts(&facts), 90).unwrap();
    let bad = complaints(&compiled.kernel.module().to_string(), "90a").unwrap_or_default();
    assert!(compiled.spill().is_none() && bad.is_empty(), "{:?}: {bad:?}", compiled.resources);
}
