//! Stores by tensor copies, against the reference.

use girih_tensor::DType;
use girih_tile::pass::{persistent, simplify};
use girih_tile::place;
use rand::RngExt;

use super::persistent::{agrees, integers};
use super::{assembled, program};
use crate::common::differ::{cases, random, zeros};

/// Products of a batch, by tiles of `m` rows and `n` columns: C, or its transpose if `turned`. With `rounds`, each tile is stored so often, of the
/// first tiles of K by the first round and of one more by each other.
fn products(dtype: DType, [m, n]: [u32; 2], turned: bool, rounds: u32) -> String {
    let (c, at) = if turned { ([n, m], "%1, %0") } else { ([m, n], "%0, %1") };
    let [x, y] = c;
    let value = if turned {
        format!("%21 = permute %20 by [1, 0] : {dtype}[{x}, {y}]\n")
    } else {
        format!("%21 = reshape %20 : {dtype}[{x}, {y}]\n")
    };
    let product = format!(
        "%9 = for %3 to %25 step %4 carry %8 : f32[{m}, {n}] {{ (%10: s32, %11: f32[{m}, {n}])
    %12 = load a[1, {m}, 64] at (%2, %0, %10) pad 0 : bf16[1, {m}, 64]
    %13 = reshape %12 : bf16[{m}, 64]
    %14 = load b[1, 64, {n}] at (%2, %10, %1) pad 0 : bf16[1, 64, {n}]
    %15 = reshape %14 : bf16[64, {n}]
    %16 = mma %13, %15, %11 : f32[{m}, {n}]
    continue %16
  }}
  %20 = cast %9 : {dtype}[{m}, {n}]
  {value}  %22 = reshape %21 : {dtype}[1, {x}, {y}]
  store %22 to c[1, {x}, {y}] at (%2, {at})
"
    );
    let body = match rounds {
        1 => format!("%25 = maximum %7, %3 : s32\n  {product}"),
        _ => format!(
            "%23 = full {rounds} : s32
  for %3 to %23 step %4 {{ (%24: s32)
  %26 = sub %23, %24 : s32
  %27 = sub %7, %26 : s32
  %28 = add %27, %4 : s32
  %25 = maximum %28, %3 : s32
  {product}  continue
  }}
"
        ),
    };
    format!(
        "kernel k(a: bf16[?, ?, ?8] strides [?8, ?8, 1] align 16, b: bf16[?, ?, ?8] strides [?8, ?8, 1] align 16, mut c: {dtype}[?, ?, ?16] strides \
         [?16, ?16, 1] align 16) {{
  %0 = bid 0 : s32
  %1 = bid 1 : s32
  %2 = bid 2 : s32
  %3 = full 0 : s32
  %4 = full 1 : s32
  %5 = full 64 : s32
  %6 = dim a, 2 : s32
  %7 = cdiv %6, %5 : s32
  %8 = full 0 : f32[{m}, {n}]
  {body}}}
"
    )
}

/// Tiles of all shapes, parts of which the array has; rows of C and columns of C in a row; one store, and several of an iteration each.
#[test]
fn stores_by_tensor_copies_agree_with_the_reference() {
    let (mut by_copies, mut by_threads) = (0, 0);
    for case in 0..cases(30) as u64 {
        let mut rng = random(9000 + case);
        let dtype = [DType::Bf16, DType::F16, DType::E4m3, DType::S16, DType::U8][rng.random_range(0..5)];
        let tile = [[64, 64], [64, 128], [128, 32], [128, 64], [128, 256], [64, 16], [256, 64]]
            [rng.random_range(0..7)];
        let turned = rng.random_range(0..4) == 0;
        let rounds = [1, 1, 3][rng.random_range(0..3)];
        let text = products(dtype, tile, turned, rounds);
        let kernel = assembled(&text);
        let by_copy = kernel.contains("cp.async.bulk.tensor.3d.global");
        by_copies += u32::from(by_copy);
        by_threads += u32::from(!by_copy);
        let sixteen = |rng: &mut rand::rngs::StdRng, most: i64| 16 * rng.random_range(1..most / 16);
        let (m, n) = if turned {
            (sixteen(&mut rng, 400), rng.random_range(1..300) / 8 * 8 + 8)
        } else {
            (rng.random_range(1..400), sixteen(&mut rng, 300))
        };
        let (k, batch) = (8 * rng.random_range(1..30), rng.random_range(1..3));
        let grid = [m, n].map(|extent| extent as u32).map(u32::from);
        let grid = [grid[0].div_ceil(tile[0]), grid[1].div_ceil(tile[1]), batch as u32];
        let c = if turned { [batch, n, m] } else { [batch, m, n] };
        let arrays = [integers(case, &[batch, m, k]), integers(case + 100, &[batch, k, n]), zeros(dtype, &c)];
        agrees(&program(&text), grid, &arrays, &[[1, 5, 132][case as usize % 3]]);
    }
    assert!(by_copies > 0 && by_threads > 0, "{by_copies} by copies, {by_threads} by threads");
}

/// An array without elements is not written, whatever its map describes.
#[test]
fn arrays_without_elements_are_not_stored_to() {
    let text = products(DType::Bf16, [64, 64], false, 3);
    assert!(assembled(&text).contains("cp.async.bulk.tensor.3d.global"), "{text}");
    let arrays = [integers(1, &[1, 64, 64]), integers(2, &[1, 64, 64]), zeros(DType::Bf16, &[1, 0, 64])];
    agrees(&program(&text), [1, 1, 1], &arrays, &[132]);
}

/// What tensor copies cannot store, or not in order with other accesses, the threads store.
#[test]
fn other_stores_are_those_of_threads() {
    let stored = |text: &str| {
        let plan = place::place(&persistent(&simplify(&program(text))), 90).unwrap();
        assert!(!plan.products.wgmma.is_empty(), "{text}");
        plan.products.stores.len()
    };
    let text = products(DType::Bf16, [128, 64], false, 1);
    assert_eq!(stored(&text), 1, "{text}");
    // A block that ends would wait for them.
    assert_eq!(place::place(&simplify(&program(&text)), 90).unwrap().products.stores.len(), 0);
    let store = "  store %22 to c[1, 128, 64] at (%2, %0, %1)\n";
    assert!(text.contains(store));
    let others = [
        // Whole sectors from the sums, an end within 16 bytes, strides and addresses of other multiples, no contiguous axis.
        products(DType::F32, [128, 64], false, 1),
        text.replace("mut c: bf16[?, ?, ?16]", "mut c: bf16[?, ?, ?4]"),
        text.replace("strides [?16, ?16, 1] align 16)", "strides [?16, ?4, 1] align 16)"),
        text.replace("strides [?16, ?16, 1] align 16)", "strides [?16, ?16, 1] align 8)"),
        text.replace("strides [?16, ?16, 1] align 16)", "strides [?16, ?16, ?2] align 16)"),
        // Two accesses of the array, and another order.
        text.replace(store, &store.repeat(2)),
        text.replace(store, &format!("  %40 = load c[1, 128, 64] at (%2, %0, %1) : bf16[1, 128, 64]\n  %41 = add %40, %22 : bf16[1, 128, 64]\n{}", store.replace("%22", "%41"))),
        text.replace(store, &store.replace("(%2, %0, %1)", "(%2, %0, %1) no_tma")),
        // A flag by which another block learns of the store.
        text.replace("align 16) {", "align 16, mut h: s32[8] strides [1] align 4) {")
            .replace(store, &format!("{store}  %40 = full 1 : s32[8]\n  atomic add %40 to h at (%41) release.device\n"))
            .replace("  %8 = full", "  %41 = iota : s32[8]\n  %8 = full"),
    ];
    for other in others {
        assert_ne!(other, text);
        assert_eq!(stored(&other), 0, "{other}");
    }
}
