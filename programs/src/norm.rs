//! Normalisation of rows.

use girih_tile::prelude::*;

/// `y = (x - mean) / sqrt(variance + eps) * weight + bias` of each row, `R` rows of up to `N` columns a block.
#[kernel(crate = girih_tile)]
pub fn layernorm<T: Float, const R: usize, const N: usize>(
    x: &Array<T, 2>,
    weight: &Array<T, 1>,
    bias: &Array<T, 1>,
    y: &mut Array<T, 2>,
    eps: Scalar<f32>,
) {
    let rows = bid(0);
    let columns = x.dim(1);
    let scale = 1.0 / columns.to::<f32>();
    let x = x.tiles([R, N]).padding(Padding::Zero).load((rows, 0)).to::<f32>();
    let mean = x.sum(keep(1)) * scale;
    let centred = where_(arange::<i32>(N) < columns, x - mean, 0.0);
    let deviation = ((centred * centred).sum(keep(1)) * scale + eps).rsqrt();
    let weight = weight.tiles([N]).load((0,)).to::<f32>();
    let bias = bias.tiles([N]).load((0,)).to::<f32>();
    y.tiles_mut([R, N]).store((rows, 0), (centred * deviation * weight + bias).to::<T>());
}

/// `y = x / sqrt(mean(x^2) + eps) * weight` of each row, `R` rows of up to `N` columns a block.
#[kernel(crate = girih_tile)]
pub fn rmsnorm<T: Float, const R: usize, const N: usize>(
    x: &Array<T, 2>,
    weight: &Array<T, 1>,
    y: &mut Array<T, 2>,
    eps: Scalar<f32>,
) {
    let rows = bid(0);
    let scale = 1.0 / x.dim(1).to::<f32>();
    let x = x.tiles([R, N]).padding(Padding::Zero).load((rows, 0)).to::<f32>();
    let root = ((x * x).sum(keep(1)) * scale + eps).rsqrt();
    let weight = weight.tiles([N]).load((0,)).to::<f32>();
    y.tiles_mut([R, N]).store((rows, 0), (x * root * weight).to::<T>());
}

/// [`layernorm`] of rows of any length, a row a block, `N` columns at a time. A row is read twice, the second time from the L2.
///
/// Every column of the tile keeps the mean and the sum of squared deviations of its own elements, which are combined at the end
/// (T. F. Chan, G. H. Golub, R. J. LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances", 1979).
#[kernel(crate = girih_tile)]
pub fn layernorm_long<T: Float, const N: usize>(
    x: &Array<T, 2>,
    weight: &Array<T, 1>,
    bias: &Array<T, 1>,
    y: &mut Array<T, 2>,
    eps: Scalar<f32>,
) {
    let row = bid(0);
    let columns = x.dim(1);
    let mut mean = zeros::<f32>([1, N]);
    let mut squares = zeros::<f32>([1, N]);
    for k in 0..cdiv(columns, N) {
        let part = 1.0 / (k + 1).to::<f32>();
        let inside = arange::<i32>(N) < columns - k * N as i64;
        let step = where_(inside, x.tiles([1, N]).load((row, k)).to::<f32>() - mean, 0.0);
        squares += step * step * (1.0 - part);
        mean += step * part;
    }
    let scale = 1.0 / columns.to::<f32>();
    let count = cdiv(columns - arange::<i32>(N), N).to::<f32>();
    let all = (mean * count).sum(keep(1)) * scale;
    let apart = mean - all;
    let deviation = ((squares + apart * apart * count).sum(keep(1)) * scale + eps).rsqrt();
    for k in 0..cdiv(columns, N) {
        let centred = x.tiles([1, N]).load((row, k)).to::<f32>() - all;
        let weight = weight.tiles([N]).load((k,)).to::<f32>();
        let bias = bias.tiles([N]).load((k,)).to::<f32>();
        y.tiles_mut([1, N]).store((row, k), (centred * deviation * weight + bias).to::<T>());
    }
}

/// [`rmsnorm`] of rows of any length, a row a block, `N` columns at a time. A row is read twice, the second time from the L2.
#[kernel(crate = girih_tile)]
pub fn rmsnorm_long<T: Float, const N: usize>(
    x: &Array<T, 2>,
    weight: &Array<T, 1>,
    y: &mut Array<T, 2>,
    eps: Scalar<f32>,
) {
    let row = bid(0);
    let columns = x.dim(1);
    let mut squares = zeros::<f32>([1, N]);
    for k in 0..cdiv(columns, N) {
        let x = x.tiles([1, N]).padding(Padding::Zero).load((row, k)).to::<f32>();
        squares += x * x;
    }
    let root = (squares.sum(keep(1)) / columns.to::<f32>() + eps).rsqrt();
    for k in 0..cdiv(columns, N) {
        let x = x.tiles([1, N]).load((row, k)).to::<f32>();
        let weight = weight.tiles([N]).load((k,)).to::<f32>();
        y.tiles_mut([1, N]).store((row, k), (x * root * weight).to::<T>());
    }
}
