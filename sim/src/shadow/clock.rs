//! Vector clocks: what comes before a thread's next access.
//!
//! A clock has a component for every warp of the cluster, which counts the warp's synchronisations, and one for every
//! mbarrier, which counts its phases. What a thread knows of a warp may differ from lane to lane, and what the lanes of
//! a warp know may differ too: each edge is one of threads.

use super::accesses::Accesses;
use super::known::{ALL, Frontier, Other, View, WINDOWS, Window};
use super::scope::{Domain, Home, Pools, SCOPES, Scope};
use super::strands::Strands;
use super::{Shadow, Stamp, Who};
use crate::exec::lanes;
use crate::lanes::WARP;

/// What a thread's strong accesses and fences of a scope have made of each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Fenced {
    /// What strong reads since the last fence of at least this scope have met of those that it holds, to be known after
    /// the next.
    pending: View,
    /// What came before the last fence of this scope, which strong writes publish.
    view: View,
    /// The clock of the last fence, up to which they publish what the thread did itself.
    clock: u32,
    /// The same of what the async proxy sees.
    proxied: [u32; WINDOWS],
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
    /// The clock of each lane's last proxy fence of each window, up to which the async proxy sees what the lane did itself.
    proxied: Strands<[u32; WINDOWS]>,
    /// By the scope of the fences.
    fenced: Strands<[Fenced; SCOPES.len()]>,
    /// The clock of each lane's last `.sc` fence of each scope.
    sequenced: Strands<[u32; SCOPES.len()]>,
    /// The domains of global memory that its threads are in.
    domains: Vec<Domain>,
    cluster: u32,
}

impl Clock {
    /// The clock of a warp of this cluster with so many lanes that has done nothing.
    pub(super) fn new(cluster: u32, warp: usize, lanes: usize, domains: Vec<Domain>) -> Self {
        let absent = ALL.checked_shl(lanes as u32).unwrap_or(0);
        let mut clock = Clock { warp: warp as u32, absent, now: 1, domains, cluster, ..Clock::default() };
        clock.views.change(ALL, |view| *view = View::of(cluster));
        clock
    }

    /// The clock of a lane's next access.
    #[inline]
    pub(super) fn next(&self, lane: u32) -> u32 {
        self.now.saturating_add(self.later >> lane & 1)
    }

    /// What comes before the next access of a thread of this warp.
    #[inline]
    pub(super) fn past(&self, who: Who) -> Past<'_> {
        Past::of(self.views.get(who.lane), who, 1 << who.lane)
    }

    /// Whether these lanes know the same, and their next accesses have one clock.
    pub(super) fn are_alike(&self, lanes: u32) -> bool {
        self.views.one().is_some() && matches!(self.later & lanes, later if later == 0 || later == lanes)
    }

    /// What all lanes know, if they know the same.
    #[inline]
    pub(super) fn one_view(&self) -> Option<&View> {
        self.views.one()
    }

    /// What is known of a thread's past.
    #[inline]
    pub(super) fn view(&self, who: Who) -> &View {
        self.views.get(who.lane)
    }

    /// Whether `stamp` comes before what these lanes do as one.
    pub(super) fn after_any(&self, stamp: &Stamp, lanes: u32) -> bool {
        let own = stamp.thread / WARP as u32 == self.warp && lanes >> (stamp.thread % WARP as u32) & 1 == 1;
        own || self.views.of(lanes).any(|(_, view)| view.known.has(stamp))
    }

    /// Whether the async proxy of one of these lanes sees a write of the generic proxy, by fences of these windows.
    pub(super) fn sees_any(&self, stamp: &Stamp, lanes: u32, windows: &[Window]) -> bool {
        let (warp, lane) = (stamp.thread / WARP as u32, stamp.thread % WARP as u32);
        windows.iter().map(|&window| window as usize).any(|window| {
            let own = warp == self.warp && lanes >> lane & 1 == 1;
            own && stamp.clock <= self.proxied.get(lane)[window]
                || self.views.of(lanes).any(|(_, view)| view.proxied[window].has(stamp))
        })
    }

    /// What a lane knows of another cluster.
    pub(super) fn other(&self, lane: u32, cluster: u32) -> Option<&Other> {
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

    /// What these lanes have done and know, as one.
    fn all(&mut self, lanes: u32) -> View {
        let warp = self.warp;
        let mut all = View::default();
        self.views.of(lanes).for_each(|(_, view)| all.join(view));
        for (lanes, clocks) in self.proxied.of(lanes) {
            for (to, &clock) in all.proxied.iter_mut().zip(clocks) {
                to.raise(warp, lanes, clock);
            }
        }
        for (lanes, clocks) in self.sequenced.of(lanes).filter(|(_, clocks)| **clocks != [0; SCOPES.len()]) {
            self.raise_sequence(lanes, clocks, &mut all.sequence.get_or_insert_default().before);
        }
        let clock = self.tick(lanes);
        all.known.raise(warp, lanes, clock);
        all
    }

    /// Adds what these lanes themselves did before their last `.sc` fences.
    fn raise_sequence(&self, lanes: u32, clocks: &[u32; SCOPES.len()], to: &mut Pools) {
        let own = |scope: Scope| clocks[scope as usize..].iter().copied().max().unwrap_or(0);
        for &domain in self.domains.iter().filter(|domain| own(domain.scope) != 0) {
            let mut view = View::of(self.cluster);
            view.known.raise(self.warp, lanes, own(domain.scope));
            to.of(domain).join(&view);
        }
    }

    /// Adds what these lanes have done and know, or without a release of its scope what came before their last fences of
    /// that.
    pub(super) fn publish(
        &mut self,
        lanes: u32,
        release: Option<Scope>,
        to: &mut Pools,
        domains: impl Iterator<Item = Domain>,
    ) {
        let fenced = |fenced: &[Fenced; SCOPES.len()]| fenced.iter().any(|fenced| fenced.clock != 0);
        if release.is_none() && self.fenced.one().is_some_and(|one| !fenced(one)) {
            return;
        }
        let (lanes, warp) = (lanes | self.absent, self.warp);
        let all = release.map(|_| self.all(lanes));
        for domain in domains {
            if let Some(all) = all.as_ref().filter(|_| release >= Some(domain.scope)) {
                to.of(domain).join(all);
                continue;
            }
            for (lanes, fenced) in self.fenced.of(lanes) {
                for fenced in fenced[domain.scope as usize..].iter().filter(|fenced| fenced.clock != 0) {
                    let mut part = View::of(self.cluster);
                    part.join(&fenced.view);
                    part.known.raise(warp, lanes, fenced.clock);
                    for (to, &clock) in part.proxied.iter_mut().zip(&fenced.proxied) {
                        to.raise(warp, lanes, clock);
                    }
                    to.of(domain).join(&part);
                }
            }
        }
    }

    /// Whether all lanes know the same, and what they did was ordered by no fence that not all is.
    fn are_one(&self) -> bool {
        let none =
            self.proxied.one() == Some(&[0; WINDOWS]) && self.sequenced.one() == Some(&[0; SCOPES.len()]);
        none && self.views.one().is_some()
    }

    /// Adds what these lanes have done and know, for whoever waits at a barrier.
    fn hand_over(&mut self, lanes: u32, to: &mut View) {
        if lanes == ALL && self.are_one() {
            let clock = self.tick(lanes);
            self.views.one().into_iter().for_each(|view| to.join(view));
            return to.known.raise(self.warp, lanes, clock);
        }
        let all = self.all(lanes | self.absent);
        to.join(&all);
    }

    /// These lanes know something.
    pub(super) fn learn(&mut self, lanes: u32, from: &View) {
        let lanes = lanes | self.absent;
        if !from.is_empty() {
            self.views.change(lanes, |view| view.join(from));
        }
    }

    /// These lanes meet what was published: an acquire of its scope knows it now, another read after the next fence.
    pub(super) fn observe(
        &mut self,
        lanes: u32,
        acquire: Option<Scope>,
        from: &Pools,
        domains: impl Iterator<Item = Domain>,
    ) {
        let lanes = lanes | self.absent;
        for domain in domains {
            let Some(from) = from.get(domain).filter(|from| !from.is_empty()) else { continue };
            if acquire >= Some(domain.scope) {
                self.views.change(lanes, |view| view.join(from));
            } else {
                self.fenced.change(lanes, |fenced| fenced[domain.scope as usize].pending.join(from));
            }
        }
    }

    /// What these lanes did and know comes before what they do next.
    fn sync(&mut self, lanes: u32) {
        let lanes = lanes | self.absent;
        if lanes == ALL && self.are_one() {
            let (clock, warp) = (self.tick(lanes), self.warp);
            return self.views.change(lanes, |view| view.known.raise(warp, lanes, clock));
        }
        let all = self.all(lanes);
        self.views.change(lanes, |view| view.join(&all));
    }

    /// What strong reads of these lanes have met of the scope is known now, and their strong writes publish what comes before.
    fn fence(&mut self, lanes: u32, scope: Scope) {
        let lanes = lanes | self.absent;
        let upto = scope as usize;
        for (lanes, fenced) in self.fenced.of(lanes) {
            for fenced in fenced[..=upto].iter().filter(|fenced| !fenced.pending.is_empty()) {
                self.views.change(lanes, |view| view.join(&fenced.pending));
            }
        }
        let clock = self.tick(lanes);
        for (lanes, view) in self.views.of(lanes) {
            self.fenced.change(lanes, |fenced| {
                fenced[..=upto].iter_mut().for_each(|fenced| fenced.pending.clear());
                fenced[upto].view.join(view);
                fenced[upto].clock = clock;
            });
        }
        for (lanes, &proxied) in self.proxied.of(lanes).filter(|(_, proxied)| **proxied != [0; WINDOWS]) {
            self.fenced.change(lanes, |fenced| fenced[upto].proxied = proxied);
        }
    }

    /// A `fence.sc`: after those that must come before it in Fence-SC order, before those that must come after.
    fn fence_in_sequence(&mut self, lanes: u32, scope: Scope) {
        let lanes = lanes | self.absent;
        let clock = self.tick(lanes);
        let domains: Vec<Domain> =
            self.domains.iter().copied().filter(|domain| domain.scope <= scope).collect();
        self.views.change(lanes, |view| {
            let mut sequence = view.sequence.take().unwrap_or_default();
            for met in domains.iter().filter_map(|&domain| sequence.met.get(domain)) {
                view.join(met);
            }
            domains.iter().for_each(|&domain| sequence.before.of(domain).join(view));
            view.sequence = Some(sequence);
        });
        self.sequenced.change(lanes, |clocks| clocks[scope as usize] = clock);
    }

    /// What came before `.sc` fences that come before a strong write of a lane.
    pub(super) fn sequence(&self, lane: u32, to: &mut Pools) {
        if let Some(sequence) = &self.views.get(lane).sequence {
            to.join(&sequence.before);
        }
        let clocks = self.sequenced.get(lane);
        if *clocks != [0; SCOPES.len()] {
            self.raise_sequence(1 << lane, clocks, to);
        }
    }

    /// A lane reads a value that came after `.sc` fences.
    pub(super) fn meet(&mut self, lane: u32, before: &Pools) {
        if !before.is_empty() {
            self.views.change(1 << lane, |view| view.sequence.get_or_insert_default().met.join(before));
        }
    }

    /// These lanes know something after their next fence, whatever its scope.
    pub(super) fn learn_later(&mut self, lanes: u32, from: &View) {
        self.fenced.change(lanes | self.absent, |fenced| fenced[0].pending.join(from));
    }

    /// What these lanes did and know is released to those who read tensor maps.
    pub(super) fn release_maps(&mut self, lanes: u32, scope: Scope) {
        let (warp, lanes) = (self.warp, lanes | self.absent);
        let clock = self.tick(lanes);
        self.views.change(lanes, |view| view.release_maps(scope, (warp, lanes, clock)));
    }

    /// The async proxy sees what comes before in these lanes.
    fn fence_proxy(&mut self, lanes: u32, windows: &[Window]) {
        let lanes = lanes | self.absent;
        self.views.change(lanes, |view| view.fence_proxy(windows));
        let clock = self.tick(lanes);
        self.proxied
            .change(lanes, |proxied| windows.iter().for_each(|&window| proxied[window as usize] = clock));
    }
}

/// What comes before a thread's next access.
#[derive(Clone, Copy)]
pub(super) struct Past<'a> {
    view: &'a View,
    known: Frontier<'a>,
    /// The thread, if it is one.
    thread: u32,
    /// The warp and the lanes.
    own: (u32, u32),
}

impl<'a> Past<'a> {
    /// The past of each of these lanes, which know `view` and of which `who` is the first.
    #[inline]
    pub(super) fn of(view: &'a View, who: Who, lanes: u32) -> Past<'a> {
        let thread = if lanes.is_power_of_two() { who.thread() } else { u32::MAX };
        Past { view, known: view.known.frontier(), thread, own: (who.warp, lanes) }
    }

    #[inline]
    pub(super) fn has(&self, stamp: &Stamp) -> bool {
        self.known.has(stamp) || stamp.thread == self.thread
    }

    /// The same of a thread of another cluster.
    #[inline]
    pub(super) fn has_of(&self, cluster: u32, stamp: &Stamp) -> bool {
        stamp.clock == 0 || self.view.others.get(&cluster).is_some_and(|other| other.known.has(stamp))
    }

    /// The lanes whose accesses, of these, come before none of those that it is the past of.
    #[inline]
    pub(super) fn missing(&self, of: &Accesses) -> u32 {
        let own = if of.warp == self.own.0 { self.own.1 } else { 0 };
        self.known.missing(of) & !own
    }
}

impl Shadow {
    /// The block that a thread of this cluster is in.
    pub(super) fn home(&self, thread: u32) -> Home {
        let per_block = (self.threads.div_ceil(WARP) * WARP) as u32;
        Home { cluster: self.cluster_number, rank: thread / per_block.max(1) }
    }

    pub(super) fn home_of(&self, warp: usize) -> Home {
        self.home((warp * WARP) as u32)
    }

    /// A warp arrives at a barrier of its block; with `sync` its lanes wait there.
    pub(crate) fn arrive(&mut self, warp: usize, barrier: usize, sync: bool) {
        let clock = &mut self.clocks[warp];
        if sync {
            clock.sync(ALL);
        }
        clock.hand_over(ALL, &mut self.barriers[barrier]);
    }

    /// A barrier completes for the waiting ones of the warps from `first` on.
    pub(crate) fn complete(&mut self, barrier: usize, first: usize, waiting: u32) {
        let mut from = std::mem::take(&mut self.barriers[barrier]);
        lanes(waiting).for_each(|i| self.clocks[first + i].learn(ALL, &from));
        from.clear();
        self.barriers[barrier] = from;
    }

    /// `bar.warp.sync` of these lanes.
    pub(crate) fn sync_lanes(&mut self, warp: usize, lanes: u32) {
        self.clocks[warp].sync(lanes);
    }

    /// Lanes of a warp arrive at the cluster's barrier; a relaxed arrival publishes what came before the last fence.
    pub(crate) fn arrive_cluster(&mut self, warp: usize, lanes: u32, release: bool) {
        let domains = self.domains.of(self.home_of(warp), false);
        let release = release.then_some(Scope::Cluster);
        self.clocks[warp].publish(lanes, release, &mut self.cluster.0, domains);
    }

    /// All threads of the cluster have arrived.
    pub(crate) fn complete_cluster(&mut self) {
        let (arrived, complete) = &mut self.cluster;
        complete.clear();
        std::mem::swap(arrived, complete);
    }

    /// Lanes of a warp have waited for the cluster's barrier: with or without an acquire, all its blocks are there.
    pub(crate) fn wait_cluster(&mut self, warp: usize, lanes: u32, acquire: bool) {
        let domains = self.domains.of(self.home_of(warp), false);
        let acquire = acquire.then_some(Scope::Cluster);
        self.clocks[warp].observe(lanes, acquire, &self.cluster.1, domains);
        self.know_phase(warp, lanes, STARTED, 1);
    }

    /// Whether a thread knows that a block of its cluster runs: it has waited for the cluster's barrier, or comes after
    /// something that has, or that a thread of that block did.
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

    /// `fence`, `membar` of these lanes.
    pub(crate) fn fence(&mut self, warp: usize, lanes: u32, scope: Scope, sequential: bool) {
        self.clocks[warp].fence(lanes, scope);
        if sequential {
            self.clocks[warp].fence_in_sequence(lanes, scope);
        }
    }

    /// `fence.proxy.async` of these lanes.
    pub(crate) fn fence_proxy(&mut self, warp: usize, lanes: u32, windows: &[Window]) {
        let all = [Window::Cluster, Window::Cta];
        // A cluster of one block has one window.
        let wide = !self.domains.clusters && windows.contains(&Window::Cta);
        self.clocks[warp].fence_proxy(lanes, if wide { &all } else { windows });
    }
}

/// The number of the mbarrier whose first phase stands for the cluster's blocks having started.
pub(super) const STARTED: usize = 0;
