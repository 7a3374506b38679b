//! Vector clocks: what happens before a thread's next access.
//!
//! The clocks have a component for every warp of the cluster, whose value advances when lanes of the warp hand their
//! past to others, and one for every mbarrier, whose value is the number of completed phases. What a thread knows of a
//! warp may differ from lane to lane of that warp, and the lanes of the thread's own warp may know different things:
//! happens-before is between threads, not between warps.

mod events;

use super::accesses::Accesses;
use super::known::{ALL, Frontier, Other, View, WINDOWS, Window};
use super::scope::{Domain, Pools, SCOPES, Scope};
use super::strands::Strands;
use super::{Stamp, Who};
use crate::lanes::WARP;

/// How a thread's fences of one scope and its strong accesses work together (PTX ISA, "Release and Acquire Patterns").
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Fenced {
    /// What strong reads without acquire have read of releases that include this scope's threads. It becomes known at
    /// the thread's next fence of at least this scope, which completes the acquire pattern.
    pending: View,
    /// What the thread knew at its last fence of this scope. Strong writes after the fence publish it, as the fence
    /// began a release pattern.
    view: View,
    /// The thread's own clock at that fence: strong writes publish the thread's own accesses up to it. 0 where there
    /// was none.
    clock: u32,
    /// The value of [`Clock::proxied`] at that fence, which strong writes publish too.
    proxied: [u32; WINDOWS],
}

/// The vector clocks of a warp's lanes: what each lane knows, and the clock of its next access.
#[derive(Clone, Debug, Default)]
pub(super) struct Clock {
    /// The warp's component.
    warp: u32,
    /// Lanes that the block does not have. They are made to do what any other lane does, so that `ALL` lanes can stay
    /// alike.
    absent: u32,
    /// The clock of the next access of the lanes that are not in `later`.
    now: u32,
    /// Lanes that have released their accesses up to the clock `now`: their next access has the clock `now + 1`.
    later: u32,
    views: Strands<View>,
    /// The clock of each lane's last `fence.proxy.async` of each window: the async proxy sees what the lane itself did
    /// up to it.
    proxied: Strands<[u32; WINDOWS]>,
    /// The effects of fences on strong accesses, by the scope of the fence.
    fenced: Strands<[Fenced; SCOPES.len()]>,
    /// The clock of each lane's last `.sc` fence of each scope.
    sequenced: Strands<[u32; SCOPES.len()]>,
    /// The domains of global memory that the warp's threads are in.
    domains: Vec<Domain>,
    cluster: u32,
}

impl Clock {
    /// The clock of a warp with this number of lanes, in this cluster, before its first access.
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

    /// Whether all lanes of the warp have the same view, and the next accesses of these lanes have the same clock.
    pub(super) fn are_alike(&self, lanes: u32) -> bool {
        self.views.one().is_some() && matches!(self.later & lanes, later if later == 0 || later == lanes)
    }

    /// The view of all lanes, if they have the same.
    #[inline]
    pub(super) fn one_view(&self) -> Option<&View> {
        self.views.one()
    }

    /// What a thread knows of others.
    #[inline]
    pub(super) fn view(&self, who: Who) -> &View {
        self.views.get(who.lane)
    }

    /// Whether `stamp` comes before an operation that these lanes issue as one: an access of one of them, or known to
    /// one.
    pub(super) fn after_any(&self, stamp: &Stamp, lanes: u32) -> bool {
        let own = stamp.thread / WARP as u32 == self.warp && lanes >> (stamp.thread % WARP as u32) & 1 == 1;
        own || self.views.of(lanes).any(|(_, view)| view.known.has(stamp))
    }

    /// Whether the async proxy sees a write of the generic proxy that a lane of these has made or knows of, by fences
    /// of one of these windows.
    pub(super) fn sees_any(&self, stamp: &Stamp, lanes: u32, windows: &[Window]) -> bool {
        let (warp, lane) = (stamp.thread / WARP as u32, stamp.thread % WARP as u32);
        windows.iter().map(|&window| window as usize).any(|window| {
            let own = warp == self.warp && lanes >> lane & 1 == 1;
            own && stamp.clock <= self.proxied.get(lane)[window]
                || self.views.of(lanes).any(|(_, view)| view.proxied[window].has(stamp))
        })
    }

    /// What a lane knows of the accesses of another cluster.
    pub(super) fn other(&self, lane: u32, cluster: u32) -> Option<&Other> {
        self.views.get(lane).others.get(&cluster)
    }

    /// Returns a clock that covers everything that these lanes have done; what they do next has a later clock.
    fn tick(&mut self, lanes: u32) -> u32 {
        if self.later & lanes != 0 {
            self.now = self.now.saturating_add(1);
            self.later = 0;
        }
        self.later |= lanes;
        self.now
    }

    /// What these lanes have done and know, joined into one view to be released.
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

    /// Adds the accesses that these lanes made before their last `.sc` fences, in each domain that a fence's scope
    /// includes.
    fn raise_sequence(&self, lanes: u32, clocks: &[u32; SCOPES.len()], to: &mut Pools) {
        let own = |scope: Scope| clocks[scope as usize..].iter().copied().max().unwrap_or(0);
        for &domain in self.domains.iter().filter(|domain| own(domain.scope) != 0) {
            let mut view = View::of(self.cluster);
            view.known.raise(self.warp, lanes, own(domain.scope));
            to.of(domain).join(&view);
        }
    }

    /// Adds to `to`, for each domain, what a strong write of these lanes publishes: all that they have done and know
    /// where the scope of the release includes the domain, and otherwise what came before their last fences of a
    /// sufficient scope.
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

    /// Whether all lanes have the same view and none has executed a proxy fence or an `.sc` fence, so that the view and
    /// the warp's clock together say everything.
    fn are_one(&self) -> bool {
        let none =
            self.proxied.one() == Some(&[0; WINDOWS]) && self.sequenced.one() == Some(&[0; SCOPES.len()]);
        none && self.views.one().is_some()
    }

    /// Adds what these lanes have done and know, for the threads that wait at a barrier.
    fn hand_over(&mut self, lanes: u32, to: &mut View) {
        if lanes == ALL && self.are_one() {
            let clock = self.tick(lanes);
            self.views.one().into_iter().for_each(|view| to.join(view));
            return to.known.raise(self.warp, lanes, clock);
        }
        let all = self.all(lanes | self.absent);
        to.join(&all);
    }

    /// Adds something to what these lanes know.
    pub(super) fn learn(&mut self, lanes: u32, from: &View) {
        let lanes = lanes | self.absent;
        if !from.is_empty() {
            self.views.change(lanes, |view| view.join(from));
        }
    }

    /// These lanes read what was released to each domain. Where the scope of an acquire includes the domain, the lanes
    /// know it now; otherwise after their next fence of at least the domain's scope.
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

    /// Orders what these lanes did and know before what each of them does next.
    fn sync(&mut self, lanes: u32) {
        let lanes = lanes | self.absent;
        if lanes == ALL && self.are_one() {
            let (clock, warp) = (self.tick(lanes), self.warp);
            return self.views.change(lanes, |view| view.known.raise(warp, lanes, clock));
        }
        let all = self.all(lanes);
        self.views.change(lanes, |view| view.join(&all));
    }

    /// A fence: what strong reads of these lanes have read of releases in the scope becomes known, and strong writes of
    /// these lanes publish what comes before the fence.
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

    /// The additional effect of `fence.sc`. It comes after the `.sc` fences whose effects a strong read has met
    /// (Fence-SC order), so that the lanes know what came before those, and it comes before the `.sc` fences that will
    /// meet it.
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

    /// Adds what comes before the `.sc` fences that come before a strong write of a lane.
    pub(super) fn sequence(&self, lane: u32, to: &mut Pools) {
        if let Some(sequence) = &self.views.get(lane).sequence {
            to.join(&sequence.before);
        }
        let clocks = self.sequenced.get(lane);
        if *clocks != [0; SCOPES.len()] {
            self.raise_sequence(1 << lane, clocks, to);
        }
    }

    /// A lane reads a value whose write came after `.sc` fences. What came before the fences becomes known at the next
    /// `.sc` fence.
    pub(super) fn meet(&mut self, lane: u32, before: &Pools) {
        if !before.is_empty() {
            self.views.change(1 << lane, |view| view.sequence.get_or_insert_default().met.join(before));
        }
    }

    /// These lanes know something after their next fence of any scope.
    pub(super) fn learn_later(&mut self, lanes: u32, from: &View) {
        self.fenced.change(lanes | self.absent, |fenced| fenced[0].pending.join(from));
    }

    /// `fence.proxy.tensormap::generic.release`: releases what these lanes did and know to those who acquire tensor
    /// maps.
    pub(super) fn release_maps(&mut self, lanes: u32, scope: Scope) {
        let (warp, lanes) = (self.warp, lanes | self.absent);
        let clock = self.tick(lanes);
        self.views.change(lanes, |view| view.release_maps(scope, (warp, lanes, clock)));
    }

    /// `fence.proxy.async`: the async proxy sees the accesses that these lanes did and know, in these windows.
    fn fence_proxy(&mut self, lanes: u32, windows: &[Window]) {
        let lanes = lanes | self.absent;
        self.views.change(lanes, |view| view.fence_proxy(windows));
        let clock = self.tick(lanes);
        self.proxied
            .change(lanes, |proxied| windows.iter().for_each(|&window| proxied[window as usize] = clock));
    }
}

/// What happens before a thread's next access, or before the next access of each of several lanes that know the same.
#[derive(Clone, Copy)]
pub(super) struct Past<'a> {
    view: &'a View,
    known: Frontier<'a>,
    /// The thread; `u32::MAX` where it is several lanes.
    thread: u32,
    /// The warp and the lanes whose past it is.
    own: (u32, u32),
}

impl<'a> Past<'a> {
    /// The past of each of these lanes of `who`'s warp, all of which have the view `view`.
    #[inline]
    pub(super) fn of(view: &'a View, who: Who, lanes: u32) -> Past<'a> {
        let thread = if lanes.is_power_of_two() { who.thread() } else { u32::MAX };
        Past { view, known: view.known.frontier(), thread, own: (who.warp, lanes) }
    }

    #[inline]
    pub(super) fn has(&self, stamp: &Stamp) -> bool {
        self.known.has(stamp) || stamp.thread == self.thread
    }

    /// Whether an access of another cluster comes before.
    #[inline]
    pub(super) fn has_of(&self, cluster: u32, stamp: &Stamp) -> bool {
        stamp.clock == 0 || self.view.others.get(&cluster).is_some_and(|other| other.known.has(stamp))
    }

    /// The lanes of `of` whose accesses do not come before. An access of one of the lanes whose past this is counts as
    /// coming before all of them, since they make their next access as one.
    #[inline]
    pub(super) fn missing(&self, of: &Accesses) -> u32 {
        let own = if of.warp == self.own.0 { self.own.1 } else { 0 };
        self.known.missing(of) & !own
    }
}

/// The number in `Shadow::phases` whose first phase stands for the start of all blocks of the cluster.
pub(super) const STARTED: usize = 0;
