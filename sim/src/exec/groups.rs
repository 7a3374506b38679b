//! Groups of a warp's lanes. The lanes of a group are at the same instruction; a branch divides a group, and groups
//! that meet at an instruction become one.

use crate::error::Awaited;
use crate::lanes::Reg;
use crate::{Error, Site};

use super::context::Context;
use super::warp::{State, Warp};

/// The event that a group of lanes waits for while other lanes of the warp may continue.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wait {
    /// A phase of the mbarrier at this place after `phases` completed ones. `asked` is the phase, or its parity, that
    /// the program has asked for.
    Mbarrier { at: usize, phases: u64, asked: u64, source: u32 },
    /// The cluster's barrier, for these lanes.
    Cluster { lanes: u32, source: u32 },
    /// `needed` registers in the pool of the block of this rank, to have `count` for each thread.
    Registers { rank: usize, count: u32, needed: u32, source: u32 },
    /// That all warps of this warpgroup have issued this many operations.
    Warpgroup { group: usize, operations: u64, source: u32 },
}

/// Whether a group can go on.
#[derive(Clone, Copy, Debug)]
pub(super) enum Standing {
    Ready,
    /// The group waits for lanes of other groups to come to the same instruction.
    Parked,
    /// The group waits for lanes that may come to another instruction with the same effect.
    Meeting(Meeting),
    Waiting(Wait),
    /// The group's wait has reached its time limit.
    Expired,
}

/// A point of convergence of lanes that may be at different instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Point {
    /// A barrier of the block: its number, the number of threads if given, and whether the lanes only arrive.
    Barrier(u64, Option<u64>, bool),
    /// `bar.warp.sync` of these lanes.
    Lanes(u32),
}

/// The meeting at which a group waits for others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meeting {
    pub(super) point: Point,
    /// The operation at which the group arrived.
    pub(super) pc: u32,
}

/// Lanes of a warp that are at the same instruction.
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

impl Context<'_> {
    /// The instruction at which lanes of a warp of this number in its block wait, and what for.
    pub(super) fn awaited(&self, warp: u32, wait: &Wait) -> (u32, Awaited) {
        match *wait {
            Wait::Mbarrier { at, asked, source, .. } => (source, self.awaited_mbarrier(at, asked)),
            Wait::Warpgroup { group, operations, source } => {
                let missing = self.missing(group, operations).first().copied();
                (source, Awaited::Warpgroup { warp: missing.unwrap_or(warp) })
            }
            Wait::Registers { rank, count, needed, source } => {
                (source, Awaited::Registers { count, needed, free: self.pools[rank].free })
            }
            Wait::Cluster { source, .. } => {
                let (arrived, expected) = self.gate.count();
                (source, Awaited::Cluster { arrived, expected })
            }
        }
    }
}

impl Warp {
    /// Some lanes of a group branch; the others go on at `next`.
    pub(super) fn branch(&mut self, at: usize, target: u32, next: u32, active: u32) {
        let rest = self.groups[at].mask & !active;
        self.groups[at] = Group::ready(target, active);
        if rest != 0 {
            self.groups.push(Group::ready(next, rest));
        }
        self.regroup();
    }

    /// Some lanes of a group go where a table of targets says; the others go on at `next`.
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
        for lane in crate::lanes::lanes_of(active) {
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

    /// Sorts the groups by program counter, and unites those with the same one.
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

    /// The waits of the warp's groups.
    pub(super) fn waits(&self) -> impl Iterator<Item = &Wait> {
        self.groups.iter().filter_map(|group| match &group.standing {
            Standing::Waiting(wait) => Some(wait),
            _ => None,
        })
    }

    /// Makes the groups ready whose waits are over.
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

    /// Lets the waits that have a time limit reach it; returns whether there was one.
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

    /// The instruction that runs next, with the first thread that executes it.
    pub(super) fn next(&self, cx: &Context<'_>) -> Option<Box<Site>> {
        let group = self.groups.iter().find(|group| group.can_run())?;
        let inst = cx.machine.kernel.code.insts.get(group.pc as usize)?;
        Some(cx.at(self.who(group.mask, inst.source)))
    }

    /// The error that every group waits for lanes that will not come.
    pub(super) fn stuck(&self, cx: &Context<'_>) -> Error {
        let (pc, mask) = self.groups.first().map_or((0, self.live), |g| (g.pc, g.mask));
        let source = cx.machine.kernel.code.insts[pc as usize].source;
        Error::Divergent { at: cx.at(self.who(mask, source)), active: mask, expected: self.live }
    }
}
