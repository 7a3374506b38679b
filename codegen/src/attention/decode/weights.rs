//! Scale factors that merge partial results of warps and of CTAs (split-KV combine).

use girih_layout::Lay;
use girih_tensor::{DType, Tensor};

use super::rows::{ROWS, row_of};
use crate::algorithm::transform;
use crate::attention::rows::Reference;
use crate::builder::Builder;
use crate::{Error, Rmem, Scalar};

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

/// The factor of the values of each split of a row, and the maximum and the sum of exponentials of the whole row: `parts` are maxima in units of scores, which are
/// multiplied by `scale` to become exponents of 2, and sums of exponentials relative to these. With a sum of 0, which has no keys, the factors are 0.
pub(super) fn weights(
    b: &mut Builder,
    scale: &Scalar,
    parts: &[[Scalar; 2]],
) -> Result<(Vec<Scalar>, [Scalar; 2]), Error> {
    let mut greatest = Scalar::new(DType::F32, f64::NEG_INFINITY);
    for [maximum, _] in parts {
        greatest = greatest.max(maximum);
    }
    let greatest = b.hold(&greatest)?;
    let reference = Reference::of(&greatest, scale);
    let (mut powers, mut sum) = (Vec::new(), Scalar::new(DType::F32, 0.0));
    for [maximum, own] in parts {
        let power = b.hold(&reference.factor(&Reference::of(maximum, scale), scale))?;
        sum = own.mul_add(&power, &sum);
        powers.push(power);
    }
    let sum = b.hold(&sum)?;
    let divided = b.hold(&Scalar::new(DType::F32, 0.0).select(&sum.equals(0.0), sum.recip()))?;
    let factors = powers.iter().map(|power| power * &divided).collect();
    Ok((factors, [greatest, sum]))
}

/// Registers for the exponentials of a tile, (FrgV,1,RestK), of this many atoms along the keys.
pub(super) fn powers(b: &mut Builder, dtype: DType, atoms: i64) -> Result<Tensor<Rmem>, Error> {
    let values = girih_layout::lay!("(2,2,2):(1,2,4)");
    Rmem::tensor(b, dtype, Lay::concat(&[values, crate::sizes::ONE, Lay::strided([atoms], [8])?.mode(0)?])?)
}
