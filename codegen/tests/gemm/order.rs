//! The order in which the warp-specialised kernel computes its tiles.

use std::collections::BTreeSet;

use girih_codegen::gemm::{Epilogue, GemmConfig, GemmKernel, Store, generate, hilbert};
use girih_layout::lay;
use girih_tensor::DType;

use crate::warp_specialized::config;

/// A kernel of tiles of `m` rows and `n` columns.
fn kernel([m, n]: [i64; 2]) -> GemmKernel {
    let atoms = if m > 64 { lay!("(2,1):(1,0)") } else { lay!("(1,1):(0,0)") };
    let of = config(&format!("SM90_64x{n}x16_F32BF16BF16_SS"), [m, n, 64], atoms, DType::Bf16);
    generate(&GemmConfig { store: Store::Tma { tile: [m.min(128), n], stages: 1 }, ..of }, &Epilogue::new())
        .unwrap()
}

/// The order of `tiles` tiles, each of `tile` elements.
fn order(kernel: &GemmKernel, tile: [i64; 2], tiles: [u32; 2]) -> Vec<[u32; 2]> {
    let [m, n] = [0, 1].map(|i| tile[i] * i64::from(tiles[i]));
    kernel.order(m, n).unwrap()
}

#[test]
fn every_tile_is_visited_once_by_steps_to_neighbours() {
    for rows in 0..=24 {
        for columns in 0..=24 {
            let path = hilbert(rows, columns);
            let mut sorted = path.clone();
            sorted.sort_unstable();
            sorted.dedup();
            assert_eq!((path.len(), sorted.len()), ((rows * columns) as usize, path.len()));
            assert!(path.iter().all(|tile| tile[0] < rows && tile[1] < columns));
            let far = path.windows(2).filter(|pair| {
                let [x, y] = [0, 1].map(|i| pair[0][i].abs_diff(pair[1][i]));
                assert!(x <= 1 && y <= 1, "{rows} x {columns}: {pair:?}");
                x + y > 1
            });
            assert!(far.count() <= 1, "{rows} x {columns}");
        }
    }
}

#[test]
fn every_tile_is_in_the_order_once() {
    for tile in [[128, 256], [256, 192], [128, 128], [128, 64], [64, 256]] {
        let kernel = kernel(tile);
        for tiles in [[0, 3], [1, 1], [5, 7], [64, 32], [33, 44]] {
            let mut path = order(&kernel, tile, tiles);
            assert_eq!(path.len(), (tiles[0] * tiles[1]) as usize);
            path.sort_unstable();
            path.dedup();
            assert_eq!(path.len(), (tiles[0] * tiles[1]) as usize, "{tile:?} {tiles:?}");
            assert!(path.iter().all(|at| at[0] < tiles[0] && at[1] < tiles[1]));
        }
    }
}

/// 128 consecutive tiles of 128 x 256 are a square of C of 2048 x 2048, which needs the fewest elements of A and B.
#[test]
fn tiles_in_a_row_share_rows_and_columns() {
    let (tile, kernel) = ([128, 256], kernel([128, 256]));
    for tiles in [[32, 16], [64, 32], [64, 64]] {
        for wave in order(&kernel, tile, tiles).chunks(128) {
            let distinct = |i: usize| wave.iter().map(|at| at[i]).collect::<BTreeSet<_>>().len();
            assert_eq!((128 * distinct(0), 256 * distinct(1)), (2048, 2048), "{tiles:?}");
        }
    }
}
