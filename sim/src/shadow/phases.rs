//! mbarriers: the accesses that the arrivals of each phase release, and that threads acquire when they observe the phase complete.

use super::known::{ALL, View};
use super::scope::{Pools, Scope};
use super::{Finding, MBARRIER, Shadow, Stamp, Who};
use crate::Access;
use crate::lanes::WARP;

/// The order that an mbarrier, or a counter that works like one, establishes.
#[derive(Clone, Debug, Default)]
pub(super) struct Phases {
    /// The clocks that the arrivals so far have released. They are a chain of atomics, each of which continues the release sequence of those before,
    /// so nothing is dropped when a phase completes.
    arrived: Pools,
    /// The clocks that the arrivals up to the last completed phase have released.
    complete: Pools,
    /// The number of completed phases.
    phases: u32,
    /// The thread that initialised the mbarrier.
    /// Whether that thread has made the initialisation known to other proxies and blocks by `fence.mbarrier_init`.
    thread: u32,
    fenced: bool,
}

impl Shadow {
    /// `mbarrier.init`: checks and records the write, and returns the number of the new mbarrier, to which the bytes
    /// belong from now on.
    pub(crate) fn init_mbarrier(&mut self, who: Who, at: usize) -> (usize, Result<(), Finding>) {
        let after = self.follow((who.warp, 1 << who.lane), at, 8, true);
        let found = after.and(self.check_write(who, at, 8));
        self.record_write(self.stamp(who), at, 8);
        self.states[at..at + 8].fill(MBARRIER);
        self.phases.push(Phases { thread: who.thread(), ..Phases::default() });
        (self.phases.len() - 1, found)
    }

    /// `mbarrier.inval`: the bytes are ordinary memory again, and count as not written.
    pub(crate) fn inval_mbarrier(&mut self, who: Who, at: usize) {
        self.states[at..at + 8].fill(0);
        self.record_write(self.stamp(who), at, 8);
    }

    /// Makes a counter that orders asynchronous operations as an mbarrier's phases do, and returns its number.
    pub(crate) fn counter(&mut self) -> usize {
        self.phases.push(Phases::default());
        self.phases.len() - 1
    }

    /// Checks that a thread may use an mbarrier: the initialisation must come before. For a use by an asynchronous
    /// operation, the async proxy must see the initialisation too, by a fence.
    pub(crate) fn use_mbarrier(
        &self,
        who: Who,
        at: usize,
        mbarrier: usize,
        asynchronous: bool,
    ) -> Result<(), Finding> {
        if !self.races {
            return Ok(());
        }
        let past = self.clocks[who.warp as usize].past(who);
        for i in self.cells_of(at, 8) {
            let other = self.cells[i].write;
            if !past.has(&other) {
                return Err(Finding::race(i << self.granule, Access::Write, other));
            }
        }
        if asynchronous && !self.phases[mbarrier].fenced {
            return self.check_proxy(who.warp, 1 << who.lane, at, 8).map_err(|finding| match finding {
                Finding::Unfenced { other, .. } => Finding::MbarrierUnfenced { other },
                finding => finding,
            });
        }
        Ok(())
    }

    /// `fence.mbarrier_init`: the mbarriers that these threads have initialised are known to other proxies.
    pub(crate) fn fence_mbarriers(&mut self, warp: usize, lanes: u32) {
        let own = |thread: u32| thread as usize / WARP == warp && lanes >> (thread % WARP as u32) & 1 == 1;
        self.phases.iter_mut().filter(|p| own(p.thread)).for_each(|p| p.fenced = true);
    }

    /// A thread arrives. An arrival without a release publishes what came before the thread's last fence.
    pub(crate) fn arrive_mbarrier(&mut self, who: Who, mbarrier: usize, release: Option<Scope>) {
        let domains = self.domains.of(self.home(who.thread()), false);
        let arrived = &mut self.phases[mbarrier].arrived;
        self.clocks[who.warp as usize].publish(1 << who.lane, release, arrived, domains);
    }

    /// `cp.async.mbarrier.arrive` is issued: an operation that arrives later. Its arrival will publish what the thread
    /// has done until now, and that the thread's first `copies` copies by `cp.async` are over. Returns the operation's
    /// number.
    pub(crate) fn issue_arrival(&mut self, who: Who, copies: u32) -> u32 {
        let operation = self.operation(who, true);
        let component = self.counter_of(who.warp, false);
        let domains = |shadow: &Self| shadow.domains.of(shadow.home(who.thread()), false);
        let of = domains(self);
        let mut pools = Pools::default();
        self.clocks[who.warp as usize].publish(1 << who.lane, Some(Scope::Gpu), &mut pools, of);
        domains(self).for_each(|of| pools.of(of).known.raise(component, 1 << who.lane, copies));
        self.arrivals.insert(operation, pools);
        operation
    }

    /// The arrival that [`Shadow::issue_arrival`] announced takes place.
    pub(crate) fn arrive_copies(&mut self, operation: u32, mbarrier: usize) {
        if let Some(view) = self.arrivals.remove(&operation) {
            self.phases[mbarrier].arrived.join(&view);
        }
    }

    /// Sets the number of completed phases of an mbarrier, as one completes.
    pub(crate) fn complete_mbarrier(&mut self, mbarrier: usize, phases: u32) {
        let Phases { arrived, complete, phases: now, .. } = &mut self.phases[mbarrier];
        *now = phases;
        complete.join(arrived);
    }

    /// Lanes of a warp see that a phase is complete. That the asynchronous operations of the phase are over, its
    /// completion tells whatever the scope of the acquire; without an acquire, after the lanes' next fence.
    pub(crate) fn observe_mbarrier(
        &mut self,
        warp: usize,
        lanes: u32,
        mbarrier: usize,
        acquire: Option<Scope>,
    ) {
        let domains = self.domains.of(self.home_of(warp), false);
        let Phases { complete, phases, .. } = &self.phases[mbarrier];
        let (clock, phases) = (&mut self.clocks[warp], *phases);
        clock.observe(lanes, acquire, complete, domains);
        match acquire {
            Some(_) => self.know_phase(warp, lanes, mbarrier, phases),
            None => {
                let view = self.phase(mbarrier, phases);
                self.clocks[warp].learn_later(lanes, &view);
            }
        }
    }

    /// The view of a thread that knows this many phases of an mbarrier complete.
    fn phase(&self, mbarrier: usize, phase: u32) -> View {
        let mut view = View::of(self.cluster_number);
        view.known.raise((self.clocks.len() + mbarrier) as u32, ALL, phase);
        view
    }

    /// Lanes of a warp learn that this phase of an mbarrier is complete, or that a counter has reached this value.
    pub(crate) fn know_phase(&mut self, warp: usize, lanes: u32, mbarrier: usize, phase: u32) {
        let view = self.phase(mbarrier, phase);
        self.clocks[warp].learn(lanes, &view);
    }

    /// The component whose clocks count each lane's copies by `cp.async`, or each lane's bulk groups with `bulk`.
    pub(super) fn counter_of(&mut self, warp: u32, bulk: bool) -> u32 {
        let first = self.clocks.len();
        if let Some(&component) = self.counters.get(&(warp, bulk)) {
            return component;
        }
        let component = (first + self.counter()) as u32;
        self.counters.insert((warp, bulk), component);
        component
    }

    /// The stamp of an access that is over when an mbarrier, given by number, has completed this many phases.
    pub(crate) fn at_phase(&self, who: Who, (mbarrier, phase): (usize, u32)) -> Stamp {
        let component = self.clocks.len() + mbarrier;
        Stamp { clock: phase, source: who.source, thread: (component * WARP) as u32 }
    }

    /// The stamp of an access that is over when a thread's first `count` copies by `cp.async` are, or with `bulk` the
    /// thread's first `count` bulk groups.
    pub(crate) fn upto(&mut self, who: Who, bulk: bool, count: u32) -> Stamp {
        let component = self.counter_of(who.warp, bulk);
        Stamp { clock: count, source: who.source, thread: component * WARP as u32 + who.lane }
    }

    /// A thread has waited for its first `count` copies by `cp.async`, or with `bulk` for its first `count` bulk
    /// groups.
    pub(crate) fn know_count(&mut self, who: Who, bulk: bool, count: u32) {
        if count == 0 {
            return;
        }
        let component = self.counter_of(who.warp, bulk);
        let mut view = View::of(self.cluster_number);
        view.known.raise(component, 1 << who.lane, count);
        self.clocks[who.warp as usize].learn(1 << who.lane, &view);
    }
}
