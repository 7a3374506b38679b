//! The options of an execution: its checks, its reports, and its order.
#![deny(clippy::cast_possible_truncation, clippy::cast_sign_loss)]

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::{Deny, Observer, Profile};

/// A function that is called with the number of finished blocks and the number of all blocks as a launch proceeds, on
/// the threads that run the launch.
pub type Progress = Arc<dyn Fn(u64, u64) + Send + Sync>;

/// A function that is called with the text that the threads of a block have printed by `vprintf`, block by block in
/// order.
pub type Print = Arc<dyn Fn(&str) + Send + Sync>;

/// The options of an execution: checks in addition to bounds and alignment, and the order. The default has no additional checks.
#[derive(Clone, Default)]
pub struct Options {
    /// Report data races in shared and global memory.
    pub races: bool,
    /// Report uses of undefined values: of registers, shared and local memory that nothing has written, and of global
    /// memory from [`Memory::alloc_uninitialised`](crate::Memory::alloc_uninitialised) that nothing has written.
    pub uninitialised: bool,
    /// Count wavefronts of shared memory and sectors of global memory.
    pub counts: bool,
    /// Permutes the order in which the warps of a cluster run and asynchronous operations take effect; with 0 warps run
    /// in order and operations take effect as late as they may.
    pub seed: u64,
    /// The number of a warp of each block that has a turn only where nothing else can go on, neither another warp nor an
    /// asynchronous operation. A warp that must not fall behind, but does not say so, is found by this, and hardly by chance.
    pub slow: Option<u32>,
    /// Collects the counts of each instruction. The counts of memory accesses also need [`Options::counts`].
    pub profile: Option<Profile>,
    /// The number of worker threads; without it, that of the global rayon pool. With one thread everything runs on the
    /// calling thread, as do all blocks of a kernel whose blocks can communicate.
    pub threads: Option<usize>,
    /// The most warp instructions that a cluster of blocks (a block, where there are no clusters) may execute, a guard
    /// against endless loops; [`Options::STEPS`] without it. `Some(u64::MAX)` is no limit.
    pub steps: Option<u64>,
    /// Set from outside, it ends the launch with [`Error::Stopped`](crate::Error::Stopped) within milliseconds.
    pub stop: Option<Arc<AtomicBool>>,
    /// Called after every finished block.
    pub progress: Option<Progress>,
    /// Called with the text that threads print; without it the text is lost. Of an execution that fails, the text
    /// printed before the failure is passed on.
    pub print: Option<Print>,
    /// Called for every instruction of the warps that the observer chooses.
    pub observer: Option<Arc<dyn Observer>>,
    /// How many seeds [`judge`](crate::judge) tries, from [`Options::seed`] on; 0 counts as 1.
    pub seeds: u32,
    /// How many findings of each severity [`judge`](crate::judge) reports; 100 without it. An execution ends when it
    /// has as many errors.
    pub limit: Option<usize>,
    /// The warnings that count as errors.
    pub deny: Deny,
    /// SMs of the simulated device; without it 132, as in an H100 or H200. They decide how many blocks are
    /// resident at a time, so that they can wait for one another.
    pub multiprocessors: Option<u32>,
}

impl Options {
    /// The most warp instructions that a cluster may execute where [`Options::steps`] does not say so: 50 million, which
    /// take some 20 seconds with all checks.
    pub const STEPS: u64 = 50_000_000;

    /// No checks but those that are always made (bounds, alignment and some more). This is the fastest, for programs
    /// that are known to be right, and is the default.
    pub fn fast() -> Self {
        Self::default()
    }

    /// Every check on.
    pub fn checked() -> Self {
        Options { races: true, uninitialised: true, ..Self::default() }
    }

    pub(crate) fn most_steps(&self) -> u64 {
        self.steps.unwrap_or(Self::STEPS)
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop.load(Relaxed))
    }

    pub(crate) fn most_findings(&self) -> usize {
        self.limit.unwrap_or(100).max(1)
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            races,
            uninitialised,
            counts,
            seed,
            slow,
            profile,
            threads,
            steps,
            progress,
            print,
            observer,
            ..
        } = self;
        f.debug_struct("Options")
            .field("races", races)
            .field("uninitialised", uninitialised)
            .field("counts", counts)
            .field("seed", seed)
            .field("slow", slow)
            .field("profile", &profile.is_some())
            .field("threads", threads)
            .field("steps", steps)
            .field("progress", &progress.is_some())
            .field("print", &print.is_some())
            .field("observer", &observer.is_some())
            .field("seeds", &self.seeds)
            .field("limit", &self.limit)
            .field("deny", &self.deny)
            .field("multiprocessors", &self.multiprocessors)
            .finish()
    }
}
