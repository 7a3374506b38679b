//! Strong accesses: atomics, and loads and stores that are `.volatile`, `.relaxed`, `.acquire` or `.release` (PTX ISA,
//! "Memory Consistency Model"). They do not race with one another, and they carry order from warp to warp.
//!
//! A release, or a fence and then a strong write, publishes what its warp has done and knows; an acquire that reads
//! what was published, or a strong read and then a fence, learns it. The edges hold for the whole warp on both sides,
//! which is more than the ISA says: a race between lanes that the edge did not order may be missed.

use super::{Cell, Finding, Shadow, Stamp, WARPS, WRITTEN, Who};
use crate::Access;
use crate::lanes::WARP;

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

/// The clock of each warp up to which something is known.
pub(super) type Known = [u32; WARPS];

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
        self.check_states(at, bytes, reads)?;
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
        let before = self.published.get(&cell).copied().unwrap_or_default();
        let clock = &mut self.clocks[who.warp as usize];
        if kind != Kind::Write {
            join(&mut clock.pending, &before);
            if order.acquire {
                clock.learn(who.warp as usize, 1 << who.lane, &before);
            }
        }
        if kind != Kind::Read {
            let mut known = if order.release { clock.snapshot(who.warp as usize) } else { clock.fenced };
            // An atomic continues what the writes before it released; a store begins anew.
            if kind == Kind::Update {
                join(&mut known, &before);
            }
            self.published.insert(cell, known);
        }
    }

    /// `fence`, `membar`: what strong accesses before it read is learnt, what comes before it strong ones after publish.
    pub(crate) fn fence(&mut self, warp: usize, mask: u32) {
        let clock = &mut self.clocks[warp];
        let pending = clock.pending;
        clock.learn(warp, mask, &pending);
        clock.fenced = clock.snapshot(warp);
    }
}

impl super::Clock {
    /// What this warp has done and knows; what it does next is later.
    pub(super) fn snapshot(&mut self, warp: usize) -> Known {
        let mut known = self.known;
        known[warp] = self.now;
        self.now = self.now.saturating_add(1);
        known
    }

    /// These lanes learn what was published.
    pub(super) fn learn(&mut self, warp: usize, mask: u32, from: &Known) {
        join(&mut self.known, from);
        if from[warp] > self.synced {
            let rows = self.lanes.get_or_insert_with(|| Box::new([[0; WARP]; WARP]));
            for (_, row) in rows.iter_mut().enumerate().filter(|(lane, _)| mask >> lane & 1 == 1) {
                row.iter_mut().for_each(|to| *to = from[warp].max(*to));
            }
        }
    }
}

pub(super) fn join(to: &mut Known, from: &Known) {
    to.iter_mut().zip(from).for_each(|(to, &from)| *to = from.max(*to));
}
