//! `mma.sync`.

use girih_ptx::{Operand, Type, Word};

use super::Decoder;
use super::words::Words;
use crate::Error;
use crate::lanes::File;
use crate::op::{Mma, MmaType, Op};

impl Decoder<'_> {
    pub(super) fn mma(&mut self, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        if !(words.take(Word::Sync) && words.take(Word::Aligned)) {
            return Err(self.unsupported("an mma that is not .sync.aligned"));
        }
        let Some(k) = words.pick(&[(Word::M16n8k4, 4), (Word::M16n8k8, 8), (Word::M16n8k16, 16)]) else {
            return Err(self.unsupported("an mma of another shape than .m16n8k4, .m16n8k8 or .m16n8k16"));
        };
        if !(words.take(Word::Row) && words.take(Word::Col)) {
            return Err(self.unsupported("an mma that is not .row.col"));
        }
        let types = [words.ty(), words.ty(), words.ty(), words.ty()];
        let ty = match types[1] {
            Some(Type::F16) if k >= 8 => MmaType::F16,
            Some(Type::Bf16) if k >= 8 => MmaType::Bf16,
            Some(Type::Tf32) if k <= 8 => MmaType::Tf32,
            _ => return Err(self.unsupported("an mma of these types and shape")),
        };
        let half = match (types[0], types[3]) {
            (Some(Type::F32), Some(Type::F32)) => false,
            (Some(Type::F16), Some(Type::F16)) if ty == MmaType::F16 => true,
            _ => {
                return Err(
                    self.unsupported("an mma whose C and D are not both .f32, or both .f16 with A and B")
                );
            }
        };
        if types[1] != types[2] {
            return Err(self.unsupported("an mma of different A and B"));
        }
        self.arity(ops, 4..=4)?;
        // Elements of A a lane: 16 k / 32; 16-bit ones are two in a register.
        let a = if ty == MmaType::Tf32 { k / 2 } else { k / 4 };
        let c = if half { 2 } else { 4 };
        let mma = Mma {
            k,
            ty,
            half,
            a: self.fragment(ops, 1, a, false)?,
            b: self.fragment(ops, 2, a / 2, false)?,
            c: self.fragment(ops, 3, c, false)?,
            d: self.fragment(ops, 0, c, true)?,
        };
        self.emit(Op::Mma(Box::new(mma)));
        Ok(())
    }

    /// The slots of a fragment: a vector of `count` 32-bit registers; one register needs no braces.
    pub(super) fn fragment(
        &mut self,
        ops: &[Operand],
        index: usize,
        count: usize,
        write: bool,
    ) -> Result<Vec<u32>, Error> {
        let elements = match ops.get(index) {
            Some(Operand::Vector(elements)) if elements.len() == count => &elements[..],
            Some(Operand::Name(_)) if count == 1 => &ops[index..=index],
            _ => return Err(self.operand(ops, index, &format!("a vector of {count} 32-bit registers"))),
        };
        let mut slots = Vec::with_capacity(count);
        for i in 0..count {
            let reg = if write {
                self.destination(elements, i, Type::B32)?
            } else {
                self.source(elements, i, Type::B32)?
            };
            debug_assert_eq!(reg.file, File::W32);
            slots.push(reg.slot);
        }
        Ok(slots)
    }
}
