//! What a backend is: bytes at addresses, loaded code, entries that launch, and a clock.
//!
//! The typed layer above ([`Buffer`](crate::Buffer), [`Kernel`](crate::Kernel)) checks everything that can be checked
//! before a call arrives here, so a backend sees ranges inside live allocations and launches that fit signature and limits.

use std::{sync::Arc, time::Duration};

use girih_ptx as ptx;

use crate::{Error, Kind, LaunchConfig, Limits, Optimization, Resources};

/// A device as the typed layer sees it. Operations take effect in the order of the calls.
pub(crate) trait Backend: Send + Sync {
    fn kind(&self) -> Kind;
    fn limits(&self) -> &Limits;
    /// `bytes` > 0 bytes of unspecified content, aligned to at least 256.
    fn alloc(&self, bytes: usize) -> Result<u64, Error>;
    /// Frees once everything called before has finished.
    fn free(&self, address: u64);
    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), Error>;
    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Error>;
    fn fill(&self, address: u64, byte: u8, bytes: usize) -> Result<(), Error>;
    fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<(), Error>;
    fn load(&self, module: &ptx::Module, optimization: Optimization) -> Result<Arc<dyn Code>, Error>;
    /// A checked tensor map as the device's kernels read it.
    fn encode(&self, map: &ptx::TensorMap) -> Result<[u8; ptx::TENSOR_MAP_BYTES], Error>;
    fn synchronize(&self) -> Result<(), Error>;
    fn clock(&self) -> Result<Box<dyn Clock>, Error>;
    /// The raw stream of a GPU.
    fn stream(&self) -> Option<u64>;
    /// What the simulator saw in its last launch.
    fn report(&self) -> Option<girih_sim::Report>;
    /// What the simulator has found in its last launch.
    fn findings(&self) -> Vec<girih_sim::Finding>;
}

/// A loaded module.
pub(crate) trait Code: Send + Sync {
    /// What the compiler said.
    fn log(&self) -> &str;
    fn kernel(&self, info: &ptx::KernelInfo) -> Result<Arc<dyn Entry>, Error>;
}

/// A kernel of a loaded module; keeps the module loaded.
pub(crate) trait Entry: Send + Sync {
    fn resources(&self) -> Resources;

    /// Launches; `args` holds one parameter's bytes each, in order.
    ///
    /// # Safety
    /// As for [`Kernel::launch`](crate::Kernel::launch).
    #[allow(unsafe_code, reason = "an arbitrary kernel can write anywhere on the device")]
    unsafe fn launch(&self, config: &LaunchConfig, args: Vec<Vec<u8>>) -> Result<(), Error>;
}

/// Two marks in the device's sequence of operations and the time between them.
pub(crate) trait Clock: Send {
    fn start(&mut self) -> Result<(), Error>;
    fn stop(&mut self) -> Result<(), Error>;
    /// Waits until the second mark is reached.
    fn elapsed(&mut self) -> Result<Duration, Error>;
}
