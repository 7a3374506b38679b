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
//! - *Phase*: a phase of an mbarrier. The clocks of the mbarrier's component count completed phases, and a thread
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
//! - *Lack*: the fence (release or acquire) that is missing for a TMA copy to see a write to its tensor map.
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
mod cell;
mod clock;
mod exits;
mod finding;
mod flight;
mod global;
mod known;
mod map;
mod maps;
mod page;
mod phases;
mod reductions;
mod scope;
mod states;
mod strands;
mod strong;
mod together;
mod weak;

use std::collections::HashMap;
use std::ops::Range;

use crate::lanes::WARP;

use accesses::Chains;
use cell::Cells;
pub(crate) use cell::Stamp;
use clock::Clock;
use exits::Exits;
pub(crate) use finding::Finding;
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
use states::{FLIGHT, MBARRIER, READING, REDUCED, WRITTEN, over};
pub(crate) use strong::{Kind, Manner, Order};
use strong::{Location, Strong};
use together::{next_group, some_meet};

/// Named barriers of a block (PTX ISA, "bar").
pub(crate) const BARRIERS: usize = 16;

/// The shadow of a cluster's shared memory.
#[derive(Clone, Debug)]
pub(crate) struct Shadow {
    races: bool,
    uninitialised: bool,
    /// Bytes of shared memory of each block; the blocks' memories are one after another.
    block_bytes: usize,
    states: Vec<u8>,
    cells: Cells,
    chains: Chains,
    /// log2 of the bytes of a cell.
    granule: u32,
    clocks: Vec<Clock>,
    /// Threads of each block.
    threads: usize,
    /// The clocks that the arrivals at each barrier have released, for 16 barriers of each block, block by block.
    barriers: Vec<View>,
    /// The cluster's barrier: what the arrivals of the current phase have published, and what those of the last
    /// completed phase have.
    cluster: (Pools, Pools),
    /// The cluster's index in the grid.
    cluster_number: u32,
    domains: Domains,
    /// The strong accesses, by cell, of the cells that have any.
    strong: Map<usize, Strong>,
    /// The clocks that the strong writes to each cell have released.
    published: Map<usize, Location>,
    /// The state of each mbarrier and of each counter, by number; number 0 is the start of the cluster.
    phases: Vec<Phases>,
    /// The asynchronous operations whose end is observed by an mbarrier or a counter, by number.
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
    exits: Exits,
    /// For each instruction, whether it is a load of a value that only guards an atomic, or that other lanes may discard. If an access has several
    /// conflicts, those with such loads are reported last.
    soft: Vec<bool>,
}

/// The origin of an access: the warp of the cluster, the lane, and the instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Who {
    pub(crate) warp: u32,
    pub(crate) lane: u32,
    pub(crate) source: u32,
}

impl Who {
    /// The thread's index in the cluster. Each warp counts 32, also where the block does not fill its last warp.
    pub(crate) fn thread(self) -> u32 {
        self.warp * WARP as u32 + self.lane
    }
}

impl Shadow {
    /// The shadow of a cluster of `blocks` blocks, each with `bytes` bytes of shared memory and `threads` threads.
    /// `narrow` says whether the kernel names scopes narrower than the GPU, `soft` is [`Shadow::soft`].
    pub(crate) fn new(
        (races, uninitialised): (bool, bool),
        bytes: usize,
        granule: u32,
        (blocks, narrow): (usize, bool),
        (threads, soft): (usize, Vec<bool>),
    ) -> Self {
        let warps = threads.div_ceil(WARP);
        let (block_bytes, bytes) = (bytes, blocks * bytes);
        let mut shadow = Shadow {
            races,
            uninitialised,
            block_bytes,
            states: vec![0; bytes],
            cells: Cells::new(bytes.div_ceil(1 << granule)),
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
            exits: Exits::default(),
            soft,
        };
        shadow.reset(0);
        shadow
    }

    /// Resets the state for the cluster of this number.
    pub(crate) fn reset(&mut self, cluster: u32) {
        self.cluster_number = cluster;
        self.states.fill(0);
        self.cells.clear();
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
        self.exits.reset(self.clocks.len());
    }

    /// The numbers of the cells of a range of bytes.
    #[inline]
    fn cells_of(&self, at: usize, bytes: usize) -> Range<usize> {
        at >> self.granule..(at + bytes).div_ceil(1 << self.granule)
    }

    /// The number of the cluster.
    pub(crate) fn number(&self) -> u32 {
        self.cluster_number
    }

    /// Whether an instruction is a load whose conflicts are reported last.
    fn is_soft(&self, source: u32) -> bool {
        self.soft.get(source as usize).copied().unwrap_or_default()
    }

    #[inline]
    fn stamp(&self, who: Who) -> Stamp {
        let clock = self.clocks[who.warp as usize].next(who.lane);
        Stamp { clock, source: who.source, thread: who.thread() }
    }
}
