//! A launch of a kernel: the grid and the arguments, and whether they fit the kernel.
#![deny(clippy::cast_possible_truncation, clippy::cast_sign_loss)]

use crate::{Error, Kernel};

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
    // A product of more than 64 bits exceeds every limit.
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
#[expect(clippy::cast_possible_truncation, reason = "the parameters of a kernel have at most 32764 bytes")]
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
