//! `shfl.sync`, `vote.sync`, `redux.sync`, `match.sync`, `elect.sync`: instructions by which lanes read one another's
//! registers (PTX ISA, "Data Movement and Conversion Instructions: shfl.sync", "Parallel Synchronization and
//! Communication Instructions").

use crate::lanes::{Reg, Regs, WARP, lanes_of};
use crate::op::{Shuffle, ShuffleMode, Vote};

use super::registers::{Origin, Source, all_bits};
use super::warp::Warp;

impl Warp {
    /// Each lane gets the `a` of the lane that the mode, `b` and the segment in `c` select, or its own `a` if the
    /// selected lane is outside of the segment. The value of a lane that does not execute the shuffle is undefined.
    pub(super) fn shuffle(&mut self, shuffle: &Shuffle, active: u32, source: u32) {
        let values = self.regs.w32[shuffle.a.slot as usize];
        let from = source_lanes(&self.regs, shuffle);
        for lane in lanes_of(active) {
            let (from, inside) = from[lane];
            self.regs.set(shuffle.d, lane, values[from].into());
            let members = self.regs.get(shuffle.members, lane) as u32 & active;
            if members >> from & 1 == 0 {
                let (who, register) = (self.who(1 << lane, source), shuffle.d);
                let source = Source::Lane { who, from: from as u32, register };
                let origin = Origin { source, padding: false };
                if let Some(undefined) = &mut self.undefined {
                    undefined.set(register, lane, all_bits(register), origin);
                }
            }
            if let Some(p) = shuffle.p {
                self.regs.set(p, lane, inside.into());
            }
        }
    }

    /// Each lane gets the result of a vote among the lanes of its member mask.
    pub(super) fn vote(&mut self, vote: Vote, d: Reg, a: Reg, members: Reg, active: u32) {
        let votes = self.regs.pred[a.slot as usize];
        for lane in lanes_of(active) {
            let voters = self.regs.get(members, lane) as u32 & active;
            let yes = votes & voters;
            let value = match vote {
                Vote::All => u64::from(yes == voters),
                Vote::Any => u64::from(yes != 0),
                Vote::Uniform => u64::from(yes == 0 || yes == voters),
                Vote::Ballot => yes.into(),
            };
            self.regs.set(d, lane, value);
        }
    }
}

impl Warp {
    /// Each lane gets the combination of its members' values.
    pub(super) fn redux(&mut self, combine: fn(u32, u32) -> u32, d: Reg, a: Reg, members: Reg, active: u32) {
        let values = self.regs.w32[a.slot as usize];
        for lane in lanes_of(active) {
            let members = self.regs.get(members, lane) as u32 & active;
            let value = lanes_of(members).map(|i| values[i]).reduce(combine);
            self.regs.set(d, lane, value.unwrap_or_default().into());
        }
    }

    /// Each lane gets the mask of the members with the same value. With `all` the mask is of all members or none, and a
    /// predicate tells which.
    pub(super) fn matching(
        &mut self,
        all: bool,
        (d, p): (Reg, Option<Reg>),
        a: Reg,
        members: Reg,
        active: u32,
    ) {
        let values: [u64; WARP] = std::array::from_fn(|lane| self.regs.get(a, lane));
        for lane in lanes_of(active) {
            let members = self.regs.get(members, lane) as u32 & active;
            let same =
                lanes_of(members).filter(|&i| values[i] == values[lane]).fold(0, |mask, i| mask | 1 << i);
            let every = same == members;
            self.regs.set(d, lane, if all && !every { 0 } else { same }.into());
            if let Some(p) = p {
                self.regs.set(p, lane, every.into());
            }
        }
    }

    /// The first member is the leader.
    pub(super) fn elect(&mut self, d: Reg, p: Reg, members: Reg, active: u32) {
        for lane in lanes_of(active) {
            let leader = (self.regs.get(members, lane) as u32 & active).trailing_zeros();
            self.regs.set(d, lane, leader.into());
            self.regs.set(p, lane, u64::from(leader == lane as u32));
        }
    }
}

/// For each lane, the lane that it reads from, and whether the selected lane is inside the segment.
pub(super) fn source_lanes(regs: &Regs, shuffle: &Shuffle) -> [(usize, bool); WARP] {
    std::array::from_fn(|lane| {
        let [b, c] = [shuffle.b, shuffle.c].map(|reg| regs.get(reg, lane) as u32);
        source_lane(shuffle.mode, lane as u32, b, c)
    })
}

/// The lane to read from, which is the reading lane itself where the selected one is outside of the segment, and
/// whether it is inside.
fn source_lane(mode: ShuffleMode, lane: u32, b: u32, c: u32) -> (usize, bool) {
    let (offset, clamp, segment) = (b & 31, c & 31, c >> 8 & 31);
    let last = lane & segment | clamp & !segment;
    let (from, inside) = match mode {
        ShuffleMode::Up => (lane.wrapping_sub(offset), lane >= last + offset),
        ShuffleMode::Down => (lane + offset, lane + offset <= last),
        ShuffleMode::Butterfly => (lane ^ offset, lane ^ offset <= last),
        ShuffleMode::Index => {
            let from = lane & segment | offset & !segment;
            (from, from <= last)
        }
    };
    (if inside { from } else { lane } as usize, inside)
}
