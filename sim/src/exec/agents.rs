//! Asynchronous operations on their way: each reads its source at one moment and writes its destination at a later one.
//!
//! An operation is queued when its instruction is executed. The scheduler lets operations go on, in no order among
//! themselves. Without a seed it does so as late as the ISA allows, which is when a thread waits for them or when
//! nothing else can happen.

mod moves;

use std::collections::HashMap;

use crate::op::Update;
use crate::shadow::{By, Who};
use crate::{Error, InFlight};

use super::context::Context;

/// Where bytes of an operation come from or go to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// A global address, which has been checked.
    Global(u64),
    /// A place in the cluster's shared memory.
    Shared(usize),
}

/// A range of an operation's data, and its place in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) place: Place,
    /// Where the range begins in the operation's data, in bytes.
    pub(super) at: usize,
    pub(super) bytes: usize,
}

/// What an operation does with its data.
#[derive(Clone, Copy, Debug)]
pub(super) enum Effect {
    Write,
    /// Combines elements of this many bytes with those in the destination.
    Reduce(u32, Update),
    /// Converts the elements on the way from source to destination.
    Convert(fn(&mut [u8])),
}

/// How the end of an operation is made known.
#[derive(Clone, Copy, Debug)]
pub(super) enum Completion {
    /// The operation takes its bytes off the transaction count of the mbarrier at this place of shared memory.
    /// `operation` is the shadow's number of it.
    Transactions { mbarrier: usize, bytes: u32, operation: u32 },
    /// The thread waits for the bulk group with this number.
    Group(u64),
    /// The operation arrives at the mbarrier at this place of shared memory, as `cp.async.mbarrier.arrive` does.
    Arrival { mbarrier: usize, operation: u32 },
}

/// An asynchronous operation.
#[derive(Debug)]
pub(super) struct Operation {
    pub(super) who: Who,
    pub(super) data: Vec<u8>,
    pub(super) sources: Vec<Piece>,
    pub(super) targets: Vec<Piece>,
    pub(super) effect: Effect,
    pub(super) completion: Completion,
    pub(super) progress: Progress,
}

/// How far an operation has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Progress {
    Issued,
    /// The source has been read.
    Read,
    /// The destination has been written. An operation stays in this state only if its bulk group has not been waited
    /// for.
    Written,
}

/// The asynchronous operations of a cluster, from their issue until their end is made known, oldest first.
#[derive(Debug, Default)]
pub(super) struct Agents {
    operations: Vec<Operation>,
    /// How many bulk groups each thread of the cluster has committed.
    committed: HashMap<u32, u64>,
}

impl Agents {
    pub(super) fn clear(&mut self) {
        self.operations.clear();
        self.committed.clear();
    }

    pub(super) fn issue(&mut self, operation: Operation) {
        self.operations.push(operation);
    }

    /// `cp.async.bulk.commit_group` of a thread.
    pub(super) fn commit(&mut self, who: Who) {
        *self.committed.entry(who.thread()).or_default() += 1;
    }

    /// The bulk group that a thread's next operation belongs to.
    pub(super) fn group(&self, who: Who) -> u64 {
        self.committed.get(&who.thread()).copied().unwrap_or_default()
    }

    /// Whether an operation can still go on by itself.
    pub(super) fn are_moving(&self) -> bool {
        self.pending().next().is_some()
    }

    /// The operations that can still go on by themselves.
    fn pending(&self) -> impl Iterator<Item = usize> {
        let moving =
            |(i, operation): (usize, &Operation)| (operation.progress != Progress::Written).then_some(i);
        self.operations.iter().enumerate().filter_map(moving)
    }
}

impl Context<'_> {
    /// Completes one operation: the oldest, or with a seed a random one. With a seed that makes each `try_wait` give
    /// up, operations that signal one of the mbarriers `waited_for` come first. Returns whether there was an operation.
    pub(super) fn finish_one(&mut self, waited_for: &[usize]) -> Result<bool, Error> {
        let mut pending: Vec<usize> = self.agents.pending().collect();
        if self.impatient() {
            let tells = |i: &usize| match self.agents.operations[*i].completion {
                Completion::Transactions { mbarrier, .. } | Completion::Arrival { mbarrier, .. } => {
                    waited_for.contains(&mbarrier)
                }
                Completion::Group(_) => false,
            };
            let told: Vec<usize> = pending.iter().copied().filter(tells).collect();
            pending = if told.is_empty() { pending } else { told };
        }
        if pending.is_empty() {
            return Ok(false);
        }
        let nth = self.below(pending.len() as u64) as usize;
        self.advance(pending[nth], Progress::Written)?;
        Ok(true)
    }

    /// With a seed, now and then lets one operation read or write. Seeds with which each `try_wait` gives up keep
    /// operations late, as seed 0 does.
    pub(super) fn maybe_step(&mut self) -> Result<(), Error> {
        let late = self.machine.options.seed == 0 || self.impatient();
        if late || self.agents.operations.is_empty() || self.below(2) == 0 {
            return Ok(());
        }
        let count = self.agents.pending().count() as u64;
        if count == 0 {
            return Ok(());
        }
        let nth = self.below(count) as usize;
        let chosen = self.agents.pending().nth(nth);
        chosen.map_or(Ok(()), |i| match self.agents.operations[i].progress {
            Progress::Issued => self.advance(i, Progress::Read),
            _ => self.advance(i, Progress::Written),
        })
    }

    /// Completes every operation that the cluster has issued.
    pub(super) fn finish_all(&mut self) -> Result<(), Error> {
        while self.finish_one(&[])? {}
        Ok(())
    }

    /// `cp.async.bulk.wait_group`: completes all groups of the thread but the latest `keep`; with `read`, only their
    /// reads of the sources.
    pub(super) fn bulk_wait(&mut self, who: Who, keep: u64, read: bool) -> Result<(), Error> {
        let complete = self.agents.group(who).saturating_sub(keep);
        if !read && let Some(shadow) = &mut self.shadow {
            shadow.know_count(who, true, complete as u32);
        }
        let mut i = 0;
        while let Some(operation) = self.agents.operations.get(i) {
            let waited = matches!(operation.completion, Completion::Group(group) if group < complete);
            if !waited || operation.who.thread() != who.thread() {
                i += 1;
                continue;
            }
            self.advance(i, Progress::Read)?;
            self.release(i, who);
            if self.agents.operations[i].progress == Progress::Written {
                self.agents.operations.remove(i);
            } else if read {
                i += 1;
            } else {
                self.advance(i, Progress::Written)?;
            }
        }
        Ok(())
    }

    /// A thread waits for all its copies by `cp.async`, including those that are to arrive at an mbarrier.
    pub(super) fn finish_copies(&mut self, who: Who) -> Result<(), Error> {
        loop {
            let own = |operation: &Operation| {
                matches!(operation.completion, Completion::Arrival { .. })
                    && operation.who.thread() == who.thread()
            };
            let Some(i) = self.agents.operations.iter().position(own) else { return Ok(()) };
            if let Completion::Arrival { mbarrier, .. } = self.agents.operations[i].completion
                && let Some((number, phase)) = self.mbarriers.next_phase(mbarrier)
                && let Some(shadow) = &mut self.shadow
            {
                shadow.know_phase(who.warp as usize, 1 << who.lane, number, phase);
            }
            self.advance(i, Progress::Written)?;
        }
    }

    /// The thread knows that an operation has read its sources, so that the sources may be overwritten.
    fn release(&mut self, i: usize, who: Who) {
        let sources = std::mem::take(&mut self.agents.operations[i].sources);
        let source = self.agents.operations[i].who.source;
        if let Some(shadow) = &mut self.shadow {
            for piece in &sources {
                if let Place::Shared(at) = piece.place {
                    shadow.end_async_read(By::Thread(Who { source, ..who }), at, piece.bytes);
                }
            }
        }
    }

    /// Checks, as a block has exited, that no operation still uses the block's shared memory.
    pub(super) fn check_unfinished(&self, rank: usize) -> Result<(), Error> {
        let uses = |pieces: &[Piece]| {
            pieces.iter().any(|piece| matches!(piece.place, Place::Shared(at) if self.rank_of(at) == rank))
        };
        let found = self.agents.operations.iter().find(|operation| {
            uses(&operation.sources) || operation.progress != Progress::Written && uses(&operation.targets)
        });
        match found {
            Some(operation) => self.note(Error::Unfinished { at: self.at(operation.who), block: self.block }),
            None => Ok(()),
        }
    }

    /// The operations of the running block, and those of others that access its shared memory, oldest first.
    pub(super) fn operations_in_flight(&self) -> Vec<InFlight> {
        let within = |pieces: &[Piece]| {
            let shared = pieces.iter().filter_map(|piece| match piece.place {
                Place::Shared(at) => Some(self.within(at, piece.bytes)),
                Place::Global(_) => None,
            });
            InFlight::united(shared.collect())
        };
        let told = |operation: &Operation| InFlight {
            bytes: operation.data.len() as u64,
            reads: within(&operation.sources),
            writes: within(&operation.targets),
            signals: match operation.completion {
                Completion::Transactions { mbarrier, .. } | Completion::Arrival { mbarrier, .. } => {
                    Some(self.shared_address(mbarrier))
                }
                Completion::Group(_) => None,
            },
            done: operation.progress == Progress::Written,
            ..self.flight(operation.who.source, operation.who.warp, 1 << operation.who.lane)
        };
        let own = |flight: &InFlight| {
            flight.block == self.block || !flight.reads.is_empty() || !flight.writes.is_empty()
        };
        self.agents.operations.iter().map(told).filter(own).collect()
    }

    /// Lets an operation go on to this point. An operation whose end is made known by it is removed.
    fn advance(&mut self, i: usize, to: Progress) -> Result<(), Error> {
        if self.agents.operations[i].progress == Progress::Issued && to > Progress::Issued {
            self.read_sources(i);
            self.agents.operations[i].progress = Progress::Read;
        }
        if self.agents.operations[i].progress == Progress::Read && to > Progress::Read {
            self.write_targets(i);
            self.agents.operations[i].progress = Progress::Written;
            match self.agents.operations[i].completion {
                // An operation whose thread has not waited yet is kept, as the shadow must be told when the thread may
                // overwrite the sources.
                Completion::Group(_) if !self.agents.operations[i].sources.is_empty() => {}
                Completion::Group(_) => drop(self.agents.operations.remove(i)),
                Completion::Transactions { mbarrier, bytes, .. } => {
                    let operation = self.agents.operations.remove(i);
                    self.transact(operation.who, mbarrier, -i64::from(bytes))?;
                }
                Completion::Arrival { mbarrier, operation } => {
                    let Operation { who, .. } = self.agents.operations.remove(i);
                    self.arrive_for_copies(who, mbarrier, operation)?;
                }
            }
        }
        self.changes += 1;
        self.wrote_anew();
        Ok(())
    }

    /// What the stores that are on their way are going to write to these bytes of global memory, oldest first: where in
    /// the bytes, and what.
    pub(super) fn on_their_way(&self, first: u64, bytes: usize) -> Vec<(usize, Vec<u8>)> {
        let end = first + bytes as u64;
        let mut found = Vec::new();
        for operation in &self.agents.operations {
            let moves = operation.progress != Progress::Written && matches!(operation.effect, Effect::Write);
            for target in operation.targets.iter().filter(|_| moves) {
                let Place::Global(at) = target.place else { continue };
                let (from, to) = (at.max(first), (at + target.bytes as u64).min(end));
                if from >= to {
                    continue;
                }
                let gathered;
                let data = match operation.progress {
                    Progress::Issued => {
                        gathered = self.gathered(&operation.sources);
                        &gathered
                    }
                    _ => &operation.data,
                };
                let begin = target.at + (from - at) as usize;
                found.push(((from - first) as usize, data[begin..begin + (to - from) as usize].to_vec()));
            }
        }
        found
    }
}
