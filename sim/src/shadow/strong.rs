//! Strong accesses: atomics, and loads and stores that are `.volatile`, `.relaxed`, `.acquire` or `.release` (PTX ISA,
//! "Memory Consistency Model"). They do not race with one another, and they carry order from thread to thread.
//!
//! A release, or a fence and then a strong write, publishes what its thread has done and knows; an acquire that reads
//! what was published, or a strong read and then a fence, learns it.

use super::accesses::Accesses;
use super::{Finding, Shadow, WRITTEN, Who};
use crate::Access;

/// What a strong access orders; neither is `.relaxed`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Order {
    pub(crate) acquire: bool,
    pub(crate) release: bool,
}

/// What a strong access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Read,
    Write,
    /// An atomic: both.
    Update,
}

/// The strong accesses to a cell since its last weak write, as chains.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Strong {
    pub(super) writes: u32,
    pub(super) reads: u32,
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
        let (reads, writes) = (kind != Kind::Write, kind != Kind::Read);
        let mut found = self.check_states(at, bytes, reads, writes);
        if found.is_err_and(|finding| finding.is_busy()) {
            return found;
        }
        if self.races {
            found = found.and(self.check_weak(who, at, bytes, writes));
            let new = Accesses::from(self.stamp(who));
            let past = self.clocks[who.warp as usize].past(who);
            for cell in self.cells_of(at, bytes) {
                let strong = self.strong.entry(cell).or_default();
                let first = if writes { &mut strong.writes } else { &mut strong.reads };
                self.chains.add(first, new, |of| past.missing(of) == 0);
            }
            self.carry(who, at >> self.granule, kind, order);
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

    /// Whether strong accesses come before a weak one of these lanes.
    pub(super) fn check_strong(
        &self,
        (warp, lanes): (u32, u32),
        at: usize,
        bytes: usize,
        writes: bool,
    ) -> Result<(), Finding> {
        let clock = &self.clocks[warp as usize];
        for i in self.cells_of(at, bytes) {
            let Some(strong) = self.strong.get(&i) else { continue };
            let offset = i << self.granule;
            let unordered =
                |first| self.chains.of(first).find_map(|of| of.first(clock.unordered_any(of, lanes)));
            if let Some(other) = unordered(strong.writes) {
                return Err(Finding::race(offset, Access::Write, other));
            }
            if let Some(other) = unordered(strong.reads).filter(|_| writes) {
                return Err(Finding::race(offset, Access::Read, other));
            }
        }
        Ok(())
    }

    /// What a strong access learns and publishes.
    fn carry(&mut self, who: Who, cell: usize, kind: Kind, order: Order) {
        let (clock, lanes) = (&mut self.clocks[who.warp as usize], 1 << who.lane);
        if kind == Kind::Read {
            if let Some(before) = self.published.get(&cell) {
                clock.observe(lanes, order.acquire, before);
            }
            return;
        }
        let published = self.published.entry(cell).or_default();
        // An atomic continues what the writes before it released; a store begins anew.
        if kind == Kind::Update {
            clock.observe(lanes, order.acquire, published);
        } else {
            published.clear();
        }
        clock.publish(lanes, order.release, published);
    }
}
