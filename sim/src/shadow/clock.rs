//! Vector clocks: what comes before a thread's next access.
//!
//! A clock has a component for every warp of the cluster, which counts the warp's synchronisations, and one for every
//! mbarrier, which counts its phases. What a thread knows of a warp may differ from lane to lane, and what the lanes of
//! a warp know may differ too: each edge is one of threads.

use super::accesses::Accesses;
use super::known::{ALL, Known, View};
use super::strands::Strands;
use super::{Shadow, Stamp, Who};
use crate::exec::lanes;
use crate::lanes::WARP;

/// What a thread's strong accesses and fences have made of each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Fenced {
    /// What strong reads since the last fence have met, to be known after the next.
    pending: View,
    /// What came before the last fence, which strong writes publish.
    view: View,
    /// The clock of the last fence, up to which they publish what the thread did itself.
    clock: u32,
    /// The same of what the async proxy sees.
    proxied: u32,
}

/// What the lanes of a warp know.
#[derive(Clone, Debug, Default)]
pub(super) struct Clock {
    /// The warp's component.
    warp: u32,
    /// Lanes that the block does not have; nothing is lost if they do what others do.
    absent: u32,
    now: u32,
    /// Lanes that have handed on what they did up to `now`: what they do next is later.
    later: u32,
    views: Strands<View>,
    /// The clock of each lane's last proxy fence, up to which the async proxy sees what the lane did itself.
    proxied: Strands<u32>,
    fenced: Strands<Fenced>,
}

impl Clock {
    /// The clock of a warp with so many lanes that has done nothing.
    pub(super) fn new(warp: usize, lanes: usize) -> Self {
        let absent = ALL.checked_shl(lanes as u32).unwrap_or(0);
        Clock { warp: warp as u32, absent, now: 1, ..Clock::default() }
    }

    /// The clock of a lane's next access.
    #[inline]
    pub(super) fn next(&self, lane: u32) -> u32 {
        self.now.saturating_add(self.later >> lane & 1)
    }

    /// What comes before the next access of a thread of this warp.
    #[inline]
    pub(super) fn past(&self, who: Who) -> Past<'_> {
        Past { known: &self.views.get(who.lane).known, thread: who.thread() }
    }

    /// The lanes whose accesses, of these, do not come before what these lanes do as one.
    pub(super) fn unordered_any(&self, of: &Accesses, lanes: u32) -> u32 {
        let own = if of.warp == self.warp { lanes } else { 0 };
        self.views.of(lanes).fold(of.lanes & !own, |rest, (_, view)| rest & view.known.missing(of))
    }

    /// Whether `stamp` comes before what these lanes do as one.
    pub(super) fn after_any(&self, stamp: &Stamp, lanes: u32) -> bool {
        let own = stamp.thread / WARP as u32 == self.warp && lanes >> (stamp.thread % WARP as u32) & 1 == 1;
        own || self.views.of(lanes).any(|(_, view)| view.known.has(stamp))
    }

    /// Whether the async proxy of one of these lanes sees a write of the generic proxy.
    pub(super) fn sees_any(&self, stamp: &Stamp, lanes: u32) -> bool {
        let own = |lane| lanes >> lane & 1 == 1 && stamp.clock <= *self.proxied.get(lane);
        stamp.thread / WARP as u32 == self.warp && own(stamp.thread % WARP as u32)
            || self.views.of(lanes).any(|(_, view)| view.proxied.has(stamp))
    }

    /// What a lane knows of another cluster.
    pub(super) fn other(&self, lane: u32, cluster: u32) -> Option<&Known> {
        self.views.get(lane).others.get(&cluster)
    }

    /// The clock that has what these lanes have done: what they do next is later.
    fn tick(&mut self, lanes: u32) -> u32 {
        if self.later & lanes != 0 {
            self.now = self.now.saturating_add(1);
            self.later = 0;
        }
        self.later |= lanes;
        self.now
    }

    /// Adds what these lanes have done and know, or with a relaxed access what came before their last fences.
    pub(super) fn publish(&mut self, lanes: u32, release: bool, to: &mut View) {
        let (lanes, warp) = (lanes | self.absent, self.warp);
        if !release {
            for (lanes, fenced) in self.fenced.of(lanes) {
                to.join(&fenced.view);
                to.known.raise(warp, lanes, fenced.clock);
                to.proxied.raise(warp, lanes, fenced.proxied);
            }
            return;
        }
        self.views.of(lanes).for_each(|(_, view)| to.join(view));
        self.proxied.of(lanes).for_each(|(lanes, &clock)| to.proxied.raise(warp, lanes, clock));
        let clock = self.tick(lanes);
        to.known.raise(warp, lanes, clock);
    }

    /// These lanes meet what was published: an acquire knows it now, a relaxed read after the next fence.
    pub(super) fn observe(&mut self, lanes: u32, acquire: bool, from: &View) {
        let lanes = lanes | self.absent;
        if from.is_empty() {
            return;
        }
        if acquire {
            self.views.change(lanes, |view| view.join(from));
        } else {
            self.fenced.change(lanes, |fenced| fenced.pending.join(from));
        }
    }

    /// What these lanes did and know comes before what they do next.
    fn sync(&mut self, lanes: u32) {
        let (lanes, warp) = (lanes | self.absent, self.warp);
        let mut all = View::default();
        if self.views.len() > 1 {
            self.views.of(lanes).for_each(|(_, view)| all.join(view));
        }
        let clock = self.tick(lanes);
        self.views.change(lanes, |view| {
            view.join(&all);
            view.known.raise(warp, lanes, clock);
            self.proxied.of(lanes).for_each(|(lanes, &clock)| view.proxied.raise(warp, lanes, clock));
        });
    }

    /// What strong reads of these lanes have met is known now, and their strong writes publish what comes before.
    fn fence(&mut self, lanes: u32) {
        let lanes = lanes | self.absent;
        for (lanes, fenced) in self.fenced.of(lanes).filter(|(_, fenced)| !fenced.pending.is_empty()) {
            self.views.change(lanes, |view| view.join(&fenced.pending));
        }
        let clock = self.tick(lanes);
        for (lanes, view) in self.views.of(lanes) {
            self.fenced.change(lanes, |fenced| {
                fenced.pending.clear();
                fenced.view.join(view);
                fenced.clock = clock;
            });
        }
        for (lanes, &proxied) in self.proxied.of(lanes).filter(|(_, proxied)| **proxied != 0) {
            self.fenced.change(lanes, |fenced| fenced.proxied = proxied);
        }
    }

    /// The async proxy sees what comes before in these lanes.
    fn fence_proxy(&mut self, lanes: u32) {
        let lanes = lanes | self.absent;
        self.views.change(lanes, |view| view.proxied.join(&view.known));
        let clock = self.tick(lanes);
        self.proxied.change(lanes, |proxied| *proxied = clock);
    }
}

/// What comes before a thread's next access.
#[derive(Clone, Copy)]
pub(super) struct Past<'a> {
    known: &'a Known,
    thread: u32,
}

impl Past<'_> {
    #[inline]
    pub(super) fn has(&self, stamp: &Stamp) -> bool {
        self.known.has(stamp) || stamp.thread == self.thread
    }

    /// The lanes whose accesses, of these, it does not have.
    #[inline]
    pub(super) fn missing(&self, of: &Accesses) -> u32 {
        let own = u32::from(of.warp == self.thread / WARP as u32) << (self.thread % WARP as u32);
        self.known.missing(of) & !own
    }
}

impl Shadow {
    /// A warp arrives at a barrier of its block; with `sync` its lanes wait there.
    pub(crate) fn arrive(&mut self, warp: usize, barrier: usize, sync: bool) {
        let clock = &mut self.clocks[warp];
        if sync {
            clock.sync(ALL);
        }
        clock.publish(ALL, true, &mut self.barriers[barrier]);
    }

    /// A barrier completes for the waiting ones of the warps from `first` on.
    pub(crate) fn complete(&mut self, barrier: usize, first: usize, waiting: u32) {
        let mut from = std::mem::take(&mut self.barriers[barrier]);
        lanes(waiting).for_each(|i| self.clocks[first + i].observe(ALL, true, &from));
        from.clear();
        self.barriers[barrier] = from;
    }

    /// `bar.warp.sync` of these lanes.
    pub(crate) fn sync_lanes(&mut self, warp: usize, lanes: u32) {
        self.clocks[warp].sync(lanes);
    }

    /// Lanes of a warp arrive at the cluster's barrier; a relaxed arrival publishes what came before the last fence.
    pub(crate) fn arrive_cluster(&mut self, warp: usize, lanes: u32, release: bool) {
        self.clocks[warp].publish(lanes, release, &mut self.cluster.0);
    }

    /// All threads of the cluster have arrived.
    pub(crate) fn complete_cluster(&mut self) {
        let (arrived, complete) = &mut self.cluster;
        complete.clear();
        std::mem::swap(arrived, complete);
    }

    /// Lanes of a warp have waited for the cluster's barrier.
    pub(crate) fn wait_cluster(&mut self, warp: usize, lanes: u32, acquire: bool) {
        self.clocks[warp].observe(lanes, acquire, &self.cluster.1);
    }

    /// `fence`, `membar` of these lanes.
    pub(crate) fn fence(&mut self, warp: usize, lanes: u32) {
        self.clocks[warp].fence(lanes);
    }

    /// `fence.proxy.async` of these lanes.
    pub(crate) fn fence_proxy(&mut self, warp: usize, lanes: u32) {
        self.clocks[warp].fence_proxy(lanes);
    }
}
