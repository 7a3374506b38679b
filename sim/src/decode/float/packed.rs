//! Arithmetic of the 16-bit types and of pairs of them, which is computed in f64 and rounded once.

use std::convert::identity;

use girih_ptx::{Opcode, Type};

use super::Style;
use crate::float::{Bfloat, Half, Narrow, Pair, Round, add_odd, fma_odd};
use crate::lanes::{LaneFn, by_type, lanes};

/// A 16-bit float, or two of them to which the same function is applied.
pub(crate) trait Packed: Copy {
    type Item: Narrow;
    fn each(self, b: Self, c: Self, f: impl Fn(f64, f64, f64) -> f64) -> Self;
    /// Keeps the bits in `keep` and then flips those in `flip`, to change the sign; a NaN becomes the canonical NaN.
    fn signs(self, keep: u16, flip: u16) -> Self;
    /// Applies a function to the bits of each number.
    fn each_bits(self, b: Self, c: Self, f: impl Fn(u16, u16, u16) -> u16) -> Self;
}

/// The NaN with which TMA copies fill elements out of bounds, for both types, without the sign, which `fma.oob`
/// ignores.
const OUTSIDE: u16 = 0x7ff7;

fn apply<T: Narrow>(a: T, b: T, c: T, f: impl Fn(f64, f64, f64) -> f64) -> T {
    T::rounded(f(a.value().into(), b.value().into(), c.value().into()), Round::Nearest)
}

fn resign<T: Narrow>(a: T, keep: u16, flip: u16) -> T {
    T::of(if a.value().is_nan() { 0x7fff } else { a.bits() & keep ^ flip })
}

macro_rules! packed {
    ($($t:ident)*) => { $(
        impl Packed for $t {
            type Item = $t;
            fn each(self, b: Self, c: Self, f: impl Fn(f64, f64, f64) -> f64) -> Self {
                apply(self, b, c, f)
            }
            fn signs(self, keep: u16, flip: u16) -> Self {
                resign(self, keep, flip)
            }
            fn each_bits(self, b: Self, c: Self, f: impl Fn(u16, u16, u16) -> u16) -> Self {
                $t(f(self.0, b.0, c.0))
            }
        }
        impl Packed for Pair<$t> {
            type Item = $t;
            fn each(self, b: Self, c: Self, f: impl Fn(f64, f64, f64) -> f64) -> Self {
                Pair(apply(self.0, b.0, c.0, &f), apply(self.1, b.1, c.1, &f))
            }
            fn signs(self, keep: u16, flip: u16) -> Self {
                Pair(resign(self.0, keep, flip), resign(self.1, keep, flip))
            }
            fn each_bits(self, b: Self, c: Self, f: impl Fn(u16, u16, u16) -> u16) -> Self {
                Pair($t(f(self.0.0, b.0.0, c.0.0)), $t(f(self.1.0, b.1.0, c.1.0)))
            }
        }
    )* };
}
packed!(Half Bfloat);

/// A lane function over the 16-bit types, from a formula in f64.
macro_rules! packed_lanes {
    ($ty:expr, |$a:ident| $value:expr) => {
        by_type!($ty, T in [F16: Half, Bf16: Bfloat, F16x2: Pair<Half>, Bf16x2: Pair<Bfloat>]
            lanes!(T: |a: T| a.each(a, a, |$a, _, _| $value)))
    };
    ($ty:expr, |$a:ident, $b:ident| $value:expr) => {
        by_type!($ty, T in [F16: Half, Bf16: Bfloat, F16x2: Pair<Half>, Bf16x2: Pair<Bfloat>]
            lanes!(T: |a: T, b: T| a.each(b, b, |$a, $b, _| $value)))
    };
    ($ty:expr, |$a:ident, $b:ident, $c:ident| $value:expr) => {
        by_type!($ty, T in [F16: Half, Bf16: Bfloat, F16x2: Pair<Half>, Bf16x2: Pair<Bfloat>]
            lanes!(T: |a: T, b: T, c: T| a.each(b, c, |$a, $b, $c| $value)))
    };
}

pub(super) use packed_lanes;

/// `.ftz` of an f16 result before rounding: the hardware decides whether a result is subnormal before it rounds it.
fn flush_half(x: f64) -> f64 {
    // The smallest normal number less half a unit in the last place of the numbers below it, if these were normal too.
    // Larger results round to at least the smallest normal number.
    const LEAST: f64 = (1.0 - 1.0 / 4096.0) / 16384.0;
    if x.abs() < LEAST { 0f64.copysign(x) } else { x }
}

pub(super) fn narrow(opcode: Opcode, ty: Type, style: Style) -> Option<LaneFn> {
    use Opcode as O;
    if style.round.unwrap_or(Round::Nearest) != Round::Nearest {
        return None;
    }
    if style.xorsign {
        return of_magnitudes(opcode, ty, style.nan);
    }
    match opcode {
        O::Fma if style.oob => packed_inside(ty),
        O::Add => packed_lanes!(ty, |a, b| add_odd(a, b)),
        O::Sub => packed_lanes!(ty, |a, b| add_odd(a, -b)),
        O::Mul if style.ftz => packed_lanes!(ty, |a, b| flush_half(a * b)),
        O::Mul => packed_lanes!(ty, |a, b| a * b),
        O::Fma if style.ftz => packed_lanes!(ty, |a, b, c| flush_half(fma_odd(a, b, c))),
        O::Fma => packed_lanes!(ty, |a, b, c| fma_odd(a, b, c)),
        O::Min if style.nan => packed_lanes!(ty, |a, b| extremum!(f64, a, b, true, true, identity)),
        O::Min => packed_lanes!(ty, |a, b| extremum!(f64, a, b, false, true, identity)),
        O::Max if style.nan => packed_lanes!(ty, |a, b| extremum!(f64, a, b, true, false, identity)),
        O::Max => packed_lanes!(ty, |a, b| extremum!(f64, a, b, false, false, identity)),
        O::Abs => by_type!(ty, T in [F16: Half, Bf16: Bfloat, F16x2: Pair<Half>, Bf16x2: Pair<Bfloat>]
            lanes!(T: |a: T| a.signs(0x7fff, 0))),
        O::Neg => by_type!(ty, T in [F16: Half, Bf16: Bfloat, F16x2: Pair<Half>, Bf16x2: Pair<Bfloat>]
            lanes!(T: |a: T| a.signs(0xffff, 0x8000))),
        O::Ex2 if style.approx => packed_lanes!(ty, |a| a.exp2()),
        O::Tanh if style.approx => packed_lanes!(ty, |a| a.tanh()),
        _ => None,
    }
}

/// `fma.oob`.
fn packed_inside(ty: Type) -> Option<LaneFn> {
    by_type!(ty, T in [F16: Half, Bf16: Bfloat, F16x2: Pair<Half>, Bf16x2: Pair<Bfloat>]
    lanes!(T: |a: T, b: T, c: T| {
        let sum = a.each(b, c, fma_odd);
        sum.each_bits(a, b, |sum, a, b| {
                let outside = |x: u16| x & 0x7fff == OUTSIDE;
                if outside(a) || outside(b) { 0 } else { sum }
            })
    }))
}

/// Minimum and maximum of the magnitudes, with the sign of the product (`.xorsign.abs`).
fn of_magnitudes(opcode: Opcode, ty: Type, nan: bool) -> Option<LaneFn> {
    macro_rules! of {
        ($nan:literal, $less:literal) => {
            by_type!(ty, T in [F16: Half, Bf16: Bfloat, F16x2: Pair<Half>, Bf16x2: Pair<Bfloat>]
                lanes!(T: |a: T, b: T| {
                    let value = a.each(b, b, |a, b, _| {
                        let (x, y) = (a.abs(), b.abs());
                        extremum!(f64, x, y, $nan, $less, identity)
                    });
                    // A NaN result is canonical and has no sign.
                    value.each_bits(a, b, |value, a, b| if value == 0x7fff { value } else { value & 0x7fff | (a ^ b) & 0x8000 })
                }))
        };
    }
    match (opcode, nan) {
        (Opcode::Min, true) => of!(true, true),
        (Opcode::Min, false) => of!(false, true),
        (Opcode::Max, true) => of!(true, false),
        (Opcode::Max, false) => of!(false, false),
        _ => None,
    }
}
