//! The time that a kernel by warps of tensor cores is expected to take for 16-bit floats. The constants fit 147 configurations of 20 products of few rows, few columns
//! or a short K.

use girih_codegen::gemm::Source;

use super::{CLOCK, Cost, Work, largest, parts};
use crate::gemm::choose::forms::Form;

/// Cycles from the launch to the first block, and from one block of an SM to the next.
const START: f64 = 1410.0;
const BLOCK: f64 = 396.0;
/// Cycles in which a block waits before its first product, and for a tile along K where no stage is ahead.
const FIRST: f64 = 200.0;
const LATENCY: f64 = 510.0;
/// Cycles of a load by a warp, with its address and predicate; products, and bytes that are stored, in a cycle.
const LOAD: f64 = 3.7;
const PRODUCTS: f64 = 1410.0;
const STORED: f64 = 12.3;
/// How many times as long memory takes as for TMA copies.
const SCATTERED: f64 = 2.2;
/// Shared memory of an SM in bytes; the most blocks that are on one, and of these the most with as many accumulators as [`LARGE`].
const SHARED: f64 = 227.0 * 1024.0;
const MOST: f64 = 12.0;
const FEW: f64 = 2.0;
const LARGE: f64 = 128.0 * 128.0;

/// The cost of some work by the tiles of a form, with loads from these sources, on this many SMs. Stores are among the products.
pub(in crate::gemm::choose) fn multistage(
    work: &Work,
    form: &Form,
    sources: [Source; 2],
    multiprocessors: u32,
) -> Cost {
    let ([m, n, k], [element, output]) = (work.mnk, work.bytes);
    let ([rows, columns, depth], stages) = (form.tile.map(|extent| extent as f64), form.stages as f64);
    let tiles = parts(m, rows) * parts(n, columns) * work.batches;
    let [a, b] = sources.map(|source| source.vector.max(1) as f64);
    let step = (rows / a + columns / b) * depth / 32.0 * LOAD + rows * columns * depth / PRODUCTS;
    let steps = parts(k, depth);
    let store = rows.min(m) * columns.min(n) * output / STORED;
    // Stages ahead are loaded where K has ended too.
    let block = BLOCK + (steps + stages - 1.0) * step + store;
    let blocks = parts(tiles, f64::from(multiprocessors.max(1)));
    // Blocks of an SM hide one another's waits.
    let most = if rows * columns < LARGE { MOST } else { FEW };
    let together = (SHARED / ((rows + columns) * depth * element * stages)).floor().clamp(1.0, most);
    let waits = FIRST + steps * LATENCY / (stages - 1.0).max(1.0);
    let products = largest([blocks * block, parts(blocks, together) * (waits + block), 0.0]);
    let [start, products, memory] =
        [START, products, work.traffic(columns) * SCATTERED].map(|cycles| cycles / CLOCK);
    Cost { start, products, stores: 0.0, exchange: 0.0, memory }
}
