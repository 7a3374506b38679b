//! Strong accesses: atomics, and loads and stores that are `.volatile`, `.relaxed`, `.acquire` or `.release` (PTX ISA,
//! "Memory Consistency Model"). Those that are morally strong do not race with one another, and they carry order from thread
//! to thread.
//!
//! A release, or a fence and then a strong write, publishes what its thread has done and knows; an acquire that reads
//! what was published, or a strong read and then a fence, learns it.

use std::collections::BTreeMap;

use super::clock::Clock;
use super::scope::{Domains, Home, Pools, Scope};
use super::{Finding, Shadow, Stamp, WRITTEN, Who};
use crate::Access;
use crate::lanes::WARP;

/// What a strong access orders; neither is `.relaxed`.
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

/// In what strong accesses must agree to go together: accesses of as many bytes, aligned to them, overlap completely or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Manner {
    pub(crate) scope: Scope,
    /// Bytes of an element.
    pub(crate) bytes: u8,
    /// Whether it is of the async proxy.
    pub(crate) bulk: bool,
    /// Whether it is `.volatile`.
    pub(crate) volatile: bool,
}

impl Manner {
    /// Up to which scope two accesses to a common byte are morally strong, if they are at all.
    fn with(self, other: Manner) -> Option<Scope> {
        (self.bytes == other.bytes && self.bulk == other.bulk).then_some(self.scope.min(other.scope))
    }
}

/// What a strong access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Read,
    Write,
    /// An atomic: both.
    Update,
}

/// A strong access to be remembered or compared.
#[derive(Clone, Copy, Debug)]
pub(super) struct Act {
    pub(super) home: Home,
    pub(super) stamp: Stamp,
    pub(super) kind: Kind,
    pub(super) manner: Manner,
    /// The thread of the cluster that issued it.
    pub(super) by: u32,
}

/// The last access of a thread of its kind and manner to a cell: what came before it does not matter to anybody later.
#[derive(Clone, Copy, Debug)]
struct Last {
    rank: u32,
    by: u32,
    clock: u32,
    source: u32,
    /// The writes to the cell that it has seen: from the last store on, up to itself.
    seen: (u32, u32),
    /// The clock of its first access that has seen these.
    first: u32,
}

/// By cluster and thread.
type Threads = BTreeMap<(u32, u32), Last>;

/// The strong accesses to a cell since its last weak write.
#[derive(Clone, Debug, Default)]
pub(super) struct Strong {
    /// By kind and manner, and of each by cluster and thread.
    sets: Vec<(Kind, Manner, Threads)>,
    /// The number of the last write, and of the last one that did not go on from the one before.
    writes: u32,
    store: u32,
    /// The last write: its thread's block and its manner.
    last: Option<(Home, Manner)>,
    /// Its stamp, and the thread that issued it.
    writer: (Stamp, u32),
}

impl Strong {
    /// Whether what has been written goes on in an access: a read of it, or an atomic, that goes together with the last
    /// write.
    fn links(&self, home: Home, manner: Manner) -> bool {
        self.last.is_some_and(|(of, last)| last.with(manner) >= Some(of.scope_of(home)))
    }

    /// Remembers an access.
    pub(super) fn add(&mut self, Act { home, stamp, kind, manner, by }: Act) {
        let links = kind != Kind::Write && self.links(home, manner);
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

    /// An access that one of these may race with: one that conflicts with it, does not go together with it, and does not
    /// come before it. A write comes before what comes after somebody who has read it, too ("Causality order").
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

    /// The last write, if it and a read are volatile accesses of two lanes of a warp between which nothing is; unless the
    /// instruction has read this before, and so waits for a value.
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

    /// Whether somebody that comes before has read the write of this number, or one that goes on from it.
    fn has_seen(&self, write: u32, before: &impl Fn(u32, &Stamp) -> bool) -> bool {
        self.sets.iter().filter(|(kind, ..)| *kind != Kind::Write).any(|(_, _, set)| {
            set.iter().any(|(&(cluster, thread), last)| {
                (last.seen.0..=last.seen.1).contains(&write)
                    && before(cluster, &Stamp { clock: last.first, source: last.source, thread })
            })
        })
    }

    /// The writes of the generic proxy, for a fence of proxies to come between.
    pub(super) fn generic_writes(&self) -> impl Iterator<Item = (u32, Stamp, u32)> {
        let writes = |(kind, manner, _): &&(Kind, Manner, Threads)| *kind != Kind::Read && !manner.bulk;
        self.sets.iter().filter(writes).flat_map(|(_, _, set)| {
            set.iter().map(|(&(cluster, thread), last)| {
                (cluster, Stamp { clock: last.clock, source: last.source, thread }, last.by)
            })
        })
    }
}

/// What the strong writes to a place have published.
#[derive(Clone, Debug, Default)]
pub(super) struct Location {
    published: Pools,
    /// What came before `.sc` fences that come before the writes.
    sequence: Pools,
    /// The last write, and what its thread has released by its writes here.
    last: Option<(Home, Manner)>,
    own: Option<((u32, u32), Pools)>,
}

/// Who accesses a place strongly, and the domains that it is in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Party {
    pub(super) who: Who,
    pub(super) home: Home,
    pub(super) domains: Domains,
    pub(super) global: bool,
}

impl Location {
    /// What a strong write publishes.
    pub(super) fn publish(&mut self, clock: &mut Clock, by: Party, kind: Kind, order: Order) {
        let Party { who, home, domains, global } = by;
        let manner = order.manner;
        let links = |(of, last): (Home, Manner)| last.with(manner) >= Some(of.scope_of(home));
        // An atomic continues what the writes before it released; a store begins anew.
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

    /// What a strong read learns.
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
    /// A strong access.
    pub(crate) fn strong(
        &mut self,
        who: Who,
        at: usize,
        bytes: usize,
        kind: Kind,
        order: Order,
    ) -> Result<(), Finding> {
        // What a load brings that has no value is passed on.
        let (reads, writes) = (kind == Kind::Update, kind != Kind::Read);
        let mut found = self.check_states(at, bytes, reads, writes);
        if found.is_err_and(|finding| finding.is_busy()) {
            return found;
        }
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
            self.states[at..at + bytes].fill(WRITTEN);
        }
        found
    }

    /// Whether weak accesses come before a strong one.
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

    /// Whether strong accesses that do not go together with one of these lanes come before it.
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

    /// Whether a lane reads what another lane of its warp has written with nothing but the warp's steps in between.
    fn check_lockstep(&self, who: Who, at: usize, bytes: usize, act: &Act) -> Result<(), Finding> {
        let past = self.clocks[who.warp as usize].past(who);
        let found = self.cells_of(at, bytes).find_map(|i| {
            let (other, _) = self.strong.get(&i)?.lockstep(act, |stamp| past.has(stamp))?;
            Some(Finding::Lockstep { offset: i << self.granule, other })
        });
        found.map_or(Ok(()), Err)
    }

    /// What a strong access learns and publishes.
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
