//! Softmax of rows, and the loss on it.

use std::f64::consts::LOG2_E;

use girih_tile::prelude::*;

/// The softmax of each row, `R` rows of up to `N` columns a block.
#[kernel(crate = girih_tile)]
pub fn softmax<T: Float, const R: usize, const N: usize>(x: &Array<T, 2>, y: &mut Array<T, 2>) {
    let rows = bid(0);
    let x = x.tiles([R, N]).padding(Padding::NegInf).load((rows, 0)).to::<f32>();
    let power = ((x - x.max(keep(1))) * LOG2_E).exp2();
    let scale = 1.0 / power.sum(keep(1));
    y.tiles_mut([R, N]).store((rows, 0), (power * scale).to::<T>());
}

/// `loss[r] = log(sum(exp(x[r, ..]))) - x[r, target[r]]`, a row of up to `N` columns a block.
#[kernel(crate = girih_tile)]
pub fn cross_entropy<T: Float, const N: usize>(
    x: &Array<T, 2>,
    target: &Array<i32, 1>,
    loss: &mut Array<f32, 1>,
) {
    let row = bid(0);
    let logits = x.tiles([1, N]).padding(Padding::NegInf).load((row, 0)).to::<f32>();
    let most = logits.max(keep(1));
    let sum = (logits - most).exp().sum(1);
    let at = target.tiles([1]).load((row,));
    let chosen = x.gather((row, at)).to::<f32>();
    loss.tiles_mut([1]).store((row,), sum.log() + most.reshape([1]) - chosen);
}

/// The softmax of each row of any length, a row a block, `N` columns at a time. A row is read twice, the second time from the L2: of rows
/// beyond some 16384 columns a thread cannot keep its part in registers.
#[kernel(crate = girih_tile)]
pub fn softmax_long<T: Float, const N: usize>(x: &Array<T, 2>, y: &mut Array<T, 2>) {
    let row = bid(0);
    // Every column of the tile has a greatest and a sum of its own until the row has been read. The start is finite: the difference of two
    // infinities is NaN.
    let mut most = full::<f32>([1, N], f64::from(f32::MIN));
    let mut sum = zeros::<f32>([1, N]);
    for k in 0..cdiv(x.dim(1), N) {
        let x = x.tiles([1, N]).padding(Padding::NegInf).load((row, k)).to::<f32>();
        let next = maximum(most, x);
        // The difference comes before the scale, by which the least numbers would overflow.
        sum = sum * ((most - next) * LOG2_E).exp2() + ((x - next) * LOG2_E).exp2();
        most = next;
    }
    let all = most.max(keep(1));
    let scale = 1.0 / (sum * ((most - all) * LOG2_E).exp2()).sum(keep(1));
    for k in 0..cdiv(x.dim(1), N) {
        let x = x.tiles([1, N]).padding(Padding::NegInf).load((row, k)).to::<f32>();
        y.tiles_mut([1, N]).store((row, k), (((x - all) * LOG2_E).exp2() * scale).to::<T>());
    }
}
