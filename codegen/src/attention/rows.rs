//! The softmax step of all forms: the reference that exponentials of a row subtract, and the division by their sum.
//!
//! The exponential of a score is `2^((score - origin) Scale - shift)`. Any reference gives the same softmax as long as all keys of a row have the same one.
//!
//! - A row is **near** if its maximum times the scale is small. Its origin is 0 and its shift is that product. `fma(score, Scale, -shift)` is then rounded
//!   once, and the rounding error of the shift is common to all exponentials of the row.
//! - Otherwise the row is **far**: the rounding error of the product would make exponentials overflow or vanish. Its origin is the maximum and its shift
//!   is 0, so the difference of the scores is rounded once, before it is scaled.

use std::f64::consts::{LN_2, LOG2_E};

use girih_ptx::Type;
use girih_tensor::{DType, Space};

use crate::builder::{Builder, Cond};
use crate::{Error, Expr, Scalar};

/// The shifts of near rows are smaller. They are rounded by 2^-5 at most, by which exponents of 2 are off.
const NEAR: f64 = (1 << 20) as f64;

/// The reference of a row's exponentials: one number that is either the origin or the shift.
#[derive(Clone, Debug)]
pub(super) struct Reference {
    /// The origin of a far row, in units of scores, or the shift of a near row, an exponent of 2: negative infinity for a row that sees no key yet.
    pub number: Scalar,
    pub is_far: Cond,
}

/// Whether a row of this shift is near.
pub(super) fn is_near(shift: &Scalar) -> Cond {
    shift.abs().less(NEAR)
}

/// A shift as a number that can be subtracted: the exponentials of a row that sees no key yet are 0, whatever they relate to.
pub(super) fn finite_shift(shift: &Scalar) -> Scalar {
    Scalar::new(DType::F32, 0.0).select(&shift.equals(f64::NEG_INFINITY), shift)
}

impl Reference {
    /// The reference of a row with this maximum, which is negative infinity if it sees no key.
    pub(super) fn of(maximum: &Scalar, scale: &Scalar) -> Reference {
        Reference::choose(maximum, maximum * scale)
    }

    fn choose(maximum: &Scalar, shift: Scalar) -> Reference {
        let is_far = Cond::all([Cond::not(is_near(&shift)), maximum.differs(f64::NEG_INFINITY)]);
        Reference { number: maximum.select(&is_far, shift), is_far }
    }

    /// The reference of the row once it has seen more scores, of which `highest` is the largest one.
    ///
    /// # Errors
    /// As [`Builder::scalar`].
    #[track_caller]
    pub(super) fn raised(
        &self,
        b: &mut Builder,
        highest: &Scalar,
        scale: &Scalar,
    ) -> Result<Reference, Error> {
        // The maximum of a near row is not kept. A shift that is not near is that of the new scores.
        let maximum = b.hold(&self.number.max(highest).select(&self.is_far, highest))?;
        let shift = &maximum * scale;
        let shift = b.hold(&shift.select(&self.is_far, self.number.max(&shift)))?;
        let raised = Reference::choose(&maximum, shift);
        Ok(Reference { number: b.hold(&raised.number)?, is_far: raised.is_far })
    }

    /// The number that is subtracted from scores before they are scaled.
    pub(super) fn origin(&self) -> Scalar {
        self.number.select(&self.is_far, 0.0)
    }

    /// The number that is subtracted from scaled scores: negative infinity for a row that has seen no key.
    fn shift(&self) -> Scalar {
        Scalar::new(DType::F32, 0.0).select(&self.is_far, &self.number)
    }

    /// The shift as a number that can be subtracted.
    pub(super) fn finite_shift(&self) -> Scalar {
        finite_shift(&self.shift())
    }

    /// The factor that rescales exponentials from the reference `old` to this one. Two of the four numbers are 0, so that the exponent is rounded
    /// once.
    pub(super) fn factor(&self, old: &Reference, scale: &Scalar) -> Scalar {
        let shifts = old.shift() - self.finite_shift();
        (old.origin() - self.origin()).mul_add(scale, shifts).exp2_ftz()
    }
}

/// A row whose exponentials are all added up: `sum` is their sum over all lanes.
#[derive(Clone, Debug)]
pub(super) struct Total {
    pub reference: Reference,
    pub sum: Scalar,
}

impl Total {
    /// The division of the row's accumulators.
    ///
    /// # Errors
    /// As [`Builder::scalar`].
    #[track_caller]
    pub(super) fn division(&self, b: &mut Builder) -> Result<Division, Error> {
        let inverse = b.hold(&self.sum.recip_approx())?;
        Ok(Division { inverse, is_empty: self.sum.equals(0.0) })
    }

    /// The division of the row's accumulators by a sum that a sink has joined.
    ///
    /// # Errors
    /// As [`Builder::scalar`].
    #[track_caller]
    pub(super) fn division_with(
        &self,
        b: &mut Builder,
        scale: &Scalar,
        sink: Option<&Sink>,
    ) -> Result<Division, Error> {
        let Division { mut inverse, is_empty } = self.division(b)?;
        if let Some(sink) = sink {
            let share = sink.share(b, &self.lse(scale))?;
            inverse = b.hold(&(inverse * share))?;
        }
        Ok(Division { inverse, is_empty })
    }

    /// The logarithm of the sum of the exponentials of the scores, to the base e.
    pub(super) fn lse(&self, scale: &Scalar) -> Scalar {
        // To the base 2 a logarithm might overflow that f32 represents to the base e.
        let rest = (self.sum.log2() + self.reference.shift()) * LN_2;
        (self.reference.origin() * LN_2).mul_add_to_zero(scale, rest)
    }
}

/// A logit that joins the sum of a row's exponentials and has no value: one for each query head, in units of scaled scores. It joins when the row
/// ends, as a factor of the quotients, which needs no common reference with the scores.
#[derive(Clone, Debug)]
pub(super) struct Sink(Scalar);

impl Sink {
    /// Reads the logit of a query head, if the kernel has the sinks at this address.
    ///
    /// # Errors
    /// As [`Builder::load`].
    #[track_caller]
    pub(super) fn of_head(b: &mut Builder, sinks: Option<&Expr>, head: &Expr) -> Result<Option<Sink>, Error> {
        let Some(sinks) = sinks else { return Ok(None) };
        let logit = b.reg(Type::F32);
        b.load(Space::Gmem, std::slice::from_ref(&logit), &(sinks + &(head * 4)), &Cond::Always)?;
        b.scalar_in(&logit, DType::F32).map(|logit| Some(Sink(logit)))
    }

    /// The share of the keys in the sum, if this is their logsumexp: 0 for a row that sees no key, and 1 with a sink of negative infinity.
    ///
    /// # Errors
    /// As [`Builder::scalar`].
    #[track_caller]
    pub(super) fn share(&self, b: &mut Builder, lse: &Scalar) -> Result<Scalar, Error> {
        let lse = b.hold(lse)?;
        let share = (((&self.0 - &lse) * LOG2_E).exp2_ftz() + 1.0).recip_ftz();
        b.hold(&Scalar::new(DType::F32, 0.0).select(&lse.equals(f64::NEG_INFINITY), share))
    }

    /// The logsumexp of the keys and of the sink, if there is one.
    ///
    /// # Errors
    /// As [`Builder::scalar`].
    #[track_caller]
    pub(super) fn join(sink: Option<&Sink>, b: &mut Builder, lse: Scalar) -> Result<Scalar, Error> {
        let Some(Sink(logit)) = sink else { return Ok(lse) };
        let lse = b.hold(&lse)?;
        let greatest = b.hold(&logit.max(&lse))?;
        let rest = (((logit - &lse).abs() * -LOG2_E).exp2_ftz() + 1.0).log2();
        // The difference of two negative infinities is no number.
        let joined = rest.mul_add(LN_2, &greatest);
        b.hold(&greatest.select(&greatest.equals(f64::NEG_INFINITY), joined))
    }
}

/// The division of accumulators by a sum of exponentials.
#[derive(Clone, Debug)]
pub(super) struct Division {
    inverse: Scalar,
    is_empty: Cond,
}

impl Division {
    /// The quotient. A row that sees no key has exponentials of 0, and is 0 even where values are not numbers.
    pub(super) fn of(&self, sum: &Scalar) -> Scalar {
        Scalar::new(DType::F32, 0.0).select(&self.is_empty, sum * &self.inverse)
    }
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
