//! The kind of a device, and its limits.

use std::fmt;

/// The kind of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// An NVIDIA GPU, through its driver.
    Cuda,
    /// The CPU simulator.
    Sim,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Cuda => "cuda",
            Kind::Sim => "sim",
        })
    }
}

/// The limits of a device. They are limits of one block, unless the name says otherwise (CUDA C++ Programming Guide, "Compute
/// Capabilities").
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The device's name.
    pub name: String,
    /// The architecture: 90 for sm_90, which is compute capability 9.0.
    pub sm: u32,
    /// The number of SMs.
    pub multiprocessors: u32,
    /// The most bytes of shared memory of a block, static and dynamic together, that a launch may ask for.
    pub shared_per_block_optin: u32,
    /// Bytes of shared memory of an SM.
    pub shared_per_multiprocessor: u32,
    /// The most threads of a block.
    pub threads_per_block: u32,
    /// The most threads that run on an SM at the same time.
    pub threads_per_multiprocessor: u32,
    /// 32-bit registers of a block.
    pub registers_per_block: u32,
    /// The most blocks of a grid along x, y, z.
    pub grid: [u32; 3],
    /// The most threads of a block along x, y, z; `threads_per_block` bounds the product of the three.
    pub block: [u32; 3],
    /// Bytes of L2 cache.
    pub l2_bytes: u64,
    /// Bytes of global memory.
    pub memory_bytes: u64,
    /// The highest clock of the SMs in kHz.
    pub clock_khz: u32,
    /// The CUDA version that the driver supports; `None` on the simulator.
    pub driver_version: Option<DriverVersion>,
}

impl Limits {
    /// The oldest architecture that can be opened, since all kernels that girih generates need sm_80.
    pub const OLDEST_SM: u32 = 80;

    /// The limits of the simulator: those of an H200, with as much memory as the simulator has.
    #[cfg(feature = "sim")]
    pub(crate) fn simulator(memory_bytes: u64, multiprocessors: Option<u32>) -> Limits {
        Limits {
            name: "girih simulator".into(),
            sm: 90,
            multiprocessors: multiprocessors.unwrap_or(132),
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

/// The CUDA version that a driver supports, 13.0 for instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DriverVersion {
    /// 13 of 13.0.
    pub major: u32,
    /// 0 of 13.0.
    pub minor: u32,
}

impl fmt::Display for DriverVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}
