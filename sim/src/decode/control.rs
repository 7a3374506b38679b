//! Branches, exits, barriers, fences.

use girih_ptx::{Opcode, Operand, Type, Word};

use super::scope::Named;
use super::words::Words;
use super::{Decoder, File};
use crate::Error;
use crate::op::Op;

impl Decoder<'_> {
    pub(super) fn control(
        &mut self,
        opcode: Opcode,
        words: &mut Words<'_>,
        ops: &[Operand],
    ) -> Result<(), Error> {
        match opcode {
            Opcode::Bra => {
                words.take(Word::Uni);
                self.arity(ops, 1..=1)?;
                let Operand::Name(name) = &ops[0] else { return Err(self.operand(ops, 0, "a label")) };
                let Some(Named::Label(label)) = self.scopes.find(name) else {
                    return Err(self.undeclared(name, "label"));
                };
                self.emit(Op::Branch(label));
            }
            Opcode::Exit | Opcode::Ret => {
                words.take(Word::Uni);
                self.arity(ops, 0..=0)?;
                self.emit(Op::Exit);
            }
            Opcode::Bar | Opcode::Barrier => return self.barrier(words, ops),
            Opcode::Trap => self.emit(Op::Trap),
            _ => {
                words.clear();
                self.emit(Op::Nothing);
            }
        }
        Ok(())
    }

    fn barrier(&mut self, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        if words.take(Word::Warp) {
            if words.take(Word::Sync) {
                self.arity(ops, 1..=1)?;
                let mask = self.source(ops, 0, Type::B32)?;
                self.emit(Op::WarpSync(mask));
            }
            return Ok(());
        }
        words.take(Word::Cta);
        let Some(arrive) = words.pick(&[(Word::Sync, false), (Word::Arrive, true)]) else {
            return Err(self.unsupported("a barrier that is not .sync or .arrive"));
        };
        words.take(Word::Aligned);
        self.arity(ops, if arrive { 2..=2 } else { 1..=2 })?;
        let id = self.source(ops, 0, Type::U32)?;
        let threads = if ops.len() > 1 { Some(self.source(ops, 1, Type::U32)?) } else { None };
        debug_assert_eq!(id.file, File::W32);
        self.emit(Op::Barrier { id, threads, arrive });
        Ok(())
    }
}
