//! Everything that can go wrong, and whose fault it is.

use std::fmt;

/// Whose move it is after an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The call: its message says what would be accepted.
    Caller,
    /// This machine: no driver, no GPU, too old a one, too little memory.
    Target,
    /// The PTX program that was loaded or launched.
    Program,
    /// The driver refused or failed something that girih believes to be correct.
    Driver,
}

/// What a call on a [`Device`](crate::Device), or on something made by one, can fail with.
///
/// Each variant carries the operands, so that its message alone is enough to mend the call;
/// [`Error::fault`] tells whose fault it is.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Text that names no device.
    #[error("{origin}`{text}` names no device: expected auto, cuda, cuda:N (N = 0, 1, ...) or sim")]
    BadSelect {
        /// `GIRIH_DEVICE=` when the text came from the environment, else empty.
        origin: &'static str,
        /// The text.
        text: String,
    },
    /// A GPU was asked for in a build without the feature `cuda`.
    #[error(
        "this build has no CUDA backend: enable the feature `cuda` of girih-device, or choose the device `sim`"
    )]
    NoCudaFeature,
    /// The simulator was asked for in a build without the feature `sim`.
    #[error(
        "this build has no simulator: enable the feature `sim` of girih-device, or choose the device `cuda`"
    )]
    NoSimFeature,
    /// The driver library is not installed.
    #[error("no NVIDIA driver on this machine (libcuda is missing): install it, or choose the device `sim`")]
    NoDriver,
    /// The driver is there and reports no GPU.
    #[error("the NVIDIA driver finds no GPU ({reason}): choose the device `sim`")]
    NoGpu {
        /// What the driver said.
        reason: String,
    },
    /// The index is past the last GPU.
    #[error("there is no GPU cuda:{index}: this machine has {count} (cuda:0 to cuda:{})", count.saturating_sub(1))]
    NoSuchGpu {
        /// The index asked for.
        index: usize,
        /// GPUs present.
        count: usize,
    },
    /// The GPU's compute capability is below what girih generates code for.
    #[error("{name} is sm_{sm}: girih needs sm_{needed} or newer; choose the device `sim`")]
    GpuTooOld {
        /// The GPU's name.
        name: String,
        /// Its architecture, 75 for sm_75.
        sm: u32,
        /// The oldest accepted.
        needed: u32,
    },
    /// The driver is older than the features that girih or a module needs.
    #[error("the NVIDIA driver supports CUDA {driver}, too old for {what}: update the driver")]
    DriverTooOld {
        /// The CUDA version that the driver supports.
        driver: DriverVersion,
        /// What needs a newer one.
        what: String,
    },
    /// A null handle of a context.
    #[error(
        "Device::from_raw: the context is null; a context of cuCtxCreate or cuDevicePrimaryCtxRetain is accepted"
    )]
    NoContext,
    /// A stream of another context.
    #[error(
        "Device::from_raw: the stream {stream:#x} belongs to the context {owner:#x}, not to {context:#x}: a stream of that context \
         is accepted, or the context that the stream belongs to"
    )]
    WrongStream {
        /// The stream.
        stream: u64,
        /// The context of the call.
        context: u64,
        /// The stream's context.
        owner: u64,
    },
    /// The stream that is another one on every thread.
    #[error(
        "the per-thread default stream is another stream on every thread: a stream of cuStreamCreate is accepted, or the \
         legacy default stream 0"
    )]
    PerThreadStream,
    /// A module for another architecture.
    #[error("the module is for {module}, the device is {device}: {rule}")]
    WrongTarget {
        /// The module's `.target`.
        module: String,
        /// The device's architecture.
        device: String,
        /// Which devices run the module.
        rule: &'static str,
    },
    /// Device memory is exhausted.
    #[error("out of device memory: {bytes} bytes wanted, {available} of {total} bytes free")]
    OutOfMemory {
        /// Bytes wanted.
        bytes: u64,
        /// Bytes free.
        available: u64,
        /// Bytes that the device has.
        total: u64,
    },
    /// A buffer's size in bytes does not fit an address.
    #[error("a buffer of {len} elements of {element_bytes} bytes has more bytes than an address can count")]
    TooLong {
        /// Elements.
        len: usize,
        /// Bytes of an element.
        element_bytes: usize,
    },
    /// Source and destination of a copy differ in length.
    #[error("{operation}: the buffer has {buffer} elements, the source {source_len}; they must be equal")]
    Length {
        /// The method.
        operation: &'static str,
        /// The destination's elements.
        buffer: usize,
        /// The source's elements.
        source_len: usize,
    },
    /// Pinned memory of another length than the buffer that is copied into it.
    #[error(
        "Buffer::download_async: the buffer has {buffer} elements, the pinned memory {target}; they must be equal"
    )]
    TargetLength {
        /// The buffer's elements.
        buffer: usize,
        /// The pinned memory's elements.
        target: usize,
    },
    /// A slice beyond its buffer.
    #[error(
        "Buffer::slice: the elements {start}..{end} of a buffer of {len}: ranges inside of 0..{len} are accepted"
    )]
    OutOfRange {
        /// The first element.
        start: usize,
        /// The element behind the last.
        end: usize,
        /// The buffer's elements.
        len: usize,
    },
    /// A slice that could outlive the borrow of its memory.
    #[error(
        "Buffer::slice of memory that is borrowed from cudarc: slice the `Borrowed` itself, or borrow a view of the memory"
    )]
    ScopedSlice,
    /// A copy between slices of a buffer that have elements in common.
    #[error(
        "Buffer::copy_from: source and destination overlap in {bytes} bytes: copy through another buffer"
    )]
    Overlap {
        /// Bytes in common.
        bytes: u64,
    },
    /// An operation that no graph can hold, while one is being captured.
    #[error(
        "{operation} in a capture: launches, Buffer::fill_bytes and Buffer::copy_from are accepted there; call it before or after the \
         capture, or on another stream"
    )]
    NotCaptured {
        /// The method.
        operation: &'static str,
    },
    /// An operation of a stream that another thread or the stream's owner is capturing.
    #[error(
        "{operation}: another thread or the owner of the stream captures it: wait until the capture has ended, or use a stream of \
         its own (Device::new_stream)"
    )]
    CapturedByOther {
        /// The method.
        operation: &'static str,
    },
    /// An operation with a buffer of another stream, where one of the streams is being captured and can't be ordered with the other.
    #[error(
        "{operation}: a buffer of it belongs to another stream, and one of the streams is being captured: capture by Device::capture, \
         which accepts buffers of other streams, or use the buffer outside of the capture"
    )]
    CapturedApart {
        /// The method.
        operation: &'static str,
    },
    /// Memory of someone else whose address is not aligned for the elements.
    #[error(
        "the address {address:#x} is no multiple of {align}, as that of elements of type {element} must be"
    )]
    Misaligned {
        /// The address.
        address: u64,
        /// The element's type.
        element: &'static str,
        /// What the address must be a multiple of.
        align: usize,
    },
    /// An address without memory.
    #[error("no memory of {device} lies at {address:#x}: an address in a live allocation is accepted")]
    NoMemory {
        /// The address.
        address: u64,
        /// The device.
        device: String,
    },
    /// Memory of another device or context.
    #[error(
        "the memory at {address:#x} belongs to {owner}, the buffer was to be of {device}: borrow it there"
    )]
    WrongMemory {
        /// The address.
        address: u64,
        /// The device or the context that it belongs to.
        owner: String,
        /// The device or the context of the call.
        device: String,
    },
    /// More memory of someone else than was allocated.
    #[error(
        "{bytes} bytes from {address:#x} on reach beyond their allocation, which has {available} bytes from there on"
    )]
    BeyondAllocation {
        /// The address.
        address: u64,
        /// Bytes wanted.
        bytes: u64,
        /// Bytes from the address to the end of its allocation.
        available: u64,
    },
    /// A buffer of another device.
    #[error(
        "{what} lives on another device: its address means nothing here; download it and upload it to this device"
    )]
    ForeignBuffer {
        /// Which buffer.
        what: String,
    },
    /// An event of another device.
    #[error(
        "the event was recorded on another device: wait for it on the host, or record an event on this device"
    )]
    ForeignEvent,
    /// A kernel that was loaded on another device.
    #[error(
        "kernel `{kernel}` was loaded on another device than the stream's: load its module on this device"
    )]
    ForeignKernel {
        /// The kernel.
        kernel: String,
    },
    /// The module has no such kernel.
    #[error("the module has no kernel `{kernel}`; it has: {}", list(available))]
    NoSuchKernel {
        /// The name asked for.
        kernel: String,
        /// The kernels there are.
        available: Vec<String>,
    },
    /// Too few or too many arguments.
    #[error("kernel `{kernel}` takes {expected} arguments ({signature}), {given} were given")]
    ArgumentCount {
        /// The kernel.
        kernel: String,
        /// Parameters of the kernel.
        expected: usize,
        /// Arguments given.
        given: usize,
        /// The parameters, `.u64 a, .f32 alpha`.
        signature: String,
    },
    /// An argument does not fit its parameter.
    #[error(
        "kernel `{kernel}`, argument {index}: parameter `{parameter}` is {expected}, the argument is {given}"
    )]
    ArgumentType {
        /// The kernel.
        kernel: String,
        /// Position, from 0.
        index: usize,
        /// The parameter's name.
        parameter: String,
        /// The parameter's type and size.
        expected: String,
        /// The argument's type and size.
        given: String,
    },
    /// An argument's value is not what the kernel relies on.
    #[error(
        "kernel `{kernel}`: parameter `{parameter}` = {value}: the kernel takes {accepted}, as {site} says"
    )]
    ArgumentValue {
        /// The kernel.
        kernel: String,
        /// The parameter's name.
        parameter: String,
        /// The argument, or its address.
        value: i64,
        /// What would be accepted.
        accepted: String,
        /// The line of the program that wrote the kernel and says so.
        site: String,
    },
    /// Arguments by name that are not one for each parameter.
    #[error("kernel `{kernel}`: `{name}` {what}; its parameters are: {}", list(signature))]
    ArgumentName {
        /// The kernel.
        kernel: String,
        /// The name.
        name: String,
        /// What is wrong with it.
        what: &'static str,
        /// The names of the parameters.
        signature: Vec<String>,
    },
    /// Nothing says what block a kernel is for.
    #[error(
        "kernel `{kernel}`: its text does not say its block and its dynamic shared memory; state them by `LaunchConfig::new`"
    )]
    NoBlock {
        /// The kernel.
        kernel: String,
    },
    /// A grid without blocks or a block without threads.
    #[error(
        "kernel `{kernel}`: the {what} {extent:?} is empty; every extent must be at least 1 (skip the launch of empty work)"
    )]
    EmptyLaunch {
        /// The kernel.
        kernel: String,
        /// `grid` or `block`.
        what: &'static str,
        /// The extents given.
        extent: [u32; 3],
    },
    /// An extent of grid or block above the architecture's limit.
    #[error("kernel `{kernel}`: the {what} {extent:?} exceeds the largest {what} {limit:?}")]
    ExtentTooLarge {
        /// The kernel.
        kernel: String,
        /// `grid` or `block`.
        what: &'static str,
        /// The extents given.
        extent: [u32; 3],
        /// The largest extents.
        limit: [u32; 3],
    },
    /// More threads a block than the kernel or the device takes.
    #[error(
        "kernel `{kernel}`: a block {block:?} has {threads} threads, at most {limit} are possible ({why})"
    )]
    TooManyThreads {
        /// The kernel.
        kernel: String,
        /// The block's extents.
        block: [u32; 3],
        /// Their product.
        threads: u64,
        /// Most threads.
        limit: u32,
        /// What sets the limit.
        why: &'static str,
    },
    /// The kernel was compiled for exactly one block shape (`.reqntid`).
    #[error("kernel `{kernel}` needs blocks of exactly {required:?} threads (.reqntid), not {block:?}")]
    BlockShape {
        /// The kernel.
        kernel: String,
        /// The block's extents.
        block: [u32; 3],
        /// The extents required.
        required: [u32; 3],
    },
    /// Clusters that a launch cannot have.
    #[error(
        "kernel `{kernel}`: clusters of {cluster:?} blocks in a grid of {grid:?}: {accepted} are accepted"
    )]
    ClusterShape {
        /// The kernel.
        kernel: String,
        /// Blocks of a cluster.
        cluster: [u32; 3],
        /// Blocks of the grid.
        grid: [u32; 3],
        /// What would be accepted.
        accepted: String,
    },
    /// More shared memory than a block can have.
    #[error(
        "kernel `{kernel}`: {static_bytes} static + {dynamic_bytes} dynamic bytes of shared memory exceed the {limit} a block can have"
    )]
    TooMuchShared {
        /// The kernel.
        kernel: String,
        /// Declared in the kernel, bytes.
        static_bytes: u64,
        /// Asked for at launch, bytes.
        dynamic_bytes: u32,
        /// Most bytes.
        limit: u32,
    },
    /// A module that is no well-formed PTX.
    #[error("malformed PTX module: {0}")]
    Ptx(#[from] girih_ptx::Error),
    /// A tensor map that the hardware does not take.
    #[error("{0}")]
    TensorMap(girih_ptx::Error),
    /// A tensor map of more than its buffer.
    #[error(
        "the tensor starts {start} bytes into its buffer and has {}: the buffer has {buffer}",
        tensor.map_or("more than an address can count".into(), |bytes| format!("{bytes} bytes"))
    )]
    TensorOutside {
        /// Where the tensor starts in the buffer, bytes.
        start: usize,
        /// Bytes from the tensor's first to behind its last element; none if an address can't count them.
        tensor: Option<u64>,
        /// Bytes of the buffer.
        buffer: usize,
    },
    /// An architecture without tensor maps.
    #[error(
        "tensor maps need sm_{needed} or newer, the device is sm_{sm}: choose another kernel, or the device `sim`"
    )]
    NoTensorMaps {
        /// The device's architecture.
        sm: u32,
        /// The oldest that has them.
        needed: u32,
    },
    /// The driver's compiler refused the module.
    #[error("the driver's PTX compiler refused the module ({code}):\n{}{log}", at(line.as_ref()))]
    Jit {
        /// The driver's error code.
        code: String,
        /// The compiler's log.
        log: String,
        /// The first PTX line that the log names: its number, from 1, and its text.
        line: Option<(usize, String)>,
    },
    /// A kernel launched earlier failed while it ran; the driver reports it at the next call.
    #[error(
        "a kernel failed on the GPU: {code} ({text}), reported by {call}; this process can't use the GPU any more. \
         Run the same call on the device `sim` to find the instruction"
    )]
    KernelFailed {
        /// The driver's error code.
        code: String,
        /// The driver's description.
        text: String,
        /// The call that reported it.
        call: &'static str,
    },
    /// Any other failure of the driver.
    #[error("the driver's {call} failed: {code} ({text})")]
    Driver {
        /// The driver's function.
        call: &'static str,
        /// The driver's error code.
        code: String,
        /// The driver's description.
        text: String,
    },
    /// The simulator refused the module, or found the kernel at fault.
    #[cfg(feature = "sim")]
    #[error("simulator: {0}")]
    Sim(#[from] girih_sim::Error),
}

/// As it is displayed, so that `fn main() -> Result<(), Error>` reads well.
impl std::fmt::Debug for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl Error {
    /// Whose fault it is.
    ///
    /// ```
    /// use girih_device::{Fault, Select};
    /// let error = "tpu".parse::<Select>().unwrap_err();
    /// assert_eq!(error.fault(), Fault::Caller);
    /// ```
    pub fn fault(&self) -> Fault {
        use Error::*;
        match self {
            NoDriver | NoGpu { .. } | GpuTooOld { .. } | DriverTooOld { .. } | NoTensorMaps { .. } => {
                Fault::Target
            }
            WrongTarget { .. } | OutOfMemory { .. } => Fault::Target,
            Ptx(_) | Jit { .. } | KernelFailed { .. } => Fault::Program,
            #[cfg(feature = "sim")]
            Sim(_) => Fault::Program,
            Driver { .. } => Fault::Driver,
            _ => Fault::Caller,
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

fn list(names: &[String]) -> String {
    if names.is_empty() { "none".into() } else { names.join(", ") }
}

fn at(line: Option<&(usize, String)>) -> String {
    line.map_or_else(String::new, |(number, text)| format!("  line {number}: {}\n", text.trim()))
}
