//! Groups of a warp's lanes: each stands at one instruction; branches part them, and where they meet they are one.

use crate::lanes::Reg;
use crate::{Error, Site};

use super::context::Context;
use super::warp::{State, Warp};

/// What lanes wait for that other lanes of their warp need not.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wait {
    /// The next phase of the mbarrier at this place, which had completed so many; the phase asked for.
    Mbarrier { at: usize, phases: u64, asked: u64, source: u32 },
    /// The cluster's barrier, these lanes.
    Cluster { lanes: u32, source: u32 },
    /// So many registers of a block's pool.
    Registers { rank: usize, count: u32, needed: u32, source: u32 },
    /// That all warps of this warpgroup issue so many operations.
    Warpgroup { group: usize, operations: u64, source: u32 },
}

/// Whether a group can go on.
#[derive(Clone, Copy, Debug)]
pub(super) enum Standing {
    Ready,
    /// It waits for lanes of other groups.
    Parked,
    /// It waits for lanes that may be at another instruction of the same effect.
    Meeting(Meeting),
    Waiting(Wait),
    /// It has waited as long as it need.
    Expired,
}

/// What lanes that may be at different instructions come together at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Point {
    /// A barrier of their block by number, the threads it is for, and whether they only arrive.
    Barrier(u64, Option<u64>, bool),
    /// `bar.warp.sync` of these lanes.
    Lanes(u32),
}

/// Where a group waits for others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meeting {
    pub(super) point: Point,
    /// The operation that brought it there.
    pub(super) pc: u32,
}

/// Lanes that stand at the same instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    pub(super) pc: u32,
    pub(super) mask: u32,
    pub(super) standing: Standing,
}

impl Group {
    pub(super) fn ready(pc: u32, mask: u32) -> Self {
        Group { pc, mask, standing: Standing::Ready }
    }

    pub(super) fn can_run(&self) -> bool {
        matches!(self.standing, Standing::Ready | Standing::Expired)
    }
}

impl Warp {
    /// Some lanes of a group branch; the rest goes on at `next`.
    pub(super) fn branch(&mut self, at: usize, target: u32, next: u32, active: u32) {
        let rest = self.groups[at].mask & !active;
        self.groups[at] = Group::ready(target, active);
        if rest != 0 {
            self.groups.push(Group::ready(next, rest));
        }
        self.regroup();
    }

    /// Some lanes of a group go where a table says; the rest goes on at `next`.
    pub(super) fn branch_table(
        &mut self,
        cx: &Context<'_>,
        (at, next): (usize, u32),
        index: Reg,
        targets: &[u32],
        (active, source): (u32, u32),
    ) -> Result<(), Error> {
        let rest = self.groups[at].mask & !active;
        self.groups[at] = Group::ready(next, rest);
        for lane in super::lanes(active) {
            let value = self.regs.get(index, lane);
            let Some(&pc) = usize::try_from(value).ok().and_then(|i| targets.get(i)) else {
                let (at, accepted) = (cx.at(self.who(1 << lane, source)), format!("below {}", targets.len()));
                return Err(Error::BadValue { at, what: "index of the branch table", value, accepted });
            };
            self.groups.push(Group::ready(pc, 1 << lane));
        }
        if rest == 0 {
            self.groups.remove(at);
        }
        self.regroup();
        Ok(())
    }

    /// Puts the groups in order and makes those that have met one.
    pub(super) fn regroup(&mut self) {
        self.groups.sort_unstable_by_key(|g| g.pc);
        self.groups.dedup_by(|next, kept| {
            let met = next.pc == kept.pc;
            if met {
                kept.mask |= next.mask;
                kept.standing = Standing::Ready;
            }
            met
        });
    }

    /// The waits of its groups.
    pub(super) fn waits(&self) -> impl Iterator<Item = &Wait> {
        self.groups.iter().filter_map(|group| match &group.standing {
            Standing::Waiting(wait) => Some(wait),
            _ => None,
        })
    }

    /// Groups whose waits are over can go on.
    pub(super) fn wake(&mut self, cx: &Context<'_>) {
        for group in &mut self.groups {
            if let Standing::Waiting(wait) = &group.standing
                && cx.has_come(self.index, wait)
            {
                group.standing = Standing::Ready;
                self.state = State::Ready;
            }
        }
    }

    /// Gives up the waits that have a time limit; whether there was one.
    pub(super) fn expire(&mut self) -> bool {
        let mut any = false;
        for group in &mut self.groups {
            if let Standing::Waiting(Wait::Mbarrier { .. }) = group.standing {
                group.standing = Standing::Expired;
                any = true;
            }
        }
        if any && matches!(self.state, State::Blocked) {
            self.state = State::Ready;
        }
        any
    }

    /// The instruction that runs next, and its first thread.
    pub(super) fn next(&self, cx: &Context<'_>) -> Option<Box<Site>> {
        let group = self.groups.iter().find(|group| group.can_run())?;
        let inst = cx.machine.kernel.code.insts.get(group.pc as usize)?;
        Some(cx.at(self.who(group.mask, inst.source)))
    }

    /// Every group waits for lanes that will not come.
    pub(super) fn stuck(&self, cx: &Context<'_>) -> Error {
        let (pc, mask) = self.groups.first().map_or((0, self.live), |g| (g.pc, g.mask));
        let source = cx.machine.kernel.code.insts[pc as usize].source;
        Error::Divergent { at: cx.at(self.who(mask, source)), active: mask, expected: self.live }
    }
}
