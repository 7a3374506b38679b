//! What barriers, fences and the start of blocks order.

use super::STARTED;
use crate::lanes::{WARP, lanes_of};
use crate::shadow::known::{ALL, Window};
use crate::shadow::scope::{Home, Scope};
use crate::shadow::{Shadow, Stamp, Who};

impl Shadow {
    /// The block of a thread of this cluster.
    pub(in crate::shadow) fn home(&self, thread: u32) -> Home {
        let per_block = (self.threads.div_ceil(WARP) * WARP) as u32;
        Home { cluster: self.cluster_number, rank: thread / per_block.max(1) }
    }

    pub(in crate::shadow) fn home_of(&self, warp: usize) -> Home {
        self.home((warp * WARP) as u32)
    }

    /// A warp arrives at a barrier of its block; with `sync` it also waits there, which orders its lanes among
    /// themselves.
    pub(crate) fn arrive(&mut self, warp: usize, barrier: usize, sync: bool) {
        let clock = &mut self.clocks[warp];
        if sync {
            clock.sync(ALL);
        }
        clock.hand_over(ALL, &mut self.barriers[barrier]);
    }

    /// A barrier of a block completes: the warps that wait there, as bits from the warp `first` on, learn what
    /// the arrivals handed over. `all`: the barrier is for all threads that have not exited.
    pub(crate) fn complete(&mut self, barrier: usize, all: bool, first: usize, waiting: u32) {
        if all {
            self.exits.pass(lanes_of(waiting).map(|i| first + i));
        }
        let mut from = std::mem::take(&mut self.barriers[barrier]);
        lanes_of(waiting).for_each(|i| self.clocks[first + i].learn(ALL, &from));
        from.clear();
        self.barriers[barrier] = from;
    }

    /// `bar.warp.sync` of these lanes; `gone` are those that it names and that have exited.
    pub(crate) fn sync_lanes(&mut self, warp: usize, lanes: u32, gone: u32) {
        self.clocks[warp].sync(lanes);
        if gone != 0 {
            self.exits.meet(warp, lanes, gone);
        }
    }

    /// Lanes of a warp arrive at the cluster's barrier; an arrival without `release` publishes what came before the
    /// last fence.
    pub(crate) fn arrive_cluster(&mut self, warp: usize, lanes: u32, release: bool) {
        let domains = self.domains.of(self.home_of(warp), false);
        let release = release.then_some(Scope::Cluster);
        self.clocks[warp].publish(lanes, release, &mut self.cluster.0, domains);
    }

    /// All threads of the cluster have arrived: what their arrivals published is now what waiting threads learn.
    pub(crate) fn complete_cluster(&mut self) {
        self.exits.complete_cluster();
        let (arrived, complete) = &mut self.cluster;
        complete.clear();
        std::mem::swap(arrived, complete);
    }

    /// Lanes of a warp have waited for the cluster's barrier. Even without an acquire they know now that all blocks of
    /// the cluster have started.
    pub(crate) fn wait_cluster(&mut self, warp: usize, lanes: u32, acquire: bool) {
        let domains = self.domains.of(self.home_of(warp), false);
        let acquire = acquire.then_some(Scope::Cluster);
        self.clocks[warp].observe(lanes, acquire, &self.cluster.1, domains);
        self.exits.wait_cluster(warp);
        self.know_phase(warp, lanes, STARTED, 1);
    }

    /// Whether a thread knows that a block of its cluster runs. It does after a wait for the cluster's barrier, or if
    /// it is ordered after such a wait or after anything that a thread of that block did.
    pub(crate) fn knows_running(&self, who: Who, rank: usize) -> bool {
        if !self.races {
            return true;
        }
        let past = self.clocks[who.warp as usize].past(who);
        let warps = self.threads.div_ceil(WARP);
        let has = |component: usize, lane: usize| {
            past.known.has(&Stamp { clock: 1, source: 0, thread: (component * WARP + lane) as u32 })
        };
        has(self.clocks.len() + STARTED, 0)
            || (rank * warps..(rank + 1) * warps).any(|warp| (0..WARP).any(|lane| has(warp, lane)))
    }

    /// `fence` or `membar` of these lanes; a `sequential` one is `.sc`.
    pub(crate) fn fence(&mut self, warp: usize, lanes: u32, scope: Scope, sequential: bool) {
        self.clocks[warp].fence(lanes, scope);
        if sequential {
            self.clocks[warp].fence_in_sequence(lanes, scope);
        }
    }

    /// `fence.proxy.async` of these lanes.
    pub(crate) fn fence_proxy(&mut self, warp: usize, lanes: u32, windows: &[Window]) {
        let all = [Window::Cluster, Window::Cta];
        // In a cluster of one block, both windows are the same memory.
        let wide = !self.domains.clusters && windows.contains(&Window::Cta);
        self.clocks[warp].fence_proxy(lanes, if wide { &all } else { windows });
    }
}
