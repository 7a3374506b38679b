//! `shfl.sync`, `vote.sync`, `redux.sync`, `match.sync`, `elect.sync`, `activemask`.

use girih_ptx::{Opcode, Operand, Type, Word};

use super::words::Words;
use super::{Decoder, File};
use crate::Error;
use crate::op::{Op, Shuffle, ShuffleMode, Vote};

impl Decoder<'_> {
    pub(super) fn shuffle(
        &mut self,
        opcode: Opcode,
        words: &mut Words<'_>,
        ops: &[Operand],
    ) -> Result<(), Error> {
        if opcode == Opcode::Activemask {
            let ty = self.last(words)?;
            self.arity(ops, 1..=1)?;
            let d = self.destination(ops, 0, ty)?;
            self.emit(Op::Activemask(d));
            return Ok(());
        }
        if opcode == Opcode::Match {
            return self.matching(words, ops);
        }
        if !words.take(Word::Sync) {
            return Err(self.unsupported("an exchange among lanes without .sync"));
        }
        match opcode {
            Opcode::Vote => self.vote(words, ops),
            Opcode::Redux => self.redux(words, ops),
            Opcode::Elect => {
                self.arity(ops, 2..=2)?;
                let members = self.source(ops, 1, Type::B32)?;
                let Operand::Pair(d, p) = &ops[0] else { return Err(self.operand(ops, 0, "a pair `d|p`")) };
                let (d, p) = (self.destination_name(d, File::W32)?, self.destination_name(p, File::Pred)?);
                self.emit(Op::Elect { d, p, members });
                Ok(())
            }
            _ => self.shfl(words, ops),
        }
    }

    fn shfl(&mut self, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        let modes = [
            (Word::Up, ShuffleMode::Up),
            (Word::Down, ShuffleMode::Down),
            (Word::Bfly, ShuffleMode::Butterfly),
            (Word::Idx, ShuffleMode::Index),
        ];
        let mode = words.pick(&modes).ok_or_else(|| self.unsupported("a shfl of this mode"))?;
        let ty = self.last(words)?;
        self.arity(ops, 5..=5)?;
        let [a, b, c] =
            [self.source(ops, 1, ty)?, self.source(ops, 2, Type::U32)?, self.source(ops, 3, Type::U32)?];
        let members = self.source(ops, 4, Type::B32)?;
        let (d, p) = match &ops[0] {
            Operand::Pair(d, p) => {
                (self.destination_name(d, File::W32)?, Some(self.destination_name(p, File::Pred)?))
            }
            _ => (self.destination(ops, 0, ty)?, None),
        };
        if a.file != File::W32 || d.file != File::W32 {
            return Err(self.unsupported(&format!("a shfl of type `.{ty}`")));
        }
        self.emit(Op::Shuffle(Box::new(Shuffle { mode, d, p, a, b, c, members })));
        Ok(())
    }

    fn vote(&mut self, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        let votes = [
            (Word::All, Vote::All),
            (Word::Any, Vote::Any),
            (Word::Uni, Vote::Uniform),
            (Word::Ballot, Vote::Ballot),
        ];
        let vote = words.pick(&votes).ok_or_else(|| self.unsupported("a vote of this mode"))?;
        let ty = self.last(words)?;
        self.arity(ops, 3..=3)?;
        if (ty == Type::Pred) == (vote == Vote::Ballot) {
            return Err(self.unsupported(&format!("a vote of type `.{ty}`")));
        }
        let a = self.source(ops, 1, Type::Pred)?;
        let members = self.source(ops, 2, Type::B32)?;
        let d = self.destination(ops, 0, ty)?;
        self.emit(Op::Vote { vote, d, a, members });
        Ok(())
    }

    fn redux(&mut self, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        type Combine = fn(u32, u32) -> u32;
        let unsigned: &[(Word, Combine)] =
            &[(Word::Add, u32::wrapping_add), (Word::Min, u32::min), (Word::Max, u32::max)];
        let signed: &[(Word, Combine)] = &[
            (Word::Add, u32::wrapping_add),
            (Word::Min, |a, b| (a as i32).min(b as i32) as u32),
            (Word::Max, |a, b| (a as i32).max(b as i32) as u32),
        ];
        let bits: &[(Word, Combine)] =
            &[(Word::And, |a, b| a & b), (Word::Or, |a, b| a | b), (Word::Xor, |a, b| a ^ b)];
        let table = match words.last_type() {
            Some(Type::U32) => unsigned,
            Some(Type::S32) => signed,
            Some(Type::B32) => bits,
            _ => return Err(self.unsupported("a redux of another type than .u32, .s32 or .b32")),
        };
        let combine =
            words.pick(table).ok_or_else(|| self.unsupported("a redux of this operation and type"))?;
        let ty = self.last(words)?;
        self.arity(ops, 3..=3)?;
        let (a, members) = (self.source(ops, 1, ty)?, self.source(ops, 2, Type::B32)?);
        let d = self.destination(ops, 0, ty)?;
        self.emit(Op::Redux { combine, d, a, members });
        Ok(())
    }

    fn matching(&mut self, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        let all = words.pick(&[(Word::All, true), (Word::Any, false)]);
        let all = all.ok_or_else(|| self.unsupported("a match that is not .all or .any"))?;
        let sync = words.take(Word::Sync);
        let ty = self.last(words)?;
        if !sync || !matches!(ty, Type::B32 | Type::B64) {
            return Err(self.unsupported("a match that is not .sync of type .b32 or .b64"));
        }
        self.arity(ops, 3..=3)?;
        let (a, members) = (self.source(ops, 1, ty)?, self.source(ops, 2, Type::B32)?);
        let (d, p) = match &ops[0] {
            Operand::Pair(d, p) if all => {
                (self.destination_name(d, File::W32)?, Some(self.destination_name(p, File::Pred)?))
            }
            _ => (self.destination(ops, 0, Type::B32)?, None),
        };
        self.emit(Op::Match { all, d, p, a, members });
        Ok(())
    }
}
