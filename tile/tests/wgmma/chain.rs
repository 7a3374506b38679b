//! Chains of products, and several of one tile.

use girih_tensor::DType;
use girih_tile::place::{place, wgmma::Source};
use girih_tile_reference::ArrayData;

use super::{assembled, assert_near, bound_of_bytes, decoded, numbers, program, run};
use crate::common::differ::{random, zeros};

/// `relu(x a) * (x b)`, then times `c`: the hidden tile stays in registers.
fn gated(m: u32, k: u32, hidden: u32, n: u32) -> String {
    let array = |name: &str, rows: u32, columns: u32| {
        format!("{name}: bf16[{rows}, {columns}] strides [{columns}, 1] align 16")
    };
    format!(
        "kernel gated({}, {}, {}, {}, mut y: f32[{m}, {n}] strides [{n}, 1] align 16) {{
  %0 = full 0 : s32
  %1 = load x[{m}, {k}] at (%0, %0) : bf16[{m}, {k}]
  %2 = load a[{k}, {hidden}] at (%0, %0) : bf16[{k}, {hidden}]
  %3 = load b[{k}, {hidden}] at (%0, %0) : bf16[{k}, {hidden}]
  %4 = full 0 : f32[{m}, {hidden}]
  %5 = mma %1, %2, %4 : f32[{m}, {hidden}]
  %6 = mma %1, %3, %4 : f32[{m}, {hidden}]
  %7 = maximum %5, %4 : f32[{m}, {hidden}]
  %8 = mul %7, %6 : f32[{m}, {hidden}]
  %9 = cast %8 : bf16[{m}, {hidden}]
  %10 = load c[{hidden}, {n}] at (%0, %0) : bf16[{hidden}, {n}]
  %11 = full 0 : f32[{m}, {n}]
  %12 = mma %9, %10, %11 : f32[{m}, {n}]
  store %12 to y[{m}, {n}] at (%0, %0)
}}
",
        array("x", m, k),
        array("a", k, hidden),
        array("b", k, hidden),
        array("c", hidden, n)
    )
}

fn product(a: &[f64], b: &[f64], [m, n, k]: [usize; 3]) -> Vec<f64> {
    let at = |i: usize| (0..k).map(|s| a[i / n * k + s] * b[s * n + i % n]).sum();
    (0..m * n).map(at).collect()
}

#[test]
fn a_gated_product_feeds_the_next_from_registers() {
    let [m, k, hidden, n] = [128u32, 64, 128, 64];
    let text = gated(m, k, hidden, n);
    let mut rng = random(3);
    let mut matrix = |rows: u32, columns: u32| numbers(&mut rng, DType::Bf16, &[rows.into(), columns.into()]);
    let arrays: [ArrayData; 4] = [matrix(m, k), matrix(k, hidden), matrix(k, hidden), matrix(hidden, n)];
    let [x, a, b, c] = [0, 1, 2, 3].map(|i| decoded(&arrays[i]));
    let size = |x: u32, y: u32, z: u32| [x, y, z].map(|n| n as usize);
    let gates = product(&x, &a, size(m, hidden, k)).into_iter().zip(product(&x, &b, size(m, hidden, k)));
    let hiddens: Vec<f64> = gates.map(|(a, b)| half::bf16::from_f64(a.max(0.0) * b).to_f64()).collect();
    let all: Vec<ArrayData> = arrays.into_iter().chain([zeros(DType::F32, &[m.into(), n.into()])]).collect();
    let got = run(&text, [1, 1, 1], &all, &[]);
    // A hidden value near the middle of two, which are up to 1/8 apart, may be rounded to the other one.
    assert_near(&got[4], &product(&hiddens, &c, size(m, n, hidden)), 1e-1);
    let plan = place(&program(&text), 90).unwrap();
    let sources: Vec<[Source; 2]> = plan.products.wgmma.values().map(|product| product.sources).collect();
    assert!(matches!(sources[2], [Source::Registers, Source::Loaded(_)]), "{sources:?}");
    assembled(&text);
}

#[test]
fn computed_operands_go_through_shared_memory() {
    // Twice B, and A of 8 bits that is computed, which is no fragment of the sums.
    let text = "kernel scaled(a: e4m3[64, 64] strides [64, 1] align 16, b: e4m3[64, 64] strides [64, 1] align 16, mut y: f32[64, 64] strides [64, 1] align 16) {
  %0 = full 0 : s32
  %1 = load a[64, 64] at (%0, %0) : e4m3[64, 64]
  %2 = load b[64, 64] at (%0, %0) : e4m3[64, 64]
  %3 = cast %1 : f32[64, 64]
  %4 = cast %2 : f32[64, 64]
  %5 = add %3, %3 : f32[64, 64]
  %6 = add %4, %4 : f32[64, 64]
  %7 = cast %5 : e4m3[64, 64]
  %8 = cast %6 : e4m3[64, 64]
  %9 = permute %8 by [1, 0] : e4m3[64, 64]
  %10 = full 0 : f32[64, 64]
  %11 = full 3 : s32
  %12 = full 1 : s32
  %13 = for %0 to %11 step %12 carry %10 : f32[64, 64] { (%14: s32, %15: f32[64, 64])
    %16 = mma %7, %9, %15 : f32[64, 64]
    continue %16
  }
  store %13 to y[64, 64] at (%0, %0)
}
";
    let mut rng = random(5);
    let [a, b] = [(); 2].map(|()| numbers(&mut rng, DType::E4m3, &[64, 64]));
    let got = run(text, [1, 1, 1], &[a.clone(), b.clone(), zeros(DType::F32, &[64, 64])], &[]);
    let turned: Vec<f64> = (0..64 * 64).map(|i| 12.0 * decoded(&b)[i % 64 * 64 + i / 64]).collect();
    assert_near(&got[2], &product(&decoded(&a), &turned, [64, 64, 64]), bound_of_bytes(6));
    let plan = place(&program(text), 90).unwrap();
    assert!(plan.products.wgmma.values().all(|product| product.sources == [Source::Stored; 2]));
    assembled(text);
}

#[test]
fn parts_of_arrays_end_where_they_end() {
    // Of B, whose rows are K, a part that ends within a tile; of A the part along K that goes with it, which no tensor copy brings.
    let text = "kernel part(a: bf16[?, ?8] strides [?8, 1] align 16, b: bf16[?, 64] strides [64, 1] align 16, mut y: f32[64, 64] strides [64, 1] align 16, from: s32, to: s32 = ?8) {
  %0 = full 0 : s32
  %1 = param from : s32
  %2 = param to : s32
  %3 = full 1 : s32
  %4 = full 64 : s32
  %5 = sub %2, %1 : s32
  %6 = cdiv %5, %4 : s32
  %7 = full 0 : f32[64, 64]
  %8 = for %0 to %6 step %3 carry %7 : f32[64, 64] { (%9: s32, %10: f32[64, 64])
    %11 = load a<1: %1..%2>[64, 64] at (%0, %9) pad 0 : bf16[64, 64]
    %12 = load b<0: %1..%2>[64, 64] at (%9, %0) pad 0 : bf16[64, 64]
    %13 = mma %11, %12, %10 : f32[64, 64]
    continue %13
  }
  store %8 to y[64, 64] at (%0, %0)
}
";
    let (from, to, depth) = (24usize, 176usize, 256usize);
    let mut rng = random(9);
    let a = numbers(&mut rng, DType::Bf16, &[64, depth as i64]);
    let b = numbers(&mut rng, DType::Bf16, &[depth as i64, 64]);
    // What lies beyond the part must not be multiplied, not even by zero.
    let nan = half::bf16::NAN.to_bits().into();
    let bits = b.elements().unwrap().into_iter().enumerate();
    let bits: Vec<u64> =
        bits.map(|(i, bits)| if (from..to).contains(&(i / 64)) { bits } else { nan }).collect();
    let b = ArrayData::dense(DType::Bf16, &[depth as i64, 64], &bits);
    let arrays = [a.clone(), b.clone(), zeros(DType::F32, &[64, 64])];
    let got = run(text, [1, 1, 1], &arrays, &[from as u64, to as u64]);
    let (a, b) = (decoded(&a), decoded(&b));
    let at = |i: usize| (from..to).map(|k| a[i / 64 * depth + k] * b[k * 64 + i % 64]).sum();
    assert_near(&got[2], &(0..64 * 64).map(at).collect::<Vec<f64>>(), 1e-4);
    let plan = place(&program(text), 90).unwrap();
    assert_eq!(plan.products.loads.values().filter(|tile| tile.produced.is_ok()).count(), 1);
    assembled(text);
}

#[test]
fn sums_of_a_turn_are_under_way_while_the_next_begins() {
    let [m, k, n] = [128i64, 320, 128];
    let text = |stages: u32, tma: &str| {
        format!(
            "kernel pair(x: bf16[{m}, ?8] strides [?8, 1] align 16, a: bf16[?, {n}] strides [{n}, 1] align 16, b: bf16[?, {n}] strides [{n}, 1] align 16, mut y: f32[{m}, {n}] strides [{n}, 1] align 16) {{
  hint all num_stages {stages}
  %0 = full 0 : s32
  %1 = full 1 : s32
  %2 = dim x, 1 : s32
  %3 = full 64 : s32
  %4 = cdiv %2, %3 : s32
  %5 = full 0 : f32[{m}, {n}]
  %6, %7 = for %0 to %4 step %1 carry %5, %5 : f32[{m}, {n}], f32[{m}, {n}] {{ (%8: s32, %9: f32[{m}, {n}], %10: f32[{m}, {n}])
    %11 = load x[{m}, 64] at (%0, %8) pad 0{tma} : bf16[{m}, 64]
    %12 = load a[64, {n}] at (%8, %0) pad 0{tma} : bf16[64, {n}]
    %13 = mma %11, %12, %9 : f32[{m}, {n}]
    %14 = load b[64, {n}] at (%8, %0) pad 0{tma} : bf16[64, {n}]
    %15 = mma %11, %14, %10 : f32[{m}, {n}]
    continue %13, %15
  }}
  %16 = mul %6, %7 : f32[{m}, {n}]
  store %16 to y[{m}, {n}] at (%0, %0)
}}
"
        )
    };
    let mut rng = random(13);
    for depth in [k, 40] {
        let [x, a, b] =
            [[m, depth], [depth, n], [depth, n]].map(|extents| numbers(&mut rng, DType::Bf16, &extents));
        let size = [m, n, depth].map(|n| n as usize);
        let sums = [&a, &b].map(|other| product(&decoded(&x), &decoded(other), size));
        let wanted: Vec<f64> = sums[0].iter().zip(&sums[1]).map(|(a, b)| a * b).collect();
        for (stages, tma) in [(4, ""), (2, ""), (1, ""), (1, " no_tma")] {
            let arrays = [x.clone(), a.clone(), b.clone(), zeros(DType::F32, &[m, n])];
            let got = run(&text(stages, tma), [1, 1, 1], &arrays, &[]);
            assert_near(&got[3], &wanted, 1e-3);
        }
    }
    for (stages, waits) in [(4, true), (1, false)] {
        let kernel = assembled(&text(stages, ""));
        assert_eq!(kernel.contains("wgmma.wait_group.sync.aligned 2;"), waits, "{kernel}");
    }
}
