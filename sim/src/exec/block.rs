//! A block of the running cluster: its sixteen named barriers, and which of its warps they let go.

use crate::error::Awaited;
use crate::lanes::WARP;
use crate::shadow::{BARRIERS, Shadow};

/// One of a block's sixteen barriers, from the first arrival until it lets the warps go.
#[derive(Clone, Copy, Debug, Default)]
struct Barrier {
    /// Warps that wait.
    waiting: u32,
    /// Warps that have arrived, waiting or not.
    arrived: u32,
    /// Arrivals, as threads: 32 a warp.
    threads: u32,
    /// Threads it waits for; 0 for all that have not exited.
    expected: u32,
    /// Of the threads that came to a `bar.red`, those with the predicate set, and all.
    votes: (u32, u32),
}

/// A block's state apart from its warps' and its shared memory.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    barriers: [Barrier; BARRIERS],
    /// The votes at the barriers when they completed last.
    pub(super) votes: [(u32, u32); BARRIERS],
    /// Warps that have not exited.
    pub(super) live: u32,
    /// Warps that a barrier has let go.
    pub(super) released: u32,
}

impl Block {
    /// A block of this many warps.
    pub(super) fn new(warps: usize) -> Self {
        let live = u32::MAX >> (32 - warps as u32).min(31);
        Block { barriers: [Barrier::default(); BARRIERS], votes: [(0, 0); BARRIERS], live, released: 0 }
    }

    /// A warp arrives at a barrier for `expected` threads (0: all that have not exited). Tells what it should have
    /// been if the warps before it expected another number.
    pub(super) fn arrive(
        &mut self,
        warp: u32,
        id: usize,
        (expected, votes): (u32, (u32, u32)),
        sync: bool,
    ) -> Result<(), u32> {
        let barrier = &mut self.barriers[id];
        if barrier.threads > 0 && barrier.expected != expected {
            return Err(barrier.expected);
        }
        barrier.expected = expected;
        barrier.votes = (barrier.votes.0 + votes.0, barrier.votes.1 + votes.1);
        barrier.threads += WARP as u32;
        barrier.arrived |= 1 << warp;
        if sync {
            barrier.waiting |= 1 << warp;
        }
        Ok(())
    }

    /// Lets the warps at a barrier go if all have come; `first` is the number of the block's first warp.
    pub(super) fn try_complete(&mut self, id: usize, rank: usize, first: usize, shadow: Option<&mut Shadow>) {
        let Barrier { waiting, arrived, threads, expected, votes } = self.barriers[id];
        let complete = if expected == 0 { self.live & !arrived == 0 } else { threads >= expected };
        if threads == 0 || !complete {
            return;
        }
        self.barriers[id] = Barrier::default();
        self.votes[id] = votes;
        self.released |= waiting;
        if let Some(shadow) = shadow {
            shadow.complete(rank * BARRIERS + id, first, waiting);
        }
    }

    /// What a warp at a barrier waits for.
    pub(super) fn awaited(&self, barrier: u32) -> Awaited {
        let Barrier { threads, expected, .. } = self.barriers[barrier as usize];
        let expected = if expected == 0 { self.live.count_ones() * WARP as u32 } else { expected };
        Awaited::Barrier { barrier, arrived: threads, expected }
    }
}
