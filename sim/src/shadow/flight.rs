//! Asynchronous operations: bytes that are being read or written, and the proxies (PTX ISA, "Asynchronous Operations",
//! "Proxies").

use super::{FLIGHT, Finding, READING, Shadow, Stamp, WRITTEN, Who};
use crate::Access;
use crate::lanes::WARP;

/// An asynchronous operation that an mbarrier orders.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operation {
    source: u32,
    thread: u32,
    /// Whether it belongs to the generic proxy, as `cp.async` does.
    generic: bool,
}

/// How many asynchronous operations may still read 16 bytes, and one of them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reading {
    count: u32,
    stamp: Stamp,
}

/// Bytes of a [`Reading`].
const LINE: usize = 16;

/// What makes an asynchronous operation's end known.
#[derive(Clone, Copy, Debug)]
pub(crate) enum By {
    /// The thread that has waited for it.
    Thread(Who),
    /// The completion of a phase of an mbarrier.
    Phase {
        /// The mbarrier's number.
        mbarrier: usize,
        phase: u32,
        /// What [`Shadow::operation`] gave.
        operation: u32,
    },
}

impl Shadow {
    /// An operation of the generic proxy that will write these bytes is issued: `cp.async`, `st.async`.
    pub(crate) fn begin_copy(&mut self, who: Who, at: usize, bytes: usize) -> Result<(), Finding> {
        self.check_write(who, at, bytes)?;
        self.states[at..at + bytes].iter_mut().for_each(|state| *state |= FLIGHT);
        self.record_write(self.stamp(who), at, bytes);
        Ok(())
    }

    /// An operation of the async proxy that will write these bytes is issued.
    pub(crate) fn begin_async_write(&mut self, who: Who, at: usize, bytes: usize) -> Result<(), Finding> {
        self.check_write(who, at, bytes)?;
        if self.races {
            self.check_proxy(who, at, bytes)?;
        }
        self.begin_copy(who, at, bytes)
    }

    /// A reduction into these bytes is issued; reductions do not race with one another.
    pub(crate) fn begin_async_reduction(&mut self, who: Who, at: usize, bytes: usize) -> Result<(), Finding> {
        self.check_states(at, bytes, true, true)?;
        let clock = &self.clocks[who.warp as usize];
        for i in self.cells_of(at, bytes) {
            let other = self.cells[i].write;
            if self.races && !self.is_mbarrier(other) && !clock.after(&other, who) {
                return Err(Finding::Race { offset: i << self.granule, access: Access::Write, other });
            }
        }
        Ok(())
    }

    /// An asynchronous operation has written.
    pub(crate) fn end_async_write(&mut self, by: By, at: usize, bytes: usize) {
        self.states[at..at + bytes].fill(WRITTEN);
        self.record_write(self.stamp_of(by), at, bytes);
    }

    /// An operation of the async proxy that will read these bytes (whole 16-byte lines) is issued.
    pub(crate) fn begin_async_read(&mut self, who: Who, at: usize, bytes: usize) -> Result<(), Finding> {
        self.check_states(at, bytes, true, false)?;
        if self.races {
            let clock = &self.clocks[who.warp as usize];
            for i in self.cells_of(at, bytes) {
                let other = self.cells[i].write;
                if !clock.after(&other, who) {
                    return Err(Finding::Race { offset: i << self.granule, access: Access::Write, other });
                }
            }
            self.check_proxy(who, at, bytes)?;
        }
        let stamp = self.stamp(who);
        if self.reading.is_empty() {
            self.reading.resize(self.states.len().div_ceil(LINE), Reading::default());
        }
        self.states[at..at + bytes].iter_mut().for_each(|state| *state |= READING);
        for reading in &mut self.reading[at / LINE..(at + bytes).div_ceil(LINE)] {
            *reading = Reading { count: reading.count + 1, stamp };
        }
        Ok(())
    }

    /// An asynchronous operation has read, and this makes it known.
    pub(crate) fn end_async_read(&mut self, by: By, at: usize, bytes: usize) {
        let new = self.stamp_of(by);
        for line in at / LINE..(at + bytes).div_ceil(LINE) {
            let Some(reading) = self.reading.get_mut(line) else { continue };
            reading.count = reading.count.saturating_sub(1);
            if reading.count == 0 {
                let end = ((line + 1) * LINE).min(self.states.len());
                self.states[line * LINE..end].iter_mut().for_each(|state| *state &= !READING);
            }
        }
        for i in self.cells_of(at, bytes) {
            let slot =
                usize::from(self.cells[i].reads[0].clock != 0 && self.cells[i].reads[0].thread != new.thread);
            self.cells[i].reads[slot] = new;
        }
    }

    /// Registers an operation whose end an mbarrier tells.
    pub(crate) fn operation(&mut self, who: Who, generic: bool) -> u32 {
        let thread = who.warp * WARP as u32 + who.lane;
        self.operations.push(Operation { source: who.source, thread, generic });
        self.operations.len() as u32 - 1
    }

    /// The instruction and the thread of an access.
    pub(crate) fn origin(&self, stamp: Stamp) -> (u32, u32) {
        match self.operations.get(stamp.source as usize) {
            Some(operation) if self.is_mbarrier(stamp) => (operation.source, operation.thread),
            _ => (stamp.source, stamp.thread),
        }
    }

    /// Whether the async proxy of this thread sees what the generic proxy wrote last.
    pub(super) fn check_proxy(&self, who: Who, at: usize, bytes: usize) -> Result<(), Finding> {
        let proxied = &self.clocks[who.warp as usize].view.proxied;
        for i in self.cells_of(at, bytes) {
            let other = self.cells[i].write;
            let generic = match self.operations.get(other.source as usize) {
                Some(operation) if self.is_mbarrier(other) => operation.generic,
                _ => true,
            };
            if generic && other.clock > proxied.get(other.thread as usize / WARP) {
                return Err(Finding::Unfenced { offset: i << self.granule, other });
            }
        }
        Ok(())
    }

    /// An operation that may still read some of these bytes.
    pub(super) fn reader(&self, at: usize, bytes: usize) -> Stamp {
        let first = (at..at + bytes).find(|&i| self.states[i] & READING != 0).unwrap_or(at);
        self.reading.get(first / LINE).map_or(Stamp::default(), |reading| reading.stamp)
    }

    /// Whether a stamp's clock is that of an mbarrier.
    fn is_mbarrier(&self, stamp: Stamp) -> bool {
        stamp.thread as usize / WARP >= self.clocks.len()
    }

    fn stamp_of(&self, by: By) -> Stamp {
        match by {
            By::Thread(who) => self.stamp(who),
            By::Phase { mbarrier, phase, operation } => {
                let component = self.clocks.len() + mbarrier;
                Stamp { clock: phase, source: operation, thread: (component * WARP) as u32 }
            }
        }
    }
}
