//! The choice of a configuration: order of modes, vectors, path (registers, shared memory or bulk copies), tile.

use girih_codegen::copy::{Caching, CopyConfig, Through};

use super::modes::Mode;
use super::problem::Problem;
use super::tiles::Lying;
use crate::Error;

/// Blocks that keep a GPU busy.
const BUSY: i64 = 512;
/// The largest tile or row that a tuning can ask for, in bytes; more than any thread block holds.
const LARGEST: i64 = 1 << 20;

/// The numbers of a configuration that do not follow from the problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tuning {
    /// Threads of a block, if the tile has a vector for each.
    pub threads: i64,
    /// Bytes of a tile.
    pub tile: i64,
    /// Bytes of a tile that follow each other in the destination and in the source, if the tile goes through shared memory and as much
    /// follows each other there.
    pub rows: [i64; 2],
    /// Tiles along the destination's first mode that come before the next ones along the source's (the `band` of [`Walk`](girih_codegen::copy::Walk)).
    pub band: i64,
    /// Blocks of an SM, which go on with other tiles; without it each block has one tile.
    pub blocks: Option<i64>,
    /// The cache hints.
    pub caching: Caching,
    /// Tiles that a block has in flight by bulk copies, where the problem is such that bulk copies can be used.
    pub bulk: Option<i64>,
}

impl Tuning {
    const DEFAULT: Tuning = Tuning {
        threads: 256,
        tile: 16 << 10,
        rows: [256, 256],
        band: 8,
        blocks: None,
        caching: Caching::Normal,
        bulk: None,
    };
}

impl Default for Tuning {
    /// Tiles of 16 KiB, each by a block of 256 threads.
    fn default() -> Tuning {
        Tuning::DEFAULT
    }
}

/// Elements that are written once are not kept in caches.
const STREAMING: Tuning = Tuning { caching: Caching::Streaming, ..Tuning::DEFAULT };

/// A configuration, and the problem's modes as the configuration counts them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// The configuration.
    pub config: CopyConfig,
    /// For each mode of the configuration, extent and strides in elements of the configuration's dtype.
    pub modes: Vec<Mode>,
    /// Blocks of an SM, if they go on with other tiles.
    pub blocks: Option<i64>,
}

/// The configuration for a problem whose source and destination begin at multiples of `aligned` bytes, `[source, destination]`. The rules
/// are those of the fastest configurations that `gpu_copies` measured on an H200 (`benches/records/2026-11-23-h200-copies.md`).
///
/// # Errors
/// [`Error::Codegen`], by a fault of girih.
pub fn choose(problem: &Problem, aligned: [i64; 2]) -> Result<Chosen, Error> {
    let (through, element, vector) = Lying::way(problem, aligned);
    let tuning = match through {
        // Rows of 256 bytes, but not more than 128 of them, and two vectors of 16 bytes a thread. Neighbours along the source come first:
        // the lines that they share are then read and written at once.
        Through::Shared => {
            let row = 256.min(128 * element);
            let threads = (row * row / element / 32).clamp(64, 1024);
            Tuning { threads, tile: row * row / element, rows: [row; 2], band: 1, ..STREAMING }
        }
        // Rows in any order: as many bytes in flight as a multiprocessor has threads for.
        _ if problem.gathered().is_some() => Tuning { threads: 512, tile: 16 << 10, ..STREAMING },
        // Lines that several warps write stay in the cache until they are whole.
        _ if vector < 16 => Tuning { threads: 512, tile: 8 << 10, ..Tuning::DEFAULT },
        _ => Tuning { threads: 128, tile: 2 << 10, ..STREAMING },
    };
    // Fewer bytes where blocks would be too few.
    let most = (problem.bytes() / 2 / BUSY).max(2 << 10);
    tuned(problem, aligned, &Tuning { tile: tuning.tile.min(most), ..tuning })
}

/// The configuration of these numbers, as far as they suit the problem.
///
/// # Errors
/// [`Error::Codegen`] for a band that is no power of two.
pub fn tuned(problem: &Problem, aligned: [i64; 2], tuning: &Tuning) -> Result<Chosen, Error> {
    let within = |bytes: i64| bytes.clamp(1, LARGEST);
    let tuning = Tuning { tile: within(tuning.tile), rows: tuning.rows.map(within), ..*tuning };
    let (config, modes) = Lying::configured(problem, aligned, tuning)?;
    Ok(Chosen { config, modes, blocks: tuning.blocks })
}
