//! The states of bytes: whether a byte is written, and what asynchronous operations and mbarriers do with it.

use std::ops::Range;

use super::{Finding, Shadow};

/// State bit of a byte: something has been written to the byte.
pub(super) const WRITTEN: u8 = 1;
/// State bit of a byte: an issued asynchronous operation will write the byte.
pub(super) const FLIGHT: u8 = 2;
/// State bit of a byte: an issued asynchronous operation may still read the byte.
pub(super) const READING: u8 = 4;
/// State bit of a byte: the byte belongs to an mbarrier.
pub(super) const MBARRIER: u8 = 8;
/// State bit of a byte: asynchronous reductions into the byte have been issued since it was written.
pub(super) const REDUCED: u8 = 16;
/// State bits with which an access has to be looked at more closely.
pub(super) const SPECIAL: u8 = FLIGHT | READING | MBARRIER | REDUCED;

impl Shadow {
    /// Checks that the bytes may be accessed at all, and that bytes that are read have been written.
    pub(super) fn check_states(
        &self,
        at: usize,
        bytes: usize,
        reads: bool,
        writes: bool,
    ) -> Result<(), Finding> {
        let states = &self.states[at..at + bytes];
        let (all, any) = over(states);
        if any & SPECIAL != 0 {
            self.check_busy(at, bytes, any, writes)?;
        }
        if reads && self.uninitialised && all & WRITTEN == 0 {
            return Err(Finding::Unwritten);
        }
        Ok(())
    }

    #[cold]
    pub(super) fn check_busy(&self, at: usize, bytes: usize, any: u8, writes: bool) -> Result<(), Finding> {
        if any & MBARRIER != 0 {
            return Err(Finding::Mbarrier);
        }
        if any & FLIGHT != 0 {
            let first = (at..at + bytes).find(|&i| self.states[i] & FLIGHT != 0).unwrap_or(at);
            return Err(Finding::InFlight(self.cells[first >> self.granule].write));
        }
        if any & REDUCED != 0
            && let Some(issue) = self.in_flight(at, bytes, |_| true)
        {
            return Err(Finding::InFlight(issue));
        }
        if writes && any & READING != 0 {
            return Err(Finding::BeingRead(self.reader(at, bytes)));
        }
        Ok(())
    }

    /// Whether some of these bytes have not been written; never if `uninitialised` is not checked.
    pub(crate) fn lacks(&self, range: &Range<usize>) -> bool {
        self.uninitialised && over(&self.states[range.clone()]).0 & WRITTEN == 0
    }

    /// Which of up to 16 bytes have not been written, a bit for each byte; none if `uninitialised` is not checked.
    #[inline]
    pub(crate) fn missing(&self, at: usize, bytes: usize) -> u16 {
        let states = &self.states[at..at + bytes];
        if !self.uninitialised || states.iter().fold(u8::MAX, |all, state| all & state) & WRITTEN != 0 {
            return 0;
        }
        let missing = |(i, state): (usize, &u8)| u16::from(state & WRITTEN == 0) << i;
        states.iter().enumerate().map(missing).fold(0, |all, missing| all | missing)
    }

    /// Marks bytes as not written after all, as undefined values have been stored to them; bit `i` of `missing` is byte
    /// `at + i`.
    pub(crate) fn forget(&mut self, at: usize, missing: u16) {
        for (i, state) in self.states[at..].iter_mut().take(16).enumerate() {
            if missing >> i & 1 == 1 {
                *state &= !WRITTEN;
            }
        }
    }
}

/// Whether all bytes are written and have no other state bit. This is the usual case, and so has a quick test.
#[inline]
pub(super) fn are_written(states: &[u8]) -> bool {
    match states.len() {
        4 => *states == [WRITTEN; 4],
        8 => *states == [WRITTEN; 8],
        16 => *states == [WRITTEN; 16],
        _ => states.iter().all(|&state| state == WRITTEN),
    }
}

/// The bits that all of these states have, and the bits that at least one has.
#[inline]
pub(super) fn over(states: &[u8]) -> (u8, u8) {
    #[inline(always)]
    fn fold(states: &[u8]) -> (u8, u8) {
        states.iter().fold((u8::MAX, 0), |(all, any), state| (all & state, any | state))
    }
    // The compiler unrolls the loop where it knows the length.
    match *states {
        [one] => (one, one),
        [a, b, c, d] => fold(&[a, b, c, d]),
        _ => fold(states),
    }
}
