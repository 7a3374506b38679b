//! Launching: the grid, its arguments, what is checked, and the report of what was executed.

use std::fmt;
use std::sync::Arc;

use crate::execute::{Mode, Outcome, execute};
use crate::{Deny, Error, Kernel, Memory, Observer, Profile, Severity};

/// The shape and the arguments of a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launch {
    /// Blocks in x, y and z; each at least 1.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z; each at least 1, at most 1024 together.
    pub block: [u32; 3],
    /// Blocks of a cluster in x, y and z, at most 16 together, of which the grid is a multiple. `None`: what the
    /// kernel's `.reqnctapercluster` says, or every block for itself.
    pub cluster: Option<[u32; 3]>,
    /// A cooperative launch (`cudaLaunchCooperativeKernel`): all blocks are there at a time, and `%envreg1` and `%envreg2`
    /// have the address of the memory with which `grid.sync()` waits. In another launch these are 0, and it traps.
    pub cooperative: bool,
    /// Bytes of dynamic shared memory, what `.extern .shared` variables name.
    pub dynamic_shared: u32,
    /// The little-endian bytes of each argument, in order.
    pub args: Vec<Vec<u8>>,
}

/// Called with (blocks done, blocks in all) as a launch proceeds, from the threads that run it.
pub type Progress = Arc<dyn Fn(u64, u64) + Send + Sync>;

/// Called with what the threads of a block have printed by `vprintf`, block by block in their order.
pub type Print = Arc<dyn Fn(&str) + Send + Sync>;

/// What a run checks beyond bounds and alignment, and how it runs. The default checks nothing more.
#[derive(Clone, Default)]
pub struct Options {
    /// Report data races in shared and global memory.
    pub races: bool,
    /// Report reads of registers, shared and local memory that nothing has written, and of global memory from
    /// [`Memory::alloc_uninitialised`].
    pub uninitialised: bool,
    /// Count wavefronts of shared memory and sectors of global memory.
    pub counts: bool,
    /// Permutes the order in which the warps of a cluster run and asynchronous operations take effect; with 0 warps run
    /// in order and operations take effect as late as they may.
    pub seed: u64,
    /// Collects the counts of each instruction. Those of memory need [`Options::counts`] as well.
    pub profile: Option<Profile>,
    /// Worker threads; without it, those of the global rayon pool. One runs on the calling thread, as do all blocks of a kernel
    /// whose blocks can communicate.
    pub threads: Option<usize>,
    /// The most warp instructions that a cluster may execute, a guard against endless loops.
    pub steps: Option<u64>,
    /// Told of every finished block.
    pub progress: Option<Progress>,
    /// Told what the threads print; without it that is lost. Of a run that fails, what was printed until then.
    pub print: Option<Print>,
    /// Sees every instruction of the warps that it chooses.
    pub observer: Option<Arc<dyn Observer>>,
    /// How many seeds [`judge`](crate::judge) tries, from [`Options::seed`] on; 0 counts as 1.
    pub seeds: u32,
    /// How many findings of each severity [`judge`](crate::judge) tells; without it 100. With as many errors an execution ends.
    pub limit: Option<usize>,
    /// The warnings that count as errors.
    pub deny: Deny,
    /// Multiprocessors of the device that is simulated; without it the 132 of an H100 or H200. They decide how many blocks are
    /// there at a time, and so can wait for one another.
    pub multiprocessors: Option<u32>,
}

impl Options {
    /// No check beyond bounds, alignment and what else is always checked: the fastest, for programs that are known to be
    /// right. The same as the default.
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
    /// `wgmma` warp instructions, four for each product.
    pub wgmma: u64,
    /// Barrier arrivals of warps, and of threads at mbarriers.
    pub barriers: u64,
    /// Times that a warp, or some of its lanes, came to a barrier or an mbarrier's phase and had to wait.
    pub waits: u64,
    /// Wavefronts of shared memory, with [`Options::counts`]: what the accesses take with their bank conflicts. An
    /// access takes one for each of its parts (the warp, or halves and quarters of it for accesses of 8 and 16 bytes a
    /// lane, or a matrix of `ldmatrix`), and one more for each further word that its busiest bank is asked for.
    pub wavefronts: u64,
    /// Wavefronts that the same accesses would take without bank conflicts.
    pub least_wavefronts: u64,
    /// Sectors of 32 bytes of global memory, with [`Options::counts`]: those that accesses touch.
    pub sectors: u64,
    /// Sectors that would hold the bytes asked for.
    pub least_sectors: u64,
    /// Bytes of global memory that lanes and bulk copies ask for, with [`Options::counts`].
    pub global_bytes: u64,
    /// Bytes of shared memory that lanes ask for, likewise: without those of bulk copies and of `wgmma`'s descriptors.
    pub shared_bytes: u64,
    /// Warnings, each kind and pair of instructions once.
    pub warnings: u64,
}

impl Report {
    /// Adds another's counts.
    pub(crate) fn add(&mut self, other: &Report) {
        *self = self.with(other, u64::wrapping_add);
    }

    /// What has been counted since.
    pub(crate) fn since(&self, before: &Report) -> Report {
        self.with(before, u64::wrapping_sub)
    }

    fn with(&self, other: &Report, f: fn(u64, u64) -> u64) -> Report {
        Report {
            blocks: f(self.blocks, other.blocks),
            instructions: f(self.instructions, other.instructions),
            global: f(self.global, other.global),
            shared: f(self.shared, other.shared),
            mma: f(self.mma, other.mma),
            wgmma: f(self.wgmma, other.wgmma),
            barriers: f(self.barriers, other.barriers),
            waits: f(self.waits, other.waits),
            wavefronts: f(self.wavefronts, other.wavefronts),
            least_wavefronts: f(self.least_wavefronts, other.least_wavefronts),
            sectors: f(self.sectors, other.sectors),
            least_sectors: f(self.least_sectors, other.least_sectors),
            global_bytes: f(self.global_bytes, other.global_bytes),
            shared_bytes: f(self.shared_bytes, other.shared_bytes),
            warnings: f(self.warnings, other.warnings),
        }
    }
}

/// Shared memory that a block can have, bytes, as on sm_90.
pub(crate) const SHARED_LIMIT: u64 = 227 << 10;
/// Blocks that a cluster can have.
const CLUSTER_LIMIT: u32 = 16;
/// Threads that a block can have.
const THREADS_LIMIT: u64 = 1024;

/// Runs a kernel on a grid of blocks, deterministically for a given [`Options::seed`]. Clusters of blocks run in parallel. If
/// the kernel has instructions by which blocks can communicate through global memory (strong accesses, atomics that tell what
/// they found or whose result depends on their order, such as sums of floats), its blocks take turns on one thread
/// instead. They may wait for one another: a cluster that makes no progress lets others go on, and begin. Only blocks that
/// communicate by data races, which [`Options::races`] reports, depend on the host's timing.
///
/// ```
/// use girih_sim::{Launch, Memory, Options, Program, run};
///
/// let module = girih_ptx::Module::parse(
///     ".version 8.0 .target sm_80 .address_size 64
///      .visible .entry iota(.param .u64 out) {
///        .reg .b32 %i; .reg .b64 %p, %at;
///        ld.param.u64 %p, [out]; mov.u32 %i, %tid.x;
///        mul.wide.u32 %at, %i, 4; add.s64 %at, %at, %p;
///        st.global.u32 [%at], %i; ret;
///      }",
/// )?;
/// let program = Program::load(&module)?;
/// let memory = Memory::new();
/// let out = memory.alloc(64 * 4)?;
/// let launch = Launch { grid: [1; 3], block: [64, 1, 1], args: vec![out.to_le_bytes().into()], ..Launch::default() };
/// let report = run(program.kernel("iota")?, &memory, &launch, &Options::checked())?;
/// assert_eq!(report.blocks, 1);
/// let mut last = [0; 4];
/// memory.read(out + 63 * 4, &mut last)?;
/// assert_eq!(u32::from_le_bytes(last), 63);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// A launch that does not fit the kernel ([`Error::ArgumentCount`], [`Error::ArgumentSize`],
/// [`Error::LaunchShape`], [`Error::SharedTooLarge`]), or the first finding that is an error, of the cluster with the lowest
/// number. Memory written before a finding stays written. Warnings are counted in the report; [`judge`](crate::judge)
/// tells them, and all errors.
pub fn run(kernel: &Kernel, memory: &Memory, launch: &Launch, options: &Options) -> Result<Report, Error> {
    let Outcome { report, findings, .. } = execute(kernel, memory, launch, options, Mode::First)?;
    let warnings = findings.len() as u64;
    match findings.into_iter().find(|finding| finding.severity == Severity::Error) {
        Some(finding) => Err(finding.error),
        None => Ok(Report { warnings, ..report }),
    }
}

/// Blocks of a cluster.
pub(crate) fn cluster(kernel: &Kernel, launch: &Launch) -> Result<[u32; 3], Error> {
    let bad = |what, given: u32, accepted| {
        Err(Error::LaunchShape { kernel: kernel.name.clone(), what, given: given.into(), accepted })
    };
    let cluster = launch.cluster.or(kernel.required_cluster).unwrap_or([1; 3]);
    let blocks = cluster.iter().try_fold(1u32, |product, &n| product.checked_mul(n)).unwrap_or(u32::MAX);
    if let Some(required) = kernel.required_cluster
        && required != cluster
    {
        return bad("blocks of a cluster", blocks, format!("{required:?}, what `.reqnctapercluster` says"));
    }
    let most = kernel.max_cluster.map_or(CLUSTER_LIMIT, |most| most.min(CLUSTER_LIMIT));
    if blocks == 0 || blocks > most {
        return bad("blocks of a cluster", blocks, format!("1 to {most}"));
    }
    for (i, what) in ["grid.x", "grid.y", "grid.z"].into_iter().enumerate() {
        if !launch.grid[i].is_multiple_of(cluster[i]) {
            return bad(
                what,
                launch.grid[i],
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

/// Parameter space: the arguments at their offsets.
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
