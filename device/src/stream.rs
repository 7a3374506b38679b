//! Streams: sequences of operations of one device, and the order between them.

use std::{
    mem,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::{Error, backend::Backend};

mod capture;
mod code;
mod memory;

pub(crate) use capture::{Capture, Operation};
pub(crate) use code::Loaded;
use code::Unused;
pub(crate) use memory::{Allocation, Owner};

/// One sequence of operations. The caller that puts an operation into the sequence holds the turn of the sequence, so that the
/// operation and the waits around the operation stay together when several threads call.
pub(crate) struct Sequence {
    /// The place of the sequence in the order in which several turns are taken, so that threads never wait for one another in a
    /// circle.
    number: u64,
    backend: Box<dyn Backend>,
    turn: Mutex<Turn>,
}

/// The state of a sequence that matters to the next operation.
#[derive(Default)]
pub(crate) struct Turn {
    /// The graph that operations go into, while the sequence is being captured by girih.
    pub(crate) capture: Option<Capture>,
    /// The operations for the end of the capture.
    later: Vec<Later>,
}

enum Later {
    Free(u64),
    Unload(Unused),
}

impl Turn {
    /// Refuses an operation if the sequence is being captured, by girih or by the library that owns the stream.
    pub(crate) fn refuse(&self, backend: &dyn Backend, operation: &'static str) -> Result<(), Error> {
        match &self.capture {
            Some(capture) => capture.of_this_thread(operation).and(Err(Error::NotCaptured { operation })),
            None if backend.is_capturing() => Err(Error::CapturedByOther { operation }),
            None => Ok(()),
        }
    }
}

/// The turns of a sequence and of the other sequences that an operation is ordered with.
pub(crate) struct Turns<'a> {
    own: MutexGuard<'a, Turn>,
    others: Vec<MutexGuard<'a, Turn>>,
}

impl Turns<'_> {
    /// The graph that the operation goes into, if the sequence is being captured by girih.
    pub(crate) fn capture(&mut self) -> Option<&mut Capture> {
        self.own.capture.as_mut()
    }
}

impl Sequence {
    pub(crate) fn new(backend: Box<dyn Backend>) -> Sequence {
        static NUMBERS: AtomicU64 = AtomicU64::new(0);
        Sequence { number: NUMBERS.fetch_add(1, Ordering::Relaxed), backend, turn: Mutex::default() }
    }

    pub(crate) fn backend(&self) -> &dyn Backend {
        &*self.backend
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    pub(crate) fn turn(&self) -> MutexGuard<'_, Turn> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_captured(&self, turn: &Turn) -> bool {
        turn.capture.is_some() || self.backend.is_capturing()
    }

    /// Takes the turns of this sequence and of the others, which are sorted by their numbers and do not contain this one.
    fn take_turns<'a>(&'a self, others: &'a [Arc<Sequence>]) -> Turns<'a> {
        let before = others.partition_point(|other| other.number < self.number);
        let (before, after) = others.split_at(before);
        let mut turns: Vec<_> = before.iter().map(|other| other.turn()).collect();
        let own = self.turn();
        turns.extend(after.iter().map(|other| other.turn()));
        Turns { own, others: turns }
    }

    /// Puts an operation into this sequence, after all operations that are in the other sequences now, and lets later operations
    /// of the other sequences wait for it. The caller holds the turns of all these sequences.
    pub(crate) fn ordered<R>(
        &self,
        others: &[Arc<Sequence>],
        operation: impl FnOnce(&dyn Backend) -> Result<R, Error>,
    ) -> Result<R, Error> {
        for other in others {
            self.backend.wait(&*other.backend.mark()?)?;
        }
        let outcome = operation(&*self.backend)?;
        if others.is_empty() {
            return Ok(outcome);
        }
        let mark = self.backend.mark();
        let told = mark.and_then(|mark| others.iter().try_for_each(|other| other.backend.wait(&*mark)));
        if let Err(error) = told {
            // The other sequences could free the memory while the operation still uses the memory, so the host waits.
            self.backend.synchronize()?;
            return Err(error);
        }
        Ok(outcome)
    }

    /// Frees memory that was allocated in this sequence, after all operations so far.
    pub(crate) fn free(&self, address: u64) {
        let mut turn = self.turn();
        if self.is_captured(&turn) {
            turn.later.push(Later::Free(address));
        } else {
            self.backend.free(address);
        }
    }

    /// Waits for all operations so far, before code is unloaded, and returns the code. While the sequence is being captured it
    /// can't be waited for: then the sequence keeps the code until the capture has ended. Errors are not reported, since code is
    /// unloaded in drops; the next call reports a kernel that failed.
    pub(crate) fn settle(&self, code: Unused) -> Option<Unused> {
        let mut turn = self.turn();
        if self.is_captured(&turn) {
            turn.later.push(Later::Unload(code));
            return None;
        }
        let mark = self.backend.mark();
        drop(turn);
        if let Ok(mark) = mark {
            let _ = mark.synchronize();
        }
        Some(code)
    }

    /// Whether all operations so far have finished. False if the driver can't tell.
    pub(crate) fn is_idle(&self) -> bool {
        let turn = self.turn();
        !self.is_captured(&turn) && self.backend.mark().and_then(|mark| mark.is_done()).unwrap_or(false)
    }

    /// Frees and unloads what could not be freed and unloaded during a capture that has ended.
    pub(crate) fn catch_up(&self) {
        let mut turn = self.turn();
        if turn.later.is_empty() || self.is_captured(&turn) {
            return;
        }
        let later = mem::take(&mut turn.later);
        drop(turn);
        self.do_now(later);
    }

    fn do_now(&self, later: Vec<Later>) {
        for later in later {
            match later {
                Later::Free(address) => self.backend.free(address),
                Later::Unload(code) => {
                    let _ = self.backend.mark().and_then(|mark| mark.synchronize());
                    code.unload();
                }
            }
        }
    }
}

/// Operations: each is ordered with the other sequences whose memory the operation uses.
impl Sequence {
    /// Refuses a call, such as loading a module, that joins no sequence and yet must not be made while the sequence is being captured.
    pub(crate) fn refuse_in_capture(&self, operation: &'static str) -> Result<(), Error> {
        self.turn().refuse(self.backend(), operation)
    }

    /// The home sequences of some memory, sorted by their numbers, without this sequence.
    pub(crate) fn others<'a>(
        &self,
        uses: impl IntoIterator<Item = &'a Arc<Allocation>>,
    ) -> Vec<Arc<Sequence>> {
        let foreign = |home: &&Arc<Sequence>| home.number != self.number;
        let homes = uses.into_iter().map(|memory| memory.home());
        let mut others: Vec<_> = homes.filter(foreign).cloned().collect();
        others.sort_unstable_by_key(|other| other.number);
        others.dedup_by_key(|other| other.number);
        others
    }

    /// Puts an operation on some memory into the sequence. No graph can hold the operation, so it is refused in a capture.
    pub(crate) fn submit<R>(
        &self,
        name: &'static str,
        uses: &[&Arc<Allocation>],
        operation: impl FnOnce(&dyn Backend) -> Result<R, Error>,
    ) -> Result<R, Error> {
        self.catch_up();
        let others = self.others(uses.iter().copied());
        let turns = self.take_turns(&others);
        turns.own.refuse(self.backend(), name)?;
        refuse_captured(name, &others, &turns)?;
        self.ordered(&others, operation)
    }

    /// Puts an operation on some memory into the sequence, or in a capture into the graph, which then keeps the memory.
    pub(crate) fn submit_or_capture(
        &self,
        name: &'static str,
        uses: &[&Arc<Allocation>],
        operation: impl Fn(&dyn Backend) -> Result<(), Error> + Send + Sync + 'static,
    ) -> Result<(), Error> {
        let others = self.others(uses.iter().copied());
        let mut turns = self.turns(name, &others)?;
        match turns.capture() {
            Some(capture) => capture.add(self.backend(), uses.iter().copied(), None, operation),
            None => self.ordered(&others, operation),
        }
    }

    /// Takes the turns for an operation that a graph can hold, and that uses memory of the other sequences.
    pub(crate) fn turns<'a>(
        &'a self,
        operation: &'static str,
        others: &'a [Arc<Sequence>],
    ) -> Result<Turns<'a>, Error> {
        let mut turns = self.take_turns(others);
        match turns.capture() {
            Some(capture) => capture.of_this_thread(operation)?,
            None if !others.is_empty() && self.backend().is_capturing() => {
                return Err(Error::CapturedApart { operation });
            }
            None => refuse_captured(operation, others, &turns)?,
        }
        Ok(turns)
    }
}

impl Drop for Sequence {
    fn drop(&mut self) {
        let turn = self.turn.get_mut().unwrap_or_else(PoisonError::into_inner);
        let later = mem::take(&mut turn.later);
        if !later.is_empty() && self.backend.is_capturing() {
            // The library that owns the stream still captures it. To free or to wait now would spoil the capture, so what is left
            // stays allocated.
            mem::forget(later);
        } else {
            self.do_now(later);
        }
    }
}

/// Refuses an operation if one of the sequences that it must be ordered with is being captured: the waits would go into the graph.
fn refuse_captured(
    operation: &'static str,
    others: &[Arc<Sequence>],
    turns: &Turns<'_>,
) -> Result<(), Error> {
    match others.iter().zip(&turns.others).any(|(other, turn)| other.is_captured(turn)) {
        true => Err(Error::CapturedApart { operation }),
        false => Ok(()),
    }
}

#[cfg(all(test, feature = "cuda", feature = "sim"))]
mod tests;
