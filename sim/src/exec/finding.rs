//! Makes errors of what the shadow finds: with the place in the kernel and the thread.

use std::sync::PoisonError;

use crate::error::Other;
use crate::lanes::WARP;
use crate::op::Op;
use crate::shadow::{Conflict, ConflictKind, Finding, Kind, Late, Mark, Stamp, Touch, Who};
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
        match found {
            Ok(()) => Ok(()),
            Err(conflict) => self.note(self.conflict(who, touch, conflict)),
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
        match found {
            Ok(()) => Ok(()),
            Err(finding) => self.note(self.found(who, access, offset, bytes as u32, finding)),
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

    #[cold]
    fn conflict(&self, who: Who, touch: Touch, conflict: Conflict) -> Error {
        let access = if touch.reads_only() { Access::Read } else { Access::Write };
        let other = conflict.other.map(|(access, mark)| Box::new(Other { access, at: *self.site_of(mark) }));
        let (at, space, address) = (self.at(who), Space::Global, conflict.address);
        match (conflict.kind, other) {
            (ConflictKind::Race, Some(other)) => {
                Error::Race { at, access, space, address, other, same: conflict.same }
            }
            (ConflictKind::Lockstep, Some(other)) => Error::Lockstep { at, space, address, other },
            (ConflictKind::Unfenced, Some(other)) => Error::Unfenced { at, access, space, address, other },
            (_, other) => Error::ReadOnly { at, access, address, other },
        }
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

    /// Makes an error of a finding in shared memory.
    #[cold]
    fn found(&self, who: Who, access: Access, offset: usize, bytes: u32, finding: Finding) -> Error {
        let at = self.at(who);
        let address = self.shared_address(offset);
        let other = |access: Access, stamp: Stamp| {
            let (source, thread) = self.shadow.as_ref().map_or((0, 0), |shadow| shadow.origin(stamp));
            Box::new(Other { access, at: *self.site(source, thread) })
        };
        match finding {
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
                Error::Race { at, access, space: Space::Shared, address, other: other(earlier, stamp), same }
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
                let op = |source| {
                    self.machine
                        .kernel
                        .code
                        .insts
                        .iter()
                        .find(|inst| inst.source == source)
                        .map(|inst| &inst.op)
                };
                match (op(who.source), op(writer)) {
                    (Some(Op::Wgmma(_)), Some(Op::Copy(_))) => {
                        Error::CopyUnfenced { at, access, address, other }
                    }
                    _ => Error::Unfenced { at, access, space: Space::Shared, address, other },
                }
            }
        }
    }
}
