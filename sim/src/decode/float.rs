//! Floating-point arithmetic (PTX ISA, "Floating-Point Instructions", "Half Precision Floating-Point Instructions").
//!
//! `.rn` arithmetic of f32 and f64 is the host's, correctly rounded; the 16-bit types are computed in f64 and rounded
//! once, other modes exactly, on integers. The approximations (`ex2`, `lg2`, `rcp`, `rsqrt`, `sqrt`, `div`, `sin`, `cos`, `tanh`) are
//! computed in f64 and rounded to nearest: within the ISA's error bounds, not the hardware's bits.

use std::convert::identity;

use girih_ptx::{Opcode, Operand, Type, Word};

use super::Decoder;
use super::words::Words;
use crate::Error;
use crate::float::exact::{self, F64};
use crate::float::{Bfloat, F32, Half, Narrow, Pair, Round, add_odd, canon, fma_odd};
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

/// A lane function in a mode that is not to nearest: `$exact` of `float::exact`, in the format of the type.
macro_rules! directed {
    ($mode:expr, $t:ty, $format:ident, $canon:expr, |$($x:ident),*| $exact:ident($($arg:expr),*)) => {
        match $mode {
            Round::Zero => Some(directed!(@ Zero, $t, $format, $canon, |$($x),*| $exact($($arg),*))),
            Round::Down => Some(directed!(@ Down, $t, $format, $canon, |$($x),*| $exact($($arg),*))),
            Round::Up => Some(directed!(@ Up, $t, $format, $canon, |$($x),*| $exact($($arg),*))),
            Round::Nearest | Round::Away => None,
        }
    };
    (@ $mode:ident, $t:ty, $format:ident, $canon:expr, |$($x:ident),*| $exact:ident($($arg:expr),*)) => {
        lanes!($t: |$($x: $t),*| {
            $(let $x = f64::from($x);)*
            $canon(exact::$exact($($arg,)* $format, Round::$mode) as $t)
        })
    };
}

/// The arithmetic of f32 and f64 in a mode that is not to nearest.
macro_rules! in_direction {
    ($opcode:expr, $mode:expr, $t:ty, $format:ident, $canon:expr) => {
        match $opcode {
            Opcode::Add => directed!($mode, $t, $format, $canon, |a, b| add(a, b)),
            Opcode::Sub => directed!($mode, $t, $format, $canon, |a, b| add(a, -b)),
            Opcode::Mul => directed!($mode, $t, $format, $canon, |a, b| mul(a, b)),
            Opcode::Fma | Opcode::Mad => directed!($mode, $t, $format, $canon, |a, b, c| fma(a, b, c)),
            Opcode::Div => directed!($mode, $t, $format, $canon, |a, b| div(a, b)),
            Opcode::Rcp => directed!($mode, $t, $format, $canon, |a| div(1.0, a)),
            Opcode::Sqrt => directed!($mode, $t, $format, $canon, |a| sqrt(a)),
            _ => None,
        }
    };
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

mod finish;

pub(super) use finish::{flush, flush_of};
use finish::{relu_of, saturate_of};

/// The modifiers of a floating-point instruction.
#[derive(Clone, Copy, Default)]
struct Style {
    round: Option<Round>,
    approx: bool,
    ftz: bool,
    nan: bool,
    /// `.xorsign.abs`: of the magnitudes, with both signs' product.
    xorsign: bool,
    sat: bool,
    relu: bool,
}

pub(super) const ROUNDS: &[(Word, Round)] =
    &[(Word::Rn, Round::Nearest), (Word::Rz, Round::Zero), (Word::Rm, Round::Down), (Word::Rp, Round::Up)];

impl Style {
    fn take(words: &mut Words<'_>) -> Self {
        let round = words.pick(ROUNDS);
        let approx = words.take(Word::Approx);
        // An approximation over the whole range: the exact quotient is one.
        words.take(Word::Full);
        let ftz = words.take(Word::Ftz);
        let nan = words.take(Word::Nan);
        let xorsign = words.take(Word::Xorsign) && words.take(Word::Abs);
        let sat = words.take(Word::Sat);
        Style { round, approx, ftz, nan, xorsign, sat, relu: words.take(Word::Relu) }
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
            _ => narrow(opcode, ty, style),
        };
        let what = || format!("this instruction with type `.{ty}` and modifiers");
        let run = run.ok_or_else(|| self.unsupported(&what()))?;
        let arity = match opcode {
            Opcode::Fma | Opcode::Mad => 3,
            Opcode::Add | Opcode::Sub | Opcode::Mul | Opcode::Div | Opcode::Min | Opcode::Max => 2,
            _ => 1,
        };
        // What is done to the result, in order; the first also to the sources.
        let coarse = ty == Type::F64 && style.approx;
        let flushes = style.ftz && !coarse;
        let after = [(flushes, flush_of(ty)), (style.sat, saturate_of(ty)), (style.relu, relu_of(ty))];
        let mut steps = Vec::new();
        for (_, step) in after.into_iter().filter(|(wanted, _)| *wanted) {
            steps.push(step.ok_or_else(|| self.unsupported(&what()))?);
        }
        self.arity(ops, arity + 1..=arity + 1)?;
        let mut sources = Vec::with_capacity(arity);
        for i in 0..arity {
            let source = self.source(ops, i + 1, ty)?;
            sources.push(if flushes { self.through(source.file, steps[0], source) } else { source });
        }
        let d = self.destination(ops, 0, ty)?;
        let Some((last, steps)) = steps.split_last() else {
            self.lanes(run, d, &sources);
            return Ok(());
        };
        let mut out = self.temporary(d.file);
        self.lanes(run, out, &sources);
        for step in steps {
            out = self.through(d.file, *step, out);
        }
        self.lanes(*last, d, &[out]);
        Ok(())
    }
}

/// The sign of a product.
fn with_signs(magnitude: f32, a: f32, b: f32) -> f32 {
    let negative = a.is_sign_negative() != b.is_sign_negative();
    if magnitude.is_nan() || !negative { magnitude } else { -magnitude }
}

/// Minimum and maximum of magnitudes, with the sign of the product.
fn of_magnitudes(opcode: Opcode, nan: bool) -> Option<LaneFn> {
    macro_rules! of {
        ($nan:literal, $less:literal) => {
            lanes!(f32: |a: f32, b: f32| {
                let (x, y) = (a.abs(), b.abs());
                with_signs(extremum!(f32, x, y, $nan, $less, canon), a, b)
            })
        };
    }
    Some(match (opcode, nan) {
        (Opcode::Min, true) => of!(true, true),
        (Opcode::Min, false) => of!(false, true),
        (Opcode::Max, true) => of!(true, false),
        (Opcode::Max, false) => of!(false, false),
        _ => return None,
    })
}

/// `div.approx`: `a * (1 / b)`, whose reciprocal is subnormal, and so zero, for the largest `b`.
fn approximate_quotient(a: f32, b: f32) -> f32 {
    const LARGE: f32 = f32::from_bits((126 + 127) << 23);
    let by = if b.abs() > LARGE { f32::INFINITY.copysign(b) } else { b };
    // An infinite `a` times that zero is NaN, as it is over an infinity.
    canon(a / by)
}

fn single(opcode: Opcode, style: Style) -> Option<LaneFn> {
    use Opcode as O;
    let round = style.round.unwrap_or(Round::Nearest);
    if round != Round::Nearest {
        return in_direction!(opcode, round, f32, F32, canon);
    }
    if style.xorsign {
        return of_magnitudes(opcode, style.nan);
    }
    Some(match opcode {
        O::Add => lanes!(f32: |a: f32, b: f32| canon(a + b)),
        O::Sub => lanes!(f32: |a: f32, b: f32| canon(a - b)),
        O::Mul => lanes!(f32: |a: f32, b: f32| canon(a * b)),
        O::Fma | O::Mad => lanes!(f32: |a: f32, b: f32, c: f32| canon(a.mul_add(b, c))),
        O::Div if style.approx => lanes!(f32: |a: f32, b: f32| approximate_quotient(a, b)),
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

/// The coarse approximations of f64: of the upper halves alone, subnormals taken as zeros.
fn coarse(a: f64, f: impl Fn(f64) -> f64) -> f64 {
    let upper = |x: f64| {
        let x = f64::from_bits(x.to_bits() >> 32 << 32);
        if x.is_subnormal() { 0f64.copysign(x) } else { x }
    };
    if a.is_nan() { a } else { upper(f(upper(a))) }
}

fn double(opcode: Opcode, style: Style) -> Option<LaneFn> {
    use Opcode as O;
    let round = style.round.unwrap_or(Round::Nearest);
    if style.nan || style.xorsign || style.ftz && !style.approx {
        return None;
    }
    if round != Round::Nearest {
        return in_direction!(opcode, round, f64, F64, identity);
    }
    if style.approx {
        return match opcode {
            O::Rcp if style.ftz => Some(lanes!(f64: |a: f64| coarse(a, |x| 1.0 / x))),
            O::Rsqrt if style.ftz => Some(lanes!(f64: |a: f64| coarse(a, |x| 1.0 / x.sqrt()))),
            O::Rsqrt => Some(lanes!(f64: |a: f64| 1.0 / a.sqrt())),
            _ => None,
        };
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
    if style.round.unwrap_or(Round::Nearest) != Round::Nearest || style.xorsign {
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
