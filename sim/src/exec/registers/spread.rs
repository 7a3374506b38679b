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
            Op::Mma(mma) => sums(undefined, mma, origin),
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
/// of B.
fn sums(undefined: &mut Undefined, mma: &Mma, mut origin: Origin) {
    let file = if mma.sum == MmaSum::F64 { File::W64 } else { File::W32 };
    let lost = |slot: u32| undefined.lanes(Reg { file, slot });
    let (mut rows, mut columns) = (0u32, 0u32);
    for (r, &slot) in mma.a.iter().enumerate() {
        lanes_of(lost(slot)).for_each(|t| rows |= 1 << (t / 4 + 8 * (r % (mma.m / 8))));
    }
    for &slot in &mma.b {
        lanes_of(lost(slot)).for_each(|t| columns |= 1 << (t / 4));
    }
    let added: Vec<u32> = mma.c.iter().map(|&slot| lost(slot)).collect();
    origin.padding = false;
    for (r, &slot) in mma.d.iter().enumerate() {
        let reg = Reg { file, slot };
        for t in 0..WARP {
            let (row, column) = match mma.sum {
                MmaSum::F16 => (t / 4 + 8 * r, 3 << (2 * (t % 4))),
                _ => (t / 4 + 8 * (r / 2), 1 << (2 * (t % 4) + r % 2)),
            };
            let gone = rows >> row & 1 == 1 || columns & column != 0 || added[r] >> t & 1 == 1;
            undefined.set(reg, t, if gone { all_bits(reg) } else { 0 }, origin);
        }
    }
}
