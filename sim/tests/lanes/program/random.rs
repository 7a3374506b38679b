//! Random programs, whose waits end on every schedule.

use super::{ALL, CELLS, Event, LANES, Program, Random, SUMS, Scope, Shape, Signal, Until, What};

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
    pub(super) sum: Option<usize>,
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
