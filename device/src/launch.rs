//! The configuration of a launch, and whether the kernel and the device allow it.

use girih_ptx::KernelInfo;

use crate::{Error, Limits};

/// The configuration of a launch: its grid, block, cluster and dynamic shared memory, and whether it is cooperative or programmatic.
///
/// ```
/// use girih_device::LaunchConfig;
/// let config = LaunchConfig::linear(1000, 128);
/// assert_eq!((config.grid, config.block, config.dynamic_shared), ([8, 1, 1], [128, 1, 1], 0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LaunchConfig {
    /// Blocks along x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block along x, y, z.
    pub block: [u32; 3],
    /// Blocks of a cluster along x, y, z; the grid must be a multiple of them. With `None` the kernel's `.reqnctapercluster`
    /// says the cluster; without that directive there are no clusters.
    pub cluster: Option<[u32; 3]>,
    /// Bytes of dynamic shared memory of a block, beyond the bytes that the kernel declares.
    pub dynamic_shared: u32,
    /// Whether all blocks run at the same time (`cudaLaunchCooperativeKernel`), so that they can wait for one another, as
    /// `grid.sync()` of cooperative groups does. A grid of more blocks than the device can run at a time is refused.
    pub cooperative: bool,
    /// Whether the kernel may begin before the kernel before it in its stream has ended (programmatic dependent launch, sm_90). The kernel
    /// must wait for it by `griddepcontrol.wait` before it reads or writes global memory: every thread that does so, which the caller of an
    /// `unsafe` launch promises. A kernel without any such wait is refused.
    pub programmatic: bool,
}

impl LaunchConfig {
    /// A launch without dynamic shared memory, with clusters only if the kernel requires them, neither cooperative nor programmatic.
    pub const fn new(grid: [u32; 3], block: [u32; 3]) -> LaunchConfig {
        let (cooperative, programmatic) = (false, false);
        LaunchConfig { grid, block, cluster: None, dynamic_shared: 0, cooperative, programmatic }
    }

    /// A launch of one-dimensional blocks of `block` threads, with at least `threads` threads in all.
    pub const fn linear(threads: u32, block: u32) -> LaunchConfig {
        let blocks = if block == 0 { 0 } else { threads.div_ceil(block) };
        LaunchConfig::new([blocks, 1, 1], [block, 1, 1])
    }

    /// The same launch with clusters of this many blocks along x, y, z: at most 16 blocks together, on sm_90 and newer.
    pub const fn with_cluster(self, cluster: [u32; 3]) -> LaunchConfig {
        LaunchConfig { cluster: Some(cluster), ..self }
    }

    /// The same launch with `bytes` bytes of dynamic shared memory.
    pub const fn with_dynamic_shared(self, bytes: u32) -> LaunchConfig {
        LaunchConfig { dynamic_shared: bytes, ..self }
    }

    /// The same launch as a cooperative one.
    pub const fn cooperative(self) -> LaunchConfig {
        LaunchConfig { cooperative: true, ..self }
    }

    /// The same launch, which may begin before the kernel before it has ended.
    pub const fn programmatic(self) -> LaunchConfig {
        LaunchConfig { programmatic: true, ..self }
    }
}

/// The most blocks of a cluster. A GPU may have no room for a cluster of more than 8.
const CLUSTER_LIMIT: u64 = 16;

fn check_cluster(info: &KernelInfo, limits: &Limits, config: &LaunchConfig) -> Result<(), Error> {
    let (Some(cluster), required) = (config.cluster.or(info.required_cluster), info.required_cluster) else {
        return Ok(());
    };
    let refused = |accepted: String| {
        Err(Error::ClusterShape { kernel: info.name.to_string(), cluster, grid: config.grid, accepted })
    };
    // A product of more than 64 bits exceeds every limit.
    let blocks = cluster.iter().fold(1u64, |product, &extent| product.saturating_mul(extent.into()));
    if limits.sm < 90 {
        return refused(format!("none on sm_{}: clusters need sm_90", limits.sm));
    }
    if let Some(required) = required
        && required != cluster
    {
        return refused(format!("{required:?}, what .reqnctapercluster says"));
    }
    if blocks == 0 || blocks > CLUSTER_LIMIT {
        return refused(format!("1 to {CLUSTER_LIMIT} blocks"));
    }
    if config.grid.iter().zip(cluster).any(|(extent, by)| !extent.is_multiple_of(by)) {
        return refused(String::from("extents that divide the grid's"));
    }
    Ok(())
}

pub(crate) fn check_extents(
    info: &KernelInfo,
    limits: &Limits,
    max_threads: u32,
    config: &LaunchConfig,
) -> Result<(), Error> {
    let kernel = || info.name.to_string();
    for (what, extent, limit) in [("grid", config.grid, limits.grid), ("block", config.block, limits.block)] {
        if extent.contains(&0) {
            return Err(Error::EmptyLaunch { kernel: kernel(), what, extent });
        }
        if extent.iter().zip(limit).any(|(&extent, limit)| extent > limit) {
            return Err(Error::ExtentTooLarge { kernel: kernel(), what, extent, limit });
        }
    }
    check_cluster(info, limits, config)?;
    if config.programmatic && !info.waits_for_grids {
        return Err(Error::Programmatic { kernel: kernel() });
    }
    let block = config.block;
    if let Some(required) = info.required_threads.filter(|&required| required != block) {
        return Err(Error::BlockShape { kernel: kernel(), block, required });
    }
    let threads: u64 = block.iter().map(|&extent| u64::from(extent)).product();
    // More threads than 32 bits count are no limit.
    let declared = info.max_threads.and_then(|n| u32::try_from(n).ok()).unwrap_or(u32::MAX);
    for (limit, why) in [
        (declared, "the kernel's .maxntid"),
        (limits.threads_per_block, "the device's limit"),
        (max_threads, "the registers that the compiled kernel needs"),
    ] {
        if threads > u64::from(limit) {
            return Err(Error::TooManyThreads { kernel: kernel(), block, threads, limit, why });
        }
    }
    let static_bytes = info.static_shared_bytes;
    let (dynamic_bytes, limit) = (config.dynamic_shared, limits.shared_per_block_optin);
    if static_bytes.saturating_add(dynamic_bytes.into()) > u64::from(limit) {
        return Err(Error::TooMuchShared { kernel: kernel(), static_bytes, dynamic_bytes, limit });
    }
    Ok(())
}
