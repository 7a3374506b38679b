//! The powers of scores, and what a thread keeps of its rows meanwhile (FlashAttention).

use girih_layout::Lay;
use girih_tensor::{DType, Tensor};

use super::rows::{ROWS, row_of};
use crate::algorithm::{fill, read, transform, write};
use crate::builder::{Builder, Cond};
use crate::sizes::extent;
use crate::{Error, Rmem, Scalar};

const LEAST: f64 = f64::NEG_INFINITY;

/// The greatest scores of a thread's two rows so far, in units of the exponent of 2, and the thread's part of the sums of powers.
pub(super) struct Softmax {
    greatest: Tensor<Rmem>, // Rows
    sums: Tensor<Rmem>,     // Rows
}

/// What is subtracted from scores: their maximum, or 0 where that is negative infinity.
fn reference(b: &mut Builder, greatest: &Scalar) -> Result<Scalar, Error> {
    b.hold(&Scalar::new(DType::F32, 0.0).select(&greatest.equals(LEAST), greatest))
}

/// Combines a scalar of the four lanes that have the same rows.
fn across(
    b: &mut Builder,
    scalar: &Scalar,
    op: impl Fn(&Scalar, &Scalar) -> Scalar,
) -> Result<Scalar, Error> {
    let mut result = b.hold(scalar)?;
    for lanes in [1, 2] {
        let other = b.shfl_xor(&result, lanes)?;
        result = b.hold(&op(&result, &other))?;
    }
    Ok(result)
}

/// Multiplies the values of the rows of a fragment by these factors.
pub(super) fn scale_rows(
    b: &mut Builder,
    values: &Tensor<Rmem>,
    factors: &[Scalar; ROWS],
) -> Result<(), Error> {
    let mut value = 0;
    transform(b, &[values], values, |_, x| {
        value += 1;
        Ok(&x[0] * &factors[row_of(value - 1)])
    })
}

impl Softmax {
    pub(super) fn new(b: &mut Builder) -> Result<Softmax, Error> {
        let mut rows = |value| -> Result<Tensor<Rmem>, Error> {
            let rows = Rmem::tensor(b, DType::F32, extent(ROWS as i64)?)?;
            fill(b, &rows, value)?;
            Ok(rows)
        };
        Ok(Softmax { greatest: rows(LEAST)?, sums: rows(0.0)? })
    }

    /// Takes the scores of a tile, in units of the exponent of 2, (FrgV,1,RestN), and returns their powers, as A of a product with V. Sums and
    /// `output`, (FrgV,1,(N,Tiles)), are scaled where a greater score has come.
    pub(super) fn take(
        &self,
        b: &mut Builder,
        scores: &Tensor<Rmem>,
        output: &Tensor<Rmem>,
        powers: &Tensor<Rmem>,
    ) -> Result<(), Error> {
        let scores = read(b, scores)?;
        let before = read(b, &self.greatest)?;
        let mut now = Vec::new();
        for row in 0..ROWS {
            let own = scores.iter().enumerate().filter(|(value, _)| row_of(*value) == row);
            let mut greatest = before[row].clone();
            for (_, score) in own {
                greatest = greatest.max(score);
            }
            now.push(across(b, &greatest, |x, y| x.max(y))?);
        }
        let grew = Cond::any((0..ROWS).map(|row| now[row].greater(&before[row])));
        let grew = b.vote_any(&grew)?;
        let references = [reference(b, &now[0])?, reference(b, &now[1])?];
        b.if_(&grew, |b| {
            let mut factors = Vec::new();
            for row in 0..ROWS {
                factors.push(b.hold(&(&before[row] - &references[row]).exp2())?);
            }
            let [first, second] = [factors[0].clone(), factors[1].clone()];
            scale_rows(b, output, &[first, second])?;
            let sums = read(b, &self.sums)?;
            let sums: Vec<Scalar> = sums.iter().zip(&factors).map(|(sum, factor)| sum * factor).collect();
            write(b, &self.sums, &sums)
        })?;
        write(b, &self.greatest, &now)?;
        let (mut sums, mut all) = (read(b, &self.sums)?, Vec::new());
        for (value, score) in scores.iter().enumerate() {
            let power = b.hold(&(score - &references[row_of(value)]).exp2())?;
            let sum = &mut sums[row_of(value)];
            *sum = b.hold(&(&*sum + &power))?;
            all.push(power.to(powers.engine().dtype()));
        }
        write(b, &self.sums, &sums)?;
        write(b, powers, &all)
    }

    /// The greatest scores and the sums of powers of the rows, of all keys that the warp has gone through.
    pub(super) fn finish(&self, b: &mut Builder) -> Result<[Vec<Scalar>; 2], Error> {
        let (greatest, own) = (read(b, &self.greatest)?, read(b, &self.sums)?);
        let mut sums = Vec::new();
        for sum in &own {
            sums.push(across(b, sum, |x, y| x + y)?);
        }
        Ok([greatest, sums])
    }
}

/// The factor by which each part of rows is multiplied where parts are put together, and the logarithm to base 2 of the sum of
/// all: `parts` are the greatest scores and the sums of powers. With a sum of 0, which has no keys, the factors are 0.
pub(super) fn weights(b: &mut Builder, parts: &[[Scalar; 2]]) -> Result<(Vec<Scalar>, Scalar), Error> {
    let mut greatest = Scalar::new(DType::F32, LEAST);
    for [part, _] in parts {
        greatest = greatest.max(part);
    }
    let greatest = b.hold(&greatest)?;
    let reference = reference(b, &greatest)?;
    let (mut powers, mut sum) = (Vec::new(), Scalar::new(DType::F32, 0.0));
    for [part, own] in parts {
        let power = b.hold(&(part - &reference).exp2())?;
        sum = own.mul_add(&power, &sum);
        powers.push(power);
    }
    let sum = b.hold(&sum)?;
    let divided = b.hold(&Scalar::new(DType::F32, 0.0).select(&sum.equals(0.0), sum.recip()))?;
    let factors = powers.iter().map(|power| power * &divided).collect();
    Ok((factors, b.hold(&(&greatest + sum.log2()))?))
}

/// Registers for the powers of a tile, (FrgV,1,RestK), of so many atoms along the keys.
pub(super) fn powers(b: &mut Builder, dtype: DType, atoms: i64) -> Result<Tensor<Rmem>, Error> {
    let values = girih_layout::lay!("(2,2,2):(1,2,4)");
    Rmem::tensor(b, dtype, Lay::concat(&[values, crate::sizes::ONE, Lay::strided([atoms], [8])?.mode(0)?])?)
}
