//! The shadow of global memory, which all clusters of a launch share.
//!
//! Clusters run side by side, each with clocks of its own. An access of another cluster comes before only where a
//! release and an acquire in global memory order it: a view that a release hands over has the clocks of every cluster
//! that the releasing thread knew of.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::clock::Past;
use super::map::Map;
use super::maps::Acquired;
pub(crate) use super::page::Mark;
use super::page::{Name, PAGE, Page};
use super::strong::{Act, Location, Manner, Party, Strong};
use super::{Kind, Order, Shadow, Stamp, Who, Window, next_group, some_meet};
use crate::Access;
use crate::lanes::{WARP, lanes_of};

/// Parts of the shadow with a lock each, so that clusters that run at the same time seldom wait for one another.
const SHARDS: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Shard {
    pub(super) pages: Map<u64, Page>,
    /// The clocks that the strong writes to each address have released.
    published: Map<u64, Location>,
    /// The acquires of each tensor map, by the map's address.
    pub(super) acquired: Map<u64, Vec<Acquired>>,
}

/// The shadow of global memory: all accesses of a launch.
#[derive(Debug)]
pub(crate) struct Global {
    shards: Vec<Mutex<Shard>>,
    /// Whether the launch's blocks cannot communicate, so that accesses of two blocks are never ordered.
    apart: bool,
}

impl Global {
    /// Nothing has been accessed yet. `communicates`: blocks of the launch may communicate.
    pub(crate) fn new(communicates: bool) -> Self {
        Global { shards: (0..SHARDS).map(|_| Mutex::default()).collect(), apart: !communicates }
    }

    pub(super) fn shard(&self, page: u64) -> MutexGuard<'_, Shard> {
        let at = (page ^ page >> 6 ^ page >> 12) as usize % SHARDS;
        self.shards[at].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How an access touches memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Touch {
    Read,
    /// A read through the read-only path of `ld.global.nc`, which says that nobody writes the bytes during the launch.
    Constant,
    Write {
        /// Whether the bytes have the values already, so that the write does no harm to the write before.
        same: bool,
    },
    Strong(Kind, Order),
}

impl Touch {
    pub(crate) fn reads_only(self) -> bool {
        matches!(self, Touch::Read | Touch::Constant | Touch::Strong(Kind::Read, _))
    }

    fn manner(self) -> Option<Manner> {
        if let Touch::Strong(_, order) = self { Some(order.manner) } else { None }
    }
}

/// The access of an asynchronous operation. It comes after what the issuing thread knows at the issue, and `end` is the
/// stamp that a thread must know to come after the access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Late {
    pub(crate) end: Stamp,
    /// Whether the operation is of the async proxy.
    pub(crate) bulk: bool,
}

/// An access to global memory that is in conflict with an earlier access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conflict {
    pub(crate) address: u64,
    pub(crate) kind: ConflictKind,
    /// The earlier access and its mark; `None` for an earlier read by `ld.global.nc`, of which only the bytes are
    /// remembered.
    pub(crate) other: Option<(Access, Mark)>,
    /// Whether both accesses write, and write the same values.
    pub(crate) same: bool,
}

/// The synchronisation that is missing between two accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConflictKind {
    /// Nothing orders the accesses.
    Race,
    /// No barrier orders the accesses of two lanes, which run in lockstep only by chance.
    Lockstep,
    /// No proxy fence makes the earlier write visible to the async proxy.
    Unfenced,
    /// One access is by `ld.global.nc`, which says that nobody writes.
    Constant,
}

impl Shadow {
    /// Checks and records an access to global memory. What a strong access releases and acquires is not done here:
    /// `publish` must come before the value is in memory, and `learn` after it has been read.
    pub(crate) fn global(
        &mut self,
        global: &Global,
        who: Who,
        (address, bytes): (u64, u64),
        touch: Touch,
        late: Option<Late>,
    ) -> Result<(), Conflict> {
        let (mut at, end, mut found) = (address, address + bytes, Ok(()));
        while at < end {
            let page = at / PAGE;
            let upto = end.min((page + 1) * PAGE);
            let mut shard = global.shard(page);
            let page = shard.pages.entry(page).or_default();
            let shape = (at, upto - at);
            found = found.and(self.touch(page, who, shape, touch, (late, global.apart)));
            at = upto;
        }
        found
    }

    /// As [`Shadow::together`], for weak accesses of several lanes to an allocation at `base`: records them up to the
    /// first of which there may be something to tell, and returns the lanes whose accesses have been recorded.
    pub(crate) fn global_together(
        &mut self,
        global: &Global,
        who: Who,
        mask: u32,
        (base, places): (u64, &[usize; WARP]),
        bytes: usize,
        touch: Touch,
    ) -> u32 {
        if touch.reads_only() && some_meet(places) && self.clocks[who.warp as usize].are_alike(mask) {
            self.global_groups::<true>(global, who, mask, (base, places), bytes, touch)
        } else {
            self.global_groups::<false>(global, who, mask, (base, places), bytes, touch)
        }
    }

    /// The body of [`Shadow::global_together`]. With `TOGETHER`, neighbouring lanes at the same place are taken as one
    /// access.
    #[inline]
    fn global_groups<const TOGETHER: bool>(
        &mut self,
        global: &Global,
        who: Who,
        mask: u32,
        (base, places): (u64, &[usize; WARP]),
        bytes: usize,
        touch: Touch,
    ) -> u32 {
        let address = |lane: usize| base + places[lane] as u64;
        let mut served = 0;
        while let Some(first) = lanes_of(mask & !served).next() {
            let number = address(first) / PAGE;
            let mut shard = global.shard(number);
            let page = shard.pages.entry(number).or_default();
            let clock = &self.clocks[who.warp as usize];
            let mut named = (None, 0);
            while let Some((lane, group)) = next_group(mask & !served, places, TOGETHER)
                && address(lane) / PAGE == number
            {
                let (at, lane) = (address(lane) % PAGE, lane as u32);
                let who = Who { lane, ..who };
                let mark = self.mark_of(who);
                // The lanes of a warp mostly have the same clock, so that their marks share an event.
                if named.0 != Some(clock.next(lane)) {
                    named = (Some(clock.next(lane)), page.name(mark) - lane);
                }
                let by = (who, group, named.1 + lane, mark);
                if !self.touch_quietly::<TOGETHER>(page, by, (at, bytes as u64), touch, global.apart) {
                    return served;
                }
                served |= group;
            }
        }
        served
    }

    /// The mark of a thread's next access.
    fn mark_of(&self, who: Who) -> Mark {
        Mark { cluster: self.cluster_number, stamp: self.stamp(who), by: who.thread(), bulk: false }
    }

    /// Records a weak access, or a read of several lanes that are alike, if there is certainly nothing to tell of it.
    /// Returns whether that is so; if not, nothing has been recorded.
    #[inline]
    fn touch_quietly<const TOGETHER: bool>(
        &self,
        page: &mut Page,
        (who, lanes, name, mark): (Who, u32, Name, Mark),
        (at, bytes): (u64, u64),
        touch: Touch,
        apart: bool,
    ) -> bool {
        let clock = &self.clocks[who.warp as usize];
        let past = Past::of(clock.view(who), who, lanes);
        let before = |mark: &Mark| {
            let of = (mark.cluster == self.cluster_number, &mark.stamp);
            mark.stamp.clock == 0 || if of.0 { past.has(of.1) } else { past.has_of(mark.cluster, of.1) }
        };
        let cells = page.cells_of(at, bytes);
        let quiet = |page: &Page, i: usize| {
            let write = page.write(i);
            let fits = if touch == Touch::Constant { write.stamp.clock == 0 } else { before(&write) };
            fits && (touch.reads_only() || page.all_reads(i, before))
                && (page.strong.is_empty() || !page.strong.contains_key(&i))
        };
        if !cells.clone().all(|i| quiet(page, i)) || !touch.reads_only() && page.is_constant(at, bytes) {
            return false;
        }
        for i in cells {
            match touch {
                Touch::Write { .. } => page.set_named_write(i, name),
                _ if TOGETHER && !lanes.is_power_of_two() => {
                    page.add_named_reads(i, name - who.lane, lanes, apart)
                }
                _ => page.add_named_read(i, (name, mark), apart, before),
            }
        }
        if touch == Touch::Constant {
            page.set_constant(at, bytes);
        }
        true
    }

    fn touch(
        &mut self,
        page: &mut Page,
        who: Who,
        (address, bytes): (u64, u64),
        touch: Touch,
        (late, apart): (Option<Late>, bool),
    ) -> Result<(), Conflict> {
        let (home, by) = (self.home(who.thread()), who.thread());
        let stamp = late.map_or_else(|| self.stamp(who), |late| late.end);
        let new = Mark { cluster: self.cluster_number, stamp, by, bulk: late.is_some_and(|late| late.bulk) };
        let past = self.clocks[who.warp as usize].past(who);
        let has = |cluster, stamp: &Stamp| match cluster == self.cluster_number {
            true => past.has(stamp),
            false => past.has_of(cluster, stamp),
        };
        let before = |mark: &Mark| mark.stamp.clock == 0 || has(mark.cluster, &mark.stamp);
        // How much weight a conflict has: of several, one that is no more than formal is told last.
        let weight = |conflict: &Conflict| match conflict.other {
            _ if conflict.same => 0,
            Some((access, other)) => {
                let read = if access == Access::Read { other.stamp.source } else { who.source };
                let soft = (access == Access::Read || touch.reads_only()) && self.is_soft(read);
                1 + u8::from(!soft && !self.is_gone(who, &other))
            }
            None => 2,
        };
        let mut found: Option<Conflict> = None;
        for i in page.cells_of(address % PAGE, bytes) {
            let cell = address / PAGE * PAGE + ((i as u64) << page.granule);
            let same = touch == Touch::Write { same: true };
            let mut conflict = |kind, access, other: Mark| {
                let same = same && access == Access::Write && kind == ConflictKind::Race;
                // Compilers let all threads of a block that have the same element write it, with one instruction.
                let alike = same
                    && !new.bulk
                    && (other.cluster, other.stamp.source) == (new.cluster, new.stamp.source);
                let new = Conflict { address: cell, kind, other: Some((access, other)), same };
                if !alike && found.is_none_or(|found| weight(&found) < weight(&new)) {
                    found = Some(new);
                }
            };
            let write = page.write(i);
            if !before(&write) {
                conflict(ConflictKind::Race, Access::Write, write);
            }
            if !touch.reads_only() {
                let reads = page.reads(i).filter(|read| !before(read));
                reads.for_each(|read| conflict(ConflictKind::Race, Access::Read, read));
            }
            let strong = page.strong.get(&i);
            let of = |(access, cluster, stamp, by): (Access, u32, Stamp, u32)| {
                (access, Mark { cluster, stamp, by, bulk: false })
            };
            if let Some(strong) = strong {
                let own = touch.manner().map(|manner| (home, manner));
                let outside = strong.outside(own, !touch.reads_only(), has);
                if let Some((access, other)) = outside.map(of) {
                    conflict(ConflictKind::Race, access, other);
                }
                if let Touch::Strong(kind, Order { manner, .. }) = touch
                    && let read = (Act { home, stamp, kind, manner, by })
                    && let Some((stamp, by)) = strong.lockstep(&read, |stamp| has(home.cluster, stamp))
                {
                    let other = Mark { cluster: home.cluster, stamp, by, bulk: false };
                    conflict(ConflictKind::Lockstep, Access::Write, other);
                }
            }
            if touch == Touch::Constant {
                let written = Some((Access::Write, write)).filter(|_| write.stamp.clock != 0);
                let written = written.or_else(|| strong?.outside(None, false, |_, _| false).map(of));
                written
                    .into_iter()
                    .for_each(|(access, other)| conflict(ConflictKind::Constant, access, other));
            }
            if new.bulk
                && let Some(other) = self.unseen(who, write, strong)
            {
                conflict(ConflictKind::Unfenced, Access::Write, other);
            }
            match touch {
                Touch::Read | Touch::Constant => page.add_read(i, new, apart, before),
                Touch::Write { .. } => page.set_write(i, new),
                Touch::Strong(kind, Order { manner, .. }) => {
                    page.strong.entry(i).or_default().add(Act { home, stamp, kind, manner, by });
                }
            }
        }
        if touch == Touch::Constant {
            page.set_constant(address % PAGE, bytes);
        } else if found.is_none() && !touch.reads_only() && page.is_constant(address % PAGE, bytes) {
            found = Some(Conflict { address, kind: ConflictKind::Constant, other: None, same: false });
        }
        found.map_or(Ok(()), Err)
    }

    /// Whether an access is of a thread of the cluster that had exited when a barrier let this thread go.
    pub(crate) fn is_gone(&self, who: Who, mark: &Mark) -> bool {
        mark.cluster == self.cluster_number && self.is_access(mark.stamp) && self.had_exited(who, mark.stamp)
    }

    /// A write of the generic proxy that the async proxy of a thread does not see: the last weak write, or a strong
    /// write since.
    fn unseen(&self, who: Who, write: Mark, strong: Option<&Strong>) -> Option<Mark> {
        let unseen = |mark: &Mark| !self.async_proxy_sees(who, mark.cluster, &mark.stamp);
        let plain = Some(write).filter(|write| write.stamp.clock != 0 && !write.bulk).filter(unseen);
        plain.or_else(|| {
            let mark = |(cluster, stamp, by)| Mark { cluster, stamp, by, bulk: false };
            strong?.generic_writes().map(mark).find(unseen)
        })
    }

    /// Whether the async proxy of a thread sees a write of the generic proxy to global memory.
    fn async_proxy_sees(&self, who: Who, cluster: u32, stamp: &Stamp) -> bool {
        let clock = &self.clocks[who.warp as usize];
        match cluster == self.cluster_number {
            true => clock.sees_any(stamp, 1 << who.lane, &[Window::Global]),
            false => clock.other(who.lane, cluster).is_some_and(|other| other.proxied.has(stamp)),
        }
    }

    /// The thread as a party of strong accesses to global memory.
    fn parties(&self, who: Who) -> Party {
        Party { who, home: self.home(who.thread()), domains: self.domains, global: true }
    }

    /// Publishes what a strong write releases. To be called before the value is in memory, so that no reader of the
    /// value misses it.
    pub(crate) fn publish(
        &mut self,
        global: &Global,
        who: Who,
        (address, bytes): (u64, u64),
        kind: Kind,
        order: Order,
    ) {
        let by = self.parties(who);
        for element in (address..address + bytes).step_by(order.manner.bytes.max(1).into()) {
            let mut shard = global.shard(element / PAGE);
            let location = shard.published.entry(element).or_default();
            location.publish(&mut self.clocks[who.warp as usize], by, kind, order);
        }
    }

    /// Learns what a strong read acquires. To be called after the value has been read.
    pub(crate) fn learn(&mut self, global: &Global, who: Who, (address, bytes): (u64, u64), order: Order) {
        let by = self.parties(who);
        for element in (address..address + bytes).step_by(order.manner.bytes.max(1).into()) {
            let shard = global.shard(element / PAGE);
            if let Some(location) = shard.published.get(&element) {
                location.learn(&mut self.clocks[who.warp as usize], by, order);
            }
        }
    }
}
