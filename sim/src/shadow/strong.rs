//! Strong accesses: atomics, and loads and stores that are `.volatile`, `.relaxed`, `.acquire` or `.release` (PTX ISA,
//! "Memory Consistency Model"). They do not race with one another, and they carry order from warp to warp.
//!
//! A release, or a fence and then a strong write, publishes what its warp has done and knows; an acquire that reads
//! what was published, or a strong read and then a fence, learns it. The edges hold for the whole warp on both sides,
//! which is more than the ISA says: a race between lanes that the edge did not order may be missed.

use super::{Cell, Finding, Shadow, Stamp, WRITTEN, Who};
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

/// The strong accesses to a cell since its last weak write: two of each kind by different threads, as of weak reads.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Strong {
    writes: [Stamp; 2],
    reads: [Stamp; 2],
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
        self.check_states(at, bytes, reads, writes)?;
        if self.races {
            self.check_weak(who, at, bytes, writes)?;
            let new = self.stamp(who);
            let clock = &self.clocks[who.warp as usize];
            for cell in self.cells_of(at, bytes) {
                let strong = self.strong.entry(cell).or_default();
                let slots = if writes { &mut strong.writes } else { &mut strong.reads };
                slots[usize::from(!clock.after(&slots[0], who))] = new;
            }
            self.carry(who, at >> self.granule, kind, order);
        }
        if writes {
            self.states[at..at + bytes].fill(WRITTEN);
        }
        Ok(())
    }

    /// Whether weak accesses come before a strong one.
    fn check_weak(&self, who: Who, at: usize, bytes: usize, writes: bool) -> Result<(), Finding> {
        let clock = &self.clocks[who.warp as usize];
        for i in self.cells_of(at, bytes) {
            let Cell { write, reads } = &self.cells[i];
            let offset = i << self.granule;
            if !clock.after(write, who) {
                return Err(Finding::Race { offset, access: Access::Write, other: *write });
            }
            if let Some(&other) = reads.iter().find(|read| writes && !clock.after(read, who)) {
                return Err(Finding::Race { offset, access: Access::Read, other });
            }
        }
        Ok(())
    }

    /// Whether strong accesses come before a weak one.
    pub(super) fn check_strong(
        &self,
        who: Who,
        at: usize,
        bytes: usize,
        writes: bool,
    ) -> Result<(), Finding> {
        let clock = &self.clocks[who.warp as usize];
        for i in self.cells_of(at, bytes) {
            let Some(strong) = self.strong.get(&i) else { continue };
            let offset = i << self.granule;
            if let Some(&other) = strong.writes.iter().find(|stamp| !clock.after(stamp, who)) {
                return Err(Finding::Race { offset, access: Access::Write, other });
            }
            if let Some(&other) = strong.reads.iter().find(|stamp| writes && !clock.after(stamp, who)) {
                return Err(Finding::Race { offset, access: Access::Read, other });
            }
        }
        Ok(())
    }

    /// What a strong access learns and publishes.
    fn carry(&mut self, who: Who, cell: usize, kind: Kind, order: Order) {
        let warp = who.warp as usize;
        let clock = &mut self.clocks[warp];
        if kind == Kind::Read {
            if let Some(before) = self.published.get(&cell) {
                clock.observe(warp, 1 << who.lane, u32::MAX, before, order.acquire);
            }
            return;
        }
        let published = self.published.entry(cell).or_default();
        // An atomic continues what the writes before it released; a store begins anew.
        if kind == Kind::Update {
            clock.observe(warp, 1 << who.lane, u32::MAX, published, order.acquire);
        } else {
            published.clear();
        }
        if order.release {
            clock.publish(warp, published);
        } else {
            published.join(&clock.fenced);
        }
    }

    /// `fence`, `membar`: what strong accesses before it read is learnt, what comes before it strong ones after publish.
    pub(crate) fn fence(&mut self, warp: usize, mask: u32, live: u32) {
        let clock = &mut self.clocks[warp];
        let pending = std::mem::take(&mut clock.pending);
        clock.learn(warp, mask, live, &pending);
        let mut fenced = std::mem::take(&mut clock.fenced);
        clock.publish(warp, &mut fenced);
        clock.fenced = fenced;
    }
}
