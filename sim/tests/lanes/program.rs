//! Random programs of accesses, fences and barriers, whose happens-before does not depend on the schedule: every flag is
//! set once and every phase of a barrier is one of known threads.

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

/// A warp, and some of its lanes.
type Lanes = (usize, u32);

/// Events that have begun something that later events must complete.
#[derive(Default)]
struct Open {
    /// Flags that have been set.
    set: Vec<usize>,
    /// Mbarriers, each with the warps and lanes that still have to arrive.
    arrivals: Vec<(usize, Vec<Lanes>)>,
    /// Mbarriers that are complete.
    complete: Vec<usize>,
    /// The number of the last asynchronous reductions, if more may have the same.
    sum: Option<usize>,
    /// Named barriers at which a warp has arrived, each with the warp that has to wait.
    named: Vec<(usize, usize)>,
    /// The number of named barriers so far.
    barriers: usize,
    /// Warps and lanes that still have to arrive at the cluster's barrier, and those that still have to wait there.
    gate: (Vec<Lanes>, Vec<Lanes>),
}

impl Program {
    pub(crate) fn random(random: &mut Random, shape: Shape) -> Self {
        let mut program =
            Program { shape, events: Vec::new(), flags: Vec::new(), mbarriers: Vec::new(), sums: Vec::new() };
        let mut open = Open::default();
        let length = 4 + random.below(48);
        // The weights of accesses and of each other kind of event, some of which never come.
        let weights: Vec<usize> =
            std::iter::once(8).chain((0..11).map(|_| [0, 1, 2, 8][random.below(4)])).collect();
        while program.events.len() < length {
            program.step(random, &mut open, &weights);
        }
        for (mbarrier, arrivals) in std::mem::take(&mut open.arrivals) {
            let what = What::Arrive { mbarrier, release: true };
            program.events.extend(arrivals.into_iter().map(|(warp, mask)| Event { warp, mask, what }));
        }
        for (id, warp) in open.named {
            program.events.push(Event { warp, mask: ALL, what: What::NamedSync { id } });
        }
        let (arrive, wait) = open.gate;
        let gates = (arrive.into_iter().map(|of| (of, What::GateArrive { release: true })))
            .chain(wait.into_iter().map(|of| (of, What::GateWait)));
        program.events.extend(gates.map(|((warp, mask), what)| Event { warp, mask, what }));
        program
    }

    /// Adds a random event, or none if the chosen kind is not possible.
    fn step(&mut self, random: &mut Random, open: &mut Open, weights: &[usize]) {
        let warp = random.below(self.shape.blocks * self.shape.warps);
        let home = self.home(warp, 0);
        let mut add = |mask: u32, what: What| self.events.push(Event { warp, mask, what });
        let total = weights.iter().sum();
        let mut at = random.below(total);
        let kind = weights.iter().position(|&weight| at.checked_sub(weight).map(|rest| at = rest).is_none());
        match kind.unwrap() {
            0 => {
                let (global, cell) = (random.below(3) == 0, random.below(CELLS));
                let write = random.flip();
                let strong = (random.below(4) == 0).then(|| random.scope());
                // Each word has either only strong reads or only strong writes, so that no value that is read depends
                // on the schedule.
                let mask = if strong.is_some() { random.one() } else { random.few() };
                let first = cell + LANES.iter().position(|lane| mask >> lane & 1 == 1).unwrap();
                let write = if strong.is_some() { first % 2 == 0 } else { write };
                add(mask, What::Access { global, cell, write, strong });
            }
            1 if home => {
                let to = random.flip().then(|| random.below(CELLS / 4));
                let until = if random.below(3) == 0 { Until::Read } else { Until::Written };
                add(random.one(), What::Bulk { quad: random.below(CELLS / 4), to, until });
            }
            2 => {
                let (scope, sequential) = (random.scope(), random.below(3) == 0);
                // `.sc` fences have the widest scope, since the graph does not look at their scopes.
                add(
                    random.lanes(),
                    What::Fence { scope: if sequential { Scope::Gpu } else { scope }, sequential },
                );
            }
            3 => {
                let global = [None, None, Some(false), Some(true)][random.below(4)];
                add(random.lanes(), What::FenceProxy { global });
            }
            4 => add(random.lanes(), What::SyncLanes),
            5 => self.flag(random, open, warp),
            6 => self.mbarrier(random, open, warp),
            7 => add(ALL, What::Block),
            8 if self.shape.warps > 1 => self.named(random, open, warp),
            9 if self.shape.cluster => self.gate(random, open),
            10 if random.flip() => add(random.one(), What::Load { quad: random.below(CELLS / 4) }),
            10 => add(random.one(), What::BulkWait),
            11 => self.reduce(random, open, warp),
            _ => {}
        }
    }

    fn reduce(&mut self, random: &mut Random, open: &mut Open, warp: usize) {
        let block = if self.shape.cluster { 0 } else { warp / self.shape.warps };
        let ended = (0..self.sums.len()).filter(|&sum| self.sums[sum] == block && open.sum != Some(sum));
        let ended: Vec<usize> = ended.collect();
        if !ended.is_empty() && self.home(warp, 0) && random.flip() {
            let what = What::Reduced { sum: ended[random.below(ended.len())] };
            self.events.push(Event { warp, mask: random.lanes(), what });
            return;
        }
        let sum = match open.sum.take().filter(|&sum| self.sums[sum] == block) {
            Some(sum) => sum,
            None if self.sums.len() == SUMS => return,
            None => {
                self.sums.push(block);
                self.sums.len() - 1
            }
        };
        open.sum = random.flip().then_some(sum);
        let [bulk, wide] = [random.below(3) == 0, random.below(4) == 0];
        let words = if bulk { 4 } else { 1 + usize::from(wide) };
        let cell = words * random.below(CELLS / words);
        self.events.push(Event { warp, mask: random.few(), what: What::Reduce { sum, cell, bulk, wide } });
    }

    /// Whether the shared memory in use is that of the warp's block; of the first one, in a cluster.
    fn home(&self, warp: usize, block: usize) -> bool {
        !self.shape.cluster || warp / self.shape.warps == block
    }

    fn signal(&self, warp: usize, global: bool) -> Signal {
        let block = (!global && !self.shape.cluster).then_some(warp / self.shape.warps);
        Signal { block, global }
    }

    fn may(&self, signal: Signal, warp: usize) -> bool {
        signal.block.is_none_or(|block| block == warp / self.shape.warps)
    }

    fn flag(&mut self, random: &mut Random, open: &mut Open, warp: usize) {
        let usable: Vec<usize> =
            open.set.iter().copied().filter(|&f| self.may(self.flags[f], warp)).collect();
        if usable.is_empty() || random.flip() {
            let flag = self.flags.len();
            let global = random.flip();
            self.flags.push(self.signal(warp, global));
            open.set.push(flag);
            let what =
                What::Set { flag, release: random.flip(), reduces: random.flip(), scope: random.scope() };
            self.events.push(Event { warp, mask: random.one(), what });
        } else {
            let flag = usable[random.below(usable.len())];
            let what = What::Await { flag, acquire: random.flip(), scope: random.scope() };
            self.events.push(Event { warp, mask: random.lanes(), what });
        }
    }

    fn mbarrier(&mut self, random: &mut Random, open: &mut Open, warp: usize) {
        let usable: Vec<usize> =
            open.complete.iter().copied().filter(|&m| self.may(self.mbarriers[m], warp)).collect();
        if !usable.is_empty() && self.home(warp, 0) && random.flip() {
            let what =
                What::Wait { mbarrier: usable[random.below(usable.len())], acquire: random.below(3) > 0 };
            self.events.push(Event { warp, mask: random.lanes(), what });
        } else if !open.arrivals.is_empty() && random.below(4) > 0 {
            let at = random.below(open.arrivals.len());
            let (mbarrier, arrivals) = &mut open.arrivals[at];
            let what = What::Arrive { mbarrier: *mbarrier, release: random.below(3) > 0 };
            if let Some((warp, mask)) = arrivals.pop() {
                self.events.push(Event { warp, mask, what });
            }
            if arrivals.is_empty() {
                open.complete.push(*mbarrier);
                open.arrivals.remove(at);
            }
        } else if self.mbarriers.len() < 8 {
            let signal = self.signal(warp, false);
            let warps: Vec<usize> =
                (0..self.shape.blocks * self.shape.warps).filter(|&w| self.may(signal, w)).collect();
            let arrivals = (0..1 + random.below(3))
                .map(|_| (warps[random.below(warps.len())], random.lanes()))
                .collect();
            open.arrivals.push((self.mbarriers.len(), arrivals));
            self.mbarriers.push(signal);
        }
    }

    fn named(&mut self, random: &mut Random, open: &mut Open, warp: usize) {
        let warps = self.shape.warps;
        let other = warp / warps * warps + (warp % warps + 1 + random.below(warps - 1)) % warps;
        if let Some((id, warp)) = open.named.pop_if(|_| random.flip()) {
            self.events.push(Event { warp, mask: ALL, what: What::NamedSync { id } });
        } else if open.barriers < 15 {
            open.barriers += 1;
            let id = open.barriers;
            if random.flip() {
                self.events.push(Event { warp, mask: ALL, what: What::Named { id, other } });
            } else {
                self.events.push(Event { warp, mask: ALL, what: What::NamedArrive { id } });
                open.named.push((id, other));
            }
        }
    }

    fn gate(&mut self, random: &mut Random, open: &mut Open) {
        let (arrive, wait) = &mut open.gate;
        if let Some((warp, mask)) = arrive.pop() {
            let what = What::GateArrive { release: random.below(3) > 0 };
            self.events.push(Event { warp, mask, what });
        } else if let Some((warp, mask)) = wait.pop() {
            self.events.push(Event { warp, mask, what: What::GateWait });
        } else {
            for warps in [arrive, wait] {
                for warp in 0..self.shape.blocks * self.shape.warps {
                    let part = if random.flip() { ALL } else { random.few() };
                    warps
                        .extend([part, !part].into_iter().filter(|&mask| mask != 0).map(|mask| (warp, mask)));
                }
                for i in (1..warps.len()).rev() {
                    warps.swap(i, random.below(i + 1));
                }
            }
        }
    }
}
