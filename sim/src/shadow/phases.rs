//! mbarriers: what arrivals publish and waits learn, phase by phase.

use super::clock::View;
use super::{Finding, MBARRIER, Shadow, Who};
use crate::Access;

/// What an mbarrier orders.
#[derive(Clone, Debug, Default)]
pub(super) struct Phases {
    /// Of the arrivals so far: they are a chain of atomics, each of which continues what those before released.
    arrived: View,
    /// Of the arrivals up to the last completed phase.
    complete: View,
    /// The warp that initialised it, and whether it has made that known to other proxies and blocks.
    warp: u32,
    fenced: bool,
}

impl Shadow {
    /// `mbarrier.init`: a write; the bytes belong to a new mbarrier, whose number this is.
    pub(crate) fn init_mbarrier(&mut self, who: Who, at: usize) -> Result<usize, Finding> {
        self.check_write(who, at, 8)?;
        self.record_write(self.stamp(who), at, 8);
        self.states[at..at + 8].fill(MBARRIER);
        self.phases.push(Phases { warp: who.warp, ..Phases::default() });
        Ok(self.phases.len() - 1)
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
        let clock = &self.clocks[who.warp as usize];
        for i in self.cells_of(at, 8) {
            let other = self.cells[i].write;
            if !clock.after(&other, who) {
                return Err(Finding::Race { offset: i << self.granule, access: Access::Write, other });
            }
        }
        if asynchronous && !self.phases[mbarrier].fenced {
            self.check_proxy(who, at, 8)?;
        }
        Ok(())
    }

    /// `fence.mbarrier_init`: the initialisations of this warp are known to other proxies.
    pub(crate) fn fence_mbarriers(&mut self, warp: usize) {
        self.phases.iter_mut().filter(|p| p.warp as usize == warp).for_each(|p| p.fenced = true);
    }

    /// An arrival; a relaxed one publishes what came before the last fence.
    pub(crate) fn arrive_mbarrier(&mut self, warp: usize, mbarrier: usize, release: bool) {
        let arrived = &mut self.phases[mbarrier].arrived;
        if release {
            self.clocks[warp].publish(warp, arrived);
        } else {
            arrived.join(&self.clocks[warp].fenced);
        }
    }

    /// This many phases of an mbarrier are complete now.
    pub(crate) fn complete_mbarrier(&mut self, mbarrier: usize, phases: u32) {
        let component = self.clocks.len() + mbarrier;
        let Phases { arrived, complete, .. } = &mut self.phases[mbarrier];
        arrived.known.raise(component, phases);
        complete.join(arrived);
    }

    /// Lanes of a warp see that a phase is complete.
    pub(crate) fn observe_mbarrier(
        &mut self,
        warp: usize,
        (mask, live): (u32, u32),
        mbarrier: usize,
        acquire: bool,
    ) {
        self.clocks[warp].observe(warp, mask, live, &self.phases[mbarrier].complete, acquire);
    }

    /// A warp has waited for what this phase of an mbarrier, or this count of a counter, tells.
    pub(crate) fn know_phase(&mut self, warp: usize, mbarrier: usize, phase: u32) {
        let component = self.clocks.len() + mbarrier;
        self.clocks[warp].view.known.raise(component, phase);
    }
}
