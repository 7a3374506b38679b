//! Epilogues of any dtype and name, and in place.

use girih_tile::launch::DeviceArray;
use girih_tile::prelude::*;

use super::launched::{close, device, matrix, product};

/// `c = a * b + c / 2`, in place.
#[kernel]
fn adds(a: &Array<bf16, 2>, b: &Array<bf16, 2>, c: &mut Array<f32, 2>) {
    let (i, j) = (bid(0), bid(1));
    let mut acc = zeros::<f32>([128, 64]);
    for k in 0..cdiv(a.dim(1), 64) {
        acc = mma(
            a.tiles([128, 64]).padding(Padding::Zero).load((i, k)),
            b.tiles([64, 64]).padding(Padding::Zero).load((k, j)),
            acc,
        );
    }
    let mut c = c.tiles_mut([128, 64]);
    let before = c.load((i, j));
    c.store((i, j), acc + before * 0.5);
}

#[test]
fn sums_are_added_in_place() {
    let device = device();
    let [m, n, k] = [200, 136, 104];
    let (a, b) = (matrix::<bf16, 2>(&device, 1, [m, k]), matrix::<bf16, 2>(&device, 2, [k, n]));
    let mut c = matrix::<f32, 2>(&device, 3, [m, n]);
    let sums = product(&a.wide, &b.wide, [m, n, k]);
    let launch = adds(&a.on, &b.on, &mut c.on);
    launch.run().unwrap();
    let once: Vec<f64> = sums.iter().zip(&c.wide).map(|(sum, c)| sum + 0.5 * c).collect();
    close("once", &c.on.download().unwrap(), &once);
    adds(&a.on, &b.on, &mut c.on).run().unwrap();
    let twice: Vec<f64> = sums.iter().zip(&once).map(|(sum, c)| sum + 0.5 * c).collect();
    close("twice", &c.on.download().unwrap(), &twice);
}

/// Sums that are rounded twice.
#[kernel]
fn twice_rounded(a: &Array<bf16, 2>, b: &Array<bf16, 2>, c: &mut Array<F8E4M3, 2>) {
    let (i, j) = (bid(0), bid(1));
    let mut acc = zeros::<f32>([128, 128]);
    for k in 0..cdiv(a.dim(1), 64) {
        acc = mma(
            a.tiles([128, 64]).padding(Padding::Zero).load((i, k)),
            b.tiles([64, 128]).padding(Padding::Zero).load((k, j)),
            acc,
        );
    }
    c.tiles_mut([128, 128]).store((i, j), acc.to::<f16>().to::<F8E4M3>());
}

/// A matrix `x` whose pitch would be named as the number beside it, and elements that are taken or left.
#[kernel]
fn named(
    ldx: Scalar<f32>,
    takes: Scalar<bool>,
    a: &Array<bf16, 2>,
    b: &Array<bf16, 2>,
    x: &Array<bf16, 2>,
    mask: &Array<bool, 2>,
    c: &mut Array<f32, 2>,
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
    let taken = select(mask.tiles([128, 128]).load((i, j)), acc * ldx, acc);
    let sum = taken + x.tiles([128, 128]).padding(Padding::Zero).load((i, j)).to::<f32>();
    c.tiles_mut([128, 128]).store((i, j), select(takes, sum, acc));
}

#[test]
fn epilogues_have_any_dtype_and_name() {
    let device = device();
    let [m, n, k] = [136, 128, 72];
    let (a, b) = (matrix::<bf16, 2>(&device, 1, [m, k]), matrix::<bf16, 2>(&device, 2, [k, n]));
    let sums = product(&a.wide, &b.wide, [m, n, k]);

    let mut c = DeviceArray::<F8E4M3, 2>::zeros(&device, [m, n]).unwrap();
    twice_rounded(&a.on, &b.on, &mut c).run().unwrap();
    close("8-bit floats", &c.download().unwrap(), &sums);

    let x = matrix::<bf16, 2>(&device, 3, [m, n]);
    let taken: Vec<bool> = (0..m * n).map(|i| i % 3 == 0).collect();
    let mask = DeviceArray::upload(&device, &taken, [m, n]).unwrap();
    for takes in [true, false] {
        let mut c = DeviceArray::<f32, 2>::zeros(&device, [m, n]).unwrap();
        let launch = named(0.5, takes, &a.on, &b.on, &x.on, &mask, &mut c);
        launch.run().unwrap();
        let of = |i: usize| match (takes, taken[i]) {
            (true, true) => 0.5 * sums[i] + x.wide[i],
            (true, false) => sums[i] + x.wide[i],
            _ => sums[i],
        };
        close("named", &c.download().unwrap(), &(0..m * n).map(of).collect::<Vec<_>>());
    }
}

/// `c = max(a * b, row) + row`, in the dtype of the sums.
#[kernel]
fn clipped<T: Mma<A>, A: Num>(a: &Array<T, 2>, b: &Array<T, 2>, row: &Array<A, 1>, c: &mut Array<A, 2>) {
    let (i, j) = (bid(0), bid(1));
    let mut acc = zeros::<A>([64, 64]);
    for k in 0..cdiv(a.dim(1), 32) {
        acc = mma(
            a.tiles([64, 32]).padding(Padding::Zero).load((i, k)),
            b.tiles([32, 64]).padding(Padding::Zero).load((k, j)),
            acc,
        );
    }
    let row = row.tiles([64]).load((j,));
    c.tiles_mut([64, 64]).store((i, j), maximum(acc, row) + row);
}

#[test]
fn epilogues_compute_in_the_dtype_of_sums() {
    let device = device();
    let [m, n, k] = [72, 80, 48];
    macro_rules! check {
        ($t:ty, $sum:ty) => {
            let (a, b) = (matrix::<$t, 2>(&device, 1, [m, k]), matrix::<$t, 2>(&device, 2, [k, n]));
            let row = matrix::<$sum, 1>(&device, 3, [n]);
            let mut c = DeviceArray::<$sum, 2>::zeros(&device, [m, n]).unwrap();
            let launch = clipped::<$t, $sum>(&a.on, &b.on, &row.on, &mut c);
            launch.run().unwrap();
            let sums = product(&a.wide, &b.wide, [m, n, k]);
            let of = |at: usize| sums[at].max(row.wide[at % n]) + row.wide[at % n];
            close(stringify!($t), &c.download().unwrap(), &(0..m * n).map(of).collect::<Vec<_>>());
        };
    }
    check!(i8, i32);
    check!(f16, f16);
    check!(f64, f64);
    check!(bf16, f32);
}
