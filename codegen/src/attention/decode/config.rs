//! The configuration of a decode kernel, and the copies and MMAs that follow from it.

use girih_layout::{Lay, Tile, Tiles, lay};
use girih_tensor::DType;

use super::THREADS;
use super::share::KEYS;
use crate::atom::{
    CopyAtom, MmaAtom, SM75_U16X8_LDSM_T, SM75_U32X4_LDSM_N, SM80_16X8X16_F32BF16BF16F32_TN,
    SM80_16X8X16_F32F16F16F32_TN, SM80_CP_ASYNC_CACHEALWAYS_ZFILL_8, SM80_CP_ASYNC_CACHEGLOBAL_ZFILL_16,
};
use crate::error::AttentionError;
use crate::plan::{Access, best_swizzle};
use crate::sizes::extent;
use crate::tiled::copy::coalesced;
use crate::{Error, Operand, TiledCopy, TiledMma};
use girih_layout::Swizzle;

/// The most bytes of shared memory of a block for K, V and Q.
const MAX_SHARED: i64 = 226 << 10;

/// A decoding kernel's configuration and facts. A kernel serves all lengths, strides, batches and numbers of heads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DecodeConfig {
    /// The kernel's name in the module.
    pub name: &'static str,
    /// The dtype of Q and O, f16 or bf16.
    pub dtype: DType,
    /// The dtype of K and V: that of Q, e4m3 or e5m2, whose numbers are finite: NaN of e4m3 is taken for 480 in its sign.
    pub cache: DType,
    /// The columns of a tile in elements: 64, 128 or 256. Tensors of fewer columns are padded with zeros by the loads.
    pub head_dim: i64,
    /// The query heads and the queries of a tile of rows: together 16, which the warps share, or 64, 16 for each warp.
    pub rows: [i64; 2],
    /// The keys of a page, a power of two from 16 to 256, if K and V are in pages.
    pub page: Option<i64>,
    /// The tiles of K and V in shared memory, 2 to 8.
    pub stages: i64,
    /// The resident blocks per SM for which registers are limited.
    pub min_blocks: u32,
    /// The features of the kernel in addition to plain decoding.
    pub features: DecodeFeatures,
}

/// The features of a decoding kernel in addition to attention of each query to all keys up to its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct DecodeFeatures {
    /// Whether tensors may have fewer columns than [`DecodeConfig::head_dim`].
    pub padded: bool,
    /// Whether a query sees a window of keys before its own, and not all ([`super::Arguments::left`]).
    pub left: bool,
    /// Whether scores go through `cap * tanh(score / cap)`.
    pub softcap: bool,
    /// Whether K and V have scales.
    pub scales: bool,
    /// Whether the logsumexps are written.
    pub lse: bool,
    /// Whether a logit of each query head joins the sum of exponentials of each row, without a value.
    pub sinks: bool,
    /// Whether the keys of a sequence are cut into splits, which a second kernel adds up.
    pub parts: bool,
    /// Whether the second kernel waits for the first by itself, so that its launch may be a programmatic one (sm_90).
    pub programmatic: bool,
}

impl DecodeConfig {
    /// The architecture for which the kernels are written.
    pub fn sm(&self) -> u32 {
        if self.features.programmatic { 90 } else { 80 }
    }

    /// Of how many elements the addresses, strides and columns of Q and O are multiples: 16 bytes.
    pub fn vector(&self) -> i64 {
        128 / i64::from(self.dtype.bits())
    }

    /// Of how many elements the addresses, strides and columns of K and V are multiples: 16 bytes.
    pub fn cache_vector(&self) -> i64 {
        128 / i64::from(self.cache.bits())
    }

    /// The rows of a tile.
    pub fn tile_rows(&self) -> i64 {
        self.rows[0].saturating_mul(self.rows[1])
    }

    /// Whether the warps share the rows of a tile and iterate over different keys of it.
    pub(super) fn shares_rows(&self) -> bool {
        self.tile_rows() == 16
    }

    /// Whether K and V are converted on their way to registers.
    pub(super) fn converts(&self) -> bool {
        self.cache.bits() == 8
    }

    /// Whether the fragments of Q stay in registers, where there is room for them.
    pub(super) fn keeps_queries(&self) -> bool {
        self.head_dim <= 128
    }

    /// The keys that are loaded together, which are in one page.
    pub(super) fn group(&self) -> i64 {
        self.page.unwrap_or(KEYS).min(KEYS)
    }

    /// Bytes of shared memory of a block while it iterates over keys.
    fn shared_bytes(&self) -> i64 {
        let ring = 2 * KEYS * self.head_dim * self.stages * i64::from(self.cache.bits()) / 8;
        ring + self.tile_rows() * self.head_dim * i64::from(self.dtype.bits()) / 8
    }

    /// Checks what the kernels rely on.
    pub(super) fn check(&self) -> Result<(), Error> {
        if !matches!(self.dtype, DType::F16 | DType::Bf16) {
            return Err(
                AttentionError::DType { dtype: self.dtype, accepted: &[DType::F16, DType::Bf16] }.into()
            );
        }
        if self.cache != self.dtype && !matches!(self.cache, DType::E4m3 | DType::E5m2) {
            return Err(AttentionError::Cache { cache: self.cache, dtype: self.dtype }.into());
        }
        if !matches!(self.head_dim, 64 | 128 | 256) {
            let accepted = String::from("64, 128 and 256");
            return Err(AttentionError::HeadDim { head_dim: self.head_dim, accepted }.into());
        }
        let powers = self.rows.iter().all(|&n| n > 0 && n.count_ones() == 1);
        if !powers || !matches!(self.tile_rows(), 16 | 64) {
            return Err(AttentionError::Rows { rows: self.rows }.into());
        }
        if let Some(page) = self.page.filter(|page| !(16..=256).contains(page) || page.count_ones() != 1) {
            return Err(AttentionError::Page { page }.into());
        }
        if !(2..=8).contains(&self.stages) {
            return Err(AttentionError::Stages { stages: self.stages, least: 2, most: 8 }.into());
        }
        if self.shared_bytes() > MAX_SHARED {
            let bytes = self.shared_bytes();
            return Err(AttentionError::SharedMemory { bytes, most: MAX_SHARED }.into());
        }
        Ok(())
    }

    pub(super) fn atom(&self) -> MmaAtom {
        match self.dtype {
            DType::F16 => SM80_16X8X16_F32F16F16F32_TN,
            _ => SM80_16X8X16_F32BF16BF16F32_TN,
        }
    }

    /// The MMA of Q, (Rows,HeadDim), and K, (Keys,HeadDim). A warp has 16 keys that follow each other, or all. Bytes are multiplied in
    /// the order in which `ldmatrix` brings them, four neighbours to a thread.
    pub(super) fn scores_mma(&self) -> Result<TiledMma, Error> {
        let (atoms, keys) = match self.shares_rows() {
            true => (lay!("(1,4,1):(0,1,0)"), lay!("(8,4,2):(1,16,8)")),
            false => (lay!("(4,1,1):(1,0,0)"), lay!("16:1")),
        };
        let columns = if self.converts() { lay!("(2,4,2,2):(1,4,2,16)") } else { lay!("16:1") };
        let order = [Tile::All, Tile::Lay(keys), Tile::Lay(columns)];
        Ok(TiledMma::new(self.atom(), atoms)?.with_permutation(order))
    }

    /// The MMA of the exponentials, (Rows,Keys), and V, (HeadDim,Keys), by the keys that [`DecodeConfig::scores_mma`] gives a warp. Of bytes,
    /// an atom has every other column, since a transposing `ldmatrix` leaves neighbours in one thread.
    pub(super) fn output_mma(&self) -> Result<TiledMma, Error> {
        let (atoms, keys) = match self.shares_rows() {
            true => (lay!("(1,1,4):(0,0,1)"), lay!("64:1")),
            false => (lay!("(4,1,1):(1,0,0)"), lay!("16:1")),
        };
        let columns = if self.converts() { lay!("(8,2,2):(2,1,16)") } else { lay!("16:1") };
        let order = [Tile::All, Tile::Lay(columns), Tile::Lay(keys)];
        Ok(TiledMma::new(self.atom(), atoms)?.with_permutation(order))
    }

    /// The copy of K's fragments from shared memory.
    pub(super) fn keys_reader(&self) -> Result<TiledCopy, Error> {
        TiledCopy::of_mma(SM75_U32X4_LDSM_N, self.cache.bits(), &self.scores_mma()?, Operand::B)
    }

    /// The copy of V's fragments from shared memory, (HeadDim,Keys).
    pub(super) fn values_reader(&self) -> Result<TiledCopy, Error> {
        let (mma, bits) = (self.output_mma()?, self.cache.bits());
        if !self.converts() {
            return TiledCopy::of_mma(SM75_U16X8_LDSM_T, bits, &mma, Operand::B);
        }
        // A register has two columns of two keys. The fragments have the keys first, then the atoms with every other column.
        let tv = mma.layout_tv(Operand::B)?; // (Thr,(FrgV,(RestN,RestK)))
        let of_registers = lay!("(2,2,2,2):(4,1,2,8)");
        let tv = Lay::concat(&[tv.mode(0)?, tv.mode(1)?.composition(&of_registers)?])?;
        let [_, columns, keys] = mma.tile_size_mnk()?;
        let tiler = Tiles::new(&[Tile::Lay(extent(columns)?), Tile::Lay(extent(keys)?)])?;
        TiledCopy::from_tv(SM75_U16X8_LDSM_T, bits, &tv, tiler)
    }

    /// The copy of K or V from global to shared memory, whose steps are in one page.
    pub(super) fn loader(&self) -> Result<TiledCopy, Error> {
        let by = |atom: CopyAtom| {
            let vector = i64::from(atom.bits() / self.cache.bits());
            coalesced(atom, THREADS.into(), [self.group(), self.head_dim], 1, vector)
        };
        by(SM80_CP_ASYNC_CACHEGLOBAL_ZFILL_16).or_else(|_| by(SM80_CP_ASYNC_CACHEALWAYS_ZFILL_8))
    }

    /// The copy of Q from global to shared memory.
    pub(super) fn query_loader(&self) -> Result<TiledCopy, Error> {
        let tile = [self.tile_rows(), self.head_dim];
        coalesced(SM80_CP_ASYNC_CACHEGLOBAL_ZFILL_16, THREADS.into(), tile, 1, self.vector())
    }

    /// The swizzle of tiles of K and V in shared memory, whose rows of columns follow each other.
    pub(super) fn swizzle(&self) -> Result<Option<Swizzle>, Error> {
        let tile = Lay::strided([KEYS, self.head_dim], [self.head_dim, 1])?; // (Keys,HeadDim)
        let bits = i64::from(self.cache.bits());
        let (loader, reader) = (self.loader()?, self.keys_reader()?);
        let store = Access {
            tv: loader.layout_d_tv(&[KEYS, self.head_dim])?,
            vector: i64::from(loader.atom.bits()) / bits,
        };
        let read = reader.layout_s_tv(&[KEYS, self.head_dim])?; // (Thr,Val)
        let read = Lay::concat(&[read.mode(0)?.filter(), read.mode(1)?])?;
        let (swizzle, _) = best_swizzle(&tile, bits, &[store, Access { tv: read, vector: 128 / bits }])?;
        Ok((swizzle != Swizzle::NONE).then_some(swizzle))
    }

    /// The swizzle of the tile of Q, whose fragments are read two values at a time by eight rows at once.
    pub(super) fn query_swizzle(&self) -> Result<Option<Swizzle>, Error> {
        let extents = [self.tile_rows(), self.head_dim];
        let tile = Lay::strided(extents, [self.head_dim, 1])?; // (Rows,HeadDim)
        let (loader, bits) = (self.query_loader()?, i64::from(self.dtype.bits()));
        let store = Access { tv: loader.layout_d_tv(&extents)?, vector: self.vector() };
        let mma = self.scores_mma()?;
        let [_, _, columns] = mma.tile_size_mnk()?;
        // (Thr,Val) -> index in the tile of rows
        let own = Lay::strided([self.tile_rows(), columns], [1, self.tile_rows()])?;
        let read = own.composition(&mma.layout_tv(Operand::A)?)?;
        let read = Lay::concat(&[read.mode(0)?.filter(), read.mode(1)?])?;
        let (swizzle, _) = best_swizzle(&tile, bits, &[store, Access { tv: read, vector: 2 }])?;
        Ok((swizzle != Swizzle::NONE).then_some(swizzle))
    }

    /// The layouts from which the kernel is derived, each with its name.
    pub(super) fn describe(&self) -> Result<Vec<(&'static str, String)>, Error> {
        let (scores, output) = (self.scores_mma()?, self.output_mma()?);
        let copy = |copy: &TiledCopy| format!("{} {}", copy.atom, copy.tv);
        let swizzle = self.swizzle()?.map_or_else(String::new, |swizzle| format!("{swizzle} o 0 o "));
        let (d, [heads, queries]) = (self.head_dim, self.rows);
        Ok(vec![
            ("tile (Rows,Keys,HeadDim)", format!("(({heads},{queries}),{KEYS},{d})")),
            ("MMA atom", self.atom().name()),
            ("warps along (M,N,K), scores", scores.atoms.to_string()),
            ("warps along (M,N,K), output", output.atoms.to_string()),
            ("K and V: global to shared", copy(&self.loader()?)),
            (
                "K and V in shared memory",
                format!("{swizzle}({KEYS},{d},{}):({d},1,{})", self.stages, KEYS * d),
            ),
            ("K: shared to registers", copy(&self.keys_reader()?)),
            ("V: shared to registers", copy(&self.values_reader()?)),
        ])
    }
}
