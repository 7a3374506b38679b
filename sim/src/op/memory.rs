//! Operations on memory, and the waits for asynchronous ones.

use girih_ptx::{TensorElement, TensorField};

use crate::Space;
use crate::lanes::Reg;
use crate::shadow::{Order, Scope};

/// A memory operand: a register, if any, plus bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Address {
    pub(crate) base: Option<Reg>,
    pub(crate) offset: i64,
    /// The number of the variable from whose address this address is made, from 1; 0 if none is known.
    pub(crate) within: u32,
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
    /// Whether a loaded element is sign-extended to the width of its register.
    pub(crate) signed: bool,
    /// The registers of the `count` elements; `None` for `_`.
    pub(crate) regs: [Option<Reg>; 4],
    /// The order of a strong access; `None` for a weak access.
    pub(crate) strong: Option<Order>,
    /// Whether the load is `ld.global.nc`, which says that nobody writes the memory.
    pub(crate) constant: bool,
    /// Whether the load is weak and in a loop that ends only when the load returns another value.
    pub(crate) waits: bool,
}

/// Computes the new value of memory from the old one and the operands of an atomic. Each value is in the low bits.
pub(crate) type Update = fn(u64, u64, u64) -> u64;

/// `atom`, `red`: `b.len()` elements of `bytes` bytes, each of which is updated separately.
#[derive(Clone, Debug)]
pub(crate) struct Atomic {
    pub(crate) space: Space,
    pub(crate) address: Address,
    pub(crate) bytes: u32,
    pub(crate) update: Update,
    /// The update for global memory, where sums of f32 flush subnormal numbers.
    pub(crate) global: Update,
    /// The registers for the old values.
    pub(crate) d: Vec<Option<Reg>>,
    pub(crate) b: Vec<Reg>,
    /// The second operand of `cas`.
    pub(crate) c: Option<Reg>,
    pub(crate) order: Order,
}

/// `atom.exch.b128`, `atom.cas.b128`. Each value is in two registers, the low half first.
#[derive(Clone, Debug)]
pub(crate) struct AtomicWide {
    pub(crate) space: Space,
    pub(crate) address: Address,
    pub(crate) d: [Reg; 2],
    /// The new value of `exch`, or the value with which `cas` compares.
    pub(crate) b: [Reg; 2],
    /// The new value of `cas`.
    pub(crate) c: Option<[Reg; 2]>,
    pub(crate) order: Order,
}

/// `cp.async`: copies `bytes` bytes from global to shared memory. Only `source` of them are read, and the others are
/// zero.
#[derive(Clone, Debug)]
pub(crate) struct Copy {
    pub(crate) to: Address,
    pub(crate) from: Address,
    pub(crate) bytes: u32,
    /// `src-size`; `bytes` if it is not given.
    pub(crate) source: Option<Reg>,
    /// `ignore-src`: where it is true, nothing is read and all bytes are zero.
    pub(crate) ignore: Option<Reg>,
}

/// The direction of a bulk copy.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BulkKind {
    /// From global to shared memory; with `multicast`, to the shared memory of the blocks in that mask.
    Load { multicast: Option<Reg> },
    /// From the block's shared memory to global memory.
    Store,
    /// From the block's shared memory to that of a block of the cluster.
    Move,
}

impl BulkKind {
    /// The spaces of the destination and of the source.
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
    /// The mbarrier that is signalled; a store has none.
    pub(crate) mbarrier: Address,
    /// The bytes of an element and the function of a reduction.
    pub(crate) reduce: Option<(u32, Update)>,
}

/// The direction of a TMA copy.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TensorKind {
    /// From global to shared memory; with `multicast`, to the shared memory of the blocks in that mask.
    Load { multicast: Option<Reg> },
    /// From the block's shared memory to global memory.
    Store,
    /// A prefetch, which copies nothing.
    Prefetch,
}

/// `cp.async.bulk.tensor`, `cp.reduce.async.bulk.tensor`.
#[derive(Clone, Debug)]
pub(crate) struct Tensor {
    pub(crate) kind: TensorKind,
    /// The generic address of the tensor map.
    pub(crate) map: Address,
    /// The coordinates, the innermost first.
    pub(crate) coordinates: Vec<Reg>,
    /// Of an im2col copy: the offsets that are added to the coordinates of pixels; a store has none.
    pub(crate) offsets: Option<Vec<Reg>>,
    pub(crate) shared: Address,
    pub(crate) mbarrier: Address,
    /// Of a reduction: the function for each type of elements.
    pub(crate) reductions: Option<Vec<(TensorElement, Update)>>,
}

/// `tensormap.replace`.
#[derive(Clone, Debug)]
pub(crate) struct MapReplace {
    pub(crate) space: Space,
    pub(crate) address: Address,
    pub(crate) field: TensorField,
    pub(crate) value: Reg,
}

/// `tensormap.cp_fenceproxy`: copies a map from shared to global memory.
#[derive(Clone, Debug)]
pub(crate) struct MapCopy {
    pub(crate) to: Address,
    pub(crate) from: Address,
    pub(crate) scope: Scope,
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

/// The action of an `mbarrier` instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MbarrierAction {
    Init,
    Inval,
    Arrive {
        /// Whether the following phases expect that many arrivals fewer.
        drop: bool,
        no_complete: bool,
        /// Whether the operand is not a count of arrivals but a number of bytes to expect.
        expect: bool,
        /// The scope of a release; `None` for a relaxed arrival.
        release: Option<Scope>,
    },
    /// `expect_tx`, `complete_tx`.
    Transact {
        complete: bool,
    },
    /// `test_wait`, `try_wait`.
    Wait {
        /// Whether the lanes are suspended for some time, as `try_wait` does.
        suspend: bool,
        /// Whether the operand is a parity, and not a state.
        parity: bool,
        /// The scope of an acquire; `None` for a relaxed wait.
        acquire: Option<Scope>,
    },
}

/// `mbarrier`.
#[derive(Clone, Debug)]
pub(crate) struct Mbarrier {
    pub(crate) action: MbarrierAction,
    pub(crate) space: Space,
    pub(crate) address: Address,
    /// The count, state or parity; a count that is not given is 1.
    pub(crate) operand: Option<Reg>,
    /// The register for the state that an arrival returns, or the predicate that tells whether a wait has found the
    /// phase complete.
    pub(crate) state: Option<Reg>,
}

/// `barrier.cluster`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gate {
    pub(crate) arrive: bool,
    /// Whether an arrival releases, or a wait acquires.
    pub(crate) ordered: bool,
    pub(crate) aligned: bool,
}
