//! Asynchronous operations on their way: each reads its source and writes its destination at times of its own.
//!
//! An operation is queued when its instruction is executed. The scheduler lets operations go on, in no order among
//! themselves; without a seed as late as the ISA allows, which is when a thread waits for them or nothing else can
//! happen. Reading and writing are two moments.

use std::collections::HashMap;

use crate::Error;
use crate::op::Update;
use crate::shadow::{By, Who};

use super::context::Context;

/// Where bytes of an operation come from or go to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// A global address, which has been checked.
    Global(u64),
    /// A place in the cluster's shared memory.
    Shared(usize),
}

/// Bytes of an operation's data and their place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) place: Place,
    /// Where they are among the data.
    pub(super) at: usize,
    pub(super) bytes: usize,
}

/// What an operation does with its data.
#[derive(Clone, Copy, Debug)]
pub(super) enum Effect {
    Write,
    /// Combines elements of this many bytes with those that are there.
    Reduce(u32, Update),
    /// Converts the elements that it reads.
    Convert(fn(&mut [u8])),
}

/// What tells of an operation's end.
#[derive(Clone, Copy, Debug)]
pub(super) enum Completion {
    /// Bytes off the transaction count of the mbarrier at this place; the number is the shadow's.
    Transactions { mbarrier: usize, bytes: u32, operation: u32 },
    /// A bulk group of the thread, by number.
    Group(u64),
    /// An arrival of the thread at the mbarrier at this place: `cp.async.mbarrier.arrive`.
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

/// How far an operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Progress {
    Issued,
    /// The source has been read.
    Read,
    /// The destination has been written; only a group that is yet to be waited for is left like that.
    Written,
}

/// The operations of a cluster that have been issued and not told complete, oldest first.
#[derive(Debug, Default)]
pub(super) struct Agents {
    operations: Vec<Operation>,
    /// Bulk groups that each thread of the cluster has committed.
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

    /// The group that a thread's next operation belongs to.
    pub(super) fn group(&self, who: Who) -> u64 {
        self.committed.get(&who.thread()).copied().unwrap_or_default()
    }

    /// Whether an operation can still go on by itself.
    fn pending(&self) -> impl Iterator<Item = usize> {
        let moving =
            |(i, operation): (usize, &Operation)| (operation.progress != Progress::Written).then_some(i);
        self.operations.iter().enumerate().filter_map(moving)
    }
}

impl Context<'_> {
    /// Lets one operation go all the way: the oldest, or with a seed any; where a `try_wait` gives up, one that tells one
    /// of these mbarriers, if there is one. Whether there was one at all.
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

    /// With a seed, now and then lets one operation make a step; with those where a `try_wait` gives up, none.
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

    /// Everything that the cluster has issued takes effect.
    pub(super) fn finish_all(&mut self) -> Result<(), Error> {
        while self.finish_one(&[])? {}
        Ok(())
    }

    /// `cp.async.bulk.wait_group`: all groups of the thread but the latest `keep` are complete; with `read` they have
    /// read their sources.
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

    /// A thread waits for its `cp.async`: those that an mbarrier is to tell arrive too.
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

    /// The thread knows that an operation has read its sources: they are free.
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

    /// A block has exited: nothing may still use its shared memory.
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

    /// Lets an operation go on until it is there; one that is told complete then is gone.
    fn advance(&mut self, i: usize, to: Progress) -> Result<(), Error> {
        if self.agents.operations[i].progress == Progress::Issued && to > Progress::Issued {
            self.read_sources(i);
            self.agents.operations[i].progress = Progress::Read;
        }
        if self.agents.operations[i].progress == Progress::Read && to > Progress::Read {
            self.write_targets(i);
            self.agents.operations[i].progress = Progress::Written;
            match self.agents.operations[i].completion {
                // It is kept until its thread has waited, if that matters to the memory that it read.
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
        Ok(())
    }

    fn read_sources(&mut self, i: usize) {
        let operation = &mut self.agents.operations[i];
        for piece in &operation.sources {
            let data = &mut operation.data[piece.at..piece.at + piece.bytes];
            match piece.place {
                Place::Shared(at) => data.copy_from_slice(&self.shared[at..at + piece.bytes]),
                Place::Global(address) => {
                    if let Some((index, offset)) = self.machine.view.find(address, piece.bytes as u64) {
                        self.machine.view.allocations[index].read(offset, data);
                    }
                    if let Effect::Convert(convert) = operation.effect {
                        convert(data);
                    }
                }
            }
        }
    }

    fn write_targets(&mut self, i: usize) {
        let operation = &self.agents.operations[i];
        let by = match operation.completion {
            Completion::Transactions { mbarrier, operation, .. }
            | Completion::Arrival { mbarrier, operation } => self
                .mbarriers
                .next_phase(mbarrier)
                .map(|(mbarrier, phase)| By::Phase { mbarrier, phase, operation }),
            Completion::Group(_) => None,
        };
        for piece in &operation.targets {
            let data = &operation.data[piece.at..piece.at + piece.bytes];
            match (piece.place, operation.effect) {
                (Place::Shared(at), Effect::Reduce(bytes, update)) => {
                    reduce(&mut self.shared[at..at + piece.bytes], data, bytes as usize, update);
                }
                (Place::Shared(at), _) => self.shared[at..at + piece.bytes].copy_from_slice(data),
                (Place::Global(address), effect) => {
                    let Some((index, offset)) = self.machine.view.find(address, piece.bytes as u64) else {
                        continue;
                    };
                    let allocation = &self.machine.view.allocations[index];
                    match effect {
                        Effect::Reduce(bytes, update) => {
                            for (i, element) in data.chunks_exact(bytes as usize).enumerate() {
                                let b = word(element);
                                allocation
                                    .update(offset + i * bytes as usize, bytes, |old| update(old, b, 0));
                            }
                        }
                        _ => allocation.write(offset, data),
                    }
                }
            }
        }
        let (Some(shadow), Some(by)) = (&mut self.shadow, by) else { return };
        for piece in &operation.targets {
            if let Place::Shared(at) = piece.place {
                shadow.end_async_write(by, at, piece.bytes);
            }
        }
        for piece in &operation.sources {
            if let Place::Shared(at) = piece.place {
                shadow.end_async_read(by, at, piece.bytes);
            }
        }
    }
}

/// Combines elements of shared memory.
fn reduce(to: &mut [u8], data: &[u8], bytes: usize, update: Update) {
    for (to, element) in to.chunks_exact_mut(bytes).zip(data.chunks_exact(bytes)) {
        let new = update(word(to), word(element), 0).to_le_bytes();
        to.copy_from_slice(&new[..bytes]);
    }
}

/// Up to 8 little-endian bytes.
fn word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word.iter_mut().zip(bytes).for_each(|(to, &from)| *to = from);
    u64::from_le_bytes(word)
}
