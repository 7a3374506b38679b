//! `mapa`, `getctarank`, `barrier.cluster` (PTX ISA, "Distributed Shared Memory", "barrier.cluster").

use girih_ptx::{Opcode, Operand, Special, Type, Word};

use super::words::Words;
use super::{Decoder, File};
use crate::Error;
use crate::lanes::lanes;
use crate::op::{Gate, Op};
use crate::space::SHARED_WINDOW;

impl Decoder<'_> {
    /// `mapa`, `getctarank`. The rank of a block is in bits 24 to 27 of its shared addresses, generic ones
    /// included.
    pub(super) fn cluster(
        &mut self,
        opcode: Opcode,
        words: &mut Words<'_>,
        ops: &[Operand],
    ) -> Result<(), Error> {
        let generic = !words.take(Word::SharedCluster);
        let ty = words.ty().filter(|ty| matches!(ty, Type::U32 | Type::U64));
        let ty =
            ty.ok_or_else(|| self.unsupported("this instruction with another type than .u32 or .u64"))?;
        let wide = ty == Type::U64;
        if opcode == Opcode::Getctarank {
            let run = if wide {
                lanes!(u32: |a: u64| (a >> 24 & 15) as u32)
            } else {
                lanes!(u32: |a: u32| a >> 24 & 15)
            };
            return self.simple(run, ops, Type::U32, &[ty]);
        }
        self.arity(ops, 3..=3)?;
        let run = match (wide, generic) {
            (true, true) => lanes!(u64: |a: u64, b: u32| {
                // Only shared memory has a counterpart in another block.
                if a.wrapping_sub(SHARED_WINDOW) >> 32 == 0 { a & !(0xff << 24) | u64::from(b) << 24 } else { a }
            }),
            (true, false) => lanes!(u64: |a: u64, b: u32| a & 0xff_ffff | u64::from(b) << 24),
            _ => lanes!(u32: |a: u32, b: u32| a & 0xff_ffff | b << 24),
        };
        let a = self.source(ops, 1, ty)?;
        let b = self.source(ops, 2, Type::U32)?;
        let d = self.destination(ops, 0, ty)?;
        self.lanes(run, d, &[a, b]);
        Ok(())
    }

    /// `barrier.cluster`.
    pub(super) fn gate(&mut self, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        let arrive = words
            .pick(&[(Word::Arrive, true), (Word::Wait, false)])
            .ok_or_else(|| self.unsupported("a barrier.cluster that is not .arrive or .wait"))?;
        let relaxed = arrive && words.take(Word::Relaxed);
        words.skip(if arrive { &[Word::Release] } else { &[Word::Acquire] });
        let aligned = words.take(Word::Aligned);
        self.arity(ops, 0..=0)?;
        self.emit(Op::Gate(Gate { arrive, ordered: !relaxed, aligned }));
        Ok(())
    }

    /// `isspacep.shared::cta`: whether a generic address is in the window of this block's shared memory.
    pub(super) fn is_own_shared(&mut self, ops: &[Operand]) -> Result<(), Error> {
        self.arity(ops, 2..=2)?;
        let a = self.source(ops, 1, Type::U64)?;
        let rank = self.special(Special::ClusterCtarank, File::W64)?;
        let d = self.destination(ops, 0, Type::Pred)?;
        self.lanes(lanes!(bool: |a: u64, b: u64| a.wrapping_sub(SHARED_WINDOW) >> 24 == b), d, &[a, rank]);
        Ok(())
    }
}
