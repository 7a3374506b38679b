//! The shadow memory of a cluster: for every byte of shared memory, whether it is written or in flight, and the
//! accesses that a later access has to be ordered after.
//!
//! The rules of happens-before are in the crate's documentation. The shadow decides them with vector clocks. A cell
//! remembers its last write and the reads since that write, where a later read replaces a read that comes before it.
//! Older accesses need no memory: an access that is ordered after the last write is ordered after everything that the
//! last write had to be ordered after.
//!
//! # Glossary
//!
//! Order:
//! - *Component*: what one number of a vector clock counts, with a value for each of 32 lanes. Each warp of the cluster
//!   has a component; so has each mbarrier, and each counter that orders asynchronous operations as an mbarrier does.
//! - *Clock*: with a component and a lane, the time of an access. A lane's clock advances when the lane hands its past
//!   to somebody (at a barrier, a release, a fence), so that accesses before and after the handover differ.
//! - *Stamp*: component, lane and clock of an access, and the instruction; this is how an access is remembered.
//! - *Known*: a set of accesses, as the clock of each component and lane up to which the set has all accesses.
//! - *View*: all that one thread can hand to another: the accesses known to happen before, those of them that proxy
//!   fences cover, those of other clusters, and those that `.sc` fences and releases of tensor maps concern.
//! - *Strand*: lanes of a warp with the same value of something, such as their view, so that the value is kept once.
//! - *Past*: a thread's view together with the thread's own accesses: what happens before the thread's next access.
//! - *Window*: the memory for which a `fence.proxy.async` makes accesses visible to the async proxy.
//! - *Phase*: one round of an mbarrier. The clocks of the mbarrier's component count completed phases, and a thread
//!   that knows a phase complete comes after the asynchronous operations that the phase waited for.
//! - *Pools*, *domain*: what has been released, separately for each set of threads (a block, a cluster, the GPU) that
//!   the scope of the release includes.
//!
//! Memory:
//! - *Cell*: the accesses remembered for a few neighbouring bytes: as many bytes as the narrowest access has, of those
//!   of the kernel (shared memory) or those made to the page so far (global memory). The *granule* is log2 of the
//!   number of these bytes.
//! - *Accesses*: stamps that differ only in the lane, as one entry. A cell has two entries of reads at hand; further
//!   ones are links of a *chain*.
//! - *Flight*: the time from the issue of an asynchronous operation to its effect; until then any other access to the
//!   bytes that the operation will write is an error.
//! - *Reductions*: the asynchronous reductions into a cell since its last weak write. Those of one *manner* (proxy and
//!   size of the elements) may be in flight together; every other access has to come after the ends of all.
//! - *Strong*: the strong accesses to a cell since its last weak write, which race with one another only where they are
//!   not morally strong; a *location* has what the strong writes to it published.
//!
//! Global memory, which the clusters share:
//! - *Touch*: in which way an access touches memory: a weak read, a constant read, a weak write, or a strong access.
//! - *Mark*: a stamp, the cluster whose clocks it is of, and the issuing thread. A *page* keeps marks that differ only
//!   in the lane as one *event*, and its cells refer to marks by *name*.
//! - *Late*: the access of an asynchronous operation. The stamp is not the issue but the end of the operation, such as
//!   a phase of an mbarrier.
//! - *Lack*: the fence (release or acquire) that is missing for a tensor copy to see a write to its tensor map.
//!
//! # Example
//!
//! Thread A is lane 0 of warp 0, and thread B is lane 0 of warp 1 of the same block. `A@1` is the stamp of an access of
//! A at clock 1. Each line shows the state after the step: the cell of `x`, the clock of the next access of each
//! thread, what B knows of A, and A of B.
//!
//! ```text
//! step                              cell of x             A next  B next  B knows of A  A knows of B
//!                                   -                          1       1             0             0
//! A: st.shared.u32 [x], 1           write A@1                  1       1             0             0
//! A: st.release.cta [flag], 1       write A@1                  2       1             0             0
//! B: ld.acquire.cta [flag]  (is 1)  write A@1                  2       1             1             0
//! B: ld.shared.u32 [x]              write A@1, read B@1        2       1             1             0
//! A: st.shared.u32 [x], 2           write A@2                  2       1             1             0
//! ```
//!
//! The release publishes "A up to clock 1" at the location of `flag` and advances A's clock, so that what A does
//! afterwards is not covered. The acquire adds it to B's view. B's load of `x` must come after the write `A@1`; B knows
//! A up to 1: they are ordered. A's second store must come after the write `A@1`, which is A's own, and after the read
//! `B@1`; A knows nothing of B: [`Finding::Race`]. The store is recorded all the same. Had B done `st.release` to
//! another flag after its load, and A `ld.acquire` of that before its store, A would know B up to 1, and there would be
//! no race.

mod accesses;
mod clock;
mod flight;
mod global;
mod known;
mod map;
mod maps;
mod page;
mod phases;
mod reductions;
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
use reductions::Reductions;
pub(crate) use scope::Scope;
use scope::{Domains, Pools};
pub(crate) use strong::{Kind, Manner, Order};
use strong::{Location, Strong};

/// State bit of a byte: something has been written to the byte.
const WRITTEN: u8 = 1;
/// State bit of a byte: an issued asynchronous operation will write the byte.
const FLIGHT: u8 = 2;
/// State bit of a byte: an issued asynchronous operation may still read the byte.
const READING: u8 = 4;
/// State bit of a byte: the byte belongs to an mbarrier.
const MBARRIER: u8 = 8;
/// State bit of a byte: asynchronous reductions into the byte have been issued since it was written.
const REDUCED: u8 = 16;
/// State bits with which an access has to be looked at more closely.
const SPECIAL: u8 = FLIGHT | READING | MBARRIER | REDUCED;
/// Named barriers of a block (PTX ISA, "bar").
pub(crate) const BARRIERS: usize = 16;

/// An access as it is remembered. `thread` is 32 times the component of the clocks that counts the access (a warp of
/// the cluster, or an mbarrier) plus the lane. `source` is the instruction; in the cells of shared memory, a stamp of
/// an mbarrier's component has the number of the operation there. Clock 0 means no access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stamp {
    clock: u32,
    source: u32,
    thread: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    write: Stamp,
    /// Reads since the write. `more` is the chain of the reads that do not fit in here.
    reads: [Accesses; 2],
    more: u32,
}

impl Cell {
    /// Adds a read. It replaces an entry whose reads all come before it, for which `before` is true, if there is one.
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

/// What the shadow finds wrong with an access; the machine makes an error of it, with the place in the kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Finding {
    Unwritten,
    InFlight(Stamp),
    /// A write to bytes that an asynchronous operation may still read.
    BeingRead(Stamp),
    /// An ordinary access to the bytes of an mbarrier.
    Mbarrier,
    Race {
        offset: usize,
        access: Access,
        other: Stamp,
        /// Whether both accesses write, and write the same values.
        same: bool,
    },
    /// A volatile read of what another lane of the warp has written by a volatile write, without synchronisation in
    /// between.
    Lockstep {
        offset: usize,
        other: Stamp,
    },
    /// A write of the generic proxy that the async proxy does not see without a proxy fence.
    Unfenced {
        offset: usize,
        other: Stamp,
    },
    /// The initialisation of an mbarrier, which the async proxy does not see without a fence.
    MbarrierUnfenced {
        other: Stamp,
    },
}

impl Finding {
    fn race(offset: usize, access: Access, other: Stamp) -> Finding {
        Finding::Race { offset, access, other, same: false }
    }

    /// Whether the program may not access the bytes at all now. Such an access is not recorded, so that the state of
    /// the operation or mbarrier to which the bytes belong stays intact.
    fn is_busy(&self) -> bool {
        matches!(self, Finding::InFlight(_) | Finding::BeingRead(_) | Finding::Mbarrier)
    }
}

/// The shadow of a cluster's shared memory.
#[derive(Clone, Debug)]
pub(crate) struct Shadow {
    races: bool,
    uninitialised: bool,
    /// Bytes of shared memory of each block; the blocks' memories lie one after another.
    block_bytes: usize,
    states: Vec<u8>,
    cells: Vec<Cell>,
    chains: Chains,
    /// log2 of the bytes of a cell.
    granule: u32,
    clocks: Vec<Clock>,
    /// Threads of each block.
    threads: usize,
    /// What the arrivals at each barrier have handed over, for 16 barriers of each block, block by block.
    barriers: Vec<View>,
    /// The cluster's barrier: what the arrivals of the current phase have published, and what those of the last
    /// completed phase have.
    cluster: (Pools, Pools),
    /// The cluster's number in the grid.
    cluster_number: u32,
    domains: Domains,
    /// The strong accesses, by cell, of the cells that have any.
    strong: Map<usize, Strong>,
    /// What the strong writes to each cell have published.
    published: Map<usize, Location>,
    /// The state of each mbarrier and of each counter, by number; number 0 is the start of the cluster.
    phases: Vec<Phases>,
    /// The asynchronous operations whose end an mbarrier or a counter tells, by number.
    operations: Vec<Operation>,
    /// For each `cp.async.mbarrier.arrive` that has not arrived yet, by the number of its operation: what its arrival
    /// will publish.
    arrivals: HashMap<u32, Pools>,
    /// The components that count the copies by `cp.async` of each lane of a warp (`false`), or its bulk groups
    /// (`true`), by warp.
    counters: HashMap<(u32, bool), u32>,
    /// The asynchronous reads of each 16 bytes; empty until the first such read.
    reading: Vec<Reading>,
    /// The asynchronous reductions since the last weak write, by cell, of the cells that have any.
    reductions: Map<usize, Reductions>,
}

/// The origin of an access: the warp of the cluster, the lane, and the instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Who {
    pub(crate) warp: u32,
    pub(crate) lane: u32,
    pub(crate) source: u32,
}

impl Who {
    /// The thread's number in the cluster. Each warp counts 32, also where the block does not fill its last warp.
    pub(crate) fn thread(self) -> u32 {
        self.warp * WARP as u32 + self.lane
    }
}

impl Shadow {
    /// The shadow of a cluster of `blocks` blocks, each with `bytes` bytes of shared memory and `threads` threads.
    /// `narrow` says whether the kernel names scopes narrower than the GPU.
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
            reductions: Map::default(),
        };
        shadow.reset(0);
        shadow
    }

    /// Forgets everything, as the cluster of this number begins.
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
        // Number 0, whose first phase stands for the start of the cluster's blocks: see `STARTED`.
        self.phases.clear();
        self.phases.push(Phases::default());
        self.operations.clear();
        self.arrivals.clear();
        self.counters.clear();
        self.reading.clear();
        self.reductions.clear();
    }

    /// Checks that the bytes may be accessed at all, and that bytes that are read have been written.
    fn check_states(&self, at: usize, bytes: usize, reads: bool, writes: bool) -> Result<(), Finding> {
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
    fn check_busy(&self, at: usize, bytes: usize, any: u8, writes: bool) -> Result<(), Finding> {
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

    /// The numbers of the cells of a range of bytes.
    fn cells_of(&self, at: usize, bytes: usize) -> Range<usize> {
        at >> self.granule..(at + bytes).div_ceil(1 << self.granule)
    }

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
        for (_, cell) in cells(&mut self.cells, self.granule, at, bytes) {
            cell.read(new, &mut self.chains, |reads| past.missing(reads) == 0);
        }
    }

    /// Takes weak accesses of several lanes, all by `who`'s instruction, the quick way: performs them in the order of
    /// lanes up to the first of which there may be something to tell. Returns the lanes whose accesses have been
    /// recorded; the others need [`Shadow::read`] or [`Shadow::write`]. The lane of `who` does not matter.
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

    /// The body of [`Shadow::together`]. With `TOGETHER`, neighbouring lanes at the same place are taken as one access.
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
                if any & SPECIAL != 0 || all & wanted != wanted {
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
    fn read_outside(&self, cell: usize, past: Past<'_>) -> Option<Stamp> {
        let Cell { reads: [first, second], more, .. } = &self.cells[cell];
        let outside = |reads: &Accesses| reads.first(past.missing(reads));
        let other = outside(first).or_else(|| outside(second));
        if *more == 0 { other } else { other.or_else(|| self.chains.of(*more).find_map(outside)) }
    }

    #[inline]
    fn record_write(&mut self, write: Stamp, at: usize, bytes: usize) {
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

/// Whether all bytes are written and have no other state bit. This is the usual case, and so has a quick test.
#[inline]
fn are_written(states: &[u8]) -> bool {
    match states.len() {
        4 => *states == [WRITTEN; 4],
        8 => *states == [WRITTEN; 8],
        16 => *states == [WRITTEN; 16],
        _ => states.iter().all(|&state| state == WRITTEN),
    }
}

/// The bits that all of these states have, and the bits that at least one has.
#[inline]
fn over(states: &[u8]) -> (u8, u8) {
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

/// The first of these lanes and, with `together`, the lanes directly after it that are at the same place.
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

/// Whether some lane is at the same place as the lane before it.
fn some_meet(places: &[usize; WARP]) -> bool {
    places.iter().zip(&places[1..]).fold(false, |some, (one, next)| some | (one == next))
}

/// The cells of a range of bytes, with their numbers.
fn cells(
    cells: &mut [Cell],
    granule: u32,
    at: usize,
    bytes: usize,
) -> impl Iterator<Item = (usize, &mut Cell)> {
    let (first, end) = (at >> granule, (at + bytes).div_ceil(1 << granule));
    cells[first..end].iter_mut().enumerate().map(move |(i, cell)| (first + i, cell))
}
