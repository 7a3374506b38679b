//! Functions of elements at one place.

use girih_tile::prelude::*;

/// `z = x + y`, `N` elements a block.
#[kernel(crate = girih_tile)]
pub fn add<T: Num, const N: usize>(x: &Array<T, 1>, y: &Array<T, 1>, z: &mut Array<T, 1>) {
    let i = bid(0);
    z.tiles_mut([N]).store((i,), x.tiles([N]).load((i,)) + y.tiles([N]).load((i,)));
}

/// `y = alpha * x + y` in place, `N` elements a block.
#[kernel(crate = girih_tile)]
pub fn saxpy<const N: usize>(alpha: Scalar<f32>, x: &Array<f32, 1>, y: &mut Array<f32, 1>) {
    let i = bid(0);
    let sum = alpha * x.tiles([N]).load((i,)) + y.tiles([N]).load((i,));
    y.tiles_mut([N]).store((i,), sum);
}

/// Rotary position embedding: columns `c` and `c + D/2` of row `r` of `x` (rows, heads, D) are turned by the angle whose cosine and sine are
/// `cos[r, c]` and `sin[r, c]` (rows, D/2). `H` is D/2. A block has a row, all of whose heads it takes `G` at a time.
#[kernel(crate = girih_tile)]
pub fn rotary_embedding<T: Float, const G: usize, const H: usize>(
    x: &Array<T, 3>,
    cos: &Array<f32, 2>,
    sin: &Array<f32, 2>,
    y: &mut Array<T, 3>,
) {
    let (row, group) = (bid(0), bid(1));
    let (c, s) = (cos.tiles([1, H]).load((row, 0)), sin.tiles([1, H]).load((row, 0)));
    let (c, s) = (c.reshape([1, 1, H]), s.reshape([1, 1, H]));
    let left = x.tiles([1, G, H]).load((row, group, 0)).to::<f32>();
    let right = x.tiles([1, G, H]).load((row, group, 1)).to::<f32>();
    y.tiles_mut([1, G, H]).store((row, group, 0), (left * c - right * s).to::<T>());
    y.tiles_mut([1, G, H]).store((row, group, 1), (right * c + left * s).to::<T>());
}
