//! Products of integers that threads scale: their tiles are prefetched too.

use girih_tensor::DType;
use girih_tile::ir::parse;
use girih_tile::place::place;
use girih_tile_reference::{ArrayData, float};
use rand::RngExt;

use super::ahead;
use crate::common::differ::{Tolerance, cases, differ, random, zeros};

/// A product whose B is a tile of integers, converted and scaled by rows of another array.
fn quantised(integer: &str, facts: &str, [m, n, k]: [u32; 3]) -> String {
    format!(
        "kernel product(a: bf16[?, ?] strides [?8, 1] align 16, q: {integer}[?, ?] strides {facts}, s: f32[?, ?] strides [?4, 1] align 16, mut c: f32[?, ?] strides [?, 1] align 4, count: s32) {{
  %0 = bid 0 : s32
  %1 = bid 1 : s32
  %2 = full 0 : s32
  %3 = full 1 : s32
  %4 = param count : s32
  %5 = full 0 : f32[{m}, {n}]
  %6 = for %2 to %4 step %3 carry %5 : f32[{m}, {n}] {{ (%7: s32, %8: f32[{m}, {n}])
    %9 = load a[{m}, {k}] at (%0, %7) pad 0 : bf16[{m}, {k}]
    %10 = load q[{k}, {n}] at (%7, %1) pad 0 : {integer}[{k}, {n}]
    %11 = load s[1, {n}] at (%7, %1) pad 0 : f32[1, {n}]
    %12 = cast %10 : f32[{k}, {n}]
    %13 = broadcast %11 : f32[{k}, {n}]
    %14 = mul %12, %13 : f32[{k}, {n}]
    %15 = cast %14 : bf16[{k}, {n}]
    %16 = mma %9, %15, %8 : f32[{m}, {n}]
    continue %16
  }}
  store %6 to c[{m}, {n}] at (%0, %1)
}}
"
    )
}

#[test]
fn what_operands_are_computed_from_is_prefetched() {
    let mut rng = random(39);
    for case in 0..cases(12) {
        let integer = ["s8", "u8"][case % 2];
        // Copies of 8 and 4 bytes, and what waits in registers.
        let facts = ["[?8, 1] align 16", "[?4, 1] align 4", "[?, 1] align 1"][case / 2 % 3];
        let tile = [[64, 64, 32], [128, 64, 64], [32, 32, 32]][rng.random_range(0..3)];
        let text = quantised(integer, facts, tile);
        let func = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        for sm in [80, 90] {
            let products = place(&girih_tile::pass::simplify(&func), sm).unwrap().products;
            // By the threads, or, where tensor copies can bring them and other tiles, by these.
            let computed = products.ahead.loads.values().filter(|early| early.computed).count();
            assert_eq!(computed + products.read.len(), 2, "sm_{sm}: {:?}\n{text}", products.ahead.late);
        }
        // A load that is used after the product is waited for, and so may the others be.
        let after = text
            .replace("mul %12, %13 : f32[", "add %12, %12 : f32[")
            .replace("continue %16", &format!("%17 = broadcast %11 : f32[{0}, {1}]\n    %18 = mul %16, %17 : f32[{0}, {1}]\n    continue %18", tile[0], tile[1]));
        let ahead_after = ahead(&girih_tile::pass::simplify(&parse(&after).unwrap()), 90);
        assert!(ahead_after.loads.values().all(|early| !early.computed), "{after}");
        let [m, n, k] = tile.map(i64::from);
        let count = rng.random_range(0..6);
        let [rows, columns] = [(); 2].map(|()| 8 * rng.random_range(1i64..20));
        let depth = (count * k - 8 * rng.random_range(0..3)).max(8);
        let mut array = |dtype: DType, rows: i64, columns: i64, from: i32, to: i32| {
            let mut one = || rng.random_range(from..to);
            let bits: Vec<u64> = (0..rows * columns)
                .map(|_| match dtype {
                    DType::S8 | DType::U8 => u64::from(one() as u8),
                    _ => float::encode(dtype, one().into(), girih_tile::ir::Rounding::Nearest),
                })
                .collect();
            ArrayData::dense(dtype, &[rows, columns], &bits)
        };
        let dtype = if integer == "s8" { DType::S8 } else { DType::U8 };
        let arrays = [
            array(DType::Bf16, rows, depth, -2, 3),
            array(dtype, depth, columns, if integer == "s8" { -4 } else { 0 }, 5),
            array(DType::F32, count.max(1), columns, 1, 3),
            zeros(DType::F32, &[rows, columns]),
        ];
        let grid = [((rows + m - 1) / m) as u32, ((columns + n - 1) / n) as u32, 1];
        differ(&func, grid, &arrays, &[count as u64], |_| Tolerance::EXACT)
            .unwrap_or_else(|error| panic!("{count} iterations of\n{text}{error}"));
    }
}
