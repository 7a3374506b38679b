//! Operations on matrices.

use girih_ptx::Type;

use crate::Space;
use crate::float::Round;
use crate::lanes::Reg;

use super::Address;

/// Which mode of a matrix is contiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Major {
    K,
    Mn,
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
    /// One bit; the product of two bits is their `and` or their `xor`.
    B1 {
        and: bool,
    },
}

/// The type of `mma`'s C and D.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MmaSum {
    F32,
    /// f16, two in a register.
    F16,
    F64,
    S32 {
        /// Whether a sum that does not fit is clamped and not wrapped.
        saturate: bool,
    },
}

/// The metadata of products whose A has half of its elements: `mma.sp`, `wgmma.mma_async.sp`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sparse {
    /// The slot of the metadata's register.
    pub(crate) metadata: u32,
    /// Which of each four threads have the metadata: one thread, a pair, or all.
    pub(crate) selector: u8,
    /// Whether the indices of each chunk must be ascending.
    pub(crate) ordered: bool,
}

/// `mma.sync.aligned.mMn8kK.row.col`, with the slots of the fragments' registers.
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
    pub(crate) sparse: Option<Sparse>,
}

/// Where the A of a `wgmma` is.
#[derive(Clone, Debug)]
pub(crate) enum Left {
    /// A descriptor of shared memory.
    Descriptor(Reg),
    /// The slots of a fragment's registers.
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
    /// `scale-d`: whether the products are added to D.
    pub(crate) accumulate: Reg,
    pub(crate) negate_a: bool,
    pub(crate) negate_b: bool,
    pub(crate) a_major: Major,
    pub(crate) b_major: Major,
    /// The slots of D's registers.
    pub(crate) d: Vec<u32>,
    pub(crate) sparse: Option<Sparse>,
}

impl Wgmma {
    /// The slots of A, which are none if A is in shared memory, and those of D.
    pub(crate) fn registers(&self) -> (&[u32], &[u32]) {
        let a: &[u32] = if let Left::Registers(slots) = &self.a { slots } else { &[] };
        (a, &self.d)
    }
}

/// `mma.sync.aligned.m8n8k4` of f16, with the slots of the fragments' registers: four for C and D in f16, eight in f32.
#[derive(Clone, Debug)]
pub(crate) struct QuadMma {
    pub(crate) a_by_rows: bool,
    pub(crate) b_by_rows: bool,
    pub(crate) d: Vec<u32>,
    pub(crate) a: Vec<u32>,
    pub(crate) b: Vec<u32>,
    pub(crate) c: Vec<u32>,
}

/// A fragment of `wmma`: a matrix of `lines` times `width` elements, which are distributed to the lanes line by line.
/// The lines of B are its columns, those of A, C and D their rows.
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
    /// The number of elements from one line to the next, or, if the lines are not contiguous, from one element of a
    /// line to the next. Without it the matrix is packed.
    pub(crate) stride: Option<Reg>,
    /// Whether each line is contiguous in memory.
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
    /// Whether the product of two bits is their `and`, and not their `xor`.
    pub(crate) and: bool,
    /// Whether sums of integers are clamped and not wrapped.
    pub(crate) saturate: bool,
    /// The rounding mode, of f64 only.
    pub(crate) round: Round,
}
