//! A launch of a kernel: the grid, the arguments and the options, and whether they fit the kernel.

use std::fmt;
use std::sync::Arc;

use crate::{Deny, Error, Kernel, Observer, Profile};

/// The shape and the arguments of a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launch {
    /// Blocks in x, y and z; each at least 1.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z; each at least 1, at most 1024 together.
    pub block: [u32; 3],
    /// Blocks of a cluster in x, y and z, at most 16 together; the grid must be a multiple of it. Without it the
    /// kernel's `.reqnctapercluster` is used, and otherwise every block is a cluster.
    pub cluster: Option<[u32; 3]>,
    /// Whether the launch is cooperative (`cudaLaunchCooperativeKernel`): all blocks are resident at a time, and
    /// `%envreg1` and `%envreg2` hold the address of the memory that `grid.sync()` uses. In other launches these
    /// registers are 0, and `grid.sync()` traps.
    pub cooperative: bool,
    /// Bytes of dynamic shared memory, for the `.extern .shared` variables.
    pub dynamic_shared: u32,
    /// The little-endian bytes of each argument, in order.
    pub args: Vec<Vec<u8>>,
}

/// A function that is called with the number of finished blocks and the number of all blocks as a launch proceeds, on
/// the threads that run the launch.
pub type Progress = Arc<dyn Fn(u64, u64) + Send + Sync>;

/// A function that is called with the text that the threads of a block have printed by `vprintf`, block by block in
/// order.
pub type Print = Arc<dyn Fn(&str) + Send + Sync>;

/// What an execution checks beyond bounds and alignment, and how it proceeds. The default checks nothing more.
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
    /// The most warp instructions that a cluster may execute, a guard against endless loops.
    pub steps: Option<u64>,
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
    /// Multiprocessors of the simulated device; without it 132, as in an H100 or H200. They decide how many blocks are
    /// resident at a time, so that they can wait for one another.
    pub multiprocessors: Option<u32>,
}

impl Options {
    /// No checks but those that are always made (bounds, alignment and some more). This is the fastest, for programs
    /// that are known to be right, and is the default.
    pub fn fast() -> Self {
        Self::default()
    }

    /// Every check on.
    pub fn checked() -> Self {
        Options { races: true, uninitialised: true, ..Self::default() }
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

/// Shared memory that a block can have, bytes, as on sm_90.
pub(crate) const SHARED_LIMIT: u64 = 227 << 10;
/// Blocks that a cluster can have.
const CLUSTER_LIMIT: u32 = 16;
/// Threads that a block can have.
const THREADS_LIMIT: u64 = 1024;

/// Blocks of a cluster, as the launch or the kernel says, after a check.
pub(crate) fn cluster(kernel: &Kernel, launch: &Launch) -> Result<[u32; 3], Error> {
    let bad = |what, given: u64, accepted| {
        Err(Error::LaunchShape { kernel: kernel.name.clone(), what, given, accepted })
    };
    let cluster = launch.cluster.or(kernel.required_cluster).unwrap_or([1; 3]);
    // What 64 bits do not hold is too many in any case.
    let blocks = cluster.iter().fold(1u64, |product, &n| product.saturating_mul(n.into()));
    if let Some(required) = kernel.required_cluster
        && required != cluster
    {
        return bad("blocks of a cluster", blocks, format!("{required:?}, what `.reqnctapercluster` says"));
    }
    let most = kernel.max_cluster.map_or(CLUSTER_LIMIT, |most| most.min(CLUSTER_LIMIT));
    if blocks == 0 || blocks > most.into() {
        return bad("blocks of a cluster", blocks, format!("1 to {most}"));
    }
    for (i, what) in ["grid.x", "grid.y", "grid.z"].into_iter().enumerate() {
        if !launch.grid[i].is_multiple_of(cluster[i]) {
            return bad(
                what,
                launch.grid[i].into(),
                format!("a multiple of {}, the blocks of a cluster", cluster[i]),
            );
        }
    }
    Ok(cluster)
}

pub(crate) fn check_shape(kernel: &Kernel, launch: &Launch) -> Result<(), Error> {
    let limits = [
        ("grid.x", launch.grid[0], 0x7fff_ffff),
        ("grid.y", launch.grid[1], 65535),
        ("grid.z", launch.grid[2], 65535),
        ("block.x", launch.block[0], 1024),
        ("block.y", launch.block[1], 1024),
        ("block.z", launch.block[2], 64),
    ];
    let bad = |what, given, accepted| {
        Err(Error::LaunchShape { kernel: kernel.name.clone(), what, given, accepted })
    };
    for (what, given, most) in limits {
        if given == 0 || given > most {
            return bad(what, given.into(), format!("1 to {most}"));
        }
    }
    let threads = launch.block.iter().map(|&n| u64::from(n)).product::<u64>();
    if threads > THREADS_LIMIT {
        return bad("threads of a block", threads, format!("at most {THREADS_LIMIT}"));
    }
    if let Some(required) = kernel.required_threads
        && required != launch.block
    {
        return bad("threads of a block", threads, format!("{required:?}, what `.reqntid` says"));
    }
    if let Some(most) = kernel.max_threads {
        let most = most.iter().map(|&n| u64::from(n)).product::<u64>();
        if threads > most {
            return bad("threads of a block", threads, format!("at most {most}, what `.maxntid` says"));
        }
    }
    Ok(())
}

/// The contents of the parameter space: the arguments at the offsets of their parameters.
pub(crate) fn arguments(kernel: &Kernel, launch: &Launch) -> Result<Vec<u8>, Error> {
    let (expected, given) = (kernel.params.len(), launch.args.len());
    if expected != given {
        let params: Vec<&str> = kernel.params.iter().map(|param| &*param.declaration).collect();
        let params = if params.is_empty() { "none".into() } else { params.join(", ") };
        return Err(Error::ArgumentCount { kernel: kernel.name.clone(), params, expected, given });
    }
    let mut space = Vec::new();
    for (index, (param, arg)) in kernel.params.iter().zip(&launch.args).enumerate() {
        if param.bytes != arg.len() as u64 {
            return Err(Error::ArgumentSize {
                kernel: kernel.name.clone(),
                index,
                name: param.name.to_string(),
                expected: param.bytes,
                given: arg.len(),
            });
        }
        space.resize(param.offset as usize, 0);
        space.extend_from_slice(arg);
    }
    Ok(space)
}
