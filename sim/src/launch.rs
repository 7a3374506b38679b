//! Launching: the grid, its arguments, what is checked, and the report of what was executed.

use std::fmt;
use std::sync::Arc;

/// The shape and the arguments of a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launch {
    /// Blocks in x, y and z; each at least 1.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z; each at least 1, at most 1024 together.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory, what `.extern .shared` variables name.
    pub dynamic_shared: u32,
    /// The little-endian bytes of each argument, in order.
    pub args: Vec<Vec<u8>>,
}

/// Called with (blocks done, blocks in all) as a launch proceeds, from the threads that run it.
pub type Progress = Arc<dyn Fn(u64, u64) + Send + Sync>;

/// What a run checks beyond bounds and alignment, and how it runs. The default checks nothing more.
#[derive(Clone, Default)]
pub struct Options {
    /// Report data races in shared memory.
    pub races: bool,
    /// Report reads of registers, shared and local memory that nothing has written.
    pub uninitialised: bool,
    /// Permutes the order in which the warps of a block run; with 0 they run in order.
    pub seed: u64,
    /// Worker threads; without it, those of the global rayon pool. One runs on the calling thread.
    pub threads: Option<usize>,
    /// The most warp instructions that a block may execute, a guard against endless loops.
    pub steps: Option<u64>,
    /// Told of every finished block.
    pub progress: Option<Progress>,
}

impl Options {
    /// Every check on.
    pub fn checked() -> Self {
        Options { races: true, uninitialised: true, ..Self::default() }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { races, uninitialised, seed, threads, steps, progress } = self;
        f.debug_struct("Options")
            .field("races", races)
            .field("uninitialised", uninitialised)
            .field("seed", seed)
            .field("threads", threads)
            .field("steps", steps)
            .field("progress", &progress.is_some())
            .finish()
    }
}

/// What a launch executed. Instructions are counted once a warp, if at least one of its lanes executes them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Blocks executed.
    pub blocks: u64,
    /// Warp instructions executed.
    pub instructions: u64,
    /// Warp instructions that read or wrote global memory, `cp.async` included.
    pub global: u64,
    /// Warp instructions that read or wrote shared memory, `ldmatrix` and `cp.async` included.
    pub shared: u64,
    /// `mma` warp instructions.
    pub mma: u64,
    /// Barrier arrivals of warps.
    pub barriers: u64,
}

impl Report {
    /// Adds another block's counts.
    pub(crate) fn add(&mut self, other: &Report) {
        self.blocks += other.blocks;
        self.instructions += other.instructions;
        self.global += other.global;
        self.shared += other.shared;
        self.mma += other.mma;
        self.barriers += other.barriers;
    }
}
