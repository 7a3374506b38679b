//! Decoded instructions.
//!
//! A PTX instruction becomes one operation, or several operations under the same guard. For example, a `setp` with two
//! destinations becomes a comparison and the operations that combine its result.

mod matrix;
mod memory;

use std::sync::Arc;

use girih_ptx::Claim;

use crate::Origin;
use crate::lanes::{Args, File, LaneFn, Reg};
use crate::shadow::{Scope, Window};

pub(crate) use matrix::{
    Fragment, Left, Major, Matrices, Mma, MmaSum, MmaType, QuadMma, Sparse, Tile, Wgmma, WmmaMma,
};
pub(crate) use memory::{
    Address, Atomic, AtomicWide, Bulk, BulkKind, Copy, Gate, MapCopy, MapReplace, Mbarrier, MbarrierAction,
    StoreAsync, Tensor, TensorKind, Transfer, Update,
};

/// One operation of a kernel's code.
#[derive(Clone, Debug)]
pub(crate) struct Inst {
    pub(crate) op: Op,
    /// The PTX instruction to which the operation belongs, an index into
    /// [`Code::sources`](crate::program::Code::sources).
    pub(crate) source: u32,
    /// The guard, which is evaluated once for each PTX instruction.
    pub(crate) guard: Guard,
    /// Whether the PTX instruction that begins with this operation may read undefined registers.
    pub(crate) careful: bool,
    /// If a PTX instruction begins with this operation: the number of operations from here on, in whole instructions,
    /// that only compute registers from registers and need no checks.
    pub(crate) stretch: u32,
}

/// The lanes that execute an operation, of those that have reached it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guard {
    /// All lanes.
    Always,
    /// `@p`: the lanes in which the predicate in this slot is true.
    If(u32),
    /// `@!p`: the lanes in which the predicate in this slot is false.
    Unless(u32),
    /// The same lanes as the operation before, which belongs to the same PTX instruction.
    Same,
}

/// An operation.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    /// Computes registers from registers.
    Lanes(LaneFn, Args),
    Load(Box<Transfer>),
    Store(Box<Transfer>),
    /// `atom`, `red`.
    Atomic(Box<Atomic>),
    /// `atom` of 16 bytes.
    AtomicWide(Box<AtomicWide>),
    /// `cp.async`.
    Copy(Box<Copy>),
    /// `cp.async.commit_group`.
    CopyCommit,
    /// `cp.async.wait_group n`; `None` is `cp.async.wait_all`.
    CopyWait(Option<u32>),
    /// `cp.async.mbarrier.arrive`. Without `.noinc` the arrival is `counted`: it comes in addition to those that the
    /// phase expects.
    CopyArrive {
        address: Address,
        counted: bool,
    },
    /// `cp.async.bulk`, `cp.reduce.async.bulk`.
    Bulk(Box<Bulk>),
    /// `cp.async.bulk.tensor`, `cp.reduce.async.bulk.tensor`.
    Tensor(Box<Tensor>),
    /// `tensormap.replace`.
    MapReplace(Box<MapReplace>),
    /// `tensormap.cp_fenceproxy`.
    MapCopy(Box<MapCopy>),
    /// The part of `fence.proxy.tensormap::generic.release` that other fences do not have.
    MapRelease(Scope),
    /// The part of `fence.proxy.tensormap::generic.acquire`, for the map at this address, that other fences do not
    /// have.
    MapAcquire(Address, Scope),
    /// `cp.async.bulk.commit_group`.
    BulkCommit,
    /// `cp.async.bulk.wait_group`, with or without `.read`.
    BulkWait {
        keep: u32,
        read: bool,
    },
    /// `st.async`, `red.async`.
    StoreAsync(Box<StoreAsync>),
    /// `mbarrier`.
    Mbarrier(Box<Mbarrier>),
    /// `barrier.cluster`.
    Gate(Gate),
    Ldmatrix(Box<Matrices>),
    Stmatrix(Box<Matrices>),
    /// `movmatrix`: slots of the destination and the source.
    Movmatrix(u32, u32),
    Mma(Box<Mma>),
    /// `wgmma.mma_async`.
    Wgmma(Arc<Wgmma>),
    /// `wgmma.fence`.
    WgmmaFence,
    /// `wgmma.commit_group`.
    WgmmaCommit,
    /// `wgmma.wait_group n`.
    WgmmaWait(u32),
    /// `mma.sync.m8n8k4` of f16.
    QuadMma(Box<QuadMma>),
    /// `wmma.load`, `wmma.store`.
    Wmma(Box<Tile>),
    /// `wmma.mma`.
    WmmaMma(Box<WmmaMma>),
    /// A claim of the kernel's generator about a register's value, which is checked. It is not an instruction.
    Claim(Box<(Claim, Reg)>),
    /// The registers of a load become undefined in the lanes that did not execute it, by a note of the kernel's generator. It is not an instruction.
    Undefined(Box<[Reg]>),
    /// `vprintf`.
    Print(Box<Print>),
    /// `__assertfail`.
    Assert(Box<Assert>),
    /// `bra`, to an operation of the code.
    Branch(u32),
    /// `brx.idx`: the register with the index, and the table of operations to branch to.
    BranchTable(Reg, Vec<u32>),
    /// `call` of a function that has a stack frame.
    Invoke(Box<Invoke>),
    /// `ret` of a function that has a stack frame.
    Return,
    /// `alloca`: the registers for the address and with the size, and the alignment.
    Alloca(Reg, Reg, u64),
    /// `exit`, and `ret` of a kernel.
    Exit,
    /// `bar.sync`, `bar.arrive`, `bar.red`.
    Barrier {
        id: Reg,
        threads: Option<Reg>,
        arrive: bool,
        /// Whether all lanes of a warp must execute the same instruction.
        aligned: bool,
        /// For `bar.red`: the kind of result, the register of the result, and the predicate.
        vote: Option<(Count, Reg, Reg)>,
    },
    /// `bar.warp.sync`.
    WarpSync(Reg),
    Shuffle(Box<Shuffle>),
    /// `vote.sync`.
    Vote {
        vote: Vote,
        d: Reg,
        a: Reg,
        members: Reg,
    },
    /// `redux.sync`, with the function that combines two values.
    Redux {
        combine: fn(u32, u32) -> u32,
        d: Reg,
        a: Reg,
        members: Reg,
    },
    /// `match.sync`.
    Match {
        all: bool,
        d: Reg,
        p: Option<Reg>,
        a: Reg,
        members: Reg,
    },
    /// `elect.sync`.
    Elect {
        d: Reg,
        p: Reg,
        members: Reg,
    },
    /// `activemask`.
    Activemask(Reg),
    /// `setmaxnreg` to `count` registers for each thread.
    Registers {
        increase: bool,
        count: u32,
    },
    /// A clock, which counts the warp instructions that the block has executed.
    Clock(Reg),
    /// `membar`, `fence`.
    Fence {
        scope: Scope,
        /// Whether it is `.sc`.
        sequential: bool,
    },
    /// `fence.proxy.async`, for these windows.
    FenceProxy(&'static [Window]),
    /// `fence.mbarrier_init`.
    FenceMbarriers,
    /// Cache hints and the like, which have no effect in the simulator.
    Nothing,
    /// `trap`.
    Trap,
}

impl Op {
    /// Whether undefined registers that the operation reads are handled where it is executed, and not where its
    /// instruction begins.
    pub(crate) fn spreads(&self) -> bool {
        matches!(
            self,
            Op::Shuffle(_)
                | Op::Vote { .. }
                | Op::Redux { .. }
                | Op::Match { .. }
                | Op::Mma(_)
                | Op::QuadMma(_)
                | Op::WmmaMma(_)
                | Op::Movmatrix(..)
        )
    }

    /// Whether several lanes execute the operation together: those of a member mask, or all lanes of the warp.
    pub(crate) fn is_collective(&self) -> bool {
        match self {
            Op::Gate(gate) => gate.aligned,
            Op::Ldmatrix(_)
            | Op::Stmatrix(_)
            | Op::Movmatrix(..)
            | Op::MapCopy(_)
            | Op::Mma(_)
            | Op::Wgmma(_)
            | Op::WgmmaFence
            | Op::WgmmaCommit
            | Op::WgmmaWait(_)
            | Op::QuadMma(_)
            | Op::Wmma(_)
            | Op::WmmaMma(_)
            | Op::Redux { .. }
            | Op::Match { .. }
            | Op::Elect { .. }
            | Op::Barrier { .. }
            | Op::Registers { .. }
            | Op::WarpSync(_)
            | Op::Shuffle(_)
            | Op::Vote { .. } => true,
            _ => false,
        }
    }
}

/// How a lane's source is selected in a `shfl.sync`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShuffleMode {
    Up,
    Down,
    Butterfly,
    Index,
}

/// `shfl.sync`.
#[derive(Clone, Debug)]
pub(crate) struct Shuffle {
    pub(crate) mode: ShuffleMode,
    pub(crate) d: Reg,
    pub(crate) p: Option<Reg>,
    pub(crate) a: Reg,
    pub(crate) b: Reg,
    pub(crate) c: Reg,
    pub(crate) members: Reg,
}

/// The result of a `bar.red`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Count {
    /// The number of true predicates.
    Number,
    /// Whether all predicates are true.
    All,
    /// Whether any predicate is true.
    Any,
}

/// The result of a `vote.sync`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vote {
    All,
    Any,
    /// Whether all predicates are the same.
    Uniform,
    /// The predicates as a mask of lanes.
    Ballot,
}

/// `vprintf`: the places in local memory of two arguments, the generic addresses of the format and of the values.
#[derive(Clone, Debug)]
pub(crate) struct Print {
    pub(crate) format: Address,
    pub(crate) values: Address,
    /// The place in local memory for the result, the number of values.
    pub(crate) result: Address,
}

/// `__assertfail`: the places in local memory of the arguments, which are generic addresses of strings, and the number
/// of the line.
#[derive(Clone, Debug)]
pub(crate) struct Assert {
    pub(crate) message: Address,
    pub(crate) file: Address,
    pub(crate) line: Address,
    pub(crate) function: Address,
}

/// The function that a call calls.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    /// The kernel's function with this number.
    Function(u32),
    /// The function whose address is in a register; one of these numbers if they are listed.
    Register(Reg, Option<Vec<u32>>),
}

/// `call` of a function that has a stack frame: for each result and argument, the place in local memory and the size in
/// bytes.
#[derive(Clone, Debug)]
pub(crate) struct Invoke {
    pub(crate) target: Target,
    pub(crate) results: Vec<(Address, u64)>,
    pub(crate) arguments: Vec<(Address, u64)>,
}

/// A PTX instruction, as far as messages and register checks need it.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) line: u32,
    pub(crate) text: Arc<str>,
    /// The source line that the instruction was compiled from.
    pub(crate) origin: Option<Arc<Origin>>,
    /// The registers that the instruction reads, without its guard.
    pub(crate) reads: Vec<Reg>,
    /// The registers that the instruction writes.
    pub(crate) writes: Vec<Reg>,
    /// How many of the registers in `reads`, from the first on, may be undefined, as the instruction only passes their
    /// values on.
    pub(crate) passes: usize,
    /// How undefined bits pass through the instruction, if it only computes registers from registers.
    pub(crate) flow: Flow,
    /// Whether the instruction is a weak load whose value only guards an atomic at the same address.
    pub(crate) guards: bool,
    /// Whether the instruction is a weak load whose value goes to stores alone, of which one is at the same address.
    pub(crate) updated: bool,
    /// Of a store: the loads, as `updated` says, whose values it stores.
    pub(crate) updates: Vec<u32>,
}

/// How undefined bits of sources pass to destinations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// An undefined bit in any source makes the whole result undefined.
    Any,
    /// Each bit of the result depends on certain bits of the sources, as with `or`, where a defined 1 decides. The
    /// instruction may copy a value as a whole.
    Bits,
    /// As `Bits`, for an instruction such as `and`, which does not copy its operands.
    Masked,
    /// A bit of the result is undefined if the same bit of any source is, as with `xor`.
    Either,
    /// As `Bits`, but those of the second and the third source for which a file is given choose which bits are taken.
    /// If one of them is undefined, the whole result is.
    Chosen([Option<File>; 2]),
    /// Each half of the result depends on the same half of the sources; if `joined`, the upper one on the first source, the lower one on
    /// the second.
    Halves {
        /// Whether two sources are joined.
        joined: bool,
        /// The bits of a half of the sources, if they are not joined.
        from: u8,
        /// The bits of a half of the result.
        to: u8,
    },
    /// The whole result is undefined unless it is the same for all values of the undefined bits, as with `mul` by 0.
    Whole,
}
