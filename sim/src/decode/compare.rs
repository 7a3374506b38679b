//! `set`, `slct`, `testp`, `copysign`, `isspacep` (PTX ISA, "Comparison and Selection Instructions", "Floating-Point
//! Instructions").

use girih_ptx::{Opcode, Operand, Type, Word};

use super::float::flush_of;
use super::select::{COMPARES, Compare, comparison, half};
use super::words::Words;
use super::{Decoder, File, file};
use crate::Error;
use crate::lanes::{LaneFn, Reg, lanes};
use crate::space::{LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW};

impl Decoder<'_> {
    pub(super) fn compare(
        &mut self,
        opcode: Opcode,
        words: &mut Words<'_>,
        ops: &[Operand],
    ) -> Result<(), Error> {
        match opcode {
            Opcode::Set => self.set(words, ops),
            Opcode::Slct => self.slct(words, ops),
            Opcode::Testp => self.testp(words, ops),
            Opcode::Copysign => {
                let ty = self.last(words)?;
                let run = match ty {
                    Type::F32 => Some(lanes!(u32: |a: u32, b: u32| a & 1 << 31 | b & (u32::MAX >> 1))),
                    Type::F64 => Some(lanes!(u64: |a: u64, b: u64| a & 1 << 63 | b & (u64::MAX >> 1))),
                    _ => None,
                };
                self.typed(run, ty, ops, ty, &[ty, ty])
            }
            _ => self.isspacep(words, ops),
        }
    }

    /// `set`: all ones, or 1.0, where the comparison is true, and 0 elsewhere.
    fn set(&mut self, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        let compare = words.pick(COMPARES).ok_or_else(|| self.unsupported("a set without a comparison"))?;
        let combine =
            words.pick(&[(Word::And, Opcode::And), (Word::Or, Opcode::Or), (Word::Xor, Opcode::Xor)]);
        let ftz = words.take(Word::Ftz);
        let (to, ty) = (self.last(words)?, self.last(words)?);
        let arity = 3 + usize::from(combine.is_some());
        self.arity(ops, arity..=arity)?;
        let combine = match combine {
            Some(opcode) => Some((opcode, self.source(ops, 3, Type::Pred)?)),
            None => None,
        };
        if let Some(half) = half(ty) {
            return self.set_pair(compare, ftz, combine, (to, ty, half), ops);
        }
        let run = comparison(compare, ty);
        let run = run.ok_or_else(|| self.unsupported(&format!("this comparison of type `.{ty}`")))?;
        let finish = match to {
            Type::U32 | Type::S32 => lanes!(u32: |p: bool| if p { u32::MAX } else { 0 }),
            Type::U16 | Type::S16 => lanes!(u32: |p: bool| if p { 0xffff } else { 0 }),
            Type::F32 => lanes!(f32: |p: bool| if p { 1.0 } else { 0.0 }),
            Type::F16 => lanes!(u32: |p: bool| if p { 0x3c00 } else { 0 }),
            Type::Bf16 => lanes!(u32: |p: bool| if p { 0x3f80 } else { 0 }),
            _ => return Err(self.unsupported(&format!("a set of type `.{to}`"))),
        };
        let mut sources = [self.source(ops, 1, ty)?, self.source(ops, 2, ty)?];
        if let Some(flush) = flush_of(ty).filter(|_| ftz) {
            sources = sources.map(|source| self.through(File::W32, flush, source));
        }
        let mut holds = self.temporary(File::Pred);
        self.lanes(run, holds, &sources);
        holds = self.combined(combine, holds);
        let d = self.destination(ops, 0, to)?;
        self.lanes(finish, d, &[holds]);
        Ok(())
    }

    /// `set` of a packed type: 1.0 or all ones in each half where the comparison is true.
    fn set_pair(
        &mut self,
        compare: Compare,
        ftz: bool,
        combine: Option<(Opcode, Reg)>,
        (to, ty, half): (Type, Type, Type),
        ops: &[Operand],
    ) -> Result<(), Error> {
        let one = match to {
            Type::F16x2 => 0x3c00,
            Type::Bf16x2 => 0x3f80,
            Type::U32 | Type::S32 => 0xffff,
            _ => return Err(self.unsupported(&format!("a set of type `.{to}` of `.{ty}`"))),
        };
        let holds = self.compare_halves(compare, ftz, (ty, half), ops)?;
        let holds = holds.map(|holds| self.combined(combine, holds));
        let one = self.constant(File::W32, one);
        let d = self.destination(ops, 0, to)?;
        let run = lanes!(u32: |p: bool, q: bool, one: u32| {
            (if p { one } else { 0 }) | if q { one << 16 } else { 0 }
        });
        self.lanes(run, d, &[holds[0], holds[1], one]);
        Ok(())
    }

    /// The comparisons of the low and of the high halves of operands 1 and 2.
    pub(super) fn compare_halves(
        &mut self,
        compare: Compare,
        ftz: bool,
        (ty, half): (Type, Type),
        ops: &[Operand],
    ) -> Result<[Reg; 2], Error> {
        let run = comparison(compare, half);
        let run = run.ok_or_else(|| self.unsupported(&format!("this comparison of type `.{ty}`")))?;
        let mut sources = [self.source(ops, 1, ty)?, self.source(ops, 2, ty)?];
        if let Some(flush) = flush_of(ty).filter(|_| ftz) {
            sources = sources.map(|source| self.through(File::W32, flush, source));
        }
        let high = sources.map(|source| self.through(File::W32, lanes!(u32: |a: u32| a >> 16), source));
        Ok([sources, high].map(|sources| {
            let holds = self.temporary(File::Pred);
            self.lanes(run, holds, &sources);
            holds
        }))
    }

    /// `slct`: `a` where the last operand is at least zero, `b` elsewhere. -0 is at least zero, NaN is not.
    fn slct(&mut self, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        let ftz = words.take(Word::Ftz);
        let (ty, by) = (self.last(words)?, self.last(words)?);
        let run = match (file(ty), by) {
            (Some(File::W32), Type::S32) if !ftz => {
                Some(lanes!(u32: |a: u32, b: u32, c: i32| if c >= 0 { a } else { b }))
            }
            (Some(File::W64), Type::S32) if !ftz => {
                Some(lanes!(u64: |a: u64, b: u64, c: i32| if c >= 0 { a } else { b }))
            }
            // With `.ftz` a negative subnormal number counts as -0, and so as at least zero.
            (Some(File::W32), Type::F32) if ftz => {
                Some(lanes!(u32: |a: u32, b: u32, c: f32| if c > -f32::MIN_POSITIVE { a } else { b }))
            }
            (Some(File::W64), Type::F32) if ftz => {
                Some(lanes!(u64: |a: u64, b: u64, c: f32| if c > -f32::MIN_POSITIVE { a } else { b }))
            }
            (Some(File::W32), Type::F32) => {
                Some(lanes!(u32: |a: u32, b: u32, c: f32| if c >= 0.0 { a } else { b }))
            }
            (Some(File::W64), Type::F32) => {
                Some(lanes!(u64: |a: u64, b: u64, c: f32| if c >= 0.0 { a } else { b }))
            }
            _ => None,
        };
        self.typed(run, ty, ops, ty, &[ty, ty, by])
    }

    fn testp(&mut self, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        macro_rules! test {
            (|$x:ident| $value:expr) => {
                (lanes!(bool: |$x: f32| $value), lanes!(bool: |$x: f64| $value))
            };
        }
        let tests: &[(Word, (LaneFn, LaneFn))] = &[
            (Word::Finite, test!(|x| x.is_finite())),
            (Word::Infinite, test!(|x| x.is_infinite())),
            (Word::Number, test!(|x| !x.is_nan())),
            (Word::Notanumber, test!(|x| x.is_nan())),
            (Word::Normal, test!(|x| x.is_normal() || x == 0.0)),
            (Word::Subnormal, test!(|x| x.is_subnormal())),
        ];
        let test = words.pick(tests).ok_or_else(|| self.unsupported("a testp of this property"))?;
        let ty = self.last(words)?;
        let run = match ty {
            Type::F32 => Some(test.0),
            Type::F64 => Some(test.1),
            _ => None,
        };
        self.typed(run, ty, ops, Type::Pred, &[ty])
    }

    /// `isspacep`: whether a generic address is in a space. Constant memory can't be told from global memory, of which
    /// it is a part here.
    fn isspacep(&mut self, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        if words.pick(&[(Word::Shared, ()), (Word::SharedCta, ())]).is_some() {
            return self.is_own_shared(ops);
        }
        let global = lanes!(bool: |a: u64| a < SHARED_WINDOW);
        let shared = lanes!(bool: |a: u64| a.wrapping_sub(SHARED_WINDOW) >> 32 == 0);
        let spaces = [
            (Word::Global, global),
            (Word::SharedCluster, shared),
            (Word::Local, lanes!(bool: |a: u64| a.wrapping_sub(LOCAL_WINDOW) >> 32 == 0)),
            (Word::Param, lanes!(bool: |a: u64| a.wrapping_sub(PARAM_WINDOW) >> 32 == 0)),
            (Word::ParamEntry, lanes!(bool: |a: u64| a.wrapping_sub(PARAM_WINDOW) >> 32 == 0)),
        ];
        let run = words.pick(&spaces);
        let run = run.ok_or_else(|| {
            self.unsupported("an isspacep of the const space, which is a part of the global one here")
        })?;
        self.simple(run, ops, Type::Pred, &[Type::U64])
    }
}
