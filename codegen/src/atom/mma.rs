//! MMA atoms: matrix multiply-accumulate instructions (PTX ISA, "Warp Level Matrix Multiply-Accumulate").

use girih_layout::{Lay, lay};
use girih_ptx::{Modifier, Opcode, Type, Word};
use girih_tensor::DType;

use super::{ty, word};

/// A matrix multiply-accumulate instruction: `D = A * B^T + C` on a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MmaAtom {
    /// CuTe's name.
    pub name: &'static str,
    /// The instruction.
    pub opcode: Opcode,
    /// Its modifiers.
    pub modifiers: &'static [Modifier],
    /// M, N, K of the tile in elements.
    pub shape_mnk: [i64; 3],
    /// The threads that execute it together.
    pub threads: Lay,
    /// (Thr,Val) -> index in the M x K tile.
    pub a: Lay,
    /// (Thr,Val) -> index in the N x K tile.
    pub b: Lay,
    /// (Thr,Val) -> index in the M x N tile.
    pub c: Lay,
    /// Type of A's and B's elements.
    pub ab_type: DType,
    /// Type of the accumulator's elements.
    pub c_type: DType,
    /// Least compute capability, as in sm_80.
    pub sm: u32,
}

/// One thread, one multiply-add: `fma.rn.f32`.
pub const UNIVERSAL_FMA_F32: MmaAtom = MmaAtom {
    name: "UniversalFMA_F32",
    opcode: Opcode::Fma,
    modifiers: &[word(Word::Rn), ty(Type::F32)],
    shape_mnk: [1, 1, 1],
    threads: lay!("1:0"),
    a: lay!("(1,1):(0,0)"),
    b: lay!("(1,1):(0,0)"),
    c: lay!("(1,1):(0,0)"),
    ab_type: DType::F32,
    c_type: DType::F32,
    sm: 50,
};

/// `mma.sync.aligned.m16n8k16.row.col` on 16-bit floats with an f32 accumulator.
const fn sm80_16x8x16(name: &'static str, modifiers: &'static [Modifier], ab_type: DType) -> MmaAtom {
    MmaAtom {
        name,
        opcode: Opcode::Mma,
        modifiers,
        shape_mnk: [16, 8, 16],
        threads: lay!("32:1"),
        a: lay!("((4,8),(2,2,2)):((32,1),(16,8,128))"),
        b: lay!("((4,8),(2,2)):((16,1),(8,64))"),
        c: lay!("((4,8),(2,2)):((32,1),(16,8))"),
        ab_type,
        c_type: DType::F32,
        sm: 80,
    }
}

/// `mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32`.
pub const SM80_16X8X16_F32BF16BF16F32_TN: MmaAtom = sm80_16x8x16(
    "SM80_16x8x16_F32BF16BF16F32_TN",
    &[
        word(Word::Sync),
        word(Word::Aligned),
        word(Word::M16n8k16),
        word(Word::Row),
        word(Word::Col),
        ty(Type::F32),
        ty(Type::Bf16),
        ty(Type::Bf16),
        ty(Type::F32),
    ],
    DType::Bf16,
);

/// `mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32`.
pub const SM80_16X8X16_F32F16F16F32_TN: MmaAtom = sm80_16x8x16(
    "SM80_16x8x16_F32F16F16F32_TN",
    &[
        word(Word::Sync),
        word(Word::Aligned),
        word(Word::M16n8k16),
        word(Word::Row),
        word(Word::Col),
        ty(Type::F32),
        ty(Type::F16),
        ty(Type::F16),
        ty(Type::F32),
    ],
    DType::F16,
);

/// Every MMA atom.
pub const MMA_ATOMS: &[MmaAtom] =
    &[UNIVERSAL_FMA_F32, SM80_16X8X16_F32BF16BF16F32_TN, SM80_16X8X16_F32F16F16F32_TN];

#[cfg(test)]
mod tests;
