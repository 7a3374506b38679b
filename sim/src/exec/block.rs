//! A block of the running cluster: its sixteen named barriers, and which of its warps they let go.

use crate::error::Awaited;
use crate::lanes::WARP;
use crate::shadow::{BARRIERS, Shadow};

/// One of a block's sixteen barriers, from the first arrival until it lets the warps go.
#[derive(Clone, Copy, Debug, Default, Hash)]
struct Barrier {
    /// The warps that wait at the barrier.
    waiting: u32,
    /// The warps that have arrived, whether they wait or not.
    arrived: u32,
    /// The number of threads that have arrived, 32 for each warp.
    threads: u32,
    /// The number of threads that the barrier is for; 0 for all that have not exited.
    expected: u32,
    /// Of the threads that have arrived with a `bar.red`: how many have the predicate set, and how many there are.
    votes: (u32, u32),
}

/// The state of a block, apart from that of its warps and of its shared memory.
#[derive(Clone, Debug, Hash)]
pub(crate) struct Block {
    barriers: [Barrier; BARRIERS],
    /// For each barrier, the votes of the `bar.red` with which it was last completed.
    pub(super) votes: [(u32, u32); BARRIERS],
    /// Warps that have not exited.
    pub(super) live: u32,
    /// Warps that a barrier has let go and that the cluster has not made ready yet.
    pub(super) released: u32,
}

impl Block {
    /// A block of this many warps.
    pub(super) fn new(warps: usize) -> Self {
        let live = u32::MAX >> (32 - warps as u32).min(31);
        Block { barriers: [Barrier::default(); BARRIERS], votes: [(0, 0); BARRIERS], live, released: 0 }
    }

    /// A warp arrives at a barrier for `expected` threads (0: all that have not exited). The error is the number of
    /// threads that the warps before it expected, if that is another.
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

    /// Lets the warps at a barrier go if all have arrived; `first` is the index of the block's first warp in the
    /// cluster.
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
            shadow.complete(rank * BARRIERS + id, expected == 0, first, waiting);
        }
    }

    /// The barrier that a warp waits for.
    pub(super) fn awaited(&self, barrier: u32) -> Awaited {
        let Barrier { threads, expected, .. } = self.barriers[barrier as usize];
        let expected = if expected == 0 { self.live.count_ones() * WARP as u32 } else { expected };
        Awaited::Barrier { barrier, arrived: threads, expected }
    }
}
