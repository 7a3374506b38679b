//! Decoded instructions.
//!
//! One PTX instruction becomes one operation, or several that share its guard: a `setp` with two destinations is a
//! comparison and what combines it.

use std::sync::Arc;

use girih_ptx::{TensorElement, Type};

use crate::Space;
use crate::exec::Major;
use crate::float::Round;
use crate::lanes::{Args, LaneFn, Reg};
use crate::shadow::Order;

/// One operation of a kernel's code.
#[derive(Clone, Debug)]
pub(crate) struct Inst {
    pub(crate) op: Op,
    /// The PTX instruction it belongs to, an index into [`Code::sources`](crate::program::Code::sources).
    pub(crate) source: u32,
    /// The guard, read once a PTX instruction.
    pub(crate) guard: Guard,
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
    /// `vprintf`.
    Print(Box<Print>),
    /// `bra`, to an index in the code.
    Branch(u32),
    /// `brx.idx`: an index in a table of indices in the code.
    BranchTable(Reg, Vec<u32>),
    /// `exit`, and `ret` of a kernel.
    Exit,
    /// `bar.sync`, `bar.arrive`, `bar.red`.
    Barrier {
        id: Reg,
        threads: Option<Reg>,
        arrive: bool,
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
    /// A clock, counted in warp instructions of the block.
    Clock(Reg),
    /// `membar`, `fence`.
    Fence,
    /// `fence.proxy.async`.
    FenceProxy,
    /// `fence.mbarrier_init`.
    FenceMbarriers,
    /// Cache hints and the like: nothing in this memory model.
    Nothing,
    /// `trap`.
    Trap,
}

impl Op {
    /// Whether lanes execute it together: those of a member mask, or all of the warp.
    pub(crate) fn is_collective(&self) -> bool {
        match self {
            Op::Gate(gate) => gate.aligned,
            Op::Ldmatrix(_)
            | Op::Stmatrix(_)
            | Op::Movmatrix(..)
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
            | Op::WarpSync(_)
            | Op::Shuffle(_)
            | Op::Vote { .. } => true,
            _ => false,
        }
    }
}

/// A memory operand: a register, if any, plus bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Address {
    pub(crate) base: Option<Reg>,
    pub(crate) offset: i64,
}

/// `ld`, `st`: `count` elements of `bytes` bytes.
#[derive(Clone, Debug)]
pub(crate) struct Transfer {
    pub(crate) space: Space,
    pub(crate) address: Address,
    /// Bytes of an element.
    pub(crate) bytes: u32,
    /// Elements, 1 to 4.
    pub(crate) count: u32,
    /// Whether a loaded element is sign-extended to its register.
    pub(crate) signed: bool,
    /// The registers, `count` of them; `None` for `_`.
    pub(crate) regs: [Option<Reg>; 4],
    /// What a strong access orders; `None` of a weak one.
    pub(crate) strong: Option<Order>,
    /// It is of an argument or a result of a call, parts of which, the padding of structures, may never be written.
    pub(crate) argument: bool,
}

/// The new value of memory from the old one and the operands of an atomic, each in the low bits.
pub(crate) type Update = fn(u64, u64, u64) -> u64;

/// `atom`, `red`: `b.len()` elements of `bytes` bytes, each updated on its own.
#[derive(Clone, Debug)]
pub(crate) struct Atomic {
    pub(crate) space: Space,
    pub(crate) address: Address,
    pub(crate) bytes: u32,
    pub(crate) update: Update,
    /// The update where memory is global, which flushes subnormal f32.
    pub(crate) global: Update,
    /// Where the old values go.
    pub(crate) d: Vec<Option<Reg>>,
    pub(crate) b: Vec<Reg>,
    /// The second operand of `cas`.
    pub(crate) c: Option<Reg>,
    pub(crate) order: Order,
}

/// `cp.async`: `bytes` bytes from global to shared memory, of which `source` are read and the rest is zero.
#[derive(Clone, Debug)]
pub(crate) struct Copy {
    pub(crate) to: Address,
    pub(crate) from: Address,
    pub(crate) bytes: u32,
    /// `src-size`; without it `bytes`.
    pub(crate) source: Option<Reg>,
    /// `ignore-src`: where set nothing is read and all is zero.
    pub(crate) ignore: Option<Reg>,
}

/// What a bulk copy copies.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BulkKind {
    /// Global to shared memory; with a mask of the blocks that receive it.
    Load { multicast: Option<Reg> },
    /// The block's shared to global memory.
    Store,
    /// The block's shared memory to that of a block of the cluster.
    Move,
}

impl BulkKind {
    /// The spaces of its destination and its source.
    pub(crate) fn spaces(self) -> (Space, Space) {
        match self {
            BulkKind::Load { .. } => (Space::Cluster, Space::Global),
            BulkKind::Store => (Space::Global, Space::Shared),
            BulkKind::Move => (Space::Cluster, Space::Shared),
        }
    }
}

/// `cp.async.bulk`, `cp.reduce.async.bulk`.
#[derive(Clone, Debug)]
pub(crate) struct Bulk {
    pub(crate) kind: BulkKind,
    pub(crate) to: Address,
    pub(crate) from: Address,
    pub(crate) bytes: Reg,
    /// The mbarrier that is told; of no use to a store.
    pub(crate) mbarrier: Address,
    /// Bytes of an element and what becomes of it, of a reduction.
    pub(crate) reduce: Option<(u32, Update)>,
}

/// What a bulk tensor copy copies.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TensorKind {
    /// Global to shared memory; with a mask of the blocks that receive it.
    Load { multicast: Option<Reg> },
    /// The block's shared to global memory.
    Store,
    /// Nothing.
    Prefetch,
}

/// `cp.async.bulk.tensor`, `cp.reduce.async.bulk.tensor`.
#[derive(Clone, Debug)]
pub(crate) struct Tensor {
    pub(crate) kind: TensorKind,
    /// A generic address.
    pub(crate) map: Address,
    /// Innermost first.
    pub(crate) coordinates: Vec<Reg>,
    pub(crate) shared: Address,
    pub(crate) mbarrier: Address,
    /// What becomes of elements, by their type, of a reduction.
    pub(crate) reductions: Option<Vec<(TensorElement, Update)>>,
}

/// `st.async`, `red.async`: `values.len()` elements of `bytes` bytes.
#[derive(Clone, Debug)]
pub(crate) struct StoreAsync {
    pub(crate) to: Address,
    pub(crate) mbarrier: Address,
    pub(crate) bytes: u32,
    pub(crate) values: Vec<Reg>,
    pub(crate) reduce: Option<Update>,
}

/// What an `mbarrier` instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MbarrierAction {
    Init,
    Inval,
    Arrive {
        /// The phases after this one expect so many fewer.
        drop: bool,
        no_complete: bool,
        /// The operand is not a count of arrivals but of bytes to expect.
        expect: bool,
        release: bool,
    },
    /// `expect_tx`, `complete_tx`.
    Transact {
        complete: bool,
    },
    /// `test_wait`, `try_wait`.
    Wait {
        /// Whether lanes wait for the phase some time.
        suspend: bool,
        /// Whether the operand is a parity and not a state.
        parity: bool,
        acquire: bool,
    },
}

/// `mbarrier`.
#[derive(Clone, Debug)]
pub(crate) struct Mbarrier {
    pub(crate) action: MbarrierAction,
    pub(crate) space: Space,
    pub(crate) address: Address,
    /// A count, a state or a parity; a count is 1 without it.
    pub(crate) operand: Option<Reg>,
    /// Where an arrival's state goes, or whether a wait found the phase complete.
    pub(crate) state: Option<Reg>,
}

/// `barrier.cluster`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gate {
    pub(crate) arrive: bool,
    /// Whether it releases or acquires.
    pub(crate) ordered: bool,
    pub(crate) aligned: bool,
}

/// `ldmatrix`, `stmatrix`: `regs.len()` matrices of 8x8 16-bit elements.
#[derive(Clone, Debug)]
pub(crate) struct Matrices {
    /// Shared or generic.
    pub(crate) space: Space,
    pub(crate) address: Address,
    pub(crate) transposed: bool,
    pub(crate) regs: Vec<u32>,
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

/// The element type of `mma`'s A and B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MmaType {
    F16,
    Bf16,
    Tf32,
    E4m3,
    E5m2,
    F64,
    U8,
    S8,
    U4,
    S4,
    /// One bit; the products are `and` or `xor`.
    B1 {
        and: bool,
    },
}

/// The type of `mma`'s C and D.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MmaSum {
    F32,
    /// Two in a register.
    F16,
    F64,
    S32 {
        /// Clamped where it does not fit, instead of wrapped.
        saturate: bool,
    },
}

/// `mma.sync.aligned.mMn8kK.row.col`: slots of the fragments' registers.
#[derive(Clone, Debug)]
pub(crate) struct Mma {
    /// 8 or 16.
    pub(crate) m: usize,
    pub(crate) a_ty: MmaType,
    pub(crate) b_ty: MmaType,
    pub(crate) sum: MmaSum,
    pub(crate) d: Vec<u32>,
    pub(crate) a: Vec<u32>,
    pub(crate) b: Vec<u32>,
    pub(crate) c: Vec<u32>,
}

/// Where `wgmma` has A.
#[derive(Clone, Debug)]
pub(crate) enum Left {
    /// A descriptor of shared memory.
    Descriptor(Reg),
    /// Slots of a fragment.
    Registers([u32; 4]),
}

/// `wgmma.mma_async.sync.aligned.m64nNkK`.
#[derive(Clone, Debug)]
pub(crate) struct Wgmma {
    pub(crate) n: usize,
    pub(crate) a_ty: MmaType,
    pub(crate) b_ty: MmaType,
    pub(crate) sum: MmaSum,
    pub(crate) a: Left,
    /// The descriptor of B.
    pub(crate) b: Reg,
    /// `scale-d`: whether D is added to.
    pub(crate) accumulate: Reg,
    pub(crate) negate_a: bool,
    pub(crate) negate_b: bool,
    pub(crate) a_major: Major,
    pub(crate) b_major: Major,
    /// Slots of D.
    pub(crate) d: Vec<u32>,
}

impl Wgmma {
    /// The slots of A, if it is in registers, and of D.
    pub(crate) fn registers(&self) -> (&[u32], &[u32]) {
        let a: &[u32] = if let Left::Registers(slots) = &self.a { slots } else { &[] };
        (a, &self.d)
    }
}

/// `mma.sync.aligned.m8n8k4` of f16: slots of the fragments' registers, four of C and D in f16 and eight in f32.
#[derive(Clone, Debug)]
pub(crate) struct QuadMma {
    pub(crate) a_by_rows: bool,
    pub(crate) b_by_rows: bool,
    pub(crate) d: Vec<u32>,
    pub(crate) a: Vec<u32>,
    pub(crate) b: Vec<u32>,
    pub(crate) c: Vec<u32>,
}

/// A fragment of `wmma`: a matrix of `lines` times `width` elements, spread over the lanes' registers line by line. A's
/// lines are its rows, B's its columns, C's and D's their rows.
#[derive(Clone, Debug)]
pub(crate) struct Fragment {
    pub(crate) lines: usize,
    pub(crate) width: usize,
    pub(crate) ty: Type,
    pub(crate) regs: Vec<Reg>,
}

/// `wmma.load`, `wmma.store`.
#[derive(Clone, Debug)]
pub(crate) struct Tile {
    pub(crate) load: bool,
    pub(crate) space: Space,
    pub(crate) address: Address,
    /// Elements between lines, or between the elements of a line if those are apart; without it they are packed.
    pub(crate) stride: Option<Reg>,
    /// Whether the elements of a line are next to each other in memory.
    pub(crate) along: bool,
    pub(crate) fragment: Fragment,
}

/// `wmma.mma`.
#[derive(Clone, Debug)]
pub(crate) struct WmmaMma {
    pub(crate) a: Fragment,
    pub(crate) b: Fragment,
    pub(crate) c: Fragment,
    pub(crate) d: Fragment,
    /// Products of bits are `and`, otherwise `xor`.
    pub(crate) and: bool,
    /// Sums in integers are clamped instead of wrapped.
    pub(crate) saturate: bool,
    /// Of f64 alone.
    pub(crate) round: Round,
}

/// `vprintf`: places in local memory of the arguments, generic addresses of the format and of the values.
#[derive(Clone, Debug)]
pub(crate) struct Print {
    pub(crate) format: u64,
    pub(crate) values: u64,
    /// Where the number of values goes.
    pub(crate) result: u64,
}

/// A PTX instruction as far as messages and register checks need it.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) line: u32,
    pub(crate) text: Arc<str>,
    /// Registers it reads and writes, its guard apart.
    pub(crate) reads: Vec<Reg>,
    pub(crate) writes: Vec<Reg>,
    /// How many of the registers that it reads, the first, it only computes others from: what nothing has written
    /// passes through.
    pub(crate) passes: usize,
}
