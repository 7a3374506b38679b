//! Stamps and cells: the records of accesses to shared memory.

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

/// The cells of a range of bytes, with their numbers.
#[inline]
pub(super) fn cells(
    cells: &mut [Cell],
    granule: u32,
    at: usize,
    bytes: usize,
) -> impl Iterator<Item = (usize, &mut Cell)> {
    let (first, end) = (at >> granule, (at + bytes).div_ceil(1 << granule));
    cells[first..end].iter_mut().enumerate().map(move |(i, cell)| (first + i, cell))
}
