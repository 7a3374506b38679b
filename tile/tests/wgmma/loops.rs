//! Loops and arrays at their borders: what is carried changes places, registers are needed once more, tiles lie far away, arrays are empty.

use girih_tensor::DType;
use girih_tile::ir::Rounding;
use girih_tile::pass::simplify;
use girih_tile::place::place;
use girih_tile_reference::{self as reference, ArrayData, float};
use rand::RngExt;

use super::{assembled, decoded, program, run};
use crate::common::differ::{random, zeros};

/// Small integers.
fn integers(seed: u64, extents: [i64; 2]) -> ArrayData {
    let mut rng = random(seed);
    let one = |_| float::encode(DType::Bf16, rng.random_range(-2i32..3).into(), Rounding::Nearest);
    ArrayData::dense(DType::Bf16, &extents, &(0..extents[0] * extents[1]).map(one).collect::<Vec<_>>())
}

/// Runs a program of arrays `a`, `b` and more, and one or two results of 64x64, all on the reference too. Loads are by tensor copies.
fn agrees(body: &str, mut arrays: Vec<ArrayData>, results: usize, scalars: &[u64]) {
    let mut params: Vec<String> = (0..arrays.len())
        .map(|i| format!("{}: bf16[?, ?8] strides [?8, 1] align 16", ["a", "b", "c"][i]))
        .collect();
    for i in 0..results {
        params.push(format!("mut y{i}: f32[64, 64] strides [64, 1] align 16"));
        arrays.push(zeros(DType::F32, &[64, 64]));
    }
    let names = ["n: s32", "m: s32"];
    params.extend(names[..scalars.len()].iter().map(ToString::to_string));
    let text = format!("kernel loops({}) {{\n{body}}}\n", params.join(", "));
    let func = program(&text);
    let plan = place(&simplify(&func), 90).unwrap();
    assert!(!plan.products.pipeline.loads.is_empty(), "{:?}\n{text}", plan.products);
    let mut wanted = arrays.clone();
    reference::run(&func, [1, 1, 1], &mut wanted, scalars).unwrap();
    let got = run(&text, [1, 1, 1], &arrays, scalars);
    for (i, (got, wanted)) in got.iter().zip(&wanted).enumerate() {
        let wrong = decoded(got).iter().zip(decoded(wanted)).position(|(a, b)| *a != b);
        assert!(wrong.is_none(), "array {i} differs at {wrong:?}\n{text}");
    }
}

#[test]
fn sums_change_places_from_turn_to_turn() {
    let body = "  %0 = full 0 : s32
  %1 = full 1 : s32
  %2 = full 3 : s32
  %3 = full 0 : f32[64, 64]
  %4 = full 1 : f32[64, 64]
  %5, %6 = for %0 to %2 step %1 carry %3, %4 : f32[64, 64], f32[64, 64] { (%7: s32, %8: f32[64, 64], %9: f32[64, 64])
  %10 = load a[64, 64] at (%0, %7) pad 0 : bf16[64, 64]
  %11 = load b[64, 64] at (%7, %0) pad 0 : bf16[64, 64]
  %12 = load c[64, 64] at (%7, %0) pad 0 : bf16[64, 64]
  %13 = mma %10, %11, %8 : f32[64, 64]
  %14 = mma %10, %12, %9 : f32[64, 64]
  continue %14, %13
  }
  store %5 to y0[64, 64] at (%0, %0)
  store %6 to y1[64, 64] at (%0, %0)
";
    let arrays = vec![integers(1, [64, 192]), integers(2, [192, 64]), integers(3, [192, 64])];
    agrees(body, arrays, 2, &[]);
}

#[test]
fn a_sum_is_read_after_the_product_whose_sum_is_carried_on() {
    // %13 is in the registers of %8, and so might be %14.
    let body = "  %0 = full 0 : s32
  %1 = full 1 : s32
  %2 = full 3 : s32
  %3 = full 0 : f32[64, 64]
  %5, %6 = for %0 to %2 step %1 carry %3, %3 : f32[64, 64], f32[64, 64] { (%7: s32, %8: f32[64, 64], %9: f32[64, 64])
  %10 = load a[64, 64] at (%0, %7) pad 0 : bf16[64, 64]
  %11 = load b[64, 64] at (%7, %0) pad 0 : bf16[64, 64]
  %13 = mma %10, %11, %8 : f32[64, 64]
  %14 = mma %11, %10, %3 : f32[64, 64]
  %15 = add %9, %13 : f32[64, 64]
  continue %14, %15
  }
  store %5 to y0[64, 64] at (%0, %0)
  store %6 to y1[64, 64] at (%0, %0)
";
    agrees(body, vec![integers(4, [64, 192]), integers(5, [192, 64])], 2, &[]);
}

#[test]
fn loops_of_any_number_of_turns_share_a_ring() {
    let body = |first: &str, second: &str| {
        format!(
            "  %0 = full 0 : s32
  %1 = full 1 : s32
  %2 = param n : s32
  %3 = param m : s32
  %4 = full 0 : f32[64, 64]
  %5 = for %0 to %2 step %1 carry %4 : f32[64, 64] {{ (%6: s32, %7: f32[64, 64])
  %8 = load a[64, 64] at (%0, %6) pad 0{first} : bf16[64, 64]
  %9 = load b[64, 64] at (%6, %0) pad 0 : bf16[64, 64]
  %10 = mma %8, %9, %7 : f32[64, 64]
  %11 = for %0 to %3 step %1 carry %10 : f32[64, 64] {{ (%12: s32, %13: f32[64, 64])
  %14 = load c[64, 64] at (%12, %6) pad 0 : bf16[64, 64]
  %15 = mma %14, %9, %13 : f32[64, 64]
  continue %15
  }}
  continue %11
  }}
  %16 = for %0 to %3 step %1 carry %5 : f32[64, 64] {{ (%17: s32, %18: f32[64, 64])
  %19 = less %17, %1 : bool
  %20 = if %19 : f32[64, 64] {{
  %21 = load c[64, 64] at (%0, %17) pad 0{second} : bf16[64, 64]
  %22 = load b[64, 64] at (%17, %0) pad 0 : bf16[64, 64]
  %23 = mma %21, %22, %18 : f32[64, 64]
  yield %23
  }} else {{
  yield %18
  }}
  continue %20
  }}
  store %16 to y0[64, 64] at (%0, %0)
"
        )
    };
    let arrays = || vec![integers(6, [64, 192]), integers(7, [192, 64]), integers(8, [128, 128])];
    for (iterations, inner) in [(0, 0), (0, 2), (3, 0), (1, 1), (3, 3)] {
        agrees(&body("", ""), arrays(), 1, &[iterations, inner]);
        agrees(&body(" no_tma", ""), arrays(), 1, &[iterations, inner]);
        agrees(&body("", " no_tma"), arrays(), 1, &[iterations, inner]);
    }
}

#[test]
fn tiles_far_outside_of_an_array_are_zero() {
    let body = "  %0 = full 0 : s32
  %1 = param n : s32
  %2 = load a[64, 64] at (%0, %1) pad 0 : bf16[64, 64]
  %3 = load b[64, 64] at (%0, %0) pad 0 : bf16[64, 64]
  %4 = full 1 : f32[64, 64]
  %5 = mma %2, %3, %4 : f32[64, 64]
  store %5 to y0[64, 64] at (%0, %0)
";
    for at in [1, -1, 1 << 26, -(1 << 26), i32::MAX, i32::MIN] {
        agrees(body, vec![integers(9, [64, 64]), integers(10, [64, 64])], 1, &[u64::from(at as u32)]);
    }
}

#[test]
fn parts_of_arrays_that_lie_anywhere_are_cleared_beyond() {
    let body = "  %0 = full 0 : s32
  %1 = param n : s32
  %2 = param m : s32
  %3 = load a<0: %1..%2>[64, 64] at (%0, %0) pad 0 : bf16[64, 64]
  %4 = load b<0: %1..%2>[64, 64] at (%0, %0) pad 0 : bf16[64, 64]
  %5 = full 1 : f32[64, 64]
  %6 = mma %3, %4, %5 : f32[64, 64]
  store %6 to y0[64, 64] at (%0, %0)
  %7 = load a<0: %1..%2>[64, 64] at (%1, %0) pad 0 : bf16[64, 64]
  %8 = mma %7, %4, %5 : f32[64, 64]
  store %8 to y1[64, 64] at (%0, %0)
";
    for (start, stop) in
        [(0i32, 64i32), (3, 40), (-5, 20), (40, 100), (30, 20), (100, 120), (i32::MIN, i32::MAX)]
    {
        let scalars = [start, stop].map(|n| u64::from(n as u32));
        agrees(body, vec![integers(11, [64, 64]), integers(12, [64, 64])], 2, &scalars);
    }
}

/// `a b` of one tile where B is as it is or lies along K, of small integers.
fn tile_of(dtype: DType, sum: DType, warps: u32, [m, n, k]: [u32; 3], along: bool, tma: bool) -> usize {
    let (rows, columns) = if along { (n, k) } else { (k, n) };
    let options = if tma { "" } else { " no_tma" };
    let axes = if along { "[1, 0]" } else { "[0, 1]" };
    let text = format!(
        "kernel tile(a: {dtype}[{m}, {k}] strides [{k}, 1] align 16, b: {dtype}[{rows}, {columns}] strides [{columns}, 1] align 16, mut y: {sum}[{m}, {n}] strides [{n}, 1] align 16) {{
  hint all num_worker_warps {warps}
  %0 = full 0 : s32
  %1 = load a[{m}, {k}] at (%0, %0) pad 0{options} : {dtype}[{m}, {k}]
  %2 = load b[{rows}, {columns}] at (%0, %0) pad 0 : {dtype}[{rows}, {columns}]
  %3 = permute %2 by {axes} : {dtype}[{k}, {n}]
  %4 = full 1 : {sum}[{m}, {n}]
  %5 = mma %1, %3, %4 : {sum}[{m}, {n}]
  store %5 to y[{m}, {n}] at (%0, %0)
}}
"
    );
    let func = program(&text);
    let numbers = |seed: u64, extents: [i64; 2]| {
        let mut rng = random(seed);
        let mut one = |_: i64| {
            let number = rng.random_range(-2i64..3);
            match dtype {
                DType::S8 => number as u64 & 0xff,
                DType::U8 => number.unsigned_abs(),
                _ => float::encode(dtype, number as f64, Rounding::Nearest),
            }
        };
        ArrayData::dense(dtype, &extents, &(0..extents[0] * extents[1]).map(&mut one).collect::<Vec<_>>())
    };
    let arrays = [
        numbers(u64::from(m + n), [m.into(), k.into()]),
        numbers(u64::from(n + k), [rows.into(), columns.into()]),
        zeros(sum, &[m.into(), n.into()]),
    ];
    let mut wanted = arrays.to_vec();
    reference::run(&func, [1, 1, 1], &mut wanted, &[]).unwrap();
    // Some are more than registers and shared memory have room for.
    if girih_tile::compile(&func, 90).is_err() {
        return 0;
    }
    let products = place(&simplify(&func), 90).unwrap().products.wgmma.len();
    let got = run(&text, [1, 1, 1], &arrays, &[]);
    let wrong = decoded(&got[2]).iter().zip(decoded(&wanted[2])).position(|(a, b)| *a != b);
    assert!(wrong.is_none(), "{wrong:?}\n{text}");
    products
}

#[test]
fn tiles_of_all_shapes_are_multiplied() {
    let kinds = [
        (DType::Bf16, DType::F32),
        (DType::F16, DType::F16),
        (DType::E4m3, DType::F32),
        (DType::S8, DType::S32),
        (DType::U8, DType::S32),
        (DType::Tf32, DType::F32),
    ];
    let (mut at, mut products) = (0usize, 0);
    for n in [8, 16, 24, 40, 72, 96, 136, 256, 264] {
        for along in [false, true] {
            for _ in 0..2 {
                let (dtype, sum) = kinds[at % kinds.len()];
                let (m, warps) = [(64, 4), (128, 4), (128, 8), (256, 8)][at / 2 % 4];
                let k = [16, 32, 48, 64, 80, 96, 128][at % 7];
                products += tile_of(dtype, sum, warps, [m, n, k], along, at % 5 > 0);
                at += 1;
            }
        }
    }
    assert!(products > at / 2, "{products} of {at}");
}

#[test]
fn empty_arrays_are_outside_everywhere() {
    let body = "  %0 = full 0 : s32
  %1 = load a[64, 64] at (%0, %0) pad 0 : bf16[64, 64]
  %2 = load b[64, 64] at (%0, %0) pad 0 : bf16[64, 64]
  %3 = full 1 : f32[64, 64]
  %4 = mma %1, %2, %3 : f32[64, 64]
  store %4 to y0[64, 64] at (%0, %0)
";
    let a = ArrayData { strides: vec![64, 1], ..integers(13, [64, 0]) };
    agrees(body, vec![a, integers(14, [0, 64])], 1, &[]);
}

#[test]
fn the_producer_does_not_wait_for_what_threads_store() {
    // Threads read what others have stored in the loop before, and in the iteration before.
    let body = "  %0 = full 0 : s32
  %1 = full 1 : s32
  %2 = full 3 : s32
  %3 = full 0 : f32[64, 64]
  %4 = for %0 to %2 step %1 carry %3 : f32[64, 64] { (%5: s32, %6: f32[64, 64])
  %7 = load a[64, 64] at (%0, %5) pad 0 : bf16[64, 64]
  %8 = load b[64, 64] at (%5, %0) pad 0 : bf16[64, 64]
  %9 = mma %7, %8, %6 : f32[64, 64]
  store %9 to y0[64, 64] at (%0, %0)
  continue %9
  }
  %10 = for %0 to %2 step %1 carry %4 : f32[64, 64] { (%11: s32, %12: f32[64, 64])
  %13 = load y0[64, 64] at (%0, %0) : f32[64, 64]
  %14 = permute %13 by [1, 0] : f32[64, 64]
  %15 = for %0 to %2 step %1 carry %12 : f32[64, 64] { (%16: s32, %17: f32[64, 64])
  %18 = load a[64, 64] at (%0, %16) pad 0 : bf16[64, 64]
  %19 = load b[64, 64] at (%16, %0) pad 0 : bf16[64, 64]
  %20 = mma %18, %19, %17 : f32[64, 64]
  store %20 to y0[64, 64] at (%0, %0)
  continue %20
  }
  %21 = add %14, %15 : f32[64, 64]
  continue %21
  }
  store %10 to y1[64, 64] at (%0, %0)
";
    agrees(body, vec![integers(15, [64, 192]), integers(16, [192, 64])], 2, &[]);
}

/// The product of `a` and `b`, and that of `a` and `c`, with sums that functions change from iteration to iteration.
fn changed([first, second]: [&str; 2]) -> String {
    let (second, sum) = if second.is_empty() { (first, "%9") } else { (second, "%15") };
    format!(
        "  %0 = full 0 : s32
  %1 = full 1 : s32
  %2 = full 3 : s32
  %3 = full 0 : f32[64, 64]
  %4 = full 2 : f32[64, 64]
  %5, %6 = for %0 to %2 step %1 carry %4, %3 : f32[64, 64], f32[64, 64] {{ (%7: s32, %8: f32[64, 64], %9: f32[64, 64])
  %10 = load a[64, 64] at (%0, %7) pad 0 : bf16[64, 64]
  %11 = load b[64, 64] at (%7, %0) pad 0 : bf16[64, 64]
  %12 = load c[64, 64] at (%7, %0) pad 0 : bf16[64, 64]
  %13 = {first} %8, %4 : f32[64, 64]
  %14 = mma %10, %11, %13 : f32[64, 64]
  %15 = {second} %9, %4 : f32[64, 64]
  %16 = mma %10, %12, {sum} : f32[64, 64]
  continue %14, %16
  }}
  store %5 to y0[64, 64] at (%0, %0)
  store %6 to y1[64, 64] at (%0, %0)
"
    )
}

/// The assembler waits for all products before it touches an accumulator: all changes come before the first product is issued, and when those of the
/// iteration before are done.
#[test]
fn accumulators_are_changed_before_products_are_under_way() {
    for functions in [["mul", "mul"], ["minimum", "add"], ["maximum", "mul"], ["minimum", ""]] {
        let body = changed(functions);
        let arrays = vec![integers(1, [64, 192]), integers(2, [192, 64]), integers(3, [192, 64])];
        agrees(&body, arrays, 2, &[]);
        let params: Vec<String> = ["a", "b", "c"]
            .map(|name| format!("{name}: bf16[?, ?8] strides [?8, 1] align 16"))
            .into_iter()
            .chain((0..2).map(|i| format!("mut y{i}: f32[64, 64] strides [64, 1] align 16")))
            .collect();
        let kernel = assembled(&format!("kernel changed({}) {{\n{body}}}\n", params.join(", ")));
        let products: Vec<usize> = kernel.match_indices("wgmma.commit_group").map(|(at, _)| at).collect();
        let between = &kernel[products[0]..products[1]];
        let changes = ["mul.rn.f32", "add.rn.f32", "min.f32", "max.f32", "min.NaN.f32", "max.NaN.f32"];
        assert!(!changes.iter().any(|word| between.contains(word)), "{between}");
    }
}
