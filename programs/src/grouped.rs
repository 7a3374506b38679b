//! Products of groups of rows whose sizes are in memory, as tokens that are sorted by their experts.

use girih_tile::prelude::*;

/// `c[r] = a[r] b[g]` for the rows `ends[g - 1]..ends[g]` of each group `g`, the first from 0 on. `b` is groups x K x N. Any number of blocks
/// go through the tiles of one group after the other, so that it does not matter how uneven groups are.
#[kernel(crate = girih_tile)]
pub fn gemm_grouped<T: Mma<f32> + StoreTo<T>, const BM: usize, const BN: usize, const BK: usize>(
    a: &Array<T, 2>,
    b: &Array<T, 3>,
    ends: &Array<i32, 1>,
    c: &mut Array<T, 2>,
) {
    let (blocks, columns) = (num_blocks(0), cdiv(c.dim(1), BN));
    // Where a group begins, and its first tile, if tiles are counted from the first of all groups on.
    let (mut from, mut first) = (scalar::<i32>(0), scalar::<i32>(0));
    for group in 0..b.dim(0) {
        let to = ends.tiles([1]).load((group,)).reshape(());
        let tiles = cdiv(to - from, BM) * columns;
        for tile in ((bid(0) - first) % blocks..tiles).step_by(blocks) {
            let (i, j) = divmod(tile, columns);
            let mut acc = zeros::<f32>([BM, BN]);
            for k in 0..cdiv(a.dim(1), BK) {
                // An index counts rows, since groups begin at any. What belongs to the next group is not stored.
                let x =
                    a.tiles([BM, BK]).steps([1, BK]).padding(Padding::Zero).load((from + i * BM as i64, k));
                let y = b.tiles([1, BK, BN]).padding(Padding::Zero).load((group, k, j)).reshape([BK, BN]);
                acc = mma(x, y, acc);
            }
            let mut rows = c.slice_mut(0, from, to);
            // SAFETY: `ends` does not fall, and a tile of a group is that of one block.
            #[expect(unsafe_code, reason = "that groups do not overlap, the numbers in memory say")]
            let mut rows = unsafe { rows.tiles_mut([BM, BN]).assume_disjoint("groups follow each other") };
            rows.store((i, j), acc.to::<T>());
        }
        first += tiles;
        from = to;
    }
}
