//! The time that a kernel is expected to take, by closed formulas.
//!
//! Each constant has a meaning. Its value fits 808 configurations of 131 products that were measured on an H200, most of them drawn at random, from 1 x 2 x 40 to
//! 23423 x 2837 x 27164: `benches/records/2026-11-30-h200-random.md` says how well. [`STEP`], [`ODD`], [`STREAM`], [`MULTICAST`] and [`EXCHANGED`] are set by what large
//! products, which power limits, were measured to take.

mod multistage;
mod work;

use girih_codegen::gemm::{Schedule, Store};

use super::plan::Plan;

pub(super) use multistage::multistage;
use work::SECTOR;
pub(in crate::gemm) use work::Work;

/// By how much the expected times of the fastest configurations are off: the root of the mean square of their logarithms, over 232 products.
pub const ERROR: f64 = 0.21;

/// Cycles of an SM in a microsecond.
const CLOCK: f64 = 1750.0;
/// Bytes that an SM reads from the L2 cache in a cycle, and that all SMs read from and write to memory.
const L2: f64 = 85.0;
const MEMORY: f64 = 2270.0;
/// Cycles that a TMA copy takes for a row of its box, from memory and to it.
const REQUEST: f64 = 1.7;
const STORED_ROW: f64 = 2.65;
/// Cycles from the request of a stage to its arrival, and of a step along K besides its products.
const LATENCY: f64 = 2960.0;
const STEP: f64 = 30.0;
/// Cycles from the launch to the first request, and after the last store; how many fewer there are where a kernel begins early; and those from
/// one block of an SM to the next.
const START: f64 = 3470.0;
const EARLY: f64 = 1190.0;
const NEXT: f64 = 1110.0;
/// Cycles in which threads turn from products to a store and back.
const TURN: f64 = 960.0;
/// Bytes of C in a cycle: to shared memory, how many times as long it takes in parts, from there to memory, and from registers to memory.
const STAGED: f64 = 73.0;
const IN_PARTS: f64 = 3.06;
const STORED: f64 = 37.8;
const DIRECT: f64 = 14.6;
/// Cycles in which blocks that share a tile find one another through memory, those in which each of them takes its turn, and the bytes of accumulators that
/// they then hand over in a cycle: from block to block, and to the first block of a stream's tile.
const MEETING: f64 = 3560.0;
const HANDED: f64 = 112.0;
const HANDED_ON: f64 = 28.0;
const GATHERED: f64 = 39.0;
/// How many times as long the products of tiles take whose columns are no multiple of 64, and of 128.
const ODD: [f64; 2] = [1.1, 1.02];
/// How many times as long the products of a stream take, whose blocks go through tiles in another order.
const STREAM: f64 = 1.12;
/// Cycles in which the blocks of a cluster find one another, and the bytes of accumulators that they exchange in a cycle.
const CLUSTER: f64 = 600.0;
const EXCHANGED: f64 = 10.0;
/// How many times as long products take of tiles that come by a multicast, which takes power, and with it clock rate.
const MULTICAST: f64 = 1.1;

/// The time that a kernel is expected to take, in microseconds by its parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// From the launch to the first request of a tile, after the last store, and the copies of A and B before the kernel.
    pub start: f64,
    /// The products of the SM that has the most, and what they wait for.
    pub products: f64,
    /// The stores of C that no products hide.
    pub stores: f64,
    /// The exchange of accumulators among blocks.
    pub exchange: f64,
    /// What memory takes for all that is read and written once, beside which the SMs compute.
    pub memory: f64,
}

impl Cost {
    /// All of it: `start + sqrt((products + stores + exchange)^2 + memory^2)`.
    pub fn total(&self) -> f64 {
        self.start + (self.products + self.stores + self.exchange).hypot(self.memory)
    }
}

/// The quotient of two whole numbers, rounded up.
fn parts(of: f64, each: f64) -> f64 {
    (of / each).ceil()
}

/// The blocks that run at a time, where this many are a cluster: the SMs of a cluster are neighbours, and of an H200's 132 only 120
/// make up clusters of 4 or 8 (`cuOccupancyMaxActiveClusters`).
pub(super) fn together(multiprocessors: i64, cluster: i64) -> i64 {
    if cluster > 2 { multiprocessors * 10 / 11 } else { multiprocessors }
}

/// The fourth root of the sum of fourth powers: close to the largest, and more where two are close.
fn largest(cycles: [f64; 3]) -> f64 {
    let fourth = |cycles: f64| (cycles * cycles) * (cycles * cycles);
    cycles.into_iter().map(fourth).sum::<f64>().sqrt().sqrt()
}

/// The bytes of a row of a tensor copy's box, of a tile with this many bytes along its contiguous mode: the widest swizzle.
fn boxed(bytes: f64) -> f64 {
    [128.0, 64.0, 32.0].into_iter().find(|row| bytes % row == 0.0).unwrap_or(16.0)
}

/// Cycles of a step, which is a tile along K.
fn step(work: &Work, plan: &Plan, stages: i64) -> f64 {
    let ([m, n, _], [element, _], below) = (work.mnk, work.bytes, plan.multicast as f64);
    let [rows, columns, depth] = [plan.tile[0], plan.tile[1], plan.depth].map(|extent| extent as f64);
    // An instruction takes 64 rows and 32 bytes of them, and reads both operands from shared memory:
    // max(Columns / 2, (64 + Columns) / 4) cycles.
    let instruction = (columns / 2.0).max((64.0 + columns) / 4.0);
    let products = rows / 64.0 * (depth / 32.0) * instruction + STEP;
    let products = if plan.multicast > 1 { products * MULTICAST } else { products };
    let products = match plan.tile[1] {
        extent if extent > 64 && extent % 64 != 0 => products * ODD[0],
        extent if extent > 64 && extent % 128 != 0 => products * ODD[1],
        _ => products,
    };
    let requests = |extent: f64, along_k: bool| {
        if along_k { extent * depth / 128.0 } else { depth * extent / boxed(extent * element) }
    };
    let requests = requests(rows, work.along_k[0]) + requests(columns, work.along_k[1]) / below;
    let bytes = (rows.min(m) + columns.min(n) / below) * depth;
    let arrives = largest([bytes / L2, requests * REQUEST, 0.0]);
    largest([products, arrives, LATENCY / stages as f64])
}

/// Cycles in which threads do something for the store of a tile, and in which it goes on while they multiply again.
fn stored(work: &Work, plan: &Plan, store: &Store) -> [f64; 2] {
    let ([m, n, _], [_, output]) = (work.mnk, work.bytes);
    let [rows, columns] = plan.tile.map(|extent| extent as f64);
    let (tile, stored) = (rows * columns * output, rows.min(m) * columns.min(n) * output);
    match store {
        Store::Direct { .. } => [stored / DIRECT, 0.0],
        Store::Coalesced { .. } => [tile / STAGED + stored / DIRECT, 0.0],
        Store::Tma { stages, .. } => {
            let staged = tile / STAGED * if *stages > 1 { IN_PARTS } else { 1.0 };
            [staged, largest([stored / STORED, STORED_ROW * tile / boxed(columns * output), 0.0])]
        }
    }
}

/// The cost of some work by a plan that stores C so and has this many stages, on this many SMs.
pub(in crate::gemm) fn cost(
    work: &Work,
    plan: &Plan,
    (store, stages): &(Store, i64),
    multiprocessors: u32,
) -> Cost {
    let ([m, n, k], [element, output]) = (work.mnk, work.bytes);
    let [rows, columns, depth] = [plan.tile[0], plan.tile[1], plan.depth].map(|extent| extent as f64);
    let (shares, cluster) = match plan.schedule {
        Schedule::SplitK { parts, cluster } => (parts as f64, cluster),
        _ => (1.0, plan.multicast),
    };
    let slots = together(i64::from(multiprocessors.max(1)), cluster) as f64;
    // The tiles of a multicast are below each other: a cluster at the end of C has some that are empty.
    let below = plan.multicast as f64;
    let tiles = parts(parts(m, rows), below) * below * parts(n, columns) * work.batches;

    let step = step(work, plan, *stages);
    let along_k = parts(k * element, depth);
    // Each block has some of K, and blocks that write parts of the same sectors of C wait for one another.
    let (width, extent) = if plan.columns { (rows, m) } else { (columns, n) };
    if shares > along_k.max(1.0) || width * output < SECTOR && width < extent {
        return Cost { start: 0.0, products: f64::INFINITY, stores: 0.0, exchange: 0.0, memory: 0.0 };
    }
    let main = parts(along_k, shares) * step;

    let [busy, beside] = stored(work, plan, store);
    let busy = TURN + busy;
    let last = busy + beside;
    // One team stores while another one multiplies.
    let turn = if plan.teams > 1 {
        largest([main, (main + busy) / 2.0, beside])
    } else {
        largest([main + busy, beside, 0.0])
    };
    let turns = parts(tiles * shares, slots);
    let (main, stores, exchange, again) = match plan.schedule {
        Schedule::Persistent { .. } => {
            (turns * main, last + (turns - 1.0).max(0.0) * (turn - main), 0.0, 0.0)
        }
        Schedule::Raster { .. } => (turns * main, turns * last, 0.0, (turns - 1.0).max(0.0) * NEXT),
        Schedule::SplitK { parts, cluster } => {
            let accumulators = rows * columns * 4.0;
            let handed = HANDED + accumulators / HANDED_ON / cluster as f64;
            let met = if parts == cluster {
                CLUSTER + accumulators / EXCHANGED
            } else {
                MEETING + shares / cluster as f64 * handed
            };
            // The blocks of other tiles go on meanwhile.
            (turns * main, turns * last, met + (turns - 1.0).max(0.0) * met.min(MEETING), 0.0)
        }
        // Tiles that are left over are shared by all blocks.
        Schedule::StreamK { .. } => {
            let left = tiles - (turns - 1.0) * slots;
            let whole = if left < slots { turns - 1.0 } else { turns };
            let blocks = (slots / left.max(1.0)).min(along_k);
            let met = MEETING + blocks * (HANDED + rows * columns * 4.0 / GATHERED);
            let all = (STREAM * tiles * main / slots).max(main.min(4.0 * step));
            let stores = last + (whole - 1.0).max(0.0) * (turn - main).max(0.0);
            (all, stores, if left < slots { met } else { 0.0 }, 0.0)
        }
    };
    let traffic = work.traffic(width);
    let start = START + again + work.passes - if plan.early { EARLY } else { 0.0 };
    let [start, products, stores, exchange, memory] =
        [start, main, stores, exchange, traffic].map(|cycles| cycles / CLOCK);
    Cost { start, products, stores, exchange, memory }
}
