//! The softmax of every row of a matrix, rows of up to 4096 columns at any pitch, a block a row.

use std::f64::consts::LOG2_E;

use girih::codegen::algorithm::{block_reduce, copy, fill, reduce, transform};
use girih::codegen::{Builder, Error, Gmem, Kernel, Rmem, Scalar, atom::AUTO_VECTORIZING_COPY};
use girih::device::{Device, args};
use girih::layout::{lay, tiler};
use girih::ptx::{Module, Special};
use girih::tensor::{DType, Slice};

use crate::Outcome;

/// The kernel `softmax(rows, pitch, columns, x, y)`.
pub(super) fn softmax() -> Result<Kernel, Error> {
    let mut b = Builder::new("softmax", 80, 128);
    let [rows, pitch] = b.symbols(["rows", "pitch"], |n| n.at_least(1).at_most(1 << 30))?;
    let columns = b.symbol("columns", |n| n.at_least(1).at_most(4096))?;

    let (row, thread) = (b.special(Special::CtaidX), b.special(Special::TidX));
    let tv = lay!("(128,32):(1,128)"); // (Thr,Val) -> column
    let [x, y] = ["x", "y"].map(|name| {
        let all = Gmem::matrix(&mut b, name, DType::F32, [rows, columns], pitch)?;
        let row = all.local_tile(&tiler!("<1,4096>"), (&row, Slice::at(0)))?; // (1,4096)
        Ok::<_, Error>(row.tv_partition(&tv, &thread)?) // 32
    });

    let (x, y, lowest) = (x?, y?, f64::NEG_INFINITY);
    let values = Rmem::like(&mut b, &x)?; // 32
    fill(&mut b, &values, lowest)?;
    copy(&mut b, AUTO_VECTORIZING_COPY, &x, &values)?;
    let max = reduce(&mut b, &values, Scalar::new(DType::F32, lowest), |_, max, x| Ok(max.max(x)))?;
    let max = block_reduce(&mut b, &max, |x, y| x.max(y))?;
    transform(&mut b, &[&values], &values, |_, x| Ok(((&x[0] - &max) * LOG2_E).exp2()))?;
    let sum = reduce(&mut b, &values, Scalar::new(DType::F32, 0.0), |_, sum, x| Ok(sum + x))?;
    let scale = block_reduce(&mut b, &sum, |x, y| x + y)?.recip();
    transform(&mut b, &[&values], &values, |_, x| Ok(&x[0] * &scale))?;
    copy(&mut b, AUTO_VECTORIZING_COPY, &values, &y)?;
    b.finish()
}

pub(super) fn run(device: &Device, module: &Module, [rows, columns, pitch]: [usize; 3]) -> Outcome {
    let input: Vec<f32> = (0..rows * pitch).map(|i| (i * 7919 % 1000) as f32 / 50.0 - 10.0).collect();

    let (x, y) = (device.upload(&input)?, device.upload(&vec![f32::NAN; rows * pitch])?);
    let [m, n, ld] = [rows, columns, pitch].map(|n| n as u32);
    let kernel = device.load(module)?.kernel("softmax")?;
    let args = kernel.arguments(&args![x, y, rows = m, columns = n, pitch = ld])?;
    // SAFETY: a block reads and writes `columns` elements of its row, which both buffers hold.
    unsafe { kernel.launch(&kernel.config([m, 1, 1])?, &args) }?;

    let output = y.download()?;
    for (x, y) in input.chunks(pitch).zip(output.chunks(pitch)) {
        let max = x[..columns].iter().fold(f32::NEG_INFINITY, |max, x| max.max(*x));
        let powers: Vec<f64> = x[..columns].iter().map(|x| f64::from(x - max).exp()).collect();
        let sum: f64 = powers.iter().sum();
        for (power, y) in powers.iter().zip(y) {
            let (wanted, found) = (power / sum, f64::from(*y));
            assert!((found - wanted).abs() <= 1e-5 * wanted + 1e-30, "{found}, not {wanted}");
        }
        assert!(y[columns..].iter().all(|y| y.is_nan()), "written beyond the row");
    }
    Ok(())
}
