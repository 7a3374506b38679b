//! Products of groups of rows whose sizes stand in memory, as tokens that are sorted by their experts.

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
    let columns = cdiv(c.dim(1), BN);
    // Tiles are counted from the first of all groups on: this block's next one, the group's first, and where the group begins.
    let (mut next, mut first, mut from) = (bid(0), scalar::<i32>(0), scalar::<i32>(0));
    for group in 0..b.dim(0) {
        let to = ends.gather((group,));
        let tiles = cdiv(to - from, BM) * columns;
        while next < first + tiles {
            let (i, j) = divmod(next - first, columns);
            let mut acc = zeros::<f32>([BM, BN]);
            for k in 0..cdiv(a.dim(1), BK) {
                let x = a.slice(0, from, to).tiles([BM, BK]).padding(Padding::Zero).load((i, k));
                let y = b.tiles([1, BK, BN]).padding(Padding::Zero).load((group, k, j)).reshape([BK, BN]);
                acc = mma(x, y, acc);
            }
            let mut rows = c.slice_mut(0, from, to);
            // SAFETY: `ends` does not fall, and a tile of a group is that of one block.
            #[expect(unsafe_code, reason = "that groups do not overlap, the numbers in memory say")]
            let mut rows = unsafe { rows.tiles_mut([BM, BN]).assume_disjoint("groups follow each other") };
            rows.store((i, j), acc.to::<T>());
            next += num_blocks(0);
        }
        first += tiles;
        from = to;
    }
}
