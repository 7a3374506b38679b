//! Happens-before as a graph of the threads' events, with the edges as they are documented; races are pairs of accesses
//! of which neither is reachable from the other.

mod edges;

use std::collections::HashMap;

use super::program::{CELLS, Event, LANES, Program, Scope, Shape, Until, What};
use edges::{Graph, Source, scope_of};

/// A thread: a warp of the grid and one of [`LANES`], by number.
type Thread = (usize, usize);

/// An access, as its event and thread.
pub(crate) type Access = (usize, Thread);

/// One access to one word, with its node.
struct Touch {
    access: Access,
    node: usize,
    /// The block whose shared memory it is, none for global memory; and the word.
    place: (Option<usize>, usize),
    write: bool,
    strong: Option<Scope>,
    bulk: bool,
    /// For an asynchronous reduction, whether it is of the async proxy, and whether its elements are wide.
    reduction: Option<(bool, bool)>,
}

/// The errors of a program.
#[derive(Debug, Default)]
pub(crate) struct Wrong {
    /// Accesses that race.
    pub(crate) races: Vec<[Access; 2]>,
    /// Writes, and bulk stores whose async proxy does not see the write.
    pub(crate) unfenced: Vec<[Access; 2]>,
}

/// The threads of an event.
fn threads(event: &Event) -> Vec<Thread> {
    (0..LANES.len()).filter(|&i| event.mask >> LANES[i] & 1 == 1).map(|i| (event.warp, i)).collect()
}

fn whole(warps: impl Iterator<Item = usize>) -> Vec<Thread> {
    warps.flat_map(|warp| (0..LANES.len()).map(move |i| (warp, i))).collect()
}

/// The state after a part of a program's events.
#[derive(Default)]
struct Run {
    graph: Graph,
    touches: Vec<Touch>,
    /// Proxy fences: the node, and whether the fence is of global or of shared memory, or of both.
    proxy_fences: Vec<(usize, Option<bool>)>,
    /// For each flag that is set: the write's node, thread and scope, and the release patterns that the write
    /// completes.
    flags: HashMap<usize, (Source, Vec<Source>)>,
    /// For each mbarrier, the release patterns of its arrivals.
    mbarriers: HashMap<usize, Vec<Source>>,
    /// For each named barrier, the nodes of the arrivals.
    named: HashMap<usize, Vec<usize>>,
    /// The cluster's barrier: the release patterns of the arrivals in this phase, and the number of threads that have
    /// arrived.
    gate: (Vec<Source>, u32),
    /// The release patterns of the arrivals in the last completed phase.
    passed: Vec<Source>,
    /// For each thread, the bulk stores that have not been waited for.
    stores: HashMap<Thread, Vec<usize>>,
    /// For each mbarrier that counts asynchronous reductions, their nodes.
    sums: HashMap<usize, Vec<usize>>,
    /// Asynchronous reductions, each with the node of a thread that has waited for it. What comes before a reduction comes
    /// before what follows the wait where they access the same word as the reduction, and not elsewhere.
    ends: Vec<[usize; 2]>,
    /// The `.sc` fences.
    sequence: Vec<usize>,
    /// Strong writes, each with a morally strong read that has read its value.
    seen: Vec<[usize; 2]>,
}

pub(crate) fn judge(program: &Program) -> Wrong {
    let mut run = Run::default();
    for (k, event) in program.events.iter().enumerate() {
        run.access(program, k, event);
        run.order(program, event);
        run.signal(program, k, event);
    }
    run.settle();
    wrong(program.shape, &run)
}

impl Run {
    /// An event that accesses memory.
    fn access(&mut self, program: &Program, k: usize, event: &Event) {
        let home = if program.shape.cluster { 0 } else { event.warp / program.shape.warps };
        let words =
            |block: Option<usize>, quad: usize| (4 * quad..4 * quad + 4).map(move |cell| (block, cell));
        for thread in threads(event) {
            let mut touch = |node, place, write, strong, bulk| {
                let (access, reduction) = ((k, thread), None);
                self.touches.push(Touch { access, node, place, write, strong, bulk, reduction });
            };
            match event.what {
                What::Reduce { sum, cell, bulk, wide } => {
                    let [issue, node] = [self.graph.act(thread), self.graph.node()];
                    self.graph.next[issue].push(node);
                    self.sums.entry(sum).or_default().push(node);
                    let words = if bulk { 4 } else { 1 + usize::from(wide) };
                    for word in cell..cell + words {
                        let (access, place, reduction) =
                            ((k, thread), (Some(home), word), Some((bulk, wide)));
                        let touch = Touch { access, node, place, write: true, strong: None, bulk, reduction };
                        self.touches.push(touch);
                    }
                }
                What::Reduced { sum } => {
                    let wait = self.graph.act(thread);
                    let ended = self.sums.get(&sum).into_iter().flatten();
                    self.ends.extend(ended.map(|&node| [node, wait]));
                }
                What::Access { global, cell, write, strong } => {
                    let place = ((!global).then_some(home), (cell + thread.1) % CELLS);
                    touch(self.graph.act(thread), place, write, strong, false);
                }
                What::Bulk { quad, to, until } => {
                    // It reads and writes between its issue and what is waited for.
                    let issue = self.graph.act(thread);
                    let [reads, writes] = [self.graph.node(), self.graph.node()];
                    words(Some(home), quad).for_each(|place| touch(reads, place, false, None, true));
                    let to = to.into_iter().flat_map(|quad| words(None, quad));
                    to.for_each(|place| touch(writes, place, true, None, true));
                    self.graph.next[issue].extend([reads, writes]);
                    let wait = self.graph.act(thread);
                    self.graph.next[reads].push(wait);
                    let stores = self.stores.entry(thread).or_default();
                    stores.push(writes);
                    if until == Until::Written {
                        stores.drain(..).for_each(|store| self.graph.next[store].push(wait));
                    }
                }
                What::BulkWait => {
                    let wait = self.graph.act(thread);
                    for store in self.stores.remove(&thread).into_iter().flatten() {
                        self.graph.next[store].push(wait);
                    }
                }
                What::Load { quad } => {
                    let [issue, reads] = [self.graph.act(thread), self.graph.node()];
                    words(None, quad).for_each(|place| touch(reads, place, false, None, true));
                    let wait = self.graph.act(thread);
                    self.graph.next[issue].push(reads);
                    self.graph.next[reads].push(wait);
                }
                _ => return,
            }
        }
    }

    /// A fence or a barrier of a block.
    fn order(&mut self, program: &Program, event: &Event) {
        let (of, graph) = (threads(event), &mut self.graph);
        match event.what {
            What::Fence { scope, sequential } => {
                for thread in of {
                    let node = graph.act(thread);
                    let met = graph.met.get(&thread).cloned().unwrap_or_default();
                    graph.meet(program.shape, node, thread, scope, &met);
                    graph.fences.entry(thread).or_default().push((node, thread, scope));
                    self.sequence.extend(sequential.then_some(node));
                }
            }
            What::FenceProxy { global } => {
                self.proxy_fences.extend(of.into_iter().map(|thread| (graph.act(thread), global)));
            }
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
    fn signal(&mut self, program: &Program, k: usize, event: &Event) {
        let (of, graph, shape) = (threads(event).into_iter(), &mut self.graph, program.shape);
        let home = if shape.cluster { 0 } else { event.warp / shape.warps };
        let place = |flag: usize| ((!program.flags[flag].global).then_some(home), CELLS + flag);
        match event.what {
            What::Set { flag, release, scope, .. } => {
                for thread in of {
                    let (node, sources) = graph.release(thread, release.then_some(scope));
                    let (access, place) = ((k, thread), place(flag));
                    let strong = Some(scope);
                    self.touches.push(Touch {
                        access,
                        node,
                        place,
                        write: true,
                        strong,
                        bulk: false,
                        reduction: None,
                    });
                    self.flags.insert(flag, ((node, thread, scope), sources));
                }
            }
            What::Await { flag, acquire, scope } => {
                for thread in of {
                    let ((write, by, written), sources) = &self.flags[&flag];
                    // A thread whose scope does not include the other thread has not observed the write, whatever it
                    // has read.
                    let together = scope.min(*written) >= scope_of(shape, thread, *by);
                    let from = if together { &sources[..] } else { &[] };
                    let node = graph.acquire(shape, thread, acquire.then_some(scope), from);
                    self.seen.extend(together.then_some([*write, node]));
                    let (access, place) = ((k, thread), place(flag));
                    let strong = Some(scope);
                    self.touches.push(Touch {
                        access,
                        node,
                        place,
                        write: false,
                        strong,
                        bulk: false,
                        reduction: None,
                    });
                }
            }
            What::Arrive { mbarrier, release } => {
                let release = release.then_some(Scope::Cluster);
                let sources = of.flat_map(|thread| graph.release(thread, release).1);
                self.mbarriers.entry(mbarrier).or_default().extend(sources);
            }
            What::Wait { mbarrier, acquire } => {
                let acquire = acquire.then_some(Scope::Cluster);
                of.for_each(|thread| {
                    graph.acquire(shape, thread, acquire, &self.mbarriers[&mbarrier]);
                });
            }
            What::GateArrive { release } => {
                let release = release.then_some(Scope::Cluster);
                self.gate.0.extend(of.flat_map(|thread| graph.release(thread, release).1));
                self.gate.1 += event.mask.count_ones();
                if self.gate.1 as usize == 32 * shape.warps * shape.blocks {
                    self.passed = std::mem::take(&mut self.gate).0;
                }
            }
            What::GateWait => {
                let cluster = Some(Scope::Cluster);
                of.for_each(|thread| {
                    graph.acquire(shape, thread, cluster, &self.passed);
                });
            }
            _ => {}
        }
    }

    /// Adds the part of Fence-SC order that is the same in all executions. If a fence comes before a write, and another
    /// fence after a read of the written value, the opposite order of the fences would put the read before the write.
    /// Each such pair adds an edge, which may lead to further pairs.
    fn settle(&mut self) {
        loop {
            let after: HashMap<usize, Vec<bool>> =
                self.sequence.iter().map(|&fence| (fence, self.graph.reach(fence))).collect();
            let reads: Vec<Vec<bool>> = self.seen.iter().map(|[_, read]| self.graph.reach(*read)).collect();
            let mut more = Vec::new();
            for &first in &self.sequence {
                for &second in self.sequence.iter().filter(|&&second| !after[&first][second]) {
                    let forced = |([write, _], after_read): (&[usize; 2], &Vec<bool>)| {
                        after[&first][*write] && after_read[second]
                    };
                    if first != second && self.seen.iter().zip(&reads).any(forced) {
                        more.push((first, second));
                    }
                }
            }
            if more.is_empty() {
                return;
            }
            more.into_iter().for_each(|(first, second)| self.graph.next[first].push(second));
        }
    }
}

fn wrong(shape: Shape, run: &Run) -> Wrong {
    let Run { touches, ends, .. } = run;
    let mut wrong = Wrong::default();
    let mut places: Vec<_> = touches.iter().map(|touch| touch.place).collect();
    places.sort_unstable();
    places.dedup();
    for place in places {
        let touches: Vec<&Touch> = touches.iter().filter(|touch| touch.place == place).collect();
        let reduces =
            |node: usize| touches.iter().any(|touch| touch.node == node && touch.reduction.is_some());
        let ends: Vec<[usize; 2]> = ends.iter().copied().filter(|[node, _]| reduces(*node)).collect();
        wrong_at(shape, run, &ends, &touches, &mut wrong);
    }
    wrong
}

/// Adds the errors at one word. `ends` are the reductions into the word, each with a node that has waited for it.
fn wrong_at(
    shape: Shape,
    Run { graph, proxy_fences, seen, .. }: &Run,
    ends: &[[usize; 2]],
    touches: &[&Touch],
    wrong: &mut Wrong,
) {
    let reach = |node| graph.reach_with(node, ends);
    // A write comes before everything that comes after a read that has observed it, even if the read does not acquire.
    let observed: Vec<(usize, Vec<bool>)> = seen.iter().map(|&[write, read]| (write, reach(read))).collect();
    let observes = |write: usize, node: usize| observed.iter().any(|(of, after)| *of == write && after[node]);
    let after_fence: Vec<(usize, Option<bool>, Vec<bool>)> =
        proxy_fences.iter().map(|&(fence, of)| (fence, of, reach(fence))).collect();
    let after: Vec<Vec<bool>> = touches.iter().map(|touch| reach(touch.node)).collect();
    for (i, a) in touches.iter().enumerate() {
        for (j, b) in touches.iter().enumerate() {
            let (s, t) = (a.access.1, b.access.1);
            let strong = a.strong.zip(b.strong).is_some_and(|(a, b)| a.min(b) >= scope_of(shape, s, t));
            let together = strong || a.reduction.is_some() && a.reduction == b.reduction;
            let conflict = (a.write || b.write) && !together && a.node != b.node;
            let ordered = |i: usize, a: &Touch, b: &Touch| after[i][b.node] || observes(a.node, b.node);
            if i < j && conflict && !ordered(i, a, b) && !ordered(j, b, a) {
                wrong.races.push([a.access, b.access]);
            }
            let of = Some(a.place.0.is_none());
            let sees = || {
                let between = |(fence, window, reached): &(usize, Option<bool>, Vec<bool>)| {
                    (window.is_none() || *window == of) && after[i][*fence] && reached[b.node]
                };
                after_fence.iter().any(between)
            };
            if a.write && !a.bulk && b.bulk && after[i][b.node] && !sees() {
                wrong.unfenced.push([a.access, b.access]);
            }
        }
    }
}
