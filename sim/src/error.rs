//! The one error type: whose fault it is, where it happened, what would have been accepted.

use std::sync::Arc;

use crate::{Access, Nearest, Residency, Space};

mod kind;
mod origin;
mod place;

pub use origin::Origin;
pub use place::{Awaited, MbarrierFault, Other, Place, Site, Used, Waiting};

/// What went wrong in loading, launching or running a kernel.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The module has no kernel of this name.
    #[error("no kernel `{name}` in the module, which has: {}", kernels.join(", "))]
    UnknownKernel {
        /// The name asked for.
        name: String,
        /// The names there are.
        kernels: Vec<String>,
    },
    /// An instruction, modifier or declaration that the simulator does not execute.
    #[error("{place}: not supported by the simulator: {what}")]
    Unsupported {
        /// Where it stands.
        place: Box<Place>,
        /// The part that is not known, and what would be.
        what: String,
    },
    /// A name that nothing in scope declares.
    #[error("{place}: `{name}` is not declared as a {expected}")]
    Undeclared {
        /// Where it is used.
        place: Box<Place>,
        /// The name.
        name: String,
        /// What it is used as: register, label, variable.
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
        /// What stands there.
        found: String,
    },
    /// The number of arguments is not the kernel's number of parameters.
    #[error("kernel `{kernel}` takes {expected} arguments, {given} given; its parameters: {params}")]
    ArgumentCount {
        /// Kernel name.
        kernel: Arc<str>,
        /// Its parameters' declarations.
        params: String,
        /// Its number of parameters.
        expected: usize,
        /// The number given.
        given: usize,
    },
    /// An argument has another size than its parameter.
    #[error("kernel `{kernel}`: argument {index} (`{name}`) takes {expected} bytes, {given} given")]
    ArgumentSize {
        /// Kernel name.
        kernel: Arc<str>,
        /// Which argument, from 0.
        index: usize,
        /// The parameter's name.
        name: String,
        /// Its size in bytes.
        expected: u64,
        /// The number of bytes given.
        given: usize,
    },
    /// A launch dimension out of range.
    #[error("kernel `{kernel}`: {what} is {given}, must be {accepted}")]
    LaunchShape {
        /// Kernel name.
        kernel: Arc<str>,
        /// The dimension, `block.x` for one.
        what: &'static str,
        /// Its value.
        given: u64,
        /// What is accepted.
        accepted: String,
    },
    /// More shared memory than a block can have.
    #[error(
        "kernel `{kernel}`: {static_bytes} bytes of static and {dynamic_bytes} of dynamic shared memory, \
         a block can have {limit} together"
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
        /// How many were asked for.
        threads: usize,
        /// What the system said.
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
        /// The allocation next to it.
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
        /// The allocation next to it.
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
        /// The memory next to it.
        nearest: Nearest,
    },
    /// An access through an address that is made from one variable, in another or in between.
    #[error(
        "{at}: {access} of {bytes} bytes at {space} address {address:#x} is not in `{variable}`, whose address it is made \
         from; {nearest}"
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
        /// Where it is.
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
        /// `%tid` of the thread whose address it is.
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
    /// A register used before anything was written to it: for an address, in a store, as a guard.
    #[error("{at}: register `{register}` is read before it is written{via}")]
    UninitialisedRegister {
        /// The instruction that uses it, and the thread.
        at: Box<Site>,
        /// The register.
        register: String,
        /// The register of the instruction that was computed from it, in words; empty if it is that one itself.
        via: String,
    },
    /// Memory of the block or thread, or global memory that begins without a value, read before anything was written to it.
    #[error(
        "{at}: {bytes} bytes at {space} address {address:#x} are read before they are written{}",
        used.as_ref().map(|used| format!("; {used}")).unwrap_or_default()
    )]
    UninitialisedMemory {
        /// The instruction that reads them, and the thread.
        at: Box<Site>,
        /// State space: shared, local or global.
        space: Space,
        /// Address of the access.
        address: u64,
        /// Bytes of the access.
        bytes: u32,
        /// Where what was read decides something, unless it does where it is read.
        used: Option<Box<Used>>,
    },
    /// Bytes without a value are copied to global memory along with their neighbours that have one: the padding of a
    /// structure, or what should have been written.
    #[error(
        "{at}: {bytes} of the bytes written at global address {address:#x} have no value: padding of a structure?"
    )]
    Padding {
        /// The store, and the thread.
        at: Box<Site>,
        /// Address of the access.
        address: u64,
        /// How many have none.
        bytes: u32,
    },
    /// What a shuffle took from a lane that did not execute it decides something.
    #[error(
        "{at}: `{register}` comes from lane {lane}, which is not one of those that execute the shuffle with it; {used}"
    )]
    AbsentLane {
        /// The shuffle, and the thread that receives.
        at: Box<Site>,
        /// The register that receives.
        register: String,
        /// The lane that it comes from.
        lane: u32,
        /// Where it decides something.
        used: Box<Used>,
    },
    /// Shared memory touched while an asynchronous operation that writes it, or written while one that reads it, was
    /// not yet waited for.
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
        /// The operation, issued and not yet waited for, and what it does with the bytes.
        copy: Box<Other>,
    },
    /// The async proxy accesses what the generic proxy wrote, without a `fence.proxy.async` in between.
    #[error(
        "{at}: {access} by the async proxy at {space} address {address:#x} without fence.proxy.async of that space after \
         the write of {}", other.at
    )]
    Unfenced {
        /// The asynchronous operation.
        at: Box<Site>,
        /// What it does with the bytes.
        access: Access,
        /// State space: shared or global.
        space: Space,
        /// Address where they meet.
        address: u64,
        /// The write.
        other: Box<Other>,
    },
    /// A `wgmma` reads what `cp.async` has copied, without a `fence.proxy.async` in between: the ISA asks for it ("Async
    /// Proxy"), and compilers leave it out.
    #[error(
        "{at}: {access} by the async proxy at shared address {address:#x} without fence.proxy.async after the \
         copy of {}", other.at
    )]
    CopyUnfenced {
        /// The `wgmma`.
        at: Box<Site>,
        /// What it does with the bytes.
        access: Access,
        /// Address where they meet.
        address: u64,
        /// The `cp.async`.
        other: Box<Other>,
    },
    /// A tensor copy reads a tensor map that the kernel has written, without the fences between the write and the proxy that
    /// reads maps: a release that comes after the write (`tensormap.cp_fenceproxy` is one too), then an acquire that names the
    /// map and comes before the copy, both in scopes that hold the threads.
    #[error(
        "{at}: reads the tensor map at global address {address:#x} without {lacks}, of that map and of a scope that holds both \
         threads, after the write of {}", other.at
    )]
    MapUnfenced {
        /// The tensor copy.
        at: Box<Site>,
        /// The map's address.
        address: u64,
        /// The fence that is not there.
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
    /// A volatile read of what another lane of the warp has written, with nothing but the warp's steps in between. It is no
    /// data race by the memory model, and relies on an order that GPUs since Volta do not have.
    #[error(
        "{at}: volatile read at {space} address {address:#x} of what another lane of the warp may have written: {}; lanes are \
         not in step, bar.warp.sync (__syncwarp) in between orders them", other.at
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
    /// Global memory that the kernel writes and reads by `ld.global.nc`, which says that nobody does.
    #[error(
        "{at}: {access} at global address {address:#x}, {}{}; what ld.global.nc reads must not be written in the same \
         launch, in order or not",
        if *access == Access::Read { "which the kernel has written" } else { "which ld.global.nc has read" },
        other.as_ref().map_or(String::new(), |other| format!(": {}", other.at))
    )]
    ReadOnly {
        /// The later access's instruction and thread.
        at: Box<Site>,
        /// The later access.
        access: Access,
        /// Address where they meet.
        address: u64,
        /// The earlier access, if it is still known.
        other: Option<Box<Other>>,
    },
    /// An access to the shared memory of a block of the cluster that need not have begun yet.
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
    /// An mbarrier used in a way that it does not take.
    #[error("{at}: mbarrier at shared address {address:#x}: {fault}")]
    Mbarrier {
        /// Instruction and thread.
        at: Box<Site>,
        /// The mbarrier's address.
        address: u64,
        /// What is wrong.
        fault: MbarrierFault,
    },
    /// What should be a tensor map is none.
    #[error("{at}: {why}")]
    TensorMap {
        /// Instruction and thread.
        at: Box<Site>,
        /// What is wrong with it.
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
    #[error("{at}: still in flight when block {block:?}, whose shared memory it uses, has exited")]
    Unfinished {
        /// The operation.
        at: Box<Site>,
        /// `%ctaid` of the block that has exited.
        block: [u32; 3],
    },
    /// Two accesses of different threads, at least one a write, that nothing orders.
    #[error(
        "{at}: data race{}: {access} at {space} address {address:#x} against the {} of {}",
        if *same { " of equal values" } else { "" }, other.access, other.at
    )]
    Race {
        /// The later access's instruction and thread.
        at: Box<Site>,
        /// The later access.
        access: Access,
        /// State space: shared or global.
        space: Space,
        /// Address where they meet.
        address: u64,
        /// The earlier access.
        other: Box<Other>,
        /// Whether both write, and the same values.
        same: bool,
    },
    /// A warp-wide instruction that only a part of the warp's live threads reached.
    #[error("{at}: executed by lanes {active:#010x} of the warp, needs all of {expected:#010x}")]
    Divergent {
        /// Instruction and its first thread.
        at: Box<Site>,
        /// Lanes that execute it, bit i for lane i.
        active: u32,
        /// Lanes that must.
        expected: u32,
    },
    /// A value at run time that the instruction does not take.
    #[error("{at}: {what} is {value}, must be {accepted}")]
    BadValue {
        /// Instruction and thread.
        at: Box<Site>,
        /// The operand's role, `barrier number` for one.
        what: &'static str,
        /// Its value.
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
        /// What was asserted.
        message: String,
        /// The source file, as the compiler calls it.
        file: String,
        /// The line in that file.
        line: u32,
        /// The function.
        function: String,
    },
    /// More calls than a thread's stack has room for, or more `alloca`.
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
    /// A register does not hold what the program that wrote the kernel claims of it.
    #[error("{at} holds {value}: {claim}")]
    FalseClaim {
        /// The claim and the thread.
        at: Box<Site>,
        /// What is claimed, and where.
        claim: Box<girih_ptx::Claim>,
        /// What the register holds.
        value: i64,
    },
    /// The kernel executed `trap`.
    #[error("{at}: trap")]
    Trap {
        /// Instruction and thread.
        at: Box<Site>,
    },
    /// A register of a `wgmma` that has not been waited for, touched by another instruction.
    #[error(
        "{at}: {access} of register `{register}` while a wgmma that has it is in flight: {wgmma}; wait for its group"
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
    /// A `wgmma` whose registers other instructions have accessed since the last `wgmma.fence`, or before which there
    /// is none.
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
        /// What differs.
        what: &'static str,
        /// Its value in this warp.
        value: u64,
        /// Its value in the warp that was first.
        expected: u64,
        /// The `wgmma` of that warp.
        other: Box<Site>,
    },
    /// A warp that has exited without a `wgmma` that others of its warpgroup issued.
    #[error("{at}: warp {warp} of the warpgroup has exited without it")]
    WarpgroupIncomplete {
        /// The `wgmma` and the first thread of a warp that issued it.
        at: Box<Site>,
        /// The warp that did not, by number in its block.
        warp: u32,
    },
    /// Every live warp of a cluster waits for what cannot come.
    #[error("kernel `{kernel}`: deadlock: {}", join(waiting))]
    Deadlock {
        /// Kernel name.
        kernel: Arc<str>,
        /// Who waits for what.
        waiting: Vec<Waiting>,
    },
    /// Blocks go in circles, waiting for what no block of the grid does.
    #[error("{at}: goes in circles, waiting for {}, and nothing changes any more", awaited_by(awaited))]
    Spinning {
        /// The instruction that looks in vain, or else that was next, and a thread that waits.
        at: Box<Site>,
        /// What it looks at, if it is known: loads and atomics that are strong count as looks.
        awaited: Option<Awaited>,
    },
    /// Blocks wait for blocks that can begin only when these have ended.
    #[error(
        "{at}: waits for {}, and nothing changes any more: of the grid's {blocks} blocks {} are there at a time ({residency}), \
         the others begin when these end", awaited_by(awaited), residency.blocks()
    )]
    NotResident {
        /// The instruction that looks in vain, or else that was next, and a thread that waits.
        at: Box<Site>,
        /// What it looks at, if it is known.
        awaited: Option<Awaited>,
        /// Blocks of the grid.
        blocks: u64,
        /// How many are there at a time.
        residency: Residency,
    },
    /// A cluster executed more warp instructions than [`Options::steps`](crate::Options::steps) allows.
    #[error("{at}: the cluster has executed {limit} warp instructions, the limit; an endless loop?")]
    StepLimit {
        /// The instruction that was next, and its first thread.
        at: Box<Site>,
        /// The limit.
        limit: u64,
    },
}

fn awaited_by(awaited: &Option<Awaited>) -> String {
    awaited.map_or("what is not known".into(), |awaited| awaited.to_string())
}

fn join(waiting: &[Waiting]) -> String {
    waiting.iter().map(Waiting::to_string).collect::<Vec<_>>().join("; ")
}

impl Error {
    /// Whether a launch was refused before anything ran: with other arguments it would be accepted.
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
