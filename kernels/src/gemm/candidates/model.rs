//! The model by which candidates are sorted.

use girih_codegen::gemm::{GemmConfig, Mainloop, Schedule, Store};

use crate::gemm::Problem;
use crate::gemm::choose::together;

/// How long a configuration would take, in cycles of an SM, if nothing went wrong.
pub(super) struct Model {
    pub(super) problem: Problem,
    pub(super) multiprocessors: i64,
}

/// Bytes that an SM reads from shared memory and from the L2 cache in a cycle, and that all get from memory.
const SHARED: f64 = 128.0;
const L2: f64 = 48.0;
const MEMORY: f64 = 2600.0;
/// Cycles from the asking for a tile to its arrival; of a block's start and end; of blocks that wait for one another.
const LATENCY: f64 = 1500.0;
const START: f64 = 2000.0;
const MET: f64 = 1500.0;
/// How many times as long products take that come by a multicast.
const MULTICAST: f64 = 1.02;

impl Model {
    /// The tiles of this many rows and columns.
    pub(super) fn tiles(&self, [rows, columns]: [i64; 2]) -> i64 {
        let [m, n, _] = self.problem.mnk();
        let of_one = ((m + rows - 1) / rows).saturating_mul((n + columns - 1) / columns);
        of_one.saturating_mul(self.problem.batches())
    }

    pub(super) fn cycles(&self, config: &GemmConfig) -> f64 {
        let (Mainloop::WarpSpecialized(parts), [m, n, k]) = (&config.mainloop, self.problem.mnk()) else {
            return f64::INFINITY;
        };
        let element = f64::from(self.problem.dtype().bits()) / 8.0;
        let [rows, columns, depth] = config.tile.map(|extent| extent as f64);
        let batches = self.problem.batches() as f64;
        let tiles = self.tiles([config.tile[0], config.tile[1]]) as f64;
        let (split, met) = match config.schedule {
            Schedule::SplitK { parts, cluster } if parts == cluster => {
                (parts as f64, MET + rows * columns * 4.0 / L2)
            }
            // Each block of a cluster reads its share of the columns, from all clusters.
            Schedule::SplitK { parts, cluster } => {
                let sums = rows * columns * 4.0 / cluster as f64;
                (parts as f64, 2.0 * MET + (parts / cluster + 1) as f64 * sums / L2)
            }
            // Most blocks hand over the sums of one tile, and take those of one.
            Schedule::StreamK { .. } => (1.0, 2.0 * (MET + rows * columns * 4.0 / L2)),
            Schedule::Raster { .. } | Schedule::Persistent { .. } => (1.0, 0.0),
        };
        // A step is a tile along K. An instruction takes 64 rows and 32 bytes of them, and reads both operands from shared memory.
        let steps = (k as f64 / depth / split).ceil();
        let instruction = (columns / 2.0).max((64.0 + columns) * 32.0 / SHARED);
        let products = rows / 64.0 * (depth * element / 32.0) * instruction;
        let arrives = ((rows + columns / parts.multicast as f64) * depth * element / L2)
            .max(LATENCY / parts.stages as f64);
        let output = f64::from(self.problem.output().bits()) / 8.0;
        let cluster =
            if let Schedule::SplitK { cluster, .. } = config.schedule { cluster } else { parts.multicast };
        let turns = tiles * split / together(self.multiprocessors, cluster) as f64;
        let even = matches!(config.schedule, Schedule::StreamK { .. });
        let turns = if even { turns } else { turns.ceil() };
        let starts = if config.schedule.is_persistent() { 1.0 } else { turns };
        let slow = if matches!(config.store, Store::Direct { .. }) { 3.0 } else { 1.0 };
        let blocks = starts * (START + slow * rows * columns * output / L2);
        // A multicast takes power, and with it clock rate.
        let products = if parts.multicast > 1 { products * MULTICAST } else { products };
        // One warpgroup alone waits for its own instructions.
        let alone = parts.threads().unwrap_or(0) == 256 && columns > 32.0;
        let products = if alone { products * 1.2 } else { products };
        let own = turns * steps * products.max(arrives) + met + blocks;
        let traffic = batches * ((m * k + n * k) as f64 * element + (m * n) as f64 * output) / MEMORY;
        // What is not waited for takes something too.
        own.max(traffic) + own.min(traffic) / 10.0 + (blocks + turns * arrives) / 10.0
    }
}
