//! Transposes.

use girih_tile::prelude::*;

/// `y[j, i] = x[i, j]`, a tile of `R` rows and `N` columns of `x` a block.
#[kernel(crate = girih_tile)]
pub fn transpose<T: Elem + StoreTo<T>, const R: usize, const N: usize>(x: &Array<T, 2>, y: &mut Array<T, 2>) {
    let (j, i) = (bid(0), bid(1));
    y.tiles_mut([N, R]).store((j, i), x.tiles([R, N]).load((i, j)).t());
}
