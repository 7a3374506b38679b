//! `cp.async`: copies whose bytes are in shared memory only after a thread has waited for them.
//!
//! The source is read and the destination written when the thread waits, the latest moment that the ISA allows. So a
//! missing wait shows in the results too, and not only in the checks. With a seed some copies read their source at the
//! issue.

use std::collections::VecDeque;

use crate::lanes::{WARP, lanes_of};
use crate::op::{Address, Copy};
use crate::shadow::{By, Late, Touch, Who};
use crate::{Access, Error, Flight, InFlight, Space};

use super::access;
use super::agents::{Completion, Effect, Operation, Piece, Place, Progress};
use super::bounds::{misaligned, place_of};
use super::context::Context;
use super::warp::Warp;

/// A copy that has been issued and not waited for.
#[derive(Clone, Copy, Debug)]
struct Pending {
    /// The destination, an offset in the cluster's shared memory.
    to: u32,
    bytes: u32,
    /// The number of the group to which the copy belongs.
    group: u64,
    source: u32,
    /// The bytes that have been read.
    data: [u8; 16],
    /// The source: its global address, and how many bytes are still to be read.
    from: (u64, u32),
    /// A mask of the uninitialised bytes of the source, one bit a byte.
    missing: u16,
}

/// The copies of a warp's lanes that have not been waited for, oldest first.
#[derive(Debug, Default)]
pub(super) struct Copies {
    pending: [VecDeque<Pending>; WARP],
    /// How many groups each lane has committed.
    committed: [u64; WARP],
    /// How many copies each lane has issued.
    issued: [u32; WARP],
    /// For each group that a lane has committed and not waited for: its number, and how many copies the lane had issued
    /// at the commit.
    counts: [VecDeque<(u64, u32)>; WARP],
}

impl Copies {
    /// Forgets everything, as a new block begins.
    pub(super) fn clear(&mut self) {
        self.pending.iter_mut().for_each(VecDeque::clear);
        self.committed = [0; WARP];
        self.issued = [0; WARP];
        self.counts.iter_mut().for_each(VecDeque::clear);
    }

    /// `cp.async.commit_group`.
    pub(super) fn commit(&mut self, mask: u32) {
        for lane in lanes_of(mask) {
            self.counts[lane].push_back((self.committed[lane], self.issued[lane]));
            self.committed[lane] += 1;
        }
    }

    /// How many copies a lane has issued in the groups before this one.
    fn count(&mut self, lane: usize, group: u64) -> u32 {
        let mut count = 0;
        while let Some((_, issued)) = self.counts[lane].pop_front_if(|(of, _)| *of < group) {
            count = issued;
        }
        if group > self.committed[lane] { self.issued[lane] } else { count }
    }
}

impl Copies {
    /// The copies that a warp has not waited for, one entry for each instruction and group. `warp` is the index of the warp in the cluster.
    pub(super) fn in_flight(&self, cx: &Context<'_>, warp: u32) -> Vec<InFlight> {
        let mut all: Vec<((u64, u32), InFlight)> = Vec::new();
        for (lane, pending) in self.pending.iter().enumerate() {
            for copy in pending {
                let key = (copy.group, copy.source);
                let at = all.iter().position(|(other, _)| *other == key).unwrap_or_else(|| {
                    all.push((key, InFlight { kind: Flight::Copy, ..cx.flight(copy.source, warp, 0) }));
                    all.len() - 1
                });
                let flight = &mut all[at].1;
                flight.lanes |= 1 << lane;
                flight.bytes += u64::from(copy.bytes);
                flight.writes.push(cx.within(copy.to as usize, copy.bytes as usize));
            }
        }
        let united = |flight: InFlight| InFlight { writes: InFlight::united(flight.writes), ..flight };
        all.into_iter().map(|(_, flight)| united(flight)).collect()
    }
}

impl Context<'_> {
    /// Reads the source of a copy, whose bounds have been checked.
    fn fetch(&self, (address, bytes): (u64, u32), data: &mut [u8; 16]) {
        let bytes = bytes as usize;
        if let Some((index, offset)) = self.machine.view.find(address, bytes as u64).filter(|_| bytes != 0) {
            self.machine.view.allocations[index].read(offset, &mut data[..bytes]);
        }
    }
}

impl Warp {
    /// `cp.async.ca`, `cp.async.cg`.
    pub(super) fn copy(
        &mut self,
        cx: &mut Context<'_>,
        copy: &Copy,
        mask: u32,
        source: u32,
    ) -> Result<(), Error> {
        if cx.machine.options.counts {
            self.count(&mut cx.report, Space::Shared, &copy.to, copy.bytes, mask);
            self.count(&mut cx.report, Space::Global, &copy.from, copy.bytes, mask);
        }
        for lane in lanes_of(mask) {
            let who = Who { warp: self.index, lane: lane as u32, source };
            let (to, from) = (self.address(&copy.to, lane), self.address(&copy.from, lane));
            for (access, space, address) in
                [(Access::Write, Space::Shared, to), (Access::Read, Space::Global, from)]
            {
                if !address.is_multiple_of(copy.bytes.into()) {
                    return Err(misaligned(cx, who, access, space, address, copy.bytes));
                }
            }
            self.check_within(cx, &copy.to, (who, Access::Write, Space::Shared, to), copy.bytes)?;
            let mut size = copy.source.map_or(copy.bytes.into(), |reg| self.regs.get(reg, lane));
            if size > copy.bytes.into() {
                let accepted = format!("at most the {} bytes of the copy", copy.bytes);
                return Err(Error::BadValue { at: cx.at(who), what: "source size", value: size, accepted });
            }
            if copy.ignore.is_some_and(|reg| self.regs.get(reg, lane) != 0) {
                size = 0;
            }
            let (mut data, mut missing) = ([0; 16], 0);
            self.copies.issued[lane] += 1;
            if size > 0 {
                let offset = place_of(cx, who, Access::Read, from, size)?;
                missing = access::missing(cx, offset, size as usize);
                let count = self.copies.issued[lane];
                if let Some(end) = cx.shadow.as_mut().map(|shadow| shadow.upto(who, false, count)) {
                    cx.check_global(who, (from, size), Touch::Read, Some(Late { end, bulk: false }))?;
                }
            }
            let mut from = (from, size as u32);
            if cx.below(2) == 1 {
                cx.fetch(from, &mut data);
                from.1 = 0;
            }
            let at = cx.shared_at(who, Access::Write, to, copy.bytes)?;
            if let Some(shadow) = &mut cx.shadow {
                let found = shadow.begin_copy(who, at, copy.bytes as usize);
                cx.checked(who, Access::Write, at, copy.bytes as usize, found)?;
            }
            let group = self.copies.committed[lane];
            let pending = Pending { to: at as u32, bytes: copy.bytes, group, source, data, from, missing };
            self.copies.pending[lane].push_back(pending);
        }
        cx.report.global += 1;
        cx.report.shared += 1;
        Ok(())
    }

    /// `cp.async.wait_group keep`: all groups but the latest `keep` complete. Without `keep`, `wait_all`: all copies
    /// complete.
    pub(super) fn copy_wait(
        &mut self,
        cx: &mut Context<'_>,
        keep: Option<u32>,
        mask: u32,
    ) -> Result<(), Error> {
        for lane in lanes_of(mask) {
            cx.finish_copies(self.who(1 << lane, 0))?;
            let arrived =
                keep.map_or(u64::MAX, |keep| self.copies.committed[lane].saturating_sub(keep.into()));
            let count = self.copies.count(lane, arrived);
            if let Some(shadow) = &mut cx.shadow {
                shadow.know_count(self.who(1 << lane, 0), false, count);
            }
            while let Some(mut pending) =
                self.copies.pending[lane].pop_front_if(|pending| pending.group < arrived)
            {
                cx.fetch(pending.from, &mut pending.data);
                let (at, bytes) = (pending.to as usize, pending.bytes as usize);
                cx.shared[at..at + bytes].copy_from_slice(&pending.data[..bytes]);
                if let Some(shadow) = &mut cx.shadow {
                    let who = Who { warp: self.index, lane: lane as u32, source: pending.source };
                    shadow.end_async_write(By::Thread(who), at, bytes);
                    shadow.forget(at, pending.missing);
                    cx.note_missing(who, at, (pending.from.0, pending.bytes), pending.missing);
                }
            }
        }
        Ok(())
    }

    /// `cp.async.mbarrier.arrive`: arrives at the mbarrier once the copies that the thread has issued are complete.
    /// With `counted` (no `.noinc`) the instruction also raises the pending count by one, so that the phase takes this
    /// arrival in addition.
    pub(super) fn copy_arrive(
        &mut self,
        cx: &mut Context<'_>,
        address: &Address,
        counted: bool,
        active: u32,
        source: u32,
    ) -> Result<(), Error> {
        for lane in lanes_of(active) {
            let who = Who { warp: self.index, lane: lane as u32, source };
            self.check_mbarrier(cx, address, who)?;
            let mbarrier = cx.own_mbarrier(who, self.address(address, lane))?;
            if counted {
                cx.raise_pending(who, mbarrier)?;
            }
            let (mut data, mut sources, mut targets) = (Vec::new(), Vec::new(), Vec::new());
            for pending in self.copies.pending[lane].drain(..) {
                if pending.missing != 0 {
                    let (at, address) = (cx.at(Who { source: pending.source, ..who }), pending.from.0);
                    let (space, bytes) = (Space::Global, pending.bytes);
                    cx.note(Error::UninitialisedMemory { at, space, address, bytes, used: None })?;
                }
                let (at, bytes) = (data.len(), pending.bytes as usize);
                targets.push(Piece { place: Place::Shared(pending.to as usize), at, bytes });
                let (from, size) = pending.from;
                sources.push(Piece { place: Place::Global(from), at, bytes: size as usize });
                data.extend_from_slice(&pending.data[..bytes]);
            }
            let issued = self.copies.issued[lane];
            let operation = cx.shadow.as_mut().map_or(0, |shadow| shadow.issue_arrival(who, issued));
            cx.changes += 1;
            cx.agents.issue(Operation {
                who,
                data,
                sources,
                targets,
                effect: Effect::Write,
                completion: Completion::Arrival { mbarrier, operation },
                progress: Progress::Issued,
            });
        }
        Ok(())
    }
}
