//! Products of 8-bit floats in blocks with scales, by tiles of other columns than blocks have.

use girih_tile::launch::DeviceArray;
use girih_tile::prelude::*;

use super::launched::{close, device, matrix};
use super::weights::{check, data};

/// 8-bit floats with a scale for each 128 columns, by tiles of a part of them.
#[kernel]
fn narrow<const BN: usize>(
    a: &Array<F8E4M3, 2>,
    b: &Array<F8E4M3, 2>,
    a_scale: &Array<f32, 2>,
    b_scale: &Array<f32, 2>,
    c: &mut Array<bf16, 2>,
) {
    let (i, j) = (bid(0), bid(1));
    let mut acc = zeros::<f32>([64, BN]);
    for k in 0..cdiv(a.dim(1), 128) {
        let x = a.tiles([64, 128]).padding(Padding::Zero).load((i, k));
        let y = b.tiles([BN, 128]).padding(Padding::Zero).load((j, k));
        let block = floordiv(j * (BN as i64), 128);
        let scale = a_scale.tiles([64, 1]).load((i, k)) * b_scale.tiles([1, 1]).load((block, k));
        acc += mma(x, y.t(), zeros::<f32>([64, BN])) * scale;
    }
    c.tiles_mut([64, BN]).store((i, j), acc.to::<bf16>());
}

/// The same by tiles of twice as many columns.
#[kernel]
fn wide(
    a: &Array<F8E4M3, 2>,
    b: &Array<F8E4M3, 2>,
    a_scale: &Array<f32, 2>,
    b_scale: &Array<f32, 2>,
    c: &mut Array<bf16, 2>,
) {
    let (i, j) = (bid(0), bid(1));
    let mut acc = zeros::<f32>([128, 256]);
    for k in 0..cdiv(a.dim(1), 128) {
        let x = a.tiles([128, 128]).padding(Padding::Zero).load((i, k));
        let y = b.tiles([256, 128]).padding(Padding::Zero).load((j, k));
        let of_rows = a_scale.tiles([128, 1]).load((i, k));
        let of_columns = b_scale.tiles([2, 1]).load((j, k)).broadcast_to([2, 128]).reshape([1, 256]);
        acc = fma(mma(x, y.t(), zeros::<f32>([128, 256])), of_rows * of_columns, acc);
    }
    c.tiles_mut([128, 256]).store((i, j), acc.to::<bf16>());
}

/// The same with the blocks' operand first: `c` is the transpose.
#[kernel]
fn turned(
    b: &Array<F8E4M3, 2>,
    a: &Array<F8E4M3, 2>,
    b_scale: &Array<f32, 2>,
    a_scale: &Array<f32, 2>,
    c: &mut Array<bf16, 2>,
) {
    let (i, j) = (bid(0), bid(1));
    let mut acc = zeros::<f32>([64, 64]);
    for k in 0..cdiv(a.dim(1), 128) {
        let x = b.tiles([64, 128]).padding(Padding::Zero).load((i, k));
        let y = a.tiles([64, 128]).padding(Padding::Zero).load((j, k));
        let of_columns = a_scale.tiles([64, 1]).load((j, k)).t();
        let product = mma(x, y.t(), zeros::<f32>([64, 64])) * b_scale.tiles([1, 1]).load((floordiv(i, 2), k));
        acc += product * of_columns;
    }
    c.tiles_mut([64, 64]).store((i, j), acc.to::<bf16>());
}

#[test]
fn blocks_by_tiles_of_other_columns_are_right() {
    let device = device();
    let [m, n, k] = [72, 264, 272];
    let (a, b) = (matrix::<F8E4M3, 2>(&device, 1, [m, k]), matrix::<F8E4M3, 2>(&device, 2, [n, k]));
    let (of_a, of_b) = (matrix::<f32, 2>(&device, 3, [3, m]), matrix::<f32, 2>(&device, 4, [3, 4]));
    let scales = [of_a.on.permute([1, 0]).unwrap(), of_b.on.permute([1, 0]).unwrap().slice(0, 0..3).unwrap()];
    let term = |i: usize, j: usize, l: usize| {
        let scale = of_a.wide[l / 128 * m + i] * of_b.wide[l / 128 * 4 + j / 128];
        a.wide[i * k + l] * b.wide[j * k + l] * scale
    };
    let wanted: Vec<f64> = (0..m * n).map(|at| (0..k).map(|l| term(at / n, at % n, l)).sum()).collect();
    let mut c = DeviceArray::<bf16, 2>::zeros(&device, [m, n]).unwrap();
    let arrays = || vec![data(&a.on), data(&b.on), data(&scales[0]), data(&scales[1])];
    let with_c = |c: &DeviceArray<bf16, 2>| [arrays(), vec![data(c)]].concat();

    let (func, all) = (narrow::<64>::ir().unwrap(), with_c(&c));
    let launch = narrow::<64>(&a.on, &b.on, &scales[0], &scales[1], &mut c);
    check::<bf16>(launch, func, [2, 5], all, &wanted);
    close("the launch", &c.download().unwrap(), &wanted);
    let mut c = DeviceArray::<bf16, 2>::zeros(&device, [m, n]).unwrap();
    let (func, all) = (wide::ir().unwrap(), with_c(&c));
    let launch = wide(&a.on, &b.on, &scales[0], &scales[1], &mut c);
    check::<bf16>(launch, func, [1, 2], all, &wanted);
    close("the launch", &c.download().unwrap(), &wanted);

    let mut c = DeviceArray::<bf16, 2>::zeros(&device, [n, m]).unwrap();
    let all = vec![data(&b.on), data(&a.on), data(&scales[1]), data(&scales[0]), data(&c)];
    let wanted: Vec<f64> = (0..n * m).map(|at| wanted[at % m * n + at / m]).collect();
    let (func, launch) = (turned::ir().unwrap(), turned(&b.on, &a.on, &scales[1], &scales[0], &mut c));
    check::<bf16>(launch, func, [5, 2], all, &wanted);
    close("the launch", &c.download().unwrap(), &wanted);
}
