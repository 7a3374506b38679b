//! How undefined values pass through instructions of a whole warp.

use crate::lanes::{File, Reg, WARP, lanes_of};
use crate::op::{Mma, MmaSum, Op, Source, Vote};

use super::super::shuffle::source_lanes;
use super::super::warp::Warp;
use super::{Origin, Undefined, all_bits};

impl Warp {
    /// Marks the results of an instruction of a whole warp, which these lanes are about to execute, as undefined where
    /// they depend on undefined sources.
    pub(in super::super) fn spread(&mut self, op: &Op, source: &Source, active: u32) {
        let Some(mut undefined) = self.undefined.take() else { return };
        let found = source.reads.iter().find(|&&reg| undefined.lanes(reg) & active != 0);
        match found.map(|&reg| undefined.origin(reg)) {
            None => source.writes.iter().for_each(|&reg| undefined.define(reg, active)),
            Some(origin) => self.pass_on(&mut undefined, op, source, active, origin),
        }
        self.undefined = Some(undefined);
    }

    fn pass_on(&self, undefined: &mut Undefined, op: &Op, source: &Source, active: u32, mut origin: Origin) {
        let named = |members: Reg, lane: usize| self.regs.get(members, lane) as u32 & active;
        match op {
            Op::Shuffle(shuffle) => {
                let from = source_lanes(&self.regs, shuffle);
                let bits: [u64; WARP] = std::array::from_fn(|lane| undefined.bits(shuffle.a, from[lane].0));
                for lane in lanes_of(active) {
                    undefined.set(shuffle.d, lane, bits[lane], origin);
                }
                shuffle.p.iter().for_each(|&p| undefined.define(p, active));
            }
            Op::Vote { vote, d, a, members } => {
                origin.padding = false;
                let (unknown, votes) = (undefined.lanes(*a), self.regs.pred[a.slot as usize]);
                for lane in lanes_of(active) {
                    let voters = named(*members, lane);
                    let bits = undecided(*vote, voters, voters & unknown, votes);
                    undefined.set(*d, lane, bits, origin);
                }
            }
            Op::Redux { a, members, .. } | Op::Match { a, members, .. } => {
                origin.padding = false;
                let unknown = undefined.lanes(*a);
                for lane in lanes_of(active) {
                    let lost = named(*members, lane) & unknown != 0;
                    for &reg in &source.writes {
                        undefined.set(reg, lane, if lost { all_bits(reg) } else { 0 }, origin);
                    }
                }
            }
            Op::Mma(mma) => sums(undefined, mma),
            _ => {
                origin.padding = false;
                for &reg in &source.writes {
                    (0..WARP).for_each(|lane| undefined.set(reg, lane, all_bits(reg), origin));
                }
            }
        }
    }
}

/// The bits of a vote's result that could be different, depending on the voters whose predicate is undefined.
fn undecided(vote: Vote, voters: u32, unknown: u32, votes: u32) -> u64 {
    let (yes, no) = (votes & voters & !unknown, !votes & voters & !unknown);
    let open = match vote {
        Vote::Ballot => return unknown.into(),
        Vote::All => no == 0,
        Vote::Any => yes == 0,
        Vote::Uniform => yes == 0 || no == 0,
    };
    if open && unknown != 0 { u64::MAX } else { 0 }
}

/// `D = A B + C`: an element of D is undefined if its element of C is, or any element in its row of A or in its column
/// of B. The message about an element tells where the first of these comes from.
fn sums(undefined: &mut Undefined, mma: &Mma) {
    let file = if mma.sum == MmaSum::F64 { File::W64 } else { File::W32 };
    let (mut rows, mut columns) = ([None; 16], [None; 8]);
    for (r, &slot) in mma.a.iter().enumerate() {
        let reg = Reg { file, slot };
        let of = |t: usize| t / 4 + 8 * (r % (mma.m / 8));
        lanes_of(undefined.lanes(reg))
            .for_each(|t| rows[of(t)] = rows[of(t)].or(Some(undefined.origin(reg))));
    }
    for &slot in &mma.b {
        let reg = Reg { file, slot };
        lanes_of(undefined.lanes(reg)).for_each(|t| {
            columns[t / 4] = columns[t / 4].or(Some(undefined.origin(reg)));
        });
    }
    // D may have registers of C.
    let added: Vec<_> = mma.c.iter().map(|&slot| undefined.added(Reg { file, slot })).collect();
    for (r, (&slot, (bits, origin))) in mma.d.iter().zip(&added).enumerate() {
        let reg = Reg { file, slot };
        for (t, &bits) in bits.iter().enumerate() {
            let (row, column, count) = match mma.sum {
                MmaSum::F16 => (t / 4 + 8 * r, 2 * (t % 4), 2),
                _ => (t / 4 + 8 * (r / 2), 2 * (t % 4) + r % 2, 1),
            };
            let elements = (0..count).map(|h| rows[row].or(columns[column + h]));
            undefined.sum((reg, t), (bits, *origin), elements);
        }
    }
}

impl Undefined {
    /// The undefined bits of each lane of a register that is added to, and where they come from.
    pub(in super::super) fn added(&self, reg: Reg) -> ([u64; WARP], Origin) {
        (std::array::from_fn(|lane| self.bits(reg, lane)), self.origin(reg))
    }

    /// Sets the elements in a lane of a register, which share its bits, to sums of elements whose undefined bits are
    /// `before`, and of further operands. An element is undefined as a whole if it was in part, or if an operand is, of
    /// which the origin is given.
    pub(in super::super) fn sum(
        &mut self,
        (reg, lane): (Reg, usize),
        (before, from): (u64, Origin),
        operands: impl ExactSizeIterator<Item = Option<Origin>>,
    ) {
        let (mut bits, mut first) = (0, None);
        let each = all_bits(reg).count_ones() / operands.len() as u32;
        for (h, operand) in operands.enumerate() {
            let element = u64::MAX >> (64 - each) << (h as u32 * each);
            if let Some(origin) = (before & element != 0).then_some(from).or(operand) {
                bits |= element;
                first = first.or(Some(origin));
            }
        }
        match first {
            Some(origin) => self.set(reg, lane, bits, Origin { padding: false, ..origin }),
            None => self.define(reg, 1 << lane),
        }
    }
}
