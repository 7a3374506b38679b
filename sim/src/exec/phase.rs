//! `mbarrier` instructions: arrivals, and waits for phases.

use crate::Error;
use crate::error::MbarrierFault as Fault;
use crate::lanes::lanes_of;
use crate::op::{Mbarrier as Inst, MbarrierAction as Action};
use crate::shadow::{Scope, Who};

use super::context::Context;
use super::mbarrier::{Arrival, By};
use super::warp::{Wait, Warp};

impl Warp {
    /// Executes an `mbarrier` instruction; returns what the lanes wait for, if they must. `expired`: the wait has
    /// reached its time limit.
    pub(super) fn mbarrier(
        &mut self,
        cx: &mut Context<'_>,
        inst: &Inst,
        active: u32,
        source: u32,
        expired: bool,
    ) -> Result<Option<Wait>, Error> {
        if let Action::Wait { .. } = inst.action {
            return self.mbarrier_wait(cx, inst, active, source, expired);
        }
        for lane in lanes_of(active) {
            let who = Who { warp: self.index, lane: lane as u32, source };
            self.check_mbarrier(cx, &inst.address, who)?;
            let at = cx.mbarrier_place(who, inst.space, self.address(&inst.address, lane))?;
            let operand = inst.operand.map_or(1, |reg| self.regs.get(reg, lane));
            match inst.action {
                Action::Init => cx.init(who, at, operand)?,
                Action::Inval => cx.inval(who, at)?,
                Action::Transact { complete } => {
                    cx.mbarrier(who, at, false)?;
                    let bytes = i64::from(operand as u32);
                    cx.transact(who, at, if complete { -bytes } else { bytes })?;
                }
                Action::Arrive { drop, no_complete, expect, release } => {
                    if expect {
                        cx.mbarrier(who, at, false)?;
                        cx.expect(who, at, operand as u32)?;
                    }
                    let count = if expect { 1 } else { operand as u32 };
                    let by = By::Thread { release };
                    let arrival = Arrival { count, drop, no_complete, by };
                    let state = cx.arrive_at(who, at, arrival)?;
                    if let Some(d) = inst.state {
                        self.regs.set(d, lane, state);
                    }
                }
                Action::Wait { .. } => {}
            }
        }
        Ok(None)
    }

    fn mbarrier_wait(
        &mut self,
        cx: &mut Context<'_>,
        inst: &Inst,
        active: u32,
        source: u32,
        expired: bool,
    ) -> Result<Option<Wait>, Error> {
        let Action::Wait { suspend, parity, acquire } = inst.action else { return Ok(None) };
        let mut complete = 0u32;
        let mut first = None;
        let mut waited_for = None;
        let mut passed = None;
        // The neighbouring lanes that have seen the same mbarrier's phase complete, to be told to the shadow at once.
        let mut seen = (0, 0u32);
        for lane in lanes_of(active) {
            let who = Who { warp: self.index, lane: lane as u32, source };
            self.check_mbarrier(cx, &inst.address, who)?;
            let at = cx.mbarrier_place(who, inst.space, self.address(&inst.address, lane))?;
            let mbarrier = cx.mbarrier(who, at, false)?;
            let asked = inst.operand.map_or(0, |reg| self.regs.get(reg, lane));
            let phase = if parity { asked } else { asked >> 20 };
            if parity && asked > 1 {
                return Err(cx.bad_mbarrier(who, at, Fault::Parity { parity: asked }));
            }
            if !parity && phase != mbarrier.phases && phase + 1 != mbarrier.phases {
                return Err(cx.bad_mbarrier(who, at, Fault::State { state: asked }));
            }
            if phase & 1 != mbarrier.phases & 1 {
                complete |= 1 << lane;
                passed = mbarrier.phases.checked_sub(1).map(|phase| (at, phase)).or(passed);
                if seen.0 != mbarrier.number {
                    self.observe(cx, seen, acquire);
                    seen = (mbarrier.number, 0);
                }
                seen.1 |= 1 << lane;
            } else if first.is_none() {
                first = Some(Wait::Mbarrier { at, phases: mbarrier.phases, asked: phase, source });
                waited_for = Some((mbarrier.number, mbarrier.phases));
            }
        }
        self.observe(cx, seen, acquire);
        if let Some(watch) = &mut self.watch {
            watch.passed = passed;
        }
        if complete == 0 && suspend && !expired && !self.gives_up(cx, waited_for) {
            return Ok(first);
        }
        if complete == 0 {
            cx.looks += 1;
            if let Some(Wait::Mbarrier { at, asked, .. }) = first {
                self.look = Some((cx.steps, self.who(active, source), cx.awaited_mbarrier(at, asked)));
            }
        }
        if let Some(d) = inst.state {
            lanes_of(active).for_each(|lane| self.regs.set(d, lane, (complete >> lane & 1).into()));
        }
        Ok(None)
    }

    /// Whether a `try_wait` gives up at once, as the ISA allows. With some seeds each does when a warp asks for a phase
    /// for the first time, with the others now and then, without a seed never.
    fn gives_up(&mut self, cx: &mut Context<'_>, phase: Option<(usize, u64)>) -> bool {
        if cx.impatient() {
            return std::mem::replace(&mut self.gave_up, phase) != phase;
        }
        cx.machine.options.seed != 0 && cx.below(2) != 0
    }

    /// Tells the shadow that lanes have seen a phase of an mbarrier complete.
    fn observe(&self, cx: &mut Context<'_>, (mbarrier, mask): (usize, u32), acquire: Option<Scope>) {
        if let Some(shadow) = &mut cx.shadow
            && mask != 0
        {
            shadow.observe_mbarrier(self.index as usize, mask, mbarrier, acquire);
        }
    }
}
