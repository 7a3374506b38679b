//! What is known of every byte of a block's shared memory: written, in flight, and by whom last touched.
//!
//! The rules of happens-before are in the crate's documentation. Clocks are one a warp, advanced at every
//! synchronisation. A byte remembers its last write and two reads since by different threads, which is exact for
//! barriers of the whole block: of all the reads that a later write might race with, one of any two is another
//! thread's than the writer's.

use crate::Access;
use crate::lanes::WARP;

/// A state bit of a byte: something has been written to it.
const WRITTEN: u8 = 1;
/// A state bit of a byte: an asynchronous copy will write it.
const FLIGHT: u8 = 2;
/// Most warps of a block.
const WARPS: usize = 32;
/// Barriers of a block.
pub(crate) const BARRIERS: usize = 16;

/// An access remembered: the thread's number in its block, its warp's clock, the instruction. Clock 0 is no access.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stamp {
    clock: u32,
    pub(crate) source: u32,
    pub(crate) thread: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    write: Stamp,
    reads: [Stamp; 2],
}

/// What a warp knows.
#[derive(Clone, Debug)]
struct Clock {
    now: u32,
    /// The clock of each warp up to which its accesses come before this warp's next.
    known: [u32; WARPS],
    /// The clock of this warp up to which its lanes' accesses come before every lane's next.
    synced: u32,
    /// The same lane by lane, `lanes[i][j]` of lane j for lane i; there after a `bar.warp.sync` of some lanes.
    lanes: Option<Box<[[u32; WARP]; WARP]>>,
}

/// An error that the shadow finds; the machine adds where it happened.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Finding {
    Unwritten,
    InFlight(Stamp),
    Race { offset: usize, access: Access, other: Stamp },
}

/// The shadow of a block's shared memory.
#[derive(Clone, Debug)]
pub(crate) struct Shadow {
    races: bool,
    uninitialised: bool,
    states: Vec<u8>,
    cells: Vec<Cell>,
    /// log2 of the bytes of a cell.
    granule: u32,
    clocks: Vec<Clock>,
    barriers: [[u32; WARPS]; BARRIERS],
}

/// Who accesses: warp, lane, instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Who {
    pub(crate) warp: u32,
    pub(crate) lane: u32,
    pub(crate) source: u32,
}

impl Shadow {
    pub(crate) fn new(races: bool, uninitialised: bool, bytes: usize, granule: u32, warps: usize) -> Self {
        let clock = Clock { now: 1, known: [0; WARPS], synced: 0, lanes: None };
        Shadow {
            races,
            uninitialised,
            states: vec![0; bytes],
            cells: vec![Cell::default(); bytes.div_ceil(1 << granule)],
            granule,
            clocks: vec![clock; warps],
            barriers: [[0; WARPS]; BARRIERS],
        }
    }

    /// Forgets everything: a new block.
    pub(crate) fn reset(&mut self) {
        self.states.fill(0);
        self.cells.fill(Cell::default());
        self.clocks.fill(Clock { now: 1, known: [0; WARPS], synced: 0, lanes: None });
        self.barriers = [[0; WARPS]; BARRIERS];
    }

    pub(crate) fn read(&mut self, who: Who, at: usize, bytes: usize) -> Result<(), Finding> {
        let states = &self.states[at..at + bytes];
        let (all, any) = states.iter().fold((u8::MAX, 0), |(all, any), s| (all & s, any | s));
        if any & FLIGHT != 0 {
            return Err(self.in_flight(at, bytes));
        }
        if self.uninitialised && all & WRITTEN == 0 {
            return Err(Finding::Unwritten);
        }
        if !self.races {
            return Ok(());
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

    pub(crate) fn write(&mut self, who: Who, at: usize, bytes: usize) -> Result<(), Finding> {
        self.check_write(who, at, bytes)?;
        self.states[at..at + bytes].fill(WRITTEN);
        self.record_write(who, at, bytes);
        Ok(())
    }

    /// An asynchronous copy is issued.
    pub(crate) fn begin_copy(&mut self, who: Who, at: usize, bytes: usize) -> Result<(), Finding> {
        self.check_write(who, at, bytes)?;
        for state in &mut self.states[at..at + bytes] {
            *state |= FLIGHT;
        }
        self.record_write(who, at, bytes);
        Ok(())
    }

    /// An asynchronous copy has been waited for by its thread.
    pub(crate) fn end_copy(&mut self, who: Who, at: usize, bytes: usize) {
        self.states[at..at + bytes].fill(WRITTEN);
        self.record_write(who, at, bytes);
    }

    fn check_write(&self, who: Who, at: usize, bytes: usize) -> Result<(), Finding> {
        if self.states[at..at + bytes].iter().any(|s| s & FLIGHT != 0) {
            return Err(self.in_flight(at, bytes));
        }
        if !self.races {
            return Ok(());
        }
        let clock = &self.clocks[who.warp as usize];
        for i in at >> self.granule..(at + bytes).div_ceil(1 << self.granule) {
            let Cell { write, reads } = &self.cells[i];
            let offset = i << self.granule;
            if !clock.after(write, who) {
                return Err(Finding::Race { offset, access: Access::Write, other: *write });
            }
            if let Some(&other) = reads.iter().find(|read| !clock.after(read, who)) {
                return Err(Finding::Race { offset, access: Access::Read, other });
            }
        }
        Ok(())
    }

    fn record_write(&mut self, who: Who, at: usize, bytes: usize) {
        let write = self.stamp(who);
        for (_, cell) in cells(&mut self.cells, self.granule, at, bytes) {
            *cell = Cell { write, reads: [Stamp::default(); 2] };
        }
    }

    fn in_flight(&self, at: usize, bytes: usize) -> Finding {
        let first = (at..at + bytes).find(|&i| self.states[i] & FLIGHT != 0).unwrap_or(at);
        Finding::InFlight(self.cells[first >> self.granule].write)
    }

    fn stamp(&self, who: Who) -> Stamp {
        let clock = self.clocks[who.warp as usize].now;
        Stamp { clock, source: who.source, thread: who.warp * WARP as u32 + who.lane }
    }

    /// A warp arrives at a barrier; with `sync` its lanes wait there.
    pub(crate) fn arrive(&mut self, warp: usize, barrier: usize, sync: bool) {
        let clock = &mut self.clocks[warp];
        let to = &mut self.barriers[barrier];
        to.iter_mut().zip(&clock.known).for_each(|(to, &known)| *to = known.max(*to));
        to[warp] = clock.now;
        if sync {
            clock.synced = clock.now;
        }
        clock.now = clock.now.saturating_add(1);
    }

    /// A barrier completes for these warps.
    pub(crate) fn complete(&mut self, barrier: usize, waiting: u32) {
        let from = self.barriers[barrier];
        for (i, clock) in self.clocks.iter_mut().enumerate() {
            if waiting >> i & 1 == 1 {
                clock.known.iter_mut().zip(&from).for_each(|(known, &from)| *known = from.max(*known));
            }
        }
        self.barriers[barrier] = [0; WARPS];
    }

    /// `bar.warp.sync` of these lanes.
    pub(crate) fn sync_lanes(&mut self, warp: usize, mask: u32, live: u32) {
        let clock = &mut self.clocks[warp];
        if mask & live == live {
            clock.synced = clock.now;
        } else {
            let rows = clock.lanes.get_or_insert_with(|| Box::new([[0; WARP]; WARP]));
            let mut joined = [0; WARP];
            for i in (0..WARP).filter(|i| mask >> i & 1 == 1) {
                joined.iter_mut().zip(&rows[i]).for_each(|(to, &from)| *to = from.max(*to));
                joined[i] = clock.now;
            }
            for i in (0..WARP).filter(|i| mask >> i & 1 == 1) {
                rows[i] = joined;
            }
        }
        clock.now = clock.now.saturating_add(1);
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

impl Clock {
    /// Whether `stamp` comes before the next access of this warp's lane.
    #[inline]
    fn after(&self, stamp: &Stamp, who: Who) -> bool {
        let (warp, lane) = (stamp.thread / WARP as u32, stamp.thread % WARP as u32);
        if warp != who.warp {
            return stamp.clock <= self.known[warp as usize];
        }
        lane == who.lane
            || stamp.clock <= self.synced
            || self.lanes.as_ref().is_some_and(|rows| stamp.clock <= rows[who.lane as usize][lane as usize])
    }
}
