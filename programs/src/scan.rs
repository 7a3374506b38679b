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

/// `y[i] = sum(x[..=i])` over everything, read and written once: a block for every `N` elements, which learns the sum of those before it from
/// the blocks that have them, `W` at a time. Sums are of `A`, a type of 32 bits, and are rounded to `T` when they are stored.
/// `state` is what [`Turn`] says.
#[kernel(crate = girih_tile)]
pub fn cumsum_all<T: Num, A: Num, const N: usize, const W: usize>(
    x: &Array<T, 1>,
    y: &mut Array<T, 1>,
    state: &mut Array<u64, 1>,
) {
    let turn = Turn::take(state);
    let tile = turn.number();
    let sums = x.tiles([N]).padding(Padding::Zero).load((tile,)).to::<A>().cumsum(0);
    let own = sums.extract([(N - 1) as i64], [1]).reshape(());
    let before = turn.before(state, own, A::from_f64(0.0), W, |left, right| left + right);
    #[expect(unsafe_code, reason = "that turns differ is a property of the counter that they are taken from")]
    // SAFETY: no two blocks have one turn.
    let mut y = unsafe {
        y.tiles_mut([N]).assume_disjoint("a block stores the tile of its turn, and no two have one")
    };
    y.store((tile,), (sums + before).to::<T>());
}
