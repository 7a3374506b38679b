//! Arithmetic in the rounding modes that the host doesn't have: exact with integers, and rounded once.
//!
//! A finite number is a 128-bit significand and an exponent. Where bits are lost, the last remaining bit is set: it
//! stands for all the lost ones, and is far below the bits that decide the rounding.

use super::{Format, Round, power};

/// f32 with an unlimited range of small numbers: what `.ftz` looks at before subnormal results are flushed.
pub(crate) const F32_SMALL: Format = Format { mantissa: 23, min: -1000, max: 127 };
pub(crate) const F64: Format = Format { mantissa: 52, min: -1022, max: 1023 };

/// `significand * 2^exponent`, with a sign.
#[derive(Clone, Copy)]
struct Exact {
    negative: bool,
    significand: u128,
    exponent: i32,
}

/// The bit to which the highest bit of a significand is moved before bits below are shifted out. A sum needs one bit
/// more.
const TOP: u32 = 125;

impl Exact {
    /// A finite number.
    fn of(x: f64) -> Exact {
        let bits = x.to_bits();
        let (exponent, fraction) = ((bits >> 52 & 0x7ff) as i32, u128::from(bits & ((1 << 52) - 1)));
        let hidden = if exponent == 0 { 0 } else { 1 << 52 };
        Exact {
            negative: x.is_sign_negative(),
            significand: fraction | hidden,
            exponent: exponent.max(1) - 1075,
        }
    }

    /// The same number with the highest bit of its significand at [`TOP`]; zero is unchanged.
    fn normal(self) -> Exact {
        let Some(top) = self.significand.checked_ilog2() else { return self };
        let shift = TOP as i32 - top as i32;
        // A significand is at most a product of two, so that no bit is above the top.
        Exact {
            significand: self.significand << shift.max(0),
            exponent: self.exponent - shift.max(0),
            ..self
        }
    }

    fn product(self, by: Exact) -> Exact {
        Exact {
            negative: self.negative != by.negative,
            significand: self.significand * by.significand,
            exponent: self.exponent + by.exponent,
        }
    }

    fn sum(self, other: Exact) -> Exact {
        let (a, b) = (self.normal(), other.normal());
        if a.significand == 0 || b.significand == 0 {
            return if a.significand == 0 { b } else { a };
        }
        let (a, b) = if a.exponent >= b.exponent { (a, b) } else { (b, a) };
        let low = sticky_shift(b.significand, (a.exponent - b.exponent) as u32);
        if a.negative == b.negative {
            return Exact { significand: a.significand + low, ..a };
        }
        let negative = if a.significand >= low { a.negative } else { b.negative };
        Exact { negative, significand: a.significand.abs_diff(low), ..a }
    }

    fn quotient(self, by: Exact) -> Exact {
        let a = self.normal();
        let (quotient, rest) = (a.significand / by.significand, a.significand % by.significand);
        Exact {
            negative: self.negative != by.negative,
            significand: quotient | u128::from(rest != 0),
            exponent: a.exponent - by.exponent,
        }
    }

    fn root(self) -> Exact {
        let a = self.normal();
        // The exponent must be even, as it is halved.
        let (significand, exponent) = if a.exponent % 2 == 0 {
            (a.significand, a.exponent)
        } else {
            (a.significand << 1, a.exponent - 1)
        };
        let root = significand.isqrt();
        Exact {
            negative: false,
            significand: root | u128::from(root * root != significand),
            exponent: exponent / 2,
        }
    }

    /// Rounds to a number of `format`.
    fn round(self, format: Format, mode: Round) -> f64 {
        let signed = |magnitude: f64| if self.negative { -magnitude } else { magnitude };
        let Some(top) = self.significand.checked_ilog2() else { return signed(0.0) };
        let exponent = top as i32 + self.exponent;
        let quantum = exponent.max(format.min) - format.mantissa;
        let shift = quantum - self.exponent;
        let magnitude = if shift <= 0 {
            self.significand << -shift
        } else {
            let kept = self.significand.checked_shr(shift as u32).unwrap_or(0);
            let rest = self.significand ^ kept.checked_shl(shift as u32).unwrap_or(0);
            let half = 1u128.checked_shl(shift as u32 - 1).unwrap_or(u128::MAX);
            let up = match mode {
                Round::Nearest => rest > half || rest == half && kept & 1 == 1,
                Round::Away => rest >= half,
                Round::Zero => false,
                Round::Down => self.negative && rest != 0,
                Round::Up => !self.negative && rest != 0,
            };
            kept + u128::from(up)
        };
        let limit = 1u128 << (format.mantissa + 1);
        if exponent > format.max || exponent == format.max && magnitude == limit {
            let outward = match mode {
                Round::Nearest | Round::Away => true,
                Round::Zero => false,
                Round::Down => self.negative,
                Round::Up => !self.negative,
            };
            let largest = power(format.max) * (2.0 - power(-format.mantissa));
            return signed(if outward { f64::INFINITY } else { largest });
        }
        // This is exact: the significand has at most 53 bits, and 2^quantum is a number, normal or subnormal.
        let unit = if quantum < F64.min { f64::from_bits(1 << (quantum + 1074)) } else { power(quantum) };
        signed(magnitude as f64 * unit)
    }
}

/// Shifts right; the last bit is set if any set bit is shifted out.
fn sticky_shift(bits: u128, by: u32) -> u128 {
    match by {
        0 => bits,
        128.. => u128::from(bits != 0),
        _ => bits >> by | u128::from(bits << (128 - by) != 0),
    }
}

/// `a * b + c`. If the exact sum is zero and the mode rounds down, the result is -0 unless both terms are +0.
pub(crate) fn fma(a: f64, b: f64, c: f64, format: Format, mode: Round) -> f64 {
    if !(a.is_finite() && b.is_finite() && c.is_finite()) {
        return a.mul_add(b, c);
    }
    let (product, term) = (Exact::of(a).product(Exact::of(b)), Exact::of(c));
    let sum = product.sum(term);
    if sum.significand > 0 {
        return sum.round(format, mode);
    }
    let negative = if product.negative == term.negative { term.negative } else { mode == Round::Down };
    if negative { -0.0 } else { 0.0 }
}

/// `a + b`
pub(crate) fn add(a: f64, b: f64, format: Format, mode: Round) -> f64 {
    fma(a, 1.0, b, format, mode)
}

/// `a * b`
pub(crate) fn mul(a: f64, b: f64, format: Format, mode: Round) -> f64 {
    if !(a.is_finite() && b.is_finite()) {
        return a * b;
    }
    Exact::of(a).product(Exact::of(b)).round(format, mode)
}

/// `a / b`
pub(crate) fn div(a: f64, b: f64, format: Format, mode: Round) -> f64 {
    if !(a.is_finite() && b.is_finite()) || b == 0.0 {
        return a / b;
    }
    Exact::of(a).quotient(Exact::of(b)).round(format, mode)
}

/// The square root.
pub(crate) fn sqrt(a: f64, format: Format, mode: Round) -> f64 {
    if !(a.is_finite() && a > 0.0) {
        return a.sqrt();
    }
    Exact::of(a).root().round(format, mode)
}

/// An integer, rounded to a number of `format`.
pub(crate) fn integer(negative: bool, magnitude: u64, format: Format, mode: Round) -> f64 {
    let exact = Exact { negative, significand: magnitude.into(), exponent: 0 };
    if magnitude == 0 { 0.0 } else { exact.round(format, mode) }
}
