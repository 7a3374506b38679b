//! Events as nodes, and the edges between them.

use std::collections::HashMap;

use super::Thread;
use crate::lanes::program::{Scope, Shape};

/// The first operation of a release pattern: its node, its thread and its scope.
pub(super) type Source = (usize, Thread, Scope);

/// The narrowest scope that includes both threads.
pub(super) fn scope_of(shape: Shape, a: Thread, b: Thread) -> Scope {
    match a.0 / shape.warps == b.0 / shape.warps {
        true => Scope::Cta,
        false if shape.cluster => Scope::Cluster,
        false => Scope::Gpu,
    }
}

#[derive(Default)]
pub(super) struct Graph {
    /// The nodes directly after each node.
    pub(super) next: Vec<Vec<usize>>,
    /// The last node of each thread.
    last: HashMap<Thread, usize>,
    /// The fences of each thread.
    pub(super) fences: HashMap<Thread, Vec<Source>>,
    /// For each thread, the release patterns whose values the thread has read.
    pub(super) met: HashMap<Thread, Vec<Source>>,
}

impl Graph {
    pub(super) fn node(&mut self) -> usize {
        self.next.push(Vec::new());
        self.next.len() - 1
    }

    /// A thread executes an event, which becomes a node.
    pub(super) fn act(&mut self, thread: Thread) -> usize {
        let node = self.node();
        if let Some(before) = self.last.insert(thread, node) {
            self.next[before].push(node);
        }
        node
    }

    /// The threads in `arrive` arrive now, in addition to those that have arrived at the nodes in `arrived`; the
    /// threads in `wait` wait for all of them.
    pub(super) fn barrier(&mut self, arrived: &[usize], arrive: &[Thread], wait: &[Thread]) {
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

    /// A strong write of a thread, and the release patterns that the write completes: its own, if it is a release of
    /// this scope, and those that the thread's fences began.
    pub(super) fn release(&mut self, thread: Thread, release: Option<Scope>) -> (usize, Vec<Source>) {
        let node = self.act(thread);
        let own = release.map(|scope| (node, thread, scope));
        (node, self.fences.get(&thread).into_iter().flatten().copied().chain(own).collect())
    }

    /// A strong read of a value that completes release patterns. The read is an acquire if a scope is given; otherwise
    /// a later fence may complete the acquire pattern.
    pub(super) fn acquire(
        &mut self,
        shape: Shape,
        thread: Thread,
        acquire: Option<Scope>,
        from: &[Source],
    ) -> usize {
        let node = self.act(thread);
        self.met.entry(thread).or_default().extend(from);
        if let Some(scope) = acquire {
            self.meet(shape, node, thread, scope, from);
        }
        node
    }

    /// The last operation of an acquire pattern comes after the first operations of those release patterns whose scope
    /// fits.
    pub(super) fn meet(&mut self, shape: Shape, node: usize, thread: Thread, scope: Scope, from: &[Source]) {
        for &(source, of, released) in from {
            if scope.min(released) >= scope_of(shape, thread, of) {
                self.next[source].push(node);
            }
        }
    }

    pub(super) fn reach(&self, from: usize) -> Vec<bool> {
        self.reach_with(from, &[])
    }

    /// The nodes that are reachable from a node by the graph's edges and by further ones.
    pub(super) fn reach_with(&self, from: usize, further: &[[usize; 2]]) -> Vec<bool> {
        let mut reached = vec![false; self.next.len()];
        let mut todo = vec![from];
        while let Some(node) = todo.pop() {
            let further = further.iter().filter(|[of, _]| *of == node).map(|[_, next]| next);
            for &next in self.next[node].iter().chain(further) {
                if !std::mem::replace(&mut reached[next], true) {
                    todo.push(next);
                }
            }
        }
        reached
    }
}
