//! What the softmaxes of all forms have in common: rows that several lanes share, and how sums of powers become results.

use girih_tensor::DType;

use crate::builder::{Builder, Cond};
use crate::{Error, Scalar};

/// A row whose scores are all weighed: `powers` is the sum of its powers of two over all lanes, each relative to `exponent`.
#[derive(Clone, Debug)]
pub(super) struct Total {
    pub exponent: Scalar,
    pub powers: Scalar,
}

impl Total {
    /// The logarithm of the sum of powers, to the base e.
    pub(super) fn lse(&self) -> Scalar {
        (self.powers.log2() + &self.exponent) * std::f64::consts::LN_2
    }
}

/// The division of weighted sums by a sum of powers.
#[derive(Clone, Debug)]
pub(super) struct Division {
    inverse: Scalar,
    is_empty: Cond,
}

impl Division {
    /// The division by the sum of a row's powers over all lanes.
    ///
    /// # Errors
    /// As [`Builder::scalar`].
    #[track_caller]
    pub(super) fn by(b: &mut Builder, powers: &Scalar) -> Result<Division, Error> {
        let inverse = b.hold(&powers.recip_approx())?;
        Ok(Division { inverse, is_empty: powers.equals(0.0) })
    }

    /// The quotient. A row that sees no key has powers of 0, and is 0 even where values are not numbers.
    pub(super) fn of(&self, sum: &Scalar) -> Scalar {
        Scalar::new(DType::F32, 0.0).select(&self.is_empty, sum * &self.inverse)
    }
}

/// A maximum that can be subtracted: that of a row that sees no key yet is negative infinity. Its powers are 0, whatever they relate to.
pub(super) fn finite(maximum: &Scalar) -> Scalar {
    Scalar::new(DType::F32, 0.0).select(&maximum.equals(f64::NEG_INFINITY), maximum)
}

/// Combines a row's scalars of all lanes that share the row, whose numbers differ by these bits. All threads of a warp take part.
///
/// # Errors
/// As [`Builder::scalar`].
#[track_caller]
pub(super) fn over_lanes(
    b: &mut Builder,
    lanes: &[u32],
    mut row: Scalar,
    op: impl Fn(&Scalar, &Scalar) -> Scalar,
) -> Result<Scalar, Error> {
    for &lane in lanes {
        let other = b.shfl_xor(&row, lane)?;
        row = b.hold(&op(&row, &other))?;
    }
    Ok(row)
}
