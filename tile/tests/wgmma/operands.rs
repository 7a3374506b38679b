//! Random loops over products whose operands threads compute: converted, scaled, unpacked, gathered, transposed, batched. All numbers are small
//! integers, so that any order of sums gives the same.

mod random;

use girih_codegen::plan::Exchange;
use girih_tile::ir::Kind;
use girih_tile::pass::simplify;
use girih_tile::place::place;
use girih_tile::place::wgmma::Source;

use super::{assembled, program};
use crate::common::differ::{Tolerance, cases, differ};
use random::Random;

#[test]
fn products_of_what_is_computed_agree_with_the_reference() {
    // How many products have an operand in registers, and how many are computed transposed.
    let (mut held, mut turned) = (0, 0);
    for seed in 0..cases(60) as u64 {
        let (text, arrays) = Random::program(seed);
        let func = program(&text);
        match place(&simplify(&func), 90) {
            Ok(plan) => {
                let products = plan.products.wgmma.values();
                held += products.clone().filter(|product| product.sources[0] == Source::Registers).count();
                turned += products.filter(|product| product.operands == [1, 0]).count();
            }
            // Tiles that no block has room for.
            Err(error) if error.to_string().contains("accepted") => continue,
            Err(error) => panic!("seed {seed}: {error}\n{text}"),
        }
        let same = differ(&func, [1, 1, 1], &arrays, &[], |_| Tolerance::EXACT);
        same.unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
    }
    assert!(held > 0 && turned > 0, "{held} in registers, {turned} transposed");
}

/// C = A W^T of weights of 4 bits, two in a byte, with a scale for each column.
const WEIGHTS: &str = "kernel weights(a: bf16[?, ?64] strides [?64, 1] align 16, w: u8[?, ?32] strides [?32, 1] align 16, s: f32[128, 1] strides [1, 1] align 16, mut y: f32[128, 128] strides [128, 1] align 16, n: s32) {
  %0 = full 0 : s32
  %1 = full 1 : s32
  %2 = param n : s32
  %3 = full 0 : f32[128, 128]
  %4 = full 15 : u8[128, 32, 1]
  %5 = full 4 : u8[128, 32, 1]
  %6 = load s[128, 1] at (%0, %0) : f32[128, 1]
  %7 = broadcast %6 : f32[128, 64]
  %8 = for %0 to %2 step %1 carry %3 : f32[128, 128] { (%9: s32, %10: f32[128, 128])
    %11 = load a[128, 64] at (%0, %9) pad 0 : bf16[128, 64]
    %12 = load w[128, 32] at (%0, %9) pad 0 : u8[128, 32]
    %13 = reshape %12 : u8[128, 32, 1]
    %14 = bitwise_and %13, %4 : u8[128, 32, 1]
    %15 = bitwise_rshift %13, %5 : u8[128, 32, 1]
    %16 = cat %14, %15 along 2 : u8[128, 32, 2]
    %17 = reshape %16 : u8[128, 64]
    %18 = cast %17 : f32[128, 64]
    %19 = mul %18, %7 : f32[128, 64]
    %20 = cast %19 : bf16[128, 64]
    %21 = permute %20 by [1, 0] : bf16[64, 128]
    %22 = mma %11, %21, %10 : f32[128, 128]
    continue %22
  }
  store %8 to y[128, 128] at (%0, %0)
}
";

/// Each thread unpacks what it multiplies: nothing moves between threads in the loop, and the next operand is computed beside a product.
#[test]
fn unpacked_weights_are_multiplied_where_they_are_computed() {
    let plan = place(&simplify(&program(WEIGHTS)), 90).unwrap();
    let products = || plan.products.wgmma.values();
    assert!(products().all(|product| product.operands == [1, 0] && product.sources[0] == Source::Registers));
    assert_eq!(products().count(), 2, "one in the loop and one behind it\n{}", plan.func);
    let mut loops = 0;
    plan.func.walk(plan.func.body(), &mut |_, op| {
        let bodies = op.regions.iter().filter(|_| op.kind == Kind::For);
        bodies.for_each(|&body| {
            loops += 1;
            plan.func.walk(body, &mut |_, op| {
                let moved = op.results.first().and_then(|result| plan.exchanges.get(result));
                assert!(!matches!(moved, Some(Exchange::Shared(_))), "{op:?}\n{}", plan.func);
            });
        });
    });
    assert_eq!(loops, 1);
    assembled(WEIGHTS);
}

/// A product of weights of 8 bits with a scale for each column. The arrays of both have these strides and alignments.
fn scaled(q: &str, scale: &str) -> String {
    let [n, k] = [128, 64];
    format!(
        "kernel product(a: bf16[?, ?64] strides [?8, 1] align 16, q: u8[?, ?] strides {q}, s: f32[?, ?] strides {scale}, mut c: bf16[?, ?8] strides [?8, 1] align 16, count: s32) {{
  %0 = full 0 : s32
  %1 = full 1 : s32
  %2 = full 0 : f32[128, {n}]
  %3 = param count : s32
  %4 = for %0 to %3 step %1 carry %2 : f32[128, {n}] {{ (%5: s32, %6: f32[128, {n}])
    %7 = load a[128, {k}] at (%0, %5) pad 0 : bf16[128, {k}]
    %8 = load q[{n}, {k}] at (%0, %5) pad 0 : u8[{n}, {k}]
    %9 = cast %8 : f32[{n}, {k}]
    %10 = load s[1, {n}] at (%5, %0) pad 0 : f32[1, {n}]
    %11 = reshape %10 : f32[{n}, 1]
    %12 = broadcast %11 : f32[{n}, {k}]
    %13 = mul %9, %12 : f32[{n}, {k}]
    %14 = cast %13 : bf16[{n}, {k}]
    %15 = permute %14 by [1, 0] : bf16[{k}, {n}]
    %16 = mma %7, %15, %6 : f32[128, {n}]
    continue %16
  }}
  %17 = cast %4 : bf16[128, {n}]
  store %17 to c[128, {n}] at (%0, %0)
}}
"
    )
}

/// The tiles of a loop from which operands are computed come to one slot of a ring, if tensor copies can bring them.
#[test]
fn what_operands_are_computed_from_comes_by_tensor_copies() {
    let (wide, row) = ("[?16, 1] align 16", "[?4, 1] align 16");
    let plan = |text: &str| place(&simplify(&program(text)), 90).unwrap().products;
    let all = plan(&scaled(wide, row));
    let rings = &all.pipeline.rings;
    let read: Vec<_> = rings.iter().filter(|ring| ring.read).collect();
    assert_eq!((all.read.len(), read.len()), (2, 1), "{rings:?}");
    // What comes are both tiles; one begins behind the other.
    assert_eq!(read[0].bytes, 128 * 64 + 128 * 4);
    let mut parts: Vec<i64> = all.pipeline.parts.values().map(|part| part.at).collect();
    parts.sort_unstable();
    assert_eq!(parts, [0, 128 * 64]);
    assert!(read[0].step >= read[0].bytes && read[0].step % 128 == 0 && read[0].slots > 2);
    // Rows that begin anywhere, of the one and of the other.
    for (text, count) in [(scaled("[?, 1] align 1", row), 1), (scaled(wide, "[?, 1] align 4"), 1)] {
        let some = plan(&text);
        assert_eq!(some.read.len(), count, "{text}");
        assert_eq!(some.ahead.loads.values().filter(|early| early.computed).count(), 2 - count, "{text}");
    }
}
