//! Persistent kernels, and tiles whose rows are several axes, against the reference.

use girih_device::{Device, SimOptions};
use girih_tensor::DType;
use girih_tile::compile;
use girih_tile::ir::{Func, Rounding, verify};
use girih_tile::pass::{is_even, persistent, simplify};
use girih_tile_reference::{self as reference, ArrayData, float};
use rand::RngExt;

use super::{assembled, decoded, program};
use crate::common::differ::{cases, on_gpu, random, simulate, simulate_on, zeros};

/// Small integers, whose sums are exact.
pub(super) fn integers(seed: u64, extents: &[i64]) -> ArrayData {
    let mut rng = random(seed);
    let one = |_| float::encode(DType::Bf16, rng.random_range(-2i32..3).into(), Rounding::Nearest);
    ArrayData::dense(DType::Bf16, extents, &(0..extents.iter().product::<i64>()).map(one).collect::<Vec<_>>())
}

/// Runs a program on simulators of some multiprocessors, or on a GPU, and compares all arrays with the reference.
pub(super) fn agrees(func: &Func, grid: [u32; 3], arrays: &[ArrayData], multiprocessors: &[u32]) {
    let mut wanted = arrays.to_vec();
    reference::run(func, grid, &mut wanted, &[]).unwrap();
    let mut runs = Vec::new();
    if on_gpu() {
        runs.push(simulate(func, 90, grid, arrays, &[]));
    } else {
        for &multiprocessors in multiprocessors {
            let options = SimOptions { multiprocessors: Some(multiprocessors), ..SimOptions::checked() };
            let device = Device::open_sim(options).unwrap();
            runs.push(simulate_on(&device, func, 90, grid, arrays, &[]));
        }
    }
    for got in runs {
        for (i, (got, wanted)) in got.unwrap().iter().zip(&wanted).enumerate() {
            let wrong = decoded(got).iter().zip(decoded(wanted)).position(|(a, b)| *a != b);
            assert!(wrong.is_none(), "array {i}, grid {grid:?}: element {wrong:?} differs");
        }
    }
}

/// A product with sums along columns, by tiles of 128 rows and `n` columns: `blocks` of a batch.
fn with_sums(n: u32) -> String {
    format!(
        "kernel k(a: bf16[?, ?, ?8] strides [?8, ?8, 1] align 16, b: bf16[?, ?, ?8] strides [?8, ?8, 1] align 16, mut c: f32[?, ?, ?] strides \
         [?, ?, 1] align 4, mut s: f32[?, ?, ?] strides [?, ?, 1] align 4) {{
  %0 = bid 0 : s32
  %1 = bid 1 : s32
  %2 = bid 2 : s32
  %3 = full 0 : s32
  %4 = full 1 : s32
  %5 = full 64 : s32
  %6 = dim a, 2 : s32
  %7 = cdiv %6, %5 : s32
  %8 = full 0 : f32[128, {n}]
  %9 = for %3 to %7 step %4 carry %8 : f32[128, {n}] {{ (%10: s32, %11: f32[128, {n}])
    %12 = load a[1, 128, 64] at (%2, %0, %10) pad 0 : bf16[1, 128, 64]
    %13 = reshape %12 : bf16[128, 64]
    %14 = load b[1, 64, {n}] at (%2, %10, %1) pad 0 : bf16[1, 64, {n}]
    %15 = reshape %14 : bf16[64, {n}]
    %16 = mma %13, %15, %11 : f32[128, {n}]
    continue %16
  }}
  %17 = reshape %9 : f32[1, 128, {n}]
  store %17 to c[1, 128, {n}] at (%2, %0, %1)
  %18 = reduce sum %9 along 0 : f32[1, {n}]
  %19 = reshape %18 : f32[1, 1, {n}]
  store %19 to s[1, 1, {n}] at (%2, %0, %1)
}}
"
    )
}

#[test]
fn persistent_blocks_do_what_the_grid_would() {
    let text = with_sums(128);
    let func = program(&text);
    let kernel = assembled(&text);
    assert!(kernel.contains("grid$0"), "the kernel is not persistent:\n{kernel}");
    // Rows of blocks by groups of 8, and fewer; tiles of which the array has a part.
    let sizes: [([u32; 4], [u32; 2]); 3] =
        [([1, 1100, 200, 72], [2, 132]), ([3, 300, 136, 136], [1, 5]), ([2, 40, 264, 8], [3, 4])];
    for (seed, ([batch, m, n, k], multiprocessors)) in (40..).step_by(2).zip(sizes) {
        let grid = [m.div_ceil(128), n.div_ceil(128), batch];
        let [m, n, k, batch] = [m, n, k, batch].map(i64::from);
        let arrays = [
            integers(seed, &[batch, m, k]),
            integers(seed + 1, &[batch, k, n]),
            zeros(DType::F32, &[batch, m, n]),
            zeros(DType::F32, &[batch, grid[0].into(), n]),
        ];
        agrees(&func, grid, &arrays, &multiprocessors);
    }
}

#[test]
fn what_each_block_does_is_what_a_program_of_many_blocks_does() {
    // Blocks come in groups of 4, 8 and 16 rows, as a column of blocks reads an eighth of a row's bytes, half, and twice.
    for (n, rows) in [(16, 4), (64, 8), (256, 16)] {
        let func = simplify(&program(&with_sums(n)));
        assert!(is_even(&func));
        let other = persistent(&func);
        verify(&other).unwrap();
        assert!(other.to_string().contains(&format!("= full {rows} : s32")), "{other}");
        let again = girih_tile::ir::parse(&other.to_string()).unwrap();
        assert_eq!(again.to_string(), other.to_string());
        let (m, columns, grid) = (2200, i64::from(n) + 8, [18, 2, 2]);
        let arrays = [
            integers(1, &[2, m, 8]),
            integers(2, &[2, 8, columns]),
            zeros(DType::F32, &[2, m, columns]),
            zeros(DType::F32, &[2, 18, columns]),
        ];
        let [mut wanted, mut got] = [arrays.to_vec(), arrays.to_vec()];
        reference::run(&func, grid, &mut wanted, &[]).unwrap();
        reference::run(&other, grid, &mut got, &[]).unwrap();
        assert_eq!(decoded(&got[2]), decoded(&wanted[2]));
        assert_eq!(decoded(&got[3]), decoded(&wanted[3]));
    }
}

#[test]
fn blocks_of_different_work_come_as_they_do() {
    let even = with_sums(128);
    let uneven = [
        // As many iterations as the block has rows before it, atomic additions, elements that blocks tell each other.
        even.replace("%7 = cdiv %6, %5 : s32", "%7 = cdiv %6, %5 : s32\n  %30 = minimum %0, %7 : s32").replace("to %7 step", "to %30 step"),
        even.replace(
            "  store %19 to s[1, 1, 128] at (%2, %0, %1)\n",
            "  %31 = if %32 : f32[1, 128] {\n    yield %18\n  } else {\n    yield %18\n  }\n  %33 = reshape %31 : f32[1, 1, 128]\n  store %33 to s[1, 1, 128] at (%2, %0, %1)\n",
        )
        .replace("%8 = full", "%32 = less %0, %4 : bool\n  %8 = full"),
    ];
    assert!(is_even(&program(&even)));
    for text in uneven {
        assert_ne!(text, even);
        let func = program(&text);
        assert!(!is_even(&func), "{text}");
        let kernel = compile(&func, 90).unwrap().kernel.module().to_string();
        assert!(!kernel.contains("grid$0"), "{kernel}");
    }
}

/// Products of tiles whose rows are several axes of an array: (1, h, w, c) with rows along c as (h w, c), and with rows along w as (c h, w).
#[test]
fn boxes_of_several_axes_come_by_tensor_copies() {
    let mut rng = random(77);
    for case in 0..cases(6) {
        let [h, w] = [[8u32, 8], [4, 32], [2, 64], [16, 4], [1, 64], [32, 2]][case % 6];
        let (rows, transposed) = (h * w, rng.random::<bool>());
        let [c, n] = [64u32, 64];
        // Where tiles begin, before the array's first element too.
        let [y, x] = [0, 1].map(|_| rng.random_range(-3i32..4));
        let [ny, nx, nc] =
            [rng.random_range(1..40i64), rng.random_range(1..70i64), 8 * rng.random_range(1..20i64)];
        let a = integers(100 + case as u64, &[2, ny, nx, nc]);
        let (b, rows_of_b) = if transposed { ([i64::from(rows), 64], rows) } else { ([nc, 64], c) };
        let b = integers(200 + case as u64, &b);
        // C is (h w, n) = (h w, c) (c, n), or (c, n) = (c, h w) (h w, n).
        let m = if transposed { c } else { rows };
        let factor = if transposed {
            format!(
                "%20 = permute %13 by [1, 0] : bf16[{c}, {rows}]\n    %14 = load b[{rows}, 64] at (%3, %3) pad 0 : bf16[{rows}, 64]\n    %16 = mma %20, %14, %11"
            )
        } else {
            format!(
                "%14 = load b[{c}, 64] at (%10, %3) pad 0 : bf16[{rows_of_b}, 64]\n    %16 = mma %13, %14, %11"
            )
        };
        let text = format!(
            "kernel k(a: bf16[?, ?, ?, ?8] strides [?8, ?8, ?8, 1] align 16, b: bf16[?, ?] strides [?8, 1] align 16, mut c: f32[{m}, {n}] \
             strides [{n}, 1] align 16) {{
  %3 = full 0 : s32
  %4 = full 1 : s32
  %5 = full {c} : s32
  %1 = full {y} : s32
  %2 = full {x} : s32
  %6 = dim a, 3 : s32
  %7 = cdiv %6, %5 : s32
  %8 = full 0 : f32[{m}, {n}]
  %9 = for %3 to %7 step %4 carry %8 : f32[{m}, {n}] {{ (%10: s32, %11: f32[{m}, {n}])
    %12 = load a[1, {h}, {w}, {c}] at (%4, %1, %2, %10) steps [1, 1, 1, {c}] pad 0 : bf16[1, {h}, {w}, {c}]
    %13 = reshape %12 : bf16[{rows}, {c}]
    {factor} : f32[{m}, {n}]
    continue %16
  }}
  store %9 to c[{m}, {n}] at (%3, %3)
}}
"
        );
        let kernel = assembled(&text);
        assert!(kernel.contains("cp.async.bulk.tensor.4d"), "{text}\n{kernel}");
        let arrays = [a, b, zeros(DType::F32, &[m.into(), n.into()])];
        agrees(&program(&text), [1, 1, 1], &arrays, &[132]);
    }
}
