//! Floating-point formats of up to 64 bits, and arithmetic that is rounded once, in any direction.
//!
//! Results are computed in f64 together with the sign of what the rounding to f64 has cut off ([`Exact`]), which is enough to round
//! them to any narrower format, or to f64 in another direction, as if they had been exact.
//!
//! # Examples
//! ```
//! use girih_tensor::DType;
//! use girih_codegen::algorithm::element::Rounding;
//! use girih_codegen::algorithm::element::exact::float::{Exact, decode};
//!
//! // A third, rounded up and down, in bf16: neighbours with the exact value between them.
//! let [up, down] = [Rounding::Up, Rounding::Down]
//!     .map(|rounding| decode(DType::Bf16, Exact::div(1.0, 3.0).round(DType::Bf16, rounding)));
//! assert!(down < 1.0 / 3.0 && 1.0 / 3.0 < up && up - down == 2f64.powi(-9));
//! ```

use girih_tensor::{DType, Round};

use crate::algorithm::element::Rounding;

/// The sign bit of a float dtype.
pub fn sign_bit(dtype: DType) -> u64 {
    1 << (dtype.bits() - 1)
}

/// The bits of NaN.
pub fn nan(dtype: DType) -> u64 {
    dtype.float().map_or(0, |float| float.nan_bits())
}

/// The number that bits of a float dtype stand for.
pub fn decode(dtype: DType, bits: u64) -> f64 {
    dtype.decode(bits)
}

/// The bits of a number in a float dtype. 8-bit floats saturate, the others become infinite or stay finite as the direction says.
pub fn encode(dtype: DType, x: f64, rounding: Rounding) -> u64 {
    let round = match rounding {
        Rounding::Zero => Round::Zero,
        Rounding::Down => Round::Down,
        Rounding::Up => Round::Up,
        Rounding::Nearest | Rounding::Full | Rounding::Approx => Round::Nearest,
    };
    dtype.float().map_or(0, |float| float.encode(x, round))
}

/// A number as the nearest f64 and the sign of what is missing: of the number minus that f64.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exact {
    x: f64,
    rest: f64,
}

impl Exact {
    /// A number that is an f64.
    pub fn whole(x: f64) -> Exact {
        Exact { x, rest: 0.0 }
    }

    /// The nearest f64.
    pub fn nearest(self) -> f64 {
        self.x
    }

    /// An integer.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "cannot lose: integers of 64 bits are below 2^65, where both conversions are exact"
    )]
    pub fn integer(n: i128) -> Exact {
        let x = n as f64;
        Exact { x, rest: (n - x as i128) as f64 }
    }

    /// `a + b`, with the sign that IEEE 754 gives a zero in this direction.
    pub fn add(a: f64, b: f64, rounding: Rounding) -> Exact {
        let x = a + b;
        if x == 0.0 {
            let negative = if a == 0.0 && b == 0.0 && a.is_sign_negative() == b.is_sign_negative() {
                a.is_sign_negative()
            } else {
                rounding == Rounding::Down
            };
            return Exact::whole(if negative { -0.0 } else { 0.0 });
        }
        if !x.is_finite() {
            return Exact::overflow(x, a.is_finite() && b.is_finite());
        }
        let part = x - a;
        let rest = (a - (x - part)) + (b - part);
        Exact { x, rest: if rest.is_nan() { 0.0 } else { rest } }
    }

    fn overflow(x: f64, finite: bool) -> Exact {
        Exact { x, rest: if x.is_infinite() && finite { -x.signum() } else { 0.0 } }
    }

    /// `a * b`.
    pub fn mul(a: f64, b: f64) -> Exact {
        let x = a * b;
        if a == 0.0 || b == 0.0 || !x.is_finite() {
            return Exact::overflow(x, a.is_finite() && b.is_finite());
        }
        let ((ma, ea), (mb, eb)) = (parts(a), parts(b));
        let high = ma * mb;
        let low = ma.mul_add(mb, -high);
        Exact { x, rest: (high - scaled(x, -(ea + eb))) + low }
    }

    /// `a / b`.
    pub fn div(a: f64, b: f64) -> Exact {
        let x = a / b;
        if a == 0.0 || b == 0.0 || b.is_infinite() || !x.is_finite() {
            return Exact::overflow(x, a.is_finite() && b.is_finite() && b != 0.0);
        }
        let ((ma, ea), (mb, eb)) = (parts(a), parts(b));
        let rest = (-scaled(x, eb - ea)).mul_add(mb, ma);
        Exact { x, rest: rest * mb.signum() }
    }

    /// The square root.
    pub fn sqrt(a: f64) -> Exact {
        let x = a.sqrt();
        if a == 0.0 || !x.is_finite() {
            return Exact::whole(x);
        }
        let (m, e) = parts(a);
        let (m, e) = if e % 2 == 0 { (m, e) } else { (m * 2.0, e - 1) };
        let root = scaled(x, -e / 2);
        Exact { x, rest: (-root).mul_add(root, m) }
    }

    /// `a * b + c`.
    pub fn fma(a: f64, b: f64, c: f64, rounding: Rounding) -> Exact {
        let x = a.mul_add(b, c);
        if a == 0.0 || b == 0.0 {
            return Exact::add(a * b, c, rounding);
        }
        if x == 0.0 {
            return match c == 0.0 {
                // The product is below all numbers.
                true => Exact { x, rest: a.signum() * b.signum() },
                false => Exact::whole(if rounding == Rounding::Down { -0.0 } else { 0.0 }),
            };
        }
        if !x.is_finite() {
            return Exact::overflow(x, a.is_finite() && b.is_finite() && c.is_finite());
        }
        // The product is a sum of two, in units in which it neither overflows nor underflows.
        let ((ma, ea), (mb, eb)) = (parts(a), parts(b));
        let unit = ea + eb;
        let high = ma * mb;
        let low = ma.mul_add(mb, -high);
        let (mut c_there, x_there) = (scaled(c, -unit), scaled(x, -unit));
        if c_there == 0.0 && c != 0.0 {
            c_there = f64::MIN_POSITIVE.copysign(c);
        }
        if !c_there.is_finite() || !x_there.is_finite() {
            // The product is far below c.
            let rest = if x == c { high } else { (c - x).signum() };
            return Exact { x, rest };
        }
        Exact { x, rest: sign_of_sum(&[high, low, c_there, -x_there]) }
    }

    /// The bits in a float dtype.
    pub fn round(self, dtype: DType, rounding: Rounding) -> u64 {
        let Exact { x, rest } = self;
        if dtype != DType::F64 {
            return encode(dtype, self.odd(), rounding);
        }
        let rounded = match rounding {
            Rounding::Down if rest < 0.0 => x.next_down(),
            Rounding::Up if rest > 0.0 => x.next_up(),
            Rounding::Zero if rest < 0.0 && x > 0.0 => x.next_down(),
            Rounding::Zero if rest > 0.0 && x < 0.0 => x.next_up(),
            _ => x,
        };
        encode(DType::F64, rounded, rounding)
    }

    /// The f64 next to the number whose last bit is set, if the number is no f64: rounding it gives what rounding the number gives.
    fn odd(self) -> f64 {
        let Exact { x, rest } = self;
        if rest == 0.0 || !x.is_finite() || x.to_bits() & 1 == 1 {
            x
        } else if rest > 0.0 {
            x.next_up()
        } else {
            x.next_down()
        }
    }
}

/// A number as one of magnitude 1 to 2, and a power of two.
fn parts(x: f64) -> (f64, i32) {
    let (x, extra) = if x.is_subnormal() { (x * 2f64.powi(64), -64) } else { (x, 0) };
    let power = (x.to_bits() >> 52 & 0x7ff) as i32 - 1023;
    (f64::from_bits(x.to_bits() & !(0x7ff << 52) | 1023 << 52), power + extra)
}

/// `x` times a power of two, if that is an f64.
fn scaled(mut x: f64, mut power: i32) -> f64 {
    while power.abs() > 1000 {
        let step = 1000 * power.signum();
        x *= 2f64.powi(step);
        power -= step;
    }
    x * 2f64.powi(power)
}

/// The sign of an exact sum, as a number.
fn sign_of_sum(terms: &[f64]) -> f64 {
    // A nonoverlapping expansion (Shewchuk): its greatest component has the sign.
    let mut parts: Vec<f64> = Vec::new();
    for &term in terms {
        let mut carry = term;
        let mut next = Vec::new();
        for part in parts {
            let sum = carry + part;
            let virtual_part = sum - carry;
            let rest = (carry - (sum - virtual_part)) + (part - virtual_part);
            if rest != 0.0 {
                next.push(rest);
            }
            carry = sum;
        }
        next.push(carry);
        parts = next;
    }
    parts.into_iter().rev().find(|&part| part != 0.0).unwrap_or(0.0)
}
