//! The time of a timeline, in instructions.
//!
//! The simulator executes one instruction after another, of whichever warp. On a GPU the warps of a block run beside each other. So each warp
//! gets a clock of its own here: an instruction takes one tick, and where a warp waits for others its clock goes on to the latest of those
//! that it has waited for. Copies and products take no time beside that of their instructions, since the simulator knows no latencies.

use std::collections::HashMap;

/// The clocks of a block's warps.
#[derive(Debug, Default)]
pub(super) struct Clock {
    warps: Vec<u64>,
    /// The time at which a barrier lets a warp go on.
    release: Vec<u64>,
    /// The latest arrival at the current phase of an mbarrier, by its address.
    arrivals: HashMap<u64, u64>,
    /// When phases of mbarriers were completed, by address and number.
    phases: HashMap<(u64, u64), u64>,
    /// The barriers of the block, by the operand that names them.
    barriers: HashMap<Box<str>, Meeting>,
}

/// The warps that have come to a barrier since it last let warps go.
#[derive(Debug, Default)]
struct Meeting {
    /// The warps, and whether they wait.
    warps: Vec<(usize, bool)>,
    latest: u64,
}

/// When a warp came to an instruction, when it went on, and when the instruction was done.
pub(super) type Times = [u64; 3];

impl Clock {
    fn reach(&mut self, warp: usize) {
        let warps = self.warps.len().max(warp + 1);
        self.warps.resize(warps, 0);
        self.release.resize(warps, 0);
    }

    /// A warp executes an instruction, by which it passes a phase of an mbarrier if `passed`.
    pub(super) fn tick(&mut self, warp: usize, passed: Option<(u64, u64)>) -> Times {
        self.reach(warp);
        let came = self.warps[warp];
        let phase = passed.and_then(|phase| self.phases.get(&phase).copied()).unwrap_or(0);
        let on = came.max(phase).max(std::mem::take(&mut self.release[warp]));
        self.warps[warp] = on + 1;
        [came, on, on + 1]
    }

    /// A warp has come to a barrier of the block.
    pub(super) fn meet(&mut self, warp: usize, barrier: &str, waits: bool) {
        self.reach(warp);
        let meeting = self.barriers.entry(barrier.into()).or_default();
        // Who comes again has been let go.
        if meeting.warps.iter().any(|(other, _)| *other == warp) {
            *meeting = Meeting::default();
        }
        meeting.warps.push((warp, waits));
        meeting.latest = meeting.latest.max(self.warps[warp]);
        for &(other, waits) in &meeting.warps {
            if waits {
                self.release[other] = meeting.latest;
            }
        }
    }

    /// A warp has arrived at an mbarrier, or has issued what will.
    pub(super) fn arrive(&mut self, warp: usize, mbarrier: u64) {
        self.reach(warp);
        let latest = self.arrivals.entry(mbarrier).or_default();
        *latest = (*latest).max(self.warps[warp]);
    }

    /// Phases of an mbarrier have been completed.
    pub(super) fn complete(&mut self, mbarrier: u64, phases: std::ops::Range<u64>) {
        let latest = self.arrivals.remove(&mbarrier).unwrap_or(0);
        for phase in phases {
            self.phases.insert((mbarrier, phase), latest);
        }
    }
}
