//! The time that a kernel of warpgroups is expected to take, by closed formulas.
//!
//! Each constant has a meaning. Its value fits 2470 configurations of 237 products that were measured on an H200, from 16 x 8 x 584 to 16384^3:
//! `benches/records/2026-11-30-h200-random.md` says how well. [`STEP`], [`ODD`], [`STREAM`] and [`MULTICAST`] are set by what large products, which power
//! limits, were measured to take.

use girih_codegen::gemm::{Schedule, Store};

use super::plan::Plan;
use crate::gemm::Problem;

/// By how much the expected times of the fastest configurations are off: the root of the mean square of their logarithms, of the products
/// that the constants fit.
pub const ERROR: f64 = 0.17;

/// Cycles of an SM in a microsecond.
const CLOCK: f64 = 1750.0;
/// Bytes that an SM reads from the L2 cache in a cycle, and that all SMs read from and write to memory.
const L2: f64 = 81.0;
const MEMORY: f64 = 2370.0;
/// Cycles from the request of a stage to its arrival, and of a step along K besides its products.
const LATENCY: f64 = 1930.0;
const STEP: f64 = 30.0;
/// Cycles from the launch to the first request, and after the last store; how many fewer there are where a kernel begins early.
const START: f64 = 3830.0;
const EARLY: f64 = 620.0;
/// Bytes of C that an SM stores in a cycle by way of shared memory, and how many times as long it takes from registers.
const STORED: f64 = 19.3;
const DIRECT: f64 = 3.0;
/// The share of the time of a store that the products of the next tile hide, of one team and of several, which take tiles in alternation.
const HIDDEN: [f64; 2] = [0.36, 0.77];
/// Cycles in which blocks that share a tile find one another through memory, and those in which each of them takes its turn. How many accumulators
/// they hand over made no difference.
const MEETING: f64 = 3730.0;
const HANDED: f64 = 142.0;
/// How many times as long the products of tiles take whose columns are no multiple of 64.
const ODD: f64 = 1.03;
/// How many times as long the products of a stream take, whose blocks go through tiles in another order.
const STREAM: f64 = 1.03;
/// Cycles in which the blocks of a cluster find one another.
const CLUSTER: f64 = 1570.0;
/// How many times as long products take of tiles that come by a multicast, which takes power, and with it clock rate.
const MULTICAST: f64 = 1.05;

/// What a kernel computes, as the kernel lays it out.
#[derive(Clone, Copy, Debug)]
pub(in crate::gemm) struct Work {
    mnk: [f64; 3],
    batches: f64,
    /// Bytes of an element of A and B, and of one of C.
    bytes: [f64; 2],
}

impl Work {
    /// The work of a problem in the orientation in which a kernel computes it.
    pub(in crate::gemm) fn of(oriented: &Problem) -> Work {
        let bytes = [oriented.dtype(), oriented.output()].map(|dtype| f64::from(dtype.bits()) / 8.0);
        Work { mnk: oriented.mnk().map(|extent| extent as f64), batches: oriented.batches() as f64, bytes }
    }
}

/// The time that a kernel is expected to take, in microseconds by its parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// From the launch to the first request of a tile, and after the last store.
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

    // A step is a tile along K. An instruction takes 64 rows and 32 bytes of them, and reads both operands from shared memory:
    // max(Columns / 2, (64 + Columns) / 4) cycles.
    let instruction = (columns / 2.0).max((64.0 + columns) / 4.0);
    let products = rows / 64.0 * (depth / 32.0) * instruction + STEP;
    let products = if plan.multicast > 1 { products * MULTICAST } else { products };
    let products = if columns > 64.0 && plan.tile[1] % 64 != 0 { products * ODD } else { products };
    let arrives = (rows.min(m) + columns.min(n) / below) * depth / L2;
    let waits = LATENCY / *stages as f64;
    // The fourth root of the sum of fourth powers: close to the largest, and more where two are close.
    let fourth = |cycles: f64| (cycles * cycles) * (cycles * cycles);
    let step = (fourth(products) + fourth(arrives) + fourth(waits)).sqrt().sqrt();
    let along_k = parts(k * element, depth);
    // Each block has some of K.
    let main = if shares > along_k.max(1.0) { f64::INFINITY } else { parts(along_k, shares) * step };

    let store = if matches!(store, Store::Direct { .. }) { DIRECT } else { 1.0 }
        * rows.min(m)
        * columns.min(n)
        * output
        / STORED;
    let turns = parts(tiles * shares, slots);
    // Products hide no more than they take.
    let hidden = (store * HIDDEN[usize::from(plan.teams > 1)]).min(main);
    let stores = store + (turns - 1.0).max(0.0) * (store - hidden);
    let (main, stores, exchange) = match plan.schedule {
        Schedule::Persistent { .. } => (turns * main, stores, 0.0),
        Schedule::Raster { .. } => (turns * main, turns * store, 0.0),
        Schedule::SplitK { parts, cluster } if parts == cluster => {
            (turns * main, turns * store, turns * CLUSTER)
        }
        Schedule::SplitK { cluster, .. } => {
            let met = MEETING + shares / cluster as f64 * HANDED;
            (turns * main, turns * store, turns * met)
        }
        // Tiles that are left over are shared by all blocks.
        Schedule::StreamK { .. } => {
            let last = tiles - (turns - 1.0) * slots;
            let blocks = (slots / last.max(1.0)).min(along_k);
            let met = if last < slots { MEETING + blocks * HANDED } else { 0.0 };
            ((STREAM * tiles * main / slots).max(main.min(4.0 * step)), stores, met)
        }
    };
    let traffic = work.batches * ((m * k + n * k) * element + m * n * output) / MEMORY;
    let start = START - if plan.early { EARLY } else { 0.0 };
    let [start, products, stores, exchange, memory] =
        [start, main, stores, exchange, traffic].map(|cycles| cycles / CLOCK);
    Cost { start, products, stores, exchange, memory }
}
