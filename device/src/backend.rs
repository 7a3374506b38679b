//! What a backend is: bytes at addresses, loaded code, entries that launch, marks and a clock.
//!
//! The typed layer above ([`Buffer`](crate::Buffer), [`Kernel`](crate::Kernel)) checks everything that can be checked
//! before a call arrives here, so a backend sees ranges inside live allocations and launches that fit signature and limits.
//! It also keeps streams in order: a backend is one sequence of operations and knows nothing of the others.

use std::{sync::Arc, time::Duration};

use girih_ptx as ptx;

use crate::{Error, Kind, LaunchConfig, Limits, Optimization, Resources};

/// One sequence of operations of a device, as the typed layer sees it. Operations take effect in the order of the calls.
pub(crate) trait Backend: Send + Sync {
    fn kind(&self) -> Kind;
    fn limits(&self) -> &Limits;
    /// Equal for two of a kind if addresses, code and marks of one mean the same to the other.
    fn identity(&self) -> u64;
    /// Another sequence of the same device.
    fn new_stream(&self) -> Result<Box<dyn Backend>, Error>;
    /// `bytes` > 0 bytes of unspecified content, aligned to at least 256.
    fn alloc(&self, bytes: usize) -> Result<u64, Error>;
    /// Frees once everything called before has finished.
    fn free(&self, address: u64);
    /// Whether `bytes` > 0 bytes of someone else lie in one allocation that this device can use.
    fn check_range(&self, address: u64, bytes: usize) -> Result<(), Error>;
    /// Copies from the host.
    ///
    /// # Safety
    /// Nothing writes or frees `bytes` before a mark that is set behind the call has been reached.
    #[allow(unsafe_code, reason = "the copy may go on after the call")]
    unsafe fn write(&self, address: u64, bytes: &[u8]) -> Result<(), Error>;
    /// Copies to the host.
    ///
    /// # Safety
    /// Nothing reads, writes or frees `bytes` before a mark that is set behind the call has been reached.
    #[allow(unsafe_code, reason = "the copy may go on after the call")]
    unsafe fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Error>;
    /// `bytes` > 0 zeros on the host, page-locked if that helps.
    fn pinned(&self, bytes: usize) -> Result<Box<dyn HostMemory>, Error>;
    fn fill(&self, address: u64, byte: u8, bytes: usize) -> Result<(), Error>;
    fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<(), Error>;
    fn load(&self, module: &ptx::Module, optimization: Optimization) -> Result<Arc<dyn Code>, Error>;
    /// A checked tensor map as the device's kernels read it.
    fn encode(&self, map: &ptx::TensorMap) -> Result<[u8; ptx::TENSOR_MAP_BYTES], Error>;
    /// Makes of an encoded map that of `map`, which differs from it by the address alone.
    fn readdress(&self, map: &ptx::TensorMap, bytes: &mut [u8; ptx::TENSOR_MAP_BYTES]) -> Result<(), Error>;
    fn synchronize(&self) -> Result<(), Error>;
    /// A mark behind everything called so far.
    fn mark(&self) -> Result<Box<dyn Mark>, Error>;
    /// Lets later operations wait for a mark of a sequence of the same identity.
    fn wait(&self, mark: &dyn Mark) -> Result<(), Error>;
    /// Whether operations go into a graph of the driver's, no matter who captures.
    fn is_capturing(&self) -> bool;
    /// Lets the driver capture what is called from here on. False: it can't, and the operations must be called for each replay.
    fn begin_capture(&self) -> Result<bool, Error>;
    /// Ends the driver's capture, even when this fails.
    fn end_capture(&self) -> Result<Box<dyn Executable>, Error>;
    fn clock(&self) -> Result<Box<dyn Clock>, Error>;
    /// The raw stream of a GPU.
    fn stream(&self) -> Option<u64>;
    /// What the simulator saw in its last launch.
    #[cfg(feature = "sim")]
    fn report(&self) -> Option<girih_sim::Report>;
    /// What the simulator has found in its last launch.
    #[cfg(feature = "sim")]
    fn findings(&self) -> Vec<girih_sim::Finding>;
}

/// A loaded module.
pub(crate) trait Code: Send + Sync {
    /// What the compiler said.
    fn log(&self) -> &str;
    fn kernel(&self, info: &Arc<ptx::KernelInfo>) -> Result<Arc<dyn Entry>, Error>;
}

/// A kernel of a loaded module; keeps the module loaded.
pub(crate) trait Entry: Send + Sync {
    fn resources(&self) -> Resources;

    /// The raw handle of a GPU's function.
    fn function(&self) -> Option<u64>;

    /// Makes launches of that configuration possible, now and later.
    fn allow(&self, config: &LaunchConfig) -> Result<(), Error>;

    /// Launches into a sequence of the module's device; `args` holds the bytes of the parameters in order, without gaps.
    ///
    /// # Safety
    /// As for [`Kernel::launch`](crate::Kernel::launch); the configuration has been allowed.
    #[allow(unsafe_code, reason = "an arbitrary kernel can write anywhere on the device")]
    unsafe fn launch(&self, on: &dyn Backend, config: &LaunchConfig, args: &[u8]) -> Result<(), Error>;
}

/// What the driver has captured from a sequence; one call at a time.
pub(crate) trait Executable: Send + Sync {
    /// Replays it in that sequence.
    fn launch(&self) -> Result<(), Error>;
}

/// Memory on the host, aligned for every type of element.
pub(crate) trait HostMemory: Send + Sync {
    fn bytes(&self) -> &[u8];
    fn bytes_mut(&mut self) -> &mut [u8];
}

/// A mark in a sequence of operations.
pub(crate) trait Mark: Send + Sync {
    /// The raw event of a GPU.
    #[cfg(feature = "cuda")]
    fn raw(&self) -> u64;
    /// Waits until everything before the mark has finished.
    fn synchronize(&self) -> Result<(), Error>;
    fn is_done(&self) -> Result<bool, Error>;
}

/// Two marks in the device's sequence of operations and the time between them.
pub(crate) trait Clock: Send {
    fn start(&mut self) -> Result<(), Error>;
    fn stop(&mut self) -> Result<(), Error>;
    /// Waits until the second mark is reached.
    fn elapsed(&mut self) -> Result<Duration, Error>;
}
