//! mbarriers (PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier").
//!
//! The state of the mbarriers is kept here and not in the eight bytes of shared memory, which are opaque to programs. A
//! phase completes when no arrivals are pending and the transaction count is zero. The state that an arrival returns is
//! 2^20 times the number of phases completed before it, plus the number of arrivals that were pending.

use std::collections::HashMap;

use crate::error::{Awaited, MbarrierFault as Fault};
use crate::shadow::{Scope, Who};
use crate::space::resolve;
use crate::{Access, Error, Phases, Space};

use super::bounds::misaligned;
use super::circles::mixed;
use super::context::Context;

/// The largest count of arrivals, and the largest magnitude of the transaction count.
const MOST: u32 = (1 << 20) - 1;

/// The state of an mbarrier.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mbarrier {
    /// The shadow's index of the mbarrier.
    pub(super) number: usize,
    /// The number of arrivals that the next phase takes.
    expected: u32,
    /// The number of arrivals that the current phase still takes.
    pending: u32,
    /// The transaction count: bytes that are expected and have not come; negative if bytes came before they were
    /// expected.
    transactions: i64,
    /// The number of completed phases.
    pub(super) phases: u64,
}

/// The mbarriers of a cluster, by their place in the cluster's shared memory.
#[derive(Debug, Default)]
pub(super) struct Mbarriers(HashMap<usize, Mbarrier>);

impl Mbarriers {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// The number of completed phases of the mbarrier at this place, if there is one.
    pub(super) fn phases(&self, at: usize) -> Option<u64> {
        self.0.get(&at).map(|mbarrier| mbarrier.phases)
    }

    /// A number for the states of all mbarriers, as programs can distinguish them.
    pub(super) fn state(&self) -> u64 {
        let of = |(&at, mbarrier): (&usize, &Mbarrier)| {
            let Mbarrier { expected, pending, transactions, phases, .. } = *mbarrier;
            let counts = u64::from(expected) << 21 ^ u64::from(pending) ^ (transactions as u64) << 42;
            mixed(at as u64, counts ^ phases << 63)
        };
        self.0.iter().map(of).fold(0, u64::wrapping_add)
    }

    /// The shadow's index of the mbarrier at this place, and the number of completed phases once the current phase is
    /// complete.
    pub(super) fn next_phase(&self, at: usize) -> Option<(usize, u32)> {
        self.0.get(&at).map(|mbarrier| (mbarrier.number, mbarrier.phases as u32 + 1))
    }
}

/// An arrival at an mbarrier.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) count: u32,
    pub(super) drop: bool,
    /// Whether the arrival is `.noComplete`, so that the phase must not complete by it.
    pub(super) no_complete: bool,
    pub(super) by: By,
}

/// The instruction that makes an arrival.
#[derive(Clone, Copy, Debug)]
pub(super) enum By {
    Thread {
        /// The scope of a release; `None` for a relaxed arrival.
        release: Option<Scope>,
    },
    /// The copies that a thread has issued; `operation` is the shadow's index of the arrival.
    Copies { operation: u32 },
}

impl Context<'_> {
    /// Where the mbarrier of a lane's address is in the cluster's shared memory.
    pub(super) fn mbarrier_place(&self, who: Who, space: Space, address: u64) -> Result<usize, Error> {
        let (space, address) = resolve(space, address);
        if !address.is_multiple_of(8) {
            return Err(misaligned(self, who, Access::Write, space, address, 8));
        }
        match space {
            Space::Cluster => self.cluster_at(who, Access::Write, address, 8),
            _ => self.shared_at(who, Access::Write, address, 8),
        }
    }

    pub(super) fn bad_mbarrier(&self, who: Who, at: usize, fault: Fault) -> Error {
        Error::Mbarrier { at: self.at(who), address: self.shared_address(at), fault }
    }

    /// The mbarrier at a place, after a check that this thread, or with `asynchronous` an operation that the thread
    /// issues, may use it.
    pub(super) fn mbarrier(&self, who: Who, at: usize, asynchronous: bool) -> Result<Mbarrier, Error> {
        let found = self.mbarriers.0.get(&at).copied();
        let mbarrier = found.ok_or_else(|| self.bad_mbarrier(who, at, Fault::Absent))?;
        if let Some(shadow) = &self.shadow {
            let used = shadow.use_mbarrier(who, at, mbarrier.number, asynchronous);
            self.checked(who, Access::Write, at, 8, used)?;
        }
        Ok(mbarrier)
    }

    /// The place of the mbarrier that an asynchronous operation will signal.
    pub(super) fn signalled(&self, who: Who, space: Space, address: u64) -> Result<usize, Error> {
        let at = self.mbarrier_place(who, space, address)?;
        self.mbarrier(who, at, true)?;
        Ok(at)
    }

    /// The place of the mbarrier at which copies by `cp.async` of a thread will arrive.
    pub(super) fn own_mbarrier(&self, who: Who, address: u64) -> Result<usize, Error> {
        let at = self.mbarrier_place(who, Space::Generic, address)?;
        self.mbarrier(who, at, false)?;
        Ok(at)
    }

    /// Changes the transaction count of an mbarrier, and completes the phase if nothing is missing any more.
    pub(super) fn transact(&mut self, who: Who, at: usize, bytes: i64) -> Result<(), Error> {
        let Some(mbarrier) = self.mbarriers.0.get_mut(&at) else {
            return Err(self.bad_mbarrier(who, at, Fault::Absent));
        };
        mbarrier.transactions += bytes;
        if mbarrier.transactions.unsigned_abs() > MOST.into() {
            let fault = Fault::Transactions { bytes: mbarrier.transactions };
            return Err(self.bad_mbarrier(who, at, fault));
        }
        self.settle_mbarrier(at);
        Ok(())
    }

    fn settle_mbarrier(&mut self, at: usize) {
        self.changes += 1;
        let Some(mbarrier) = self.mbarriers.0.get_mut(&at) else { return };
        if mbarrier.pending != 0 || mbarrier.transactions != 0 {
            return;
        }
        mbarrier.phases += 1;
        mbarrier.pending = mbarrier.expected;
        if let Some(shadow) = &mut self.shadow {
            shadow.complete_mbarrier(mbarrier.number, mbarrier.phases as u32);
        }
    }

    pub(super) fn init(&mut self, who: Who, at: usize, count: u64) -> Result<(), Error> {
        if count == 0 || count > MOST.into() {
            return Err(self.bad_mbarrier(who, at, Fault::Count { count }));
        }
        let overlaps = (at.saturating_sub(7)..at + 8).any(|place| self.mbarriers.0.contains_key(&place));
        if overlaps {
            return Err(self.bad_mbarrier(who, at, Fault::Present));
        }
        let (number, found) = match &mut self.shadow {
            Some(shadow) => shadow.init_mbarrier(who, at),
            None => (0, Ok(())),
        };
        self.checked(who, Access::Write, at, 8, found)?;
        let expected = count as u32;
        let mbarrier = Mbarrier { number, expected, pending: expected, transactions: 0, phases: 0 };
        self.mbarriers.0.insert(at, mbarrier);
        self.changes += 1;
        Ok(())
    }

    pub(super) fn inval(&mut self, who: Who, at: usize) -> Result<(), Error> {
        self.mbarrier(who, at, false)?;
        self.mbarriers.0.remove(&at);
        self.changes += 1;
        if let Some(shadow) = &mut self.shadow {
            shadow.inval_mbarrier(who, at);
        }
        Ok(())
    }

    /// Arrives at an mbarrier; returns the state before the arrival.
    pub(super) fn arrive_at(&mut self, who: Who, at: usize, arrival: Arrival) -> Result<u64, Error> {
        let mbarrier = self.mbarrier(who, at, false)?;
        let Arrival { count, drop, no_complete, by } = arrival;
        let fault = match count {
            0 => Some(Fault::Count { count: 0 }),
            _ if count > mbarrier.pending => {
                Some(Fault::Arrivals { count, pending: mbarrier.pending, expected: mbarrier.expected })
            }
            _ if no_complete && count == mbarrier.pending && mbarrier.transactions == 0 => {
                Some(Fault::Completes)
            }
            _ => None,
        };
        if let Some(fault) = fault {
            return Err(self.bad_mbarrier(who, at, fault));
        }
        if let Some(shadow) = &mut self.shadow {
            match by {
                By::Thread { release } => shadow.arrive_mbarrier(who, mbarrier.number, release),
                By::Copies { operation } => shadow.arrive_copies(operation, mbarrier.number),
            }
        }
        if let Some(mbarrier) = self.mbarriers.0.get_mut(&at) {
            mbarrier.pending -= count;
            mbarrier.expected = mbarrier.expected.saturating_sub(if drop { count } else { 0 });
        }
        self.report.barriers += 1;
        self.settle_mbarrier(at);
        Ok(mbarrier.phases << 20 | u64::from(mbarrier.pending))
    }

    /// The arrival that `cp.async.mbarrier.arrive` has announced. Without `.noinc` the instruction has raised the
    /// pending count before.
    pub(super) fn arrive_for_copies(&mut self, who: Who, at: usize, operation: u32) -> Result<(), Error> {
        let by = By::Copies { operation };
        let arrival = Arrival { count: 1, drop: false, no_complete: false, by };
        self.arrive_at(who, at, arrival).map(|_| ())
    }

    /// Raises the pending count, so that the current phase takes one more arrival.
    pub(super) fn raise_pending(&mut self, who: Who, at: usize) -> Result<(), Error> {
        let pending = self.mbarriers.0.get_mut(&at).map(|mbarrier| {
            mbarrier.pending += 1;
            mbarrier.pending
        });
        match pending {
            Some(pending) if pending > MOST => {
                Err(self.bad_mbarrier(who, at, Fault::Count { count: pending.into() }))
            }
            _ => Ok(()),
        }
    }

    /// The mbarriers in the running block's shared memory, by address.
    pub(super) fn own_mbarriers(&self) -> Vec<Phases> {
        let own = self.mbarriers.0.iter().filter(|(at, _)| self.rank_of(**at) == self.rank);
        let mut all: Vec<Phases> = own
            .map(|(&at, mbarrier)| Phases {
                address: self.shared_address(at),
                offset: self.within(at, 8).start,
                completed: mbarrier.phases,
                expected: mbarrier.expected,
                pending: mbarrier.pending,
                transactions: mbarrier.transactions,
            })
            .collect();
        all.sort_unstable_by_key(|of| of.address);
        all
    }

    /// The event that lanes at an mbarrier wait for, for a message.
    pub(super) fn awaited_mbarrier(&self, at: usize, parity: u64) -> Awaited {
        let address = self.shared_address(at);
        let state = self.mbarriers.0.get(&at);
        Awaited::Mbarrier {
            address,
            parity: parity as u32 & 1,
            pending: state.map_or(0, |m| m.pending),
            expected: state.map_or(0, |m| m.expected),
            transactions: state.map_or(0, |m| m.transactions),
        }
    }

    /// Raises the transaction count before an arrival of the same instruction; only that arrival may complete the
    /// phase.
    pub(super) fn expect(&mut self, who: Who, at: usize, bytes: u32) -> Result<(), Error> {
        let Some(mbarrier) = self.mbarriers.0.get_mut(&at) else { return Ok(()) };
        mbarrier.transactions += i64::from(bytes);
        if mbarrier.transactions.unsigned_abs() > MOST.into() {
            let fault = Fault::Transactions { bytes: mbarrier.transactions };
            return Err(self.bad_mbarrier(who, at, fault));
        }
        Ok(())
    }
}
