//! What is known of every byte of a cluster's shared memory: written, in flight, and by whom last touched.
//!
//! The rules of happens-before are in the crate's documentation. A byte remembers its last write and two reads since
//! by different threads, which is exact for barriers of the whole block: of all the reads that a later write might
//! race with, one of any two is another thread's than the writer's.

mod clock;
mod flight;
mod global;
mod phases;
mod strong;

use std::collections::HashMap;
use std::ops::Range;

use crate::Access;
use crate::lanes::WARP;

use clock::{Clock, View};
pub(crate) use flight::By;
use flight::{Operation, Reading};
pub(crate) use global::{Conflict, Global, Touch};
use phases::Phases;
use strong::Strong;
pub(crate) use strong::{Kind, Order};

/// A state bit of a byte: something has been written to it.
const WRITTEN: u8 = 1;
/// A state bit of a byte: an asynchronous operation will write it.
const FLIGHT: u8 = 2;
/// A state bit of a byte: an asynchronous operation may still read it.
const READING: u8 = 4;
/// A state bit of a byte: it belongs to an mbarrier.
const MBARRIER: u8 = 8;
/// Barriers of a block.
pub(crate) const BARRIERS: usize = 16;

/// An access remembered: the component of the clocks that counts it (a warp of the cluster, or an mbarrier) times 32,
/// plus the lane; its clock; the instruction (of an mbarrier's component, the number of the operation). Clock 0 is no
/// access.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stamp {
    clock: u32,
    source: u32,
    thread: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    write: Stamp,
    reads: [Stamp; 2],
}

/// An error that the shadow finds; the machine adds where it happened.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Finding {
    Unwritten,
    InFlight(Stamp),
    /// A write to what an asynchronous operation may still read.
    BeingRead(Stamp),
    /// An ordinary access to an mbarrier.
    Mbarrier,
    Race {
        offset: usize,
        access: Access,
        other: Stamp,
    },
    /// A write of the generic proxy that the async proxy needs a fence to see.
    Unfenced {
        offset: usize,
        other: Stamp,
    },
}

/// The shadow of a cluster's shared memory.
#[derive(Clone, Debug)]
pub(crate) struct Shadow {
    races: bool,
    uninitialised: bool,
    states: Vec<u8>,
    cells: Vec<Cell>,
    /// log2 of the bytes of a cell.
    granule: u32,
    clocks: Vec<Clock>,
    /// Of each block, by number.
    barriers: Vec<View>,
    /// What the arrivals at the cluster's barrier publish, and what those of the phase before have published.
    cluster: (View, View),
    /// The cluster's number in the grid.
    cluster_number: u32,
    /// Strong accesses, of the cells that have any.
    strong: HashMap<usize, Strong>,
    /// What the last strong write to a cell published.
    published: HashMap<usize, View>,
    /// The mbarriers, by number.
    phases: Vec<Phases>,
    /// Asynchronous operations that mbarriers order.
    operations: Vec<Operation>,
    /// Asynchronous reads of each 16 bytes; empty before the first.
    reading: Vec<Reading>,
}

/// Who accesses: warp of the cluster, lane, instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Who {
    pub(crate) warp: u32,
    pub(crate) lane: u32,
    pub(crate) source: u32,
}

impl Shadow {
    /// The shadow of this many blocks of `bytes` bytes and `warps` warps each.
    pub(crate) fn new(
        (races, uninitialised): (bool, bool),
        bytes: usize,
        granule: u32,
        blocks: usize,
        warps: usize,
    ) -> Self {
        let bytes = blocks * bytes;
        Shadow {
            races,
            uninitialised,
            states: vec![0; bytes],
            cells: vec![Cell::default(); bytes.div_ceil(1 << granule)],
            granule,
            clocks: vec![Clock::default(); blocks * warps],
            barriers: vec![View::default(); blocks * BARRIERS],
            cluster: Default::default(),
            cluster_number: 0,
            strong: HashMap::new(),
            published: HashMap::new(),
            phases: Vec::new(),
            operations: Vec::new(),
            reading: Vec::new(),
        }
    }

    /// Forgets everything: the cluster of this number begins.
    pub(crate) fn reset(&mut self, cluster: u32) {
        self.cluster_number = cluster;
        self.states.fill(0);
        self.cells.fill(Cell::default());
        self.clocks.fill(Clock::default());
        self.barriers.fill(View::default());
        self.cluster = Default::default();
        self.strong.clear();
        self.published.clear();
        self.phases.clear();
        self.operations.clear();
        self.reading.clear();
    }

    /// Whether bytes may be accessed at all, and are written if they are read.
    fn check_states(&self, at: usize, bytes: usize, reads: bool, writes: bool) -> Result<(), Finding> {
        let states = &self.states[at..at + bytes];
        let (all, any) = states.iter().fold((u8::MAX, 0), |(all, any), s| (all & s, any | s));
        if any & (FLIGHT | MBARRIER | READING) != 0 {
            self.check_busy(at, bytes, any, writes)?;
        }
        if reads && self.uninitialised && all & WRITTEN == 0 {
            return Err(Finding::Unwritten);
        }
        Ok(())
    }

    #[cold]
    fn check_busy(&self, at: usize, bytes: usize, any: u8, writes: bool) -> Result<(), Finding> {
        if any & MBARRIER != 0 {
            return Err(Finding::Mbarrier);
        }
        if any & FLIGHT != 0 {
            let first = (at..at + bytes).find(|&i| self.states[i] & FLIGHT != 0).unwrap_or(at);
            return Err(Finding::InFlight(self.cells[first >> self.granule].write));
        }
        if writes {
            return Err(Finding::BeingRead(self.reader(at, bytes)));
        }
        Ok(())
    }

    /// The numbers of the cells of a range of bytes.
    fn cells_of(&self, at: usize, bytes: usize) -> Range<usize> {
        at >> self.granule..(at + bytes).div_ceil(1 << self.granule)
    }

    pub(crate) fn read(&mut self, who: Who, at: usize, bytes: usize) -> Result<(), Finding> {
        self.check_states(at, bytes, true, false)?;
        if !self.races {
            return Ok(());
        }
        if !self.strong.is_empty() {
            self.check_strong(who, at, bytes, false)?;
        }
        let new = self.stamp(who);
        let clock = &self.clocks[who.warp as usize];
        for (i, cell) in cells(&mut self.cells, self.granule, at, bytes) {
            if !clock.after(&cell.write, who) {
                return Err(Finding::Race {
                    offset: i << self.granule,
                    access: Access::Write,
                    other: cell.write,
                });
            }
            let slot = usize::from(!clock.after(&cell.reads[0], who));
            cell.reads[slot] = new;
        }
        Ok(())
    }

    /// A write; one of `same`, the bytes that are there already, does no harm to the write before.
    pub(crate) fn write(&mut self, who: Who, at: usize, bytes: usize, same: bool) -> Result<(), Finding> {
        match self.check_write(who, at, bytes) {
            Err(Finding::Race { access: Access::Write, .. }) if same => self.check_reads(who, at, bytes)?,
            checked => checked?,
        }
        self.states[at..at + bytes].fill(WRITTEN);
        self.record_write(self.stamp(who), at, bytes);
        Ok(())
    }

    fn check_write(&self, who: Who, at: usize, bytes: usize) -> Result<(), Finding> {
        self.check_states(at, bytes, false, true)?;
        if !self.races {
            return Ok(());
        }
        if !self.strong.is_empty() {
            self.check_strong(who, at, bytes, true)?;
        }
        let clock = &self.clocks[who.warp as usize];
        for i in self.cells_of(at, bytes) {
            let Cell { write, .. } = &self.cells[i];
            if !clock.after(write, who) {
                let offset = i << self.granule;
                return Err(Finding::Race { offset, access: Access::Write, other: *write });
            }
        }
        self.check_reads(who, at, bytes)
    }

    /// Whether all reads come before a write.
    fn check_reads(&self, who: Who, at: usize, bytes: usize) -> Result<(), Finding> {
        let clock = &self.clocks[who.warp as usize];
        for i in self.cells_of(at, bytes) {
            let mut reads = self.cells[i].reads.iter();
            if let Some(&other) = reads.find(|read| !clock.after(read, who)) {
                return Err(Finding::Race { offset: i << self.granule, access: Access::Read, other });
            }
        }
        Ok(())
    }

    fn record_write(&mut self, write: Stamp, at: usize, bytes: usize) {
        if !self.strong.is_empty() {
            // They all come before this write: what comes after it comes after them.
            for cell in self.cells_of(at, bytes) {
                self.strong.remove(&cell);
            }
        }
        for (_, cell) in cells(&mut self.cells, self.granule, at, bytes) {
            *cell = Cell { write, reads: [Stamp::default(); 2] };
        }
    }

    fn stamp(&self, who: Who) -> Stamp {
        let clock = self.clocks[who.warp as usize].now;
        Stamp { clock, source: who.source, thread: who.warp * WARP as u32 + who.lane }
    }
}

/// The cells of a range of bytes.
fn cells(
    cells: &mut [Cell],
    granule: u32,
    at: usize,
    bytes: usize,
) -> impl Iterator<Item = (usize, &mut Cell)> {
    let (first, end) = (at >> granule, (at + bytes).div_ceil(1 << granule));
    cells[first..end].iter_mut().enumerate().map(move |(i, cell)| (first + i, cell))
}

#[cfg(test)]
mod tests;
