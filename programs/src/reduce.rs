//! Sums and greatest elements of rows, columns and everything.

use girih_tile::prelude::*;

/// `y[r] = sum(x[r, ..])`, `R` rows a block, `N` columns at a time.
#[kernel(crate = girih_tile)]
pub fn row_sum<const R: usize, const N: usize>(x: &Array<f32, 2>, y: &mut Array<f32, 1>) {
    let rows = bid(0);
    let mut sum = zeros::<f32>([R, N]);
    for k in 0..cdiv(x.dim(1), N) {
        sum += x.tiles([R, N]).padding(Padding::Zero).load((rows, k));
    }
    y.tiles_mut([R]).store((rows,), sum.sum(1));
}

/// `y[c] = sum(x[.., c])`, `N` columns a block, `R` rows at a time.
#[kernel(crate = girih_tile)]
pub fn column_sum<const R: usize, const N: usize>(x: &Array<f32, 2>, y: &mut Array<f32, 1>) {
    let columns = bid(0);
    let mut sum = zeros::<f32>([R, N]);
    for k in 0..cdiv(x.dim(0), R) {
        sum += x.tiles([R, N]).padding(Padding::Zero).load((k, columns));
    }
    y.tiles_mut([N]).store((columns,), sum.sum(0));
}

/// Adds the sum of all elements to `y[0]`. Blocks take tiles of `N` elements by turns, and add up in no fixed order.
#[kernel(crate = girih_tile)]
pub fn full_sum<const N: usize>(x: &Array<f32, 1>, y: &mut Array<f32, 1>) {
    let mut sum = zeros::<f32>([N]);
    for k in (bid(0)..cdiv(x.dim(0), N)).step_by(num_blocks(0)) {
        sum += x.tiles([N]).padding(Padding::Zero).load((k,));
    }
    y.tiles_mut([1]).atomic_add((0,), sum.sum(0).reshape([1]));
}

/// The column of the greatest element of each row, the first of equals; a row of up to `N` columns a block.
#[kernel(crate = girih_tile)]
pub fn argmax_rows<T: Num, const N: usize>(x: &Array<T, 2>, y: &mut Array<i32, 1>) {
    let row = bid(0);
    let columns = x.dim(1);
    let x = x.tiles([1, N]).load((row, 0));
    // The first column stands for what is beyond the last, and is greater than none.
    let x = where_(arange::<i32>(N) < columns, x, x.extract([0, 0], [1, 1]));
    y.tiles_mut([1]).store((row,), x.argmax(1));
}
