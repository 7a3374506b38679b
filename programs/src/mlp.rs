//! The first half of a gated feed-forward layer.

use girih_tile::prelude::*;

use crate::activate::silu;

/// `y = silu(x gate) * (x up)` with `silu(x) = x sigmoid(x)`: two products that share their loads of `x`, and one array that is written.
#[kernel(crate = girih_tile)]
pub fn gated_mlp<T: Mma<f32> + StoreTo<T>, const BM: usize, const BN: usize, const BK: usize>(
    x: &Array<T, 2>,
    gate: &Array<T, 2>,
    up: &Array<T, 2>,
    y: &mut Array<T, 2>,
) {
    let (i, j) = (bid(0), bid(1));
    let (mut g, mut u) = (zeros::<f32>([BM, BN]), zeros::<f32>([BM, BN]));
    for k in 0..cdiv(x.dim(1), BK) {
        let x = x.tiles([BM, BK]).padding(Padding::Zero).load((i, k));
        g = mma(x, gate.tiles([BK, BN]).padding(Padding::Zero).load((k, j)), g);
        u = mma(x, up.tiles([BK, BN]).padding(Padding::Zero).load((k, j)), u);
    }
    y.tiles_mut([BM, BN]).store((i, j), (silu(g) * u).to::<T>());
}
