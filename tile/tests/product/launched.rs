//! Launches of products, against sums in f64.

use girih_device::{Device, Select, SimOptions};
use girih_tensor::Element;
use girih_tile::hints::{Hint, Hints};
use girih_tile::launch::{DeviceArray, HostElement};
use girih_tile::prelude::{F8E4M3, bf16, f16};

use super::programs::*;

/// The GPU if `GIRIH_DEVICE` is `cuda`, or the simulator with all checks.
pub(super) fn device() -> Device {
    match std::env::var("GIRIH_DEVICE").as_deref() {
        Ok("cuda") => Device::open(Select::Cuda(0)).unwrap(),
        _ => Device::open_sim(SimOptions::checked()).unwrap(),
    }
}

/// Numbers from -2 to 2 that look random; small integers.
fn numbers<T: Element>(seed: usize, count: usize) -> Vec<T> {
    (0..count).map(|i| T::from_f64(((i * 7919 + seed * 104_729) % 9) as f64 * 0.5 - 2.0)).collect()
}

/// A matrix on the host, row-major, and on a device.
pub(super) struct Matrix<T: HostElement, const R: usize> {
    pub(super) wide: Vec<f64>,
    pub(super) on: DeviceArray<T, R>,
}

pub(super) fn matrix<T: HostElement + Element, const R: usize>(
    device: &Device,
    seed: usize,
    extents: [usize; R],
) -> Matrix<T, R> {
    let values = numbers::<T>(seed, extents.iter().product());
    let on = DeviceArray::upload(device, &values, extents).unwrap();
    Matrix { wide: values.iter().map(|x| x.to_f64()).collect(), on }
}

/// `a * b` of row-major matrices.
pub(super) fn product(a: &[f64], b: &[f64], [m, n, k]: [usize; 3]) -> Vec<f64> {
    let at = |i: usize, j: usize| (0..k).map(|l| a[i * k + l] * b[l * n + j]).sum();
    (0..m * n).map(|of| at(of / n, of % n)).collect()
}

pub(super) fn close<T: Element>(what: &str, found: &[T], wanted: &[f64]) {
    assert_eq!(found.len(), wanted.len(), "{what}");
    for (i, (found, wanted)) in found.iter().zip(wanted).enumerate() {
        let bound = 2.0 * T::DTYPE.epsilon() * wanted.abs() + 1e-4;
        assert!((found.to_f64() - wanted).abs() <= bound, "{what}: element {i} is {found:?}, not {wanted}");
    }
}

const SIZES: [[usize; 3]; 2] = [[200, 136, 104], [128, 256, 128]];

#[test]
fn plain_products_of_every_dtype_are_right() {
    let device = device();
    for [m, n, k] in SIZES {
        macro_rules! check {
            ($t:ty, $sum:ty, $c:ty, [$bm:literal, $bn:literal, $bk:literal]) => {
                let a = matrix::<$t, 2>(&device, 1, [m, k]);
                let b = matrix::<$t, 2>(&device, 2, [k, n]);
                let mut c = DeviceArray::<$c, 2>::zeros(&device, [m, n]).unwrap();
                let launch = plain::<$t, $sum, $c, $bm, $bn, $bk>(&a.on, &b.on, &mut c);
                launch.run().unwrap();
                let what = format!("{} {m} x {n} x {k}", stringify!($t));
                close(&what, &c.download().unwrap(), &product(&a.wide, &b.wide, [m, n, k]));
            };
        }
        check!(bf16, f32, bf16, [128, 128, 64]);
        check!(f16, f32, f16, [128, 64, 64]);
        check!(f16, f32, f32, [64, 64, 64]);
        check!(f32, f32, f32, [128, 128, 16]);
        check!(f64, f64, f64, [128, 128, 16]);
    }
}

/// Any grid whose blocks store every tile once, and arrays that lie otherwise.
#[test]
fn grids_and_majors_are_the_users() {
    let device = device();
    for [m, n, k] in SIZES {
        let a = matrix::<bf16, 2>(&device, 1, [m, k]);
        let b = matrix::<bf16, 2>(&device, 2, [k, n]);
        let wanted = product(&a.wide, &b.wide, [m, n, k]);
        let tiles = |extents: usize, tile: usize| extents.div_ceil(tile) as u32;

        let mut c = DeviceArray::<bf16, 2>::zeros(&device, [n, m]).unwrap();
        let columns = a.on.permute([1, 0]).unwrap();
        let launch = turned(&columns, &b.on, &mut c);
        launch.run().unwrap();
        close("turned", &c.permute([1, 0]).unwrap().download().unwrap(), &wanted);

        let mut c = DeviceArray::<bf16, 2>::zeros(&device, [m, n]).unwrap();
        let launch = grouped_raster(&a.on, &b.on, &mut c).grid([tiles(m, 64) * tiles(n, 64)]);
        launch.run().unwrap();
        close("grouped raster", &c.download().unwrap(), &wanted);

        let mut c = DeviceArray::<bf16, 2>::zeros(&device, [m, n]).unwrap();
        let launch = persistent(&a.on, &b.on, &mut c).grid([3]);
        let prepared = launch.prepare().unwrap();
        prepared.run().unwrap();
        prepared.run().unwrap();
        close("persistent", &c.download().unwrap(), &wanted);
    }
}

#[test]
fn batches_are_right() {
    let device = device();
    let (l, [m, n, k]) = (3, [72, 80, 48]);
    let (a, b) = (matrix::<f16, 3>(&device, 1, [l, m, k]), matrix::<f16, 2>(&device, 2, [k, n]));
    let mut c = DeviceArray::<f32, 3>::zeros(&device, [l, m, n]).unwrap();
    let launch = batched(&a.on, &b.on, &mut c);
    launch.run().unwrap();
    let wanted: Vec<f64> =
        (0..l).flat_map(|l| product(&a.wide[l * m * k..][..m * k], &b.wide, [m, n, k])).collect();
    close("batch", &c.download().unwrap(), &wanted);
}

#[test]
fn epilogues_are_right() {
    let device = device();
    for [m, n, k] in SIZES {
        let a = matrix::<bf16, 2>(&device, 1, [m, k]);
        let b = matrix::<bf16, 2>(&device, 2, [k, n]);
        let residual = matrix::<bf16, 2>(&device, 3, [m, n]);
        let (bias, wide) = (matrix::<bf16, 1>(&device, 4, [n]), matrix::<f32, 1>(&device, 5, [n]));
        let sums = product(&a.wide, &b.wide, [m, n, k]);

        let mut c = DeviceArray::<bf16, 2>::zeros(&device, [m, n]).unwrap();
        let launch = relu::<128, 128, 64>(&a.on, &b.on, &bias.on, &residual.on, &mut c);
        launch.run().unwrap();
        let of = |i: usize| (sums[i] + bias.wide[i % n] + residual.wide[i]).max(0.0);
        close("ReLU", &c.download().unwrap(), &(0..m * n).map(of).collect::<Vec<_>>());

        let mut c = DeviceArray::<bf16, 2>::zeros(&device, [m, n]).unwrap();
        let launch = gelu(0.25, &a.on, &b.on, &wide.on, &residual.on, &mut c);
        launch.run().unwrap();
        let of = |i: usize| {
            let x = 0.25 * sums[i] + wide.wide[i % n];
            0.5 * x * (1.0 + libm::erf(x * std::f64::consts::FRAC_1_SQRT_2)) + residual.wide[i]
        };
        close("GELU", &c.download().unwrap(), &(0..m * n).map(of).collect::<Vec<_>>());

        let a = matrix::<i8, 2>(&device, 1, [m, k]);
        let b = matrix::<i8, 2>(&device, 2, [n, k]);
        let (row, column) = (matrix::<f32, 1>(&device, 6, [m]), matrix::<f32, 1>(&device, 7, [n]));
        let mut c = DeviceArray::<f32, 2>::zeros(&device, [m, n]).unwrap();
        let launch = scaled(&a.on, &b.on, &row.on, &column.on, &mut c);
        launch.run().unwrap();
        let sum = |i: usize, j: usize| (0..k).map(|l| a.wide[i * k + l] * b.wide[j * k + l]).sum::<f64>();
        let of = |i: usize| sum(i / n, i % n) * row.wide[i / n] * column.wide[i % n];
        close("scales", &c.download().unwrap(), &(0..m * n).map(of).collect::<Vec<_>>());
    }
}

/// Groups of rows, among them empty ones, whose ends stand in memory; they change between the launches of one that was prepared.
#[test]
fn groups_of_rows_are_right() {
    let device = device();
    let (groups, [m, n, k]) = (4, [200, 136, 104]);
    let a = matrix::<bf16, 2>(&device, 1, [m, k]);
    let b = matrix::<bf16, 3>(&device, 2, [groups, k, n]);
    let bias = matrix::<f32, 2>(&device, 3, [groups, n]);
    let lists = [[70, 70, 131, 190], [0, 1, 130, 200]];
    let ends = DeviceArray::<i32, 1>::upload(&device, &lists[0], [groups]).unwrap();
    let mut c = DeviceArray::<bf16, 2>::zeros(&device, [m, n]).unwrap();
    let launch = grouped(&a.on, &b.on, &ends, &bias.on, &mut c).grid([3]);
    let prepared = launch.prepare().unwrap();
    let wanted = |ends: &[i32]| -> Vec<f64> {
        let of = |at: usize| {
            let (row, column) = (at / n, at % n);
            let group = ends.iter().position(|&end| row < end as usize);
            group.map_or(0.0, |g| {
                let product = |l: usize| a.wide[row * k + l] * b.wide[(g * k + l) * n + column];
                (0..k).map(product).sum::<f64>() + bias.wide[g * n + column]
            })
        };
        (0..m * n).map(of).collect()
    };
    prepared.run().unwrap();
    close("groups", &c.download().unwrap(), &wanted(&lists[0]));
    ends.buffer().write(&lists[1]).unwrap();
    prepared.run().unwrap();
    close("other groups", &c.download().unwrap(), &wanted(&lists[1]));
    grouped(&a.on, &b.on, &ends, &bias.on, &mut c).grid([132]).run().unwrap();
    close("the same by a launch", &c.download().unwrap(), &wanted(&lists[1]));
}

/// Scales whose first axis is contiguous, at the pitch that tensor copies take; with others the program runs as it is written.
#[test]
fn blocks_with_scales_are_right() {
    let device = device();
    let [m, n, k] = [132, 136, 272];
    let a = matrix::<F8E4M3, 2>(&device, 1, [m, k]);
    let b = matrix::<F8E4M3, 2>(&device, 2, [n, k]);
    let (of_a, of_b) = (matrix::<f32, 2>(&device, 3, [3, m]), matrix::<f32, 2>(&device, 4, [3, 4]));
    let mut c = DeviceArray::<bf16, 2>::zeros(&device, [m, n]).unwrap();
    let scales = [of_a.on.permute([1, 0]).unwrap(), of_b.on.permute([1, 0]).unwrap().slice(0, 0..2).unwrap()];
    let launch = blocks(&a.on, &b.on, &scales[0], &scales[1], &mut c);
    launch.run().unwrap();
    let term = |i: usize, j: usize, l: usize| {
        let scale = of_a.wide[l / 128 * m + i] * of_b.wide[l / 128 * 4 + j / 128];
        a.wide[i * k + l] * b.wide[j * k + l] * scale
    };
    let wanted: Vec<f64> = (0..m * n).map(|at| (0..k).map(|l| term(at / n, at % n, l)).sum()).collect();
    close("blocks with scales", &c.download().unwrap(), &wanted);
}

/// Hints leave the product as it is.
#[test]
fn hints_change_no_result() {
    let device = device();
    let [m, n, k] = [264, 136, 200];
    let (a, b) = (matrix::<bf16, 2>(&device, 1, [m, k]), matrix::<bf16, 2>(&device, 2, [k, n]));
    let wanted = product(&a.wide, &b.wide, [m, n, k]);
    let asks: [&[(Hint, i64)]; 6] = [
        &[],
        &[(Hint::NumCtas, 2)],
        &[(Hint::NumCtas, 16), (Hint::NumWorkerWarps, 32)],
        &[(Hint::NumWorkerWarps, 4), (Hint::NumStages, 8)],
        &[(Hint::NumStages, 2), (Hint::Occupancy, 4)],
        &[(Hint::NumWorkerWarps, 16), (Hint::NumStages, 1)],
    ];
    for ask in asks {
        let mut hints = Hints::default();
        ask.iter().for_each(|&(hint, value)| hints.set(None, hint, value).unwrap());
        let mut c = DeviceArray::<bf16, 2>::zeros(&device, [m, n]).unwrap();
        let launch = plain::<bf16, f32, bf16, 128, 128, 64>(&a.on, &b.on, &mut c).replace_hints(&hints);
        launch.run().unwrap();
        close(&format!("{ask:?}"), &c.download().unwrap(), &wanted);
    }
}

/// A grid that leaves tiles out, and arrays of unequal extents.
#[test]
fn what_is_no_whole_product_is_right() {
    let device = device();
    let [m, n, k] = [128, 64, 32];
    let (a, b) = (matrix::<f32, 2>(&device, 1, [m, k]), matrix::<f32, 2>(&device, 2, [k, n]));
    let mut c = DeviceArray::<f32, 2>::zeros(&device, [m, n]).unwrap();
    let launch = plain::<f32, f32, f32, 64, 64, 32>(&a.on, &b.on, &mut c).grid([1, 1]);
    launch.run().unwrap();
    let mut wanted = product(&a.wide, &b.wide, [m, n, k]);
    wanted[64 * n..].fill(0.0);
    close("half of the grid", &c.download().unwrap(), &wanted);

    // Rows of C beyond those of A are sums of padding.
    let mut c = DeviceArray::<f32, 2>::zeros(&device, [m + 64, n]).unwrap();
    plain::<f32, f32, f32, 64, 64, 32>(&a.on, &b.on, &mut c).run().unwrap();
    let mut wanted = product(&a.wide, &b.wide, [m, n, k]);
    wanted.resize((m + 64) * n, 0.0);
    close("more rows", &c.download().unwrap(), &wanted);
}

/// A stride of 0 along the rows of an operand, or along a batch, in tensor maps too.
#[test]
fn an_axis_may_repeat_what_is_in_memory_once() {
    let device = device();
    let [m, n, k] = [200, 136, 104];
    let one = matrix::<bf16, 2>(&device, 1, [1, k]);
    let b = matrix::<bf16, 2>(&device, 2, [k, n]);
    let a = DeviceArray::<bf16, 2>::new(one.on.buffer().slice(..).unwrap(), 0, [m, k], [0, 1]).unwrap();
    let mut c = DeviceArray::<bf16, 2>::zeros(&device, [m, n]).unwrap();
    plain::<bf16, f32, bf16, 128, 128, 64>(&a, &b.on, &mut c).run().unwrap();
    close("one row", &c.download().unwrap(), &product(&one.wide, &b.wide, [1, n, k]).repeat(m));

    let (a, b) = (matrix::<f16, 3>(&device, 1, [1, m, k]), matrix::<f16, 2>(&device, 2, [k, n]));
    let repeated =
        DeviceArray::<f16, 3>::new(a.on.buffer().slice(..).unwrap(), 0, [3, m, k], [0, k, 1]).unwrap();
    let mut c = DeviceArray::<f32, 3>::zeros(&device, [3, m, n]).unwrap();
    batched(&repeated, &b.on, &mut c).run().unwrap();
    close("one matrix", &c.download().unwrap(), &product(&a.wide, &b.wide, [m, n, k]).repeat(3));
}
