//! What is known of every byte of a cluster's shared memory: written, in flight, and by whom last touched.
//!
//! The rules of happens-before are in the crate's documentation. A byte remembers its last write and all reads since that
//! nothing orders among themselves; what a write must come after comes after it for whoever is ordered after the write.

mod accesses;
mod clock;
mod flight;
mod global;
mod known;
mod map;
mod maps;
mod page;
mod phases;
mod scope;
mod strands;
mod strong;

use std::collections::HashMap;
use std::ops::Range;

use crate::Access;
use crate::lanes::WARP;

use accesses::{Accesses, Chains};
use clock::{Clock, Past};
pub(crate) use flight::By;
use flight::{Operation, Reading};
pub(crate) use global::{Conflict, ConflictKind, Global, Late, Mark, Touch};
use known::View;
pub(crate) use known::Window;
use map::Map;
pub(crate) use maps::Lack;
use phases::Phases;
pub(crate) use scope::Scope;
use scope::{Domains, Pools};
pub(crate) use strong::{Kind, Manner, Order};
use strong::{Location, Strong};

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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stamp {
    clock: u32,
    source: u32,
    thread: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    write: Stamp,
    /// Reads since, and the chain of those beyond these.
    reads: [Accesses; 2],
    more: u32,
}

impl Cell {
    /// Adds a read, in the place of some that come before it.
    #[inline]
    fn read(&mut self, new: Accesses, chains: &mut Chains, before: impl Fn(&Accesses) -> bool) {
        if self.reads.iter_mut().any(|reads| reads.merge(&new)) {
        } else if let Some(free) = self.reads.iter_mut().find(|reads| before(reads)) {
            *free = new;
        } else {
            chains.add(&mut self.more, new, before);
        }
    }
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
        /// Whether both write, and the same values.
        same: bool,
    },
    /// A volatile write of another lane of the warp.
    Lockstep {
        offset: usize,
        other: Stamp,
    },
    /// A write of the generic proxy that the async proxy needs a fence to see.
    Unfenced {
        offset: usize,
        other: Stamp,
    },
    /// An initialisation of an mbarrier that the async proxy needs a fence to see.
    MbarrierUnfenced {
        other: Stamp,
    },
}

impl Finding {
    fn race(offset: usize, access: Access, other: Stamp) -> Finding {
        Finding::Race { offset, access, other, same: false }
    }

    /// Whether the bytes are not the program's to access: what it does to them is not recorded.
    fn is_busy(&self) -> bool {
        matches!(self, Finding::InFlight(_) | Finding::BeingRead(_) | Finding::Mbarrier)
    }
}

/// The shadow of a cluster's shared memory.
#[derive(Clone, Debug)]
pub(crate) struct Shadow {
    races: bool,
    uninitialised: bool,
    /// Bytes of shared memory of each block.
    block_bytes: usize,
    states: Vec<u8>,
    cells: Vec<Cell>,
    chains: Chains,
    /// log2 of the bytes of a cell.
    granule: u32,
    clocks: Vec<Clock>,
    /// Threads of a block.
    threads: usize,
    /// Of each block, by number.
    barriers: Vec<View>,
    /// What the arrivals at the cluster's barrier publish, and what those of the phase before have published.
    cluster: (Pools, Pools),
    /// The cluster's number in the grid.
    cluster_number: u32,
    domains: Domains,
    /// Strong accesses, of the cells that have any.
    strong: Map<usize, Strong>,
    /// What the last strong write to a cell published.
    published: Map<usize, Location>,
    /// The mbarriers, by number.
    phases: Vec<Phases>,
    /// Asynchronous operations that mbarriers order.
    operations: Vec<Operation>,
    /// What those of them publish that are yet to arrive for their thread.
    arrivals: HashMap<u32, Pools>,
    /// The components that count the copies by `cp.async` of a warp's lanes, or their bulk groups.
    counters: HashMap<(u32, bool), u32>,
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

impl Who {
    /// The thread's number in the cluster, where each warp has 32.
    pub(crate) fn thread(self) -> u32 {
        self.warp * WARP as u32 + self.lane
    }
}

impl Shadow {
    /// The shadow of this many blocks of `bytes` bytes and `threads` threads each.
    pub(crate) fn new(
        (races, uninitialised): (bool, bool),
        bytes: usize,
        granule: u32,
        (blocks, narrow): (usize, bool),
        threads: usize,
    ) -> Self {
        let warps = threads.div_ceil(WARP);
        let (block_bytes, bytes) = (bytes, blocks * bytes);
        let mut shadow = Shadow {
            races,
            uninitialised,
            block_bytes,
            states: vec![0; bytes],
            cells: vec![Cell::default(); bytes.div_ceil(1 << granule)],
            chains: Chains::default(),
            granule,
            clocks: (0..blocks * warps).map(|_| Clock::default()).collect(),
            threads,
            barriers: vec![View::default(); blocks * BARRIERS],
            cluster: Default::default(),
            cluster_number: 0,
            domains: Domains { narrow, clusters: blocks > 1 },
            strong: Map::default(),
            published: Map::default(),
            phases: Vec::new(),
            operations: Vec::new(),
            arrivals: HashMap::new(),
            counters: HashMap::new(),
            reading: Vec::new(),
        };
        shadow.reset(0);
        shadow
    }

    /// Forgets everything: the cluster of this number begins.
    pub(crate) fn reset(&mut self, cluster: u32) {
        self.cluster_number = cluster;
        self.states.fill(0);
        self.cells.fill(Cell::default());
        self.chains.clear();
        let clock = |i| {
            let domains = self.domains.of(self.home_of(i), true).collect();
            Clock::new(cluster, i, self.threads - i % self.threads.div_ceil(WARP) * WARP, domains)
        };
        self.clocks = (0..self.clocks.len()).map(clock).collect();
        self.barriers.fill(View::default());
        self.cluster = Default::default();
        self.strong.clear();
        self.published.clear();
        // The first is the cluster's start.
        self.phases.clear();
        self.phases.push(Phases::default());
        self.operations.clear();
        self.arrivals.clear();
        self.counters.clear();
        self.reading.clear();
    }

    /// Whether bytes may be accessed at all, and are written if they are read.
    fn check_states(&self, at: usize, bytes: usize, reads: bool, writes: bool) -> Result<(), Finding> {
        let states = &self.states[at..at + bytes];
        let (all, any) = over(states);
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

    /// A read. Like all accesses it is recorded even where there is a finding, so that the execution can go on.
    pub(crate) fn read(&mut self, who: Who, at: usize, bytes: usize) -> Result<(), Finding> {
        let found = self.check_read(who, at, bytes);
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
        for (_, cell) in cells(&mut self.cells, self.granule, at, bytes) {
            cell.read(new, &mut self.chains, |reads| past.missing(reads) == 0);
        }
    }

    /// Weak accesses of lanes, which are recorded up to the first of which there may be something to tell; the lanes before
    /// it. `who` is any of them.
    pub(crate) fn together(
        &mut self,
        who: Who,
        mask: u32,
        places: &[usize; WARP],
        bytes: usize,
        reads: bool,
    ) -> u32 {
        if !self.strong.is_empty() {
            return 0;
        }
        if reads && some_meet(places) && self.clocks[who.warp as usize].are_alike(mask) {
            self.groups::<true>(who, mask, places, bytes, reads)
        } else {
            self.groups::<false>(who, mask, places, bytes, reads)
        }
    }

    /// The same, with lanes together that are at the same place or each by itself.
    #[inline]
    fn groups<const TOGETHER: bool>(
        &mut self,
        who: Who,
        mask: u32,
        places: &[usize; WARP],
        bytes: usize,
        reads: bool,
    ) -> u32 {
        let (mut served, wanted) = (0, if reads && self.uninitialised { WRITTEN } else { 0 });
        let clock = &self.clocks[who.warp as usize];
        let one = clock.one_view();
        while let Some((lane, group)) = next_group(mask & !served, places, TOGETHER) {
            let (who, at) = (Who { lane: lane as u32, ..who }, places[lane]);
            let states = &mut self.states[at..at + bytes];
            let written = are_written(states);
            if !written {
                let (all, any) = over(states);
                if any & (FLIGHT | MBARRIER | READING) != 0 || all & wanted != wanted {
                    break;
                }
            }
            let past = Past::of(one.unwrap_or_else(|| clock.view(who)), who, group);
            let stamp = Stamp { clock: clock.next(who.lane), source: who.source, thread: who.thread() };
            let cells = &mut self.cells[at >> self.granule..(at + bytes).div_ceil(1 << self.granule)];
            let none = |of: &Accesses| past.missing(of) == 0;
            let quiet = |cell: &Cell| {
                let more = || cell.more == 0 || self.chains.all_in(cell.more, past);
                past.has(&cell.write) && (reads || cell.reads.iter().all(none) && more())
            };
            if self.races && !cells.iter().all(quiet) {
                break;
            }
            if !reads {
                if !written {
                    states.fill(WRITTEN);
                }
                for cell in cells {
                    if cell.more != 0 {
                        self.chains.drop(cell.more);
                    }
                    *cell = Cell { write: stamp, ..Cell::default() };
                }
            } else if self.races {
                let mut new = Accesses::from(stamp);
                new.lanes = group;
                cells.iter_mut().for_each(|cell| cell.read(new, &mut self.chains, none));
            }
            served |= group;
        }
        served
    }

    /// Which of up to 16 bytes nothing has written, if that is checked.
    #[inline]
    pub(crate) fn missing(&self, at: usize, bytes: usize) -> u16 {
        let states = &self.states[at..at + bytes];
        if !self.uninitialised || states.iter().fold(u8::MAX, |all, state| all & state) & WRITTEN != 0 {
            return 0;
        }
        let missing = |(i, state): (usize, &u8)| u16::from(state & WRITTEN == 0) << i;
        states.iter().enumerate().map(missing).fold(0, |all, missing| all | missing)
    }

    /// Undefined bytes have been written: they count as not written.
    pub(crate) fn forget(&mut self, at: usize, missing: u16) {
        for (i, state) in self.states[at..].iter_mut().take(16).enumerate() {
            if missing >> i & 1 == 1 {
                *state &= !WRITTEN;
            }
        }
    }

    /// A write; one of `same`, the bytes that are there already, does less harm to the write before, and none if both are
    /// of one instruction: compilers let threads that have the same element all write it.
    pub(crate) fn write(&mut self, who: Who, at: usize, bytes: usize, same: bool) -> Result<(), Finding> {
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
        found
    }

    #[inline]
    fn check_write(&self, who: Who, at: usize, bytes: usize) -> Result<(), Finding> {
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

    /// Whether all reads come before a write.
    fn check_reads(&self, who: Who, at: usize, bytes: usize) -> Result<(), Finding> {
        let past = self.clocks[who.warp as usize].past(who);
        match self.cells_of(at, bytes).find_map(|i| Some((i << self.granule, self.read_outside(i, past)?))) {
            Some((offset, other)) => Err(Finding::race(offset, Access::Read, other)),
            None => Ok(()),
        }
    }

    /// A read of a cell since its last write that does not come before a thread's next access.
    #[inline]
    fn read_outside(&self, cell: usize, past: Past<'_>) -> Option<Stamp> {
        let Cell { reads: [first, second], more, .. } = &self.cells[cell];
        let outside = |reads: &Accesses| reads.first(past.missing(reads));
        let other = outside(first).or_else(|| outside(second));
        if *more == 0 { other } else { other.or_else(|| self.chains.of(*more).find_map(outside)) }
    }

    #[inline]
    fn record_write(&mut self, write: Stamp, at: usize, bytes: usize) {
        if !self.strong.is_empty() {
            // They all come before this write: what comes after it comes after them.
            for cell in self.cells_of(at, bytes) {
                self.strong.remove(&cell);
            }
        }
        for (_, cell) in cells(&mut self.cells, self.granule, at, bytes) {
            if cell.more != 0 {
                self.chains.drop(cell.more);
            }
            *cell = Cell { write, ..Cell::default() };
        }
    }

    fn stamp(&self, who: Who) -> Stamp {
        let clock = self.clocks[who.warp as usize].next(who.lane);
        Stamp { clock, source: who.source, thread: who.thread() }
    }
}

/// Whether bytes are written and nothing else is the matter with them, as mostly.
#[inline]
fn are_written(states: &[u8]) -> bool {
    match states.len() {
        4 => *states == [WRITTEN; 4],
        8 => *states == [WRITTEN; 8],
        16 => *states == [WRITTEN; 16],
        _ => states.iter().all(|&state| state == WRITTEN),
    }
}

/// The bits that all of some states have, and those that any has.
#[inline]
fn over(states: &[u8]) -> (u8, u8) {
    #[inline(always)]
    fn fold(states: &[u8]) -> (u8, u8) {
        states.iter().fold((u8::MAX, 0), |(all, any), state| (all & state, any | state))
    }
    // Of a length that the compiler knows it takes the loop apart.
    match *states {
        [one] => (one, one),
        [a, b, c, d] => fold(&[a, b, c, d]),
        _ => fold(states),
    }
}

/// The first of these lanes, and the lanes from it on that are at the same place, if such are taken together.
#[inline(always)]
fn next_group(lanes: u32, places: &[usize; WARP], together: bool) -> Option<(usize, u32)> {
    if lanes == 0 {
        return None;
    }
    let first = lanes.trailing_zeros() as usize;
    if !together {
        return Some((first, 1 << first));
    }
    let mut rest = lanes & (lanes - 1);
    while rest != 0 && places[rest.trailing_zeros() as usize] == places[first] {
        rest &= rest - 1;
    }
    Some((first, lanes & !rest))
}

/// Whether some lanes are where the lane before them is.
fn some_meet(places: &[usize; WARP]) -> bool {
    places.iter().zip(&places[1..]).fold(false, |some, (one, next)| some | (one == next))
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
