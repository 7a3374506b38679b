//! Operations on memory, and what waits for them.

use girih_ptx::{TensorElement, TensorField};

use crate::Space;
use crate::lanes::Reg;
use crate::shadow::{Order, Scope};

/// A memory operand: a register, if any, plus bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Address {
    pub(crate) base: Option<Reg>,
    pub(crate) offset: i64,
    /// The variable that it is made from, by number from 1; 0 if that is not known.
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
    /// Whether a loaded element is sign-extended to its register.
    pub(crate) signed: bool,
    /// The registers, `count` of them; `None` for `_`.
    pub(crate) regs: [Option<Reg>; 4],
    /// What a strong access orders; `None` of a weak one.
    pub(crate) strong: Option<Order>,
    /// Whether it says that nobody writes there: `ld.global.nc`.
    pub(crate) constant: bool,
    /// Whether it is weak and in a loop that only another value of it ends.
    pub(crate) waits: bool,
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

/// `atom.exch.b128`, `atom.cas.b128`: the halves of each value, the low one first.
#[derive(Clone, Debug)]
pub(crate) struct AtomicWide {
    pub(crate) space: Space,
    pub(crate) address: Address,
    pub(crate) d: [Reg; 2],
    /// The new value, or what is compared with.
    pub(crate) b: [Reg; 2],
    /// The new value of `cas`.
    pub(crate) c: Option<[Reg; 2]>,
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
    /// Of an im2col copy: what is added to the coordinates of pixels; none of a store.
    pub(crate) offsets: Option<Vec<Reg>>,
    pub(crate) shared: Address,
    pub(crate) mbarrier: Address,
    /// What becomes of elements, by their type, of a reduction.
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

/// `tensormap.cp_fenceproxy`: from shared to global memory.
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
        /// The scope of a release; `None` of a relaxed one.
        release: Option<Scope>,
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
        /// The scope of an acquire; `None` of a relaxed one.
        acquire: Option<Scope>,
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
