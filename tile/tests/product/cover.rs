//! Which grids store every tile of C once.

use girih_tile::ir::Func;
use girih_tile::prelude::*;
use girih_tile::product::{self, Arguments, Product};

use super::programs::{persistent, plain};

/// A loop along K whose end is computed in 2^64 ways, if each is followed by itself.
#[kernel]
fn contrived(a: &Array<bf16, 2>, b: &Array<bf16, 2>, c: &mut Array<bf16, 2>) {
    let mut end = cdiv(a.dim(1), 64);
    for _ in 0..64 {
        end = maximum(end, minimum(end, 3));
    }
    let mut acc = zeros::<f32>([64, 64]);
    for k in 0..end {
        acc = mma(a.tiles([64, 64]).load((bid(0), k)), b.tiles([64, 64]).load((k, bid(1))), acc);
    }
    c.tiles_mut([64, 64]).store((bid(0), bid(1)), acc.to::<bf16>());
}

fn product_of(func: Func) -> Product {
    product::find(&func, 90, None).unwrap_or_else(|why| panic!("{why}"))
}

fn covers(product: &Product, grid: [u32; 3], [m, n, k]: [i64; 3]) -> bool {
    let extents = vec![vec![m, k], vec![k, n], vec![m, n]];
    let with = Arguments { grid, extents, scalars: Vec::new() };
    product.tiles.cover(&product.func, &with, [m, n, k], 1)
}

#[test]
fn a_block_for_each_tile_is_seen_at_any_size() {
    let plain = product_of(plain::<bf16, f32, bf16, 64, 64, 64>::ir().unwrap());
    for (m, n) in [(1, 1), (64, 65), (640, 130), (1 << 26, 1 << 21)] {
        let [x, y] = [m, n].map(|extent: i64| extent.div_euclid(64) as u32 + u32::from(extent % 64 != 0));
        assert!(covers(&plain, [x, y, 1], [m, n, 200]), "{m} x {n}");
        for grid in [[x + 1, y, 1], [x, y + 1, 1], [x, y, 2], [x - 1, y, 1]] {
            assert!(!covers(&plain, grid, [m, n, 200]), "{m} x {n} by {grid:?}");
        }
        assert_eq!(covers(&plain, [y, x, 1], [m, n, 200]), x == y, "{m} x {n}");
    }
}

#[test]
fn other_orders_are_gone_through_up_to_a_bound() {
    let persistent = product_of(persistent::ir().unwrap());
    for blocks in [1, 7, 132, 5000] {
        assert!(covers(&persistent, [blocks, 1, 1], [64 * 40, 64 * 30, 64]), "{blocks} blocks");
        assert!(!covers(&persistent, [blocks, 2, 1], [64 * 40, 64 * 30, 64]), "{blocks} blocks twice");
        assert!(!covers(&persistent, [blocks, 1, 1], [64 << 10, 64 << 9, 64]), "{blocks} blocks, 2^19 tiles");
    }
}

#[test]
fn what_is_computed_in_many_ways_is_followed_once() {
    let contrived = product_of(contrived::ir().unwrap());
    assert!(covers(&contrived, [3, 2, 1], [192, 128, 300]));
    assert!(covers(&contrived, [3, 2, 1], [192, 128, 100]));
    assert!(!covers(&contrived, [3, 2, 1], [192, 129, 100]));
}
