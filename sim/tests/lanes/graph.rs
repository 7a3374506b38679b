//! Happens-before as a graph of what each thread does, edge by edge as documented, and its races by reachability.

use std::collections::HashMap;

use super::program::{CELLS, Event, LANES, Program, What};

/// A thread: a warp of the grid and one of the lanes that access memory, by number.
type Thread = (usize, usize);

#[derive(Default)]
struct Graph {
    /// What comes right after each node.
    next: Vec<Vec<usize>>,
    /// The last node of each thread.
    last: HashMap<Thread, usize>,
    /// The node of its last fence.
    fence: HashMap<Thread, usize>,
    /// What its relaxed reads since have met.
    pending: HashMap<Thread, Vec<usize>>,
}

impl Graph {
    fn node(&mut self) -> usize {
        self.next.push(Vec::new());
        self.next.len() - 1
    }

    /// A thread does something.
    fn act(&mut self, thread: Thread) -> usize {
        let node = self.node();
        if let Some(before) = self.last.insert(thread, node) {
            self.next[before].push(node);
        }
        node
    }

    /// All of these threads arrive, beside those that have arrived at their nodes before; and these wait for them.
    fn barrier(&mut self, arrived: &[usize], arrive: &[Thread], wait: &[Thread]) {
        let hub = self.node();
        arrived.iter().for_each(|&node| self.next[node].push(hub));
        for thread in arrive {
            let node = self.act(*thread);
            self.next[node].push(hub);
        }
        for thread in wait {
            let node = self.act(*thread);
            self.next[hub].push(node);
        }
    }

    /// The node that a thread's release hands on, or its relaxed write.
    fn release(&mut self, thread: Thread, release: bool) -> Option<usize> {
        let node = self.act(thread);
        if release { Some(node) } else { self.fence.get(&thread).copied() }
    }

    fn acquire(&mut self, thread: Thread, acquire: bool, from: &[usize]) {
        let node = self.act(thread);
        if acquire {
            from.iter().for_each(|&source| self.next[source].push(node));
        } else {
            self.pending.entry(thread).or_default().extend(from);
        }
    }

    fn reach(&self, from: usize) -> Vec<bool> {
        let mut reached = vec![false; self.next.len()];
        let mut todo = vec![from];
        while let Some(node) = todo.pop() {
            for &next in &self.next[node] {
                if !std::mem::replace(&mut reached[next], true) {
                    todo.push(next);
                }
            }
        }
        reached
    }
}

/// An access: its event and thread.
pub(crate) type Access = (usize, Thread);

/// One access to a word, as a node.
struct Touch {
    access: Access,
    node: usize,
    /// The block of shared memory, if it is that, and the word.
    place: (Option<usize>, usize),
    write: bool,
    strong: bool,
    bulk: bool,
}

/// What is wrong with a program.
#[derive(Debug, Default)]
pub(crate) struct Wrong {
    /// Accesses that race.
    pub(crate) races: Vec<[Access; 2]>,
    /// Bulk stores, and writes that the async proxy does not see.
    pub(crate) unfenced: Vec<[Access; 2]>,
}

/// The threads of an event.
fn threads(event: &Event) -> Vec<Thread> {
    (0..LANES.len()).filter(|&i| event.mask >> LANES[i] & 1 == 1).map(|i| (event.warp, i)).collect()
}

fn whole(warps: impl Iterator<Item = usize>) -> Vec<Thread> {
    warps.flat_map(|warp| (0..LANES.len()).map(move |i| (warp, i))).collect()
}

/// A program up to some event.
#[derive(Default)]
struct Run {
    graph: Graph,
    touches: Vec<Touch>,
    proxy_fences: Vec<usize>,
    /// What has been released by each flag, by each mbarrier, by warps at each named barrier.
    flags: HashMap<usize, Vec<usize>>,
    mbarriers: HashMap<usize, Vec<usize>>,
    named: HashMap<usize, Vec<usize>>,
    /// Of the cluster's barrier: what this phase's arrivals release, and how many threads have arrived.
    gate: (Vec<usize>, u32),
    /// What those of the phase before have released.
    passed: Vec<usize>,
}

pub(crate) fn judge(program: &Program) -> Wrong {
    let mut run = Run::default();
    for (k, event) in program.events.iter().enumerate() {
        run.access(program, k, event);
        run.order(program, event);
        run.signal(program, event);
    }
    wrong(&run.graph, &run.touches, &run.proxy_fences)
}

impl Run {
    /// An event that accesses memory.
    fn access(&mut self, program: &Program, k: usize, event: &Event) {
        let home = if program.shape.cluster { 0 } else { event.warp / program.shape.warps };
        for thread in threads(event) {
            let (words, write, strong) = match event.what {
                What::Access { global, cell, write, strong } => {
                    (vec![((!global).then_some(home), (cell + thread.1) % CELLS)], write, strong)
                }
                What::Bulk { quad } => {
                    ((4 * quad..4 * quad + 4).map(|cell| (Some(home), cell)).collect(), false, false)
                }
                _ => return,
            };
            let node = self.graph.act(thread);
            let (access, bulk) = ((k, thread), matches!(event.what, What::Bulk { .. }));
            let touch = |place| Touch { access, node, place, write, strong, bulk };
            self.touches.extend(words.into_iter().map(touch));
        }
    }

    /// A fence or a barrier of a block.
    fn order(&mut self, program: &Program, event: &Event) {
        let (of, graph) = (threads(event), &mut self.graph);
        match event.what {
            What::Fence => {
                for thread in of {
                    let node = graph.act(thread);
                    let met = graph.pending.remove(&thread).unwrap_or_default();
                    met.into_iter().for_each(|source| graph.next[source].push(node));
                    graph.fence.insert(thread, node);
                }
            }
            What::FenceProxy => self.proxy_fences.extend(of.into_iter().map(|thread| graph.act(thread))),
            What::SyncLanes => graph.barrier(&[], &of, &of),
            What::Block => {
                let first = event.warp / program.shape.warps * program.shape.warps;
                let all = whole(first..first + program.shape.warps);
                graph.barrier(&[], &all, &all);
            }
            What::Named { other, .. } => {
                let both = whole([event.warp, other].into_iter());
                graph.barrier(&[], &both, &both);
            }
            What::NamedArrive { id } => {
                let arrived = of.into_iter().map(|thread| graph.act(thread)).collect();
                self.named.insert(id, arrived);
            }
            What::NamedSync { id } => graph.barrier(&self.named[&id], &of, &of),
            _ => {}
        }
    }

    /// A release or an acquire.
    fn signal(&mut self, program: &Program, event: &Event) {
        let (of, graph) = (threads(event).into_iter(), &mut self.graph);
        match event.what {
            What::Set { flag, release, .. } => {
                let sources = of.filter_map(|thread| graph.release(thread, release)).collect();
                self.flags.insert(flag, sources);
            }
            What::Await { flag, acquire } => {
                of.for_each(|thread| graph.acquire(thread, acquire, &self.flags[&flag]));
            }
            What::Arrive { mbarrier, release } => {
                let sources = of.filter_map(|thread| graph.release(thread, release));
                self.mbarriers.entry(mbarrier).or_default().extend(sources);
            }
            What::Wait { mbarrier, acquire } => {
                of.for_each(|thread| graph.acquire(thread, acquire, &self.mbarriers[&mbarrier]));
            }
            What::GateArrive { release } => {
                self.gate.0.extend(of.filter_map(|thread| graph.release(thread, release)));
                self.gate.1 += event.mask.count_ones();
                if self.gate.1 as usize == 32 * program.shape.warps * program.shape.blocks {
                    self.passed = std::mem::take(&mut self.gate).0;
                }
            }
            What::GateWait => of.for_each(|thread| graph.acquire(thread, true, &self.passed)),
            _ => {}
        }
    }
}

fn wrong(graph: &Graph, touches: &[Touch], proxy_fences: &[usize]) -> Wrong {
    let mut wrong = Wrong::default();
    let after_fence: Vec<(usize, Vec<bool>)> =
        proxy_fences.iter().map(|&fence| (fence, graph.reach(fence))).collect();
    let after: Vec<Vec<bool>> = touches.iter().map(|touch| graph.reach(touch.node)).collect();
    for (i, a) in touches.iter().enumerate() {
        for (j, b) in touches.iter().enumerate().filter(|(_, b)| b.place == a.place) {
            let conflict = (a.write || b.write) && !(a.strong && b.strong);
            if i < j && conflict && a.access.1 != b.access.1 && !after[i][b.node] && !after[j][a.node] {
                wrong.races.push([a.access, b.access]);
            }
            let sees = || after_fence.iter().any(|(fence, reached)| after[i][*fence] && reached[b.node]);
            if a.write && !a.strong && b.bulk && after[i][b.node] && !sees() {
                wrong.unfenced.push([a.access, b.access]);
            }
        }
    }
    wrong
}
