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
