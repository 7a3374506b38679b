//! The errors of this crate.

use std::path::PathBuf;

use crate::DriverVersion;

/// What a call on a [`Device`](crate::Device), or on something made by one, can fail with.
///
/// Each variant carries the operands, and its message says what would have been accepted, so that the call can be corrected from
/// the message alone. [`Error::fault`] says whose fault an error is.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A text that names no device.
    #[error("{origin}`{text}` names no device: expected auto, cuda, cuda:N (N = 0, 1, ...) or sim")]
    BadSelect {
        /// `GIRIH_DEVICE=` if the text came from that environment variable, otherwise empty.
        origin: &'static str,
        /// The text.
        text: String,
    },
    /// A line that is no [`Record`](crate::Record).
    #[error(
        "`{line}`: seven fields with tabs between them are accepted: machine, driver, day, problem, configuration, and microseconds of it and of the \
         chosen one"
    )]
    Record {
        /// The line.
        line: String,
    },
    /// A GPU was named in a build without the feature `cuda`.
    #[error(
        "this build has no CUDA backend: enable the feature `cuda` of girih-device, or choose the device `sim`"
    )]
    NoCudaFeature,
    /// The simulator was named in a build without the feature `sim`.
    #[error(
        "this build has no simulator: enable the feature `sim` of girih-device, or choose the device `cuda`"
    )]
    NoSimFeature,
    /// The driver's library is not installed.
    #[error("no NVIDIA driver on this machine (libcuda is missing): install it, or choose the device `sim`")]
    NoDriver,
    /// The driver is installed and finds no GPU.
    #[error("the NVIDIA driver finds no GPU ({reason}): choose the device `sim`")]
    NoGpu {
        /// The driver's error code, or that it counts no GPU.
        reason: String,
    },
    /// The index is behind the last GPU.
    #[error("there is no GPU cuda:{index}: this machine has {count} (cuda:0 to cuda:{})", count.saturating_sub(1))]
    NoSuchGpu {
        /// The index, from 0.
        index: usize,
        /// The number of GPUs.
        count: usize,
    },
    /// The GPU is older than the architectures that girih generates code for.
    #[error("{name} is sm_{sm}: girih needs sm_{needed} or newer; choose the device `sim`")]
    GpuTooOld {
        /// The GPU's name.
        name: String,
        /// Its architecture, 75 for sm_75.
        sm: u32,
        /// The oldest architecture that is accepted.
        needed: u32,
    },
    /// The driver is too old for girih or for a module.
    #[error("the NVIDIA driver supports CUDA {driver}, too old for {what}: update the driver")]
    DriverTooOld {
        /// The CUDA version that the driver supports.
        driver: DriverVersion,
        /// What needs a newer driver.
        what: String,
    },
    /// A context whose handle is null.
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
        /// The stream's handle.
        stream: u64,
        /// The handle of the context that the call names.
        context: u64,
        /// The handle of the stream's context.
        owner: u64,
    },
    /// The per-thread default stream, which is a different stream on every thread.
    #[error(
        "the per-thread default stream is a different stream on every thread: a stream of cuStreamCreate is accepted, or the \
         legacy default stream 0"
    )]
    PerThreadStream,
    /// A module for an architecture that the device does not run.
    #[error("the module is for {module}, the device is {device}: {rule}")]
    WrongTarget {
        /// The module's `.target`.
        module: String,
        /// The device's architecture.
        device: String,
        /// The rule that says which devices run the module.
        rule: &'static str,
    },
    /// Device memory is exhausted.
    #[error("out of device memory: {bytes} bytes wanted, {available} of {total} bytes free")]
    OutOfMemory {
        /// Bytes wanted.
        bytes: u64,
        /// Bytes free.
        available: u64,
        /// Bytes of memory that the device has.
        total: u64,
    },
    /// A buffer with more bytes than an address can count.
    #[error("a buffer of {len} elements of {element_bytes} bytes has more bytes than an address can count")]
    TooLong {
        /// The number of elements.
        len: usize,
        /// Bytes of one element.
        element_bytes: usize,
    },
    /// A copy whose source and destination have different lengths.
    #[error("{operation}: the buffer has {buffer} elements, the source {source_len}; they must be equal")]
    Length {
        /// The method that was called.
        operation: &'static str,
        /// The number of elements of the destination.
        buffer: usize,
        /// The number of elements of the source.
        source_len: usize,
    },
    /// Pinned memory of another length than the buffer that is to be copied into the memory.
    #[error(
        "Buffer::download_async: the buffer has {buffer} elements, the pinned memory {target}; they must be equal"
    )]
    TargetLength {
        /// The number of elements of the buffer.
        buffer: usize,
        /// The number of elements of the pinned memory.
        target: usize,
    },
    /// A slice that is not inside its buffer.
    #[error(
        "Buffer::slice: the elements {start}..{end} of a buffer of {len}: ranges inside 0..{len} are accepted"
    )]
    OutOfRange {
        /// The first element.
        start: usize,
        /// The element behind the last.
        end: usize,
        /// The number of elements of the buffer.
        len: usize,
    },
    /// A slice, which could be used longer than its memory is borrowed from `cudarc`.
    #[error(
        "Buffer::slice of memory that is borrowed from cudarc: slice the `Borrowed` itself, or borrow a view of the memory"
    )]
    ScopedSlice,
    /// A copy between slices of a buffer that have elements in common.
    #[error(
        "Buffer::copy_from: source and destination overlap in {bytes} bytes: copy through another buffer"
    )]
    Overlap {
        /// The number of bytes in common.
        bytes: u64,
    },
    /// An operation that no graph can hold, in a stream that is being captured.
    #[error(
        "{operation} in a capture: launches, Buffer::fill_bytes and Buffer::copy_from are accepted there; call it before or after the \
         capture, or on another stream"
    )]
    NotCaptured {
        /// The method that was called.
        operation: &'static str,
    },
    /// An operation in a stream that another thread, or the library that owns the stream, is capturing.
    #[error(
        "{operation}: another thread, or the library that owns the stream, is capturing the stream: wait until the capture has \
         ended, or use another stream (Device::new_stream)"
    )]
    CapturedByOther {
        /// The method that was called.
        operation: &'static str,
    },
    /// An operation in one stream with a buffer of another stream, of which one is being captured, so that the two can't be ordered.
    #[error(
        "{operation}: one of its buffers belongs to another stream, and one of the two streams is being captured: capture with \
         Device::capture, which accepts buffers of other streams, or use the buffer before or after the capture"
    )]
    CapturedApart {
        /// The method that was called.
        operation: &'static str,
    },
    /// Memory of another library whose address is not aligned for the elements.
    #[error(
        "the address {address:#x} is no multiple of {align}, as the address of elements of type {element} must be"
    )]
    Misaligned {
        /// The address.
        address: u64,
        /// The type of the elements.
        element: &'static str,
        /// The alignment of the elements, in bytes.
        align: usize,
    },
    /// An address where the device has no memory.
    #[error("no memory of {device} is at {address:#x}: an address in a live allocation is accepted")]
    NoMemory {
        /// The address.
        address: u64,
        /// The device.
        device: String,
    },
    /// Memory that belongs to another device or context.
    #[error(
        "the memory at {address:#x} belongs to {owner}, the buffer was to be of {device}: borrow it there"
    )]
    WrongMemory {
        /// The address.
        address: u64,
        /// The device or the context that the memory belongs to.
        owner: String,
        /// The device or the context that the call names.
        device: String,
    },
    /// A range of memory of another library that reaches beyond its allocation.
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
    /// A buffer that belongs to another device.
    #[error(
        "{what} lives on another device: its address means nothing here; download it and upload it to this device"
    )]
    ForeignBuffer {
        /// The buffer, and where it is used.
        what: String,
    },
    /// An event that was recorded on another device.
    #[error(
        "the event was recorded on another device: wait for it on the host, or record an event on this device"
    )]
    ForeignEvent,
    /// A kernel that was loaded on another device.
    #[error(
        "kernel `{kernel}` was loaded on another device than the stream's: load its module on this device"
    )]
    ForeignKernel {
        /// The kernel's name.
        kernel: String,
    },
    /// The module has no such kernel.
    #[error("the module has no kernel `{kernel}`; it has: {}", list(available))]
    NoSuchKernel {
        /// The name that was asked for.
        kernel: String,
        /// The names of the module's kernels.
        available: Vec<String>,
    },
    /// Too few or too many arguments.
    #[error("kernel `{kernel}` takes {expected} arguments ({signature}), {given} were given")]
    ArgumentCount {
        /// The kernel's name.
        kernel: String,
        /// The number of the kernel's parameters.
        expected: usize,
        /// The number of arguments.
        given: usize,
        /// The types and names of the parameters, such as `.u64 a, .f32 alpha`.
        signature: String,
    },
    /// An argument that does not fit its parameter.
    #[error(
        "kernel `{kernel}`, argument {index}: parameter `{parameter}` is {expected}, the argument is {given}"
    )]
    ArgumentType {
        /// The kernel's name.
        kernel: String,
        /// The position of the argument, from 0.
        index: usize,
        /// The parameter's name.
        parameter: String,
        /// The parameter's type and size.
        expected: String,
        /// The argument's type and size.
        given: String,
    },
    /// An argument whose value breaks a fact that the kernel relies on.
    #[error(
        "kernel `{kernel}`: parameter `{parameter}` = {value}: the kernel takes {accepted}, as {site} says"
    )]
    ArgumentValue {
        /// The kernel's name.
        kernel: String,
        /// The parameter's name.
        parameter: String,
        /// The value of the argument; for a buffer its address.
        value: i64,
        /// What the call would accept.
        accepted: String,
        /// The place in the program that wrote the kernel where the fact is claimed.
        site: String,
    },
    /// Arguments by name of which a parameter has none or several, or a name that no parameter has.
    #[error("kernel `{kernel}`: `{name}` {what}; its parameters are: {}", list(signature))]
    ArgumentName {
        /// The kernel's name.
        kernel: String,
        /// The name.
        name: String,
        /// What is wrong with the name.
        what: &'static str,
        /// The names of the parameters.
        signature: Vec<String>,
    },
    /// Arguments of a template that are not one for each open parameter.
    #[error("Template::run: {given} arguments were given, one for each of these is accepted: {}", list(open))]
    OpenArguments {
        /// The number of arguments.
        given: usize,
        /// The names of the open parameters.
        open: Vec<String>,
    },
    /// A kernel whose block or dynamic shared memory is not known.
    #[error(
        "kernel `{kernel}`: its text does not say its block and its dynamic shared memory; state them by `LaunchConfig::new`"
    )]
    NoBlock {
        /// The kernel's name.
        kernel: String,
    },
    /// A grid without blocks or a block without threads.
    #[error(
        "kernel `{kernel}`: the {what} {extent:?} is empty; every extent must be at least 1 (skip the launch of empty work)"
    )]
    EmptyLaunch {
        /// The kernel's name.
        kernel: String,
        /// `grid` or `block`.
        what: &'static str,
        /// The extents that were given.
        extent: [u32; 3],
    },
    /// A grid or a block with an extent above the device's limit.
    #[error("kernel `{kernel}`: the {what} {extent:?} exceeds the largest {what} {limit:?}")]
    ExtentTooLarge {
        /// The kernel's name.
        kernel: String,
        /// `grid` or `block`.
        what: &'static str,
        /// The extents that were given.
        extent: [u32; 3],
        /// The largest extents.
        limit: [u32; 3],
    },
    /// A block with more threads than the kernel or the device can run.
    #[error(
        "kernel `{kernel}`: a block {block:?} has {threads} threads, at most {limit} are possible ({why})"
    )]
    TooManyThreads {
        /// The kernel's name.
        kernel: String,
        /// The block's extents.
        block: [u32; 3],
        /// The product of the extents.
        threads: u64,
        /// The most threads that are possible.
        limit: u32,
        /// The origin of the limit.
        why: &'static str,
    },
    /// A block with other extents than the only ones that the kernel was compiled for (`.reqntid`).
    #[error("kernel `{kernel}` needs blocks of exactly {required:?} threads (.reqntid), not {block:?}")]
    BlockShape {
        /// The kernel's name.
        kernel: String,
        /// The block's extents.
        block: [u32; 3],
        /// The extents that are required.
        required: [u32; 3],
    },
    /// A programmatic launch of a kernel that would not wait for the kernels before it.
    #[error(
        "kernel `{kernel}` has no griddepcontrol.wait: a programmatic launch could run it beside the kernel that makes its inputs"
    )]
    Programmatic {
        /// The kernel's name.
        kernel: String,
    },
    /// Clusters that a launch can't have.
    #[error(
        "kernel `{kernel}`: clusters of {cluster:?} blocks in a grid of {grid:?}: {accepted} are accepted"
    )]
    ClusterShape {
        /// The kernel's name.
        kernel: String,
        /// Blocks of a cluster.
        cluster: [u32; 3],
        /// Blocks of the grid.
        grid: [u32; 3],
        /// What the call would accept.
        accepted: String,
    },
    /// A launch with more shared memory than a block can have.
    #[error(
        "kernel `{kernel}`: {static_bytes} static + {dynamic_bytes} dynamic bytes of shared memory exceed the {limit} a block can have"
    )]
    TooMuchShared {
        /// The kernel's name.
        kernel: String,
        /// Bytes that the kernel declares.
        static_bytes: u64,
        /// Bytes of dynamic shared memory that the launch asks for.
        dynamic_bytes: u32,
        /// The most bytes that a block can have.
        limit: u32,
    },
    /// A module that is not well-formed PTX.
    #[error("malformed PTX module: {0}")]
    Ptx(#[from] girih_ptx::Error),
    /// A tensor map with a field that the hardware does not accept.
    #[error("{0}")]
    TensorMap(girih_ptx::Error),
    /// A tensor map of a tensor that does not end inside the buffer.
    #[error(
        "the tensor starts {start} bytes into its buffer and has {}: the buffer has {buffer}",
        tensor.map_or("more than an address can count".into(), |bytes| format!("{bytes} bytes"))
    )]
    TensorOutside {
        /// Bytes from the start of the buffer to the start of the tensor.
        start: usize,
        /// Bytes from the start of the tensor's first element to the end of its last; none if an address can't count them.
        tensor: Option<u64>,
        /// Bytes of the buffer.
        buffer: usize,
    },
    /// A tensor map on an architecture that has none.
    #[error(
        "tensor maps need sm_{needed} or newer, the device is sm_{sm}: choose another kernel, or the device `sim`"
    )]
    NoTensorMaps {
        /// The device's architecture.
        sm: u32,
        /// The oldest architecture with tensor maps.
        needed: u32,
    },
    /// The assembler that was named does not run.
    #[error(
        "the assembler {} does not run ({reason}): GIRIH_PTXAS names the `ptxas` of a CUDA toolkit, or is not set, and then the \
         driver compiles",
        path.display()
    )]
    NoAssembler {
        /// The program.
        path: PathBuf,
        /// The system's message.
        reason: String,
    },
    /// A folder of built code in which somebody else can write, and so choose what a GPU runs.
    #[error(
        "built code is not kept in {}: {why}; a folder that is this user's and that nobody else can write is accepted (chmod go-w); GIRIH_CACHE \
         may name another one, such as a folder in this one that girih will make, or be empty, which keeps nothing", .folder.display()
    )]
    UntrustedCache {
        /// The folder.
        folder: PathBuf,
        /// Whose it is, or who can write there.
        why: String,
    },
    /// Bytes that are no bundle of modules.
    #[error(
        "{bytes} bytes are no bundle, or a damaged one: what `girih emit --bundle` or Bundle::to_bytes writes is accepted"
    )]
    NoBundle {
        /// How many bytes they are.
        bytes: usize,
    },
    /// A module that a compiler refused.
    #[error("{compiler} refused the module ({code}):\n{}{log}", at(line.as_ref()))]
    Jit {
        /// Who refused it: the driver's PTX compiler, or `ptxas`.
        compiler: &'static str,
        /// The driver's error code, or the assembler's exit status.
        code: String,
        /// The compiler's log.
        log: String,
        /// The number, from 1, and the text of the first PTX line that the log names.
        line: Option<(usize, String)>,
    },
    /// A kernel that failed while it ran. The driver reports the failure at a later call.
    #[error(
        "a kernel failed on the GPU: {code} ({text}), reported by {call}; this process can't use the GPU any more. \
         Run the same call on the device `sim` to find the instruction"
    )]
    KernelFailed {
        /// The driver's error code.
        code: String,
        /// The driver's description of the error code.
        text: String,
        /// The driver's function that reported the failure.
        call: &'static str,
    },
    /// A call of the driver that failed for another reason.
    #[error("the driver's {call} failed: {code} ({text})")]
    Driver {
        /// The driver's function that failed.
        call: &'static str,
        /// The driver's error code.
        code: String,
        /// The driver's description of the error code.
        text: String,
    },
    /// A module that the simulator refused, or a kernel in which the simulator found an error.
    #[cfg(feature = "sim")]
    #[error("simulator: {0}")]
    Sim(#[from] girih_sim::Error),
}

impl Error {
    /// What the simulator found in a kernel: the kind of the finding in a word, such as `race` or `trap`, and the lines of the program by
    /// which the instructions that take part were written; that at which it was found is the first. `None` for other errors, and for those
    /// of a GPU.
    ///
    /// # Examples
    /// ```
    /// let error = girih_device::Error::NoCudaFeature;
    /// assert!(error.finding().is_none());
    /// ```
    pub fn finding(&self) -> Option<(&'static str, Vec<girih_ptx::Site>)> {
        #[cfg(feature = "sim")]
        if let Error::Sim(error) = self {
            let written = |site: &girih_sim::Site| {
                let origin = site.place.origin.as_ref()?;
                Some(girih_ptx::Site { file: origin.file.clone(), line: origin.line, column: origin.column })
            };
            let mut sites = error.sites().peekable();
            sites.peek()?;
            return Some((error.kind(), sites.filter_map(written).collect()));
        }
        None
    }
}

/// An error is debugged as it is displayed, so that the output of `fn main() -> Result<(), Error>` is a sentence.
impl std::fmt::Debug for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "none".into() } else { names.join(", ") }
}

fn at(line: Option<&(usize, String)>) -> String {
    line.map_or_else(String::new, |(number, text)| format!("  line {number}: {}\n", text.trim()))
}
