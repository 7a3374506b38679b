//! A GEMM kernel, and the data of its launches.

use super::batch::Batch;
use super::epilogue::{Input, Output};
use super::schedule::{self, Pieces, SEMAPHORE, Schedule, Work};
use super::{GemmConfig, MAX_TILES};
use crate::engine::element_bytes;
use crate::error::{GemmError, narrow};
use crate::params::Params;
use crate::tiled::mma::Operand;
use crate::{Error, Kernel};

/// The arguments of a launch of a GEMM kernel, in elements.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arguments {
    /// M, N and K.
    pub mnk: [i64; 3],
    /// The pitches of A, B and C.
    pub pitches: [i64; 3],
    /// The number of GEMMs, or of groups.
    pub products: i64,
    /// How many matrices A, B and C of a batch are, one if all GEMMs have the same, and the elements from one to the next.
    pub batch: [[i64; 2]; 3],
    /// The elements from the scales of one group of K to those of the next, of A and of B.
    pub scales: [i64; 2],
    /// The pitch of the input of the epilogue that is prefetched.
    pub ahead: i64,
}

/// The most tiles of which pieces are made.
const MAX_WHOLE: i64 = 1 << 22;
/// Bytes of A and B that stay in the L2 cache of a device with tensor cores while blocks read them.
const CACHED: i64 = 24 << 20;
/// The blocks of a multistage mainloop that an SM may have room for.
const TOGETHER: u64 = 4;

/// A generated GEMM kernel, and what its launches need to know.
///
/// Its memory is `a`, `b` and `c`, or of [`Batch::Pointers`] the 64-bit addresses of the matrices of all GEMMs; the inputs and outputs of the
/// epilogue by their names; and as far as the kernel has them
/// - `order`, the row and the column of each tile, two 32-bit values ([`GemmKernel::order`]);
/// - `pieces`, the work units that the blocks compute ([`Pieces::table`]);
/// - `workspace`, the accumulators that blocks of the same tile pass on ([`GemmKernel::workspace`], [`Pieces::workspace`]), and `semaphores`, 32 bits each,
///   which are 0 before the first launch and after each launch;
/// - `offsets`, where the groups begin along their mode of C, and where the last one ends, 32 bits each;
/// - `scales` and `scales_b`, the scales of A and B;
/// - for each output `partials_` and its name, what the tiles leave of it ([`GemmKernel::reductions`]), and `arrivals_` and its name, semaphores.
#[derive(Clone, Debug)]
pub struct GemmKernel {
    /// The kernel [`GemmConfig::name`].
    pub kernel: Kernel,
    /// The kernel's parameters.
    pub params: Params<Arguments>,
    /// The layouts from which the kernel was derived, each with its name.
    pub partitions: Vec<(&'static str, String)>,
    pub(super) config: GemmConfig,
    /// The inputs of the epilogue.
    pub inputs: Vec<Input>,
    /// The outputs of the epilogue besides C.
    pub outputs: Vec<Output>,
    /// The mode of the kernel's C along which each of the outputs has values.
    pub(super) kept: Vec<Option<usize>>,
}

impl AsRef<Kernel> for GemmKernel {
    fn as_ref(&self) -> &Kernel {
        &self.kernel
    }
}

impl GemmConfig {
    /// Rows and columns of tiles of an M x N problem.
    fn tiles(&self, m: i64, n: i64) -> Result<[u32; 2], Error> {
        let tiles = |extent: i64, mode: usize| {
            (extent.max(0) as u64).div_ceil(self.cluster_tile()[mode] as u64) as i64
        };
        let (rows, columns) = (tiles(m, 0), tiles(n, 1));
        let (count, most) = (rows.saturating_mul(columns), self.most_tiles());
        if count > most {
            return Err(GemmError::Tiles { tiles: count, tile: self.cluster_tile(), most }.into());
        }
        Ok([narrow("rows of tiles", rows)?, narrow("columns of tiles", columns)?])
    }

    /// The most tiles that a grid, or an order of tiles, takes.
    fn most_tiles(&self) -> i64 {
        match self.schedule {
            Schedule::Persistent { .. } => MAX_TILES,
            Schedule::StreamK { .. } => MAX_WHOLE,
            Schedule::Raster { .. } | Schedule::SplitK { .. } => {
                i64::from(i32::MAX) / self.schedule.parts()[0] / self.multicast()
            }
        }
    }

    /// The same as the argument of a parameter, which does not accept too many.
    pub(super) fn tiles_for(&self, [m, n, _]: [i64; 3], l: i64) -> i64 {
        self.all_tiles([m, n, l]).map_or(i64::MAX, i64::from)
    }

    /// The tiles of `l` problems of M x N, or the most that `l` groups may have.
    pub(super) fn all_tiles(&self, [m, n, l]: [i64; 3]) -> Result<u32, Error> {
        let [mut rows, mut columns] = self.tiles(m, n)?.map(i64::from);
        let count = match self.batch {
            Batch::Single | Batch::Strided | Batch::Pointers => (rows * columns).saturating_mul(l),
            Batch::Grouped { mode } => {
                // The last tile of each group may have one row alone, and tiles may begin before the group.
                let (extent, tile) = ([m, n][mode], self.tile[mode]);
                let more = (tile + self.unit_of_groups(mode)? - 2).saturating_mul(l);
                *[&mut rows, &mut columns][mode] = extent.saturating_add(more) / tile;
                rows.saturating_mul(columns)
            }
        };
        if count > self.most_tiles() {
            let (tile, most) = (self.cluster_tile(), self.most_tiles());
            return Err(GemmError::Tiles { tiles: count, tile, most }.into());
        }
        narrow("tiles", count)
    }
}

impl GemmKernel {
    /// Rows and columns of tiles of an M x N problem. With a multicast, these are the tiles of clusters.
    ///
    /// # Errors
    /// [`GemmError::Tiles`] for more tiles than a grid, or an order of tiles, has.
    pub fn tiles(&self, m: i64, n: i64) -> Result<[u32; 2], Error> {
        self.config.tiles(m, n)
    }

    /// The tiles of an M x N problem in the order in which they share their operands best; a persistent kernel computes them in this order.
    ///
    /// # Errors
    /// Those of [`GemmKernel::tiles`].
    pub fn order(&self, m: i64, n: i64) -> Result<Vec<[u32; 2]>, Error> {
        Ok(schedule::order(self.config.cluster_tile(), self.tiles(m, n)?))
    }

    /// The tiles of all GEMMs of a batch of `l` problems of M x N, or the most that `l` groups may have that are M x N together.
    ///
    /// # Errors
    /// Those of [`GemmKernel::tiles`], for the tiles of all together.
    pub fn all_tiles(&self, mnl: [i64; 3]) -> Result<u32, Error> {
        self.config.all_tiles(mnl)
    }

    /// The blocks of the grid for `l` problems of M x N on a device with `multiprocessors` SMs.
    ///
    /// # Errors
    /// Those of [`GemmKernel::all_tiles`].
    pub fn blocks(&self, mnl: [i64; 3], multiprocessors: u32) -> Result<u32, Error> {
        let tiles = u64::from(self.all_tiles(mnl)?);
        let clusters = match self.config.batch {
            Batch::Single | Batch::Strided | Batch::Pointers => {
                self.config.schedule.blocks(tiles, multiprocessors / self.config.multicast() as u32)
            }
            // How many tiles there are is not known. Blocks of a multistage mainloop may share an SM.
            Batch::Grouped { .. } => {
                let together = if self.config.loads_by_maps() { 1 } else { TOGETHER };
                tiles.min(u64::from(multiprocessors) * together)
            }
        };
        narrow("blocks", clusters as i64 * self.config.multicast())
    }

    /// The bytes of the accumulators and those of the semaphores in the workspace for `l` problems of M x N; both are 0 where each tile has one
    /// block or one cluster.
    ///
    /// # Errors
    /// Those of [`GemmKernel::all_tiles`].
    pub fn workspace(&self, mnl: [i64; 3]) -> Result<[u64; 2], Error> {
        let all = u64::from(self.all_tiles(mnl)?);
        let [parts, cluster] = self.config.schedule.parts();
        let tiles = if parts > cluster { all } else { 0 };
        let sums = self.config.tile[0] * self.config.tile[1] / cluster * parts * self.sum()?;
        Ok([tiles * sums as u64, tiles * (cluster * SEMAPHORE) as u64])
    }

    /// The pieces of tiles of `l` problems of M x N x K that blocks go through on a device with `multiprocessors` SMs; `None` for
    /// another schedule than [`Schedule::StreamK`].
    ///
    /// # Errors
    /// Those of [`GemmKernel::all_tiles`]; [`GemmError::WorkUnits`] for more tiles along a mode than a piece counts.
    pub fn pieces(&self, [m, n, k]: [i64; 3], l: i64, multiprocessors: u32) -> Result<Option<Pieces>, Error> {
        let Schedule::StreamK { alternate } = self.config.schedule else { return Ok(None) };
        self.all_tiles([m, n, l])?;
        let [tile_m, tile_n, tile_k] = self.config.tile;
        let along_k = ((k + tile_k - 1) / tile_k).max(1);
        let blocks = self.blocks([m, n, l], multiprocessors)?;
        // Blocks that run together have tiles that are a square of C, or less.
        let side = |extent: i64| extent.min((tile_m * tile_n * i64::from(blocks)).isqrt());
        let work = Work {
            order: &self.order(m, n)?,
            products: narrow("products", l)?,
            along_k: narrow("tiles along K", along_k)?,
            blocks,
            alternate,
            cached: (side(m) + side(n)) * k * element_bytes("element", self.config.dtype(Operand::A))?
                <= CACHED,
        };
        Pieces::new(&work, self.tiles(m, n)?, (tile_m * tile_n * self.sum()?) as u64).map(Some)
    }

    /// For each of the outputs other than C, the bytes of what the tiles leave and those of the semaphores, for `l` problems of M x N.
    ///
    /// # Errors
    /// Those of [`GemmKernel::all_tiles`].
    pub fn reductions(&self, mnl: [i64; 3]) -> Result<Vec<[u64; 2]>, Error> {
        let ([m, n, l], all) = (mnl, u64::from(self.all_tiles(mnl)?));
        let [rows, columns] = self.tiles(m, n)?.map(u64::from);
        // Tiles as those that blocks store: the blocks of a cluster share a tile, or have tiles of their own.
        let [_, share] = self.config.schedule.parts().map(|parts| parts as u64);
        let stored = [self.config.multicast() as u64, share];
        let extents = [self.config.tile[0], self.config.tile[1] / share as i64];
        let each = self.outputs.iter().zip(&self.kept).map(|(output, kept)| {
            let values = kept.map_or(1, |mode| extents[mode]) as u64 * u64::from(output.dtype.bits() / 8);
            let lines = kept.map_or(1, |mode| [rows, columns][mode] * stored[mode]);
            [all * stored[0] * stored[1] * values, lines * l as u64 * SEMAPHORE as u64]
        });
        Ok(each.collect())
    }

    /// The bytes of an accumulator.
    fn sum(&self) -> Result<i64, Error> {
        element_bytes("sum", self.config.atom().c_type)
    }
}
