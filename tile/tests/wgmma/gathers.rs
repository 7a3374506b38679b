//! Products of gathered rows, which the producer copies by `cp.async` to the slots that `wgmma` reads. All numbers are small integers, so that
//! any order of sums gives the same.

mod random;

use std::collections::BTreeSet;

use girih_tensor::DType;
use girih_tile::explain::explain;
use girih_tile::ir::{Kind, OpId};
use girih_tile::pass::simplify;
use girih_tile::place::{Plan, place};
use girih_tile_reference::ArrayData;

use super::attention::Lines;
use super::{assembled, program};
use crate::common::differ::{Tolerance, cases, differ, random, zeros};
use random::{COUNT, ROWS, Random, Rows};

/// How many arrays the producer gathers from.
fn produced(plan: &Plan) -> usize {
    let array = |id: &OpId| match &plan.func.op(*id).kind {
        Kind::Gather(at) => Some(at.array),
        _ => None,
    };
    plan.products.pipeline.loads.keys().filter_map(array).collect::<BTreeSet<_>>().len()
}

#[test]
fn products_of_gathered_rows_agree_with_the_reference() {
    let mut seen = BTreeSet::new();
    for seed in 0..cases(50) as u64 {
        let (text, arrays, rows) = Random::program(seed);
        let func = program(&text);
        let plan = place(&simplify(&func), 90).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
        let count = produced(&plan);
        if let ([rows], 1..) = (&rows[..], count) {
            seen.insert(*rows);
        }
        let unknown = rows.iter().filter(|rows| **rows == Rows::Multiplied).count();
        assert!(count <= rows.len() - unknown, "seed {seed}\n{text}");
        let same = differ(&func, [1, 1, 1], &arrays, &[], |_| Tolerance::EXACT);
        same.unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
    }
    let known: BTreeSet<Rows> = ROWS.into_iter().filter(|rows| *rows != Rows::Multiplied).collect();
    assert_eq!(seen, known);
}

/// Rows of `x`, by a list, times `w`.
fn by_list(x: &str, end: &str) -> String {
    format!(
        "kernel rows({x}: bf16[?, ?8] strides [?8, 1] align 16, list: s32[?] strides [1] align 4, w: bf16[?, ?64] strides [?64, 1] align 16, mut y: f32[128, 64] strides [64, 1] align 16) {{
  %0 = full 0 : s32
  %1 = full 1 : s32
  %2 = full 3 : s32
  %3 = full 64 : s32
  %4 = full 0 : f32[128, 64]
  %5 = full 0 : bf16[128, 64]
  %6 = iota : s32[64]
  %7 = load list[128] at (%0) pad 0 : s32[128]
  %8 = reshape %7 : s32[128, 1]
  %9 = broadcast %8 : s32[128, 64]
  %10 = for %0 to %2 step %1 carry %4 : f32[128, 64] {{ (%11: s32, %12: f32[128, 64])
    %13 = mul %11, %3 : s32
    %14 = reshape %13 : s32[1]
    %15 = broadcast %14 : s32[64]
    %16 = add %6, %15 : s32[64]
    %17 = reshape %16 : s32[1, 64]
    %18 = broadcast %17 : s32[128, 64]
    %19 = gather x at (%9, %18) else %5 : bf16[128, 64]
    %20 = load w[64, 64] at (%11, %0) pad 0 : bf16[64, 64]
    %21 = mma %19, %20, %12 : f32[128, 64]
    {end}continue %21
  }}
  store %10 to y[128, 64] at (%0, %0)
}}
"
    )
}

fn arrays_of_list() -> Vec<ArrayData> {
    let mut r = Random {
        rng: random(1),
        l: Lines::default(),
        dtype: DType::Bf16,
        all: 0,
        params: Vec::new(),
        arrays: Vec::new(),
    };
    r.array(DType::Bf16, &[COUNT, 3 * 64 - 8], 8, -2..3);
    r.array(DType::S32, &[128], 1, -3..COUNT + 3);
    r.array(DType::Bf16, &[3 * 64 - 8, 64], 8, -2..3);
    r.arrays.push(zeros(DType::F32, &[128, 64]));
    r.arrays
}

#[test]
fn the_producer_copies_rows_by_all_its_threads() {
    let text = by_list("x", "");
    let kernel = assembled(&text);
    // One arrival of each thread, and one of the thread that issues TMA copies.
    assert!(kernel.contains("cp.async.mbarrier.arrive.noinc") && kernel.contains("], 128;"), "{kernel}");
    assert!(kernel.contains("cp.async.bulk.tensor"), "{kernel}");
    // The generic proxy has written what `wgmma` reads.
    let order = ["mbarrier.try_wait", "fence.proxy.async.shared::cta", "wgmma.mma_async"]
        .map(|word| kernel.rfind(word));
    assert!(order.is_sorted() && order[0].is_some(), "{order:?}\n{kernel}");
    let told = explain(&program(&text), 90).unwrap().to_string();
    let wanted = "prefetched 5 iterations ahead by cp.async of 16 bytes from the producer's warpgroup";
    assert!(told.contains(wanted) && told.contains("prefetched 5 iterations ahead by TMA"), "{told}");
}

/// What the kernel writes is not gathered ahead.
#[test]
fn rows_that_are_written_are_not_prefetched() {
    let store = "store %19 to x[128, 64] at (%0, %11)
    ";
    let text = by_list("mut x", store);
    let func = program(&text);
    let plan = place(&simplify(&func), 90).unwrap();
    assert_eq!(produced(&plan), 0);
    differ(&func, [1, 1, 1], &arrays_of_list(), &[], |_| Tolerance::EXACT).unwrap();
    let text = by_list("x", "");
    assert_eq!(produced(&place(&simplify(&program(&text)), 90).unwrap()), 1);
    differ(&program(&text), [1, 1, 1], &arrays_of_list(), &[], |_| Tolerance::EXACT).unwrap();
}

/// Columns begin anywhere, where numbers of 32 bits end too: what is beyond the array is zero.
#[test]
fn columns_far_outside_of_an_array_are_zero() {
    let begin = ", n: s32) {\n  %30 = param n : s32\n  %31 = full 8 : s32\n  %32 = mul %30, %31 : s32\n  %0 = full 0 : s32\n";
    let text = by_list("x", "").replace(") {\n  %0 = full 0 : s32\n", begin);
    let text = text.replace("%13 = mul %11, %3 : s32", "%13 = add %32, %0 : s32");
    let func = program(&text);
    assert_eq!(produced(&place(&simplify(&func), 90).unwrap()), 1, "{text}");
    let last = 3 * 64 - 8;
    for n in [
        0,
        -8,
        24,
        last / 8 - 1,
        last / 8,
        -4,
        i32::MAX / 8,
        i32::MIN / 8,
        i32::MIN / 8 + 7,
        i32::MAX / 8 - 7,
    ] {
        let same = differ(&func, [1, 1, 1], &arrays_of_list(), &[u64::from(n.cast_unsigned())], |_| {
            Tolerance::EXACT
        });
        same.unwrap_or_else(|error| panic!("from {n}: {error}\n{text}"));
    }
}

/// A thread of the producer knows the rows that it copies, and no others.
#[test]
fn rows_of_two_shapes_are_copied_by_the_producer_once() {
    let text = by_list("x", "");
    let more = "%30 = iota : s32[32]
    %31 = reshape %30 : s32[1, 32]
    %32 = broadcast %31 : s32[128, 32]
    %33 = broadcast %8 : s32[128, 32]
    %34 = full 0 : bf16[128, 32]
    %35 = gather x at (%33, %32) else %34 : bf16[128, 32]
    %36 = load w[32, 64] at (%11, %0) pad 0 : bf16[32, 64]
    %37 = mma %35, %36, %21 : f32[128, 64]
    continue %37";
    let func = program(&text.replace("continue %21", more));
    let told = explain(&func, 90).unwrap().to_string();
    assert!(told.contains("from the producer's warpgroup"), "{told}");
    assert!(told.contains("not prefetched: the threads that copy would need other elements of"), "{told}");
    differ(&func, [1, 1, 1], &arrays_of_list(), &[], |_| Tolerance::EXACT).unwrap();
}
