//! The configuration of multistage attention, and what follows from it.

use girih_layout::{Int, Lay, Swizzle, Tile};
use girih_tensor::DType;

use super::super::config::AttentionConfig;
use super::super::interface::Tensor4;
use crate::Error;
use crate::atom::{
    MmaAtom, MmaKind, SM75_U16X8_LDSM_T, SM75_U32X4_LDSM_N, SM80_16X8X16_F32BF16BF16F32_TN,
    SM80_16X8X16_F32F16F16F32_TN, UNIVERSAL_FMA_F32, cp_async, universal_copy,
};
use crate::builder::MAX_SHARED;
use crate::engine::element_bytes;
use crate::error::{AttentionError, narrow};
use crate::sizes::extent;
use crate::tiled::copy::{TiledCopy, coalesced};
use crate::tiled::mma::{Operand, TiledMma};

/// The bytes of the rows of which tiles in shared memory consist, at most: one access of all banks.
const LINE: i64 = 128;
/// The bytes of the vectors that a swizzle moves.
const VECTOR: i64 = 16;
/// The most registers of a thread for scores and accumulators, since no thread has more than 255 registers.
const MAX_ACCUMULATORS: i64 = 208;
/// The columns that threads that multiply alone have side by side.
const COLUMNS: i64 = 16;
/// The most columns of Q and K, and those of V and O, for which a thread has registers.
const MAX_HEAD_DIM: i64 = 512;
const MAX_VALUE_DIM: i64 = 256;

/// Attention by all warps of a block alike: each has rows of queries of its own, and all load tiles of keys and values to shared memory, some
/// tiles ahead. bf16 and f16 are multiplied by `mma.sync`, f32 by multiply-adds.
///
/// # Examples
/// ```
/// use girih_codegen::attention::{AttentionConfig, Features, Form, Multistage, generate};
/// use girih_tensor::DType;
///
/// let form = Form::Multistage(Multistage { warps: 4, stages: 3, vector: 8, min_blocks: 2 });
/// let features = Features { right: true, lse: true, ..Features::default() };
/// let config =
///     AttentionConfig { name: "attention", form, dtype: DType::Bf16, head_dim: 64, value_dim: None, tile: [128, 64], features };
/// let kernel = generate(&config)?;
/// assert_eq!((kernel.kernel.threads(), kernel.kernel.shared_bytes()), (128, 128 * 128 + 3 * 64 * 128));
/// # Ok::<(), girih_codegen::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Multistage {
    /// The warps of a block, a power of two up to 16.
    pub warps: i64,
    /// The tiles of keys and of values in shared memory, all together.
    pub stages: i64,
    /// The elements that a thread copies at once: addresses, strides and columns are multiples of them.
    pub vector: i64,
    /// The resident blocks per SM for which registers are limited.
    pub min_blocks: u32,
}

/// A tile in shared memory: (Rows,Columns) -> element, and the swizzle of elements.
pub(super) struct SharedTile {
    pub(super) layout: Lay,
    pub(super) swizzle: Swizzle,
}

impl SharedTile {
    /// The tile of rows and columns of `dtype`: parts of columns of at most 128 bytes one after the other, in which vectors of 16 bytes are
    /// exchanged by the rows' numbers, as TMA copies do it too. So eight rows of a column of vectors are in different banks.
    pub(super) fn new(dtype: DType, [rows, columns]: [i64; 2]) -> Result<SharedTile, Error> {
        let (element, part) = (element_bytes("tile", dtype)?, part(dtype, columns)?);
        let column = Lay::strided([part, columns / part], [1, rows * part])?; // (Part,Parts)
        let row = Lay::leaf(Int::fixed(rows), Int::fixed(part).into())?;
        let log = |n: i64| n.max(1).ilog2();
        let swizzle = Swizzle::new(log(part * element / VECTOR), log(VECTOR / element), 3)?;
        Ok(SharedTile { layout: Lay::concat(&[row, column])?, swizzle })
    }
}

/// The columns of the parts of which tiles in shared memory consist.
pub(super) fn part(dtype: DType, columns: i64) -> Result<i64, Error> {
    let line = LINE / element_bytes("tile", dtype)?;
    Ok(line.min(1 << columns.trailing_zeros().min(30)))
}

impl Multistage {
    /// Threads of a block.
    ///
    /// # Errors
    /// [`AttentionError::Warps`] for more than a block has.
    pub(in crate::attention) fn threads(&self) -> Result<u32, Error> {
        if !(1..=16).contains(&self.warps) || self.warps.count_ones() != 1 {
            return Err(AttentionError::Warps { warps: self.warps }.into());
        }
        narrow("threads", 32 * self.warps)
    }

    fn atom(config: &AttentionConfig) -> Result<MmaAtom, Error> {
        match config.dtype {
            DType::Bf16 => Ok(SM80_16X8X16_F32BF16BF16F32_TN),
            DType::F16 => Ok(SM80_16X8X16_F32F16F16F32_TN),
            DType::F32 => Ok(UNIVERSAL_FMA_F32),
            dtype => {
                let accepted = &[DType::Bf16, DType::F16, DType::F32];
                Err(AttentionError::DType { dtype, accepted }.into())
            }
        }
    }

    /// The MMAs Q K^T and P V. Warps have rows of their own. Where threads multiply alone, sixteen share
    /// a row, and each has neighbouring columns of the values.
    pub(super) fn products(&self, config: &AttentionConfig) -> Result<[TiledMma; 2], Error> {
        let atom = Multistage::atom(config)?;
        if atom.kind == MmaKind::Fma {
            let rows = 2 * self.warps;
            let atoms = Lay::strided([rows, COLUMNS], [COLUMNS, 1])?;
            let mma = TiledMma::new(atom, atoms)?;
            let neighbours = part(config.dtype, config.columns(Tensor4::V))? / COLUMNS;
            let order = Lay::strided([COLUMNS, neighbours], [neighbours, 1])?;
            return Ok([mma, mma.with_permutation([Tile::All, Tile::Lay(order), Tile::All])]);
        }
        let atoms = Lay::strided([self.warps, 1], [1, 0])?;
        // Two atoms along N, whose operands one `ldmatrix` loads, and whose accumulators are an operand A.
        let pair = Tile::Lay(extent(2 * atom.shape_mnk[1])?);
        let mma = TiledMma::new(atom, atoms)?.with_permutation([Tile::All, pair, Tile::All]);
        Ok([mma, mma])
    }

    /// The elements along K whose fragments are loaded together.
    pub(super) fn step(mma: &TiledMma) -> i64 {
        if mma.atom.kind == MmaKind::Fma { 4 } else { mma.atom.shape_mnk[2] }
    }

    /// The copy by which fragments of an operand that is contiguous along K, or not, come from shared memory; without it, threads load their own.
    pub(super) fn reader(
        mma: &TiledMma,
        operand: Operand,
        along_k: bool,
    ) -> Result<Option<TiledCopy>, Error> {
        let atom = if along_k { SM75_U32X4_LDSM_N } else { SM75_U16X8_LDSM_T };
        match mma.atom.kind {
            MmaKind::Fma => Ok(None),
            _ => TiledCopy::of_mma(atom, mma.atom.dtype(operand).bits(), mma, operand).map(Some),
        }
    }

    /// The copies of a tile of rows and columns from global memory to shared memory, and back.
    pub(super) fn copies(&self, dtype: DType, tile: [i64; 2]) -> Result<[TiledCopy; 2], Error> {
        let bytes = self.vector.saturating_mul(element_bytes("dtype", dtype)?);
        let store = u32::try_from(bytes).ok().and_then(universal_copy);
        let Some(store) = store.filter(|_| self.vector > 0) else {
            return Err(AttentionError::Vector { vector: self.vector, dtype }.into());
        };
        let load = cp_async(narrow("vector", bytes)?).unwrap_or(store);
        let threads = i64::from(self.threads()?);
        let copy = |atom| coalesced(atom, threads, tile, 1, self.vector);
        Ok([copy(*load)?, copy(*store)?])
    }

    /// Whether copies to shared memory are in flight after their instructions.
    pub(super) fn is_asynchronous(&self, config: &AttentionConfig) -> Result<bool, Error> {
        Ok(self.vector * element_bytes("dtype", config.dtype)? >= 4)
    }

    /// Checks what the kernel relies on.
    pub(in crate::attention) fn check(&self, config: &AttentionConfig) -> Result<(), Error> {
        let AttentionConfig { head_dim, tile: [queries, keys], dtype, .. } = *config;
        let (atom, threads) = (Multistage::atom(config)?, i64::from(self.threads()?));
        let value_dim = config.columns(Tensor4::V);
        let fits = |columns: i64, most: i64| (32..=most).contains(&columns) && columns % 32 == 0;
        if !fits(head_dim, MAX_HEAD_DIM) {
            let accepted = format!("multiples of 32 up to {MAX_HEAD_DIM}");
            return Err(AttentionError::HeadDim { head_dim, accepted }.into());
        }
        let most = MAX_VALUE_DIM.min(head_dim);
        // A tile of O is where its tile of Q was, and warps have the same rows of both.
        if !fits(value_dim, most) || part(dtype, value_dim)? != part(dtype, head_dim)? {
            let accepted = format!(
                "multiples of 32 up to {most}, in parts of as many columns as the head dim, {head_dim},"
            );
            return Err(AttentionError::ValueDim { value_dim, accepted }.into());
        }
        if !(2..=16).contains(&self.stages) {
            return Err(AttentionError::Stages { stages: self.stages, least: 2, most: 16 }.into());
        }
        let fma = atom.kind == MmaKind::Fma;
        let rows = self.warps * if fma { 2 } else { atom.shape_mnk[0] };
        if !(rows..=1024).contains(&queries) || queries % rows != 0 {
            let accepted = format!("multiples of {rows} up to 1024");
            return Err(AttentionError::Queries { queries, accepted }.into());
        }
        if !(16..=256).contains(&keys) || keys.count_ones() != 1 {
            return Err(AttentionError::Keys { keys, accepted: "powers of two" }.into());
        }
        let sums = queries * (value_dim + keys) / threads;
        if sums > MAX_ACCUMULATORS {
            let most = MAX_ACCUMULATORS;
            return Err(
                AttentionError::Accumulators { queries, keys, head_dim: value_dim, threads, most }.into()
            );
        }
        let weights = if fma { queries * keys } else { 0 };
        let elements = queries * head_dim + self.stages.saturating_mul(keys * head_dim) + weights;
        let bytes = elements * element_bytes("dtype", dtype)?;
        if bytes > MAX_SHARED {
            return Err(AttentionError::SharedMemory { bytes, most: MAX_SHARED }.into());
        }
        for tile in [[queries, head_dim], [queries, value_dim], [keys, head_dim], [keys, value_dim]] {
            self.copies(dtype, tile)?;
        }
        Ok(())
    }
}
