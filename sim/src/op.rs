//! Decoded instructions.
//!
//! One PTX instruction becomes one operation, or several that share its guard: a `setp` with two destinations is a
//! comparison and what combines it.

mod matrix;
mod memory;

use std::sync::Arc;

use girih_ptx::Claim;

use crate::Origin;
use crate::lanes::{Args, File, LaneFn, Reg};
use crate::shadow::{Scope, Window};

pub(crate) use matrix::{
    Fragment, Left, Matrices, Mma, MmaSum, MmaType, QuadMma, Sparse, Tile, Wgmma, WmmaMma,
};
pub(crate) use memory::{
    Address, Atomic, AtomicWide, Bulk, BulkKind, Copy, Gate, MapCopy, MapReplace, Mbarrier, MbarrierAction,
    StoreAsync, Tensor, TensorKind, Transfer, Update,
};

/// One operation of a kernel's code.
#[derive(Clone, Debug)]
pub(crate) struct Inst {
    pub(crate) op: Op,
    /// The PTX instruction it belongs to, an index into [`Code::sources`](crate::program::Code::sources).
    pub(crate) source: u32,
    /// The guard, read once a PTX instruction.
    pub(crate) guard: Guard,
    /// Whether the PTX instruction that begins here may meet registers that nothing has written.
    pub(crate) careful: bool,
    /// If a PTX instruction begins here, how many operations from here on, up to the end of one, compute registers from
    /// registers alone and need not be looked at.
    pub(crate) stretch: u32,
}

/// Which of the active lanes execute an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guard {
    /// All.
    Always,
    /// `@p`: those where the predicate in this slot is set.
    If(u32),
    /// `@!p`.
    Unless(u32),
    /// Those of the operation before: the rest of the same PTX instruction.
    Same,
}

/// What an operation does.
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
    /// `cp.async.mbarrier.arrive`; without `.noinc` the arrival is `counted` beyond those that the mbarrier expects.
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
    /// `fence.proxy.tensormap::generic.release`, beyond what other fences do.
    MapRelease(Scope),
    /// `fence.proxy.tensormap::generic.acquire`, of the map at this address, likewise.
    MapAcquire(Address, Scope),
    /// `cp.async.bulk.commit_group`.
    BulkCommit,
    /// `cp.async.bulk.wait_group`, with `.read`.
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
    /// What the program that wrote the PTX claims of a register; no instruction.
    Claim(Box<(Claim, Reg)>),
    /// `vprintf`.
    Print(Box<Print>),
    /// `__assertfail`.
    Assert(Box<Assert>),
    /// `bra`, to an index in the code.
    Branch(u32),
    /// `brx.idx`: an index in a table of indices in the code.
    BranchTable(Reg, Vec<u32>),
    /// `call` of a function that has a frame.
    Invoke(Box<Invoke>),
    /// `ret` of such a function.
    Return,
    /// `alloca`: where the address goes, the size, the alignment.
    Alloca(Reg, Reg, u64),
    /// `exit`, and `ret` of a kernel.
    Exit,
    /// `bar.sync`, `bar.arrive`, `bar.red`.
    Barrier {
        id: Reg,
        threads: Option<Reg>,
        arrive: bool,
        /// Whether all lanes of a warp must execute this same instruction.
        aligned: bool,
        /// What `bar.red` tells of the threads' predicates: how, where to, and the predicate.
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
    /// `redux.sync`, with the combination of two values.
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
    /// `setmaxnreg` to so many registers a thread.
    Registers {
        increase: bool,
        count: u32,
    },
    /// A clock, counted in warp instructions of the block.
    Clock(Reg),
    /// `membar`, `fence`.
    Fence {
        scope: Scope,
        /// Whether it is `.sc`.
        sequential: bool,
    },
    /// `fence.proxy.async`, of these windows.
    FenceProxy(&'static [Window]),
    /// `fence.mbarrier_init`.
    FenceMbarriers,
    /// Cache hints and the like: nothing in this memory model.
    Nothing,
    /// `trap`.
    Trap,
}

impl Op {
    /// Whether undefined registers that it reads are seen to where it is executed, not where it begins.
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

    /// Whether lanes execute it together: those of a member mask, or all of the warp.
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

/// Where a lane's value of a `shfl.sync` comes from.
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

/// What `bar.red` tells of the threads' predicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Count {
    /// How many are set.
    Number,
    /// Whether all are.
    All,
    /// Whether any is.
    Any,
}

/// What `vote.sync` tells of the members' predicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vote {
    All,
    Any,
    /// Whether all are the same.
    Uniform,
    /// One bit a lane.
    Ballot,
}

/// `vprintf`: places in local memory of the arguments, generic addresses of the format and of the values.
#[derive(Clone, Debug)]
pub(crate) struct Print {
    pub(crate) format: Address,
    pub(crate) values: Address,
    /// Where the number of values goes.
    pub(crate) result: Address,
}

/// `__assertfail`: places in local memory of generic addresses of strings, and of the line's number.
#[derive(Clone, Debug)]
pub(crate) struct Assert {
    pub(crate) message: Address,
    pub(crate) file: Address,
    pub(crate) line: Address,
    pub(crate) function: Address,
}

/// What a call goes to.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    /// A function of the kernel's, by its number.
    Function(u32),
    /// The function whose address is in a register, of these if they are listed.
    Register(Reg, Option<Vec<u32>>),
}

/// `call` of a function that has a frame: places in local memory of what stands for its results and parameters, and the
/// bytes of each.
#[derive(Clone, Debug)]
pub(crate) struct Invoke {
    pub(crate) target: Target,
    pub(crate) results: Vec<(Address, u64)>,
    pub(crate) arguments: Vec<(Address, u64)>,
}

/// A PTX instruction as far as messages and register checks need it.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) line: u32,
    pub(crate) text: Arc<str>,
    /// The source line that it was compiled from.
    pub(crate) origin: Option<Arc<Origin>>,
    /// Registers it reads and writes, its guard apart.
    pub(crate) reads: Vec<Reg>,
    pub(crate) writes: Vec<Reg>,
    /// How many of the registers that it reads, the first, may be undefined: it only passes them on.
    pub(crate) passes: usize,
    /// What becomes of undefined bits if it computes registers from registers alone.
    pub(crate) flow: Flow,
}

/// How undefined bits of sources pass to destinations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// One undefined bit makes all of the result undefined.
    Any,
    /// A bit of the result depends on bits of its own, as with `and`, where a defined 0 decides.
    Bits,
    /// The same, of an instruction that takes values apart, not one that copies them.
    Masked,
    /// A bit of the result is undefined if that bit of one source is, as with `xor`.
    Either,
    /// Like bits, if the second and the third source, where they are of these files, say which.
    Chosen([Option<File>; 2]),
    /// All of the result is undefined unless it is the same for all undefined bits, as with `mul` by 0.
    Whole,
}
