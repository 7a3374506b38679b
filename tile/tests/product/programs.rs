//! Programs that are products, in the tile language.

use girih_tile::prelude::*;

/// `c = a * b`.
#[kernel]
pub(crate) fn plain<
    T: Mma<A>,
    A: Elem,
    C: Elem + StoreTo<C>,
    const BM: usize,
    const BN: usize,
    const BK: usize,
>(
    a: &Array<T, 2>,
    b: &Array<T, 2>,
    c: &mut Array<C, 2>,
) {
    let (i, j) = (bid(0), bid(1));
    let mut acc = zeros::<A>([BM, BN]);
    for k in 0..cdiv(a.dim(1), BK) {
        let x = a.tiles([BM, BK]).padding(Padding::Zero).load((i, k));
        let y = b.tiles([BK, BN]).padding(Padding::Zero).load((k, j));
        acc = mma(x, y, acc);
    }
    c.tiles_mut([BM, BN]).store((i, j), acc.to::<C>());
}

/// `c^T = (a^T^T * b)^T`: A is permuted when it is loaded, and C when it is stored; the grid is the other way round.
#[kernel]
pub(crate) fn turned(a: &Array<bf16, 2>, b: &Array<bf16, 2>, c: &mut Array<bf16, 2>) {
    let (j, i) = (bid(0), bid(1));
    let mut acc = zeros::<f32>([128, 64]);
    for k in 0..cdiv(b.dim(0), 64) {
        let x = a.tiles([64, 128]).padding(Padding::Zero).load((k, i)).t();
        acc = mma(x, b.tiles([64, 64]).padding(Padding::Zero).load((k, j)), acc);
    }
    c.tiles_mut([64, 128]).store((j, i), acc.t().to::<bf16>());
}

/// A grid of one axis, with rows of tiles in groups of 4.
#[kernel]
pub(crate) fn grouped_raster(a: &Array<bf16, 2>, b: &Array<bf16, 2>, c: &mut Array<bf16, 2>) {
    let (rows, columns) = (cdiv(c.dim(0), 64), cdiv(c.dim(1), 64));
    let (group, within) = divmod(bid(0), 4 * columns);
    let height = minimum(rows - group * 4, 4);
    let (i, j) = (group * 4 + within % height, floordiv(within, height));
    let mut acc = zeros::<f32>([64, 64]);
    for k in 0..cdiv(a.dim(1), 64) {
        acc = mma(
            a.tiles([64, 64]).padding(Padding::Zero).load((i, k)),
            b.tiles([64, 64]).padding(Padding::Zero).load((k, j)),
            acc,
        );
    }
    c.tiles_mut([64, 64]).store((i, j), acc.to::<bf16>());
}

/// Blocks that go through tiles, and no tile beyond the last one.
#[kernel]
pub(crate) fn persistent(a: &Array<bf16, 2>, b: &Array<bf16, 2>, c: &mut Array<bf16, 2>) {
    let columns = cdiv(c.dim(1), 64);
    for tile in (bid(0)..cdiv(c.dim(0), 64) * columns).step_by(num_blocks(0)) {
        let (i, j) = divmod(tile, columns);
        let mut acc = zeros::<f32>([64, 64]);
        for k in 0..cdiv(a.dim(1), 64) {
            acc = mma(
                a.tiles([64, 64]).padding(Padding::Zero).load((i, k)),
                b.tiles([64, 64]).padding(Padding::Zero).load((k, j)),
                acc,
            );
        }
        c.tiles_mut([64, 64]).store((i, j), acc.to::<bf16>());
    }
}

/// `c[l] = a[l] * b` for each `l`.
#[kernel]
pub(crate) fn batched(a: &Array<f16, 3>, b: &Array<f16, 2>, c: &mut Array<f32, 3>) {
    let (i, j, l) = (bid(2), bid(1), bid(0));
    let mut acc = zeros::<f32>([64, 64]);
    for k in 0..cdiv(a.dim(2), 64) {
        let x = a.tiles([1, 64, 64]).padding(Padding::Zero).load((l, i, k)).reshape([64, 64]);
        acc = mma(x, b.tiles([64, 64]).padding(Padding::Zero).load((k, j)), acc);
    }
    c.tiles_mut([1, 64, 64]).store((l, i, j), acc.reshape([1, 64, 64]));
}

/// `c = relu(a * b + bias + residual)`.
#[kernel]
pub(crate) fn relu<const BM: usize, const BN: usize, const BK: usize>(
    a: &Array<bf16, 2>,
    b: &Array<bf16, 2>,
    bias: &Array<bf16, 1>,
    residual: &Array<bf16, 2>,
    c: &mut Array<bf16, 2>,
) {
    let (i, j) = (bid(0), bid(1));
    let mut acc = zeros::<f32>([BM, BN]);
    for k in 0..cdiv(a.dim(1), BK) {
        let x = a.tiles([BM, BK]).padding(Padding::Zero).load((i, k));
        acc = mma(x, b.tiles([BK, BN]).padding(Padding::Zero).load((k, j)), acc);
    }
    let sum =
        acc + bias.tiles([BN]).load((j,)).to::<f32>() + residual.tiles([BM, BN]).load((i, j)).to::<f32>();
    c.tiles_mut([BM, BN]).store((i, j), maximum(sum, 0.0).to::<bf16>());
}

/// `c = gelu(alpha * a * b + bias) + residual`, with the error function.
#[kernel]
pub(crate) fn gelu(
    alpha: Scalar<f32>,
    a: &Array<bf16, 2>,
    b: &Array<bf16, 2>,
    bias: &Array<f32, 1>,
    residual: &Array<bf16, 2>,
    c: &mut Array<bf16, 2>,
) {
    let (i, j) = (bid(0), bid(1));
    let mut acc = zeros::<f32>([128, 128]);
    for k in 0..cdiv(a.dim(1), 64) {
        acc = mma(
            a.tiles([128, 64]).padding(Padding::Zero).load((i, k)),
            b.tiles([64, 128]).padding(Padding::Zero).load((k, j)),
            acc,
        );
    }
    let x = alpha * acc + bias.tiles([128]).load((j,)).reshape([1, 128]);
    let y = 0.5 * x * (1.0 + (x * std::f64::consts::FRAC_1_SQRT_2).erf());
    let residual = residual.tiles([128, 128]).load((i, j)).to::<f32>();
    c.tiles_mut([128, 128]).store((i, j), (y + residual).to::<bf16>());
}

/// `c[m, n] = row[m] * column[n] * sum(a[m, k] * b[n, k])` of integers, whose sums are exact.
#[kernel]
pub(crate) fn scaled(
    a: &Array<i8, 2>,
    b: &Array<i8, 2>,
    row: &Array<f32, 1>,
    column: &Array<f32, 1>,
    c: &mut Array<f32, 2>,
) {
    let (i, j) = (bid(0), bid(1));
    let mut acc = zeros::<i32>([128, 64]);
    for k in 0..cdiv(a.dim(1), 128) {
        let x = a.tiles([128, 128]).padding(Padding::Zero).load((i, k));
        acc = mma(x, b.tiles([64, 128]).padding(Padding::Zero).load((j, k)).t(), acc);
    }
    let scale = row.tiles([128]).load((i,)).reshape([128, 1]) * column.tiles([64]).load((j,));
    c.tiles_mut([128, 64]).store((i, j), acc.to::<f32>() * scale);
}

/// `c[r] = a[r] b[g] + bias[g]` for the rows of each group `g`, which end at `ends[g]`.
#[kernel]
pub(crate) fn grouped(
    a: &Array<bf16, 2>,
    b: &Array<bf16, 3>,
    ends: &Array<i32, 1>,
    bias: &Array<f32, 2>,
    c: &mut Array<bf16, 2>,
) {
    let columns = cdiv(c.dim(1), 64);
    let (mut first, mut from) = (scalar::<i32>(0), scalar::<i32>(0));
    for group in 0..b.dim(0) {
        let to = ends.tiles([1]).load((group,)).reshape([0usize; 0]);
        let tiles = cdiv(to - from, 64) * columns;
        for tile in (modulo(bid(0) - first, num_blocks(0))..tiles).step_by(num_blocks(0)) {
            let (i, j) = divmod(tile, columns);
            let mut acc = zeros::<f32>([64, 64]);
            for k in 0..cdiv(a.dim(1), 64) {
                let x = a.slice(0, from, to).tiles([64, 64]).padding(Padding::Zero).load((i, k));
                let y = b.tiles([1, 64, 64]).padding(Padding::Zero).load((group, k, j)).reshape([64, 64]);
                acc = mma(x, y, acc);
            }
            let sum = acc + bias.tiles([1, 64]).load((group, j));
            let mut rows = c.slice_mut(0, from, to);
            // SAFETY: `ends` does not fall, and a tile of a group is that of one block.
            #[expect(unsafe_code, reason = "that groups do not overlap, the numbers in memory say")]
            let mut rows = unsafe { rows.tiles_mut([64, 64]).assume_disjoint("groups follow each other") };
            rows.store((i, j), sum.to::<bf16>());
        }
        first += tiles;
        from = to;
    }
}

/// A product of 8-bit floats with a scale for each 128 elements of a row of A, and for each 128 x 128 elements of B, which is N x K.
#[kernel]
pub(crate) fn blocks(
    a: &Array<F8E4M3, 2>,
    b: &Array<F8E4M3, 2>,
    a_scale: &Array<f32, 2>,
    b_scale: &Array<f32, 2>,
    c: &mut Array<bf16, 2>,
) {
    let (i, j) = (bid(0), bid(1));
    let mut acc = zeros::<f32>([128, 128]);
    for k in 0..cdiv(a.dim(1), 128) {
        let x = a.tiles([128, 128]).padding(Padding::Zero).load((i, k));
        let y = b.tiles([128, 128]).padding(Padding::Zero).load((j, k));
        let scale = a_scale.tiles([128, 1]).load((i, k)) * b_scale.tiles([1, 1]).load((j, k));
        acc += mma(x, y.t(), zeros::<f32>([128, 128])) * scale;
    }
    c.tiles_mut([128, 128]).store((i, j), acc.to::<bf16>());
}
