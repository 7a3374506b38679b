//! Strong accesses: atomics, and loads and stores that are `.volatile`, `.relaxed`, `.acquire` or `.release` (PTX ISA,
//! "Memory Consistency Model"). Strong accesses that are morally strong do not race with one another, and they carry
//! order from thread to thread.
//!
//! A release, or a fence followed by a strong write, publishes what its thread has done and knows. An acquire that
//! reads the published value, or a strong read followed by a fence, learns it.

use std::collections::BTreeMap;

use super::clock::Clock;
use super::scope::{Domains, Home, Pools, Scope};
use super::{Finding, Shadow, Stamp, WRITTEN, Who};
use crate::Access;
use crate::lanes::WARP;

/// The memory order of a strong access. With neither acquire nor release it is `.relaxed`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Order {
    pub(crate) acquire: bool,
    pub(crate) release: bool,
    pub(crate) manner: Manner,
}

impl Order {
    fn acquires(self) -> Option<Scope> {
        self.acquire.then_some(self.manner.scope)
    }

    fn releases(self) -> Option<Scope> {
        self.release.then_some(self.manner.scope)
    }
}

/// The properties that decide whether strong accesses are morally strong. Accesses with elements of the same size, which are aligned to it, overlap
/// completely or not at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Manner {
    pub(crate) scope: Scope,
    /// Bytes of an element of the access.
    pub(crate) bytes: u8,
    /// Whether the access is of the async proxy.
    pub(crate) bulk: bool,
    /// Whether the access is `.volatile`.
    pub(crate) volatile: bool,
}

impl Manner {
    /// The widest scope in which two accesses to a common byte are morally strong, if they can be at all.
    fn with(self, other: Manner) -> Option<Scope> {
        (self.bytes == other.bytes && self.bulk == other.bulk).then_some(self.scope.min(other.scope))
    }
}

/// The kind of a strong access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Read,
    Write,
    /// An atomic: a read and a write in one.
    Update,
}

/// A strong access, to be remembered or to be compared with those remembered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Act {
    pub(super) home: Home,
    pub(super) stamp: Stamp,
    pub(super) kind: Kind,
    pub(super) manner: Manner,
    /// The thread of the cluster that issued the access.
    pub(super) by: u32,
}

/// The last access of a thread to a cell, of one kind and manner. Whatever is ordered after it is ordered after the
/// thread's earlier ones.
#[derive(Clone, Copy, Debug)]
struct Last {
    /// The rank of the thread's block in its cluster.
    rank: u32,
    by: u32,
    clock: u32,
    source: u32,
    /// The first and the last of the writes to the cell whose effect the access has seen, by number: from the last
    /// store on, up to the last atomic that continues it, or to the access itself. Empty (1, 0) for a read that is not
    /// morally strong with the last write.
    seen: (u32, u32),
    /// The clock of the thread's first access that has seen these writes.
    first: u32,
}

/// The last access of each thread, by cluster and thread.
type Threads = BTreeMap<(u32, u32), Last>;

/// The strong accesses to a cell since its last weak write.
#[derive(Clone, Debug, Default)]
pub(super) struct Strong {
    /// The accesses by kind and manner.
    sets: Vec<(Kind, Manner, Threads)>,
    /// The number of the last write, counted from 1.
    /// The number of the last write that did not continue the write before it, as a morally strong atomic does.
    writes: u32,
    store: u32,
    /// The block of the last write's thread, and the manner of the write.
    last: Option<(Home, Manner)>,
    /// The stamp of the last write, and the thread that issued it.
    writer: (Stamp, u32),
}

impl Strong {
    /// Whether a read or an atomic of this block and manner is morally strong with the last write, so that it reads
    /// what the write, and those that the write continues, released.
    fn links(&self, home: Home, manner: Manner) -> bool {
        self.last.is_some_and(|(of, last)| last.with(manner) >= Some(of.scope_of(home)))
    }

    /// Remembers an access.
    pub(super) fn add(&mut self, Act { home, stamp, kind, manner, by }: Act) {
        // An asynchronous reduction reads at a moment that nobody knows, so which writes it has seen says nothing.
        let links = kind != Kind::Write && !manner.bulk && self.links(home, manner);
        if kind != Kind::Read {
            self.writes += 1;
            self.store = if links { self.store } else { self.writes };
            self.last = Some((home, manner));
            self.writer = (stamp, by);
        }
        let seen = if links || kind != Kind::Read { (self.store, self.writes) } else { (1, 0) };
        let at = self.sets.iter().position(|(k, m, _)| (*k, *m) == (kind, manner)).unwrap_or_else(|| {
            self.sets.push((kind, manner, Threads::new()));
            self.sets.len() - 1
        });
        let set = &mut self.sets[at].2;
        let Stamp { clock, source, thread } = stamp;
        let new = Last { rank: home.rank, by, clock, source, seen, first: clock };
        let last = set.entry((home.cluster, thread)).or_insert(new);
        *last = Last { first: if last.seen == seen { last.first } else { clock }, ..new };
    }

    /// A remembered access that may race with a new one: it conflicts with it, is not morally strong with it, and does
    /// not come before it. `by` tells the block and manner of a strong new access, and is none for a weak one. A write
    /// also comes before the new access if somebody who has read the written value does (PTX ISA, "Causality Order").
    pub(super) fn outside(
        &self,
        by: Option<(Home, Manner)>,
        writes: bool,
        before: impl Fn(u32, &Stamp) -> bool,
    ) -> Option<(Access, u32, Stamp, u32)> {
        for (kind, manner, set) in &self.sets {
            if *kind == Kind::Read && !writes {
                continue;
            }
            let upto = by.and_then(|(_, own)| own.with(*manner));
            if upto == Some(Scope::Gpu) {
                continue;
            }
            for (&(cluster, thread), last) in set {
                let home = Home { cluster, rank: last.rank };
                let together = by.is_some_and(|(own, _)| upto >= Some(own.scope_of(home)));
                let stamp = Stamp { clock: last.clock, source: last.source, thread };
                if together || before(cluster, &stamp) {
                    continue;
                }
                if *kind != Kind::Read && self.has_seen(last.seen.1, &before) {
                    continue;
                }
                let access = if *kind == Kind::Read { Access::Read } else { Access::Write };
                return Some((access, cluster, stamp, last.by));
            }
        }
        None
    }

    /// The last write, if it and the read are volatile accesses of two lanes of one warp and nothing orders them. There
    /// is none if the instruction has read the cell before in the same thread, as it then waits for a value in a loop.
    pub(super) fn lockstep(&self, read: &Act, before: impl Fn(&Stamp) -> bool) -> Option<(Stamp, u32)> {
        let (of, last) = self.last?;
        let (stamp, by) = self.writer;
        let lanes = of == read.home && by / WARP as u32 == read.by / WARP as u32 && by != read.by;
        if read.kind != Kind::Read || !read.manner.volatile || !last.volatile || !lanes || before(&stamp) {
            return None;
        }
        let key = (read.home.cluster, read.stamp.thread);
        let waits = self
            .sets
            .iter()
            .filter(|(kind, ..)| *kind == Kind::Read)
            .any(|(_, _, set)| set.get(&key).is_some_and(|before| before.source == read.stamp.source));
        (!waits).then_some((stamp, by))
    }

    /// Whether a thread has read the write of this number, or a write that continues it, in an access that comes
    /// before.
    fn has_seen(&self, write: u32, before: &impl Fn(u32, &Stamp) -> bool) -> bool {
        self.sets.iter().filter(|(kind, ..)| *kind != Kind::Write).any(|(_, _, set)| {
            set.iter().any(|(&(cluster, thread), last)| {
                (last.seen.0..=last.seen.1).contains(&write)
                    && before(cluster, &Stamp { clock: last.first, source: last.source, thread })
            })
        })
    }

    /// The remembered writes of the generic proxy, which the async proxy sees only through a proxy fence.
    pub(super) fn generic_writes(&self) -> impl Iterator<Item = (u32, Stamp, u32)> {
        let writes = |(kind, manner, _): &&(Kind, Manner, Threads)| *kind != Kind::Read && !manner.bulk;
        self.sets.iter().filter(writes).flat_map(|(_, _, set)| {
            set.iter().map(|(&(cluster, thread), last)| {
                (cluster, Stamp { clock: last.clock, source: last.source, thread }, last.by)
            })
        })
    }
}

/// The clocks that strong writes to a place in memory have released.
#[derive(Clone, Debug, Default)]
pub(super) struct Location {
    published: Pools,
    /// The past of the `.sc` fences that come before the writes.
    sequence: Pools,
    /// The block of the last write's thread, and the manner of the write.
    last: Option<(Home, Manner)>,
    /// The thread of the last write, and all that it has released by its writes here: by another store the thread
    /// continues what its own earlier ones released.
    own: Option<((u32, u32), Pools)>,
}

/// A thread that accesses a place strongly, and the domains that it is in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Party {
    pub(super) who: Who,
    pub(super) home: Home,
    pub(super) domains: Domains,
    /// Whether the place is in global memory.
    pub(super) global: bool,
}

impl Location {
    /// Publishes what a strong write releases.
    pub(super) fn publish(&mut self, clock: &mut Clock, by: Party, kind: Kind, order: Order) {
        let Party { who, home, domains, global } = by;
        let manner = order.manner;
        let links = |(of, last): (Home, Manner)| last.with(manner) >= Some(of.scope_of(home));
        // An atomic continues what the writes before it released; a store releases anew.
        if kind == Kind::Write || !self.last.is_some_and(links) {
            self.published.clear();
            self.sequence.clear();
        }
        self.last = Some((home, manner));
        let thread = (home.cluster, who.thread());
        let mut own = self.own.take().filter(|(of, _)| *of == thread).map(|(_, own)| own).unwrap_or_default();
        clock.publish(1 << who.lane, order.releases(), &mut own, domains.of(home, global));
        self.published.join(&own);
        self.own = (!own.is_empty()).then_some((thread, own));
        clock.sequence(who.lane, &mut self.sequence);
    }

    /// Learns what a strong read acquires.
    pub(super) fn learn(&self, clock: &mut Clock, by: Party, order: Order) {
        let Party { who, home, domains, global } = by;
        let nothing = self.published.is_empty() && self.sequence.is_empty();
        if nothing || self.last.is_none_or(|(of, last)| last.with(order.manner) < Some(of.scope_of(home))) {
            return;
        }
        clock.observe(1 << who.lane, order.acquires(), &self.published, domains.of(home, global));
        clock.meet(who.lane, &self.sequence);
    }
}

impl Shadow {
    /// Checks and records a strong access to shared memory, and lets it learn and publish.
    pub(crate) fn strong(
        &mut self,
        who: Who,
        at: usize,
        bytes: usize,
        kind: Kind,
        order: Order,
    ) -> Result<(), Finding> {
        // A load may read bytes without a value, which it passes on; an atomic computes with them.
        let (reads, writes) = (kind == Kind::Update, kind != Kind::Read);
        let after = self.follow((who.warp, 1 << who.lane), at, bytes, writes);
        let mut found = self.check_states(at, bytes, reads, writes);
        if found.is_err_and(|finding| finding.is_busy()) {
            return found;
        }
        found = after.and(found);
        if self.races {
            found = found.and(self.check_weak(who, at, bytes, writes));
            let (home, manner) = (self.home(who.thread()), order.manner);
            let by = Some((home, manner));
            found = found.and(self.check_strong((who.warp, 1 << who.lane), at, bytes, writes, by));
            let act = Act { home, stamp: self.stamp(who), kind, manner, by: who.thread() };
            if manner.volatile {
                found = found.and(self.check_lockstep(who, at, bytes, &act));
            }
            for cell in self.cells_of(at, bytes) {
                self.strong.entry(cell).or_default().add(act);
            }
            for element in (at..at + bytes).step_by(manner.bytes.max(1).into()) {
                self.carry(who, element >> self.granule, kind, order);
            }
        }
        if writes {
            self.states[at..at + bytes].iter_mut().for_each(|state| *state |= WRITTEN);
        }
        found
    }

    /// Checks that the weak accesses to these bytes come before a strong one.
    fn check_weak(&self, who: Who, at: usize, bytes: usize, writes: bool) -> Result<(), Finding> {
        let past = self.clocks[who.warp as usize].past(who);
        for i in self.cells_of(at, bytes) {
            let (offset, other) = (i << self.granule, self.cells[i].write);
            if !past.has(&other) {
                return Err(Finding::race(offset, Access::Write, other));
            }
            if writes && let Some(other) = self.read_outside(i, past) {
                return Err(Finding::race(offset, Access::Read, other));
            }
        }
        Ok(())
    }

    /// Checks that the strong accesses that are not morally strong with an access of one of these lanes come before it;
    /// `by` is none for a weak access.
    pub(super) fn check_strong(
        &self,
        (warp, lanes): (u32, u32),
        at: usize,
        bytes: usize,
        writes: bool,
        by: Option<(Home, Manner)>,
    ) -> Result<(), Finding> {
        let clock = &self.clocks[warp as usize];
        for i in self.cells_of(at, bytes) {
            let Some(strong) = self.strong.get(&i) else { continue };
            let outside = strong.outside(by, writes, |_, stamp| clock.after_any(stamp, lanes));
            if let Some((access, _, other, _)) = outside {
                return Err(Finding::race(i << self.granule, access, other));
            }
        }
        Ok(())
    }

    /// Checks that a volatile read does not rely on lockstep: on a write of another lane of the warp with nothing that
    /// orders the two.
    fn check_lockstep(&self, who: Who, at: usize, bytes: usize, act: &Act) -> Result<(), Finding> {
        let past = self.clocks[who.warp as usize].past(who);
        let found = self.cells_of(at, bytes).find_map(|i| {
            let (other, _) = self.strong.get(&i)?.lockstep(act, |stamp| past.has(stamp))?;
            Some(Finding::Lockstep { offset: i << self.granule, other })
        });
        found.map_or(Ok(()), Err)
    }

    /// Lets a strong access learn what was published at a cell, and publish in turn.
    fn carry(&mut self, who: Who, cell: usize, kind: Kind, order: Order) {
        let (home, domains) = (self.home(who.thread()), self.domains);
        let (clock, by) = (&mut self.clocks[who.warp as usize], Party { who, home, domains, global: false });
        if kind == Kind::Read {
            if let Some(before) = self.published.get(&cell) {
                before.learn(clock, by, order);
            }
            return;
        }
        let published = self.published.entry(cell).or_default();
        if kind == Kind::Update {
            published.learn(clock, by, order);
        }
        published.publish(clock, by, kind, order);
    }
}
