//! Floating-point arithmetic (PTX ISA, "Floating-Point Instructions", "Half Precision Floating-Point Instructions").
//!
//! Arithmetic of f32 and f64 in mode `.rn` is that of the host, which is correctly rounded. 16-bit types are computed
//! in f64 and rounded once, and other modes are computed exactly, with integers. Approximations are computed in f64 and
//! rounded to nearest, so they are within the ISA's error bounds but do not have the hardware's bits. The bounds, which
//! `tests/approximations.rs` tests over dense samples:
//!
//! | instruction | largest error |
//! |---|---|
//! | `rcp.approx.f32`, `sqrt.approx.f32` | 2^-23 of the value |
//! | `rsqrt.approx.f32` | 2^-22.9 of the value |
//! | `div.full.f32`, `div.approx.f32`, `ex2.approx.f32` | two units in the last place |
//! | `lg2.approx.f32` | 2^-22 from 0.5 to 2, elsewhere 2^-22 of the value |
//! | `sin.approx.f32`, `cos.approx.f32` | 2^-20.5 within a turn |
//! | `tanh.approx.f32`, `.f16`, `.bf16` | 2^-11 of the value, 2^-10.987, 2^-8 |
//! | `ex2.approx.f16`, `.bf16` | 2^-9.9 and 2^-7 of the value |
//! | `rcp.approx.ftz.f64`, `rsqrt.approx.ftz.f64` | 2^-19 of the value: 20 bits are computed from 20 bits |

use std::convert::identity;

use girih_ptx::{Opcode, Operand, Type, Word};

use super::Decoder;
use super::words::Words;
use crate::Error;
use crate::float::Round;
use crate::float::exact::{self, F64};
use crate::lanes::{LaneFn, lanes};

/// A lane function in a directed rounding mode: `$exact` of `float::exact`, in the format of the type.
macro_rules! directed {
    ($mode:expr, $t:ty, $format:ident, $finish:expr, |$($x:ident),*| $exact:ident($($arg:expr),*)) => {
        match $mode {
            Round::Zero => Some(directed!(@ Zero, $t, $format, $finish, |$($x),*| $exact($($arg),*))),
            Round::Down => Some(directed!(@ Down, $t, $format, $finish, |$($x),*| $exact($($arg),*))),
            Round::Up => Some(directed!(@ Up, $t, $format, $finish, |$($x),*| $exact($($arg),*))),
            Round::Nearest | Round::Away => None,
        }
    };
    (@ $mode:ident, $t:ty, $format:ident, $finish:expr, |$($x:ident),*| $exact:ident($($arg:expr),*)) => {
        lanes!($t: |$($x: $t),*| {
            $(let $x = f64::from($x);)*
            $finish(exact::$exact($($arg,)* $format, Round::$mode))
        })
    };
}

/// The arithmetic of f32 and f64 in a directed rounding mode.
macro_rules! in_direction {
    ($opcode:expr, $mode:expr, $t:ty, $format:ident, $finish:expr) => {
        match $opcode {
            Opcode::Add => directed!($mode, $t, $format, $finish, |a, b| add(a, b)),
            Opcode::Sub => directed!($mode, $t, $format, $finish, |a, b| add(a, -b)),
            Opcode::Mul => directed!($mode, $t, $format, $finish, |a, b| mul(a, b)),
            Opcode::Fma | Opcode::Mad => directed!($mode, $t, $format, $finish, |a, b, c| fma(a, b, c)),
            Opcode::Div => directed!($mode, $t, $format, $finish, |a, b| div(a, b)),
            Opcode::Rcp => directed!($mode, $t, $format, $finish, |a| div(1.0, a)),
            Opcode::Sqrt => directed!($mode, $t, $format, $finish, |a| sqrt(a)),
            _ => None,
        }
    };
}

/// PTX's minimum and maximum: of a NaN and a number the number is returned, unless `.NaN` is given, and -0 is less than
/// +0.
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
mod packed;
mod single;

pub(super) use finish::{flush, flush_of};
use finish::{relu_of, saturate_of};
pub(crate) use packed::Packed;
use packed::narrow;
use single::single;

/// The modifiers of a floating-point instruction.
#[derive(Clone, Copy, Default)]
struct Style {
    round: Option<Round>,
    approx: bool,
    ftz: bool,
    nan: bool,
    /// `.xorsign.abs`: the minimum or maximum of the magnitudes, with the sign of the product.
    xorsign: bool,
    sat: bool,
    relu: bool,
    /// `.oob`: the result is 0 if `a` or `b` is the NaN with which TMA copies fill elements that are out of bounds.
    oob: bool,
}

pub(super) const ROUNDS: &[(Word, Round)] =
    &[(Word::Rn, Round::Nearest), (Word::Rz, Round::Zero), (Word::Rm, Round::Down), (Word::Rp, Round::Up)];

impl Style {
    fn take(words: &mut Words<'_>) -> Self {
        let round = words.pick(ROUNDS);
        let approx = words.take(Word::Approx);
        // `.full` asks for an approximation over the whole range, which the exact quotient is.
        words.take(Word::Full);
        let ftz = words.take(Word::Ftz);
        let nan = words.take(Word::Nan);
        let xorsign = words.take(Word::Xorsign) && words.take(Word::Abs);
        let sat = words.take(Word::Sat);
        let oob = words.take(Word::Oob);
        Style { round, approx, ftz, nan, xorsign, sat, relu: words.take(Word::Relu), oob }
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
        // The steps that are applied to the result in this order; `.ftz`, the first, is applied to the sources too.
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

/// The coarse approximations of f64 use only the upper halves of the numbers, and take subnormal numbers as zeros.
fn coarse(a: f64, f: impl Fn(f64) -> f64) -> f64 {
    let upper = |x: f64| {
        let x = f64::from_bits(x.to_bits() >> 32 << 32);
        if x.is_subnormal() { 0f64.copysign(x) } else { x }
    };
    upper(f(upper(a)))
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
