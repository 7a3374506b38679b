//! Running sums.

use girih_tile::prelude::*;

/// `y[r, c] = sum(x[r, ..=c])`, a row a block, `N` columns at a time.
#[kernel(crate = girih_tile)]
pub fn cumsum<T: Num, const N: usize>(x: &Array<T, 2>, y: &mut Array<T, 2>) {
    let row = bid(0);
    let mut before = zeros::<T>([1, 1]);
    for k in 0..cdiv(x.dim(1), N) {
        let sums = x.tiles([1, N]).padding(Padding::Zero).load((row, k)).cumsum(1) + before;
        y.tiles_mut([1, N]).store((row, k), sums);
        before = sums.extract([0, (N - 1) as i64], [1, 1]);
    }
}
