//! Loops whose next product is issued before functions of the last: what they compute, and the order that the assembler keeps.

mod random;

use girih_tensor::DType;
use girih_tile::ir::{Func, Kind, Rounding};
use girih_tile::pass::{guard, overlap, simplify};
use girih_tile::place::place;
use girih_tile_reference::{self as reference, ArrayData, float};
use rand::RngExt;

use super::{assembled, decoded, program, run};
use crate::common::assembler::complaints;
use crate::common::differ::{cases, random, zeros};
use random::Loop;

fn products(func: &Func) -> usize {
    let mut count = 0;
    func.walk(func.body(), &mut |_, op| count += usize::from(op.kind == Kind::Mma));
    count
}

/// What a function leaves in its arrays, by the reference.
fn referred(func: &Func, arrays: &[ArrayData], scalars: &[u64]) -> Vec<ArrayData> {
    let mut arrays = arrays.to_vec();
    reference::run(func, [1, 1, 1], &mut arrays, scalars).unwrap();
    arrays
}

#[test]
fn loops_in_another_order_compute_the_same() {
    let mut reordered = 0;
    for seed in 0..cases(6) as u64 {
        let mut rng = random(seed);
        let it = Loop::random(&mut rng);
        let iterations = rng.random_range(0..5);
        let stop = it.start + iterations * it.step - rng.random_range(0..it.step);
        let text = it.text(stop);
        let arrays = it.arrays(&mut rng, it.start + iterations * it.step);
        let limit = rng.random_range(0..=stop.max(1) * i64::from(it.keys));
        let scalars = [stop as u32, limit as u32].map(u64::from);
        let func = program(&text);
        let wanted = referred(&func, &arrays, &scalars);
        if let Some(other) = overlap(&func, |_, _| true, |_| 0) {
            girih_tile::ir::verify(&other).unwrap();
            assert_eq!(products(&other), 2 * products(&func), "{other}");
            assert_eq!(referred(&other, &arrays, &scalars), wanted, "seed {seed}\n{text}\n{other}");
        }
        let plan = place(&simplify(&func), 90).unwrap();
        reordered += usize::from(products(&plan.func) > products(&func));
        let got = run(&text, [1, 1, 1], &arrays, &scalars);
        for (i, (got, wanted)) in got.iter().zip(&wanted).enumerate() {
            let wrong = decoded(got).iter().zip(decoded(wanted)).position(|(a, b)| *a != b);
            assert!(wrong.is_none(), "seed {seed}: array {i} differs at {wrong:?}\n{text}\n{}", plan.func);
        }
        if seed % 3 > 0 {
            continue;
        }
        let kernel = girih_tile::compile(&func, 90).unwrap().kernel.module().to_string();
        let bad = complaints(&kernel, "90a").unwrap_or_default();
        assert!(bad.is_empty(), "seed {seed}: {bad:?}\n{text}\n{}", plan.func);
    }
    assert!(reordered > cases(6) / 2, "{reordered}");
}

#[test]
fn other_loops_keep_their_order() {
    let it = Loop {
        rows: 64,
        keys: 64,
        columns: 64,
        start: 1,
        step: 1,
        parameter: true,
        masked: false,
        two: false,
        above: 0,
        scaled: true,
    };
    let text = it.text(3);
    assert!(overlap(&program(&text), |_, _| true, |_| 0).is_some());
    let refused = |from: &str, to: &str| {
        assert!(text.contains(from), "{text}");
        let other = text.replace(from, to);
        assert!(overlap(&program(&other), |_, _| true, |_| 0).is_none(), "{other}");
    };
    // The number of the second iteration might be beyond the dtype.
    refused("full 1 : s32", "full 2147483647 : s32");
    // What is carried decides what is multiplied.
    refused("= load k[64, 64] at (%", "= load y1[64, 64] at (%");
    assert!(overlap(&program(&text), |_, _| false, |_| 0).is_none());
}

/// The wait for the sums of a turn stands among the functions of the next products, and those of two warpgroups are issued by turns.
#[test]
fn products_are_under_way_while_threads_compute() {
    let it = Loop {
        rows: 128,
        keys: 64,
        columns: 64,
        start: 0,
        step: 1,
        parameter: true,
        masked: true,
        two: false,
        above: 0,
        scaled: true,
    };
    let kernel = assembled(&it.text(3));
    let body = kernel.split("bar.sync").skip(2).find(|part| part.contains("bar.arrive")).unwrap();
    let at = |what: &str| body.find(what).unwrap_or_else(|| panic!("{what}\n{body}"));
    assert!(at("wgmma.mma_async") < at("bar.arrive"));
    assert!(at("bar.arrive") < at("wgmma.wait_group.sync.aligned 1"));
    assert!(at("wgmma.wait_group.sync.aligned 1") < at("max.f32"));
    assert!(at("max.f32") < at("wgmma.wait_group.sync.aligned 0"));
    assert!(at("wgmma.wait_group.sync.aligned 0") < at("vote.sync.any"));
}

/// What the next products multiply has the registers of what these multiply, and is written when they are done.
#[test]
fn operands_are_written_when_no_product_reads_their_registers() {
    for two in [false, true] {
        let it = Loop {
            rows: 128,
            keys: 64,
            columns: 64,
            start: 0,
            step: 1,
            parameter: true,
            masked: false,
            two,
            above: 0,
            scaled: false,
        };
        let kernel = assembled(&it.text(3));
        let body = kernel.split("bar.sync").skip(2).find(|part| part.contains("bar.arrive")).unwrap();
        let at = |what: &str| body.find(what).unwrap_or_else(|| panic!("{what}\n{body}"));
        let first = format!("wgmma.wait_group.sync.aligned {}", if two { 2 } else { 1 });
        assert!(at("bar.arrive") < at(&first) && at(&first) < at("max.f32"));
        assert!(at("max.f32") < at("wgmma.wait_group.sync.aligned 0"));
        assert!(at("wgmma.wait_group.sync.aligned 0") < at("cvt.rn.bf16x2.f32"));
    }
}

/// A mask by positions near the end of the dtype, where sums of positions wrap, in a loop around a product.
fn masked(rows: u32, columns: u32) -> String {
    let (all, ty) = (format!("{rows}, {columns}"), format!("f32[{rows}, {columns}]"));
    format!(
        "kernel masked(x: f32[{rows}, 8] strides [8, 1] align 16, y: f32[8, {columns}] strides [{columns}, 1] align 16, mut z: {ty} strides [{columns}, 1] align 16, first: s32, from: s32) {{
  %0 = full 0 : s32
  %1 = full 1 : s32
  %2 = full 3 : s32
  %3 = param first : s32
  %4 = param from : s32
  %5 = load x[{rows}, 8] at (%0, %0) : f32[{rows}, 8]
  %6 = load y[8, {columns}] at (%0, %0) : f32[8, {columns}]
  %7 = full 0 : {ty}
  %8 = iota : s32[{columns}]
  %9 = reshape %8 : s32[1, {columns}]
  %10 = iota : s32[{rows}]
  %11 = reshape %10 : s32[{rows}, 1]
  %12 = reshape %4 : s32[1, 1]
  %13 = broadcast %12 : s32[{rows}, 1]
  %14 = sub %13, %11 : s32[{rows}, 1]
  %15 = for %0 to %2 step %1 carry %7 : {ty} {{ (%16: s32, %17: {ty})
  %18 = mma %5, %6, %7 : {ty}
  %19 = full {columns} : s32
  %20 = mul %16, %19 : s32
  %21 = add %3, %20 : s32
  %22 = reshape %21 : s32[1, 1]
  %23 = broadcast %22 : s32[1, {columns}]
  %24 = add %9, %23 : s32[1, {columns}]
  %25 = broadcast %24 : s32[{all}]
  %26 = broadcast %14 : s32[{all}]
  %27 = less_equal %25, %26 : bool[{all}]
  %28 = where %27, %18, %7 : {ty}
  %29 = add %17, %28 : {ty}
  continue %29
  }}
  store %15 to z[{rows}, {columns}] at (%0, %0)
}}
"
    )
}

/// The same with quotients by a number, of which the maximum is taken too.
fn divided(rows: u32, columns: u32) -> String {
    let (all, of_rows) = (format!("f32[{rows}, {columns}]"), format!("f32[{rows}, 1]"));
    let text = masked(rows, columns).replace("from: s32)", "from: s32, by: f32)");
    let text = text.replace("  %19 = full", &format!(
        "  %30 = param by : f32\n  %31 = reshape %30 : f32[1, 1]\n  %32 = broadcast %31 : {all}\n  %33 = truediv.full %18, %32 : {all}\n  %19 = full"
    ));
    text.replace("where %27, %18, %7", "where %27, %33, %7").replace("  %29 = add %17, %28", &format!(
        "  %34 = reduce max %28 along 1 : {of_rows}\n  %35 = broadcast %34 : {all}\n  %36 = add %28, %35 : {all}\n  %29 = add %17, %36"
    ))
}

/// A function of what one mask selects, by way of a number that is computed later, may be selected by another.
#[test]
fn masks_of_what_was_masked_are_branches_of_their_own() {
    let all = "f32[32, 64]";
    let text = masked(32, 64).replace(
        "  %29 = add %17, %28",
        &format!(
            "  %30 = mul %28, %28 : {all}\n  %31 = cast %25 : {all}\n  %32 = add %30, %31 : {all}\n  %33 = where %27, %32, %7 : {all}\n  %29 = add %17, %33"
        ),
    );
    let func = program(&text);
    let guarded = guard(&func);
    girih_tile::ir::verify(&guarded).unwrap();
    assert_eq!(guarded.to_string().matches("= if ").count(), 2, "{guarded}");
    let mut rng = random(6);
    let arrays = vec![
        super::numbers(&mut rng, DType::F32, &[32, 8]),
        super::numbers(&mut rng, DType::F32, &[8, 64]),
        zeros(DType::F32, &[32, 64]),
    ];
    for from in [0, 40, 70, 200, 1000] {
        let scalars = [0, from];
        assert_eq!(
            referred(&guarded, &arrays, &scalars),
            referred(&func, &arrays, &scalars),
            "{from}\n{guarded}"
        );
    }
}

/// Where no element is masked, quotients are products with a reciprocal, unless that is no normal number.
#[test]
fn quotients_beside_masks_are_products_where_the_reciprocal_is_normal() {
    let func = program(&divided(32, 64));
    let guarded = guard(&func);
    girih_tile::ir::verify(&guarded).unwrap();
    let lines = guarded.to_string();
    let branch = &lines[lines.find("= if ").unwrap()..];
    let (fast, slow) = branch.split_once("else").unwrap();
    assert!(
        fast.contains("= mul ") && !fast.contains("truediv.full") && fast.contains("reduce max"),
        "{lines}"
    );
    assert!(slow.contains("truediv.full") && slow.contains("where "), "{lines}");
    // Which way to go may not depend on what an array has.
    let loaded = divided(32, 64).replace(
        "  %30 = param by : f32",
        "  %37 = reduce max %5 along 1 : f32[32, 1]\n  %38 = reduce max %37 along 0 : f32[1, 1]\n  %30 = reshape %38 : f32",
    );
    assert_eq!(guard(&program(&loaded)).to_string().matches("truediv.full").count(), 2);
    let mut rng = random(5);
    let arrays = vec![
        super::numbers(&mut rng, DType::F32, &[32, 8]),
        super::numbers(&mut rng, DType::F32, &[8, 64]),
        zeros(DType::F32, &[32, 64]),
    ];
    let powers = [-149, -140, -127, -126, -100, 0, 100, 126, 127].map(|power| 2f32.powi(power));
    for by in powers.into_iter().chain([3.0, -0.7, 0.0, f32::MAX, f32::INFINITY, f32::NAN]) {
        for from in [1000u32, 40] {
            let scalars = [0, from.into(), by.to_bits().into()];
            let [wanted, got] = [&func, &guarded].map(|func| decoded(&referred(func, &arrays, &scalars)[2]));
            let finite = wanted.iter().map(|x| x.abs()).filter(|x| x.is_finite());
            let bound = finite.fold(0.0, f64::max) * 2e-6;
            for (got, wanted) in got.iter().zip(&wanted) {
                let close = (got - wanted).abs() <= bound;
                assert!(close || got == wanted || got.is_nan() && wanted.is_nan(), "{by}: {got} {wanted}");
            }
        }
    }
}

#[test]
fn masks_are_left_out_where_they_are_true_throughout() {
    let text = masked(32, 64);
    let func = program(&text);
    let guarded = guard(&func);
    girih_tile::ir::verify(&guarded).unwrap();
    let lines = guarded.to_string();
    assert_eq!(lines.matches("= if ").count(), 1, "{lines}");
    // Elements are compared inside of the condition.
    assert!(lines.find("= if ") < lines.find("bool[32, 64]"), "{lines}");
    assert_eq!(guard(&program(&masked(16, 32))).to_string().matches("= if ").count(), 0);
    let mut rng = random(3);
    let mut integers = |extents: &[i64]| {
        let one = |_| float::encode(DType::F32, rng.random_range(1i32..4).into(), Rounding::Nearest);
        ArrayData::dense(DType::F32, extents, &(0..extents.iter().product()).map(one).collect::<Vec<_>>())
    };
    let arrays = vec![integers(&[32, 8]), integers(&[8, 64]), zeros(DType::F32, &[32, 64])];
    let far = [i32::MIN, i32::MAX, 0];
    for seed in 0..20 {
        let mut rng = random(seed);
        let mut near = || {
            let at = far[rng.random_range(0..3usize)];
            u64::from(at.wrapping_add(rng.random_range(-260..260)) as u32)
        };
        let scalars = [near(), near()];
        let wanted = referred(&func, &arrays, &scalars);
        assert_eq!(referred(&guarded, &arrays, &scalars), wanted, "{scalars:?}\n{guarded}");
    }
}
