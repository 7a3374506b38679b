//! Emits exchanges between the lanes of a warp.

use std::collections::BTreeMap;

use girih_ptx::{Opcode, Operand, Type, Word};
use girih_tensor::DType;

use super::{LANES, Pair, Shuffles, Warp};
use crate::builder::{Builder, Cond, Reg, Width};
use crate::plan::Dist;
use crate::scalar::register;
use crate::{Error, Expr};

impl Shuffles {
    /// Emits the exchange of a thread's values of `dtype`, which have a register each, and returns the registers of the result's values.
    /// `thread` is the thread's index. All lanes of the warp take part.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for another number of registers; as [`Builder::value`].
    pub fn emit(
        &self,
        b: &mut Builder,
        thread: &Expr,
        dtype: DType,
        regs: &[Reg],
    ) -> Result<Vec<Reg>, Error> {
        if regs.len() != self.given {
            return Err(Error::Mismatch {
                what: "Shuffles::emit",
                layout: format!("{} registers", regs.len()),
                with: format!("{} values of a thread", self.given),
                accepted: "a register for each value",
            });
        }
        let mut ones = BTreeMap::new();
        for pair in &self.pairs {
            let bits = match *pair {
                Pair::Swap { from, to, .. } => vec![from, to],
                Pair::Gather { own: false, .. } => continue,
                Pair::Gather { from, .. } | Pair::Pick { from, .. } => vec![from],
                Pair::Spread { to, .. } => vec![to],
            };
            for bit in bits {
                let is = Cond::less(&Expr::from(0), &thread.and(1 << bit)?);
                ones.insert(bit, b.cond(&is)?);
            }
        }
        let mut lane = None;
        if !self.is_butterfly() && self.count()[0] > 0 {
            // The index of the lane to receive from is a coordinate, along which the lane's own bits move. Higher bits do not.
            let mut bits = vec![None; LANES + 1];
            for (bit, from) in self.from.iter().enumerate() {
                from.iter().for_each(|&from| bits[from] = Some((0, 1 << bit)));
            }
            let number = Dist { bits, vals: Vec::new() }.coordinate(thread, 1)?;
            lane = Some(b.value(&number[0], Width::W32)?);
        }
        let mut lanes = Lanes { b, dtype, regs, lane, from: BTreeMap::new(), ones, kept: BTreeMap::new() };
        self.run(&mut lanes);
        let kept = lanes.kept;
        Ok(self.values().into_iter().filter_map(|value| kept.get(&value).cloned()).collect())
    }
}

/// Emits the instructions of an exchange.
struct Lanes<'l> {
    b: &'l mut Builder,
    dtype: DType,
    regs: &'l [Reg],
    /// The lane to receive from, where it is another than the own with bits turned over.
    lane: Option<Reg>,
    /// The same with these bits turned over.
    from: BTreeMap<usize, Reg>,
    /// Whether a bit of the lane's index is 1.
    ones: BTreeMap<usize, Reg>,
    kept: BTreeMap<usize, Reg>,
}

impl Warp for Lanes<'_> {
    type Word = Reg;

    fn give(&mut self, values: &[usize]) -> Vec<Reg> {
        let regs: Vec<Reg> = values.iter().map(|&value| self.regs[value].clone()).collect();
        match (register(self.dtype), regs.as_slice()) {
            (Type::Pred, [flag]) => {
                let number = vec![Operand::Int(1), Operand::Int(0), Operand::from(flag)];
                vec![self.b.inst_to(Type::U32, Opcode::Selp, &[Type::U32.into()], number)]
            }
            // A value alone is in both halves.
            (Type::B16, [low, rest @ ..]) => {
                vec![self.b.join(Type::B32, [low, rest.first().unwrap_or(low)])]
            }
            (Type::F64 | Type::S64 | Type::U64, [long]) => self.b.split(Type::B32, long).to_vec(),
            _ => regs,
        }
    }

    fn choose(&mut self, bit: usize, yes: &Reg, no: &Reg) -> Reg {
        match self.ones.get(&bit).cloned() {
            Some(one) if yes != no => {
                let inputs = [yes, no, &one].map(Operand::from).to_vec();
                self.b.inst_to(yes.ty(), Opcode::Selp, &[Type::B32.into()], inputs)
            }
            _ => no.clone(),
        }
    }

    fn shuffle(&mut self, turned: usize, word: &Reg) -> Reg {
        let b = &mut *self.b;
        let (how, from) = match &self.lane {
            None => (Word::Bfly, Operand::Int(turned as i64)),
            Some(lane) => {
                let from = self.from.entry(turned).or_insert_with(|| match turned {
                    0 => lane.clone(),
                    _ => {
                        let inputs = vec![Operand::from(lane), Operand::Int(turned as i64)];
                        b.inst_to(Type::B32, Opcode::Xor, &[Type::B32.into()], inputs)
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
            (Type::Pred, [number]) => {
                let nonzero = vec![Operand::from(number), Operand::Int(0)];
                vec![self.b.inst_to(ty, Opcode::Setp, &[Word::Ne.into(), Type::U32.into()], nonzero)]
            }
            (Type::B16, [word]) => self.b.split(ty, word).to_vec(),
            (Type::F64 | Type::S64 | Type::U64, [low, high]) => vec![self.b.join(ty, [low, high])],
            _ => words,
        };
        self.kept.extend(values.iter().copied().zip(regs));
    }
}
