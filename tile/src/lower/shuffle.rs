//! Exchanges between the lanes of a warp.

use std::collections::BTreeMap;

use girih_codegen::{Cond, Expr, Reg, Width};
use girih_ptx::{Opcode, Operand, Type, Word};
use girih_tensor::DType;

use super::words::{m, of};
use super::{Lowering, register};
use crate::error::Error;
use crate::place::shuffle::{Pair, Shuffles, Warp};

impl Lowering<'_> {
    /// The result's registers of an exchange.
    pub(super) fn shuffled(
        &mut self,
        shuffles: &Shuffles,
        dtype: DType,
        regs: &[Reg],
    ) -> Result<Vec<Reg>, Error> {
        let mut ones = BTreeMap::new();
        for pair in &shuffles.pairs {
            let bits = match *pair {
                Pair::Swap { from, to, .. } => vec![from, to],
                Pair::Gather { own: false, .. } => continue,
                Pair::Gather { from, .. } | Pair::Pick { from, .. } => vec![from],
                Pair::Spread { to, .. } => vec![to],
            };
            for bit in bits {
                let is = Cond::less(&Expr::from(0), &self.thread.and(1 << bit)?);
                ones.insert(bit, self.b.cond(&is)?);
            }
        }
        let mut lane = None;
        if !shuffles.is_butterfly() && shuffles.count()[0] > 0 {
            let bits = shuffles.from.iter().enumerate();
            let mut moves: Vec<_> = bits.filter_map(|(bit, from)| Some(((*from)?, 1i64 << bit))).collect();
            moves.sort_unstable();
            let number = self.weigh(&moves)?;
            lane = Some(self.b.value(&number, Width::W32)?);
        }
        let mut lanes =
            Lanes { lowering: self, dtype, regs, lane, from: BTreeMap::new(), ones, kept: BTreeMap::new() };
        shuffles.run(&mut lanes);
        let kept = lanes.kept;
        Ok(shuffles.values().into_iter().filter_map(|value| kept.get(&value).cloned()).collect())
    }
}

/// Emits the instructions of an exchange.
struct Lanes<'l, 'p> {
    lowering: &'l mut Lowering<'p>,
    dtype: DType,
    regs: &'l [Reg],
    /// The lane to receive from, where it is another than the own with bits turned over.
    lane: Option<Reg>,
    /// The same with these bits turned over.
    from: BTreeMap<usize, Reg>,
    /// Whether a bit of the lane's number is 1.
    ones: BTreeMap<usize, Reg>,
    kept: BTreeMap<usize, Reg>,
}

impl Warp for Lanes<'_, '_> {
    type Word = Reg;

    fn give(&mut self, values: &[usize]) -> Vec<Reg> {
        let regs: Vec<Reg> = values.iter().map(|&value| self.regs[value].clone()).collect();
        match (register(self.dtype), regs.as_slice()) {
            (Type::Pred, [flag]) => vec![self.lowering.number_of(flag)],
            // A value alone is in both halves.
            (Type::B16, [low, rest @ ..]) => {
                vec![self.lowering.b.join(Type::B32, [low, rest.first().unwrap_or(low)])]
            }
            (Type::F64 | Type::S64 | Type::U64, [long]) => self.lowering.b.split(Type::B32, long).to_vec(),
            _ => regs,
        }
    }

    fn choose(&mut self, bit: usize, yes: &Reg, no: &Reg) -> Reg {
        match self.ones.get(&bit).cloned() {
            Some(one) if yes != no => {
                self.lowering.make(yes.ty(), Opcode::Selp, m![Type::B32], of([yes, no, &one]))
            }
            _ => no.clone(),
        }
    }

    fn shuffle(&mut self, turned: usize, word: &Reg) -> Reg {
        let b = &mut self.lowering.b;
        let (how, from) = match &self.lane {
            None => (Word::Bfly, Operand::Int(turned as i64)),
            Some(lane) => {
                let from = self.from.entry(turned).or_insert_with(|| match turned {
                    0 => lane.clone(),
                    _ => {
                        let inputs = vec![Operand::from(lane), Operand::Int(turned as i64)];
                        b.inst_to(Type::B32, Opcode::Xor, m![Type::B32], inputs)
                    }
                });
                (Word::Idx, Operand::from(&*from))
            }
        };
        b.shuffle(word.ty(), how, word, &from, 31)
    }

    fn keep(&mut self, words: Vec<Reg>, values: &[usize]) {
        let ty = register(self.dtype);
        let regs = match (ty, words.as_slice()) {
            (Type::Pred, [number]) => vec![self.lowering.flag_of(number)],
            (Type::B16, [word]) => self.lowering.b.split(ty, word).to_vec(),
            (Type::F64 | Type::S64 | Type::U64, [low, high]) => vec![self.lowering.b.join(ty, [low, high])],
            _ => words,
        };
        self.kept.extend(values.iter().copied().zip(regs));
    }
}
