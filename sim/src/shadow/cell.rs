//! Stamps and cells: the records of accesses to shared memory.

use std::ops::{Index, Range};

use super::accesses::{Accesses, Chains};

/// An access as it is remembered. `thread` is 32 times the component of the clocks that counts the access (a warp of
/// the cluster, or an mbarrier) plus the lane. `source` is the instruction; in the cells of shared memory, a stamp of
/// an mbarrier's component has the number of the operation there. Clock 0 means no access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(super) clock: u32,
    pub(super) source: u32,
    pub(super) thread: u32,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cell {
    pub(super) write: Stamp,
    /// Reads since the write. `more` is the chain of the reads that do not fit in here.
    pub(super) reads: [Accesses; 2],
    pub(super) more: u32,
}

impl Cell {
    /// Adds a read. It replaces an entry whose reads all come before it, for which `before` is true, if there is one.
    #[inline]
    pub(super) fn read(&mut self, new: Accesses, chains: &mut Chains, before: impl Fn(&Accesses) -> bool) {
        if self.reads.iter_mut().any(|reads| reads.merge(&new)) {
        } else if let Some(free) = self.reads.iter_mut().find(|reads| before(reads)) {
            *free = new;
        } else {
            chains.add(&mut self.more, new, before);
        }
    }
}

/// Cells of a page: what is cleared together.
const PAGE: usize = 64;

/// All cells. A cluster uses few pages of a large shared memory, and the next one clears no others.
#[derive(Clone, Debug)]
pub(super) struct Cells {
    cells: Vec<Cell>,
    /// For each page, whether it may have changed since it was cleared.
    changed: Vec<bool>,
}

impl Cells {
    pub(super) fn new(count: usize) -> Self {
        Cells { cells: vec![Cell::default(); count], changed: vec![false; count.div_ceil(PAGE)] }
    }

    pub(super) fn clear(&mut self) {
        for (page, changed) in self.cells.chunks_mut(PAGE).zip(&mut self.changed) {
            if std::mem::take(changed) {
                page.fill(Cell::default());
            }
        }
    }

    /// Cells that are going to change.
    #[inline]
    pub(super) fn range_mut(&mut self, range: Range<usize>) -> &mut [Cell] {
        match &mut self.changed[range.start / PAGE..range.end.div_ceil(PAGE)] {
            [page] => *page = true,
            pages => pages.fill(true),
        }
        &mut self.cells[range]
    }
}

impl Index<usize> for Cells {
    type Output = Cell;

    #[inline]
    fn index(&self, cell: usize) -> &Cell {
        &self.cells[cell]
    }
}
