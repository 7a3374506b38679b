//! Products with weights of 8 bits that are converted, and have scales.

use girih_device::Device;
use girih_tensor::Element;
use girih_tile::dtype::Const;
use girih_tile::dtype::number::encode;
use girih_tile::ir::Func;
use girih_tile::launch::{DeviceArray, HostElement, Launch};
use girih_tile::prelude::*;
use girih_tile_reference::{self as reference, ArrayData, float};

use super::launched::{close, device, matrix};

/// Sums of products with the numbers of `w`, which are scaled before they are added: a scale for each row of `w` and 128 elements of K.
#[kernel]
fn behind<W: Elem, S: Elem, const BM: usize, const BN: usize>(
    x: &Array<bf16, 2>,
    w: &Array<W, 2>,
    scale: &Array<S, 2>,
    y: &mut Array<bf16, 2>,
) {
    let (i, j) = (bid(0), bid(1));
    let mut acc = zeros::<f32>([BM, BN]);
    for k in 0..cdiv(x.dim(1), 128) {
        let tokens = x.tiles([BM, 128]).padding(Padding::Zero).load((i, k));
        let weights = w.tiles([BN, 128]).padding(Padding::Zero).load((j, k)).to::<bf16>();
        let scale = scale.tiles([BN, 1]).padding(Padding::Zero).load((j, k)).to::<f32>();
        acc += mma(tokens, weights.t(), zeros::<f32>([BM, BN])) * scale.t();
    }
    y.tiles_mut([BM, BN]).store((i, j), acc.to::<bf16>());
}

/// The same by a fused multiply-add, with a bias for each column.
#[kernel]
fn fused<W: Elem, S: Elem, const BM: usize, const BN: usize>(
    x: &Array<bf16, 2>,
    w: &Array<W, 2>,
    scale: &Array<S, 2>,
    bias: &Array<f32, 1>,
    y: &mut Array<f32, 2>,
) {
    let (i, j) = (bid(0), bid(1));
    let mut acc = zeros::<f32>([BM, BN]);
    for k in 0..cdiv(x.dim(1), 128) {
        let tokens = x.tiles([BM, 128]).padding(Padding::Zero).load((i, k));
        let weights = w.tiles([BN, 128]).padding(Padding::Zero).load((j, k)).to::<f32>().to::<bf16>();
        let scale = scale.tiles([BN, 1]).padding(Padding::Zero).load((j, k)).to::<f32>().reshape([1, BN]);
        acc = fma(mma(tokens, weights.t(), zeros::<f32>([BM, BN])), scale, acc);
    }
    y.tiles_mut([BM, BN]).store((i, j), acc + bias.tiles([BN]).load((j,)));
}

/// Products with weights that are scaled first.
#[kernel]
fn before<W: Elem, S: Elem, const BM: usize, const BN: usize>(
    x: &Array<bf16, 2>,
    w: &Array<W, 2>,
    scale: &Array<S, 2>,
    y: &mut Array<bf16, 2>,
) {
    let (i, j) = (bid(0), bid(1));
    let mut acc = zeros::<f32>([BM, BN]);
    for k in 0..cdiv(x.dim(1), 128) {
        let tokens = x.tiles([BM, 128]).padding(Padding::Zero).load((i, k));
        let weights = w.tiles([BN, 128]).padding(Padding::Zero).load((j, k)).to::<f32>();
        let weights = weights * scale.tiles([BN, 1]).padding(Padding::Zero).load((j, k)).to::<f32>();
        acc = mma(tokens, weights.to::<bf16>().t(), acc);
    }
    y.tiles_mut([BM, BN]).store((i, j), acc.to::<bf16>());
}

/// The same in bf16, of weights that come first: `y` is the transpose.
#[kernel]
fn first<W: Elem, const BM: usize, const BN: usize>(
    w: &Array<W, 2>,
    scale: &Array<bf16, 2>,
    x: &Array<bf16, 2>,
    y: &mut Array<bf16, 2>,
) {
    let (i, j) = (bid(0), bid(1));
    let mut acc = zeros::<f32>([BN, BM]);
    for k in 0..cdiv(x.dim(1), 128) {
        let weights = w.tiles([BN, 128]).padding(Padding::Zero).load((i, k)).to::<bf16>();
        let weights = weights * scale.tiles([BN, 1]).padding(Padding::Zero).load((i, k));
        acc = mma(weights, x.tiles([BM, 128]).padding(Padding::Zero).load((j, k)).t(), acc);
    }
    y.tiles_mut([BN, BM]).store((i, j), acc.to::<bf16>());
}

/// Weights that come first, with a number for each of their rows, one for each token, and one for each of both.
#[kernel]
fn first_fused<const BM: usize, const BN: usize>(
    w: &Array<i8, 2>,
    scale: &Array<f32, 2>,
    x: &Array<bf16, 2>,
    of_row: &Array<f32, 1>,
    of_token: &Array<f32, 1>,
    before: &Array<f32, 2>,
    y: &mut Array<f32, 2>,
) {
    let (i, j) = (bid(1), bid(0));
    let mut acc = zeros::<f32>([BN, BM]);
    for k in 0..cdiv(x.dim(1), 128) {
        let weights = w.tiles([BN, 128]).padding(Padding::Zero).load((i, k)).to::<bf16>();
        let tokens = x.tiles([BM, 128]).padding(Padding::Zero).load((j, k));
        acc += mma(weights, tokens.t(), zeros::<f32>([BN, BM]))
            * scale.tiles([BN, 1]).padding(Padding::Zero).load((i, k));
    }
    let rows = of_row.tiles([BN]).load((i,)).reshape([BN, 1]);
    let tokens = of_token.tiles([BM]).load((j,));
    let before = before.tiles([BN, BM]).load((i, j));
    y.tiles_mut([BN, BM]).store((i, j), (acc + rows) * tokens + before);
}

/// An array as the reference takes it.
pub(super) fn data<T: HostElement + Element, const R: usize>(array: &DeviceArray<T, R>) -> ArrayData {
    let bits = |x: &T| match T::DTYPE.is_float() {
        true => encode(T::DTYPE, Const::Float(x.to_f64())),
        false => encode(T::DTYPE, Const::Int(x.to_f64() as i128)),
    };
    let bits: Vec<u64> = array.download().unwrap().iter().map(bits).collect();
    ArrayData::dense(T::DTYPE, &array.extents().map(|n| n as i64), &bits)
}

/// Runs a launch. That its result, the last array, is wanted, the reference evaluator says too.
pub(super) fn check<T: HostElement + Element>(
    launch: Launch<'_>,
    func: Func,
    grid: [u32; 2],
    arrays: Vec<ArrayData>,
    wanted: &[f64],
) {
    launch.run().unwrap();
    let meant = meant::<T>(&func, grid, arrays);
    close("the reference", &meant.iter().map(|&x| T::from_f64(x)).collect::<Vec<_>>(), wanted);
}

/// The last array as the reference evaluator leaves it.
fn meant<T: Element>(func: &Func, grid: [u32; 2], mut arrays: Vec<ArrayData>) -> Vec<f64> {
    reference::run(func, [grid[0], grid[1], 1], &mut arrays, &[]).unwrap();
    let result = arrays.pop().unwrap();
    result.elements().unwrap().iter().map(|&bits| float::decode(T::DTYPE, bits)).collect()
}

const MNK: [usize; 3] = [40, 136, 272];

/// Tokens, weights and scales, of which a group's follow each other, and the products of the scaled weights.
struct Weights<W: HostElement, S: HostElement> {
    x: DeviceArray<bf16, 2>,
    w: DeviceArray<W, 2>,
    scale: DeviceArray<S, 2>,
    wanted: Vec<f64>,
}

fn weights<W: HostElement + Element, S: HostElement + Element>(device: &Device) -> Weights<W, S> {
    let [m, n, k] = MNK;
    let (x, w) = (matrix::<bf16, 2>(device, 1, [m, k]), matrix::<W, 2>(device, 2, [n, k]));
    let scale = matrix::<S, 2>(device, 3, [k.div_ceil(128), n]);
    let term =
        |i: usize, j: usize, l: usize| x.wide[i * k + l] * w.wide[j * k + l] * scale.wide[l / 128 * n + j];
    let wanted = (0..m * n).map(|at| (0..k).map(|l| term(at / n, at % n, l)).sum()).collect();
    Weights { x: x.on, w: w.on, scale: scale.on.permute([1, 0]).unwrap(), wanted }
}

#[test]
fn weights_with_scales_are_right() {
    let device = device();
    let [m, n, _] = MNK;
    macro_rules! all {
        ($w:ty, $s:ty, $($kernel:ident)*) => {{
            let Weights { x, w, scale, wanted } = weights::<$w, $s>(&device);
            let grid = [2, 2];
            macro_rules! run {
                ($name:ident) => {{
                    let mut y = DeviceArray::<bf16, 2>::zeros(&device, [m, n]).unwrap();
                    let arrays = vec![data(&x), data(&w), data(&scale), data(&y)];
                    let func = $name::<$w, $s, 32, 128>::ir().unwrap();
                    let launch = $name::<$w, $s, 32, 128>(&x, &w, &scale, &mut y);
                    check::<bf16>(launch, func, grid, arrays, &wanted);
                    close("the launch", &y.download().unwrap(), &wanted);
                }};
            }
            $(run!($kernel);)*
        }};
    }
    all!(i8, f32, behind before);
    all!(i8, bf16, behind);
    all!(F8E4M3, f32, before);
    all!(F8E4M3, bf16, behind);
}

#[test]
fn weights_have_epilogues_and_may_come_first() {
    let device = device();
    let [m, n, _] = MNK;
    let Weights { x, w, scale, wanted } = weights::<i8, bf16>(&device);
    let bias = matrix::<f32, 1>(&device, 4, [n]);
    let mut y = DeviceArray::<f32, 2>::zeros(&device, [m, n]).unwrap();
    let arrays = vec![data(&x), data(&w), data(&scale), data(&bias.on), data(&y)];
    let func = fused::<i8, bf16, 64, 64>::ir().unwrap();
    let launch = fused::<i8, bf16, 64, 64>(&x, &w, &scale, &bias.on, &mut y);
    let with_bias: Vec<f64> = wanted.iter().enumerate().map(|(at, y)| y + bias.wide[at % n]).collect();
    check::<f32>(launch, func, [1, 3], arrays, &with_bias);
    close("the launch", &y.download().unwrap(), &with_bias);

    let mut y = DeviceArray::<bf16, 2>::zeros(&device, [n, m]).unwrap();
    let arrays = vec![data(&w), data(&scale), data(&x), data(&y)];
    let func = first::<i8, 16, 256>::ir().unwrap();
    let launch = first::<i8, 16, 256>(&w, &scale, &x, &mut y);
    let turned: Vec<f64> = (0..n * m).map(|at| wanted[at % m * n + at / m]).collect();
    check::<bf16>(launch, func, [1, 3], arrays, &turned);
    close("the launch", &y.download().unwrap(), &turned);
}

/// What stands after a product that is computed as its transpose is read as the program has it.
#[test]
fn weights_that_come_first_have_epilogues() {
    let device = device();
    let [m, n, _] = MNK;
    let Weights { x, w, scale, wanted } = weights::<i8, f32>(&device);
    let (of_row, of_token) = (matrix::<f32, 1>(&device, 4, [n]), matrix::<f32, 1>(&device, 5, [m]));
    let before = matrix::<f32, 2>(&device, 6, [n, m]);
    let mut y = DeviceArray::<f32, 2>::zeros(&device, [n, m]).unwrap();
    let mut arrays = vec![data(&w), data(&scale), data(&x), data(&of_row.on), data(&of_token.on)];
    arrays.extend([data(&before.on), data(&y)]);
    let func = first_fused::<32, 64>::ir().unwrap();
    let launch = first_fused::<32, 64>(&w, &scale, &x, &of_row.on, &of_token.on, &before.on, &mut y);
    let value = |at: usize| {
        let (row, token) = (at / m, at % m);
        (wanted[token * n + row] + of_row.wide[row]) * of_token.wide[token] + before.wide[at]
    };
    let all: Vec<f64> = (0..n * m).map(value).collect();
    check::<f32>(launch, func, [2, 3], arrays, &all);
    close("the launch", &y.download().unwrap(), &all);
}

/// Scales at another pitch than that of TMA, and beside a group too many.
#[test]
fn scales_of_any_pitch_are_right() {
    let device = device();
    let [m, n, _] = MNK;
    let Weights { x, w, scale, wanted } = weights::<i8, f32>(&device);
    let (rows, groups) = (scale.extents()[0], scale.extents()[1]);
    let whole = DeviceArray::<f32, 2>::zeros(&device, [groups + 1, rows + 4]).unwrap();
    let values = scale.permute([1, 0]).unwrap().download().unwrap();
    let mut padded = vec![9.0f32; (groups + 1) * (rows + 4)];
    values
        .chunks(rows)
        .zip(padded.chunks_mut(rows + 4))
        .for_each(|(from, to)| to[..rows].copy_from_slice(from));
    whole.buffer().write(&padded).unwrap();
    let far = whole.slice(1, 0..rows).unwrap().permute([1, 0]).unwrap();
    let more =
        DeviceArray::<f32, 2>::upload(&device, &[values, vec![9.0; rows]].concat(), [groups + 1, rows]);
    let more = more.unwrap().permute([1, 0]).unwrap();
    for scale in [&far, &more] {
        let mut y = DeviceArray::<bf16, 2>::zeros(&device, [m, n]).unwrap();
        before::<i8, f32, 32, 128>(&x, &w, scale, &mut y).run().unwrap();
        close("scaled before", &y.download().unwrap(), &wanted);
        let mut y = DeviceArray::<bf16, 2>::zeros(&device, [m, n]).unwrap();
        behind::<i8, f32, 32, 128>(&x, &w, scale, &mut y).run().unwrap();
        close("scaled behind", &y.download().unwrap(), &wanted);
    }
}

/// Accumulators of no products, and no scales.
#[test]
fn products_of_no_columns_are_zeros() {
    let device = device();
    let (m, n) = (8, 16);
    let x = DeviceArray::<bf16, 2>::zeros(&device, [m, 128]).unwrap().slice(1, 0..0).unwrap();
    let w = DeviceArray::<i8, 2>::zeros(&device, [n, 128]).unwrap().slice(1, 0..0).unwrap();
    let scale = DeviceArray::<f32, 2>::zeros(&device, [4, n]).unwrap().slice(0, 0..0).unwrap();
    let scale = scale.permute([1, 0]).unwrap();
    let ones = vec![bf16::ONE; m * n];
    let mut y = DeviceArray::<bf16, 2>::upload(&device, &ones, [m, n]).unwrap();
    behind::<i8, f32, 32, 128>(&x, &w, &scale, &mut y).run().unwrap();
    assert_eq!(y.download().unwrap(), vec![bf16::ZERO; m * n]);
    let mut y = DeviceArray::<bf16, 2>::upload(&device, &ones, [m, n]).unwrap();
    behind::<i8, f32, 32, 128>(&x, &w, &scale, &mut y).prepare().unwrap().run().unwrap();
    assert_eq!(y.download().unwrap(), vec![bf16::ZERO; m * n]);
}

/// A program with parts that can be others: what is multiplied, and by what it is scaled.
macro_rules! program {
    ($name:ident, |$x:ident, $w:ident, $s:ident, $k:ident, $acc:ident| $body:expr) => {
        #[kernel]
        fn $name($x: &Array<bf16, 2>, $w: &Array<i8, 2>, $s: &Array<f32, 2>, y: &mut Array<bf16, 2>) {
            let mut $acc = zeros::<f32>([32, 128]);
            for $k in 0..cdiv($x.dim(1), 128) {
                $acc = $body;
            }
            y.tiles_mut([32, 128]).store((bid(0), bid(1)), $acc.to::<bf16>());
        }
    };
}

program!(unscaled, |x, w, s, k, acc| {
    let w = w.tiles([128, 128]).padding(Padding::Zero).load((bid(1), k)).to::<bf16>();
    mma(x.tiles([32, 128]).padding(Padding::Zero).load((bid(0), k)), w.t(), acc)
});
program!(twice, |x, w, s, k, acc| {
    let s = s.tiles([128, 1]).padding(Padding::Zero).load((bid(1), k));
    let w = (w.tiles([128, 128]).padding(Padding::Zero).load((bid(1), k)).to::<f32>() * s).to::<bf16>();
    acc + mma(x.tiles([32, 128]).padding(Padding::Zero).load((bid(0), k)), w.t(), zeros::<f32>([32, 128]))
        * s.t()
});
program!(along_k, |x, w, s, k, acc| {
    let s = s.tiles([1, 128]).padding(Padding::Zero).load((bid(1), k));
    let w = (w.tiles([128, 128]).padding(Padding::Zero).load((bid(1), k)).to::<f32>() * s).to::<bf16>();
    mma(x.tiles([32, 128]).padding(Padding::Zero).load((bid(0), k)), w.t(), acc)
});
program!(elsewhere, |x, w, s, k, acc| {
    let s = s.tiles([128, 1]).padding(Padding::Zero).load((bid(1), k + 1));
    let w = w.tiles([128, 128]).padding(Padding::Zero).load((bid(1), k)).to::<bf16>();
    acc + mma(x.tiles([32, 128]).padding(Padding::Zero).load((bid(0), k)), w.t(), zeros::<f32>([32, 128]))
        * s.t()
});
program!(rounded, |x, w, s, k, acc| {
    let s = s.tiles([128, 1]).padding(Padding::Zero).load((bid(1), k)).to::<bf16>();
    let w = w.tiles([128, 128]).padding(Padding::Zero).load((bid(1), k)).to::<bf16>() * s;
    mma(x.tiles([32, 128]).padding(Padding::Zero).load((bid(0), k)), w.t(), acc)
});
program!(shifted, |x, w, s, k, acc| {
    let s = s.tiles([128, 1]).padding(Padding::Zero).load((bid(1), k));
    let w = (w.tiles([128, 128]).padding(Padding::Zero).load((bid(1), k)).to::<f32>() * s + 1.0).to::<bf16>();
    mma(x.tiles([32, 128]).padding(Padding::Zero).load((bid(0), k)), w.t(), acc)
});

program!(wrapped, |x, w, s, k, acc| {
    let w = w.tiles([128, 128]).padding(Padding::Zero).load((bid(1), k));
    mma(x.tiles([32, 128]).padding(Padding::Zero).load((bid(0), k)), (w * w).to::<bf16>().t(), acc)
});
program!(wrapped_and_scaled, |x, w, s, k, acc| {
    let s = s.tiles([128, 1]).padding(Padding::Zero).load((bid(1), k));
    let w = w.tiles([128, 128]).padding(Padding::Zero).load((bid(1), k));
    acc + mma(
        x.tiles([32, 128]).padding(Padding::Zero).load((bid(0), k)),
        (w * w).to::<bf16>().t(),
        zeros::<f32>([32, 128]),
    ) * s.t()
});

/// What else may be computed of weights and scales.
#[test]
fn functions_of_weights_are_those_of_the_reference() {
    let device = device();
    let [m, n, _] = MNK;
    let Weights { x, w, scale, .. } = weights::<i8, f32>(&device);
    macro_rules! all {
        ($($kernel:ident)*) => {
            $({
                let mut y = DeviceArray::<bf16, 2>::zeros(&device, [m, n]).unwrap();
                let arrays = vec![data(&x), data(&w), data(&scale), data(&y)];
                let wanted = meant::<bf16>(&$kernel::ir().unwrap(), [2, 2], arrays);
                $kernel(&x, &w, &scale, &mut y).run().unwrap();
                close(stringify!($kernel), &y.download().unwrap(), &wanted);
            })*
        };
    }
    all!(unscaled twice along_k elsewhere rounded shifted wrapped wrapped_and_scaled);
}
