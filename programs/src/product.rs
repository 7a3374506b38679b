//! Products of matrices: `a` is M x K, `b` is K x N and `c` is M x N. Sums are kept in f32 and cast when they are stored.
//!
//! `BM` x `BN` is the tile of `c`, `BK` what is taken of K at a time. Beyond K both operands are padded with zeros, which add nothing.

use girih_tile::prelude::*;

use crate::activate::gelu;

/// `c = a b`, a tile a block.
#[kernel(crate = girih_tile)]
pub fn gemm<T: Mma<f32> + StoreTo<T>, const BM: usize, const BN: usize, const BK: usize>(
    a: &Array<T, 2>,
    b: &Array<T, 2>,
    c: &mut Array<T, 2>,
) {
    let (i, j) = (bid(0), bid(1));
    let mut acc = zeros::<f32>([BM, BN]);
    for k in 0..cdiv(a.dim(1), BK) {
        let x = a.tiles([BM, BK]).padding(Padding::Zero).load((i, k));
        let y = b.tiles([BK, BN]).padding(Padding::Zero).load((k, j));
        acc = mma(x, y, acc);
    }
    c.tiles_mut([BM, BN]).store((i, j), acc.to::<T>());
}

/// `c = a b`. Any number of blocks go through the tiles, in bands of eight rows of tiles, so that blocks at work at one time share what
/// they load.
#[kernel(crate = girih_tile)]
pub fn gemm_persistent<T: Mma<f32> + StoreTo<T>, const BM: usize, const BN: usize, const BK: usize>(
    a: &Array<T, 2>,
    b: &Array<T, 2>,
    c: &mut Array<T, 2>,
) {
    let (rows, columns) = (cdiv(c.dim(0), BM), cdiv(c.dim(1), BN));
    for tile in (bid(0)..rows * columns).step_by(num_blocks(0)) {
        let (i, j) = in_bands(tile, rows, columns, 16);
        let mut acc = zeros::<f32>([BM, BN]);
        for k in 0..cdiv(a.dim(1), BK) {
            let x = a.tiles([BM, BK]).padding(Padding::Zero).load((i, k));
            let y = b.tiles([BK, BN]).padding(Padding::Zero).load((k, j));
            acc = mma(x, y, acc);
        }
        c.tiles_mut([BM, BN]).store((i, j), acc.to::<T>());
    }
}

/// Row and column of the tile at a place of an order that goes down bands of `band` rows, the last of which may be lower.
fn in_bands(
    at: Scalar<i32>,
    rows: Scalar<i32>,
    columns: Scalar<i32>,
    band: i64,
) -> (Scalar<i32>, Scalar<i32>) {
    let (number, within) = divmod(at, band * columns);
    let height = minimum(rows - number * band, band);
    (number * band + within % height, floordiv(within, height))
}

/// `c[l] = a[l] b[l]` for each `l`, a tile of one of them a block.
#[kernel(crate = girih_tile)]
pub fn gemm_batched<T: Mma<f32> + StoreTo<T>, const BM: usize, const BN: usize, const BK: usize>(
    a: &Array<T, 3>,
    b: &Array<T, 3>,
    c: &mut Array<T, 3>,
) {
    let (i, j, l) = (bid(0), bid(1), bid(2));
    let mut acc = zeros::<f32>([1, BM, BN]);
    for k in 0..cdiv(a.dim(2), BK) {
        let x = a.tiles([1, BM, BK]).padding(Padding::Zero).load((l, i, k));
        let y = b.tiles([1, BK, BN]).padding(Padding::Zero).load((l, k, j));
        acc = mma(x, y, acc);
    }
    c.tiles_mut([1, BM, BN]).store((l, i, j), acc.to::<T>());
}

/// `c = gelu(a b + bias + residual)`, by the approximation with a hyperbolic tangent. What is after the loop is computed on the sums,
/// before they leave the registers.
#[kernel(crate = girih_tile)]
pub fn gemm_gelu<T: Mma<f32> + StoreTo<T>, const BM: usize, const BN: usize, const BK: usize>(
    a: &Array<T, 2>,
    b: &Array<T, 2>,
    bias: &Array<T, 1>,
    residual: &Array<T, 2>,
    c: &mut Array<T, 2>,
) {
    let (i, j) = (bid(0), bid(1));
    let mut acc = zeros::<f32>([BM, BN]);
    for k in 0..cdiv(a.dim(1), BK) {
        let x = a.tiles([BM, BK]).padding(Padding::Zero).load((i, k));
        let y = b.tiles([BK, BN]).padding(Padding::Zero).load((k, j));
        acc = mma(x, y, acc);
    }
    let bias = bias.tiles([BN]).load((j,)).to::<f32>();
    let residual = residual.tiles([BM, BN]).load((i, j)).to::<f32>();
    c.tiles_mut([BM, BN]).store((i, j), gelu(acc + bias + residual).to::<T>());
}
