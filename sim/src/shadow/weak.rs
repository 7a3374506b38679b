//! Weak reads and writes of a thread: the accesses after which they must be ordered, and their records.

use super::accesses::Accesses;
use super::cell::{Cell, Stamp};
use super::clock::Past;
use super::states::WRITTEN;
use super::{Finding, Shadow, Who};
use crate::Access;

impl Shadow {
    /// A read of a thread. It is recorded even where there is a finding, as other accesses are, so that the execution
    /// can go on.
    pub(crate) fn read(&mut self, who: Who, at: usize, bytes: usize) -> Result<(), Finding> {
        let after = self.follow((who.warp, 1 << who.lane), at, bytes, false);
        let found = after.and(self.check_read(who, at, bytes));
        if !found.is_err_and(|finding| finding.is_busy()) {
            self.record_read(who, at, bytes);
        }
        found
    }

    #[inline]
    fn check_read(&self, who: Who, at: usize, bytes: usize) -> Result<(), Finding> {
        self.check_states(at, bytes, false, false)?;
        if !self.races {
            return Ok(());
        }
        if !self.strong.is_empty() {
            self.check_strong((who.warp, 1 << who.lane), at, bytes, false, None)?;
        }
        let past = self.clocks[who.warp as usize].past(who);
        for i in self.cells_of(at, bytes) {
            let other = self.cells[i].write;
            if !past.has(&other) {
                return Err(Finding::race(i << self.granule, Access::Write, other));
            }
        }
        Ok(())
    }

    #[inline]
    fn record_read(&mut self, who: Who, at: usize, bytes: usize) {
        if !self.races {
            return;
        }
        let new = Accesses::from(self.stamp(who));
        let past = self.clocks[who.warp as usize].past(who);
        let cells = self.cells_of(at, bytes);
        for cell in self.cells.range_mut(cells) {
            cell.read(new, &mut self.chains, |reads| past.missing(reads) == 0);
        }
    }

    /// A write of a thread. With `same`, the write leaves the bytes as they are. Then a race with the last write is a
    /// finding of less weight, and none if one instruction makes both writes, since compilers let all threads that have
    /// the same element write it.
    pub(crate) fn write(&mut self, who: Who, at: usize, bytes: usize, same: bool) -> Result<(), Finding> {
        let after = self.follow((who.warp, 1 << who.lane), at, bytes, true);
        let mut found = self.check_write(who, at, bytes);
        if let Err(Finding::Race { access: Access::Write, offset, other, .. }) = found
            && same
        {
            found = self.check_reads(who, at, bytes);
            if found.is_ok() && self.origin(other).0 != who.source {
                found = Err(Finding::Race { offset, access: Access::Write, other, same });
            }
        }
        if found.is_err_and(|finding| finding.is_busy()) {
            return found;
        }
        self.states[at..at + bytes].fill(WRITTEN);
        self.record_write(self.stamp(who), at, bytes);
        after.and(found)
    }

    #[inline]
    pub(super) fn check_write(&self, who: Who, at: usize, bytes: usize) -> Result<(), Finding> {
        self.check_states(at, bytes, false, true)?;
        if !self.races {
            return Ok(());
        }
        if !self.strong.is_empty() {
            self.check_strong((who.warp, 1 << who.lane), at, bytes, true, None)?;
        }
        let past = self.clocks[who.warp as usize].past(who);
        for i in self.cells_of(at, bytes) {
            let offset = i << self.granule;
            let other = self.cells[i].write;
            if !past.has(&other) {
                return Err(Finding::race(offset, Access::Write, other));
            }
            if let Some(other) = self.read_outside(i, past) {
                return Err(Finding::race(offset, Access::Read, other));
            }
        }
        Ok(())
    }

    /// Whether all reads since the last write come before a thread's write.
    fn check_reads(&self, who: Who, at: usize, bytes: usize) -> Result<(), Finding> {
        let past = self.clocks[who.warp as usize].past(who);
        match self.cells_of(at, bytes).find_map(|i| Some((i << self.granule, self.read_outside(i, past)?))) {
            Some((offset, other)) => Err(Finding::race(offset, Access::Read, other)),
            None => Ok(()),
        }
    }

    /// A read of a cell since the cell's last write that does not come before a thread's next access.
    #[inline]
    pub(super) fn read_outside(&self, cell: usize, past: Past<'_>) -> Option<Stamp> {
        let Cell { reads: [first, second], more, .. } = &self.cells[cell];
        let outside = |reads: &Accesses| reads.first(past.missing(reads));
        let other = outside(first).or_else(|| outside(second));
        let other =
            if *more == 0 { other } else { other.or_else(|| self.chains.of(*more).find_map(outside)) };
        if !other.is_some_and(|other| self.is_soft(other.source)) {
            return other;
        }
        // A read that may be no more than formal is told last.
        let all = [first, second].into_iter().chain(self.chains.of(*more));
        all.filter_map(outside).find(|other| !self.is_soft(other.source)).or(other)
    }

    #[inline]
    pub(super) fn record_write(&mut self, write: Stamp, at: usize, bytes: usize) {
        if !self.strong.is_empty() {
            // The strong accesses come before this write, or a finding says so; what is ordered after the write is
            // ordered after them, so that nothing has to remember them.
            for cell in self.cells_of(at, bytes) {
                self.strong.remove(&cell);
            }
        }
        if !self.reductions.is_empty() {
            for cell in self.cells_of(at, bytes) {
                self.reductions.remove(&cell);
            }
        }
        let cells = self.cells_of(at, bytes);
        for cell in self.cells.range_mut(cells) {
            if cell.more != 0 {
                self.chains.drop(cell.more);
            }
            *cell = Cell { write, ..Cell::default() };
        }
    }
}
