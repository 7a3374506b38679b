//! The layouts of pieces of C in shared memory, and the copies to and from there.

use girih_layout::{Composed, Lay, lay};
use girih_tensor::DType;

use crate::atom::{
    AUTO_VECTORIZING_COPY, GmmaLayout, Major, SM75_U16X8_LDSM_T, SM75_U32X4_LDSM_N, SM90_U16X8_STSM_T,
    SM90_U32X4_STSM_N, Transfer, UNIVERSAL_COPY_8, UNIVERSAL_COPY_16, UNIVERSAL_COPY_32, UNIVERSAL_COPY_64,
};
use crate::engine::element_bytes;
use crate::gemm::batch::Tensors;
use crate::gemm::mainloop::{ROWS, WARPGROUP};
use crate::gemm::{GemmConfig, WarpSpecialized};
use crate::tiled::mma::Operand;
use crate::{Error, Expr, TiledCopy, TiledMma, TmaCopy};

/// The threads of a warp.
const LANES: i64 = 32;

/// The layout of pieces of C in shared memory, and the copies to and from there.
#[derive(Clone, Debug)]
pub(in crate::gemm) struct Rows {
    /// The rows and columns of C's tile: half as many columns as the accumulators' where pairs of these are gated.
    pub(super) tile: [i64; 2],
    pub(super) gated: bool,
    pub(super) dtype: DType,
    pub(super) major: Major,
    /// The rows and columns of the tile that go through shared memory together, EpiM and EpiN.
    pub(super) together: [i64; 2],
    /// How many of these shared memory has room for.
    pub(super) stages: i64,
    /// How many warpgroups multiply a tile together, and how many such teams there are: each has shared memory of its own.
    pub(super) consumers: i64,
    pub(super) teams: i64,
    /// The layout of a warpgroup's 64 rows, (64,EpiN), as a TMA copy takes them.
    pub(super) layout: Composed,
    /// How the warpgroup has the accumulators of those rows, the copy from registers, and the one to there.
    pub(super) mma: TiledMma,
    pub(super) store: TiledCopy,
    pub(super) load: TiledCopy,
}

/// The way from shared memory to C.
pub(in crate::gemm) enum Out {
    /// By TMA and the map at this address.
    Tensor(TmaCopy, Expr),
    /// By the threads of the warpgroup.
    Threads(TiledCopy, Tensors),
}

/// 64 rows of a warpgroup, or some columns of them, as long as they are in shared memory.
pub(super) struct Strip {
    /// Which of the warpgroup's rows of atoms, and which of the tile's EpiN columns.
    pub(super) row: i64,
    pub(super) column: i64,
    /// The place among the warpgroup's in shared memory.
    pub(super) place: i64,
}

impl Rows {
    pub(in crate::gemm) fn new(
        config: &GemmConfig,
        parts: &WarpSpecialized,
        together: [i64; 2],
        stages: i64,
        gated: bool,
    ) -> Result<Rows, Error> {
        let ([m, n, _], dtype, major) = (config.tile, config.c_type, config.c_major);
        let of_each = if gated { 2 } else { 1 };
        let columns = together[1];
        let layout = GmmaLayout::select(major, dtype, [ROWS, columns]).tile(dtype, [ROWS, columns])?;
        let bits = dtype.bits();
        // A thread has two neighbours of a row, or makes one of them.
        let [store, load] = match (bits, major) {
            (16, _) if gated => [UNIVERSAL_COPY_16; 2],
            (8, _) if gated => [UNIVERSAL_COPY_8; 2],
            (_, _) if gated => [UNIVERSAL_COPY_32; 2],
            (16, Major::K) => [SM90_U32X4_STSM_N, SM75_U32X4_LDSM_N],
            (16, Major::Mn) => [SM90_U16X8_STSM_T, SM75_U16X8_LDSM_T],
            (8, Major::K) => [UNIVERSAL_COPY_16; 2],
            (8, Major::Mn) => [UNIVERSAL_COPY_8; 2],
            (_, Major::K) => [UNIVERSAL_COPY_64; 2],
            (_, Major::Mn) => [UNIVERSAL_COPY_32; 2],
        };
        // The sums of fewer columns lie as those of an atom with as many columns.
        let atom = parts.with_columns((columns * of_each).min(parts.atom.shape_mnk[1]))?.atom;
        let mma = TiledMma::new(atom, lay!("(1,1):(0,0)"))?;
        let [store, load] = [store, load].map(|by| TiledCopy::of_mma(by, bits, &mma, Operand::C));
        let consumers = parts.consumers()?;
        let teams = parts.teams;
        Ok(Rows {
            tile: [m, n / of_each],
            gated,
            dtype,
            major,
            together,
            stages,
            consumers,
            teams,
            layout,
            mma,
            store: store?,
            load: load?,
        })
    }

    /// The TMA copy to C, or from what is staged like C, which is in global memory as `global` says.
    pub(in crate::gemm) fn tma_copy(&self, transfer: Transfer, global: &Lay) -> Result<TmaCopy, Error> {
        let layout = self.layout.layout().append_to(global.rank(), &Lay::UNIT)?; // (64,BlockN,1)
        TmaCopy::new(transfer, self.dtype, global, &layout, self.layout.swizzle())
    }

    /// The subtiles in which a tile goes through shared memory.
    pub(super) fn turns(&self) -> i64 {
        self.tile[0] / self.together[0] * (self.tile[1] / self.together[1])
    }

    /// A warpgroup's strips of a subtile.
    pub(super) fn strips(&self, turn: i64) -> Vec<Strip> {
        let together = self.together[0] / (ROWS * self.consumers);
        let turns_n = self.tile[1] / self.together[1];
        let (first, column, stage) = (turn / turns_n * together, turn % turns_n, turn % self.stages);
        let strip = |row| Strip { row, column, place: stage * together + row - first };
        (first..first + together).map(strip).collect()
    }

    /// The copy to C by the threads of a warpgroup in vectors of `vector` elements, of which a warp writes neighbours.
    pub(in crate::gemm) fn coalesced(&self, vector: i64) -> Result<TiledCopy, Error> {
        let mode = usize::from(self.major == Major::K);
        let along = lanes(self.major, self.together[1], vector).unwrap_or(1);
        let by_mode = |line: i64, others: i64| if mode == 1 { [others, line] } else { [line, others] };
        let threads = Lay::strided(by_mode(along, WARPGROUP / along), by_mode(1, along))?; // (ThrM,ThrN) -> thread
        let values = Lay::strided(by_mode(vector, 1), by_mode(1, vector))?; // (ValM,ValN) -> value
        TiledCopy::new(AUTO_VECTORIZING_COPY, self.dtype.bits(), &threads, &values)
    }

    /// The layouts from which the rows are derived, each with its name.
    pub(in crate::gemm) fn describe(&self, out: &Out) -> [(&'static str, String); 3] {
        let to_global = match out {
            Out::Tensor(copy, _) => copy.copy().atom.to_string(),
            Out::Threads(copy, _) => copy.tv.to_string(),
        };
        [
            ("C in shared memory", self.layout.to_string()),
            ("C: registers to shared", self.store.atom.to_string()),
            ("C: shared to global", to_global),
        ]
    }
}

/// How many threads of a warpgroup store neighbouring vectors of 64 rows and this many columns, if all threads have as many vectors.
pub(in crate::gemm) fn lanes(major: Major, columns: i64, vector: i64) -> Option<i64> {
    let (line, others) = if major == Major::K { (columns, ROWS) } else { (ROWS, columns) };
    let divides = |along: &i64| WARPGROUP % along == 0 && line % (along * vector) == 0;
    (1..=LANES).rev().filter(divides).find(|along| others % (WARPGROUP / along) == 0)
}

/// The bytes of shared memory that this many rows and columns of C take.
pub(in crate::gemm) fn shared_bytes(dtype: DType, [rows, columns]: [i64; 2]) -> Result<i64, Error> {
    Ok(rows * columns * element_bytes("c_type", dtype)?)
}
