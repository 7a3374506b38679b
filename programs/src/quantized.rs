//! Products of 8-bit operands with scales. `b` is N x K, as weights are kept: tensor cores take operands of 8 bits that are contiguous along K.

use girih_tile::prelude::*;

/// `c[m, n] = a_scale[m] b_scale[n] sum(a[m, k] b[n, k])` of 8-bit floats. Tensor cores of Hopper keep 14 bits of the accumulators.
#[kernel(crate = girih_tile)]
pub fn gemm_fp8<T: Mma<f32>, const BM: usize, const BN: usize, const BK: usize>(
    a: &Array<T, 2>,
    b: &Array<T, 2>,
    a_scale: &Array<f32, 1>,
    b_scale: &Array<f32, 1>,
    c: &mut Array<bf16, 2>,
) {
    let (i, j) = (bid(0), bid(1));
    let mut acc = zeros::<f32>([BM, BN]);
    for k in 0..cdiv(a.dim(1), BK) {
        let x = a.tiles([BM, BK]).padding(Padding::Zero).load((i, k));
        let y = b.tiles([BN, BK]).padding(Padding::Zero).load((j, k));
        acc = mma(x, y.t(), acc);
    }
    let scale = a_scale.tiles([BM]).load((i,)).reshape([BM, 1]) * b_scale.tiles([BN]).load((j,));
    c.tiles_mut([BM, BN]).store((i, j), (acc * scale).to::<bf16>());
}

/// [`gemm_fp8`] with a scale for each `BK` elements of a row of `a`, and for each `BN` x `BK` elements of `b`: `a_scale` is M x K/BK and
/// `b_scale` is N/BN x K/BK, rounded up. The sums of a block along K are scaled before they are added.
#[kernel(crate = girih_tile)]
pub fn gemm_fp8_blocks<T: Mma<f32>, const BM: usize, const BN: usize, const BK: usize>(
    a: &Array<T, 2>,
    b: &Array<T, 2>,
    a_scale: &Array<f32, 2>,
    b_scale: &Array<f32, 2>,
    c: &mut Array<bf16, 2>,
) {
    let (i, j) = (bid(0), bid(1));
    let mut acc = zeros::<f32>([BM, BN]);
    for k in 0..cdiv(a.dim(1), BK) {
        let x = a.tiles([BM, BK]).padding(Padding::Zero).load((i, k));
        let y = b.tiles([BN, BK]).padding(Padding::Zero).load((j, k));
        let scale = a_scale.tiles([BM, 1]).load((i, k)) * b_scale.tiles([1, 1]).load((j, k));
        acc += mma(x, y.t(), zeros::<f32>([BM, BN])) * scale;
    }
    c.tiles_mut([BM, BN]).store((i, j), acc.to::<bf16>());
}

/// `c[m, n] = sum(a[m, k] w[n, k] scale[n, k / BK])` of weights of 8 bits, N x K, with a scale for each `BK` elements of a row: `scale` is N x K/BK,
/// rounded up. Weights become bf16 as they are, and the sums of a group along K are scaled before they are added.
#[kernel(crate = girih_tile)]
pub fn gemm_weights<W: Elem, S: Elem, const BM: usize, const BN: usize, const BK: usize>(
    a: &Array<bf16, 2>,
    w: &Array<W, 2>,
    scale: &Array<S, 2>,
    c: &mut Array<bf16, 2>,
) {
    let (i, j) = (bid(0), bid(1));
    let mut acc = zeros::<f32>([BM, BN]);
    for k in 0..cdiv(a.dim(1), BK) {
        let x = a.tiles([BM, BK]).padding(Padding::Zero).load((i, k));
        let y = w.tiles([BN, BK]).padding(Padding::Zero).load((j, k)).to::<bf16>();
        let scale = scale.tiles([BN, 1]).load((j, k)).to::<f32>();
        acc += mma(x, y.t(), zeros::<f32>([BM, BN])) * scale.t();
    }
    c.tiles_mut([BM, BN]).store((i, j), acc.to::<bf16>());
}

/// `c[m, n] = a_scale[m] b_scale[n] sum(a[m, k] b[n, k])` of 8-bit integers, whose sums are exact.
#[kernel(crate = girih_tile)]
pub fn gemm_int8<const BM: usize, const BN: usize, const BK: usize>(
    a: &Array<i8, 2>,
    b: &Array<i8, 2>,
    a_scale: &Array<f32, 1>,
    b_scale: &Array<f32, 1>,
    c: &mut Array<bf16, 2>,
) {
    let (i, j) = (bid(0), bid(1));
    let mut acc = zeros::<i32>([BM, BN]);
    for k in 0..cdiv(a.dim(1), BK) {
        let x = a.tiles([BM, BK]).padding(Padding::Zero).load((i, k));
        let y = b.tiles([BN, BK]).padding(Padding::Zero).load((j, k));
        acc = mma(x, y.t(), acc);
    }
    let scale = a_scale.tiles([BM]).load((i,)).reshape([BM, 1]) * b_scale.tiles([BN]).load((j,));
    c.tiles_mut([BM, BN]).store((i, j), (acc.to::<f32>() * scale).to::<bf16>());
}
