//! MMA atoms: matrix multiply-accumulate instructions (PTX ISA, "Warp Level Matrix Multiply-Accumulate", "Asynchronous
//! Warpgroup Level Matrix Multiply-Accumulate").
//!
//! An atom is built by rule from its shape and its types; its name and its modifiers follow from the same data.
//! [`MmaAtom::all`] lists every atom, [`MmaAtom::find`] takes CuTe's name, and the atoms that kernels name are constants.
//! CuTe's atoms of complex numbers are left out: CuTe composes them from real ones, since no such instructions exist.

mod family;
mod list;
mod name;

use girih_layout::Lay;
use girih_ptx::{Modifier, Opcode, Type, Word};
use girih_tensor::DType;

use super::{ty, word};
pub(crate) use list::NoAtom;
pub use list::*;

/// Which of an operand's two modes is contiguous: in memory, or in the order that an instruction takes it in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Major {
    /// K: the strides of A are `(ld,1)`.
    K,
    /// M for A, N for B: the strides of A are `(1,ld)`.
    Mn,
}

/// The instruction of an atom, and the memory of its A.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MmaKind {
    /// A multiply-add by one thread: `fma`, `mad`.
    Fma,
    /// A product of short vectors by one thread: `dp4a`, `dp2a`.
    Dot,
    /// A product by a warp, or at sm_70 by a quad pair: `mma.sync`, all operands in registers.
    Mma,
    /// A product by a warpgroup: `wgmma.mma_async`, A and B in shared memory.
    WgmmaSs,
    /// A product by a warpgroup: `wgmma.mma_async`, A in registers, B in shared memory.
    WgmmaRs,
}

impl MmaKind {
    /// Whether the instruction is a warpgroup's.
    pub const fn is_wgmma(self) -> bool {
        matches!(self, MmaKind::WgmmaSs | MmaKind::WgmmaRs)
    }
}

/// How elements are multiplied and added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Product {
    /// Products and sums, which wrap for integers.
    Multiply,
    /// Products and sums of integers, where the sum is clamped to the accumulator's range (`.satfinite`).
    Saturate,
    /// The number of bits that differ (`.xor.popc`).
    Xor,
    /// The number of bits that are set in both (`.and.popc`).
    And,
}

/// A matrix multiply-accumulate instruction: `D = A * B^T + C` on a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MmaAtom {
    /// The kind of the instruction.
    pub kind: MmaKind,
    /// How the instruction multiplies.
    pub product: Product,
    /// M, N, K of the tile in elements.
    pub shape_mnk: [i64; 3],
    /// The threads that execute the instruction together: place in the atom -> lane.
    pub threads: Lay,
    /// (Thr,Val) -> index in the M x K tile. An operand in shared memory belongs to every thread as a whole.
    pub a: Lay,
    /// (Thr,Val) -> index in the N x K tile.
    pub b: Lay,
    /// (Thr,Val) -> index in the M x N tile.
    pub c: Lay,
    /// Type of A's elements.
    pub a_type: DType,
    /// Type of B's elements.
    pub b_type: DType,
    /// Type of the accumulator's elements, C and D.
    pub c_type: DType,
    /// The order in which the instruction takes A and B.
    pub majors: [Major; 2],
    /// The architecture that CuTe files the atom under, as in `SM80_`; 0 for the universal atoms.
    pub arch: u32,
    /// Least compute capability, as in sm_80; `wgmma` needs sm_90a.
    pub sm: u32,
}

/// PTX's name of a dtype.
pub(crate) fn ptx_type(dtype: DType) -> Type {
    let of_bits = if dtype.bits() == 4 { Type::U4 } else { Type::U8 };
    Type::parse(dtype.format().ptx).unwrap_or(of_bits)
}

impl MmaAtom {
    /// The instruction's first word.
    pub const fn opcode(&self) -> Opcode {
        match self.kind {
            MmaKind::Fma => match self.c_type {
                DType::S32 => Opcode::Mad,
                _ => Opcode::Fma,
            },
            MmaKind::Dot => match self.a_type {
                DType::S16 => Opcode::Dp2a,
                _ => Opcode::Dp4a,
            },
            MmaKind::Mma => Opcode::Mma,
            MmaKind::WgmmaSs | MmaKind::WgmmaRs => Opcode::Wgmma,
        }
    }

    /// The instruction's modifiers, in order.
    ///
    /// ```
    /// use girih_codegen::atom::SM80_16X8X16_F32BF16BF16F32_TN;
    /// let modifiers = SM80_16X8X16_F32BF16BF16F32_TN.modifiers();
    /// let text: String = modifiers.iter().map(|m| format!(".{m}")).collect();
    /// assert_eq!(text, ".sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32");
    /// ```
    pub fn modifiers(&self) -> Vec<Modifier> {
        let [a, b, c] = [self.a_type, self.b_type, self.c_type].map(|dtype| ty(ptx_type(dtype)));
        let mut out = match self.kind {
            MmaKind::Fma if self.c_type == DType::S32 => return vec![word(Word::Lo), c],
            MmaKind::Fma => return vec![word(Word::Rn), c],
            MmaKind::Dot if self.a_type == DType::S16 => {
                return vec![word(Word::Lo), ty(Type::S32), ty(Type::S32)];
            }
            MmaKind::Dot => return vec![ty(Type::S32), ty(Type::S32)],
            MmaKind::Mma => vec![word(Word::Sync), word(Word::Aligned)],
            MmaKind::WgmmaSs | MmaKind::WgmmaRs => {
                vec![word(Word::MmaAsync), word(Word::Sync), word(Word::Aligned)]
            }
        };
        let [m, n, k] = self.shape_mnk;
        out.extend(Word::parse(&format!("m{m}n{n}k{k}")).map(Modifier::Word));
        if self.kind == MmaKind::Mma {
            let [a, b] = self.majors.map(|major| major == Major::K);
            out.extend([
                word(if a { Word::Row } else { Word::Col }),
                word(if b { Word::Col } else { Word::Row }),
            ]);
        }
        if self.product == Product::Saturate {
            out.push(word(Word::Satfinite));
        }
        out.extend([c, a, b]);
        if self.kind == MmaKind::Mma {
            out.push(c);
        }
        match self.product {
            Product::Xor => out.extend([word(Word::Xor), word(Word::Popc)]),
            Product::And => out.extend([word(Word::And), word(Word::Popc)]),
            Product::Multiply | Product::Saturate => {}
        }
        out
    }
}
