//! Threads that have exited, and the barriers that did not wait for them any more (PTX ISA, "exit").
//!
//! A barrier waits for the threads that have not exited. The ISA does not state that it also orders the accesses of the others before they exited.
//! GPUs do order them. So such races are a separate finding, `exited-race`.

use super::{Shadow, Stamp, Who};
use crate::lanes::{WARP, lanes_of};

/// The times at which threads have exited and warps have passed barriers. Both advance one clock.
#[derive(Clone, Debug, Default)]
pub(super) struct Exits {
    now: u32,
    /// For each thread, the time of its exit; 0 if it has not exited.
    left: Vec<u32>,
    /// For each warp, the time at which the last barrier of all threads of its block that it passed was complete.
    passed: Vec<u32>,
    /// The time at which the last barrier of the cluster was complete, and for each warp the time of the one that it passed last.
    cluster: u32,
    waited: Vec<u32>,
    /// For each thread, the exited lanes of its warp that a `bar.warp.sync` has named.
    met: Vec<u32>,
}

impl Exits {
    /// Resets the state for this many warps.
    pub(super) fn reset(&mut self, warps: usize) {
        (self.now, self.cluster) = (0, 0);
        for (list, count) in [
            (&mut self.left, warps * WARP),
            (&mut self.passed, warps),
            (&mut self.waited, warps),
            (&mut self.met, warps * WARP),
        ] {
            list.clear();
            list.resize(count, 0);
        }
    }

    /// A barrier of all threads of a block is complete and lets these warps go.
    pub(super) fn pass(&mut self, warps: impl Iterator<Item = usize>) {
        self.now += 1;
        warps.for_each(|warp| self.passed[warp] = self.now);
    }

    pub(super) fn complete_cluster(&mut self) {
        self.now += 1;
        self.cluster = self.now;
    }

    pub(super) fn wait_cluster(&mut self, warp: usize) {
        self.waited[warp] = self.cluster;
    }

    /// Lanes of a warp have passed a `bar.warp.sync` whose mask contains exited lanes.
    pub(super) fn meet(&mut self, warp: usize, lanes: u32, gone: u32) {
        lanes_of(lanes).for_each(|lane| self.met[warp * WARP + lane] |= gone);
    }
}

impl Shadow {
    /// Lanes of a warp exit.
    pub(crate) fn leave(&mut self, warp: usize, lanes: u32) {
        self.exits.now += 1;
        lanes_of(lanes).for_each(|lane| self.exits.left[warp * WARP + lane] = self.exits.now);
    }

    /// Whether an access is of a thread that had exited when a barrier was complete that this thread passed.
    pub(crate) fn had_exited(&self, who: Who, other: Stamp) -> bool {
        let (exits, warp, thread) = (&self.exits, who.warp as usize, other.thread as usize);
        let Some(&left) = exits.left.get(thread).filter(|&&left| left != 0) else { return false };
        let block = |thread: usize| self.home(thread as u32).rank;
        left < exits.waited[warp]
            || left < exits.passed[warp] && block(thread) == block(warp * WARP)
            || thread / WARP == warp && exits.met[who.thread() as usize] >> (thread % WARP) & 1 == 1
    }
}
