//! Floating-point arithmetic (PTX ISA, "Floating-Point Instructions", "Half Precision Floating-Point Instructions").
//!
//! `.rn` arithmetic of f32 and f64 is the host's, correctly rounded; other modes and the 16-bit types are computed in
//! f64 and rounded once. The approximations (`ex2`, `lg2`, `rcp`, `rsqrt`, `sqrt`, `div`, `sin`, `cos`, `tanh`) are
//! computed in f64 and rounded to nearest: within the ISA's error bounds, not the hardware's bits.

use std::convert::identity;

use girih_ptx::{Opcode, Operand, Type, Word};

use super::words::Words;
use super::{Decoder, File};
use crate::Error;
use crate::float::{Bfloat, Half, Narrow, Pair, Round, add_odd, canon, fma_odd, to_f32};
use crate::lanes::{LaneFn, by_type, lanes};

/// A 16-bit float, or two of them: the same function on each.
pub(crate) trait Packed: Copy {
    type Item: Narrow;
    fn each(self, b: Self, c: Self, f: impl Fn(f64, f64, f64) -> f64) -> Self;
    /// The sign bits cleared and flipped as told, of a value that may be NaN.
    fn signs(self, keep: u16, flip: u16) -> Self;
}

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
        }
        impl Packed for Pair<$t> {
            type Item = $t;
            fn each(self, b: Self, c: Self, f: impl Fn(f64, f64, f64) -> f64) -> Self {
                Pair(apply(self.0, b.0, c.0, &f), apply(self.1, b.1, c.1, &f))
            }
            fn signs(self, keep: u16, flip: u16) -> Self {
                Pair(resign(self.0, keep, flip), resign(self.1, keep, flip))
            }
        }
    )* };
}
packed!(Half Bfloat);

/// A lane function over the 16-bit types; the formula is in f64.
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

/// A lane function of f32 in a mode that is not to nearest. The formula is in f64, exact or rounded to odd, and may use
/// the mode.
macro_rules! directed {
    ($mode:expr, $round:ident, |$($x:ident),*| $value:expr) => {
        match $mode {
            Round::Zero => Some(directed!(@ Round::Zero, $round, |$($x),*| $value)),
            Round::Down => Some(directed!(@ Round::Down, $round, |$($x),*| $value)),
            Round::Up => Some(directed!(@ Round::Up, $round, |$($x),*| $value)),
            Round::Nearest | Round::Away => None,
        }
    };
    (@ $mode:expr, $round:ident, |$($x:ident),*| $value:expr) => {
        lanes!(f32: |$($x: f32),*| {
            const $round: Round = $mode;
            $(let $x = f64::from($x);)*
            to_f32($value, $round)
        })
    };
}

/// A sum to be rounded in this mode. Rounding down, an exact zero is negative unless both terms are +0.
fn sum(a: f64, b: f64, mode: Round) -> f64 {
    let sum = add_odd(a, b);
    let negative = mode == Round::Down && sum == 0.0 && (a.is_sign_negative() || b.is_sign_negative());
    if negative { -0.0 } else { sum }
}

/// PTX's minimum and maximum: a NaN loses against a number unless asked for, and -0 is less than +0.
macro_rules! extremum {
    ($t:ty, $a:ident, $b:ident, $nan:literal, $less:expr, $canon:expr) => {
        if $a.is_nan() || $b.is_nan() {
            if $nan || ($a.is_nan() && $b.is_nan()) {
                $canon(<$t>::NAN)
            } else if $a.is_nan() {
                $b
            } else {
                $a
            }
        } else if ($a < $b || ($a == $b && $a.is_sign_negative())) == $less {
            $a
        } else {
            $b
        }
    };
}

/// The modifiers of a floating-point instruction.
#[derive(Clone, Copy, Default)]
struct Style {
    round: Option<Round>,
    approx: bool,
    ftz: bool,
    nan: bool,
    sat: bool,
}

pub(super) const ROUNDS: &[(Word, Round)] =
    &[(Word::Rn, Round::Nearest), (Word::Rz, Round::Zero), (Word::Rm, Round::Down), (Word::Rp, Round::Up)];

impl Style {
    fn take(words: &mut Words<'_>) -> Self {
        let round = words.pick(ROUNDS);
        let approx = words.pick(&[(Word::Approx, ()), (Word::Full, ())]).is_some();
        let ftz = words.take(Word::Ftz);
        let nan = words.take(Word::Nan);
        Style { round, approx, ftz, nan, sat: words.take(Word::Sat) }
    }
}

impl Decoder<'_> {
    pub(super) fn float(
        &mut self,
        opcode: Opcode,
        words: &mut Words<'_>,
        ops: &[Operand],
    ) -> Result<(), Error> {
        let style = Style::take(words);
        let ty = self.last(words)?;
        let run = match ty {
            Type::F32 => single(opcode, style),
            Type::F64 => double(opcode, style),
            _ if style.ftz => None,
            _ => narrow(opcode, ty, style),
        };
        let run = run
            .ok_or_else(|| self.unsupported(&format!("this instruction with type `.{ty}` and modifiers")))?;
        let arity = match opcode {
            Opcode::Fma | Opcode::Mad => 3,
            Opcode::Add | Opcode::Sub | Opcode::Mul | Opcode::Div | Opcode::Min | Opcode::Max => 2,
            _ => 1,
        };
        if (style.ftz || style.sat) && ty != Type::F32 {
            return Err(self.unsupported(&format!("`.ftz` or `.sat` with type `.{ty}`")));
        }
        self.arity(ops, arity + 1..=arity + 1)?;
        let mut sources = Vec::with_capacity(arity);
        for i in 0..arity {
            let source = self.source(ops, i + 1, ty)?;
            sources.push(if style.ftz { self.through(File::W32, flush(), source) } else { source });
        }
        let d = self.destination(ops, 0, ty)?;
        let mut out = if style.ftz || style.sat { self.temporary(d.file) } else { d };
        self.lanes(run, out, &sources);
        if style.ftz {
            let flushed = if style.sat { self.temporary(File::W32) } else { d };
            self.lanes(flush(), flushed, &[out]);
            out = flushed;
        }
        if style.sat {
            self.lanes(lanes!(f32: |a: f32| if a > 0.0 { a.min(1.0) } else { 0.0 }), d, &[out]);
        }
        Ok(())
    }
}

/// Subnormals to zeros of the same sign.
pub(super) fn flush() -> LaneFn {
    lanes!(f32: |a: f32| if a.is_subnormal() { 0f32.copysign(a) } else { a })
}

fn single(opcode: Opcode, style: Style) -> Option<LaneFn> {
    use Opcode as O;
    let round = style.round.unwrap_or(Round::Nearest);
    if round != Round::Nearest {
        return match opcode {
            O::Add => directed!(round, R, |a, b| sum(a, b, R)),
            O::Sub => directed!(round, R, |a, b| sum(a, -b, R)),
            O::Mul => directed!(round, R, |a, b| a * b),
            O::Fma | O::Mad => directed!(round, R, |a, b, c| sum(a * b, c, R)),
            _ => None,
        };
    }
    Some(match opcode {
        O::Add => lanes!(f32: |a: f32, b: f32| canon(a + b)),
        O::Sub => lanes!(f32: |a: f32, b: f32| canon(a - b)),
        O::Mul => lanes!(f32: |a: f32, b: f32| canon(a * b)),
        O::Fma | O::Mad => lanes!(f32: |a: f32, b: f32, c: f32| canon(a.mul_add(b, c))),
        O::Div => lanes!(f32: |a: f32, b: f32| canon(a / b)),
        O::Min if style.nan => lanes!(f32: |a: f32, b: f32| extremum!(f32, a, b, true, true, canon)),
        O::Min => lanes!(f32: |a: f32, b: f32| extremum!(f32, a, b, false, true, canon)),
        O::Max if style.nan => lanes!(f32: |a: f32, b: f32| extremum!(f32, a, b, true, false, canon)),
        O::Max => lanes!(f32: |a: f32, b: f32| extremum!(f32, a, b, false, false, canon)),
        O::Abs => lanes!(f32: |a: f32| canon(a.abs())),
        O::Neg => lanes!(f32: |a: f32| canon(-a)),
        O::Rcp => lanes!(f32: |a: f32| canon(1.0 / a)),
        O::Sqrt => lanes!(f32: |a: f32| canon(a.sqrt())),
        O::Rsqrt if style.approx => lanes!(f32: |a: f32| canon((1.0 / f64::from(a).sqrt()) as f32)),
        O::Ex2 if style.approx => lanes!(f32: |a: f32| canon(f64::from(a).exp2() as f32)),
        O::Lg2 if style.approx => lanes!(f32: |a: f32| canon(f64::from(a).log2() as f32)),
        O::Sin if style.approx => lanes!(f32: |a: f32| canon(f64::from(a).sin() as f32)),
        O::Cos if style.approx => lanes!(f32: |a: f32| canon(f64::from(a).cos() as f32)),
        O::Tanh if style.approx => lanes!(f32: |a: f32| canon(f64::from(a).tanh() as f32)),
        _ => return None,
    })
}

fn double(opcode: Opcode, style: Style) -> Option<LaneFn> {
    use Opcode as O;
    if style.round.unwrap_or(Round::Nearest) != Round::Nearest || style.approx || style.nan {
        return None;
    }
    Some(match opcode {
        O::Add => lanes!(f64: |a: f64, b: f64| a + b),
        O::Sub => lanes!(f64: |a: f64, b: f64| a - b),
        O::Mul => lanes!(f64: |a: f64, b: f64| a * b),
        O::Fma | O::Mad => lanes!(f64: |a: f64, b: f64, c: f64| a.mul_add(b, c)),
        O::Div => lanes!(f64: |a: f64, b: f64| a / b),
        O::Min => lanes!(f64: |a: f64, b: f64| extremum!(f64, a, b, false, true, identity)),
        O::Max => lanes!(f64: |a: f64, b: f64| extremum!(f64, a, b, false, false, identity)),
        O::Abs => lanes!(f64: |a: f64| a.abs()),
        O::Neg => lanes!(f64: |a: f64| -a),
        O::Rcp => lanes!(f64: |a: f64| 1.0 / a),
        O::Sqrt => lanes!(f64: |a: f64| a.sqrt()),
        _ => return None,
    })
}

fn narrow(opcode: Opcode, ty: Type, style: Style) -> Option<LaneFn> {
    use Opcode as O;
    if style.round.unwrap_or(Round::Nearest) != Round::Nearest {
        return None;
    }
    match opcode {
        O::Add => packed_lanes!(ty, |a, b| add_odd(a, b)),
        O::Sub => packed_lanes!(ty, |a, b| add_odd(a, -b)),
        O::Mul => packed_lanes!(ty, |a, b| a * b),
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
