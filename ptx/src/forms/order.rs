//! The order of modifiers that the assembler leaves open.

use std::borrow::Cow;

use crate::{Modifier, Opcode, Word};

/// The modifiers in the order that the table has. The assembler accepts the memory order, the scope, the state space
/// and the operation of a memory access in any order, as in `atom.add.acq_rel.cta.u32` and `ld.global.acquire.gpu.u32`,
/// and the `.relu` of a conversion before or after `.satfinite`.
pub fn ordered(opcode: Opcode, modifiers: &[Modifier]) -> Cow<'_, [Modifier]> {
    let rank = match opcode {
        Opcode::Atom | Opcode::Red | Opcode::Ld | Opcode::St => access,
        Opcode::Cvt => conversion,
        Opcode::Fence => fence,
        // In `max.s32.relu` the type, which the table has last, stands before `.relu`.
        Opcode::Min | Opcode::Max => |_| 0,
        _ => return Cow::Borrowed(modifiers),
    };
    let mut ordered = modifiers.to_vec();
    ordered.sort_by_key(|&modifier| match modifier {
        Modifier::Word(word) => rank(word),
        Modifier::Type(_) => u32::MAX,
    });
    Cow::Owned(ordered)
}

fn access(word: Word) -> u32 {
    match word {
        Word::Async | Word::Mmio => 0,
        Word::Weak | Word::Volatile | Word::Relaxed | Word::Acquire | Word::Release | Word::AcqRel => 1,
        Word::Cta | Word::Cluster | Word::Gpu | Word::Sys => 2,
        Word::Global | Word::Shared | Word::SharedCta | Word::SharedCluster => 3,
        Word::Const | Word::Local | Word::Param | Word::ParamEntry | Word::ParamFunc => 3,
        Word::MbarrierCompleteTxBytes => 4,
        Word::Noftz | Word::Nc => 6,
        Word::L1EvictNormal | Word::L1EvictUnchanged | Word::L1EvictFirst => 7,
        Word::L1EvictLast | Word::L1NoAllocate => 7,
        Word::L2EvictFirst | Word::L2EvictLast | Word::L2EvictNormal => 8,
        Word::L2CacheHint => 9,
        Word::L2Prefetch64 | Word::L2Prefetch128 | Word::L2Prefetch256 => 10,
        Word::V2 | Word::V4 | Word::V8 => 11,
        // The operation, the cache operator.
        _ => 5,
    }
}

/// Puts the memory order before the scope.
fn fence(word: Word) -> u32 {
    match word {
        Word::Sc | Word::AcqRel | Word::Acquire | Word::Release => 1,
        Word::SyncRestrictCta | Word::SyncRestrictCluster => 2,
        Word::Cta | Word::Cluster | Word::Gpu | Word::Sys => 3,
        _ => 0,
    }
}

fn conversion(word: Word) -> u32 {
    match word {
        Word::Relu => 1,
        Word::Satfinite => 2,
        Word::Ftz => 3,
        Word::Sat => 4,
        // The rounding.
        _ => 0,
    }
}
