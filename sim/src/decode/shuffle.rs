//! `shfl.sync`, `vote.sync`, `activemask`.

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
        if !words.take(Word::Sync) {
            return Err(self.unsupported("a shuffle or vote without .sync"));
        }
        if opcode == Opcode::Vote { self.vote(words, ops) } else { self.shfl(words, ops) }
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
}
