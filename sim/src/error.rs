//! The one error type: whose fault it is, where it happened, what would have been accepted.

use std::fmt;
use std::sync::Arc;

use crate::{Access, Nearest, Space};

/// Where in a kernel's text an error belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Kernel name.
    pub kernel: Arc<str>,
    /// Line of the PTX text, from 1; 0 if the module was not parsed from text.
    pub line: u32,
    /// The instruction or declaration, as text.
    pub instruction: Arc<str>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, line {}: `{}`", self.kernel, self.line, self.instruction)
    }
}

/// Where in an execution an error happened: an instruction and the thread that executed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// The instruction.
    pub place: Place,
    /// `%ctaid`.
    pub block: [u32; 3],
    /// `%tid`.
    pub thread: [u32; 3],
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [bx, by, bz] = self.block;
        let [tx, ty, tz] = self.thread;
        write!(f, "{}, block ({bx}, {by}, {bz}), thread ({tx}, {ty}, {tz})", self.place)
    }
}

/// The other access of a conflict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Other {
    /// Read or write.
    pub access: Access,
    /// Its instruction and thread.
    pub at: Site,
}

/// A warp that waits at a barrier which can no longer complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Warp number in its block.
    pub warp: u32,
    /// Line of the barrier instruction.
    pub line: u32,
    /// Barrier number, 0 to 15.
    pub barrier: u32,
    /// Threads that have arrived at this barrier.
    pub arrived: u32,
    /// Threads it waits for.
    pub expected: u32,
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { warp, line, barrier, arrived, expected } = self;
        write!(
            f,
            "warp {warp} at line {line} for barrier {barrier} ({arrived} of {expected} threads arrived)"
        )
    }
}

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
    #[error("kernel `{kernel}` takes {expected} arguments, {given} given")]
    ArgumentCount {
        /// Kernel name.
        kernel: Arc<str>,
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
    /// A register read before anything was written to it.
    #[error("{at}: register `{register}` is read before it is written")]
    UninitialisedRegister {
        /// Instruction and thread.
        at: Box<Site>,
        /// The register.
        register: String,
    },
    /// Memory of the block or thread read before anything was written to it.
    #[error("{at}: {bytes} bytes at {space} address {address:#x} are read before they are written")]
    UninitialisedMemory {
        /// Instruction and thread.
        at: Box<Site>,
        /// State space: shared or local.
        space: Space,
        /// Address of the access.
        address: u64,
        /// Bytes of the access.
        bytes: u32,
    },
    /// Shared memory touched while an asynchronous copy into it was not yet waited for.
    #[error("{at}: {access} at shared address {address:#x} while a copy into it is in flight: {}", copy.at)]
    InFlight {
        /// Instruction and thread.
        at: Box<Site>,
        /// Read or write.
        access: Access,
        /// Address of the access.
        address: u64,
        /// The copy, issued and not yet waited for by its thread.
        copy: Box<Other>,
    },
    /// Two accesses of different threads, at least one a write, that nothing orders.
    #[error("{at}: data race: {access} at shared address {address:#x} against the {} of {}", other.access, other.at)]
    Race {
        /// The later access's instruction and thread.
        at: Box<Site>,
        /// The later access.
        access: Access,
        /// Address where they meet.
        address: u64,
        /// The earlier access.
        other: Box<Other>,
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
    /// The kernel executed `trap`.
    #[error("{at}: trap")]
    Trap {
        /// Instruction and thread.
        at: Box<Site>,
    },
    /// Every live warp of a block waits for a barrier that cannot complete.
    #[error("kernel `{kernel}`, block {block:?}: deadlock: {}", join(waiting))]
    Deadlock {
        /// Kernel name.
        kernel: Arc<str>,
        /// `%ctaid`.
        block: [u32; 3],
        /// Who waits for what.
        waiting: Vec<Waiting>,
    },
    /// A block executed more warp instructions than [`Options::steps`](crate::Options::steps) allows.
    #[error("{at}: the block has executed {limit} warp instructions, the limit; an endless loop?")]
    StepLimit {
        /// The instruction that was next, and its first thread.
        at: Box<Site>,
        /// The limit.
        limit: u64,
    },
}

fn join(waiting: &[Waiting]) -> String {
    waiting.iter().map(Waiting::to_string).collect::<Vec<_>>().join("; ")
}
