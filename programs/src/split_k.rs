//! A product whose sums are shared by several blocks, for matrices with few tiles and a long K.

use girih_tile::prelude::*;

/// `parts[p] = ` the sums of `a b` over every `P`-th tile along K from the `p`-th on. `parts` is P x M x N, and so is the grid, in tiles.
#[kernel(crate = girih_tile)]
pub fn gemm_split_k<T: Mma<f32>, const BM: usize, const BN: usize, const BK: usize>(
    a: &Array<T, 2>,
    b: &Array<T, 2>,
    parts: &mut Array<f32, 3>,
) {
    let (i, j, part) = (bid(0), bid(1), bid(2));
    let mut acc = zeros::<f32>([BM, BN]);
    for k in (part..cdiv(a.dim(1), BK)).step_by(num_blocks(2)) {
        let x = a.tiles([BM, BK]).padding(Padding::Zero).load((i, k));
        let y = b.tiles([BK, BN]).padding(Padding::Zero).load((k, j));
        acc = mma(x, y, acc);
    }
    parts.tiles_mut([1, BM, BN]).store((part, i, j), acc.reshape([1, BM, BN]));
}

/// `c = ` the sum of all `parts`, in their order, so that the result is the same each time.
#[kernel(crate = girih_tile)]
pub fn sum_parts<T: Elem + StoreTo<T>, const BM: usize, const BN: usize>(
    parts: &Array<f32, 3>,
    c: &mut Array<T, 2>,
) {
    let (i, j) = (bid(0), bid(1));
    let mut sum = zeros::<f32>([BM, BN]);
    for part in 0..parts.dim(0) {
        sum += parts.tiles([1, BM, BN]).load((part, i, j)).reshape([BM, BN]);
    }
    c.tiles_mut([BM, BN]).store((i, j), sum.to::<T>());
}
