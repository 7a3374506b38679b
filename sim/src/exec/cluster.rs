//! A cluster: the warps of its blocks run in turn, each until it waits, exits, or has had its share, and asynchronous
//! operations in between.

use crate::error::{Awaited, Waiting};
use crate::shadow::BARRIERS;
use crate::{Error, Place, Report};

use super::context::{Context, Machine};
use super::warp::{State, Wait, Warp};

/// How often every wait that may be given up is given up, before nothing having changed is a deadlock.
const PATIENCE: u32 = 64;
/// Turns of all warps after which an operation is let go on, even if warps do things meanwhile.
const TURNS: u32 = 64;

/// Turns of all warps in which they look for a change and there is none, after which the cluster waits for others.
const QUIET: u32 = 8;
/// One in so many turns of all warps lets other clusters come in between, where blocks communicate and there is a seed.
const YIELDS: u64 = 3;
/// Warp instructions after which others get their turn.
const SLICE: u64 = 1 << 24;

/// What a cluster has come to.
pub(crate) enum Turn {
    /// All its blocks have exited.
    Done(Report),
    /// It waits for other clusters, or has had its share; whether it has done anything that others could be waiting for.
    Idle { changed: bool },
    /// It lets others come in between, and could go on.
    Yield { changed: bool },
}

/// Runs clusters, one after another in the same storage.
pub(crate) struct Cluster<'a> {
    cx: Context<'a>,
    /// The warps of the blocks, one block after another.
    warps: Vec<Warp>,
    /// The order in which they run.
    order: Vec<usize>,
    turns: u32,
    patience: u32,
    /// Turns without a change in which warps looked for one, and the changes when it was last idle.
    quiet: u32,
    known: u64,
}

impl<'a> Cluster<'a> {
    pub(crate) fn new(machine: &'a Machine<'a>) -> Self {
        let (ranks, warps) = (machine.ranks(), machine.warps());
        let warps: Vec<Warp> = (0..ranks * warps).map(|i| Warp::new(machine, i, i % warps)).collect();
        let order = (0..warps.len()).collect();
        Cluster { cx: Context::new(machine), warps, order, turns: 0, patience: 0, quiet: 0, known: 0 }
    }

    /// Begins the cluster of this number.
    pub(crate) fn start(&mut self, number: u64) {
        self.cx.start(number);
        let per_block = self.cx.machine.warps() as usize;
        for (rank, warps) in self.warps.chunks_mut(per_block).enumerate() {
            self.cx.enter(rank);
            warps.iter_mut().for_each(|warp| warp.start(&self.cx));
        }
        self.cx.gate.start(self.warps.iter().map(|warp| warp.live));
        self.order.sort_unstable();
        (self.turns, self.patience) = (0, PATIENCE);
        (self.quiet, self.known) = (0, self.cx.changes);
    }

    /// Runs the cluster until it is done or waits for others.
    pub(crate) fn go(&mut self) -> Result<Turn, Error> {
        let Context { steps, changes: begin, .. } = self.cx;
        while self.cx.blocks.iter().any(|block| block.live != 0) {
            let before = (self.cx.changes, self.cx.looks);
            let ran = self.turn()?;
            self.turns += 1;
            let still = self.cx.changes == before.0;
            // Where warps only look whether something has happened, only an operation can make it happen.
            if (still || self.turns.is_multiple_of(TURNS)) && self.finish_one()? {
                self.quiet = 0;
            } else if still && ran {
                self.quiet += u32::from(self.cx.looks != before.1);
            } else if still {
                if self.patience == 0 || !self.give_up() {
                    return Err(self.deadlock());
                }
                self.patience -= 1;
                continue;
            } else {
                self.quiet = 0;
            }
            self.patience = if still { self.patience } else { PATIENCE };
            if self.quiet == QUIET || self.cx.steps - steps > SLICE {
                let long = std::mem::take(&mut self.quiet) < QUIET;
                let known = std::mem::replace(&mut self.known, self.cx.changes);
                return Ok(Turn::Idle { changed: long || self.cx.changes != known });
            }
            if std::mem::take(&mut self.cx.cut) || self.cx.machine.mixes() && self.cx.below(YIELDS) == 0 {
                return Ok(Turn::Yield { changed: self.cx.changes != begin });
            }
        }
        self.cx.finish_all()?;
        self.cx.hand_in();
        Ok(Turn::Done(self.cx.report))
    }

    /// Lets an operation go on, whether there was one.
    fn finish_one(&mut self) -> Result<bool, Error> {
        let mbarrier = |wait: &Wait| if let Wait::Mbarrier { at, .. } = wait { Some(*at) } else { None };
        let waited_for: Vec<usize> = match self.cx.impatient() {
            true => self.warps.iter().flat_map(|warp| warp.waits().filter_map(mbarrier)).collect(),
            false => Vec::new(),
        };
        self.cx.finish_one(&waited_for)
    }

    /// A random order, with a seed.
    fn shuffle(&mut self) {
        if self.cx.machine.options.seed != 0 {
            for i in (1..self.order.len()).rev() {
                self.order.swap(i, self.cx.below(i as u64 + 1) as usize);
            }
        }
    }

    /// Every warp that can runs; whether one did.
    fn turn(&mut self) -> Result<bool, Error> {
        self.shuffle();
        let per_block = self.cx.machine.warps() as usize;
        let mut ran = false;
        for nth in 0..self.order.len() {
            let i = self.order[nth];
            self.cx.maybe_step()?;
            // Some of its lanes may wait while others run in circles for them.
            if matches!(self.warps[i].state, State::Blocked | State::Ready) {
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
                self.cx.check_registers(rank)?;
            }
        }
        for i in super::lanes(std::mem::take(&mut self.cx.blocks[rank].released)) {
            let warp = &mut self.warps[first + i];
            if let State::Waiting { barrier, .. } = warp.state {
                warp.settle_vote(self.cx.blocks[rank].votes[barrier as usize]);
            }
            warp.state = State::Ready;
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

    /// It waits for what no cluster does; `begin` is the grid's blocks, if there are such that have not begun.
    pub(crate) fn in_circles(&self, begin: Option<u64>) -> Error {
        let ready = || self.warps.iter().filter(|warp| matches!(warp.state, State::Ready));
        let looking = ready().find_map(|warp| warp.look);
        let (at, awaited) = match looking {
            Some((who, awaited)) => (self.cx.at(who), Some(awaited)),
            None => match ready().find_map(|warp| warp.next(&self.cx)) {
                Some(at) => (at, None),
                None => return self.deadlock(),
            },
        };
        match begin {
            Some(blocks) => Error::NotResident { at, awaited, blocks, residency: self.cx.machine.residency },
            None => Error::Spinning { at, awaited },
        }
    }

    fn deadlock(&self) -> Error {
        let per_block = self.cx.machine.warps();
        let mut waiting = Vec::new();
        for warp in &self.warps {
            let block = self.cx.site(0, warp.index * 32).block;
            let mut add = |source, awaited: Awaited| {
                let Place { line, origin, .. } = self.cx.machine.kernel.place(source);
                waiting.push(Waiting { block, warp: warp.place, line, origin, awaited });
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
                    Wait::Registers { rank, count, needed, source } => {
                        let free = self.cx.pools[rank].free;
                        add(source, Awaited::Registers { count, needed, free });
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
