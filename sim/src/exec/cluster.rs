//! Runs a cluster: its warps in turn, each until it waits, exits, or has had its share of instructions, and
//! asynchronous operations in between.

use crate::error::{Awaited, Waiting};
use crate::shadow::BARRIERS;
use crate::{Error, Place, Report};

use super::circles::Circles;
use super::context::Context;
use super::machine::Machine;
use super::warp::{State, Wait, Warp};

/// How many times in a row, without any change, all waits with a time limit may reach their limit before the cluster is
/// told to be in a deadlock.
const PATIENCE: u32 = 64;
/// Once in this many turns of all warps an asynchronous operation is completed, even if the warps change something.
const TURNS: u32 = 64;

/// After this many turns of all warps in which warps only looked for changes in vain, the cluster waits for other
/// clusters.
const QUIET: u32 = 8;
/// Where blocks communicate and there is a seed, one in this many turns of all warps lets other clusters run.
const YIELDS: u64 = 3;
/// Instructions of warps after which other clusters get their turn: where blocks can't communicate, and where one may be
/// waiting for another in a loop that changes something, such as one with an atomic.
const SLICES: [u64; 2] = [1 << 24, 1 << 18];

/// Why a cluster has stopped running.
pub(crate) enum Turn {
    /// All its blocks have exited.
    Done(Report),
    /// The cluster waits for other clusters or has had its share. `changed`: it has done something that another could
    /// be waiting for.
    Idle { changed: bool },
    /// The cluster could go on, but lets other clusters run in between.
    Yield { changed: bool },
}

/// A cluster that runs. One value is used for clusters one after another, to keep the storage.
pub(crate) struct Cluster<'a> {
    pub(super) cx: Context<'a>,
    /// The warps of the blocks, one block after another.
    pub(super) warps: Vec<Warp>,
    /// The order in which the warps have their turns.
    order: Vec<usize>,
    pub(super) turns: u32,
    patience: u32,
    /// Turns in a row without a change, in which warps looked for one.
    quiet: u32,
    /// The value of `Context::changes` when the cluster was last idle.
    known: u64,
    pub(super) circles: Circles,
}

impl<'a> Cluster<'a> {
    pub(crate) fn new(machine: &'a Machine<'a>) -> Self {
        let (ranks, warps) = (machine.ranks(), machine.warps());
        let warps: Vec<Warp> = (0..ranks * warps).map(|i| Warp::new(machine, i, i % warps)).collect();
        let order = (0..warps.len()).collect();
        let (cx, circles) = (Context::new(machine), Circles::default());
        Cluster { cx, warps, order, turns: 0, patience: 0, quiet: 0, known: 0, circles }
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
        self.circles = Circles::default();
    }

    /// Runs the cluster until it is done, waits for others, or has had its share.
    pub(crate) fn go(&mut self) -> Result<Turn, Error> {
        let Context { steps, changes: begin, .. } = self.cx;
        let slice = SLICES[usize::from(self.cx.machine.communicates())];
        while self.cx.blocks.iter().any(|block| block.live != 0) {
            let before = (self.cx.changes, self.cx.looks);
            let ran = self.turn()?;
            self.turns += 1;
            let still = self.cx.changes == before.0;
            // Where all warps only look whether something has happened, only an asynchronous operation can make it
            // happen.
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
            if self.is_in_circles() {
                (self.quiet, self.known) = (0, self.cx.changes);
                let shown = std::mem::replace(&mut self.circles.shown, self.cx.written);
                return Ok(Turn::Idle { changed: shown != self.cx.written });
            }
            if self.quiet == QUIET || self.cx.steps - steps > slice {
                let long = std::mem::take(&mut self.quiet) < QUIET;
                let known = std::mem::replace(&mut self.known, self.cx.changes);
                return Ok(Turn::Idle { changed: long || self.cx.changes != known });
            }
            if std::mem::take(&mut self.cx.cut) || self.cx.machine.mixes() && self.cx.below(YIELDS) == 0 {
                return Ok(Turn::Yield { changed: self.cx.changes != begin });
            }
        }
        self.cx.finish_all()?;
        self.cx.tell_discarded()?;
        self.cx.hand_in();
        Ok(Turn::Done(self.cx.report))
    }

    /// Completes an asynchronous operation; returns whether there was one.
    fn finish_one(&mut self) -> Result<bool, Error> {
        let mbarrier = |wait: &Wait| if let Wait::Mbarrier { at, .. } = wait { Some(*at) } else { None };
        let waited_for: Vec<usize> = match self.cx.impatient() {
            true => self.warps.iter().flat_map(|warp| warp.waits().filter_map(mbarrier)).collect(),
            false => Vec::new(),
        };
        self.cx.finish_one(&waited_for)
    }

    /// With a seed, shuffles the warps.
    fn shuffle(&mut self) {
        if self.cx.machine.options.seed != 0 {
            for i in (1..self.order.len()).rev() {
                self.order.swap(i, self.cx.below(i as u64 + 1) as usize);
            }
        }
    }

    /// Lets every warp that can run have its turn; returns whether one ran.
    fn turn(&mut self) -> Result<bool, Error> {
        self.shuffle();
        let before = self.cx.changes;
        let mut ran = false;
        for nth in 0..self.order.len() {
            let i = self.order[nth];
            ran |= !self.is_slow(i) && self.turn_of(i)?;
        }
        if self.cx.machine.options.slow.is_some() && self.cx.changes == before && !self.finish_one()? {
            for i in 0..self.order.len() {
                ran |= self.is_slow(i) && self.turn_of(i)?;
            }
        }
        Ok(ran)
    }

    /// Whether a warp runs only where no other can.
    fn is_slow(&self, warp: usize) -> bool {
        let of_block = warp % self.cx.machine.warps() as usize;
        self.cx.machine.options.slow.is_some_and(|slow| slow as usize == of_block)
    }

    /// Lets a warp have its turn if it can run; returns whether it ran.
    fn turn_of(&mut self, i: usize) -> Result<bool, Error> {
        self.cx.maybe_step()?;
        // Some lanes of a ready warp may wait while others of its lanes loop until the wait is over.
        if matches!(self.warps[i].state, State::Blocked | State::Ready) {
            self.warps[i].wake(&self.cx);
        }
        if !matches!(self.warps[i].state, State::Ready) {
            return Ok(false);
        }
        let machine = self.cx.machine;
        if machine.options.is_stopped() {
            return Err(Error::Stopped { kernel: machine.kernel.name.clone() });
        }
        self.cx.enter(i / self.cx.machine.warps() as usize);
        self.warps[i].run(&mut self.cx)?;
        self.settle(i)?;
        Ok(true)
    }

    /// After a warp has run: updates what depends on its exit, and lets the warps go whose barriers are complete.
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
        for i in crate::lanes::lanes_of(std::mem::take(&mut self.cx.blocks[rank].released)) {
            let warp = &mut self.warps[first + i];
            if let State::Waiting { barrier, .. } = warp.state {
                warp.settle_vote(self.cx.blocks[rank].votes[barrier as usize]);
            }
            warp.state = State::Ready;
        }
        Ok(())
    }

    /// Lets every wait that has a time limit reach the limit; returns whether there was such a wait.
    fn give_up(&mut self) -> bool {
        let mut any = false;
        for warp in &mut self.warps {
            any |= warp.expire();
        }
        any
    }

    /// The error that the cluster waits for something that no cluster is going to do. `begin` is the number of blocks
    /// of the grid, if some of them have not begun.
    pub(crate) fn in_circles(&self, begin: Option<u64>) -> Error {
        let ready = || self.warps.iter().filter(|warp| matches!(warp.state, State::Ready));
        let looks = self.warps.iter().filter(|warp| !matches!(warp.state, State::Done));
        let looks = looks.filter_map(|warp| warp.look).filter(|(steps, ..)| *steps >= self.circles.since());
        let looking = looks.max_by_key(|(steps, ..)| *steps);
        let (at, awaited) = match looking {
            Some((_, who, awaited)) => (self.cx.at(who), Some(awaited)),
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
                let (source, awaited) = self.cx.awaited(warp.place, wait);
                add(source, awaited);
            }
        }
        Error::Deadlock { kernel: self.cx.machine.kernel.name.clone(), waiting }
    }
}
