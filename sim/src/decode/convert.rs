//! `cvt` (PTX ISA, "Data Movement and Conversion Instructions: cvt").
//!
//! A conversion has two steps. The first goes to a 64-bit integer or f64 and is exact; the second goes to the
//! destination and rounds once. Common exact conversions have only one step.

mod fp8;

use girih_ptx::{Operand, Type, Word};

use super::float::{ROUNDS, flush};
use super::words::Words;
use super::{Decoder, File};
use crate::Error;
use crate::float::exact::{F64, integer};
use crate::float::{BF16, Bfloat, F16, F32, Half, Narrow, Pair, Round, TF32, canon, round, to_f32};
use crate::lanes::{LaneFn, Reg, by_type, lanes};

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

/// The largest bf16.
const BF16_MAX: f32 = f32::from_bits(0x7f7f_0000);

/// Clamps to the range of a narrower type; NaN stays NaN.
fn finite(to: Type) -> LaneFn {
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

fn pair<T: Narrow>(high: f32, low: f32, mode: Round) -> Pair<T> {
    Pair(T::rounded(low.into(), mode), T::rounded(high.into(), mode))
}

/// Conversions with one step: exact ones, and truncations of integers.
fn direct(to: Type, from: Type) -> Option<LaneFn> {
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
fn widen(from: Type) -> Option<LaneFn> {
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
fn integral(mode: Option<Round>) -> LaneFn {
    match mode {
        Some(Round::Nearest | Round::Away) => lanes!(f64: |a: f64| a.round_ties_even()),
        Some(Round::Down) => lanes!(f64: |a: f64| a.floor()),
        Some(Round::Up) => lanes!(f64: |a: f64| a.ceil()),
        Some(Round::Zero) | None => lanes!(f64: |a: f64| a.trunc()),
    }
}

/// `.sat` of a floating-point destination: clamps to [0, 1], where NaN becomes 0.
fn saturate(between: Between) -> LaneFn {
    match between {
        Between::Signed => lanes!(i64: |a: i64| a.clamp(0, 1)),
        Between::Unsigned => lanes!(u64: |a: u64| a.min(1)),
        Between::Float => lanes!(f64: |a: f64| if a > 0.0 { a.min(1.0) } else { 0.0 }),
    }
}

/// A conversion that saturates. NaN becomes 0, or, where f64 or a 64-bit integer takes part, the number with only the
/// highest bit set.
fn float_to_int(to: Type, from_f64: bool) -> Option<LaneFn> {
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

fn int_to_int(to: Type, from: Between, saturate: bool) -> Option<LaneFn> {
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

fn float_to_float(to: Type, mode: Option<Round>) -> Option<LaneFn> {
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
fn tf32_away(a: u32) -> u32 {
    let nan = a & 0x7fff_ffff > 0x7f80_0000;
    (if nan { a } else { a + 0x1000 }) & UPPER
}

/// tf32 with `.rna.satfinite`. An infinity becomes the largest finite number by subtracting one unit, and hardware does
/// the same to NaNs.
fn tf32_finite(a: u32) -> u32 {
    let bits = tf32_away(a);
    if bits & 0x7fff_ffff >= 0x7f80_0000 { bits - !UPPER - 1 } else { bits }
}

/// A conversion from f64. A NaN keeps those of its bits that the destination has room for.
fn double_to_float(to: Type, mode: Option<Round>) -> Option<LaneFn> {
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

fn int_to_float(to: Type, from: Between, mode: Option<Round>) -> Option<LaneFn> {
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
