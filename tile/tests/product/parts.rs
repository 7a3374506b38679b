//! Products of arrays of any strides, that begin and end anywhere.

use girih_tile::launch::DeviceArray;
use girih_tile::prelude::*;

use super::launched::{close, device, matrix, product};
use super::programs::plain;

/// Rows that overlap or repeat, and sums of nothing.
#[test]
fn arrays_of_any_strides_and_extents_are_multiplied() {
    let device = device();
    let [m, n, k] = [70, 72, 40];
    let b = matrix::<bf16, 2>(&device, 2, [k, n]);
    let line = matrix::<bf16, 1>(&device, 1, [3 * 8 * m + k]);
    for stride in [0, 1, 8, 24] {
        let a = DeviceArray::new(line.on.buffer().slice(..).unwrap(), 0, [m, k], [stride, 1]).unwrap();
        let wide: Vec<f64> = (0..m * k).map(|at| line.wide[at / k * stride + at % k]).collect();
        let mut c = DeviceArray::<f32, 2>::zeros(&device, [m, n]).unwrap();
        plain::<bf16, f32, f32, 64, 64, 64>(&a, &b.on, &mut c).run().unwrap();
        close(&format!("rows {stride} apart"), &c.download().unwrap(), &product(&wide, &b.wide, [m, n, k]));
    }
    for [m, n, k] in [[1, 1, 1], [1, 70, 3], [70, 1, 8], [9, 8, 0], [0, 8, 8], [8, 8, 1]] {
        let (a, b) = (matrix::<bf16, 2>(&device, 1, [m, k]), matrix::<bf16, 2>(&device, 2, [k, n]));
        let mut c = DeviceArray::<f32, 2>::upload(&device, &vec![9.0; m * n], [m, n]).unwrap();
        plain::<bf16, f32, f32, 64, 64, 64>(&a.on, &b.on, &mut c).run().unwrap();
        let (what, wanted) = (format!("{m} x {n} x {k}"), product(&a.wide, &b.wide, [m, n, k]));
        close(&what, &c.download().unwrap(), &wanted);
        // The same again, by what was prepared.
        let mut c = DeviceArray::<f32, 2>::upload(&device, &vec![9.0; m * n], [m, n]).unwrap();
        plain::<bf16, f32, f32, 64, 64, 64>(&a.on, &b.on, &mut c).run().unwrap();
        close(&what, &c.download().unwrap(), &wanted);
        let mut c = DeviceArray::<f32, 2>::upload(&device, &vec![9.0; m * n], [m, n]).unwrap();
        plain::<bf16, f32, f32, 64, 64, 64>(&a.on, &b.on, &mut c).prepare().unwrap().run().unwrap();
        close(&what, &c.download().unwrap(), &wanted);
    }
    // Rows of C without any of A are sums of padding.
    let (a, b) = (matrix::<bf16, 2>(&device, 1, [0, 8]), matrix::<bf16, 2>(&device, 2, [8, 8]));
    let mut c = DeviceArray::<f32, 2>::upload(&device, &[9.0; 64], [8, 8]).unwrap();
    plain::<bf16, f32, f32, 64, 64, 64>(&a.on, &b.on, &mut c).run().unwrap();
    close("no rows of A", &c.download().unwrap(), &[0.0; 64]);
}

/// Matrices that are parts of larger ones, from any element on and along any axis, of any sizes.
#[test]
fn parts_of_arrays_are_multiplied() {
    let device = device();
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut below = |n: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % n
    };
    let cases = std::env::var("GIRIH_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(12);
    for case in 0..cases {
        let [m, n, k] = [1 + below(150), 1 + below(150), 1 + below(100)];
        macro_rules! check {
            ($t:ty, $sum:ty, $c:ty, $k:literal) => {{
                let mut place = |seed: usize, [rows, columns]: [usize; 2]| {
                    let turned = below(2) == 1;
                    let [x, y] = if turned { [columns, rows] } else { [rows, columns] };
                    let unit = [1, 2, 8, 16][below(4)];
                    let (over, ahead) = (below(3), unit * below(3));
                    let pitch = (y + ahead).next_multiple_of(unit);
                    let of = matrix::<$t, 2>(&device, seed, [x + over, pitch]);
                    let part = of.on.slice(0, over..x + over).unwrap().slice(1, ahead..ahead + y).unwrap();
                    let at = |i: usize, j: usize| of.wide[(i + over) * pitch + j + ahead];
                    let wide: Vec<f64> = (0..rows * columns)
                        .map(|n| (n / columns, n % columns))
                        .map(|(i, j)| if turned { at(j, i) } else { at(i, j) })
                        .collect();
                    (if turned { part.permute([1, 0]).unwrap() } else { part }, wide)
                };
                let ((a, x), (b, y)) = (place(1, [m, k]), place(2, [k, n]));
                let turned = below(2) == 1;
                let (unit, ahead) = ([1, 4, 8][below(3)], below(2));
                let [rows, columns] = if turned { [n, m] } else { [m, n] };
                let pitch = (columns + ahead * unit).next_multiple_of(unit);
                let whole = DeviceArray::<$c, 2>::zeros(&device, [rows, pitch]).unwrap();
                let c = whole.slice(1, ahead * unit..ahead * unit + columns).unwrap();
                let mut c = if turned { c.permute([1, 0]).unwrap() } else { c };
                let what = format!("case {case}: {m} x {n} x {k}, {a:?} {b:?} {c:?}");
                if let Err(error) = plain::<$t, $sum, $c, 64, 64, $k>(&a, &b, &mut c).run() {
                    panic!("{what}: {error}");
                }
                close(&what, &c.download().unwrap(), &product(&x, &y, [m, n, k]));
                // What lies beside the part stays.
                let beside: f64 =
                    whole.download().unwrap().iter().map(|&x| f64::from(x != <$c>::default())).sum();
                let own: f64 = c.download().unwrap().iter().map(|&x| f64::from(x != <$c>::default())).sum();
                assert_eq!(beside, own, "{what}");
            }};
        }
        match case % 4 {
            0 => check!(bf16, f32, f32, 64),
            1 => check!(f32, f32, f32, 16),
            2 => check!(f16, f32, f16, 64),
            _ => check!(i8, i32, i32, 64),
        }
    }
}

/// `c = column * (a * b) + row + x`, by tiles as they lie.
#[kernel]
fn mixed<X: Elem, C: Elem + StoreTo<C>>(
    a: &Array<bf16, 2>,
    b: &Array<bf16, 2>,
    row: &Array<f32, 1>,
    column: &Array<X, 1>,
    x: &Array<X, 2>,
    c: &mut Array<C, 2>,
) {
    let (i, j) = (bid(0), bid(1));
    let mut acc = zeros::<f32>([64, 64]);
    for k in 0..cdiv(a.dim(1), 64) {
        acc = mma(
            a.tiles([64, 64]).padding(Padding::Zero).load((i, k)),
            b.tiles([64, 64]).padding(Padding::Zero).load((k, j)),
            acc,
        );
    }
    let column = column.tiles([64]).load((i,)).to::<f32>().reshape([64, 1]);
    let x = x.tiles([64, 64]).padding(Padding::Zero).load((i, j)).to::<f32>();
    c.tiles_mut([64, 64]).store((i, j), (acc * column + row.tiles([64]).load((j,)) + x).to::<C>());
}

/// Rows, columns and matrices beside the product that begin and end anywhere.
#[test]
fn parts_of_arrays_are_added() {
    let device = device();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut below = |n: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % n
    };
    let cases = std::env::var("GIRIH_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(8);
    for case in 0..cases {
        let even = [1, 8][below(2)];
        let [m, n, k] = [150, 150, 100].map(|most| (1 + below(most)).next_multiple_of(even));
        let (a, b) = (matrix::<bf16, 2>(&device, 1, [m, k]), matrix::<bf16, 2>(&device, 2, [k, n]));
        let sums = product(&a.wide, &b.wide, [m, n, k]);
        let turned = below(2) == 1;
        macro_rules! check {
            ($x:ty, $c:ty) => {{
                let ahead = even * below(3);
                let row = matrix::<f32, 1>(&device, 3, [n + ahead]);
                let column = matrix::<$x, 1>(&device, 4, [m + ahead]);
                let [rows, columns] = if turned { [n, m] } else { [m, n] };
                let x = matrix::<$x, 2>(&device, 5, [rows, columns + ahead]);
                let whole = DeviceArray::<$c, 2>::zeros(&device, [rows, columns + ahead]).unwrap();
                let (own, c) = (x.on.slice(1, ahead..ahead + columns), whole.slice(1, 0..columns));
                let (mut own, mut c) = (own.unwrap(), c.unwrap());
                if turned {
                    (own, c) = (own.permute([1, 0]).unwrap(), c.permute([1, 0]).unwrap());
                }
                let [r, l] = [ahead..ahead + n, ahead..ahead + m];
                let (r, l) = (row.on.slice(0, r).unwrap(), column.on.slice(0, l).unwrap());
                let launch = mixed::<$x, $c>(&a.on, &b.on, &r, &l, &own, &mut c);
                let what = format!("case {case}: {m} x {n} x {k} {own:?} {launch:?}");
                launch.run().unwrap_or_else(|error| panic!("{what}: {error}"));
                let of = |at: usize| {
                    let (i, j) = (at / n, at % n);
                    let place = if turned { j * (m + ahead) + i } else { i * (n + ahead) + j };
                    sums[at] * column.wide[i + ahead] + row.wide[j + ahead] + x.wide[place + ahead]
                };
                close(&what, &c.download().unwrap(), &(0..m * n).map(of).collect::<Vec<_>>());
            }};
        }
        match case % 3 {
            0 => check!(bf16, bf16),
            1 => check!(f32, bf16),
            _ => check!(bf16, f32),
        }
    }
}

/// Matrices of a batch that are one matrix, that overlap, or whose rows lie among those of others.
#[test]
fn batches_of_any_strides_are_multiplied() {
    let device = device();
    let (l, [m, n, k]) = (3, [72, 80, 48]);
    let b = matrix::<f16, 2>(&device, 2, [k, n]);
    let line = matrix::<f16, 1>(&device, 1, [l * m * k]);
    for (far, pitch) in [(0, k), (k, k), (8, k), (k, l * k), (m * k, k), (16, 16), (1, k)] {
        let strides = [far, pitch, 1];
        let given = line.on.buffer().slice(..).unwrap();
        let a = DeviceArray::new(given, 0, [l, m, k], strides).unwrap();
        let mut c = DeviceArray::<f32, 3>::zeros(&device, [l, m, n]).unwrap();
        super::programs::batched(&a, &b.on, &mut c).run().unwrap();
        let wide = |g: usize| (0..m * k).map(move |at| g * far + at / k * pitch + at % k);
        let of = |g: usize| product(&wide(g).map(|at| line.wide[at]).collect::<Vec<_>>(), &b.wide, [m, n, k]);
        let what = format!("{strides:?}");
        close(&what, &c.download().unwrap(), &(0..l).flat_map(of).collect::<Vec<_>>());

        // C's rows lie among those of others.
        let mut c = DeviceArray::<f32, 3>::zeros(&device, [m, l, n]).unwrap().permute([1, 0, 2]).unwrap();
        super::programs::batched(&a, &b.on, &mut c).run().unwrap();
        close(&what, &c.download().unwrap(), &(0..l).flat_map(of).collect::<Vec<_>>());
    }
}
