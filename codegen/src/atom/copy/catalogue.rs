//! Every copy atom.

use girih_layout::{Int, Lay, Stride, lay};
use girih_ptx::Type;
use girih_tensor::DType;

use super::{Cache, CopyAtom, CopyOp, Reduction, Transfer};
use crate::Error;
use crate::error::CopyError;

/// The atom of one thread that moves its bits in order.
const fn one_thread(op: CopyOp, bits: Lay, sm: u32) -> CopyAtom {
    CopyAtom { op, threads: lay!("1:0"), src: bits, dst: bits, reference: bits, sm }
}

const BITS_8: Lay = lay!("(1,8):(0,1)");
const BITS_16: Lay = lay!("(1,16):(0,1)");
const BITS_32: Lay = lay!("(1,32):(0,1)");
const BITS_64: Lay = lay!("(1,64):(0,1)");
const BITS_128: Lay = lay!("(1,128):(0,1)");

/// A 128-bit load or store.
pub const UNIVERSAL_COPY_128: CopyAtom = one_thread(CopyOp::Universal, BITS_128, 50);
/// A 64-bit load or store.
pub const UNIVERSAL_COPY_64: CopyAtom = one_thread(CopyOp::Universal, BITS_64, 50);
/// A 32-bit load or store.
pub const UNIVERSAL_COPY_32: CopyAtom = one_thread(CopyOp::Universal, BITS_32, 50);
/// A 16-bit load or store.
pub const UNIVERSAL_COPY_16: CopyAtom = one_thread(CopyOp::Universal, BITS_16, 50);
/// An 8-bit load or store.
pub const UNIVERSAL_COPY_8: CopyAtom = one_thread(CopyOp::Universal, BITS_8, 50);

/// Loads and stores of up to 128 bits, as wide as layouts and alignment allow.
pub const AUTO_VECTORIZING_COPY: CopyAtom = one_thread(CopyOp::AutoVectorizing, BITS_128, 50);
/// Loads and stores of up to 64 bits.
pub const AUTO_VECTORIZING_COPY_64: CopyAtom = one_thread(CopyOp::AutoVectorizing, BITS_64, 50);
/// Loads and stores of up to 32 bits.
pub const AUTO_VECTORIZING_COPY_32: CopyAtom = one_thread(CopyOp::AutoVectorizing, BITS_32, 50);
/// Loads and stores of up to 16 bits.
pub const AUTO_VECTORIZING_COPY_16: CopyAtom = one_thread(CopyOp::AutoVectorizing, BITS_16, 50);
/// Loads and stores of 8 bits.
pub const AUTO_VECTORIZING_COPY_8: CopyAtom = one_thread(CopyOp::AutoVectorizing, BITS_8, 50);

/// `cp.async` through these caches.
const fn asynchronous(cache: Cache, zfill: bool, bits: Lay) -> CopyAtom {
    one_thread(CopyOp::CpAsync { cache, zfill }, bits, 80)
}

/// `cp.async.cg` of 16 bytes with zero fill.
pub const SM80_CP_ASYNC_CACHEGLOBAL_ZFILL_16: CopyAtom = asynchronous(Cache::Global, true, BITS_128);
/// `cp.async.cg` of 16 bytes.
pub const SM80_CP_ASYNC_CACHEGLOBAL_16: CopyAtom = asynchronous(Cache::Global, false, BITS_128);
/// `cp.async.ca` of 16 bytes with zero fill.
pub const SM80_CP_ASYNC_CACHEALWAYS_ZFILL_16: CopyAtom = asynchronous(Cache::Always, true, BITS_128);
/// `cp.async.ca` of 16 bytes.
pub const SM80_CP_ASYNC_CACHEALWAYS_16: CopyAtom = asynchronous(Cache::Always, false, BITS_128);
/// `cp.async.ca` of 8 bytes with zero fill.
pub const SM80_CP_ASYNC_CACHEALWAYS_ZFILL_8: CopyAtom = asynchronous(Cache::Always, true, BITS_64);
/// `cp.async.ca` of 8 bytes.
pub const SM80_CP_ASYNC_CACHEALWAYS_8: CopyAtom = asynchronous(Cache::Always, false, BITS_64);
/// `cp.async.ca` of 4 bytes with zero fill.
pub const SM80_CP_ASYNC_CACHEALWAYS_ZFILL_4: CopyAtom = asynchronous(Cache::Always, true, BITS_32);
/// `cp.async.ca` of 4 bytes.
pub const SM80_CP_ASYNC_CACHEALWAYS_4: CopyAtom = asynchronous(Cache::Always, false, BITS_32);

/// The rows of the matrices. Each row is the 128 bits at the address that a lane gives; the addresses of further lanes are not used.
const fn rows(matrices: u32) -> Lay {
    match matrices {
        1 => lay!("((8,4),128):((128,0),1)"),
        2 => lay!("((16,2),128):((128,0),1)"),
        _ => lay!("(32,128):(128,1)"),
    }
}

/// The bits of the matrices that the registers of each lane hold.
const fn fragments(matrices: u32, transposed: bool) -> Lay {
    match (matrices, transposed) {
        (1, false) => lay!("(32,32):(32,1)"),
        (2, false) => lay!("(32,(32,2)):(32,(1,1024))"),
        (_, false) => lay!("(32,(32,4)):(32,(1,1024))"),
        (1, true) => lay!("((4,8),(16,2)):((256,16),(1,128))"),
        (2, true) => lay!("((4,8),(16,2,2)):((256,16),(1,128,1024))"),
        (_, true) => lay!("((4,8),(16,2,4)):((256,16),(1,128,1024))"),
    }
}

/// The atom of a warp that holds in registers what `reference` says.
const fn warp(op: CopyOp, src: Lay, dst: Lay, reference: Lay, sm: u32) -> CopyAtom {
    CopyAtom { op, threads: lay!("32:1"), src, dst, reference, sm }
}

const fn ldmatrix(matrices: u32, transposed: bool) -> CopyAtom {
    let registers = fragments(matrices, transposed);
    warp(CopyOp::Ldmatrix { matrices, transposed }, rows(matrices), registers, registers, 75)
}

const fn stmatrix(matrices: u32, transposed: bool) -> CopyAtom {
    let registers = fragments(matrices, transposed);
    warp(CopyOp::Stmatrix { matrices, transposed }, registers, rows(matrices), registers, 90)
}

/// `ldmatrix.x1`: an 8x8 matrix of 16-bit elements, rows of 16 bytes.
pub const SM75_U32X1_LDSM_N: CopyAtom = ldmatrix(1, false);
/// `ldmatrix.x2`: two matrices.
pub const SM75_U32X2_LDSM_N: CopyAtom = ldmatrix(2, false);
/// `ldmatrix.x4`: four matrices.
pub const SM75_U32X4_LDSM_N: CopyAtom = ldmatrix(4, false);
/// `ldmatrix.x1.trans`: a matrix, transposed by the instruction.
pub const SM75_U16X2_LDSM_T: CopyAtom = ldmatrix(1, true);
/// `ldmatrix.x2.trans`: two matrices, each transposed.
pub const SM75_U16X4_LDSM_T: CopyAtom = ldmatrix(2, true);
/// `ldmatrix.x4.trans`: four matrices, each transposed.
pub const SM75_U16X8_LDSM_T: CopyAtom = ldmatrix(4, true);
/// `movmatrix`: an 8x8 matrix is transposed between registers.
pub const SM75_U32X1_MOVM_T: CopyAtom =
    warp(CopyOp::Movmatrix, fragments(1, false), fragments(1, true), fragments(1, false), 75);

/// `stmatrix.x1`: an 8x8 matrix of 16-bit elements, rows of 16 bytes.
pub const SM90_U32X1_STSM_N: CopyAtom = stmatrix(1, false);
/// `stmatrix.x2`: two matrices.
pub const SM90_U32X2_STSM_N: CopyAtom = stmatrix(2, false);
/// `stmatrix.x4`: four matrices.
pub const SM90_U32X4_STSM_N: CopyAtom = stmatrix(4, false);
/// `stmatrix.x1.trans`: a matrix, transposed by the instruction.
pub const SM90_U16X2_STSM_T: CopyAtom = stmatrix(1, true);
/// `stmatrix.x2.trans`: two matrices, each transposed.
pub const SM90_U16X4_STSM_T: CopyAtom = stmatrix(2, true);
/// `stmatrix.x4.trans`: four matrices, each transposed.
pub const SM90_U16X8_STSM_T: CopyAtom = stmatrix(4, true);

const PAIRS: Lay = lay!("(32,64):(64,1)");

/// `shfl`: neighbouring lanes transpose their two registers.
pub const SM50_SHUFFLE_U32_2X2TRANS_XOR1: CopyAtom =
    warp(CopyOp::Shuffle { xor: 1 }, PAIRS, lay!("((2,16),(32,2)):((32,128),(1,64))"), PAIRS, 50);
/// `shfl`: lanes four apart transpose their two registers.
pub const SM50_SHUFFLE_U32_2X2TRANS_XOR4: CopyAtom =
    warp(CopyOp::Shuffle { xor: 4 }, PAIRS, lay!("((4,2,4),(32,2)):((64,32,512),(1,256))"), PAIRS, 50);

const fn red(ty: Type, vector: u32, bits: Lay, sm: u32) -> CopyAtom {
    one_thread(CopyOp::RedAdd { ty, vector }, bits, sm)
}

/// `red.global.add.f32`.
pub const SM50_RED_ADD_F32_V1: CopyAtom = red(Type::F32, 1, BITS_32, 50);
/// `red.global.add.v2.f32`.
pub const SM90_RED_ADD_F32_V2: CopyAtom = red(Type::F32, 2, BITS_64, 90);
/// `red.global.add.v4.f32`.
pub const SM90_RED_ADD_F32_V4: CopyAtom = red(Type::F32, 4, BITS_128, 90);
/// `red.global.add.noftz.f16x2`.
pub const SM60_RED_ADD_F16X2_V1: CopyAtom = red(Type::F16x2, 1, BITS_32, 60);
/// `red.global.add.noftz.v2.f16x2`.
pub const SM90_RED_ADD_F16X2_V2: CopyAtom = red(Type::F16x2, 2, BITS_64, 90);
/// `red.global.add.noftz.v4.f16x2`.
pub const SM90_RED_ADD_F16X2_V4: CopyAtom = red(Type::F16x2, 4, BITS_128, 90);
/// `red.global.add.noftz.bf16x2`.
pub const SM90_RED_ADD_BF16X2_V1: CopyAtom = red(Type::Bf16x2, 1, BITS_32, 90);
/// `red.global.add.noftz.v2.bf16x2`.
pub const SM90_RED_ADD_BF16X2_V2: CopyAtom = red(Type::Bf16x2, 2, BITS_64, 90);
/// `red.global.add.noftz.v4.bf16x2`.
pub const SM90_RED_ADD_BF16X2_V4: CopyAtom = red(Type::Bf16x2, 4, BITS_128, 90);

/// The atoms that have no parameters.
static FIXED: [CopyAtom; 42] = [
    UNIVERSAL_COPY_8,
    UNIVERSAL_COPY_16,
    UNIVERSAL_COPY_32,
    UNIVERSAL_COPY_64,
    UNIVERSAL_COPY_128,
    AUTO_VECTORIZING_COPY_8,
    AUTO_VECTORIZING_COPY_16,
    AUTO_VECTORIZING_COPY_32,
    AUTO_VECTORIZING_COPY_64,
    AUTO_VECTORIZING_COPY,
    SM50_SHUFFLE_U32_2X2TRANS_XOR1,
    SM50_SHUFFLE_U32_2X2TRANS_XOR4,
    SM80_CP_ASYNC_CACHEALWAYS_4,
    SM80_CP_ASYNC_CACHEALWAYS_8,
    SM80_CP_ASYNC_CACHEALWAYS_16,
    SM80_CP_ASYNC_CACHEGLOBAL_16,
    SM80_CP_ASYNC_CACHEALWAYS_ZFILL_4,
    SM80_CP_ASYNC_CACHEALWAYS_ZFILL_8,
    SM80_CP_ASYNC_CACHEALWAYS_ZFILL_16,
    SM80_CP_ASYNC_CACHEGLOBAL_ZFILL_16,
    SM75_U32X1_LDSM_N,
    SM75_U32X2_LDSM_N,
    SM75_U32X4_LDSM_N,
    SM75_U16X2_LDSM_T,
    SM75_U16X4_LDSM_T,
    SM75_U16X8_LDSM_T,
    SM75_U32X1_MOVM_T,
    SM90_U32X1_STSM_N,
    SM90_U32X2_STSM_N,
    SM90_U32X4_STSM_N,
    SM90_U16X2_STSM_T,
    SM90_U16X4_STSM_T,
    SM90_U16X8_STSM_T,
    SM50_RED_ADD_F32_V1,
    SM90_RED_ADD_F32_V2,
    SM90_RED_ADD_F32_V4,
    SM60_RED_ADD_F16X2_V1,
    SM90_RED_ADD_F16X2_V2,
    SM90_RED_ADD_F16X2_V4,
    SM90_RED_ADD_BF16X2_V1,
    SM90_RED_ADD_BF16X2_V2,
    SM90_RED_ADD_BF16X2_V4,
];

impl CopyAtom {
    /// Every copy atom; bulk copies, whose size is free, move 16 bytes.
    pub fn all() -> Vec<CopyAtom> {
        let mut transfers = vec![Transfer::Load, Transfer::Multicast, Transfer::Store, Transfer::Prefetch];
        transfers.extend(Reduction::ALL.map(Transfer::Reduce));
        let line = |op| one_thread(op, BITS_128, 90);
        let bulk = [Transfer::Load, Transfer::Store, Transfer::Prefetch].map(|t| line(CopyOp::Bulk(t)));
        let tensor = |rank| transfers.iter().map(move |&transfer| line(CopyOp::Tma { transfer, rank }));
        let pairs =
            Reduction::ALL.into_iter().flat_map(|op| DType::ALL.iter().map(move |&dtype| (op, dtype)));
        let reduce = pairs.filter(|(op, dtype)| op.ty(*dtype).is_some());
        let reduce = reduce.map(|(op, dtype)| line(CopyOp::BulkReduce { op, dtype }));
        FIXED.iter().copied().chain(bulk).chain(reduce).chain((1..=5).flat_map(tensor)).collect()
    }

    /// `cp.async.bulk` of `bits` bits of contiguous memory.
    ///
    /// # Errors
    /// [`CopyError`] unless `bits` is a multiple of 16 bytes, and for a transfer that only tensors have. Reductions, which depend on
    /// the dtype of the values, are made by [`CopyAtom::bulk_reduce`].
    pub fn bulk(transfer: Transfer, bits: i64) -> Result<CopyAtom, Error> {
        if matches!(transfer, Transfer::Multicast | Transfer::Reduce(_)) {
            return Err(CopyError::Transfer { transfer: format!("{transfer:?}") }.into());
        }
        Ok(one_thread(CopyOp::Bulk(transfer), whole_lines(bits)?, 90))
    }

    /// `cp.reduce.async.bulk` of `bits` bits of contiguous values of `dtype`: a value in global memory becomes `op` of itself and of the
    /// value in shared memory.
    ///
    /// ```
    /// use girih_codegen::atom::{CopyAtom, Reduction};
    /// use girih_tensor::DType;
    /// let atom = CopyAtom::bulk_reduce(Reduction::Add, DType::Bf16, 4096)?;
    /// assert_eq!((atom.name().as_str(), atom.bits()), ("SM90_BULK_REDUCE_ADD_BF16", 4096));
    /// let refused = CopyAtom::bulk_reduce(Reduction::Min, DType::F32, 4096).unwrap_err();
    /// assert_eq!(refused.to_string(), "a bulk copy that combines f32 by Min: f16, bf16, s64, u64, s32, u32 are accepted");
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`CopyError`] unless `bits` is a multiple of 16 bytes, and for values that `op` does not combine.
    pub fn bulk_reduce(op: Reduction, dtype: DType, bits: i64) -> Result<CopyAtom, Error> {
        if op.ty(dtype).is_none() {
            let accepted = DType::ALL.iter().copied().filter(|dtype| op.ty(*dtype).is_some()).collect();
            return Err(CopyError::Reduction { op: format!("{op:?}"), dtype, accepted }.into());
        }
        Ok(one_thread(CopyOp::BulkReduce { op, dtype }, whole_lines(bits)?, 90))
    }

    /// `cp.async.bulk.tensor` of boxes of `bits` bits of a tensor of `rank` dimensions.
    ///
    /// ```
    /// use girih_codegen::atom::{CopyAtom, Transfer};
    /// let atom = CopyAtom::tma(Transfer::Load, 2, 64 * 64 * 16)?;
    /// assert_eq!((atom.name().as_str(), atom.bits()), ("SM90_TMA_LOAD_2D", 65536));
    /// assert!(CopyAtom::tma(Transfer::Load, 6, 128).is_err());
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`CopyError`] for another rank than 1 to 5, and unless `bits` is a multiple of 16 bytes.
    pub fn tma(transfer: Transfer, rank: u32, bits: i64) -> Result<CopyAtom, Error> {
        if !(1..=5).contains(&rank) {
            return Err(CopyError::Rank { rank }.into());
        }
        Ok(one_thread(CopyOp::Tma { transfer, rank }, whole_lines(bits)?, 90))
    }
}

/// `(1,bits):(0,1)`
fn whole_lines(bits: i64) -> Result<Lay, Error> {
    if bits < 1 || bits % 128 != 0 {
        return Err(CopyError::Bits { bits }.into());
    }
    Ok(Lay::concat(&[lay!("1:0"), Lay::leaf(Int::fixed(bits), Stride::Int(Int::fixed(1)))?])?)
}

/// The asynchronous copy of `bytes` bytes a thread with zero fill, if there is one; copies of 16 bytes bypass the L1 cache.
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
