//! What a device has.

use crate::DriverVersion;

/// A device's limits, of a block unless the name says otherwise (CUDA C++ Programming Guide, "Compute Capabilities").
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The device's name.
    pub name: String,
    /// Architecture: 90 for sm_90, compute capability 9.0.
    pub sm: u32,
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// Bytes of shared memory of a block, dynamic part opted in.
    pub shared_per_block_optin: u32,
    /// Bytes of shared memory of a multiprocessor.
    pub shared_per_multiprocessor: u32,
    /// Threads of a block.
    pub threads_per_block: u32,
    /// Threads resident on a multiprocessor.
    pub threads_per_multiprocessor: u32,
    /// 32-bit registers of a block.
    pub registers_per_block: u32,
    /// Largest grid, x, y, z, in blocks.
    pub grid: [u32; 3],
    /// Largest block, x, y, z, in threads; their product is bounded by `threads_per_block` as well.
    pub block: [u32; 3],
    /// Bytes of L2 cache.
    pub l2_bytes: u64,
    /// Bytes of global memory.
    pub memory_bytes: u64,
    /// Peak clock of the multiprocessors, kHz.
    pub clock_khz: u32,
    /// CUDA version that the driver supports; none on the simulator.
    pub driver_version: Option<DriverVersion>,
}

impl Limits {
    /// The oldest architecture that is opened: everything that girih generates needs sm_80.
    pub const OLDEST_SM: u32 = 80;

    /// The simulator's: an H200's, with as much memory as the simulator hands out.
    #[cfg(feature = "sim")]
    pub(crate) fn simulator(memory_bytes: u64) -> Limits {
        Limits {
            name: "girih simulator".into(),
            sm: 90,
            multiprocessors: 132,
            shared_per_block_optin: 227 << 10,
            shared_per_multiprocessor: 228 << 10,
            threads_per_block: 1024,
            threads_per_multiprocessor: 2048,
            registers_per_block: 65536,
            grid: [i32::MAX as u32, 65535, 65535],
            block: [1024, 1024, 64],
            l2_bytes: 50 << 20,
            memory_bytes,
            clock_khz: 1_980_000,
            driver_version: None,
        }
    }
}
