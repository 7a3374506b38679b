//! Vector clocks: what comes before a warp's next access.
//!
//! A clock has a component for every warp of the cluster, which counts the warp's synchronisations, and one for every
//! mbarrier, which counts its phases.

use std::collections::BTreeMap;

use super::{Shadow, Stamp, Who};
use crate::lanes::WARP;

/// The clock of each component up to which something is known; 0 for those beyond the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Known(Vec<u32>);

impl Known {
    #[inline]
    pub(super) fn get(&self, component: usize) -> u32 {
        self.0.get(component).copied().unwrap_or(0)
    }

    pub(super) fn raise(&mut self, component: usize, clock: u32) {
        if self.0.len() <= component {
            self.0.resize(component + 1, 0);
        }
        self.0[component] = self.0[component].max(clock);
    }

    pub(super) fn join(&mut self, from: &Known) {
        if self.0.len() < from.0.len() {
            self.0.resize(from.0.len(), 0);
        }
        self.0.iter_mut().zip(&from.0).for_each(|(to, &from)| *to = from.max(*to));
    }
}

/// What one side of a synchronisation hands to the other.
#[derive(Clone, Debug, Default)]
pub(super) struct View {
    /// What comes before.
    pub(super) known: Known,
    /// What comes before with a proxy fence on the way: generic accesses that the async proxy sees.
    pub(super) proxied: Known,
    /// What comes before of other clusters, by their number.
    pub(super) others: BTreeMap<u32, Known>,
}

impl View {
    pub(super) fn join(&mut self, from: &View) {
        self.known.join(&from.known);
        self.proxied.join(&from.proxied);
        for (cluster, known) in &from.others {
            self.others.entry(*cluster).or_default().join(known);
        }
    }

    pub(super) fn clear(&mut self) {
        self.known.0.clear();
        self.proxied.0.clear();
        self.others.clear();
    }
}

/// What a warp knows.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    pub(super) now: u32,
    pub(super) view: View,
    /// The clock of this warp up to which its lanes' accesses come before every lane's next.
    synced: u32,
    /// The same lane by lane, `lanes[i][j]` of lane j for lane i; there after a synchronisation of some lanes.
    lanes: Option<Box<[[u32; WARP]; WARP]>>,
    /// What strong reads since the last fence have met, to be known after the next.
    pub(super) pending: View,
    /// What strong writes publish: what came before the last fence.
    pub(super) fenced: View,
}

impl Default for Clock {
    fn default() -> Self {
        Clock {
            now: 1,
            view: View::default(),
            synced: 0,
            lanes: None,
            pending: View::default(),
            fenced: View::default(),
        }
    }
}

impl Clock {
    /// Whether `stamp` comes before the next access of this warp's lane.
    #[inline]
    pub(super) fn after(&self, stamp: &Stamp, who: Who) -> bool {
        let (component, lane) = (stamp.thread / WARP as u32, stamp.thread % WARP as u32);
        if component != who.warp {
            return stamp.clock <= self.view.known.get(component as usize);
        }
        lane == who.lane
            || stamp.clock <= self.synced
            || self.lanes.as_ref().is_some_and(|rows| stamp.clock <= rows[who.lane as usize][lane as usize])
    }

    /// What this warp does next is later than what it has published.
    pub(super) fn advance(&mut self) {
        self.now = self.now.saturating_add(1);
    }

    /// Adds what this warp has done and knows.
    pub(super) fn publish(&mut self, warp: usize, to: &mut View) {
        to.join(&self.view);
        to.known.raise(warp, self.now);
        self.advance();
    }

    /// These lanes of a warp learn what was published.
    pub(super) fn learn(&mut self, warp: usize, mask: u32, live: u32, from: &View) {
        self.view.join(from);
        let own = from.known.get(warp);
        if own <= self.synced {
            return;
        }
        if mask & live == live {
            self.synced = own;
            return;
        }
        let rows = self.lanes.get_or_insert_with(|| Box::new([[0; WARP]; WARP]));
        for (_, row) in rows.iter_mut().enumerate().filter(|(lane, _)| mask >> lane & 1 == 1) {
            row.iter_mut().for_each(|to| *to = own.max(*to));
        }
    }
}

impl Shadow {
    /// A warp arrives at a barrier of its block; with `sync` its lanes wait there.
    pub(crate) fn arrive(&mut self, warp: usize, barrier: usize, sync: bool) {
        let clock = &mut self.clocks[warp];
        if sync {
            clock.synced = clock.now;
        }
        clock.publish(warp, &mut self.barriers[barrier]);
    }

    /// A barrier completes for the waiting ones of the warps from `first` on.
    pub(crate) fn complete(&mut self, barrier: usize, first: usize, waiting: u32) {
        let mut from = std::mem::take(&mut self.barriers[barrier]);
        for (i, clock) in self.clocks[first..].iter_mut().take(32).enumerate() {
            if waiting >> i & 1 == 1 {
                clock.view.join(&from);
            }
        }
        from.clear();
        self.barriers[barrier] = from;
    }

    /// `bar.warp.sync` of these lanes.
    pub(crate) fn sync_lanes(&mut self, warp: usize, mask: u32, live: u32) {
        let clock = &mut self.clocks[warp];
        if mask & live == live {
            clock.synced = clock.now;
        } else {
            let rows = clock.lanes.get_or_insert_with(|| Box::new([[0; WARP]; WARP]));
            let mut joined = [0; WARP];
            for i in (0..WARP).filter(|i| mask >> i & 1 == 1) {
                joined.iter_mut().zip(&rows[i]).for_each(|(to, &from)| *to = from.max(*to));
                joined[i] = clock.now;
            }
            for i in (0..WARP).filter(|i| mask >> i & 1 == 1) {
                rows[i] = joined;
            }
        }
        clock.advance();
    }

    /// Lanes of a warp arrive at the cluster's barrier; a relaxed arrival publishes what came before the last fence.
    pub(crate) fn arrive_cluster(&mut self, warp: usize, release: bool) {
        let clock = &mut self.clocks[warp];
        if release {
            clock.publish(warp, &mut self.cluster.0);
        } else {
            self.cluster.0.join(&clock.fenced);
        }
    }

    /// All threads of the cluster have arrived.
    pub(crate) fn complete_cluster(&mut self) {
        let (arrived, complete) = &mut self.cluster;
        complete.clear();
        std::mem::swap(arrived, complete);
    }

    /// Lanes of a warp have waited for the cluster's barrier.
    pub(crate) fn wait_cluster(&mut self, warp: usize, mask: u32, live: u32, acquire: bool) {
        self.clocks[warp].observe(warp, mask, live, &self.cluster.1, acquire);
    }

    /// `fence.proxy.async`: the async proxy sees what comes before.
    pub(crate) fn fence_proxy(&mut self, warp: usize) {
        let Clock { view, now, .. } = &mut self.clocks[warp];
        view.proxied.join(&view.known);
        view.proxied.raise(warp, *now);
        self.clocks[warp].advance();
    }
}

impl Clock {
    /// Lanes meet what was published: an acquire learns it now, a relaxed read with the next fence.
    pub(super) fn observe(&mut self, warp: usize, mask: u32, live: u32, from: &View, acquire: bool) {
        if acquire {
            self.learn(warp, mask, live, from);
        } else {
            self.pending.join(from);
        }
    }
}
