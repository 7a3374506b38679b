//! Random numbers that are functions of a seed and a place.

use girih_tile::prelude::*;

/// `y[i] = x[i] / (1 - p)` with probability `1 - p`, else 0; `N` elements a block. The choice depends on `seed` and `i` alone (Philox 4x32-10),
/// so that a backward pass makes the same one again.
#[kernel(crate = girih_tile)]
pub fn dropout<T: Float, const N: usize>(
    x: &Array<T, 1>,
    y: &mut Array<T, 1>,
    p: Scalar<f32>,
    seed: Scalar<u64>,
) {
    let i = bid(0);
    let place = i.to::<i64>() * N as i64 + arange::<i64>(N);
    let kept = rand(seed, place) >= p;
    let x = x.tiles([N]).load((i,)).to::<f32>();
    y.tiles_mut([N]).store((i,), where_(kept, x / (1.0 - p), 0.0).to::<T>());
}
