//! The interface of a backend: bytes at addresses, loaded code, entries that launch kernels, marks and a clock.
//!
//! The typed layer above ([`Buffer`](crate::Buffer), [`Kernel`](crate::Kernel)) checks everything that can be checked
//! before it calls a backend, so a backend is given ranges inside live allocations, and launches that fit the signature and the
//! limits. The typed layer also orders the streams: a backend is one sequence of operations and knows of no other sequence.

use std::{sync::Arc, time::Duration};

use girih_ptx::{self as ptx, KernelInfo};

use crate::sizes::size;
use crate::{Assembled, Error, Kind, LaunchConfig, Limits, Optimization};

/// One sequence of operations of a device, as the typed layer sees it. Operations take effect in the order of the calls.
pub(crate) trait Backend: Send + Sync {
    fn kind(&self) -> Kind;
    fn limits(&self) -> &Limits;
    /// A number that two backends of a kind share if the addresses, the code and the marks of one mean the same to the other.
    fn identity(&self) -> u64;
    /// Makes another sequence of the same device.
    fn new_stream(&self) -> Result<Box<dyn Backend>, Error>;
    /// Allocates `bytes` > 0 bytes of unspecified content, aligned to at least 256.
    fn alloc(&self, bytes: usize) -> Result<u64, Error>;
    /// Frees an allocation once all operations before this call have finished.
    fn free(&self, address: u64);
    /// Checks that `bytes` > 0 bytes, which another library may have allocated, are in one allocation that this device can use.
    fn check_range(&self, address: u64, bytes: usize) -> Result<(), Error>;
    /// Starts a copy from the host.
    ///
    /// # Safety
    /// Nothing writes or frees `bytes` before a mark that is set after the call has been reached.
    #[allow(unsafe_code, reason = "the copy may go on after the call")]
    unsafe fn write(&self, address: u64, bytes: &[u8]) -> Result<(), Error>;
    /// Starts a copy to the host.
    ///
    /// # Safety
    /// Nothing reads, writes or frees `bytes` before a mark that is set after the call has been reached.
    #[allow(unsafe_code, reason = "the copy may go on after the call")]
    unsafe fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Error>;
    /// Allocates `bytes` > 0 zeros on the host, page-locked if the device is faster with such memory.
    fn pinned(&self, bytes: usize) -> Result<Box<dyn HostMemory>, Error>;
    fn fill(&self, address: u64, byte: u8, bytes: usize) -> Result<(), Error>;
    fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<(), Error>;
    /// Loads a module, or the code that was `built` of the module if the backend can.
    fn load(
        &self,
        module: &ptx::Module,
        optimization: Optimization,
        built: Option<&Assembled>,
    ) -> Result<Arc<dyn Code>, Error>;
    /// Encodes a checked tensor map as the device's kernels read it.
    fn encode(&self, map: &ptx::TensorMap) -> Result<[u8; ptx::TENSOR_MAP_BYTES], Error>;
    /// Changes the encoding of a map into the encoding of `map`, which differs from the other map by the address alone.
    fn readdress(&self, map: &ptx::TensorMap, bytes: &mut [u8; ptx::TENSOR_MAP_BYTES]) -> Result<(), Error>;
    fn synchronize(&self) -> Result<(), Error>;
    /// Sets a mark after all operations so far.
    fn mark(&self) -> Result<Box<dyn Mark>, Error>;
    /// Lets later operations wait for a mark of a sequence with the same identity.
    fn wait(&self, mark: &dyn Mark) -> Result<(), Error>;
    /// Whether operations go into a graph of the driver, no matter which library captures.
    fn is_capturing(&self) -> bool;
    /// Lets the driver capture the operations from here on. False if the backend has no captures: then the operations must be
    /// called for each replay.
    fn begin_capture(&self) -> Result<bool, Error>;
    /// Ends the driver's capture, also when this call fails.
    fn end_capture(&self) -> Result<Box<dyn Executable>, Error>;
    fn clock(&self) -> Result<Box<dyn Clock>, Error>;
    /// The raw handle of a GPU's stream; `None` on the simulator.
    fn stream(&self) -> Option<u64>;
    /// The simulator's report on its last successful launch.
    #[cfg(feature = "sim")]
    fn report(&self) -> Option<girih_sim::Report>;
    /// The first byte among these that nobody has written, as far as a simulator keeps account.
    fn unwritten(&self, _address: u64, _bytes: usize) -> Option<u64> {
        None
    }
    /// The simulator's findings in its last launch.
    #[cfg(feature = "sim")]
    fn findings(&self) -> Vec<girih_sim::Finding>;
}

/// A loaded module.
pub(crate) trait Code: Send + Sync {
    /// The log of the compiler.
    fn log(&self) -> &str;
    fn kernel(&self, info: &Arc<ptx::KernelInfo>) -> Result<Arc<dyn Entry>, Error>;
}

/// A kernel of a loaded module, which keeps the module loaded.
pub(crate) trait Entry: Send + Sync {
    fn resources(&self) -> Resources;

    /// The raw handle of a GPU's function; `None` on the simulator.
    fn function(&self) -> Option<u64>;

    /// Tells the driver what it must know before launches with this configuration. Later calls with other configurations take
    /// nothing back.
    fn allow(&self, config: &LaunchConfig) -> Result<(), Error>;

    /// Launches the kernel into a sequence of the module's device. `args` holds the bytes of the arguments in order, without gaps.
    ///
    /// # Safety
    /// As for [`Kernel::launch`](crate::Kernel::launch); and the configuration has been given to [`allow`](Entry::allow).
    #[allow(unsafe_code, reason = "an arbitrary kernel can write anywhere on the device")]
    unsafe fn launch(&self, on: &dyn Backend, config: &LaunchConfig, args: &[u8]) -> Result<(), Error>;
}

/// The operations that the driver has captured from a sequence. Calls are made one at a time.
pub(crate) trait Executable: Send + Sync {
    /// Replays the operations in that sequence.
    fn launch(&self) -> Result<(), Error>;
}

/// Memory on the host, aligned for every type of element.
pub(crate) trait HostMemory: Send + Sync {
    fn bytes(&self) -> &[u8];
    fn bytes_mut(&mut self) -> &mut [u8];
}

/// A mark in a sequence of operations.
pub(crate) trait Mark: Send + Sync {
    /// The raw handle of a GPU's event.
    #[cfg(feature = "cuda")]
    fn raw(&self) -> u64;
    /// Waits until all operations before the mark have finished.
    fn synchronize(&self) -> Result<(), Error>;
    fn is_done(&self) -> Result<bool, Error>;
}

/// Two marks in the device's sequence of operations, and the time between the two.
pub(crate) trait Clock: Send {
    fn start(&mut self) -> Result<(), Error>;
    fn stop(&mut self) -> Result<(), Error>;
    /// Waits until the second mark is reached.
    fn elapsed(&mut self) -> Result<Duration, Error>;
}

/// The resources of a device that a kernel takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resources {
    /// 32-bit registers of a thread; `None` on the simulator.
    pub registers: Option<u32>,
    /// Bytes of a thread's local memory, spilled registers included; `None` on the simulator.
    pub local_bytes: Option<u32>,
    /// Bytes of the spill stores and loads that the compiler reports; `None` on the simulator or without a report.
    pub spill_bytes: Option<u32>,
    /// Bytes of shared memory that the kernel declares, without dynamic shared memory.
    pub static_shared: u32,
    /// The most threads that a block may have.
    pub max_threads: u32,
    /// The number of instructions in the PTX text. The GPU's code has other instructions.
    pub instructions: usize,
}

/// Cuts the bytes of all arguments, which are in order without gaps, into the bytes of each argument.
pub(crate) fn each_argument<'a>(
    info: &'a KernelInfo,
    mut args: &'a [u8],
) -> impl ExactSizeIterator<Item = &'a [u8]> {
    info.params.iter().map(move |parameter| {
        let (own, rest) = args.split_at(size(parameter.bytes));
        args = rest;
        own
    })
}
