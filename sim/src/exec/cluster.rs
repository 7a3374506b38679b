//! A cluster: the warps of its blocks run in turn, each until it waits, exits, or has had its share, and asynchronous
//! operations in between.

use crate::error::{Awaited, Waiting};
use crate::shadow::BARRIERS;
use crate::{Error, Report};

use super::context::{Context, Machine};
use super::warp::{State, Wait, Warp};

/// How often every wait that may be given up is given up, before nothing having changed is a deadlock.
const PATIENCE: u32 = 64;
/// Turns of all warps after which an operation is let go on, even if warps do things meanwhile.
const TURNS: u32 = 64;

/// Runs clusters, one after another in the same storage.
pub(crate) struct Cluster<'a> {
    cx: Context<'a>,
    /// The warps of the blocks, one block after another.
    warps: Vec<Warp>,
}

impl<'a> Cluster<'a> {
    pub(crate) fn new(machine: &'a Machine<'a>) -> Self {
        let (ranks, warps) = (machine.ranks(), machine.warps());
        let warps = (0..ranks * warps).map(|i| Warp::new(machine, i, i % warps)).collect();
        Cluster { cx: Context::new(machine), warps }
    }

    /// Runs the cluster of this number.
    pub(crate) fn run(&mut self, number: u64) -> Result<Report, Error> {
        self.start(number);
        let mut order: Vec<usize> = (0..self.warps.len()).collect();
        let (mut turns, mut patience) = (0, PATIENCE);
        while self.cx.blocks.iter().any(|block| block.live != 0) {
            self.shuffle(&mut order);
            let before = self.cx.changes;
            let ran = self.turn(&order)?;
            turns += 1;
            if self.cx.changes != before {
                patience = PATIENCE;
            }
            // Where warps only look whether something has happened, only an operation can make it happen.
            if self.cx.changes == before || turns % TURNS == 0 {
                if self.cx.finish_one()? {
                    patience = PATIENCE;
                } else if !ran {
                    patience = patience.checked_sub(1).ok_or_else(|| self.deadlock())?;
                    if !self.give_up() {
                        return Err(self.deadlock());
                    }
                }
            }
        }
        self.cx.finish_all()?;
        Ok(self.cx.report)
    }

    fn start(&mut self, number: u64) {
        self.cx.start(number);
        let per_block = self.cx.machine.warps() as usize;
        for (rank, warps) in self.warps.chunks_mut(per_block).enumerate() {
            self.cx.enter(rank);
            warps.iter_mut().for_each(|warp| warp.start(&self.cx));
        }
        self.cx.gate.start(self.warps.iter().map(|warp| warp.live));
    }

    /// A random order, with a seed.
    fn shuffle(&mut self, order: &mut [usize]) {
        if self.cx.machine.options.seed != 0 {
            for i in (1..order.len()).rev() {
                order.swap(i, self.cx.below(i as u64 + 1) as usize);
            }
        }
    }

    /// Every warp that can runs; whether one did.
    fn turn(&mut self, order: &[usize]) -> Result<bool, Error> {
        let per_block = self.cx.machine.warps() as usize;
        let mut ran = false;
        for &i in order {
            self.cx.maybe_step()?;
            if matches!(self.warps[i].state, State::Blocked) {
                self.warps[i].wake(&self.cx);
            }
            if matches!(self.warps[i].state, State::Ready) {
                self.cx.enter(i / per_block);
                self.warps[i].run(&mut self.cx)?;
                self.settle(i)?;
                ran = true;
            }
        }
        Ok(ran)
    }

    /// After a warp has run: what its exit or arrival lets go.
    fn settle(&mut self, warp: usize) -> Result<(), Error> {
        let rank = self.cx.rank;
        let first = rank * self.cx.machine.warps() as usize;
        if matches!(self.warps[warp].state, State::Done) {
            self.cx.blocks[rank].live &= !(1 << (warp - first));
            for id in 0..BARRIERS {
                self.cx.try_complete(id);
            }
            if self.cx.blocks[rank].live == 0 {
                self.cx.check_unfinished(rank)?;
            }
        }
        for i in super::lanes(std::mem::take(&mut self.cx.blocks[rank].released)) {
            self.warps[first + i].state = State::Ready;
        }
        Ok(())
    }

    /// Lets every wait that has a time limit reach it; whether there was one.
    fn give_up(&mut self) -> bool {
        let mut any = false;
        for warp in &mut self.warps {
            any |= warp.expire();
        }
        any
    }

    fn deadlock(&self) -> Error {
        let per_block = self.cx.machine.warps();
        let mut waiting = Vec::new();
        for warp in &self.warps {
            let block = self.cx.site(0, warp.index * 32).block;
            let mut add = |source, awaited: Awaited| {
                let line = self.cx.machine.kernel.place(source).line;
                waiting.push(Waiting { block, warp: warp.place, line, awaited });
            };
            if let State::Waiting { barrier, source } = warp.state {
                add(source, self.cx.blocks[(warp.index / per_block) as usize].awaited(barrier));
            }
            for wait in warp.waits() {
                match *wait {
                    Wait::Mbarrier { at, asked, source, .. } => {
                        add(source, self.cx.awaited_mbarrier(at, asked))
                    }
                    Wait::Warpgroup { group, operations, source } => {
                        let missing = self.cx.missing(group, operations).first().copied();
                        add(source, Awaited::Warpgroup { warp: missing.unwrap_or(warp.place) });
                    }
                    Wait::Cluster { source, .. } => {
                        let (arrived, expected) = self.cx.gate.count();
                        add(source, Awaited::Cluster { arrived, expected });
                    }
                }
            }
        }
        Error::Deadlock { kernel: self.cx.machine.kernel.name.clone(), waiting }
    }
}
