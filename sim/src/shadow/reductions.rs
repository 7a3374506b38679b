//! Asynchronous reductions into shared memory: `red.async` and `cp.reduce.async.bulk`.
//!
//! Several may be in flight to the same bytes together, if they are of the same manner. Every other access to the bytes
//! has to come before the issue of a reduction or after its end, also an atomic and also one of the thread that has
//! issued it:
//! - A reduction by `cp.reduce.async.bulk` belongs to the async proxy, so it is morally strong with no access of the
//!   generic proxy (PTX ISA, "Morally strong operations": "performed via the same proxy").
//! - A reduction by `red.async` is relaxed at the scope of the cluster, but the ISA names no proxy for it. Since nothing
//!   promises that it is morally strong with an `atom`, it is taken not to be.
//! - Reductions with elements of different sizes do not overlap completely, so they are not morally strong either.
//!
//! An mbarrier signals the end of a reduction. It releases nothing that the thread of the reduction has done (PTX ISA,
//! "Asynchronous Operations"). But what follows the end comes after everything that the reduction itself had to come
//! after: after all earlier accesses to the same bytes.

use super::cell::Cell;
use super::strong::Manner;
use super::{By, FLIGHT, Finding, MBARRIER, READING, REDUCED, Shadow, Stamp, WRITTEN, Who, over};
use crate::Access;

/// Asynchronous reductions into a cell, all of the same manner and none of which has to come after another. The cell
/// remembers the accesses that they had to come after, or with `followed` those that came after them.
#[derive(Clone, Debug)]
pub(super) struct Reductions {
    manner: Manner,
    /// The reductions in flight: the number and the issue of each.
    flying: Vec<(u32, Stamp)>,
    /// The ends of the others, by mbarrier.
    ended: Vec<Ends>,
    /// The ends of reductions of another manner that these had to come after.
    before: Vec<Stamp>,
    /// Whether another access has come after all of these.
    followed: bool,
}

/// The ends of reductions into a cell that one mbarrier has told.
#[derive(Clone, Copy, Debug)]
struct Ends {
    /// The first end: who comes after it comes after all that the reductions of the cell had to come after.
    first: Stamp,
    /// The last end: a later access has to come after it. `None` if another reduction has come after it, after whose end
    /// the access has to come.
    last: Option<Stamp>,
}

impl Reductions {
    /// The ends that a later access has to come after.
    fn ends(&self) -> impl Iterator<Item = Stamp> {
        self.ended.iter().filter_map(|ends| ends.last)
    }
}

impl Shadow {
    /// An asynchronous reduction into these bytes is issued, with this number (from [`Shadow::operation`]).
    pub(crate) fn begin_async_reduction(
        &mut self,
        who: Who,
        operation: u32,
        manner: Manner,
        at: usize,
        bytes: usize,
    ) -> Result<(), Finding> {
        let (all, any) = over(&self.states[at..at + bytes]);
        if any & (FLIGHT | MBARRIER | READING) != 0 {
            self.check_busy(at, bytes, any & !REDUCED, true)?;
        }
        if let Some(other) = self.in_flight(at, bytes, |of| *of != manner) {
            return Err(Finding::InFlight(other));
        }
        let mut found = Ok(());
        if self.uninitialised && all & WRITTEN == 0 {
            found = Err(Finding::Unwritten);
        }
        for cell in self.cells_of(at, bytes) {
            let open = self.reductions.get(&cell).filter(|of| !of.followed);
            if open.is_some_and(|of| of.manner != manner) {
                self.erase(cell);
            }
            if self.races {
                found = found.and(self.check_reduction(who, manner, cell));
            }
        }
        let issue = self.stamp(who);
        for cell in self.cells_of(at, bytes) {
            let of = self.reductions.remove(&cell).filter(|of| !of.followed);
            let mut of = match of {
                Some(of) if of.manner == manner => of,
                // Reductions that other accesses have followed need not be kept: what these had to come after, the
                // new one has to come after, too.
                of => Reductions {
                    manner,
                    flying: Vec::new(),
                    ended: Vec::new(),
                    before: of.map_or_else(Vec::new, |of| of.ends().collect()),
                    followed: false,
                },
            };
            let past = self.clocks[who.warp as usize].past(who);
            for ends in &mut of.ended {
                ends.last = ends.last.filter(|last| !past.has(last));
            }
            of.flying.push((operation, issue));
            self.reductions.insert(cell, of);
        }
        self.states[at..at + bytes].iter_mut().for_each(|state| *state |= REDUCED);
        found
    }

    /// Checks that a reduction comes after the accesses to a cell that it has to come after.
    fn check_reduction(&self, who: Who, manner: Manner, cell: usize) -> Result<(), Finding> {
        let (at, bytes) = (cell << self.granule, 1 << self.granule);
        let past = self.clocks[who.warp as usize].past(who);
        let open = self.reductions.get(&cell).filter(|of| !of.followed);
        let before = match open {
            // An access after one of the reductions is also after the accesses that this one had to follow.
            Some(of) if of.manner == manner && of.ended.iter().any(|ends| past.has(&ends.first)) => {
                return Ok(());
            }
            Some(of) if of.manner == manner => of.before.clone(),
            Some(of) => of.ends().collect(),
            None => Vec::new(),
        };
        if let Some(&other) = before.iter().find(|end| !past.has(end)) {
            return Err(Finding::race(at, Access::Write, other));
        }
        let write = self.cells[cell].write;
        if !past.has(&write) {
            return Err(Finding::race(at, Access::Write, write));
        }
        if let Some(other) = self.read_outside(cell, past) {
            return Err(Finding::race(at, Access::Read, other));
        }
        self.check_strong((who.warp, 1 << who.lane), at, bytes, true, None)?;
        if !manner.bulk {
            return Ok(());
        }
        self.check_seen((who.warp, 1 << who.lane), at, &before)?;
        self.check_proxy(who.warp, 1 << who.lane, at, bytes)
    }

    /// An asynchronous reduction has taken place; from now on other accesses must be ordered after what `by` names.
    pub(crate) fn end_async_reduction(&mut self, by: By, at: usize, bytes: usize) {
        let By::Phase { operation, .. } = by else { return };
        let end = self.stamp_of(by);
        for cell in self.cells_of(at, bytes) {
            let Some(of) = self.reductions.get_mut(&cell) else { continue };
            // It is not there if its issue was a finding after which nothing is recorded.
            let Some(nth) = of.flying.iter().position(|(number, _)| *number == operation) else { continue };
            of.flying.remove(nth);
            if self.races {
                match of.ended.iter_mut().find(|ends| ends.first.thread == end.thread) {
                    Some(ends) => ends.last = Some(end),
                    None => of.ended.push(Ends { first: end, last: Some(end) }),
                }
            }
            let first = cell << self.granule;
            let end = (first + (1 << self.granule)).min(self.states.len());
            self.states[first..end].iter_mut().for_each(|state| *state |= WRITTEN);
        }
    }

    /// The issue of a reduction in flight into these bytes, of a manner as `like` says.
    pub(super) fn in_flight(&self, at: usize, bytes: usize, like: impl Fn(&Manner) -> bool) -> Option<Stamp> {
        if self.reductions.is_empty() {
            return None;
        }
        let of = self.cells_of(at, bytes).filter_map(|cell| self.reductions.get(&cell));
        of.filter(|of| like(&of.manner)).find_map(|of| of.flying.first()).map(|&(_, issue)| issue)
    }

    /// Before any other access to these bytes by these lanes, as one: checks that it comes after the reductions into
    /// them. What the reductions had to come after is forgotten, since what comes after them comes after that.
    #[inline]
    pub(super) fn follow(
        &mut self,
        by: (u32, u32),
        at: usize,
        bytes: usize,
        writes: bool,
    ) -> Result<(), Finding> {
        if self.reductions.is_empty() { Ok(()) } else { self.follow_some(by, at, bytes, writes) }
    }

    #[cold]
    fn follow_some(
        &mut self,
        (warp, lanes): (u32, u32),
        at: usize,
        bytes: usize,
        writes: bool,
    ) -> Result<(), Finding> {
        let (_, any) = over(&self.states[at..at + bytes]);
        // An access to bytes in flight is not recorded, and comes after nothing.
        if !self.races || any & REDUCED == 0 || self.check_busy(at, bytes, any, writes).is_err() {
            return Ok(());
        }
        let mut found = Ok(());
        for cell in self.cells_of(at, bytes) {
            let Some(of) = self.reductions.get_mut(&cell) else { continue };
            let clock = &self.clocks[warp as usize];
            let other = of.ends().find(|end| !clock.after_any(end, lanes));
            if let Some(other) = other.filter(|_| found.is_ok()) {
                found = Err(Finding::race(cell << self.granule, Access::Write, other));
            }
            if !std::mem::replace(&mut of.followed, true) {
                self.erase(cell);
            }
        }
        found
    }

    /// Forgets the accesses to a cell that are no asynchronous reductions.
    fn erase(&mut self, cell: usize) {
        self.strong.remove(&cell);
        for cell in self.cells.range_mut(cell..cell + 1) {
            let Cell { more, .. } = std::mem::take(cell);
            if more != 0 {
                self.chains.drop(more);
            }
        }
    }

    /// The ends of the reductions into these bytes that a later access has to come after, each with its cell.
    pub(super) fn reduced(&self, at: usize, bytes: usize) -> impl Iterator<Item = (usize, Stamp)> {
        let cells = if self.reductions.is_empty() { 0..0 } else { self.cells_of(at, bytes) };
        let of = cells.filter_map(|cell| Some((cell, self.reductions.get(&cell)?)));
        of.flat_map(|(cell, of)| of.ends().map(move |end| (cell, end)))
    }
}
