//! Makes errors of the shadow's findings, with the place in the kernel and the thread.

use std::sync::PoisonError;

use crate::error::{Formal, Other};
use crate::lanes::WARP;
use crate::op::Op;
use crate::shadow::{Conflict, ConflictKind, Finding, Kind, Late, Mark, Shadow, Stamp, Touch, Who};
use crate::{Access, Error, Site, Space};

use super::context::Context;

impl Context<'_> {
    /// Before an access to global memory: reports a conflict with an earlier access, and publishes what a strong write
    /// releases.
    pub(super) fn check_global(
        &mut self,
        who: Who,
        (address, bytes): (u64, u64),
        touch: Touch,
        late: Option<Late>,
    ) -> Result<(), Error> {
        let (Some(shadow), Some(global)) = (&mut self.shadow, &self.machine.global) else { return Ok(()) };
        let found = shadow.global(global, who, (address, bytes), touch, late);
        if let Touch::Strong(kind, order) = touch
            && kind != Kind::Read
            && late.is_none()
        {
            shadow.publish(global, who, (address, bytes), kind, order);
        }
        match found.map_err(|conflict| self.conflict(who, touch, conflict)) {
            Ok(()) | Err(None) => Ok(()),
            Err(Some(error)) => self.note(error),
        }
    }

    /// Records a finding after which the execution could go on. Returns it as an error if the execution is to end at
    /// it.
    #[cold]
    pub(crate) fn note(&self, error: Error) -> Result<(), Error> {
        self.noted.set(true);
        let mut findings = self.machine.findings.lock().unwrap_or_else(PoisonError::into_inner);
        findings.note(error, self.machine.options)
    }

    /// Records what the shadow has found at an access to shared memory, if anything.
    #[inline]
    pub(crate) fn checked(
        &self,
        who: Who,
        access: Access,
        offset: usize,
        bytes: usize,
        found: Result<(), Finding>,
    ) -> Result<(), Error> {
        match found.map_err(|finding| self.found(who, access, offset, bytes as u32, finding)) {
            Ok(()) | Err(None) => Ok(()),
            Err(Some(error)) => self.note(error),
        }
    }

    /// After a strong access to global memory: learns what the access acquires.
    pub(super) fn learn_global(&mut self, who: Who, at: (u64, u64), touch: Touch) {
        let (Some(shadow), Some(global)) = (&mut self.shadow, &self.machine.global) else { return };
        if let Touch::Strong(kind, order) = touch
            && kind != Kind::Write
        {
            shadow.learn(global, who, at, order);
        }
    }

    /// The error of a conflict in global memory; `None` if it is kept for later.
    #[cold]
    fn conflict(&self, who: Who, touch: Touch, conflict: Conflict) -> Option<Error> {
        let access = if touch.reads_only() { Access::Read } else { Access::Write };
        let other = conflict.other.map(|(access, mark)| Box::new(Other { access, at: *self.site_of(mark) }));
        let (at, space, address) = (self.at(who), Space::Global, conflict.address);
        match (conflict.kind, other) {
            (ConflictKind::Race, Some(other)) => {
                let mark = conflict.other.map(|(_, mark)| mark).filter(|mark| mark.cluster == self.number());
                let gone = |shadow: &Shadow| mark.is_some_and(|mark| shadow.is_gone(who, &mark));
                let gone = self.shadow.as_ref().is_some_and(gone);
                let (source, thread) = conflict.other.map_or((0, 0), |(_, mark)| mark.origin());
                let formal = self.formal(who, (access, other.access), source, (conflict.same, gone));
                let race = Error::Race { at, access, space, address, other, formal };
                match mark {
                    Some(_) if formal.is_none() => self.defer(who, access, (source, thread), race),
                    _ => Some(race),
                }
            }
            (ConflictKind::Lockstep, Some(other)) => Some(Error::Lockstep { at, space, address, other }),
            (ConflictKind::Unfenced, Some(other)) => {
                Some(Error::Unfenced { at, access, space, address, other })
            }
            (_, other) => Some(Error::ReadOnly { at, access, address, other }),
        }
    }

    /// The number of the running cluster.
    fn number(&self) -> u32 {
        self.shadow.as_ref().map_or(0, Shadow::number)
    }

    /// Why a race of a thread with an earlier access by the instruction `other` does no harm, if it does none. `same`:
    /// both write the same; `gone`: the other thread had exited before a barrier.
    fn formal(
        &self,
        who: Who,
        (access, earlier): (Access, Access),
        other: u32,
        (same, gone): (bool, bool),
    ) -> Option<Formal> {
        let guards = |source: u32| self.machine.kernel.code.sources[source as usize].guards;
        let atomic = |source: u32| matches!(self.op(source), Some(Op::Atomic(_)));
        let guarded = match (access, earlier) {
            (Access::Read, Access::Write) => guards(who.source) && atomic(other),
            (Access::Write, Access::Read) => guards(other) && atomic(who.source),
            _ => false,
        };
        match () {
            () if same => Some(Formal::SameValue),
            () if gone => Some(Formal::Exited),
            () if guarded => Some(Formal::Guard),
            () => None,
        }
    }

    /// The first operation of an instruction.
    fn op(&self, source: u32) -> Option<&Op> {
        let mut insts = self.machine.kernel.code.insts.iter();
        insts.find(|inst| inst.source == source).map(|inst| &inst.op)
    }

    /// An instruction and a thread of the cluster, for a message.
    pub(crate) fn site(&self, source: u32, thread: u32) -> Box<Site> {
        self.site_in(self.cluster, source, thread)
    }

    /// The instruction and the thread of an access to global memory, for a message.
    pub(super) fn site_of(&self, mark: Mark) -> Box<Site> {
        let (source, thread) = mark.origin();
        self.site_in(self.clusterid(mark.cluster.into()), source, thread)
    }

    fn site_in(&self, cluster: [u32; 3], source: u32, thread: u32) -> Box<Site> {
        let threads = self.machine.warps() * WARP as u32;
        let (rank, thread) = (thread / threads, thread % threads);
        let thread = self.thread_of(thread);
        let block = self.ctaid_in(cluster, rank);
        Box::new(Site { place: self.machine.kernel.place(source), block, thread })
    }

    /// `%tid` of a thread by its number in its block.
    pub(super) fn thread_of(&self, thread: u32) -> [u32; 3] {
        let [x, y, _] = self.machine.launch.block;
        [thread % x, thread / x % y, thread / x / y]
    }

    pub(crate) fn at(&self, who: Who) -> Box<Site> {
        self.site(who.source, who.warp * WARP as u32 + who.lane)
    }

    /// The error of a finding in shared memory; `None` if it is kept for later.
    #[cold]
    fn found(&self, who: Who, access: Access, offset: usize, bytes: u32, finding: Finding) -> Option<Error> {
        let at = self.at(who);
        let address = self.shared_address(offset);
        let other = |access: Access, stamp: Stamp| {
            let (source, thread) = self.shadow.as_ref().map_or((0, 0), |shadow| shadow.origin(stamp));
            Box::new(Other { access, at: *self.site(source, thread) })
        };
        Some(match finding {
            Finding::Unwritten => {
                Error::UninitialisedMemory { at, space: Space::Shared, address, bytes, used: None }
            }
            Finding::InFlight(stamp) => {
                Error::InFlight { at, access, address, copy: other(Access::Write, stamp) }
            }
            Finding::BeingRead(stamp) => {
                Error::InFlight { at, access, address, copy: other(Access::Read, stamp) }
            }
            Finding::Mbarrier => Error::MbarrierAccess { at, access, address },
            Finding::Race { offset, access: earlier, other: stamp, same } => {
                let address = address.max(self.shared_address(offset));
                let (source, thread) = self.shadow.as_ref().map_or((0, 0), |shadow| shadow.origin(stamp));
                let gone = |shadow: &Shadow| shadow.is_access(stamp) && shadow.had_exited(who, stamp);
                let gone = self.shadow.as_ref().is_some_and(gone);
                let formal = self.formal(who, (access, earlier), source, (same, gone));
                let (space, other) = (Space::Shared, other(earlier, stamp));
                let race = Error::Race { at, access, space, address, other, formal };
                return if formal.is_some() {
                    Some(race)
                } else {
                    self.defer(who, access, (source, thread), race)
                };
            }
            Finding::Lockstep { offset, other: stamp } => {
                let address = address.max(self.shared_address(offset));
                Error::Lockstep { at, space: Space::Shared, address, other: other(Access::Write, stamp) }
            }
            Finding::MbarrierUnfenced { other: stamp } => {
                Error::MbarrierUnfenced { at, address, other: other(Access::Write, stamp) }
            }
            Finding::Unfenced { offset, other: stamp } => {
                let address = address.max(self.shared_address(offset));
                let writer = self.shadow.as_ref().map_or(0, |shadow| shadow.origin(stamp).0);
                let other = other(Access::Write, stamp);
                match (self.op(who.source), self.op(writer)) {
                    (Some(Op::Wgmma(_)), Some(Op::Copy(_))) => {
                        Error::CopyUnfenced { at, access, address, other }
                    }
                    _ => Error::Unfenced { at, access, space: Space::Shared, address, other },
                }
            }
        })
    }
}
