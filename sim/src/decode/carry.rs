//! Sums that read or write the carry flag (PTX ISA, "Extended-Precision Integer Arithmetic Instructions").
//!
//! A difference is a sum with the complement. So the flag after a difference is the opposite of the borrow, and a
//! difference with borrow reads the flag in the same way, as the hardware does. This matters where sums and differences
//! are mixed.

use girih_ptx::{Opcode, Operand, Type, Word};

use super::words::Words;
use super::{Decoder, File, file};
use crate::Error;
use crate::lanes::{LaneFn, Reg, by_type, lanes};

/// The functions for the sum or the difference of two numbers and the carry flag: the result, and the new flag.
fn sums(ty: Type, subtract: bool) -> Option<(LaneFn, LaneFn)> {
    let bits = if matches!(ty, Type::U32 | Type::S32) { Type::U32 } else { ty };
    let bits = if matches!(bits, Type::U64 | Type::S64) { Type::U64 } else { bits };
    if subtract {
        return by_type!(bits, T in [U32: u32, U64: u64] (
            lanes!(T: |a: T, b: T, c: bool| a.wrapping_sub(b).wrapping_sub((!c).into())),
            lanes!(bool: |a: T, b: T, c: bool| a > b || a == b && c)
        ));
    }
    by_type!(bits, T in [U32: u32, U64: u64] (
        lanes!(T: |a: T, b: T, c: bool| a.wrapping_add(b).wrapping_add(c.into())),
        lanes!(bool: |a: T, b: T, c: bool| {
            let sum = a.wrapping_add(b);
            sum < a || sum == T::MAX && c
        })
    ))
}

impl Decoder<'_> {
    /// `add.cc`, `addc`, `sub.cc`, `subc`; the opcode says whether the flag is read, `sets` whether it is written.
    pub(super) fn carry(
        &mut self,
        opcode: Opcode,
        sets: bool,
        words: &mut Words<'_>,
        ops: &[Operand],
    ) -> Result<(), Error> {
        let sets = sets || words.take(Word::Cc);
        let ty = self.last(words)?;
        self.arity(ops, 3..=3)?;
        let (a, b) = (self.source(ops, 1, ty)?, self.source(ops, 2, ty)?);
        let subtract = matches!(opcode, Opcode::Sub | Opcode::Subc);
        let reads = matches!(opcode, Opcode::Addc | Opcode::Subc);
        self.carried(subtract, (reads, sets), ty, ops, (a, b))
    }

    /// `mad.lo.cc`, `mad.hi.cc`, `madc.lo`, `madc.hi`: the low or high half of a product, and a sum with carry.
    pub(super) fn carry_product(
        &mut self,
        reads: bool,
        words: &mut Words<'_>,
        ops: &[Operand],
    ) -> Result<(), Error> {
        let high = words.pick(&[(Word::Lo, false), (Word::Hi, true)]);
        let high = high.ok_or_else(|| self.unsupported("a product with carry that is not .lo or .hi"))?;
        let sets = words.take(Word::Cc);
        let ty = self.last(words)?;
        let run = if high {
            by_type!(ty, T in [U32: u32, S32: i32, U64: u64, S64: i64]
                lanes!(T: |a: T, b: T| ((i128::from(a) * i128::from(b)) >> T::BITS) as T))
        } else {
            by_type!(ty, T in [U32: u32, S32: i32, U64: u64, S64: i64] lanes!(T: |a: T, b: T| a.wrapping_mul(b)))
        };
        // An unsigned product of two 64-bit numbers does not fit a signed 128-bit number.
        let run = match (high, ty) {
            (true, Type::U64) => {
                Some(lanes!(u64: |a: u64, b: u64| ((u128::from(a) * u128::from(b)) >> 64) as u64))
            }
            _ => run,
        };
        let (Some(run), Some(file)) = (run, file(ty)) else {
            return Err(self.unsupported(&format!("this instruction with type `.{ty}`")));
        };
        self.arity(ops, 4..=4)?;
        let (a, b, c) = (self.source(ops, 1, ty)?, self.source(ops, 2, ty)?, self.source(ops, 3, ty)?);
        let product = self.temporary(file);
        self.lanes(run, product, &[a, b]);
        self.carried(false, (reads, sets), ty, ops, (product, c))
    }

    fn carried(
        &mut self,
        subtract: bool,
        (reads, sets): (bool, bool),
        ty: Type,
        ops: &[Operand],
        (a, b): (Reg, Reg),
    ) -> Result<(), Error> {
        let Some((sum, carry)) = sums(ty, subtract) else {
            return Err(self.unsupported(&format!("this instruction with type `.{ty}`")));
        };
        let d = self.destination(ops, 0, ty)?;
        let flag = self.carry_flag();
        let before = if reads { flag } else { self.constant(File::Pred, subtract.into()) };
        if reads {
            self.reads.push(flag);
        }
        if !sets {
            self.lanes(sum, d, &[a, b, before]);
            return Ok(());
        }
        // The destination may be one of the sources, from which the carry is computed too.
        let value = self.temporary(d.file);
        self.lanes(sum, value, &[a, b, before]);
        self.lanes(carry, flag, &[a, b, before]);
        self.writes.push(flag);
        let copy = if d.file == File::W64 { lanes!(u64: |a: u64| a) } else { lanes!(u32: |a: u32| a) };
        self.lanes(copy, d, &[value]);
        Ok(())
    }

    /// The register of the carry flag `CC.CF`.
    fn carry_flag(&mut self) -> Reg {
        if let Some(flag) = self.carry {
            return flag;
        }
        let flag = self.temporary(File::Pred);
        self.code.names.push((flag, "CC.CF".into(), Type::Pred));
        self.carry = Some(flag);
        flag
    }
}
