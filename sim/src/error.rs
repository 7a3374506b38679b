//! The error type of the crate. A message says where the error happened, whose fault it is, and what would have been
//! accepted.

use std::sync::Arc;

use crate::{Access, Nearest, Residency, Space, plain_name};

mod kind;
mod origin;
mod place;
mod severity;

pub use origin::Origin;
pub use place::{Awaited, MbarrierFault, Other, Place, Site, Used, Waiting};
pub use severity::{Deny, Formal, Severity};

/// What went wrong in loading, launching or running a kernel.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The module has no kernel of this name.
    #[error("no kernel `{name}` in the module, which has: {}", kernels.join(", "))]
    UnknownKernel {
        /// The name asked for.
        name: String,
        /// The names of the module's kernels.
        kernels: Vec<String>,
    },
    /// An instruction, modifier or declaration that the simulator does not execute.
    #[error("{place}: not supported by the simulator: {what}")]
    Unsupported {
        /// Where the part is.
        place: Box<Place>,
        /// The part that is not supported, and what would be accepted.
        what: String,
    },
    /// A name that nothing in scope declares.
    #[error("{place}: `{name}` is not declared as a {expected}")]
    Undeclared {
        /// Where the name is used.
        place: Box<Place>,
        /// The name.
        name: String,
        /// What the name is used as: a register, a label, a variable.
        expected: &'static str,
    },
    /// An operand that does not fit its instruction.
    #[error("{place}: operand {index} must be {expected}, found {found}")]
    Operand {
        /// The instruction.
        place: Box<Place>,
        /// Which operand, from 0.
        index: usize,
        /// What is accepted.
        expected: String,
        /// The operand that was found.
        found: String,
    },
    /// The number of arguments is not the kernel's number of parameters.
    #[error(
        "kernel `{}` takes {expected} arguments, {given} given; its parameters: {params}",
        plain_name(kernel)
    )]
    ArgumentCount {
        /// Kernel name.
        kernel: Arc<str>,
        /// The declarations of the kernel's parameters.
        params: String,
        /// The kernel's number of parameters.
        expected: usize,
        /// The number given.
        given: usize,
    },
    /// An argument has another size than its parameter.
    #[error(
        "kernel `{}`: argument {index} (`{name}`) takes {expected} bytes, {given} given",
        plain_name(kernel)
    )]
    ArgumentSize {
        /// Kernel name.
        kernel: Arc<str>,
        /// Which argument, from 0.
        index: usize,
        /// The parameter's name.
        name: String,
        /// The parameter's size in bytes.
        expected: u64,
        /// The number of bytes given.
        given: usize,
    },
    /// A launch dimension out of range.
    #[error("kernel `{}`: {what} is {given}, must be {accepted}", plain_name(kernel))]
    LaunchShape {
        /// Kernel name.
        kernel: Arc<str>,
        /// The dimension, such as `block.x`.
        what: &'static str,
        /// The value of the dimension.
        given: u64,
        /// What is accepted.
        accepted: String,
    },
    /// More shared memory than a block can have.
    #[error(
        "kernel `{}`: {static_bytes} bytes of static and {dynamic_bytes} of dynamic shared memory, \
         a block can have {limit} together",
        plain_name(kernel)
    )]
    SharedTooLarge {
        /// Kernel name.
        kernel: Arc<str>,
        /// Static bytes of the kernel.
        static_bytes: u64,
        /// Dynamic bytes of the launch.
        dynamic_bytes: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The worker threads could not be started.
    #[error("could not start {threads} worker threads: {reason}")]
    Workers {
        /// The number of threads asked for.
        threads: usize,
        /// The reason that the system gave.
        reason: String,
    },
    /// An allocation over the capacity.
    #[error("out of simulated memory: {bytes} bytes asked for, {used} of {capacity} in use")]
    OutOfMemory {
        /// Bytes asked for.
        bytes: u64,
        /// Bytes in use.
        used: u64,
        /// The memory's capacity.
        capacity: u64,
    },
    /// A `free` of an address that is not the start of a live allocation.
    #[error("free of {address:#x}, which is not the start of an allocation; {nearest}")]
    BadFree {
        /// The address.
        address: u64,
        /// The allocation nearest to the address.
        nearest: Nearest,
    },
    /// A host read, write or fill that leaves an allocation.
    #[error("host {access} of {bytes} bytes at {address:#x} leaves its allocation; {nearest}")]
    HostAccess {
        /// Read or write.
        access: Access,
        /// First address.
        address: u64,
        /// Bytes.
        bytes: u64,
        /// The allocation nearest to the address.
        nearest: Nearest,
    },
    /// An access outside the memory of its space.
    #[error("{at}: {access} of {bytes} bytes at {space} address {address:#x} is out of bounds; {nearest}")]
    OutOfBounds {
        /// Instruction and thread.
        at: Box<Site>,
        /// Read or write.
        access: Access,
        /// State space.
        space: Space,
        /// Address.
        address: u64,
        /// Bytes.
        bytes: u32,
        /// The memory nearest to the address.
        nearest: Nearest,
    },
    /// An access through an address that is made from the address of one variable, but that is outside of that
    /// variable.
    #[error(
        "{at}: {access} of {bytes} bytes at {space} address {address:#x} is outside of `{variable}`, the \
         variable from which the address is computed; {nearest}"
    )]
    Overrun {
        /// Instruction and thread.
        at: Box<Site>,
        /// Read or write.
        access: Access,
        /// State space: shared or local.
        space: Space,
        /// Address.
        address: u64,
        /// Bytes.
        bytes: u32,
        /// The variable.
        variable: Arc<str>,
        /// Where the variable is.
        nearest: Nearest,
    },
    /// A generic address of another thread's local memory.
    #[error("{at}: {access} of {bytes} bytes at a local address of thread {owner:?}")]
    ForeignLocal {
        /// Instruction and thread.
        at: Box<Site>,
        /// Read or write.
        access: Access,
        /// Bytes.
        bytes: u32,
        /// `%tid` of the thread to which the local memory belongs.
        owner: [u32; 3],
    },
    /// An address that is not a multiple of the access's alignment.
    #[error("{at}: {access} at {space} address {address:#x} must be aligned to {alignment} bytes")]
    Misaligned {
        /// Instruction and thread.
        at: Box<Site>,
        /// Read or write.
        access: Access,
        /// State space.
        space: Space,
        /// Address.
        address: u64,
        /// Needed alignment in bytes.
        alignment: u32,
    },
    /// A register is used for an address, in a store to global memory or as a guard before anything was written to it.
    #[error("{at}: register `{register}` is read before it is written{via}")]
    UninitialisedRegister {
        /// The instruction that uses the register, and the thread.
        at: Box<Site>,
        /// The register.
        register: String,
        /// If the instruction uses a register that was computed from this one: that register, in words. Otherwise
        /// empty.
        via: String,
    },
    /// Memory of the block or thread, or global memory without initial values, is read before anything was written to
    /// it.
    #[error(
        "{at}: {bytes} bytes at {space} address {address:#x} are read before they are written{}",
        used.as_ref().map(|used| format!("; {used}")).unwrap_or_default()
    )]
    UninitialisedMemory {
        /// The instruction that reads the bytes, and the thread.
        at: Box<Site>,
        /// State space: shared, local or global.
        space: Space,
        /// Address of the access.
        address: u64,
        /// Bytes of the access.
        bytes: u32,
        /// Where a value that depends on the bytes decides something; none if the bytes do so in the instruction that
        /// reads them.
        used: Option<Box<Used>>,
    },
    /// A copy to global memory has bytes without a value among others with a value: the padding of a structure, or
    /// bytes that should have been written.
    #[error(
        "{at}: {bytes} of the bytes written at global address {address:#x} have no value: padding of a structure?"
    )]
    Padding {
        /// The store, and the thread.
        at: Box<Site>,
        /// Address of the access.
        address: u64,
        /// How many bytes have no value.
        bytes: u32,
    },
    /// A value that a shuffle took from a lane that did not execute the shuffle decides something.
    #[error(
        "{at}: `{register}` gets its value from lane {lane}, which is not among the lanes that execute the \
         shuffle together; {used}"
    )]
    AbsentLane {
        /// The shuffle, and the thread that receives the value.
        at: Box<Site>,
        /// The register that receives the value.
        register: String,
        /// The lane that the value comes from.
        lane: u32,
        /// Where the value decides something.
        used: Box<Used>,
    },
    /// Shared memory is accessed while an asynchronous operation that writes it is in flight, or written while one that
    /// reads it is in flight: no thread has waited for the operation yet.
    #[error(
        "{at}: {access} at shared address {address:#x} while a copy {} it is in flight: {}",
        if copy.access == Access::Write { "into" } else { "out of" }, copy.at
    )]
    InFlight {
        /// Instruction and thread.
        at: Box<Site>,
        /// Read or write.
        access: Access,
        /// Address of the access.
        address: u64,
        /// The asynchronous operation, and what it does with the bytes.
        copy: Box<Other>,
    },
    /// The async proxy accesses bytes that the generic proxy wrote, without a `fence.proxy.async` in between.
    #[error(
        "{at}: {access} by the async proxy at {space} address {address:#x} without fence.proxy.async of that space after \
         the write of {}", other.at
    )]
    Unfenced {
        /// The asynchronous operation.
        at: Box<Site>,
        /// What the operation does with the bytes.
        access: Access,
        /// State space: shared or global.
        space: Space,
        /// The address that both access.
        address: u64,
        /// The write.
        other: Box<Other>,
    },
    /// A `wgmma` reads bytes that `cp.async` has copied, without a `fence.proxy.async` in between. The ISA demands the
    /// fence ("Async Proxy"), but compilers leave it out.
    #[error(
        "{at}: {access} by the async proxy at shared address {address:#x} without fence.proxy.async after the \
         copy of {}", other.at
    )]
    CopyUnfenced {
        /// The `wgmma`.
        at: Box<Site>,
        /// What the `wgmma` does with the bytes.
        access: Access,
        /// The address that both access.
        address: u64,
        /// The `cp.async`.
        other: Box<Other>,
    },
    /// A TMA copy reads a tensor map that the kernel has written, but the fences are missing that make the write
    /// visible to the proxy that reads maps: first a release after the write (`tensormap.cp_fenceproxy` has one), then
    /// an acquire that names the map and comes before the copy, both in scopes that include both threads.
    #[error(
        "{at}: reads the tensor map at global address {address:#x} without {lacks} after the write of {}; the fence's \
         scope must include both threads", other.at
    )]
    MapUnfenced {
        /// The TMA copy.
        at: Box<Site>,
        /// The map's address.
        address: u64,
        /// The fence that is missing.
        lacks: &'static str,
        /// The write.
        other: Box<Other>,
    },
    /// An asynchronous operation signals an mbarrier whose initialisation no fence has made known to the async proxy.
    #[error(
        "{at}: the async proxy signals the mbarrier at shared address {address:#x} without fence.mbarrier_init or \
         fence.proxy.async after {}", other.at
    )]
    MbarrierUnfenced {
        /// The asynchronous operation.
        at: Box<Site>,
        /// The mbarrier's address.
        address: u64,
        /// The `mbarrier.init`.
        other: Box<Other>,
    },
    /// A volatile read of bytes that another lane of the warp has written, ordered by nothing but lockstep. It is no
    /// data race by the memory model, but relies on an order that GPUs since Volta do not have.
    #[error(
        "{at}: volatile read at {space} address {address:#x} of bytes that another lane of the warp may have \
         written: {}; lanes do not run in lockstep, and a bar.warp.sync (__syncwarp) in between would order their \
         accesses", other.at
    )]
    Lockstep {
        /// The read's instruction and thread.
        at: Box<Site>,
        /// State space: shared or global.
        space: Space,
        /// Address of the read.
        address: u64,
        /// The write.
        other: Box<Other>,
    },
    /// Global memory that the kernel both writes and reads by `ld.global.nc`, which says that nobody writes the memory
    /// during the launch.
    #[error(
        "{at}: {access} at global address {address:#x}, {}{}; what ld.global.nc reads must not be written in the same \
         launch, whether the accesses are ordered or not",
        if *access == Access::Read { "which the kernel has written" } else { "which ld.global.nc has read" },
        other.as_ref().map_or(String::new(), |other| format!(": {}", other.at))
    )]
    ReadOnly {
        /// The later access's instruction and thread.
        at: Box<Site>,
        /// The later access.
        access: Access,
        /// The address that both access.
        address: u64,
        /// The earlier access; none for an earlier `ld.global.nc`, whose thread is not remembered.
        other: Option<Box<Other>>,
    },
    /// A write to a variable in constant memory, which kernels can only read.
    #[error("{at}: write of {bytes} bytes at global address {address:#x}, which is constant memory")]
    ConstantWrite {
        /// Instruction and thread.
        at: Box<Site>,
        /// Address of the access.
        address: u64,
        /// Bytes.
        bytes: u32,
    },
    /// An access to the shared memory of a block of the cluster that may not have begun yet.
    #[error(
        "{at}: shared address {address:#x} belongs to block {block:?}, which may not have begun: no barrier.cluster, nor \
         anything that block has done, comes before"
    )]
    NotStarted {
        /// Instruction and thread.
        at: Box<Site>,
        /// The address.
        address: u64,
        /// `%ctaid` of the block.
        block: [u32; 3],
    },
    /// An ordinary access to the bytes of an mbarrier.
    #[error("{at}: {access} at shared address {address:#x}, which belongs to an mbarrier")]
    MbarrierAccess {
        /// Instruction and thread.
        at: Box<Site>,
        /// Read or write.
        access: Access,
        /// Address of the access.
        address: u64,
    },
    /// A use of an mbarrier that its state or its counts do not allow.
    #[error("{at}: mbarrier at shared address {address:#x}: {fault}")]
    Mbarrier {
        /// Instruction and thread.
        at: Box<Site>,
        /// The mbarrier's address.
        address: u64,
        /// What is wrong.
        fault: MbarrierFault,
    },
    /// The bytes that an instruction reads as a tensor map are no valid map.
    #[error("{at}: {why}")]
    TensorMap {
        /// Instruction and thread.
        at: Box<Site>,
        /// What is wrong with the bytes.
        why: Box<girih_ptx::Error>,
    },
    /// An access to the shared memory of a block of the cluster that has exited.
    #[error("{at}: shared address {address:#x} belongs to block {block:?}, which has exited")]
    ExitedBlock {
        /// Instruction and thread.
        at: Box<Site>,
        /// The address.
        address: u64,
        /// `%ctaid` of the block that has exited.
        block: [u32; 3],
    },
    /// A block has exited while an asynchronous operation still used its shared memory.
    #[error(
        "{at}: this operation is still in flight, but block {block:?}, whose shared memory it uses, has exited"
    )]
    Unfinished {
        /// The operation.
        at: Box<Site>,
        /// `%ctaid` of the block that has exited.
        block: [u32; 3],
    },
    /// Two accesses of different threads that nothing orders, at least one of which is a write.
    #[error(
        "{at}: data race{}: {access} at {space} address {address:#x} against the {} of {}",
        formal.map_or(String::new(), |formal| format!(" {formal}")), other.access, other.at
    )]
    Race {
        /// The later access's instruction and thread.
        at: Box<Site>,
        /// The later access.
        access: Access,
        /// State space: shared or global.
        space: Space,
        /// The address that both access.
        address: u64,
        /// The earlier access.
        other: Box<Other>,
        /// Why the race does no harm on any GPU, if it does none.
        formal: Option<Formal>,
    },
    /// An instruction that needs several lanes together, but not all of these lanes reach it.
    #[error("{at}: executed by lanes {active:#010x} of the warp, needs all of {expected:#010x}")]
    Divergent {
        /// Instruction and its first thread.
        at: Box<Site>,
        /// Lanes that execute the instruction, bit i for lane i.
        active: u32,
        /// Lanes that must execute the instruction.
        expected: u32,
    },
    /// A value at run time that the instruction does not accept.
    #[error("{at}: {what} is {value}, must be {accepted}")]
    BadValue {
        /// Instruction and thread.
        at: Box<Site>,
        /// The role of the operand, such as `barrier number`.
        what: &'static str,
        /// The value.
        value: u64,
        /// What is accepted.
        accepted: String,
    },
    /// A vector `red` or `atom` whose generic address is one of shared memory.
    #[error(
        "{at}: the generic address is shared address {address:#x}: vectors are updated in global memory alone; a GPU \
         leaves shared memory as it is, without an error"
    )]
    VectorInShared {
        /// Instruction and thread.
        at: Box<Site>,
        /// The shared address.
        address: u64,
    },
    /// A C `assert` that does not hold.
    #[error("{at}: assertion `{message}` failed at {file}:{line} in {function}")]
    Assertion {
        /// Instruction and thread.
        at: Box<Site>,
        /// The condition that was asserted.
        message: String,
        /// The source file, as the compiler names it.
        file: String,
        /// The line in that file.
        line: u32,
        /// The function with the assertion.
        function: String,
    },
    /// More calls or more `alloca` than a thread's stack has room for.
    #[error(
        "{at}: no room for {bytes} bytes on the thread's stack after {depth} calls that have not returned"
    )]
    StackOverflow {
        /// Instruction and thread.
        at: Box<Site>,
        /// Bytes asked for.
        bytes: u64,
        /// Calls that have not returned.
        depth: usize,
    },
    /// A register does not hold the value that the generator of the kernel claims.
    #[error("{at} holds {value}: {claim}")]
    FalseClaim {
        /// The claim and the thread.
        at: Box<Site>,
        /// The claim, and where it is.
        claim: Box<girih_ptx::Claim>,
        /// The value of the register.
        value: i64,
    },
    /// The kernel executed `trap`.
    #[error("{at}: trap")]
    Trap {
        /// Instruction and thread.
        at: Box<Site>,
    },
    /// Another instruction accesses a register of a `wgmma` that has not been waited for.
    #[error(
        "{at}: {access} of register `{register}` while a wgmma that uses the register is in flight: {wgmma}; \
         wait for the wgmma's group"
    )]
    WgmmaInFlight {
        /// Instruction and thread.
        at: Box<Site>,
        /// Read or write.
        access: Access,
        /// The register, an accumulator or a part of A.
        register: String,
        /// The `wgmma`.
        wgmma: Box<Site>,
    },
    /// A `wgmma` without a `wgmma.fence` after the last accesses of other instructions to its registers, or without any
    /// fence before it.
    #[error("{at}: a wgmma.fence must come between the other accesses of {register} and this")]
    WgmmaUnfenced {
        /// The `wgmma` and the first thread of its warp.
        at: Box<Site>,
        /// The register, an accumulator or a part of A.
        register: String,
    },
    /// Two warps of a warpgroup that issue different operations.
    #[error("{at}: {what} is {value:#x}, but {expected:#x} in another warp of the warpgroup: {other}")]
    Warpgroup {
        /// The `wgmma` and the first thread of its warp.
        at: Box<Site>,
        /// The name of the operand that differs.
        what: &'static str,
        /// The operand's value in this warp.
        value: u64,
        /// The operand's value in the warp that was first.
        expected: u64,
        /// The `wgmma` of the warp that was first.
        other: Box<Site>,
    },
    /// A warp has exited without executing a `wgmma` or a `setmaxnreg` that other warps of its warpgroup have executed.
    #[error("{at}: warp {warp} of the same warpgroup has exited without executing this instruction")]
    WarpgroupIncomplete {
        /// The instruction, and the first thread of a warp that has executed it.
        at: Box<Site>,
        /// The warp that has exited, by number in its block.
        warp: u32,
    },
    /// Every live warp of a cluster waits for something that can no longer happen.
    #[error("kernel `{}`: deadlock: {}", plain_name(kernel), join(waiting))]
    Deadlock {
        /// Kernel name.
        kernel: Arc<str>,
        /// The warps, and what each waits for.
        waiting: Vec<Waiting>,
    },
    /// Blocks loop, waiting for something that no block of the grid does.
    #[error("{at}: loops without end, waiting for {}, and nothing changes any more", awaited_by(awaited))]
    Spinning {
        /// The instruction that looks for a change in vain, or else the next instruction, and a thread that waits.
        at: Box<Site>,
        /// What the instruction looks at, if that is known: strong loads and atomics count as looking for a change.
        awaited: Option<Awaited>,
    },
    /// Blocks wait for other blocks that can begin only when the waiting ones have ended.
    #[error(
        "{at}: waits for {}, and nothing changes any more: of the grid's {blocks} blocks {} are resident at \
         a time ({residency}), and the others begin only when those end", awaited_by(awaited), residency.blocks()
    )]
    NotResident {
        /// The instruction that looks for a change in vain, or else the next instruction, and a thread that waits.
        at: Box<Site>,
        /// What the instruction looks at, if that is known.
        awaited: Option<Awaited>,
        /// Blocks of the grid.
        blocks: u64,
        /// How many blocks are resident at a time.
        residency: Residency,
    },
    /// A cluster has executed more warp instructions than [`Options::steps`](crate::Options::steps) allows.
    #[error(
        "{at}: the cluster has executed {limit} warp instructions, the limit; an endless loop? A launch that needs more \
         raises the limit: Options::steps in Rust, steps= in Python, --steps of girih sim"
    )]
    StepLimit {
        /// The next instruction, and its first thread.
        at: Box<Site>,
        /// The limit.
        limit: u64,
    },
    /// The caller has set [`Options::stop`](crate::Options::stop).
    #[error("kernel `{}`: stopped by the caller before it had ended", plain_name(kernel))]
    Stopped {
        /// Kernel name.
        kernel: Arc<str>,
    },
}

fn awaited_by(awaited: &Option<Awaited>) -> String {
    awaited.map_or("something unknown".into(), |awaited| awaited.to_string())
}

fn join(waiting: &[Waiting]) -> String {
    waiting.iter().map(Waiting::to_string).collect::<Vec<_>>().join("; ")
}

impl Error {
    /// Whether a launch was refused before anything was executed, so that other arguments would make it acceptable.
    pub fn is_refusal(&self) -> bool {
        matches!(
            self,
            Error::UnknownKernel { .. }
                | Error::ArgumentCount { .. }
                | Error::ArgumentSize { .. }
                | Error::LaunchShape { .. }
                | Error::SharedTooLarge { .. }
                | Error::Workers { .. }
        )
    }
}
