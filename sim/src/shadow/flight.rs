//! Asynchronous operations: the bytes that they are going to read or write, and what the async proxy sees (PTX ISA,
//! "Asynchronous Operations", "Proxies").

use super::accesses::Accesses;
use super::{FLIGHT, Finding, READING, REDUCED, Shadow, Stamp, WRITTEN, Who, Window};
use crate::Access;
use crate::lanes::WARP;

/// An asynchronous operation whose end an mbarrier tells: the instruction and the thread that issued it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operation {
    source: u32,
    thread: u32,
    /// Whether the operation belongs to the generic proxy, as `cp.async` does, and not to the async proxy.
    generic: bool,
}

/// How many asynchronous operations may still read a line of 16 bytes, and the issue of the last of them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reading {
    count: u32,
    stamp: Stamp,
}

/// Bytes of a line, for which one [`Reading`] counts.
const LINE: usize = 16;

/// The event that ends an asynchronous operation.
#[derive(Clone, Copy, Debug)]
pub(crate) enum By {
    /// The thread that issued the operation has waited for it.
    Thread(Who),
    /// The completion of a phase of an mbarrier.
    Phase {
        /// The mbarrier's index.
        mbarrier: usize,
        phase: u32,
        /// The operation's index, from [`Shadow::operation`].
        operation: u32,
    },
}

impl Shadow {
    /// An operation of the generic proxy (`cp.async`, `st.async`) that will write these bytes is issued.
    pub(crate) fn begin_copy(&mut self, who: Who, at: usize, bytes: usize) -> Result<(), Finding> {
        let after = self.follow((who.warp, 1 << who.lane), at, bytes, true);
        let found = after.and(self.check_write(who, at, bytes));
        self.fly(who, at, bytes);
        found
    }

    /// Marks bytes as in flight from this thread's operation on.
    fn fly(&mut self, who: Who, at: usize, bytes: usize) {
        self.states[at..at + bytes].iter_mut().for_each(|state| *state = (*state | FLIGHT) & !REDUCED);
        self.record_write(self.stamp(who), at, bytes);
    }

    /// An operation of the async proxy that will write these bytes is issued.
    pub(crate) fn begin_async_write(&mut self, who: Who, at: usize, bytes: usize) -> Result<(), Finding> {
        let after = self.follow((who.warp, 1 << who.lane), at, bytes, true);
        let mut found = after.and(self.check_write(who, at, bytes));
        if self.races && found.is_ok() {
            found = self.check_proxy(who.warp, 1 << who.lane, at, bytes);
        }
        self.fly(who, at, bytes);
        found
    }

    /// An asynchronous operation has written these bytes; from now on a thread must be ordered after what `by` names.
    pub(crate) fn end_async_write(&mut self, by: By, at: usize, bytes: usize) {
        self.states[at..at + bytes].fill(WRITTEN);
        self.record_write(self.stamp_of(by), at, bytes);
    }

    /// An operation of the async proxy that will read these bytes (whole 16-byte lines) is issued. Several lanes may
    /// issue the operation as one: it comes after what any of them did or knows, since each may have waited for a part
    /// of the bytes. `strict`: all bytes must have a value.
    pub(crate) fn begin_async_read(
        &mut self,
        (who, lanes): (Who, u32),
        at: usize,
        bytes: usize,
        strict: bool,
    ) -> Result<(), Finding> {
        let after = self.follow((who.warp, lanes), at, bytes, false);
        let found = after.and(self.check_async_read((who, lanes), at, bytes, strict));
        let stamp = self.stamp(who);
        if self.reading.is_empty() {
            self.reading.resize(self.states.len().div_ceil(LINE), Reading::default());
        }
        self.states[at..at + bytes].iter_mut().for_each(|state| *state |= READING);
        for reading in &mut self.reading[at / LINE..(at + bytes).div_ceil(LINE)] {
            *reading = Reading { count: reading.count + 1, stamp };
        }
        found
    }

    fn check_async_read(
        &self,
        (who, lanes): (Who, u32),
        at: usize,
        bytes: usize,
        strict: bool,
    ) -> Result<(), Finding> {
        self.check_states(at, bytes, strict, false)?;
        if !self.races {
            return Ok(());
        }
        if !self.strong.is_empty() {
            self.check_strong((who.warp, lanes), at, bytes, false, None)?;
        }
        let clock = &self.clocks[who.warp as usize];
        for (i, other) in self.writes_of(at, bytes) {
            if !clock.after_any(&other, lanes) {
                return Err(Finding::race(i << self.granule, Access::Write, other));
            }
        }
        self.check_proxy(who.warp, lanes, at, bytes)
    }

    /// An asynchronous operation has read these bytes, and those ordered after what `by` names come after the read.
    pub(crate) fn end_async_read(&mut self, by: By, at: usize, bytes: usize) {
        for line in at / LINE..(at + bytes).div_ceil(LINE) {
            let Some(reading) = self.reading.get_mut(line) else { continue };
            reading.count = reading.count.saturating_sub(1);
            if reading.count == 0 {
                let end = ((line + 1) * LINE).min(self.states.len());
                self.states[line * LINE..end].iter_mut().for_each(|state| *state &= !READING);
            }
        }
        let new = Accesses::from(self.stamp_of(by));
        let past = match by {
            By::Thread(who) => Some(self.clocks[who.warp as usize].past(who)),
            By::Phase { .. } => None,
        };
        let cells = self.cells_of(at, bytes);
        for cell in self.cells.range_mut(cells) {
            cell.read(new, &mut self.chains, |reads| match past {
                Some(past) => past.missing(reads) == 0,
                // A thread that knows this phase knows the phases before it, and so the earlier reads of the same
                // component.
                None => reads.clock == 0 || reads.warp == new.warp,
            });
        }
    }

    /// Registers an operation whose end an mbarrier tells, and returns its number. `generic`: it is of the generic
    /// proxy.
    pub(crate) fn operation(&mut self, who: Who, generic: bool) -> u32 {
        self.operations.push(Operation { source: who.source, thread: who.thread(), generic });
        self.operations.len() as u32 - 1
    }

    /// The instruction and the thread that made an access; for an access counted by an mbarrier, those that issued the
    /// operation.
    pub(crate) fn origin(&self, stamp: Stamp) -> (u32, u32) {
        match self.operations.get(stamp.source as usize) {
            Some(operation) if self.is_mbarrier(stamp) => (operation.source, operation.thread),
            _ => (stamp.source, stamp.thread),
        }
    }

    /// Checks that the async proxy sees the last writes of the generic proxy to these bytes, by proxy fences that come
    /// before one of these lanes' next accesses.
    pub(super) fn check_proxy(&self, warp: u32, lanes: u32, at: usize, bytes: usize) -> Result<(), Finding> {
        let clock = &self.clocks[warp as usize];
        let strong = self.cells_of(at, bytes).filter_map(|i| Some((i, self.strong.get(&i)?)));
        for (i, strong) in strong.filter(|_| !self.strong.is_empty()) {
            let windows = |thread| self.windows(thread, at);
            let unseen = |stamp: &Stamp| !clock.sees_any(stamp, lanes, windows(stamp.thread));
            if let Some(other) = strong.generic_writes().map(|(_, stamp, _)| stamp).find(unseen) {
                return Err(Finding::Unfenced { offset: i << self.granule, other });
            }
        }
        for (i, other) in self.writes_of(at, bytes) {
            self.check_seen((warp, lanes), i << self.granule, &[other])?;
        }
        self.reduced(at, bytes)
            .try_for_each(|(i, end)| self.check_seen((warp, lanes), i << self.granule, &[end]))
    }

    /// Checks that the async proxy sees those of these writes that are of the generic proxy.
    pub(super) fn check_seen(
        &self,
        (warp, lanes): (u32, u32),
        offset: usize,
        writes: &[Stamp],
    ) -> Result<(), Finding> {
        let unseen = |other: &&Stamp| {
            let generic = match self.operations.get(other.source as usize) {
                Some(operation) if self.is_mbarrier(**other) => operation.generic,
                _ => true,
            };
            let windows = || self.windows(self.origin(**other).1, offset);
            generic && !self.clocks[warp as usize].sees_any(other, lanes, windows())
        };
        match writes.iter().find(unseen) {
            Some(&other) => Err(Finding::Unfenced { offset, other }),
            None => Ok(()),
        }
    }

    /// The windows whose fences cover what a thread has written to a place of shared memory: `.shared::cta` covers only
    /// writes to the thread's own block.
    fn windows(&self, thread: u32, at: usize) -> &'static [Window] {
        match self.home(thread).rank as usize == at / self.block_bytes.max(1) {
            true => &[Window::Cluster, Window::Cta],
            false => &[Window::Cluster],
        }
    }

    /// The last writes of the cells of a range of bytes, each with its cell; cells that repeat the write of the cell
    /// before are left out.
    fn writes_of(&self, at: usize, bytes: usize) -> impl Iterator<Item = (usize, Stamp)> {
        let mut last = None;
        self.cells_of(at, bytes).filter_map(move |i| {
            let write = self.cells[i].write;
            (last.replace(write) != Some(write)).then_some((i, write))
        })
    }

    /// The issue of an operation that may still read some of these bytes.
    pub(super) fn reader(&self, at: usize, bytes: usize) -> Stamp {
        let first = (at..at + bytes).find(|&i| self.states[i] & READING != 0).unwrap_or(at);
        self.reading.get(first / LINE).map_or(Stamp::default(), |reading| reading.stamp)
    }

    /// Whether a warp's component counts an access, so that its stamp names its thread.
    pub(crate) fn is_access(&self, stamp: Stamp) -> bool {
        !self.is_mbarrier(stamp)
    }

    /// Whether an mbarrier's or a counter's component counts an access, not a warp's.
    fn is_mbarrier(&self, stamp: Stamp) -> bool {
        stamp.thread as usize / WARP >= self.clocks.len()
    }

    pub(super) fn stamp_of(&self, by: By) -> Stamp {
        match by {
            By::Thread(who) => self.stamp(who),
            By::Phase { mbarrier, phase, operation } => {
                let component = self.clocks.len() + mbarrier;
                Stamp { clock: phase, source: operation, thread: (component * WARP) as u32 }
            }
        }
    }
}
