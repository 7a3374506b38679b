//! Copy atoms: loads, stores and copies between memories and registers.

use girih_layout::{Lay, lay};
use girih_ptx::{Modifier, Type, Word};

use super::{ty, word};

/// How a copy atom moves its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyKind {
    /// `ld` or `st` through registers, by the tensors' spaces.
    Universal,
    /// `cp.async`: global to shared memory, zero-filling past the end.
    CpAsync,
    /// `ldmatrix`: shared memory to a warp's registers.
    Ldmatrix,
}

/// A copy instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyAtom {
    /// CuTe's name.
    pub name: &'static str,
    /// How it moves bits.
    pub kind: CopyKind,
    /// The instruction's modifiers (empty for [`CopyKind::Universal`], whose form follows from the tensors).
    pub modifiers: &'static [Modifier],
    /// The threads that execute it together.
    pub threads: Lay,
    /// (Thr,Val) -> bit of the source.
    pub src: Lay,
    /// (Thr,Val) -> bit of the destination.
    pub dst: Lay,
    /// Least compute capability, as in sm_80.
    pub sm: u32,
}

impl CopyAtom {
    /// Bits that a thread's part of the source spans.
    pub fn bits(&self) -> u32 {
        let values = self.src.mode(1).and_then(|values| values.size());
        values.ok().and_then(|size| size.get()).and_then(|bits| u32::try_from(bits).ok()).unwrap_or(0)
    }
}

const fn one_thread(
    name: &'static str,
    kind: CopyKind,
    modifiers: &'static [Modifier],
    bits: Lay,
    sm: u32,
) -> CopyAtom {
    CopyAtom { name, kind, modifiers, threads: lay!("1:0"), src: bits, dst: bits, sm }
}

/// A 128-bit load or store.
pub const UNIVERSAL_COPY_128: CopyAtom =
    one_thread("UniversalCopy<uint128_t>", CopyKind::Universal, &[], lay!("(1,128):(0,1)"), 50);
/// A 64-bit load or store.
pub const UNIVERSAL_COPY_64: CopyAtom =
    one_thread("UniversalCopy<uint64_t>", CopyKind::Universal, &[], lay!("(1,64):(0,1)"), 50);
/// A 32-bit load or store.
pub const UNIVERSAL_COPY_32: CopyAtom =
    one_thread("UniversalCopy<uint32_t>", CopyKind::Universal, &[], lay!("(1,32):(0,1)"), 50);
/// An 8-bit load or store.
pub const UNIVERSAL_COPY_8: CopyAtom =
    one_thread("UniversalCopy<uint8_t>", CopyKind::Universal, &[], lay!("(1,8):(0,1)"), 50);
/// A 16-bit load or store.
pub const UNIVERSAL_COPY_16: CopyAtom =
    one_thread("UniversalCopy<uint16_t>", CopyKind::Universal, &[], lay!("(1,16):(0,1)"), 50);

const CP_ASYNC_CG: &[Modifier] = &[word(Word::Async), word(Word::Cg), word(Word::Shared), word(Word::Global)];
const CP_ASYNC_CA: &[Modifier] = &[word(Word::Async), word(Word::Ca), word(Word::Shared), word(Word::Global)];

/// `cp.async.cg` of 16 bytes with zero fill.
pub const SM80_CP_ASYNC_CACHEGLOBAL_ZFILL_16: CopyAtom = one_thread(
    "SM80_CP_ASYNC_CACHEGLOBAL_ZFILL<uint128_t>",
    CopyKind::CpAsync,
    CP_ASYNC_CG,
    lay!("(1,128):(0,1)"),
    80,
);
/// `cp.async.ca` of 8 bytes with zero fill.
pub const SM80_CP_ASYNC_CACHEALWAYS_ZFILL_8: CopyAtom = one_thread(
    "SM80_CP_ASYNC_CACHEALWAYS_ZFILL<uint64_t>",
    CopyKind::CpAsync,
    CP_ASYNC_CA,
    lay!("(1,64):(0,1)"),
    80,
);
/// `cp.async.ca` of 4 bytes with zero fill.
pub const SM80_CP_ASYNC_CACHEALWAYS_ZFILL_4: CopyAtom = one_thread(
    "SM80_CP_ASYNC_CACHEALWAYS_ZFILL<uint32_t>",
    CopyKind::CpAsync,
    CP_ASYNC_CA,
    lay!("(1,32):(0,1)"),
    80,
);

/// `ldmatrix.x4`: four 8x8 matrices of 16-bit elements, rows of 16 bytes.
pub const SM75_U32X4_LDSM_N: CopyAtom = CopyAtom {
    name: "SM75_U32x4_LDSM_N",
    kind: CopyKind::Ldmatrix,
    modifiers: &[
        word(Word::Sync),
        word(Word::Aligned),
        word(Word::M8n8),
        word(Word::X4),
        word(Word::Shared),
        ty(Type::B16),
    ],
    threads: lay!("32:1"),
    src: lay!("(32,128):(128,1)"),
    dst: lay!("(32,(32,4)):(32,(1,1024))"),
    sm: 75,
};

/// `ldmatrix.x4.trans`: the same, each matrix transposed on the way.
pub const SM75_U16X8_LDSM_T: CopyAtom = CopyAtom {
    name: "SM75_U16x8_LDSM_T",
    kind: CopyKind::Ldmatrix,
    modifiers: &[
        word(Word::Sync),
        word(Word::Aligned),
        word(Word::M8n8),
        word(Word::X4),
        word(Word::Trans),
        word(Word::Shared),
        ty(Type::B16),
    ],
    threads: lay!("32:1"),
    src: lay!("(32,128):(128,1)"),
    dst: lay!("((4,8),(16,2,4)):((256,16),(1,128,1024))"),
    sm: 75,
};

/// The asynchronous copy of `bytes` bytes a thread, if there is one.
pub fn cp_async(bytes: u32) -> Option<&'static CopyAtom> {
    match bytes {
        16 => Some(&SM80_CP_ASYNC_CACHEGLOBAL_ZFILL_16),
        8 => Some(&SM80_CP_ASYNC_CACHEALWAYS_ZFILL_8),
        4 => Some(&SM80_CP_ASYNC_CACHEALWAYS_ZFILL_4),
        _ => None,
    }
}

/// The universal copy of `bytes` bytes a thread, if there is one.
pub fn universal_copy(bytes: u32) -> Option<&'static CopyAtom> {
    match bytes {
        16 => Some(&UNIVERSAL_COPY_128),
        8 => Some(&UNIVERSAL_COPY_64),
        4 => Some(&UNIVERSAL_COPY_32),
        2 => Some(&UNIVERSAL_COPY_16),
        1 => Some(&UNIVERSAL_COPY_8),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
