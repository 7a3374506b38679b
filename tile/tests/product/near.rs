//! Programs that are close to products of whole matrices.

use girih_tile::launch::DeviceArray;
use girih_tile::prelude::*;

use super::launched::{close, device, matrix, product};
use super::programs::grouped;

/// Blocks that leave their loop over tiles early, at a tile that a number in a type says.
#[kernel]
fn leaves<const AT: i64>(a: &Array<f32, 2>, b: &Array<f32, 2>, c: &mut Array<f32, 2>) {
    for i in 0..cdiv(c.dim(0), 32) {
        if i == AT {
            break;
        }
        let mut acc = zeros::<f32>([32, 32]);
        for k in 0..cdiv(a.dim(1), 16) {
            acc = mma(
                a.tiles([32, 16]).padding(Padding::Zero).load((i, k)),
                b.tiles([16, 32]).padding(Padding::Zero).load((k, bid(0))),
                acc,
            );
        }
        c.tiles_mut([32, 32]).store((i, bid(0)), acc);
    }
}

/// Blocks that leave a tile out.
#[kernel]
fn skips<const AT: i64>(a: &Array<f32, 2>, b: &Array<f32, 2>, c: &mut Array<f32, 2>) {
    for i in 0..cdiv(c.dim(0), 32) {
        if i == AT {
            continue;
        }
        let mut acc = zeros::<f32>([32, 32]);
        for k in 0..cdiv(a.dim(1), 16) {
            acc = mma(
                a.tiles([32, 16]).padding(Padding::Zero).load((i, k)),
                b.tiles([16, 32]).padding(Padding::Zero).load((k, bid(0))),
                acc,
            );
        }
        c.tiles_mut([32, 32]).store((i, bid(0)), acc);
    }
}

#[test]
fn ways_out_of_loops_are_taken() {
    let device = device();
    let [m, n, k] = [96, 32, 32];
    let (a, b) = (matrix::<f32, 2>(&device, 1, [m, k]), matrix::<f32, 2>(&device, 2, [k, n]));
    let sums = product(&a.wide, &b.wide, [m, n, k]);

    let mut c = DeviceArray::<f32, 2>::zeros(&device, [m, n]).unwrap();
    skips::<1>(&a.on, &b.on, &mut c).grid([1]).run().unwrap();
    let mut wanted = sums.clone();
    wanted[32 * n..64 * n].fill(0.0);
    close("a tile that is left out", &c.download().unwrap(), &wanted);

    let mut c = DeviceArray::<f32, 2>::zeros(&device, [m, n]).unwrap();
    leaves::<1>(&a.on, &b.on, &mut c).grid([1]).run().unwrap();
    let mut wanted = sums;
    wanted[32 * n..].fill(0.0);
    close("tiles behind a way out", &c.download().unwrap(), &wanted);
}

/// A tile of K that is left out: a condition continues the loop with the accumulator.
#[kernel]
fn skips_along_k<const AT: i64>(a: &Array<bf16, 2>, b: &Array<bf16, 2>, c: &mut Array<f32, 2>) {
    let mut acc = zeros::<f32>([64, 64]);
    for k in 0..cdiv(a.dim(1), 64) {
        if k == AT {
            acc = acc * 2.0;
            continue;
        }
        let x = a.tiles([64, 64]).padding(Padding::Zero).load((bid(0), k));
        acc = mma(x, b.tiles([64, 64]).padding(Padding::Zero).load((k, bid(1))), acc);
    }
    c.tiles_mut([64, 64]).store((bid(0), bid(1)), acc);
}

#[test]
fn iterations_that_end_early_add_no_product() {
    let device = device();
    let [m, n, k] = [72, 64, 200];
    let (a, b) = (matrix::<bf16, 2>(&device, 1, [m, k]), matrix::<bf16, 2>(&device, 2, [k, n]));
    let mut c = DeviceArray::<f32, 2>::zeros(&device, [m, n]).unwrap();
    skips_along_k::<1>(&a.on, &b.on, &mut c).run().unwrap();
    let term = |at: usize, l: usize| a.wide[at / n * k + l] * b.wide[l * n + at % n];
    let sum = |at: usize| {
        let first: f64 = (0..64).map(|l| term(at, l)).sum();
        2.0 * first + (128..k).map(|l| term(at, l)).sum::<f64>()
    };
    close("without the second tile of K", &c.download().unwrap(), &(0..m * n).map(sum).collect::<Vec<_>>());
}

/// Scales of A that are those of columns, by the numbers of rows.
#[kernel]
fn turned_scales(
    a: &Array<F8E4M3, 2>,
    b: &Array<F8E4M3, 2>,
    a_scale: &Array<f32, 2>,
    b_scale: &Array<f32, 2>,
    c: &mut Array<f32, 2>,
) {
    let (i, j) = (bid(0), bid(1));
    let mut acc = zeros::<f32>([128, 128]);
    for k in 0..cdiv(a.dim(1), 128) {
        let x = a.tiles([128, 128]).padding(Padding::Zero).load((i, k));
        let y = b.tiles([128, 128]).padding(Padding::Zero).load((j, k));
        let scale = a_scale.tiles([128, 1]).load((i, k)).t() * b_scale.tiles([1, 1]).load((j, k));
        acc += mma(x, y.t(), zeros::<f32>([128, 128])) * scale;
    }
    c.tiles_mut([128, 128]).store((i, j), acc);
}

/// Squares of products, with scales.
#[kernel]
fn squares(
    a: &Array<F8E4M3, 2>,
    b: &Array<F8E4M3, 2>,
    a_scale: &Array<f32, 2>,
    b_scale: &Array<f32, 2>,
    c: &mut Array<f32, 2>,
) {
    let (i, j) = (bid(0), bid(1));
    let mut acc = zeros::<f32>([128, 128]);
    for k in 0..cdiv(a.dim(1), 128) {
        let x = a.tiles([128, 128]).padding(Padding::Zero).load((i, k));
        let y = b.tiles([128, 128]).padding(Padding::Zero).load((j, k));
        let product = mma(x, y.t(), zeros::<f32>([128, 128]));
        let rows = product * a_scale.tiles([128, 1]).load((i, k));
        acc += rows * (product * b_scale.tiles([1, 1]).load((j, k)));
    }
    c.tiles_mut([128, 128]).store((i, j), acc);
}

#[test]
fn other_factors_than_scales_of_rows_and_blocks_are_right() {
    let device = device();
    let [m, n, k] = [128, 128, 128];
    let (a, b) = (matrix::<F8E4M3, 2>(&device, 1, [m, k]), matrix::<F8E4M3, 2>(&device, 2, [n, k]));
    let (of_a, of_b) = (matrix::<f32, 2>(&device, 3, [1, m]), matrix::<f32, 2>(&device, 4, [1, 4]));
    let scales = [of_a.on.permute([1, 0]).unwrap(), of_b.on.permute([1, 0]).unwrap().slice(0, 0..1).unwrap()];
    let sum = |i: usize, j: usize| (0..k).map(|l| a.wide[i * k + l] * b.wide[j * k + l]).sum::<f64>();
    let sums: Vec<f64> = (0..m * n).map(|at| sum(at / n, at % n)).collect();

    let mut c = DeviceArray::<f32, 2>::zeros(&device, [m, n]).unwrap();
    turned_scales(&a.on, &b.on, &scales[0], &scales[1], &mut c).run().unwrap();
    let wanted: Vec<f64> = (0..m * n).map(|at| sums[at] * of_a.wide[at % n] * of_b.wide[0]).collect();
    close("scales of columns", &c.download().unwrap(), &wanted);
    let mut c = DeviceArray::<f32, 2>::zeros(&device, [m, n]).unwrap();
    squares(&a.on, &b.on, &scales[0], &scales[1], &mut c).run().unwrap();
    let wanted: Vec<f64> =
        (0..m * n).map(|at| sums[at] * sums[at] * of_a.wide[at / n] * of_b.wide[0]).collect();
    close("squares", &c.download().unwrap(), &wanted);
}

/// A block that looks at a number which others write, before it begins.
#[kernel]
fn looks(ready: &Array<i32, 1>, a: &Array<f32, 2>, b: &Array<f32, 2>, c: &mut Array<f32, 2>) {
    for _ in irange(0, 1000) {
        let seen = ready.tiles([1]).memory_order(Order::Acquire, Scope::Device).load((0,));
        if seen.reshape([0usize; 0]) == 1 {
            break;
        }
    }
    let mut acc = zeros::<f32>([32, 32]);
    for k in 0..cdiv(a.dim(1), 16) {
        acc = mma(
            a.tiles([32, 16]).padding(Padding::Zero).load((bid(0), k)),
            b.tiles([16, 32]).padding(Padding::Zero).load((k, bid(1))),
            acc,
        );
    }
    c.tiles_mut([32, 32]).store((bid(0), bid(1)), acc);
}

/// The same once, without a loop.
#[kernel]
fn looks_once(ready: &Array<i32, 1>, a: &Array<f32, 2>, b: &Array<f32, 2>, c: &mut Array<f32, 2>) {
    let _ = ready.tiles([1]).memory_order(Order::Acquire, Scope::Device).load((0,));
    let mut acc = zeros::<f32>([32, 32]);
    for k in 0..cdiv(a.dim(1), 16) {
        acc = mma(
            a.tiles([32, 16]).padding(Padding::Zero).load((bid(0), k)),
            b.tiles([16, 32]).padding(Padding::Zero).load((k, bid(1))),
            acc,
        );
    }
    c.tiles_mut([32, 32]).store((bid(0), bid(1)), acc);
}

#[test]
fn accesses_with_an_order_are_kept() {
    for func in [looks::ir(), looks_once::ir()] {
        let module = girih_tile::compile(&func.unwrap(), 90).unwrap().kernel.module().to_string();
        assert!(module.contains("ld.acquire"), "{module}");
    }
}

/// Ends of groups that do not lie one after the other, and launches of two threads whose ends differ.
#[test]
fn ends_of_groups_are_those_of_the_launch() {
    let device = device();
    let (groups, [m, n, k]) = (2, [100, 72, 40]);
    let a = matrix::<bf16, 2>(&device, 1, [m, k]);
    let b = matrix::<bf16, 3>(&device, 2, [groups, k, n]);
    let bias = matrix::<f32, 2>(&device, 3, [groups, n]);
    let wanted = |end: usize| -> Vec<f64> {
        let of = |at: usize| {
            let (row, column) = (at / n, at % n);
            let g = usize::from(row >= end);
            let product = |l: usize| a.wide[row * k + l] * b.wide[(g * k + l) * n + column];
            (0..k).map(product).sum::<f64>() + bias.wide[g * n + column]
        };
        (0..m * n).map(of).collect()
    };
    let given = device.upload(&[30, -7, 100]).unwrap();
    let ends = DeviceArray::<i32, 1>::new(given, 0, [groups], [2]).unwrap();
    let mut c = DeviceArray::<bf16, 2>::zeros(&device, [m, n]).unwrap();
    grouped(&a.on, &b.on, &ends, &bias.on, &mut c).grid([3]).run().unwrap();
    close("every second number", &c.download().unwrap(), &wanted(30));

    let of = &|end: usize| {
        let ends = DeviceArray::<i32, 1>::upload(&device, &[end as i32, 100], [groups]).unwrap();
        let mut c = DeviceArray::<bf16, 2>::zeros(&device, [m, n]).unwrap();
        for _ in 0..3 {
            grouped(&a.on, &b.on, &ends, &bias.on, &mut c).grid([3]).run().unwrap();
        }
        // Prepared launches do not share what they read.
        let prepared = grouped(&a.on, &b.on, &ends, &bias.on, &mut c).grid([3]).prepare().unwrap();
        prepared.run().unwrap();
        (c.download().unwrap(), wanted(end))
    };
    std::thread::scope(|scope| {
        let threads = [10, 40, 64, 90].map(|end| scope.spawn(move || of(end)));
        for thread in threads {
            let (found, wanted) = thread.join().unwrap();
            close("a thread's own", &found, &wanted);
        }
    });
}

/// Rows of A by numbers of 8 bits, which begin anew after 255.
#[kernel]
fn rows_again(a: &Array<f32, 2>, b: &Array<f32, 2>, c: &mut Array<f32, 2>) {
    let row = bid(0).to::<u8>().to::<i32>();
    let mut acc = zeros::<f32>([16, 16]);
    for k in 0..cdiv(a.dim(1), 16) {
        acc = mma(
            a.tiles([16, 16]).padding(Padding::Zero).load((row, k)),
            b.tiles([16, 16]).padding(Padding::Zero).load((k, bid(1))),
            acc,
        );
    }
    c.tiles_mut([16, 16]).store((bid(0), bid(1)), acc);
}

/// Rows of A by numbers that are negative after 127: there is padding.
#[kernel]
fn rows_before(a: &Array<f32, 2>, b: &Array<f32, 2>, c: &mut Array<f32, 2>) {
    let row = bid(0).to::<i8>();
    let mut acc = zeros::<f32>([16, 16]);
    for k in 0..cdiv(a.dim(1), 16) {
        let x = a.tiles([16, 16]).padding(Padding::Zero).load((row, k));
        acc = mma(x, b.tiles([16, 16]).padding(Padding::Zero).load((k, bid(1))), acc);
    }
    c.tiles_mut([16, 16]).store((bid(0), bid(1)), acc);
}

/// A tile by a number that wraps while it is computed: -56, where there is padding.
#[kernel]
fn wrapped(x: &Array<f32, 1>, y: &mut Array<f32, 1>) {
    let at = scalar::<i8>(100) + scalar::<i8>(100);
    y.tiles_mut([16]).store((bid(0),), x.tiles([16]).padding(Padding::Zero).load((at,)));
}

#[test]
fn indices_of_few_bits_wrap() {
    let device = device();
    let [m, n, k] = [258 * 16, 16, 16];
    let (a, b) = (matrix::<f32, 2>(&device, 1, [m, k]), matrix::<f32, 2>(&device, 2, [k, n]));
    let sums = product(&a.wide, &b.wide, [m, n, k]);
    let row = 16 * n;

    let mut c = DeviceArray::<f32, 2>::zeros(&device, [m, n]).unwrap();
    rows_again(&a.on, &b.on, &mut c).run().unwrap();
    let wanted: Vec<f64> = (0..m * n).map(|at| sums[at % (256 * row)]).collect();
    close("256 rows", &c.download().unwrap(), &wanted);

    let mut c = DeviceArray::<f32, 2>::zeros(&device, [m, n]).unwrap();
    rows_before(&a.on, &b.on, &mut c).run().unwrap();
    let of = |at: usize| if at / row % 256 < 128 { sums[at % (256 * row)] } else { 0.0 };
    close("128 rows", &c.download().unwrap(), &(0..m * n).map(of).collect::<Vec<_>>());

    let x = matrix::<f32, 1>(&device, 1, [16 * 256]);
    let mut y = DeviceArray::<f32, 1>::upload(&device, &[9.0; 16], [16]).unwrap();
    wrapped(&x.on, &mut y).run().unwrap();
    close("a wrapped number", &y.download().unwrap(), &[0.0; 16]);
}
