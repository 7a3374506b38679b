//! `cvt` (PTX ISA, "Data Movement and Conversion Instructions: cvt").
//!
//! A conversion has two steps. The first goes to a 64-bit integer or f64 and is exact; the second goes to the
//! destination and rounds once. Common exact conversions have only one step.

mod fp8;
mod step;

use girih_ptx::{Operand, Type, Word};

use super::float::{ROUNDS, flush};
use super::words::Words;
use super::{Decoder, File};
use crate::Error;
use crate::float::{Bfloat, Half, Narrow, Pair, Round};
use crate::lanes::{LaneFn, Reg, lanes};
use step::{
    BF16_MAX, direct, double_to_float, finite, float_to_float, float_to_int, int_to_float, int_to_int,
    integral, saturate, tf32_away, tf32_finite, widen,
};

/// The type of a value between the two steps of a conversion.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Between {
    Signed,
    Unsigned,
    Float,
}

impl Between {
    fn of(ty: Type) -> Option<Self> {
        Some(match ty {
            Type::S8 | Type::S16 | Type::S32 | Type::S64 => Between::Signed,
            Type::U8 | Type::U16 | Type::U32 | Type::U64 => Between::Unsigned,
            Type::F16 | Type::Bf16 | Type::F32 | Type::F64 => Between::Float,
            _ => return None,
        })
    }
}

/// Modifiers of a conversion.
#[derive(Clone, Copy)]
struct Style {
    round: Option<Round>,
    /// Whether to round to an integral value, as `.rni` and the like say.
    integral: bool,
    relu: bool,
    /// Whether a result that would be infinite becomes the largest finite number.
    finite: bool,
    ftz: bool,
    sat: bool,
}

impl Style {
    fn take(words: &mut Words<'_>) -> Self {
        let integral = words.pick(&[
            (Word::Rni, Round::Nearest),
            (Word::Rzi, Round::Zero),
            (Word::Rmi, Round::Down),
            (Word::Rpi, Round::Up),
        ]);
        let round =
            integral.or_else(|| words.pick(ROUNDS)).or_else(|| words.pick(&[(Word::Rna, Round::Away)]));
        let before = words.take(Word::Satfinite);
        let relu = words.take(Word::Relu);
        let finite = before || words.take(Word::Satfinite);
        let ftz = words.take(Word::Ftz);
        Style { round, integral: integral.is_some(), relu, finite, ftz, sat: words.take(Word::Sat) }
    }
}

impl Decoder<'_> {
    pub(super) fn cvt(&mut self, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        if words.take(Word::Pack) {
            return self.cvt_pack(words, ops);
        }
        let style = Style::take(words);
        let to = self.last(words)?;
        let from = self.last(words)?;
        if matches!(to, Type::F16x2 | Type::Bf16x2) && from == Type::F32 {
            return self.cvt_pair(to, style, ops);
        }
        if let Some(kind) = fp8::of(to, from) {
            return self.cvt_fp8(kind, style, ops);
        }
        if style.finite && !matches!(to, Type::F16 | Type::Bf16 | Type::Tf32) {
            return Err(self.unsupported(&format!("`.satfinite` of a conversion to `.{to}`")));
        }
        self.arity(ops, 2..=2)?;
        let mut a = self.source_wide(ops, 1, from)?;
        let d = self.destination_wide(ops, 0, to)?;
        let out = if Some(d.file) == super::file(to) { d } else { self.temporary(File::W32) };
        let plain = !style.sat && !style.ftz && !style.relu && !style.integral && !style.finite;
        let direct = match (to, style.round) {
            (Type::Tf32, Some(Round::Away)) if style.finite => Some(lanes!(u32: |a: u32| tf32_finite(a))),
            (Type::Tf32, Some(Round::Away)) => Some(lanes!(u32: |a: u32| tf32_away(a))),
            _ => direct(to, from),
        };
        let plain = plain || to == Type::Tf32 && style.round == Some(Round::Away);
        match direct.filter(|_| plain) {
            Some(run) => self.lanes(run, out, &[a]),
            None => {
                // The hardware's conversion of f32 to f16 does not flush its source, which makes a difference where
                // rounding is upward.
                if style.ftz && from == Type::F32 && to != Type::F16 {
                    a = self.through(File::W32, flush(), a);
                }
                self.two_steps(to, from, style, out, a)?;
            }
        }
        if out != d {
            let signed = Between::of(to) == Some(Between::Signed);
            let extend = if signed { lanes!(i64: |a: i32| a.into()) } else { lanes!(u64: |a: u32| a.into()) };
            self.lanes(extend, d, &[out]);
        }
        Ok(())
    }

    /// `cvt.pack`: two saturated integers, the first above the second, and above both the low bits of a third.
    fn cvt_pack(&mut self, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        macro_rules! pack {
            ($ty:expr, [$($variant:ident: $low:literal to $high:literal in $bits:literal),*]) => {
                match $ty {
                    $(Type::$variant => Some(lanes!(u32: |a: i32, b: i32, c: u32| {
                        let field = |x: i32| u64::from(x.clamp($low, $high) as u32) & ((1 << $bits) - 1);
                        (field(b) | field(a) << $bits | u64::from(c) << (2 * $bits)) as u32
                    })),)*
                    _ => None,
                }
            };
        }
        words.take(Word::Sat);
        let ty = words.ty().ok_or_else(|| self.unsupported("a cvt.pack without a type"))?;
        let run: Option<LaneFn> = pack!(ty, [U16: 0 to 65535 in 16, S16: -32768 to 32767 in 16, U8: 0 to 255 in 8,
            S8: -128 to 127 in 8, U4: 0 to 15 in 4, S4: -8 to 7 in 4, U2: 0 to 3 in 2, S2: -2 to 1 in 2]);
        let halves = matches!(ty, Type::U16 | Type::S16);
        let typed = words.ty() == Some(Type::S32) && words.ty() == (!halves).then_some(Type::B32);
        let run = run.filter(|_| typed).ok_or_else(|| self.unsupported("a cvt.pack of these types"))?;
        self.arity(ops, if halves { 3..=3 } else { 4..=4 })?;
        let (a, b) = (self.source(ops, 1, Type::S32)?, self.source(ops, 2, Type::S32)?);
        let c = if halves { self.constant(File::W32, 0) } else { self.source(ops, 3, Type::B32)? };
        let d = self.destination(ops, 0, Type::U32)?;
        self.lanes(run, d, &[a, b, c]);
        Ok(())
    }

    fn two_steps(&mut self, to: Type, from: Type, style: Style, d: Reg, a: Reg) -> Result<(), Error> {
        let what = || format!("a conversion from `.{from}` to `.{to}` with these modifiers");
        let between = Between::of(from).ok_or_else(|| self.unsupported(&what()))?;
        let widen = widen(from).ok_or_else(|| self.unsupported(&what()))?;
        let narrow = match (between, Between::of(to)) {
            (Between::Float, Some(Between::Float) | None) if from == Type::F64 => {
                double_to_float(to, style.round)
            }
            (Between::Float, Some(Between::Float) | None) => float_to_float(to, style.round),
            (Between::Float, _) => float_to_int(to, from == Type::F64),
            (_, Some(Between::Float)) => int_to_float(to, between, style.round),
            (_, _) => int_to_int(to, between, style.sat),
        };
        let narrow = narrow.ok_or_else(|| self.unsupported(&what()))?;
        let float_to = matches!(Between::of(to), Some(Between::Float) | None);
        if style.relu && !float_to || style.ftz && from != Type::F32 && to != Type::F32 {
            return Err(self.unsupported(&what()));
        }
        let mut value = self.through(File::W64, widen, a);
        if between == Between::Float && (style.integral || !float_to) {
            value = self.through(File::W64, integral(style.round), value);
        }
        if style.relu {
            value = self.through(File::W64, lanes!(f64: |a: f64| if a <= 0.0 { 0.0 } else { a }), value);
        }
        if style.finite {
            value = self.through(File::W64, finite(to), value);
        }
        if style.sat && float_to {
            value = self.through(File::W64, saturate(between), value);
        }
        if style.ftz && to == Type::F32 {
            let unflushed = self.temporary(File::W32);
            self.lanes(narrow, unflushed, &[value]);
            self.lanes(flush(), d, &[unflushed]);
        } else {
            self.lanes(narrow, d, &[value]);
        }
        Ok(())
    }

    /// `cvt.rn.f16x2.f32 d, a, b`: `a` becomes the high half.
    fn cvt_pair(&mut self, to: Type, style: Style, ops: &[Operand]) -> Result<(), Error> {
        let run = match (to, style.round) {
            (Type::F16x2, Some(Round::Nearest)) => {
                lanes!(Pair<Half>: |a: f32, b: f32| pair(a, b, Round::Nearest))
            }
            (Type::F16x2, Some(Round::Zero)) => lanes!(Pair<Half>: |a: f32, b: f32| pair(a, b, Round::Zero)),
            (_, Some(Round::Nearest)) => lanes!(Pair<Bfloat>: |a: f32, b: f32| pair(a, b, Round::Nearest)),
            (_, Some(Round::Zero)) => lanes!(Pair<Bfloat>: |a: f32, b: f32| pair(a, b, Round::Zero)),
            _ => return Err(self.unsupported("a packed conversion without .rn or .rz")),
        };
        if style.sat || style.ftz {
            return Err(self.unsupported("`.sat` or `.ftz` of a packed conversion"));
        }
        self.arity(ops, 3..=3)?;
        let (mut a, mut b) = (self.source(ops, 1, Type::F32)?, self.source(ops, 2, Type::F32)?);
        if style.relu {
            let relu = lanes!(f32: |a: f32| if a <= 0.0 { 0.0 } else { a });
            (a, b) = (self.through(File::W32, relu, a), self.through(File::W32, relu, b));
        }
        if style.finite {
            let clamp = if to == Type::F16x2 {
                lanes!(f32: |a: f32| a.clamp(-65504.0, 65504.0))
            } else {
                lanes!(f32: |a: f32| a.clamp(-BF16_MAX, BF16_MAX))
            };
            (a, b) = (self.through(File::W32, clamp, a), self.through(File::W32, clamp, b));
        }
        let d = self.destination(ops, 0, to)?;
        self.lanes(run, d, &[a, b]);
        Ok(())
    }

    /// The register of a source of a conversion, which may be wider than the type.
    fn source_wide(&mut self, ops: &[Operand], index: usize, ty: Type) -> Result<Reg, Error> {
        if let (Some(Operand::Name(name)), Some(File::W32)) = (ops.get(index), super::file(ty))
            && let Some(reg) = self.any_register(name)?
            && reg.file == File::W64
        {
            self.reads.push(reg);
            return Ok(self.through(File::W32, lanes!(u32: |a: u64| a as u32), reg));
        }
        self.source(ops, index, ty)
    }

    /// The register of a destination of a conversion, which may be wider than the type.
    fn destination_wide(&mut self, ops: &[Operand], index: usize, ty: Type) -> Result<Reg, Error> {
        if let (Some(Operand::Name(name)), Some(File::W32)) = (ops.get(index), super::file(ty))
            && let Some(reg) = self.any_register(name)?
            && reg.file == File::W64
        {
            self.writes.push(reg);
            return Ok(reg);
        }
        self.destination(ops, index, ty)
    }

    /// The result of a function of one register, in a temporary of this file.
    pub(super) fn through(&mut self, file: File, run: LaneFn, a: Reg) -> Reg {
        let d = self.temporary(file);
        self.lanes(run, d, &[a]);
        d
    }
}

fn pair<T: Narrow>(high: f32, low: f32, mode: Round) -> Pair<T> {
    Pair(T::rounded(low.into(), mode), T::rounded(high.into(), mode))
}
