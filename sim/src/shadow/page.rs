//! The shadow of one page of global memory.
//!
//! A cell has the last write and the reads since that are not ordered among themselves. Most accesses are those of a
//! whole warp, and their marks differ only in the lane. The page stores such marks once, as an event, and a cell refers
//! to a mark in four bytes, by the number of the event and the lane.

use std::ops::Range;

use super::Stamp;
use super::map::Map;
use super::strong::Strong;
use crate::lanes::{WARP, lanes_of};

/// Bytes of a page.
pub(super) const PAGE: u64 = 4096;
/// log2 of the bytes of a cell, until there is a narrower access.
const WIDEST: u32 = 4;
/// The number of events of a page at which those that no cell refers to are dropped.
const EVENTS: usize = 512;

/// An access to global memory as it is remembered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    /// The cluster whose clocks count the access.
    pub(crate) cluster: u32,
    pub(super) stamp: Stamp,
    /// The thread of the cluster that issued the access. The stamp has another thread where an mbarrier or a bulk group
    /// tells the end of the access.
    pub(super) by: u32,
    /// Whether the access is of the async proxy.
    pub(super) bulk: bool,
}

impl Mark {
    /// The instruction that made the access, and its thread in the cluster.
    pub(crate) fn origin(&self) -> (u32, u32) {
        (self.stamp.source, self.by)
    }
}

/// A reference to a mark of a page: 32 times the number of the mark's event, from 1, plus the lane; 0 is no mark.
pub(super) type Name = u32;

/// The last write, and up to two reads since; [`Page::more`] has the others.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    write: Name,
    reads: [Name; 2],
}

/// Reads of a cell by several lanes whose marks have the same event.
#[derive(Clone, Copy, Debug)]
struct Reads {
    /// The name of the event's mark of lane 0.
    event: Name,
    lanes: u32,
}

#[derive(Debug)]
pub(super) struct Page {
    /// log2 of the bytes of a cell.
    pub(super) granule: u32,
    cells: Vec<Cell>,
    /// The common part of several marks: each is a mark with lane 0.
    events: Vec<Mark>,
    /// The number of events at which the next sweep drops those that no cell refers to.
    most: usize,
    /// Further reads of the cells that have more than two, at most one of each thread.
    more: Map<usize, Vec<Reads>>,
    /// The strong accesses, by cell, of the cells that have had any.
    pub(super) strong: Map<usize, Strong>,
    /// A bit for each byte, set if `ld.global.nc` has read the byte; empty before the first such read.
    constant: Vec<u64>,
}

impl Default for Page {
    fn default() -> Self {
        Page {
            granule: WIDEST,
            cells: vec![Cell::default(); (PAGE >> WIDEST) as usize],
            events: Vec::new(),
            most: EVENTS,
            more: Map::default(),
            strong: Map::default(),
            constant: Vec::new(),
        }
    }
}

/// Splits each cell of a map by cell into this many parts, each with what the whole cell had.
fn split<T: Clone>(map: &mut Map<usize, T>, parts: usize) {
    let whole = std::mem::take(map);
    let parts =
        whole.into_iter().flat_map(|(i, v)| (i * parts..(i + 1) * parts).map(move |i| (i, v.clone())));
    *map = parts.collect();
}

impl Page {
    /// The cells of a range of bytes. Cells that are wider than the range allows are split first.
    pub(super) fn cells_of(&mut self, at: u64, bytes: u64) -> Range<usize> {
        let fit = (at | bytes).trailing_zeros();
        if fit < self.granule {
            let parts = 1 << (self.granule - fit);
            self.cells = self.cells.iter().flat_map(|cell| std::iter::repeat_n(*cell, parts)).collect();
            split(&mut self.strong, parts);
            split(&mut self.more, parts);
            self.granule = fit;
        }
        (at >> self.granule) as usize..((at + bytes) >> self.granule) as usize
    }

    #[inline]
    fn mark(&self, name: Name) -> Mark {
        let Some(event) = (name as usize / WARP).checked_sub(1).and_then(|i| self.events.get(i)) else {
            return Mark::default();
        };
        let lane = name % WARP as u32;
        let mut mark = *event;
        mark.stamp.thread += lane;
        // The issuing thread is in the same lane, if the event has it as a thread of lane 0.
        mark.by += if event.by.is_multiple_of(WARP as u32) { lane } else { 0 };
        mark
    }

    /// Names a mark. The name is valid until the next call, which may renumber the events; only the names in cells are
    /// kept up to date.
    pub(super) fn name(&mut self, mark: Mark) -> Name {
        let lane = mark.stamp.thread % WARP as u32;
        let mut event = mark;
        event.stamp.thread -= lane;
        if event.by % WARP as u32 == lane {
            event.by -= lane;
        }
        let last = self.events.iter().rev().take(4).position(|of| *of == event);
        let at = match last {
            Some(back) => self.events.len() - 1 - back,
            None => {
                if self.events.len() >= self.most {
                    self.sweep();
                }
                self.events.push(event);
                self.events.len() - 1
            }
        };
        ((at + 1) * WARP) as u32 | lane
    }

    /// Drops the events that no cell refers to, and renumbers the others in all cells.
    fn sweep(&mut self) {
        let mut new = vec![0; self.events.len()];
        let mut kept = Vec::new();
        let events = &self.events;
        let mut keep = |name: &mut Name| {
            let Some(at) = (*name as usize / WARP).checked_sub(1) else { return };
            if new[at] == 0 {
                kept.push(events[at]);
                new[at] = kept.len();
            }
            *name = (new[at] * WARP) as u32 + *name % WARP as u32;
        };
        for cell in &mut self.cells {
            keep(&mut cell.write);
            cell.reads.iter_mut().for_each(&mut keep);
        }
        self.more.values_mut().flatten().for_each(|reads| keep(&mut reads.event));
        self.most = EVENTS.max(2 * kept.len());
        self.events = kept;
    }

    /// The last write of a cell.
    pub(super) fn write(&self, cell: usize) -> Mark {
        self.mark(self.cells[cell].write)
    }

    /// The reads of a cell since its last write.
    #[inline]
    pub(super) fn reads(&self, cell: usize) -> impl Iterator<Item = Mark> {
        self.names(cell).map(|name| self.mark(name))
    }

    /// Whether all reads of a cell since its last write are as `like` says.
    #[inline]
    pub(super) fn all_reads(&self, cell: usize, like: impl Fn(&Mark) -> bool) -> bool {
        let few = self.cells[cell].reads.iter().all(|&name| name == 0 || like(&self.mark(name)));
        few && (self.more.is_empty() || self.more_names(cell).all(|name| like(&self.mark(name))))
    }

    fn names(&self, cell: usize) -> impl Iterator<Item = Name> {
        self.cells[cell].reads.into_iter().filter(|name| *name != 0).chain(self.more_names(cell))
    }

    fn more_names(&self, cell: usize) -> impl Iterator<Item = Name> {
        let more = if self.more.is_empty() { None } else { self.more.get(&cell) };
        let of = |reads: &Reads| {
            let event = reads.event;
            lanes_of(reads.lanes).map(move |lane| event + lane as u32)
        };
        more.into_iter().flatten().flat_map(of)
    }

    /// Records the write of a cell, which replaces all accesses that were remembered.
    pub(super) fn set_write(&mut self, cell: usize, mark: Mark) {
        let name = self.name(mark);
        self.set_named_write(cell, name);
    }

    /// As [`Page::set_write`], with a mark that has been named.
    #[inline]
    pub(super) fn set_named_write(&mut self, cell: usize, write: Name) {
        self.cells[cell] = Cell { write, reads: [0; 2] };
        if !self.more.is_empty() {
            self.more.remove(&cell);
        }
        if !self.strong.is_empty() {
            self.strong.remove(&cell);
        }
    }

    /// Records the read of a cell. A read that comes `before` it is replaced. Where blocks are `apart`, so that their
    /// accesses are never ordered, reads of two different clusters are enough, as a writer races with at least
    /// one of these; then the read is not recorded.
    pub(super) fn add_read(&mut self, cell: usize, mark: Mark, apart: bool, before: impl Fn(&Mark) -> bool) {
        let name = self.name(mark);
        self.add_named_read(cell, (name, mark), apart, before);
    }

    /// As [`Page::add_read`], with a mark that has been named.
    #[inline]
    pub(super) fn add_named_read(
        &mut self,
        cell: usize,
        (name, mark): (Name, Mark),
        apart: bool,
        before: impl Fn(&Mark) -> bool,
    ) {
        let [first, second] = self.cells[cell].reads;
        let free = |of: Name| of == 0 || before(&self.mark(of));
        let cluster = |of: Name| self.mark(of).cluster;
        let slot = match () {
            () if free(first) => 0,
            () if free(second) => 1,
            () if apart && cluster(first) != cluster(second) => return,
            () if apart && cluster(first) != mark.cluster => 1,
            () => 2,
        };
        match self.cells[cell].reads.get_mut(slot) {
            Some(free) => *free = name,
            None => self.add_more(cell, name - name % WARP as u32, 1 << (name % WARP as u32)),
        }
    }

    /// Records a read of a cell by several lanes, whose marks have the event with this name.
    #[inline(never)]
    pub(super) fn add_named_reads(&mut self, cell: usize, event: Name, lanes: u32, apart: bool) {
        if apart {
            let cluster = |name| self.mark(name).cluster;
            let [first, second] = self.cells[cell].reads;
            if first != 0 && second != 0 && cluster(first) != cluster(second) {
                return;
            }
            let other = self.names(cell).find(|&name| cluster(name) != cluster(event));
            if let Some(other) = other {
                self.cells[cell].reads = [other, event + lanes.trailing_zeros()];
                return;
            }
        }
        self.add_more(cell, event, lanes);
    }

    /// Adds reads of several lanes to those of a cell beyond two, in the place of earlier reads of the same threads.
    #[inline(never)]
    fn add_more(&mut self, cell: usize, event: Name, lanes: u32) {
        let warp = |event: Name| {
            let mark = self.events.get((event as usize / WARP).wrapping_sub(1));
            mark.map(|mark| (mark.cluster, mark.stamp.thread))
        };
        let more = self.more.entry(cell).or_default();
        for reads in more.iter_mut().filter(|reads| reads.event != event && warp(reads.event) == warp(event))
        {
            reads.lanes &= !lanes;
        }
        match more.iter_mut().find(|reads| reads.event == event) {
            Some(reads) => reads.lanes |= lanes,
            None => {
                more.retain(|reads| reads.lanes != 0);
                more.push(Reads { event, lanes });
            }
        }
    }

    /// Records that `ld.global.nc` has read bytes of the page.
    pub(super) fn set_constant(&mut self, at: u64, bytes: u64) {
        self.constant.resize(PAGE as usize / 64, 0);
        (at..at + bytes).for_each(|i| self.constant[i as usize / 64] |= 1 << (i % 64));
    }

    /// Whether `ld.global.nc` has read some of these bytes.
    pub(super) fn is_constant(&self, at: u64, bytes: u64) -> bool {
        let has = |i: u64| self.constant.get(i as usize / 64).is_some_and(|word| word >> (i % 64) & 1 == 1);
        !self.constant.is_empty() && (at..at + bytes).any(has)
    }
}
