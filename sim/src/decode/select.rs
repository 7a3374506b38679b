//! `mov`, `selp`, `setp` (PTX ISA, "Data Movement and Conversion", "Comparison and Selection Instructions").

use girih_ptx::{Opcode, Operand, Type, Word};

use super::float::flush_of;
use super::words::Words;
use super::{Decoder, File, file};
use crate::Error;
use crate::float::{Bfloat, Half, Narrow};
use crate::lanes::{LaneFn, Reg, by_type, lanes, predicates};

/// A comparison (PTX ISA, "Comparison Operators"). An unordered comparison is true if an operand is NaN.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Equ,
    Neu,
    Ltu,
    Leu,
    Gtu,
    Geu,
    Num,
    Nan,
}

pub(super) const COMPARES: &[(Word, Compare)] = &[
    (Word::Eq, Compare::Eq),
    (Word::Ne, Compare::Ne),
    (Word::Lt, Compare::Lt),
    (Word::Le, Compare::Le),
    (Word::Gt, Compare::Gt),
    (Word::Ge, Compare::Ge),
    // The unsigned comparisons have names of their own. Whether a comparison is unsigned follows from the type too.
    (Word::Lo, Compare::Lt),
    (Word::Ls, Compare::Le),
    (Word::Hi, Compare::Gt),
    (Word::Hs, Compare::Ge),
    (Word::Equ, Compare::Equ),
    (Word::Neu, Compare::Neu),
    (Word::Ltu, Compare::Ltu),
    (Word::Leu, Compare::Leu),
    (Word::Gtu, Compare::Gtu),
    (Word::Geu, Compare::Geu),
    (Word::Num, Compare::Num),
    (Word::IsNan, Compare::Nan),
];

macro_rules! compare {
    ($ty:expr, [$($list:tt)*] |$a:ident, $b:ident| $value:expr) => {
        by_type!($ty, T in [$($list)*] lanes!(bool: |$a: T, $b: T| $value))
    };
}

macro_rules! integers {
    ($ty:expr, |$a:ident, $b:ident| $value:expr) => {
        compare!($ty, [U16: u16, S16: i16, U32: u32, S32: i32, U64: u64, S64: i64, B16: u16, B32: u32, B64: u64]
            |$a, $b| $value)
    };
}

macro_rules! floats {
    ($ty:expr, |$a:ident, $b:ident| $value:expr) => {
        compare!($ty, [F32: f32, F64: f64] |$a, $b| $value).or_else(|| {
            by_type!($ty, T in [F16: Half, Bf16: Bfloat] lanes!(bool: |a: T, b: T| {
                let ($a, $b) = (a.value(), b.value());
                $value
            }))
        })
    };
}

pub(super) fn comparison(compare: Compare, ty: Type) -> Option<LaneFn> {
    use Compare as C;
    match compare {
        C::Eq => integers!(ty, |a, b| a == b).or_else(|| floats!(ty, |a, b| a == b)),
        C::Ne => {
            integers!(ty, |a, b| a != b).or_else(|| floats!(ty, |a, b| a != b && !a.is_nan() && !b.is_nan()))
        }
        C::Lt => integers!(ty, |a, b| a < b).or_else(|| floats!(ty, |a, b| a < b)),
        C::Le => integers!(ty, |a, b| a <= b).or_else(|| floats!(ty, |a, b| a <= b)),
        C::Gt => integers!(ty, |a, b| a > b).or_else(|| floats!(ty, |a, b| a > b)),
        C::Ge => integers!(ty, |a, b| a >= b).or_else(|| floats!(ty, |a, b| a >= b)),
        C::Equ => floats!(ty, |a, b| a == b || a.is_nan() || b.is_nan()),
        C::Neu => floats!(ty, |a, b| a != b),
        C::Ltu => floats!(ty, |a, b| a < b || a.is_nan() || b.is_nan()),
        C::Leu => floats!(ty, |a, b| a <= b || a.is_nan() || b.is_nan()),
        C::Gtu => floats!(ty, |a, b| a > b || a.is_nan() || b.is_nan()),
        C::Geu => floats!(ty, |a, b| a >= b || a.is_nan() || b.is_nan()),
        C::Num => floats!(ty, |a, b| !a.is_nan() && !b.is_nan()),
        C::Nan => floats!(ty, |a, b| a.is_nan() || b.is_nan()),
    }
}

/// The type of each half of a packed type.
pub(super) fn half(ty: Type) -> Option<Type> {
    match ty {
        Type::F16x2 => Some(Type::F16),
        Type::Bf16x2 => Some(Type::Bf16),
        _ => None,
    }
}

/// The lane function that copies a register of a file other than the predicates'.
fn copy(file: File) -> LaneFn {
    if file == File::W64 { lanes!(u64: |a: u64| a) } else { lanes!(u32: |a: u32| a) }
}

impl Decoder<'_> {
    pub(super) fn select(
        &mut self,
        opcode: Opcode,
        words: &mut Words<'_>,
        ops: &[Operand],
    ) -> Result<(), Error> {
        match opcode {
            Opcode::Setp => self.setp(words, ops),
            Opcode::Selp => {
                let ty = self.last(words)?;
                let run = match file(ty) {
                    Some(File::W32) => lanes!(u32: |a: u32, b: u32, p: bool| a.or(b, p)),
                    Some(File::W64) => lanes!(u64: |a: u64, b: u64, p: bool| a.or(b, p)),
                    _ => return Err(self.unsupported(&format!("a selp of type `.{ty}`"))),
                };
                self.simple(run, ops, ty, &[ty, ty, Type::Pred])
            }
            _ => self.mov(words, ops),
        }
    }

    fn setp(&mut self, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        let compare = words.pick(COMPARES).ok_or_else(|| self.unsupported("a setp without a comparison"))?;
        let combine =
            words.pick(&[(Word::And, Opcode::And), (Word::Or, Opcode::Or), (Word::Xor, Opcode::Xor)]);
        let ftz = words.take(Word::Ftz);
        let ty = self.last(words)?;
        let arity = 3 + usize::from(combine.is_some());
        self.arity(ops, arity..=arity)?;
        let combine = match combine {
            Some(opcode) => Some((opcode, self.source(ops, 3, Type::Pred)?)),
            None => None,
        };
        if let (Some(half), Some(Operand::Pair(p, q))) = (half(ty), ops.first()) {
            // Both results are computed before either destination is written, since a destination may be the third
            // source.
            let holds = self.compare_halves(compare, ftz, (ty, half), ops)?;
            let holds = holds.map(|holds| self.combined(combine, holds));
            for (name, holds) in [p, q].into_iter().zip(holds) {
                let d = self.destination_name(name, File::Pred)?;
                self.lanes(predicates!(|a| a), d, &[holds]);
            }
            return Ok(());
        }
        let run = comparison(compare, ty);
        let run = run.ok_or_else(|| self.unsupported(&format!("this comparison of type `.{ty}`")))?;
        let mut sources = [self.source(ops, 1, ty)?, self.source(ops, 2, ty)?];
        if let Some(flush) = flush_of(ty).filter(|_| ftz) {
            sources = sources.map(|source| self.through(File::W32, flush, source));
        }
        let (p, q) = match &ops[0] {
            Operand::Pair(p, q) => {
                (self.destination_name(p, File::Pred)?, Some(self.destination_name(q, File::Pred)?))
            }
            _ => (self.destination(ops, 0, Type::Pred)?, None),
        };
        if combine.is_none() && q.is_none() {
            self.lanes(run, p, &sources);
            return Ok(());
        }
        // Both results are computed before either destination is written, since a destination may be the third source.
        let holds = self.temporary(File::Pred);
        self.lanes(run, holds, &sources);
        let fails = self.through(File::Pred, predicates!(|a| !a), holds);
        let second = q.map(|q| (q, self.combined(combine, fails)));
        let first = self.combined(combine, holds);
        let copy = predicates!(|a| a);
        if let Some((q, second)) = second {
            self.lanes(copy, q, &[second]);
        }
        self.lanes(copy, p, &[first]);
        Ok(())
    }

    pub(super) fn combined(&mut self, combine: Option<(Opcode, Reg)>, value: Reg) -> Reg {
        let Some((opcode, third)) = combine else { return value };
        let run = match opcode {
            Opcode::And => predicates!(|a, b| a & b),
            Opcode::Or => predicates!(|a, b| a | b),
            _ => predicates!(|a, b| a ^ b),
        };
        let d = self.temporary(File::Pred);
        self.lanes(run, d, &[value, third]);
        d
    }

    fn mov(&mut self, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        let count = words.pick(&[(Word::V2, 2), (Word::V4, 4)]);
        let ty = self.last(words)?;
        if let Some(count) = count {
            return self.mov_vector(count, ty, ops);
        }
        self.arity(ops, 2..=2)?;
        if ty == Type::B128 {
            return self.mov_wide(ops);
        }
        match (&ops[0], &ops[1]) {
            (Operand::Vector(parts), _) => self.unpack(ty, parts, ops),
            (_, Operand::Vector(parts)) => self.pack(ty, parts, ops),
            _ => {
                let run = match file(ty) {
                    Some(File::Pred) => predicates!(|a| a),
                    Some(File::W32) => lanes!(u32: |a: u32| a),
                    Some(File::W64) => lanes!(u64: |a: u64| a),
                    None => return Err(self.unsupported(&format!("a mov of type `.{ty}`"))),
                };
                self.simple(run, ops, ty, &[ty])
            }
        }
    }

    /// `mov.v2.b32 {d, e}, {a, b}`.
    fn mov_vector(&mut self, count: usize, ty: Type, ops: &[Operand]) -> Result<(), Error> {
        let [Operand::Vector(to), Operand::Vector(from)] = ops else {
            return Err(self.operand(ops, 0, &format!("two vectors of {count} registers of type .{ty}")));
        };
        if (to.len(), from.len()) != (count, count) {
            return Err(self.operand(ops, 0, &format!("two vectors of {count} registers of type .{ty}")));
        }
        // A destination may also be a source of another part.
        let mut parts = Vec::with_capacity(count);
        for i in 0..count {
            let a = self.source(from, i, ty)?;
            parts.push(self.through(a.file, copy(a.file), a));
        }
        for (i, a) in parts.into_iter().enumerate() {
            if to[i] != Operand::Sink {
                let d = self.destination(to, i, ty)?;
                self.lanes(copy(a.file), d, &[a]);
            }
        }
        Ok(())
    }

    /// `mov.b128` between a register and a register or two halves.
    fn mov_wide(&mut self, ops: &[Operand]) -> Result<(), Error> {
        let a = match &ops[1] {
            Operand::Vector(parts) if parts.len() == 2 => {
                [self.source(parts, 0, Type::B64)?, self.source(parts, 1, Type::B64)?]
            }
            _ => self.source_halves(ops, 1)?,
        };
        // A half that is a destination may also be a source of the other half.
        let copy = lanes!(u64: |a: u64| a);
        let a = a.map(|half| self.through(File::W64, copy, half));
        let d = match &ops[0] {
            Operand::Vector(parts) if parts.len() == 2 => {
                [self.destination(parts, 0, Type::B64)?, self.destination(parts, 1, Type::B64)?]
            }
            _ => self.destination_halves(ops, 0)?,
        };
        for (d, a) in d.into_iter().zip(a) {
            self.lanes(copy, d, &[a]);
        }
        Ok(())
    }

    /// `mov.b32 {lo, hi}, a`.
    fn unpack(&mut self, ty: Type, parts: &[Operand], ops: &[Operand]) -> Result<(), Error> {
        let runs: &[LaneFn] = match (ty.bytes(), parts.len()) {
            (Some(4), 2) => &[lanes!(u16: |a: u32| a as u16), lanes!(u16: |a: u32| (a >> 16) as u16)],
            (Some(8), 2) => &[lanes!(u32: |a: u64| a as u32), lanes!(u32: |a: u64| (a >> 32) as u32)],
            (Some(8), 4) => &[
                lanes!(u16: |a: u64| a as u16),
                lanes!(u16: |a: u64| (a >> 16) as u16),
                lanes!(u16: |a: u64| (a >> 32) as u16),
                lanes!(u16: |a: u64| (a >> 48) as u16),
            ],
            (Some(4), 4) => &[
                lanes!(u8: |a: u32| a as u8),
                lanes!(u8: |a: u32| (a >> 8) as u8),
                lanes!(u8: |a: u32| (a >> 16) as u8),
                lanes!(u8: |a: u32| (a >> 24) as u8),
            ],
            _ => return Err(self.unsupported(&format!("a mov of `.{ty}` to {} registers", parts.len()))),
        };
        let a = self.source(ops, 1, ty)?;
        // A part of 32 bits may have the same register as the source.
        let a = self.through(a.file, copy(a.file), a);
        for (i, run) in runs.iter().enumerate() {
            if parts[i] != Operand::Sink {
                let d = self.destination(parts, i, Type::B32)?;
                self.lanes(*run, d, &[a]);
            }
        }
        Ok(())
    }

    /// `mov.b32 d, {lo, hi}`.
    fn pack(&mut self, ty: Type, parts: &[Operand], ops: &[Operand]) -> Result<(), Error> {
        let run = match (ty.bytes(), parts.len()) {
            (Some(2), 2) => lanes!(u16: |a: u8, b: u8| u16::from(a) | u16::from(b) << 8),
            (Some(4), 2) => lanes!(u32: |a: u16, b: u16| u32::from(a) | u32::from(b) << 16),
            (Some(8), 2) => lanes!(u64: |a: u32, b: u32| u64::from(a) | u64::from(b) << 32),
            (Some(4), 4) => lanes!(u32: |a: u8, b: u8, c: u8, d: u8| u32::from_le_bytes([a, b, c, d])),
            (Some(8), 4) => lanes!(u64: |a: u16, b: u16, c: u16, d: u16| {
                u64::from(a) | u64::from(b) << 16 | u64::from(c) << 32 | u64::from(d) << 48
            }),
            _ => return Err(self.unsupported(&format!("a mov of {} registers to `.{ty}`", parts.len()))),
        };
        let mut sources = Vec::with_capacity(parts.len());
        for i in 0..parts.len() {
            sources.push(self.source(parts, i, Type::B32)?);
        }
        let d = self.destination(ops, 0, ty)?;
        self.lanes(run, d, &sources);
        Ok(())
    }
}
