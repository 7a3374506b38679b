//! mbarriers: what arrivals publish and waits learn, phase by phase.

use super::known::{ALL, View};
use super::{Finding, MBARRIER, Shadow, Who};
use crate::Access;
use crate::lanes::WARP;

/// What an mbarrier orders.
#[derive(Clone, Debug, Default)]
pub(super) struct Phases {
    /// Of the arrivals so far: they are a chain of atomics, each of which continues what those before released.
    arrived: View,
    /// Of the arrivals up to the last completed phase.
    complete: View,
    /// The thread that initialised it, and whether it has made that known to other proxies and blocks.
    thread: u32,
    fenced: bool,
}

impl Shadow {
    /// `mbarrier.init`: a write; the bytes belong to a new mbarrier, whose number this is.
    pub(crate) fn init_mbarrier(&mut self, who: Who, at: usize) -> (usize, Result<(), Finding>) {
        let found = self.check_write(who, at, 8);
        self.record_write(self.stamp(who), at, 8);
        self.states[at..at + 8].fill(MBARRIER);
        self.phases.push(Phases { thread: who.thread(), ..Phases::default() });
        (self.phases.len() - 1, found)
    }

    /// `mbarrier.inval`: the bytes are ordinary memory again, with nothing in it.
    pub(crate) fn inval_mbarrier(&mut self, who: Who, at: usize) {
        self.states[at..at + 8].fill(0);
        self.record_write(self.stamp(who), at, 8);
    }

    /// A counter that orders asynchronous operations like an mbarrier's phases; its number.
    pub(crate) fn counter(&mut self) -> usize {
        self.phases.push(Phases::default());
        self.phases.len() - 1
    }

    /// Whether a thread may use an mbarrier: its initialisation comes before. Asynchronous operations need a fence
    /// after the initialisation too.
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

    /// `fence.mbarrier_init`: what these threads have initialised is known to other proxies.
    pub(crate) fn fence_mbarriers(&mut self, warp: usize, lanes: u32) {
        let own = |thread: u32| thread as usize / WARP == warp && lanes >> (thread % WARP as u32) & 1 == 1;
        self.phases.iter_mut().filter(|p| own(p.thread)).for_each(|p| p.fenced = true);
    }

    /// An arrival; a relaxed one publishes what came before the last fence.
    pub(crate) fn arrive_mbarrier(&mut self, who: Who, mbarrier: usize, release: bool) {
        let arrived = &mut self.phases[mbarrier].arrived;
        self.clocks[who.warp as usize].publish(1 << who.lane, release, arrived);
    }

    /// `cp.async.mbarrier.arrive`: an operation, whose arrival publishes what its thread has done until now.
    pub(crate) fn issue_arrival(&mut self, who: Who) -> u32 {
        let operation = self.operation(who, true);
        let view = self.arrivals.entry(operation).or_default();
        self.clocks[who.warp as usize].publish(1 << who.lane, true, view);
        operation
    }

    /// The arrival of such an operation.
    pub(crate) fn arrive_copies(&mut self, operation: u32, mbarrier: usize) {
        if let Some(view) = self.arrivals.remove(&operation) {
            self.phases[mbarrier].arrived.join(&view);
        }
    }

    /// This many phases of an mbarrier are complete now.
    pub(crate) fn complete_mbarrier(&mut self, mbarrier: usize, phases: u32) {
        let component = (self.clocks.len() + mbarrier) as u32;
        let Phases { arrived, complete, .. } = &mut self.phases[mbarrier];
        arrived.known.raise(component, ALL, phases);
        complete.join(arrived);
    }

    /// Lanes of a warp see that a phase is complete.
    pub(crate) fn observe_mbarrier(&mut self, warp: usize, lanes: u32, mbarrier: usize, acquire: bool) {
        self.clocks[warp].observe(lanes, acquire, &self.phases[mbarrier].complete);
    }

    /// Lanes of a warp have waited for what this phase of an mbarrier, or this count of a counter, tells.
    pub(crate) fn know_phase(&mut self, warp: usize, lanes: u32, mbarrier: usize, phase: u32) {
        let mut view = View::default();
        view.known.raise((self.clocks.len() + mbarrier) as u32, ALL, phase);
        self.clocks[warp].observe(lanes, true, &view);
    }
}
