//! The steps of a conversion: to 64 bits, between numbers of 64 bits, and from these.

use girih_ptx::Type;

use super::Between;
use crate::float::exact::{F64, integer};
use crate::float::{BF16, Bfloat, F16, F32, Half, Narrow, Round, TF32, canon, round, to_f32};
use crate::lanes::{LaneFn, by_type, lanes};

/// A lane function for each rounding mode.
macro_rules! modes {
    ($mode:expr, $round:ident, $body:expr) => {
        match $mode {
            Round::Nearest => {
                const $round: Round = Round::Nearest;
                $body
            }
            Round::Away => {
                const $round: Round = Round::Away;
                $body
            }
            Round::Zero => {
                const $round: Round = Round::Zero;
                $body
            }
            Round::Down => {
                const $round: Round = Round::Down;
                $body
            }
            Round::Up => {
                const $round: Round = Round::Up;
                $body
            }
        }
    };
}

/// The largest bf16.
pub(super) const BF16_MAX: f32 = f32::from_bits(0x7f7f_0000);

/// Clamps to the range of a narrower type; NaN stays NaN.
pub(super) fn finite(to: Type) -> LaneFn {
    match to {
        Type::F16 => lanes!(f64: |a: f64| a.clamp(-65504.0, 65504.0)),
        Type::Bf16 => lanes!(f64: |a: f64| a.clamp(-f64::from(BF16_MAX), f64::from(BF16_MAX))),
        // The significand of tf32 has 10 of the 23 bits of f32.
        _ => lanes!(f64: |a: f64| {
            let most = f64::from(f32::from_bits(0x7f7f_e000));
            a.clamp(-most, most)
        }),
    }
}

/// Conversions with one step: exact ones, and truncations of integers.
pub(super) fn direct(to: Type, from: Type) -> Option<LaneFn> {
    use Type as T;
    Some(match (to, from) {
        (T::U64 | T::S64, T::U32) => lanes!(u64: |a: u32| a.into()),
        (T::U64 | T::S64, T::S32) => lanes!(i64: |a: i32| a.into()),
        (T::U32 | T::S32, T::U64 | T::S64) => lanes!(u32: |a: u64| a as u32),
        (T::U32 | T::S32, T::U16) => lanes!(u32: |a: u16| a.into()),
        (T::U32 | T::S32, T::S16) => lanes!(i32: |a: i16| a.into()),
        (T::U16, T::U32 | T::S32) => lanes!(u16: |a: u32| a as u16),
        (T::S16, T::U32 | T::S32) => lanes!(i16: |a: u32| a as i16),
        // f32 to f32 is a move, which keeps the bits of NaNs.
        (T::F32, T::F32) => lanes!(u32: |a: u32| a),
        (T::F32, T::F16) => lanes!(f32: |a: Half| canon(a.value())),
        (T::F32, T::Bf16) => lanes!(u32: |a: Bfloat| u32::from(a.0) << 16),
        (T::F64, T::F32) => lanes!(f64: |a: f32| a.into()),
        _ => return None,
    })
}

/// The first step of a conversion: to i64, u64 or f64.
pub(super) fn widen(from: Type) -> Option<LaneFn> {
    match from {
        Type::U64 | Type::S64 => Some(lanes!(u64: |a: u64| a)),
        Type::F64 => Some(lanes!(f64: |a: f64| a)),
        Type::F32 => Some(lanes!(f64: |a: f32| a.into())),
        _ => by_type!(from, T in [U8: u8, U16: u16, U32: u32] lanes!(u64: |a: T| a.into()))
            .or_else(|| by_type!(from, T in [S8: i8, S16: i16, S32: i32] lanes!(i64: |a: T| a.into())))
            .or_else(|| by_type!(from, T in [F16: Half, Bf16: Bfloat] lanes!(f64: |a: T| a.value().into()))),
    }
}

/// Rounds to an integral value. Without a mode toward zero; that is not valid PTX, and no assembler accepts it.
pub(super) fn integral(mode: Option<Round>) -> LaneFn {
    match mode {
        Some(Round::Nearest | Round::Away) => lanes!(f64: |a: f64| a.round_ties_even()),
        Some(Round::Down) => lanes!(f64: |a: f64| a.floor()),
        Some(Round::Up) => lanes!(f64: |a: f64| a.ceil()),
        Some(Round::Zero) | None => lanes!(f64: |a: f64| a.trunc()),
    }
}

/// `.sat` of a floating-point destination: clamps to [0, 1], where NaN becomes 0.
pub(super) fn saturate(between: Between) -> LaneFn {
    match between {
        Between::Signed => lanes!(i64: |a: i64| a.clamp(0, 1)),
        Between::Unsigned => lanes!(u64: |a: u64| a.min(1)),
        Between::Float => lanes!(f64: |a: f64| if a > 0.0 { a.min(1.0) } else { 0.0 }),
    }
}

/// A conversion that saturates. NaN becomes 0, or, where f64 or a 64-bit integer takes part, the number with only the
/// highest bit set.
pub(super) fn float_to_int(to: Type, from_f64: bool) -> Option<LaneFn> {
    /// The value that NaN becomes in a wide conversion.
    trait Top {
        const TOP: Self;
    }
    macro_rules! top { ($($t:ty)*) => { $(impl Top for $t { const TOP: Self = 1 << (<$t>::BITS - 1); })* }; }
    top!(u8 i8 u16 i16 u32 i32 u64 i64);
    if from_f64 || matches!(to, Type::U64 | Type::S64) {
        return by_type!(to, T in [U8: u8, S8: i8, U16: u16, S16: i16, U32: u32, S32: i32, U64: u64, S64: i64]
            lanes!(T: |a: f64| if a.is_nan() { T::TOP } else { a as T }));
    }
    by_type!(to, T in [U8: u8, S8: i8, U16: u16, S16: i16, U32: u32, S32: i32] lanes!(T: |a: f64| a as T))
}

pub(super) fn int_to_int(to: Type, from: Between, saturate: bool) -> Option<LaneFn> {
    if !saturate {
        return by_type!(to, T in [U8: u8, S8: i8, U16: u16, S16: i16, U32: u32, S32: i32, U64: u64, S64: i64]
            lanes!(T: |a: u64| a as T));
    }
    if from == Between::Signed {
        return by_type!(to, T in [U8: u8, S8: i8, U16: u16, S16: i16, U32: u32, S32: i32, U64: u64, S64: i64]
            lanes!(T: |a: i64| i128::from(a).clamp(T::MIN.into(), T::MAX.into()) as T));
    }
    by_type!(to, T in [U8: u8, S8: i8, U16: u16, S16: i16, U32: u32, S32: i32, U64: u64, S64: i64]
        lanes!(T: |a: u64| i128::from(a).min(T::MAX.into()) as T))
}

pub(super) fn float_to_float(to: Type, mode: Option<Round>) -> Option<LaneFn> {
    let mode = mode.unwrap_or(Round::Nearest);
    Some(match to {
        Type::F32 => modes!(mode, R, lanes!(f32: |a: f64| to_f32(a, R))),
        Type::F16 => modes!(mode, R, lanes!(Half: |a: f64| Half::rounded(a, R))),
        Type::Bf16 => modes!(mode, R, lanes!(Bfloat: |a: f64| Bfloat::rounded(a, R))),
        Type::Tf32 => modes!(mode, R, lanes!(u32: |a: f64| to_tf32(a, R))),
        Type::F64 => lanes!(f64: |a: f64| a),
        _ => return None,
    })
}

/// The bits of an f32 that tf32 keeps.
const UPPER: u32 = !0x1fff;

fn to_tf32(a: f64, mode: Round) -> u32 {
    if a.is_nan() { 0x7fff_ffff & UPPER } else { (round(a, TF32, mode) as f32).to_bits() }
}

/// tf32 with `.rna`, from the bits of an f32. A NaN keeps those of its bits that tf32 keeps.
pub(super) fn tf32_away(a: u32) -> u32 {
    let nan = a & 0x7fff_ffff > 0x7f80_0000;
    (if nan { a } else { a + 0x1000 }) & UPPER
}

/// tf32 with `.rna.satfinite`. An infinity becomes the largest finite number by subtracting one unit, and hardware does
/// the same to NaNs.
pub(super) fn tf32_finite(a: u32) -> u32 {
    let bits = tf32_away(a);
    if bits & 0x7fff_ffff >= 0x7f80_0000 { bits - !UPPER - 1 } else { bits }
}

/// A conversion from f64. A NaN keeps those of its bits that the destination has room for.
pub(super) fn double_to_float(to: Type, mode: Option<Round>) -> Option<LaneFn> {
    let nearest = mode.unwrap_or(Round::Nearest);
    match to {
        Type::F32 => Some(modes!(
            nearest,
            R,
            lanes!(u32: |a: f64| {
                if a.is_nan() { F32.nan(a) } else { to_f32(a, R).to_bits() }
            })
        )),
        Type::F16 => Some(modes!(
            nearest,
            R,
            lanes!(u32: |a: f64| {
                if a.is_nan() { F16.nan(a) } else { Half::rounded(a, R).0.into() }
            })
        )),
        Type::Bf16 => Some(modes!(
            nearest,
            R,
            lanes!(u32: |a: f64| {
                if a.is_nan() { BF16.nan(a) } else { Bfloat::rounded(a, R).0.into() }
            })
        )),
        _ => float_to_float(to, mode),
    }
}

/// A 64-bit integer as f64, rounded to odd, so that a later rounding is correct.
fn odd(negative: bool, magnitude: u64) -> f64 {
    let shift = 11u32.saturating_sub(magnitude.leading_zeros());
    let kept = magnitude >> shift;
    let sticky = u64::from(kept << shift != magnitude);
    let value = (kept | sticky) as f64 * (1u64 << shift) as f64;
    if negative { -value } else { value }
}

pub(super) fn int_to_float(to: Type, from: Between, mode: Option<Round>) -> Option<LaneFn> {
    let mode = mode.unwrap_or(Round::Nearest);
    if to == Type::F64 {
        return Some(match from {
            Between::Signed => {
                modes!(mode, R, lanes!(f64: |a: i64| integer(a < 0, a.unsigned_abs(), F64, R)))
            }
            _ => modes!(mode, R, lanes!(f64: |a: u64| integer(false, a, F64, R))),
        });
    }
    macro_rules! rounded {
        ($t:ty, $finish:expr) => {
            match from {
                Between::Signed => modes!(mode, R, lanes!($t: |a: i64| $finish(odd(a < 0, a.unsigned_abs()), R))),
                _ => modes!(mode, R, lanes!($t: |a: u64| $finish(odd(false, a), R))),
            }
        };
    }
    Some(match to {
        Type::F32 => rounded!(f32, to_f32),
        Type::F16 => rounded!(Half, Half::rounded),
        Type::Bf16 => rounded!(Bfloat, Bfloat::rounded),
        _ => return None,
    })
}
