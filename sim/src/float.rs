//! Floating-point formats: decoding, rounding in every mode, and the arithmetic that Rust's types lack.
//!
//! Whatever is not plain `f32` or `f64` arithmetic is computed in `f64`, rounded to odd where `f64` is not exact, and
//! rounded once by [`round`]. Rounding to odd keeps the information that the second rounding needs.

pub(crate) mod exact;
mod fp8;

use crate::lanes::Scalar;

pub(crate) use fp8::{Byte, E4m3, E5m2, pack, unpack};

/// A binary floating-point format with infinities and subnormals.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Format {
    /// Stored bits of the significand.
    mantissa: i32,
    /// Exponent of the smallest normal number.
    min: i32,
    /// Exponent of the largest number.
    max: i32,
}

impl Format {
    /// Converts a NaN to this format, with its sign, and with those bits of its significand for which the format has
    /// room.
    pub(crate) fn nan(self, a: f64) -> u32 {
        let quiet = a.to_bits() | 1 << 51;
        let significand = (quiet & ((1 << 52) - 1)) >> (52 - self.mantissa);
        // The exponent field of a NaN has all bits set.
        let exponent = (2 * self.max + 1) as u64;
        let sign = (quiet >> 63) * (exponent + 1);
        ((sign | exponent) << self.mantissa | significand) as u32
    }
}

pub(crate) const F32: Format = Format { mantissa: 23, min: -126, max: 127 };
pub(crate) const TF32: Format = Format { mantissa: 10, min: -126, max: 127 };
pub(crate) const F16: Format = Format { mantissa: 10, min: -14, max: 15 };
pub(crate) const BF16: Format = Format { mantissa: 7, min: -126, max: 127 };

/// A rounding mode (PTX ISA, "Rounding Modifiers").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Round {
    /// `.rn`
    Nearest,
    /// `.rna`: ties away from zero.
    Away,
    /// `.rz`
    Zero,
    /// `.rm`
    Down,
    /// `.rp`
    Up,
}

impl Round {
    /// Rounds to an integer.
    #[inline]
    pub(crate) fn integer(self, x: f64) -> f64 {
        match self {
            Round::Nearest => x.round_ties_even(),
            Round::Away => x.round(),
            Round::Zero => x.trunc(),
            Round::Down => x.floor(),
            Round::Up => x.ceil(),
        }
    }
}

/// 2^`exponent`, for the exponents of normal numbers.
#[inline]
fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// Rounds to a value of `format`. Overflow gives infinity or the largest number, depending on the mode.
#[inline]
pub(crate) fn round(x: f64, format: Format, mode: Round) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    let exponent = (x.to_bits() >> 52 & 0x7ff) as i32 - 1023;
    let quantum = exponent.max(format.min) - format.mantissa;
    let rounded = mode.integer(x * power(-quantum)) * power(quantum);
    let largest = power(format.max) * (2.0 - power(-format.mantissa));
    if rounded.abs() <= largest {
        return rounded.copysign(x);
    }
    let inward = match mode {
        Round::Nearest | Round::Away => false,
        Round::Zero => true,
        Round::Down => x > 0.0,
        Round::Up => x < 0.0,
    };
    if inward { largest.copysign(x) } else { f64::INFINITY.copysign(x) }
}

/// The sum, rounded to odd: if it is not exact, it is truncated and its last bit is set.
#[inline]
pub(crate) fn add_odd(a: f64, b: f64) -> f64 {
    let sum = a + b;
    if !sum.is_finite() {
        return sum;
    }
    let virtual_b = sum - a;
    let error = (a - (sum - virtual_b)) + (b - virtual_b);
    if error == 0.0 || sum.to_bits() & 1 == 1 {
        return sum;
    }
    // The last bit is even, so the neighbour on the side of the error has an odd one.
    let up = (error > 0.0) == (sum > 0.0);
    f64::from_bits(if up { sum.to_bits() + 1 } else { sum.to_bits() - 1 })
}

/// `a * b + c` of `f32` or narrower values, rounded to odd.
#[inline]
pub(crate) fn fma_odd(a: f64, b: f64, c: f64) -> f64 {
    add_odd(a * b, c)
}

/// The result of `f32` arithmetic as the hardware stores it, where every NaN is 0x7fffffff. NaNs are recognised by
/// their bits, since the compiler may replace one NaN by another in floating-point code.
#[inline(always)]
pub(crate) fn canon(x: f32) -> f32 {
    let bits = x.to_bits();
    f32::from_bits(if bits & 0x7fff_ffff > 0x7f80_0000 { 0x7fff_ffff } else { bits })
}

/// Rounds to `f32`.
#[inline]
pub(crate) fn to_f32(x: f64, mode: Round) -> f32 {
    canon(round(x, F32, mode) as f32)
}

/// An f16 value by its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Half(pub(crate) u16);

/// A bf16 value by its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bfloat(pub(crate) u16);

/// A 16-bit floating-point type.
pub(crate) trait Narrow: Copy {
    fn of(bits: u16) -> Self;
    fn bits(self) -> u16;
    fn value(self) -> f32;
    fn rounded(x: f64, mode: Round) -> Self;
}

impl Narrow for Half {
    #[inline(always)]
    fn of(bits: u16) -> Self {
        Half(bits)
    }
    #[inline(always)]
    fn bits(self) -> u16 {
        self.0
    }
    #[inline(always)]
    fn value(self) -> f32 {
        // In f32's place the exponent is 112 too small. The multiplication that corrects this is exact, for subnormal
        // numbers too.
        let magnitude = u32::from(self.0 & 0x7fff) << 13;
        let scaled = f32::from_bits(magnitude) * f32::from_bits((112 + 127) << 23);
        let special = if self.0 & 0x7c00 == 0x7c00 { 0x7f80_0000 } else { 0 };
        f32::from_bits(scaled.to_bits() | special | u32::from(self.0 & 0x8000) << 16)
    }
    #[inline]
    fn rounded(x: f64, mode: Round) -> Self {
        if x.is_nan() {
            return Half(0x7fff);
        }
        let value = round(x, F16, mode);
        let sign = u16::from(value.is_sign_negative()) << 15;
        let magnitude = if value.is_infinite() {
            0x7c00
        } else if value.abs() < power(F16.min) {
            (value.abs() * power(24)) as u16
        } else {
            // Subtracts the difference of the exponents' biases in the encoding of f32, which holds the value exactly.
            (((value.abs() as f32).to_bits() - (112 << 23)) >> 13) as u16
        };
        Half(sign | magnitude)
    }
}

impl Narrow for Bfloat {
    #[inline(always)]
    fn of(bits: u16) -> Self {
        Bfloat(bits)
    }
    #[inline(always)]
    fn bits(self) -> u16 {
        self.0
    }
    #[inline(always)]
    fn value(self) -> f32 {
        f32::from_bits(u32::from(self.0) << 16)
    }
    #[inline]
    fn rounded(x: f64, mode: Round) -> Self {
        if x.is_nan() {
            Bfloat(0x7fff)
        } else {
            Bfloat(((round(x, BF16, mode) as f32).to_bits() >> 16) as u16)
        }
    }
}

/// Two 16-bit values in a 32-bit register, the first in the low half.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair<T>(pub(crate) T, pub(crate) T);

impl Scalar for Half {
    type Word = u32;
    #[inline(always)]
    fn load(word: u32) -> Self {
        Half(word as u16)
    }
    #[inline(always)]
    fn store(self) -> u32 {
        self.0.into()
    }
}

impl Scalar for Bfloat {
    type Word = u32;
    #[inline(always)]
    fn load(word: u32) -> Self {
        Bfloat(word as u16)
    }
    #[inline(always)]
    fn store(self) -> u32 {
        self.0.into()
    }
}

impl<T: Narrow> Scalar for Pair<T> {
    type Word = u32;
    #[inline(always)]
    fn load(word: u32) -> Self {
        Pair(T::of(word as u16), T::of((word >> 16) as u16))
    }
    #[inline(always)]
    fn store(self) -> u32 {
        u32::from(self.0.bits()) | u32::from(self.1.bits()) << 16
    }
}
