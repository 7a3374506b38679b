//! Convolutions of images as products of matrices whose first operand is never written down: pixels x channels for each place of the filter.
//!
//! `w` is rows x columns x channels x outputs of the filter. Beyond its edges an image is zero.

use girih_tile::prelude::*;

/// `y[n, p, q, o] = sum(x[n, p + r - pad, q + s - pad, c] w[r, s, c, o])`: a block has `BQ` pixels of a row and `BO` outputs, and takes `BC`
/// channels at a time. The grid is tiles along a row x tiles of outputs x rows of all images.
///
/// Tiles of `x` are a pixel apart, so that they overlap, and an index counts pixels.
#[kernel(crate = girih_tile)]
pub fn conv2d<T: Mma<f32> + StoreTo<T>, const BQ: usize, const BO: usize, const BC: usize>(
    x: &Array<T, 4>,
    w: &Array<T, 4>,
    y: &mut Array<T, 4>,
    pad: Scalar<i32>,
) {
    let (q, o) = (bid(0), bid(1));
    let (n, p) = divmod(bid(2), y.dim(1));
    let mut acc = zeros::<f32>([BQ, BO]);
    for r in 0..w.dim(0) {
        for s in 0..w.dim(1) {
            for c in 0..cdiv(x.dim(3), BC) {
                let pixels = x.tiles([1, 1, BQ, BC]).steps([1, 1, 1, BC]).padding(Padding::Zero);
                let pixels = pixels.load((n, p + r - pad, q * BQ as i64 + s - pad, c));
                let filter = w.tiles([1, 1, BC, BO]).padding(Padding::Zero).load((r, s, c, o));
                acc = mma(pixels.reshape([BQ, BC]), filter.reshape([BC, BO]), acc);
            }
        }
    }
    y.tiles_mut([1, 1, BQ, BO]).store((n, p, q, o), acc.to::<T>().reshape([1, 1, BQ, BO]));
}

/// `y[n, p, q, o] = sum(x[n, STRIDE p + r - pad, STRIDE q + s - pad, c] w[r, s, c, o])`: a block has `BM` pixels in their order, of whatever rows
/// and images. `x` and `y` are pixels x channels, and `of_x` and `of_y` the heights and widths of their images.
#[kernel(crate = girih_tile)]
pub fn conv2d_gather<
    T: Mma<f32> + StoreTo<T>,
    const BM: usize,
    const BO: usize,
    const BC: usize,
    const STRIDE: usize,
>(
    x: &Array<T, 2>,
    w: &Array<T, 4>,
    y: &mut Array<T, 2>,
    of_x: (Scalar<i32>, Scalar<i32>),
    of_y: (Scalar<i32>, Scalar<i32>),
    pad: Scalar<i32>,
) {
    let (i, o) = (bid(0), bid(1));
    let ((height, width), (p, q)) = (of_x, of_y);
    let (image, pixel) = divmod(arange::<i32>(BM) + i * BM as i64, p * q);
    let (row, column) = divmod(pixel, q);
    let mut acc = zeros::<f32>([BM, BO]);
    for r in 0..w.dim(0) {
        for s in 0..w.dim(1) {
            let (h, v) = (row * STRIDE as i64 + r - pad, column * STRIDE as i64 + s - pad);
            let inside = (h >= 0) & (h < height) & (v >= 0) & (v < width);
            // No pixel has the number -1: it is loaded as zeros.
            let from = where_(inside, (image * height + h) * width + v, -1);
            for c in 0..cdiv(x.dim(1), BC) {
                let pixels = x.load_rows((from, span(c * BC as i64, BC)));
                let filter = w.tiles([1, 1, BC, BO]).padding(Padding::Zero).load((r, s, c, o));
                acc = mma(pixels, filter.reshape([BC, BO]), acc);
            }
        }
    }
    y.tiles_mut([BM, BO]).store((i, o), acc.to::<T>());
}
