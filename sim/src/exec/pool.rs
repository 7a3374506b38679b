//! `setmaxnreg`: the warps of a block pass registers to one another (PTX ISA, "setmaxnreg").
//!
//! A warp begins with the number of registers that it was launched with. `.dec` gives registers to the block's pool,
//! `.inc` waits until the pool has enough. All warps of a warpgroup must execute the same `setmaxnreg`, each before any
//! of them executes the next.

use crate::Error;
use crate::lanes::WARP;
use crate::shadow::Who;

use super::context::Context;
use super::warp::{Wait, Warp};

/// Warps of a warpgroup.
const WARPS: usize = 4;

/// The registers of a block that `setmaxnreg` moves.
#[derive(Clone, Debug, Default)]
pub(super) struct Pool {
    /// Registers that no warp has.
    pub(super) free: u32,
    /// For each warp, the number of registers of a thread; empty if `setmaxnreg` has no effect on the kernel.
    each: Vec<u32>,
    /// How many `setmaxnreg` each warp has executed.
    done: Vec<usize>,
    /// The `setmaxnreg` of each warpgroup in order: the thread that was first to execute it, the registers for each
    /// thread, and whether it is `.inc`.
    steps: Vec<Vec<(Who, u32, bool)>>,
}

impl Pool {
    /// The pool of a block with this many warps, and this many registers for each thread if `setmaxnreg` has an effect.
    pub(super) fn new(registers: Option<u32>, warps: u32) -> Self {
        let warps = if registers.is_some() { warps as usize } else { 0 };
        Pool {
            free: 0,
            each: vec![registers.unwrap_or(0); warps],
            done: vec![0; warps],
            steps: vec![Vec::new(); warps.div_ceil(WARPS)],
        }
    }

    /// The warps of the warpgroup to which a warp belongs.
    fn group(&self, warp: usize) -> std::ops::Range<usize> {
        let first = warp / WARPS * WARPS;
        first..(first + WARPS).min(self.done.len())
    }
}

impl Warp {
    /// `setmaxnreg`; returns what the warp waits for, if it must.
    pub(super) fn set_registers(
        &mut self,
        cx: &mut Context<'_>,
        (increase, count): (bool, u32),
        active: u32,
        source: u32,
    ) -> Result<Option<Wait>, Error> {
        let (rank, warp, who) = (cx.rank, self.place as usize, self.who(active, source));
        let Some(&held) = cx.pools[rank].each.get(warp) else { return Ok(None) };
        self.same_step(cx, (increase, count), who)?;
        if if increase { count < held } else { count > held } {
            let (what, bound) = if increase {
                ("register count of setmaxnreg.inc", "at least")
            } else {
                ("register count of setmaxnreg.dec", "at most")
            };
            let accepted = format!("{bound} {held}, what the warp has");
            return Err(Error::BadValue { at: cx.at(who), what, value: count.into(), accepted });
        }
        let moved = held.abs_diff(count) * WARP as u32;
        let pool = &mut cx.pools[rank];
        if increase && moved > pool.free {
            return Ok(Some(Wait::Registers { rank, count, needed: moved, source }));
        }
        pool.free = if increase { pool.free - moved } else { pool.free + moved };
        pool.each[warp] = count;
        pool.done[warp] += 1;
        cx.changes += 1;
        Ok(None)
    }

    /// Checks that the warps of a warpgroup execute the same `setmaxnreg`, and all of them one before any executes the
    /// next.
    fn same_step(&self, cx: &mut Context<'_>, (increase, count): (bool, u32), who: Who) -> Result<(), Error> {
        let (rank, warp) = (cx.rank, self.place as usize);
        let pool = &mut cx.pools[rank];
        let step = pool.done[warp];
        let behind = pool.group(warp).find(|&other| pool.done[other] < step);
        let steps = &mut pool.steps[warp / WARPS];
        if let Some(behind) = behind {
            let what = "the number of setmaxnreg that a warp of the warpgroup has executed";
            let (value, at) = (pool.done[behind] as u64, cx.at(who));
            let accepted = format!("{step}: all must have executed one before any executes the next");
            return Err(Error::BadValue { at, what, value, accepted });
        }
        let Some(&(first, expected, more)) = steps.get(step) else {
            steps.push((who, count, increase));
            return Ok(());
        };
        if (expected, more) == (count, increase) {
            return Ok(());
        }
        let (at, other) = (cx.at(who), cx.at(first));
        let what = "the register count of setmaxnreg";
        Err(Error::Warpgroup { at, what, value: count.into(), expected: expected.into(), other })
    }
}

impl Context<'_> {
    /// Checks, as a block has exited, that all warps of each warpgroup have executed the same number of `setmaxnreg`.
    pub(super) fn check_registers(&self, rank: usize) -> Result<(), Error> {
        let pool = &self.pools[rank];
        for (warp, &done) in pool.done.iter().enumerate() {
            if let Some(&(who, ..)) = pool.steps[warp / WARPS].get(done) {
                return Err(Error::WarpgroupIncomplete { at: self.at(who), warp: warp as u32 });
            }
        }
        Ok(())
    }
}
