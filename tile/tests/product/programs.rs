//! Programs that are products, in the tile language.

use girih_tile::prelude::*;

/// `c = a * b`.
#[kernel]
pub(crate) fn plain<T: Mma<f32> + StoreTo<T>, const BM: usize, const BN: usize, const BK: usize>(
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
