//! Operations and their attributes. Operands of one operation have one dtype and one shape unless said otherwise: casts and broadcasts
//! are operations of their own, which [`ops`](crate::ops) adds.

use std::sync::Arc;

use girih_tensor::DType;

use super::{ArrayId, Dims, Nan, Rounding};
use crate::ir::table::Each;
use crate::types::{Order, Padding, Scope, named};

named! {
    /// What is promised of the exact results of integer arithmetic. The reference evaluator gives poison where a promise does not hold; a
    /// kernel wraps.
    #[derive(Default)]
    Overflow {
        #[default] Wraps "wraps" "Nothing: results wrap.",
        NoSigned "nsw" "Of operands as signed numbers, the result is a signed number of the width.",
        NoUnsigned "nuw" "Of operands as unsigned numbers, the result is an unsigned number of the width.",
        Never "nw" "Both.",
    }
}

/// The combination of two elements in a reduction or scan. By a function is by the operation's region: its arguments are n left and n right
/// scalars, it yields n scalars.
pub type Combine = girih_codegen::algorithm::distributed::Combine<()>;

/// A tile's window into an array: which elements the tile at an index consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct View {
    /// The array.
    pub array: ArrayId,
    /// Extents of the tile, by the axes of the array.
    pub tile: Dims,
    /// The distance of neighbouring tiles by each axis, in elements; the tile's extents unless tiles overlap or leave gaps.
    pub steps: Dims,
    /// Outside of the array.
    pub padding: Padding,
    /// Whether bounds are checked at all.
    pub check: bool,
    /// Expected latency, 1 to 10: how far ahead a load in a loop may be issued.
    pub latency: Option<u8>,
    /// Whether TMA copies may be taken.
    pub tma: bool,
    /// Order of the access.
    pub order: Order,
    /// Scope of an order other than weak.
    pub scope: Option<Scope>,
}

/// Attributes of accesses by index tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Indexed {
    /// The array.
    pub array: ArrayId,
    /// Whether the last operands are a mask (bool) and, of gathers, what masked elements get.
    pub masked: bool,
    /// Whether indices are checked against the extents; negative ones are outside.
    pub check: bool,
    /// Order of the access.
    pub order: Order,
    /// Scope of an order other than weak.
    pub scope: Option<Scope>,
}

named! {
    /// An atomic read-modify-write operation.
    Rmw {
        Add "atomic_add" "Sum.",
        Min "atomic_min" "Least.",
        Max "atomic_max" "Greatest.",
        And "atomic_and" "Bitwise and.",
        Or "atomic_or" "Bitwise or.",
        Xor "atomic_xor" "Bitwise exclusive or.",
        Xchg "atomic_xchg" "The new value.",
        Cas "atomic_cas" "The new value where the old is the expected one.",
    }
}

/// What an operation does. `n` operands and results of one type unless said otherwise; every axis exists.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A tile of one value, given as the dtype's bits. No operands.
    Full(u64),
    /// A tile of these values, row-major, each as the dtype's bits.
    Dense(Arc<[u64]>),
    /// 0, 1, 2, ... along the only axis; any integer dtype.
    Iota,
    /// The block's number along an axis of the grid, an s32 scalar in `0..num_blocks`: the operand of a block that takes several of the grid.
    Bid(u8),
    /// The number of the block among those that run where each takes several of the grid, an s32 scalar in `0..workers`.
    Worker,
    /// How many these are, an s32 scalar.
    Workers,
    /// The grid's extent along an axis, an s32 scalar.
    NumBlocks(u8),
    /// The extent of an array along an axis, an s32 scalar.
    Dim(ArrayId, u8),
    /// A scalar parameter of the kernel, by its position in [`Func::scalars`](super::Func::scalars).
    Param(u16),
    /// Element by element. Operands of [`Each::arity`] with the result's shape.
    Each {
        /// The function.
        op: Each,
        /// Rounding, where the function has one.
        rounding: Rounding,
        /// Whether subnormal f32 numbers are zero.
        ftz: bool,
        /// Minimum and maximum.
        nan: Nan,
        /// Sums, differences, products and shifts to the left of integers.
        overflow: Overflow,
    },
    /// Conversion to the result's dtype.
    Cast(Rounding),
    /// The bits as the result's dtype, which is as wide.
    Bitcast,
    /// To a shape of the same rank; extents of 1 are repeated.
    Broadcast,
    /// To a shape of the same size, row-major.
    Reshape,
    /// Axis `i` of the result is axis `axes[i]` of the operand.
    Permute(Dims),
    /// The part that begins at these coordinates, with the result's shape.
    Extract(Dims),
    /// The first operand with the second at these coordinates.
    Insert(Dims),
    /// The first operand, then the second, along an axis.
    Cat(u8),
    /// The other way round along an axis.
    Flip(u8),
    /// Elements of all bytes, row-major and little-endian: result u8 of rank 1.
    Pack,
    /// The reverse of [`Kind::Pack`] for the result's dtype, rank 1.
    Unpack,
    /// Combines along `axis`, whose extent becomes 1. `n` operands of one shape, `n` results.
    Reduce {
        /// The axis.
        axis: u8,
        /// How two elements become one.
        combine: Combine,
        /// Of [`Combine::By`]: bits of what changes nothing, one for each operand.
        identity: Arc<[u64]>,
    },
    /// Running combinations along `axis`. `n` operands of one shape, `n` results of the same. Sums and products of f16 and bf16 are computed
    /// in f32, and each is rounded once.
    Scan {
        /// The axis.
        axis: u8,
        /// How two elements become one.
        combine: Combine,
        /// Of [`Combine::By`]: bits of what changes nothing, one for each operand.
        identity: Arc<[u64]>,
        /// From the end.
        reverse: bool,
        /// Without the element itself.
        exclusive: bool,
    },
    /// Sorted along an axis by the first operand; further operands of the same shape follow it. Stable; NaN comes last.
    Sort {
        /// The axis.
        axis: u8,
        /// The greatest first.
        descending: bool,
    },
    /// The product of matrices, added to an accumulator: of tiles `[M, K]` and `[K, N]` to `[M, N]`, or with a batch axis of one extent before
    /// all of them. The result is of the accumulator's type.
    Mma,
    /// How often each number of `0..n` is in a tile of integers; result s32 of shape `[n]`. Other numbers are not counted.
    Histogram,
    /// A tile of an array. Operands: an integer scalar for each axis, which counts tiles.
    Load(View),
    /// Stores a tile: the value, then an integer scalar for each axis. Elements outside of the array are dropped.
    Store(View),
    /// Elements of an array. Operands: an s32 or s64 tile for each axis; where masked, a mask; then the padding, a tile of the array's dtype,
    /// which elements outside of the array and masked ones get.
    Gather(Indexed),
    /// Stores elements: the value, then as [`Kind::Gather`] without padding.
    Scatter(Indexed),
    /// Atomic operations: the update, of [`Rmw::Cas`] the expected value before it, then as [`Kind::Scatter`]. The result, if the
    /// operation has one, is what stood there; where nothing happens, the expected value of [`Rmw::Cas`], and 0 of others.
    Atomic {
        /// The operation.
        rmw: Rmw,
        /// Where.
        at: Indexed,
    },
    /// A loop from the first operand to the second in steps of the third (equal integer scalars, step > 0), then initial values of what it
    /// carries. The region's arguments are the number and what is carried; results are what was carried last.
    For,
    /// A loop without an end of its own. Operands, region arguments and results are what is carried.
    Loop,
    /// Two regions without arguments; the operand is a bool scalar.
    If,
    /// The same tile in another distribution. Placement adds these, users do not.
    Convert,
    /// Prints by a format as `printf`: operands are scalars or tiles, whose elements are printed in turn.
    Print(Arc<str>),
    /// Ends the kernel with an error unless all elements of a bool tile are true.
    Assert(Arc<str>),
}

impl Kind {
    /// A function of elements that rounds to nearest and promises nothing.
    pub fn each(op: Each) -> Kind {
        Kind::each_rounded(op, Rounding::Nearest)
    }

    /// [`Kind::each`] with a rounding.
    pub fn each_rounded(op: Each, rounding: Rounding) -> Kind {
        Kind::Each { op, rounding, ftz: false, nan: Nan::Ignored, overflow: Overflow::Wraps }
    }

    /// How many operands of a loop are before what it carries.
    pub(crate) fn bounds(&self) -> Option<usize> {
        match self {
            Kind::For => Some(3),
            Kind::Loop => Some(0),
            _ => None,
        }
    }

    /// The operation in a word, for messages.
    pub(crate) fn word(&self) -> String {
        match self {
            Kind::Each { op, .. } => op.row().name.to_string(),
            other => {
                let text = format!("{other:?}");
                text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_lowercase()
            }
        }
    }

    /// Whether the operation depends on its operands alone. Loads are not: who knows whether their array is written asks
    /// [`Func::is_pure`](super::Func::is_pure).
    pub fn is_pure(&self) -> bool {
        !matches!(
            self,
            Kind::Load(_)
                | Kind::Store(_)
                | Kind::Gather(_)
                | Kind::Scatter(_)
                | Kind::Atomic { .. }
                | Kind::For
                | Kind::Loop
                | Kind::If
                | Kind::Print(_)
                | Kind::Assert(_)
        )
    }

    /// The array that the operation accesses.
    pub fn array(&self) -> Option<ArrayId> {
        match self {
            Kind::Load(view) | Kind::Store(view) => Some(view.array),
            Kind::Gather(at) | Kind::Scatter(at) | Kind::Atomic { at, .. } => Some(at.array),
            _ => None,
        }
    }
}

/// The dtypes of elements that a kernel's arrays and tiles have.
pub const DTYPES: &[DType] = &[
    DType::Bool,
    DType::S8,
    DType::S16,
    DType::S32,
    DType::S64,
    DType::U8,
    DType::U16,
    DType::U32,
    DType::U64,
    DType::F16,
    DType::Bf16,
    DType::F32,
    DType::F64,
    DType::Tf32,
    DType::E4m3,
    DType::E5m2,
    DType::E2m1,
    DType::E8m0,
    DType::S4,
    DType::U4,
];
