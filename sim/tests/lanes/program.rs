//! Random programs of accesses, fences and barriers, whose happens-before does not depend on the schedule: every flag is
//! set once and every phase of a barrier is one of known threads.

mod random;

/// Lanes that may act alone, and lane 2, which stands for all the others: those take part only in events of a whole
/// warp, or of the rest of a warp.
pub(crate) const LANES: [u32; 5] = [0, 1, 5, 31, 2];
/// How many of these lanes may access memory alone.
const ACTIVE: usize = 4;
const ALL: u32 = u32::MAX;
/// The number of words that are accessed, in the shared memory of each block and in global memory.
pub(crate) const CELLS: usize = 8;
/// The most mbarriers that count asynchronous reductions.
pub(crate) const SUMS: usize = 16;

/// The number of blocks, the warps of each block, and whether the blocks are a cluster: then all blocks use the shared
/// memory of the first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) blocks: usize,
    pub(crate) warps: usize,
    pub(crate) cluster: bool,
}

pub(crate) const SHAPES: [Shape; 4] = [
    Shape { blocks: 1, warps: 3, cluster: true },
    Shape { blocks: 2, warps: 2, cluster: true },
    Shape { blocks: 2, warps: 2, cluster: false },
    Shape { blocks: 3, warps: 1, cluster: false },
];

/// A scope by its name, the narrowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Scope {
    Cta,
    Cluster,
    Gpu,
}

impl Scope {
    pub(crate) fn word(self) -> &'static str {
        ["cta", "cluster", "gpu"][self as usize]
    }
}

/// What the thread of a bulk store waits for directly after the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    Read,
    Written,
}

/// An event of some lanes of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// Lane `LANES[i]` accesses the word `cell + i`, modulo the number of words.
    Access {
        global: bool,
        cell: usize,
        write: bool,
        strong: Option<Scope>,
    },
    /// A bulk store of four shared words from word `4 * quad` on, to global words or to memory that no event accesses.
    Bulk {
        quad: usize,
        to: Option<usize>,
        until: Until,
    },
    /// The lane waits until all its bulk stores have written.
    BulkWait,
    /// A bulk load of four global words to memory that no event accesses, and a wait for it.
    Load {
        quad: usize,
    },
    /// An asynchronous reduction of each lane into shared words from `cell` on: of `red.async` into as many words as an
    /// element has, or with `bulk` of `cp.reduce.async.bulk` into four. Elements have two words if they are `wide`.
    Reduce {
        sum: usize,
        cell: usize,
        bulk: bool,
        wide: bool,
    },
    /// A wait for the reductions with this number.
    Reduced {
        sum: usize,
    },
    Fence {
        scope: Scope,
        sequential: bool,
    },
    /// A proxy fence of shared memory, of global memory, or of both.
    FenceProxy {
        global: Option<bool>,
    },
    /// `bar.warp.sync`.
    SyncLanes,
    /// Sets a flag, by a reduction or a store.
    Set {
        flag: usize,
        release: bool,
        reduces: bool,
        scope: Scope,
    },
    Await {
        flag: usize,
        acquire: bool,
        scope: Scope,
    },
    Arrive {
        mbarrier: usize,
        release: bool,
    },
    Wait {
        mbarrier: usize,
        acquire: bool,
    },
    /// `bar.sync` of the whole block.
    Block,
    /// `bar.sync` of two warps of a block, this warp and another.
    Named {
        id: usize,
        other: usize,
    },
    /// `bar.arrive`, followed later by a `bar.sync` of another warp.
    NamedArrive {
        id: usize,
    },
    NamedSync {
        id: usize,
    },
    /// `barrier.cluster`.
    GateArrive {
        release: bool,
    },
    GateWait,
}

/// An event: some lanes of a warp, whose number counts through the grid, do something.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub(crate) warp: usize,
    pub(crate) mask: u32,
    pub(crate) what: What,
}

/// A flag or an mbarrier.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signal {
    /// The block whose threads may use the flag or mbarrier; none if all threads may.
    block: Option<usize>,
    pub(crate) global: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) shape: Shape,
    pub(crate) events: Vec<Event>,
    pub(crate) flags: Vec<Signal>,
    pub(crate) mbarriers: Vec<Signal>,
    /// For each mbarrier that counts asynchronous reductions, the block whose shared memory they are into.
    pub(crate) sums: Vec<usize>,
}

/// A generator of random numbers.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % n
    }

    /// A scope, which mostly is wide enough.
    fn scope(&mut self) -> Scope {
        [Scope::Cta, Scope::Cluster, Scope::Gpu, Scope::Gpu, Scope::Gpu, Scope::Gpu][self.below(6)]
    }

    fn flip(&mut self) -> bool {
        self.below(2) == 0
    }

    /// A mask of one or more of the lanes that access memory alone.
    fn few(&mut self) -> u32 {
        let some = 1 + self.below(15);
        (0..ACTIVE).filter(|i| some >> i & 1 == 1).map(|i| 1 << LANES[i]).sum()
    }

    /// A mask of one of the lanes that access memory alone.
    fn one(&mut self) -> u32 {
        1 << LANES[self.below(ACTIVE)]
    }

    fn lanes(&mut self) -> u32 {
        if self.flip() { ALL } else { self.few() }
    }
}
