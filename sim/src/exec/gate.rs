//! The barrier of a cluster (PTX ISA, "barrier.cluster").

use crate::Error;
use crate::op::Gate as Inst;

use super::context::Context;
use super::warp::{Wait, Warp};

/// Which lanes have arrived at the cluster's barrier, for each warp.
#[derive(Clone, Debug, Default)]
pub(super) struct Gate {
    /// Lanes that have not exited.
    live: Vec<u32>,
    /// Lanes that have arrived in this phase.
    arrived: Vec<u32>,
    /// Lanes that have arrived in a phase that is complete, and have not waited yet.
    passed: Vec<u32>,
}

impl Gate {
    /// Begins a cluster, with the live lanes of each warp.
    pub(super) fn start(&mut self, live: impl Iterator<Item = u32>) {
        self.live.clear();
        self.live.extend(live);
        self.arrived.clear();
        self.arrived.resize(self.live.len(), 0);
        self.passed.clear();
        self.passed.resize(self.live.len(), 0);
    }

    /// Lanes exit, and so count as arrived. Returns whether that completes the phase.
    pub(super) fn exit(&mut self, warp: usize, exiting: u32) -> bool {
        self.live[warp] &= !exiting;
        self.arrived.iter().any(|&arrived| arrived != 0) && self.complete()
    }

    fn complete(&mut self) -> bool {
        let all = self.live.iter().zip(&self.arrived).all(|(live, arrived)| live & !arrived == 0);
        if all {
            for (passed, arrived) in self.passed.iter_mut().zip(&mut self.arrived) {
                *passed |= std::mem::take(arrived);
            }
        }
        all
    }

    /// Whether the barrier lets one of these lanes of a warp go on.
    pub(super) fn open(&self, warp: usize, mask: u32) -> bool {
        self.passed[warp] & mask != 0
    }

    /// The number of threads that have arrived, and of the threads of the cluster that have not exited.
    pub(super) fn count(&self) -> (u32, u32) {
        let count = |masks: &[u32]| masks.iter().map(|mask| mask.count_ones()).sum();
        (count(&self.arrived), count(&self.live))
    }
}

impl Warp {
    /// `barrier.cluster.arrive`, `barrier.cluster.wait`; returns what the lanes must wait for, if they must.
    pub(super) fn gate(
        &mut self,
        cx: &mut Context<'_>,
        gate: &Inst,
        active: u32,
        source: u32,
    ) -> Result<Option<Wait>, Error> {
        let number = self.index as usize;
        let (arrived, passed) = (cx.gate.arrived[number], cx.gate.passed[number]);
        let bad = |cx: &Context<'_>, lanes_of: u32, value: u64, accepted: &str| {
            let at = cx.at(self.who(lanes_of, source));
            Err(Error::BadValue {
                at,
                what: "arrivals at the cluster's barrier",
                value,
                accepted: accepted.into(),
            })
        };
        if gate.arrive {
            let again = active & (arrived | passed);
            if again != 0 {
                return bad(cx, again, 2, "one before the wait of each phase");
            }
            cx.report.barriers += 1;
            cx.gate.arrived[number] |= active;
            cx.changes += 1;
            if let Some(shadow) = &mut cx.shadow {
                shadow.arrive_cluster(number, active, gate.ordered);
            }
            if cx.gate.complete() {
                cx.gate_completed();
            }
            return Ok(None);
        }
        let never = active & !(arrived | passed);
        if never != 0 {
            return bad(cx, never, 0, "one before the wait of each phase");
        }
        if active & !passed != 0 {
            return Ok(Some(Wait::Cluster { lanes: active & !passed, source }));
        }
        cx.gate.passed[number] &= !active;
        if let Some(shadow) = &mut cx.shadow {
            shadow.wait_cluster(number, active, gate.ordered);
        }
        Ok(None)
    }
}

impl Context<'_> {
    /// Completes the phase of the cluster's barrier, as every thread of the cluster has arrived.
    pub(super) fn gate_completed(&mut self) {
        self.changes += 1;
        if let Some(shadow) = &mut self.shadow {
            shadow.complete_cluster();
        }
    }

    /// Lanes of a warp, which is given by its number in the cluster, exit.
    pub(super) fn exit_lanes(&mut self, warp: u32, exiting: u32) {
        self.changes += 1;
        if let Some(shadow) = &mut self.shadow {
            shadow.leave(warp as usize, exiting);
        }
        if self.gate.exit(warp as usize, exiting) {
            self.gate_completed();
        }
    }

    /// Whether the wait of a group of lanes is over.
    pub(super) fn has_come(&self, warp: u32, wait: &Wait) -> bool {
        match *wait {
            Wait::Cluster { lanes, .. } => self.gate.open(warp as usize, lanes),
            Wait::Mbarrier { at, phases, .. } => self.mbarriers.phases(at) != Some(phases),
            Wait::Registers { rank, needed, .. } => self.pools[rank].free >= needed,
            Wait::Warpgroup { group, operations, .. } => self.warpgroup_has(group, operations),
        }
    }
}
