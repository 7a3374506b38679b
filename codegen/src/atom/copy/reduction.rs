//! Reductions into memory.

use girih_ptx::{Type, Word};
use girih_tensor::DType;

/// How a bulk or TMA copy combines its values with the values in global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is the PTX operation of its name")]
pub enum Reduction {
    Add,
    Min,
    Max,
    Inc,
    Dec,
    And,
    Or,
    Xor,
}

impl Reduction {
    /// Every reduction.
    pub const ALL: [Reduction; 8] = [
        Reduction::Add,
        Reduction::Min,
        Reduction::Max,
        Reduction::Inc,
        Reduction::Dec,
        Reduction::And,
        Reduction::Or,
        Reduction::Xor,
    ];

    /// The type by which `cp.reduce.async.bulk` combines values of `dtype`, if it does (PTX ISA, "cp.reduce.async.bulk").
    pub(crate) fn ty(self, dtype: DType) -> Option<Type> {
        let (bits, sum) =
            (matches!(self, Reduction::And | Reduction::Or | Reduction::Xor), self == Reduction::Add);
        let count = matches!(self, Reduction::Inc | Reduction::Dec);
        match dtype {
            DType::U32 if count => Some(Type::U32),
            _ if count => None,
            DType::U32 | DType::S32 if bits => Some(Type::B32),
            DType::U64 | DType::S64 if bits => Some(Type::B64),
            _ if bits => None,
            DType::U32 => Some(Type::U32),
            DType::S32 => Some(Type::S32),
            DType::U64 => Some(Type::U64),
            // Sums wrap as those of u64 do.
            DType::S64 => Some(if sum { Type::U64 } else { Type::S64 }),
            DType::F16 => Some(Type::F16),
            DType::Bf16 => Some(Type::Bf16),
            DType::F32 if sum => Some(Type::F32),
            DType::F64 if sum => Some(Type::F64),
            _ => None,
        }
    }

    pub(super) const fn word(self) -> Word {
        match self {
            Reduction::Add => Word::Add,
            Reduction::Min => Word::Min,
            Reduction::Max => Word::Max,
            Reduction::Inc => Word::Inc,
            Reduction::Dec => Word::Dec,
            Reduction::And => Word::And,
            Reduction::Or => Word::Or,
            Reduction::Xor => Word::Xor,
        }
    }
}
