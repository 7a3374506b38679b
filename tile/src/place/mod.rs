//! Placement: which thread holds which element of each tile.
//!
//! A [`Plan`] is a function whose values all have a [`Dist`], such that each operation can be lowered by itself. What the distributions
//! of an operation's operands and results must be to each other:
//!
//! | operation | rule |
//! |---|---|
//! | `Full`, `Dense`, `Iota`, `Load`, `Histogram` (result) | any |
//! | `Each`, `Cast`, `Bitcast` | operands and result are equal, values in the same order |
//! | `Broadcast` | the operand's is the result's, [`sliced`](Dist::slice) along the stretched modes |
//! | `Permute` | the result's is the operand's, [permuted](Dist::permute) |
//! | `Reduce` | operands are equal; the results' are the operands', sliced along the axis; by a region: along the axis as `Scan` |
//! | `Scan` | operands and results are equal; along the axis by rising scale: values, then bits by rising number, then values |
//! | `Sort` | as `Scan`, and what covers the axis is a power of two |
//! | `Store`, `Print`, `Assert`, `Histogram` (operand) | any |
//! | `Gather`, `Scatter` | operands and result are equal |
//! | `Atomic` | operands and result are equal; of tiles (rank 1 and more) no bit moves nowhere: no thread holds a copy |
//! | `Reshape`, `Extract`, `Insert`, `Cat`, `Flip`, `Pack`, `Unpack` | any: elements are renamed where threads have them, else they go through shared memory |
//! | `Mma` by [`wgmma`] | accumulator and result have the instruction's; A has it too, or is in shared memory, where B is |
//! | other `Mma` | accumulator and result are equal; the operands are [fragments](product) of it, or any, and go through shared memory, where loops load them [iterations ahead](ahead) |
//! | `Convert` | any: elements are renamed where threads have them, else they move by [shuffles](shuffle) or through shared memory, whichever [costs](girih_codegen::plan::Exchange::cost) less |
//! | `For`, `Loop`, `If` | initial values, region arguments, what an end passes on, and results are equal |
//!
//! Every distribution [covers](Dist::covers) its value: along each mode a leaf's scale is the product of the extents of the leaves below.
//! Scalars are replicated: every thread holds them; so are the values of the region of a combination. Padding, which is what a
//! distribution covers beyond a tile's extents, holds anything; an operation that combines elements masks it. Where bits move nowhere, threads hold
//! copies: an effect (`Store`, `Scatter`, `Print`, a scalar's `Atomic`) is the part of the threads whose such bits are 0, a histogram
//! counts their elements alone.
//!
//! [`Plan::verify`] checks this.
//!
//! # Examples
//! ```
//! use girih_tile::prelude::*;
//!
//! #[kernel]
//! fn double(x: &Array<f32, 1>, y: &mut Array<f32, 1>) {
//!     let block = bid(0);
//!     y.tiles_mut([1024]).store((block,), x.tiles([1024]).load((block,)) * 2.0);
//! }
//!
//! let plan = girih_tile::place::place(&double::ir()?, 90)?;
//! plan.verify()?;
//! // 1024 elements for 4 warps: 8 for each thread.
//! let tile = plan.dists.iter().find(|dist| dist.size() > 1).expect("a tile");
//! assert_eq!((plan.block(), tile.threads(), tile.size()), (128, 128, 8));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod access;
pub mod ahead;
mod assemble;
mod candidates;
mod cost;
mod naive;
mod numbers;
mod overlap;
pub mod pipeline;
mod pressure;
pub mod product;
mod rule;
mod scratch;
mod search;
mod verify;
pub mod wgmma;

use std::collections::BTreeMap;

pub use girih_codegen::plan::shuffle;
use girih_codegen::plan::{Dist, Exchange};

use self::ahead::Ahead;
use self::assemble::assemble;
use self::wgmma::{Products, SharedTile};
use crate::error::{Error, Fault, Result};
use crate::fit;
use crate::ir::{Def, Func, Kind, OpId, Value};

pub(crate) use cost::across;
pub use naive::naive;
pub(crate) use rule::{Halves, extents, halves};
pub(crate) use scratch::PATTERN;

/// A function with the distribution of each value.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The function, in which placement has added [`Convert`](crate::ir::Kind::Convert) operations.
    pub func: Func,
    /// The distribution of each value, by its number.
    pub dists: Vec<Dist>,
    /// Threads of a block that have tiles: a power of two, 32 or more.
    pub threads: u32,
    /// How each [`Convert`](crate::ir::Kind::Convert) is done, by its result.
    pub exchanges: BTreeMap<Value, Exchange>,
    /// How products are computed.
    pub products: Products,
}

impl Plan {
    /// The way in which a product is computed that is not by `wgmma`.
    pub fn way(&self, id: OpId) -> product::Way {
        let op = self.func.op(id);
        product::way(&self.func, op, self.dist(op.results[0]), self.products.sm)
    }

    /// Which operands of such a product are taken from registers; the others go through shared memory.
    pub fn in_registers(&self, id: OpId) -> [bool; 2] {
        let op = self.func.op(id);
        let needed = product::fragments(&self.func, op, self.dist(op.results[0]), self.products.sm);
        [0, 1].map(|at| {
            let value = op.operands[at];
            !self.products.holds(&self.func, value) && *self.dist(value) == needed[at]
        })
    }

    /// Threads of a block with those that load for the others.
    pub fn block(&self) -> u32 {
        self.threads + if self.products.pipeline.rings.is_empty() { 0 } else { wgmma::WARPGROUP }
    }

    /// A value's distribution.
    pub fn dist(&self, value: Value) -> &Dist {
        &self.dists[value.index()]
    }
}

/// Numbers of warps of a block that are tried, from the first on.
const WARPS: [u32; 4] = [4, 8, 16, 32];
/// Registers of a thread's tiles that leave room for what else it needs and for enough blocks on an SM.
const REGISTERS: f64 = 64.0;
/// The same where a warpgroup of its own loads, so that the others have as many registers as threads can name.
const OF_PRODUCTS: f64 = 112.0;
/// The same where products are summed in registers, which are the more the better.
const OF_SUMS: f64 = 144.0;
/// The most registers of tiles that a thread of such a kernel has, by what threads can name and by what an SM has.
const NAMED: f64 = 232.0;
const ALL: f64 = 65536.0;
/// The most elements that a thread holds of one tile.
const VALUES: usize = 1024;

/// Places a function for a device of this compute capability, such as 90, with the fewest warps whose registers are enough, or those that
/// the hints ask for: a pure function, the same of the same.
///
/// # Errors
/// [`Error::Place`] where no placement fits: a tile too large for a block, or a pin that the operation does not take.
pub fn place(func: &Func, sm: u32) -> Result<Plan> {
    place_by(func, sm, &asked(func, sm).map_or(WARPS.to_vec(), |warps| vec![warps]))
}

/// The plans with other numbers of warps, where nothing asks for one.
pub(crate) fn others(func: &Func, sm: u32, than: u32) -> impl Iterator<Item = Plan> {
    let free = asked(func, sm).is_none();
    let others = WARPS.into_iter().filter(move |&warps| free && warps != than);
    others.filter_map(move |warps| place_by(func, sm, &[warps]).ok())
}

/// The number of warps that a pin or a hint asks for.
fn asked(func: &Func, sm: u32) -> Option<u32> {
    let asked = func.hints.by_arch.get(&sm).and_then(|hints| hints.num_worker_warps);
    let pinned =
        func.pins().values().find_map(|pin| pin.dist.as_ref().map(|dist| fit::word(dist.threads()) / 32));
    pinned.or(asked).or(func.hints.all.num_worker_warps)
}

/// Places a function by one of these numbers of warps.
pub(crate) fn place_by(func: &Func, sm: u32, warps: &[u32]) -> Result<Plan> {
    let plan = place_in_order(func, sm, warps)?;
    match plan.overlapped(func).map(|other| place_in_order(&other, sm, warps)) {
        Some(Ok(other)) if other.products.is_like(&plan.products) => Ok(other),
        _ => Ok(plan),
    }
}

/// Places a function's operations in the order that they have.
fn place_in_order(func: &Func, sm: u32, warps: &[u32]) -> Result<Plan> {
    if let Some(count) = warps.iter().find(|&&count| !(1..=32).contains(&count) || !count.is_power_of_two()) {
        return Err(Error::Place(Fault::Warps { warps: *count }.into()));
    }
    let mut trial = Trial::new(func, sm, warps);
    let mut found = None;
    // What the registers of the plan before let expect: twice the warps have half of them each. Tiles far too large for the first number are
    // seen by distributions that are not searched for.
    let mut fewest = match *warps {
        [first, _, ..] if trial.most == 0 && !trial.summed => {
            f64::from(first) * naive(func, first * 32).registers() / trial.enough
        }
        _ => 0.0,
    };
    if fewest <= f64::from(2 * warps[0]) {
        fewest = 0.0;
    }
    let mut left = Vec::new();
    for (at, &count) in warps.iter().enumerate() {
        let products = &trial.products;
        let fewer = products[at].wgmma.len() < trial.most;
        let expected = f64::from(count) < fewest && at + 1 < warps.len() && trial.most == 0;
        // Sums alone that are too many are seen without a search, if more warps share them.
        let shared = products[at + 1..]
            .iter()
            .any(|more| more.wgmma.len() == trial.most && more.stored() <= products[at].stored());
        let sums = trial.most > 0 && shared && products[at].most_sums() as f64 > trial.enough;
        if expected || fewer || sums {
            left.push(at);
            continue;
        }
        let plan = trial.plan(at, count)?;
        let registers = trial.registers(&plan);
        fewest = f64::from(count) * registers / trial.enough;
        // With more registers than leave room for all else, and no more than there are, the latest is as good as any.
        let enough = registers <= trial.enough;
        if let Some(plan) = trial.accepted(plan) {
            // What more warps can only multiply by way of shared memory is better multiplied by fewer.
            let stored = |plan: &Plan| plan.products.stored();
            if found.as_ref().is_none_or(|found| stored(&plan) <= stored(found)) {
                found = Some(plan);
            }
            if enough {
                break;
            }
        }
    }
    // Where none of these fits, one that was passed over may.
    for at in left {
        if found.is_none() {
            let plan = trial.plan(at, warps[at])?;
            found = trial.accepted(plan);
        }
    }
    let none = Fault::Warps { warps: 0 };
    let plan = found.ok_or_else(|| Error::Place(trial.refused.map_or(none, |(_, fault)| fault).into()))?;
    debug_assert_eq!(plan.verify(), Ok(()));
    Ok(plan)
}

/// How products are computed in blocks of this many threads, where these gathers are not the producer's.
fn chosen(func: &Func, sm: u32, threads: u32, gathers: &BTreeMap<OpId, String>) -> Products {
    let products = Products { sm, ..Products::choose(func, sm, threads, gathers) };
    Products { ahead: Ahead::choose(func, sm, threads, &products), ..products }
}

/// Numbers of warps that are tried for a function.
struct Trial<'a> {
    func: &'a Func,
    sm: u32,
    /// The products by `wgmma`, by number of warps, and the most of them that there are.
    products: Vec<Products>,
    most: usize,
    /// Why there are none after all.
    without: Option<String>,
    /// Whether some products are computed in another way.
    summed: bool,
    /// Registers of tiles that leave room for all else.
    enough: f64,
    /// The plan that was nearest to what there is room for: how many times as much it takes, and what is said of it.
    refused: Option<(f64, Fault)>,
}

impl<'a> Trial<'a> {
    fn new(func: &'a Func, sm: u32, warps: &[u32]) -> Trial<'a> {
        let choose = |&count: &u32| chosen(func, sm, count * 32, &BTreeMap::new());
        let products: Vec<Products> = warps.iter().map(choose).collect();
        let most = products.iter().map(|products| products.wgmma.len()).max().unwrap_or(0);
        let mut summed = false;
        func.walk(func.body(), &mut |id, op| {
            summed |=
                op.kind == Kind::Mma && products.iter().any(|products| !products.wgmma.contains_key(&id));
        });
        let enough = match (most, summed) {
            (0, false) => REGISTERS,
            (0, true) => OF_SUMS,
            _ => OF_PRODUCTS,
        };
        Trial { func, sm, products, most, without: None, summed, enough, refused: None }
    }

    /// The plan for a number of warps.
    fn plan(&mut self, at: usize, count: u32) -> Result<Plan> {
        let (func, sm) = (self.func, self.sm);
        let mut products = self.products[at].clone();
        if let Some(why) = &self.without {
            products = products.without_wgmma(func, count * 32, why);
        }
        let mut gathers = BTreeMap::new();
        loop {
            let works = search::search(func, count * 32, &products)?;
            let work = |id, at| works.get(&(id, at)).cloned();
            let plan = assemble(func, count * 32, products.clone(), work).accumulators_first().pipelined(sm);
            // What is loaded comes before what is stored.
            let as_chosen = |(id, tile): (&OpId, &SharedTile)| {
                tile.produced.is_ok() || products.loads.get(id).is_none_or(|tile| tile.produced.is_err())
            };
            let fits = |plan: &Plan| plan.has_room().is_ok() && plan.products.loads.iter().all(as_chosen);
            if !products.stores.is_empty() && !plan.as_ref().is_ok_and(fits) {
                products.stores.clear();
                continue;
            }
            let plan = plan.and_then(|plan| {
                let room = plan.has_room();
                let rows = room.as_ref().err().map(|why| products.gathered(func, why));
                rows.filter(|rows| !rows.is_empty()).map_or(Ok((plan, room)), Err)
            });
            let (plan, room) = match plan {
                Ok(plan) => plan,
                Err(refused) => {
                    gathers.extend(refused);
                    products = chosen(func, sm, count * 32, &gathers);
                    continue;
                }
            };
            if let Err(why) = room {
                // Slots that threads fill are free behind their loop.
                if products.loads.values().any(|tile| tile.produced.is_ok()) {
                    products = products.by_threads(func, count * 32, &why);
                } else {
                    products = products.without_wgmma(func, count * 32, &why);
                    (self.most, self.summed, self.enough, self.without) = (0, true, OF_SUMS, Some(why));
                }
                continue;
            }
            match plan.with_slots(sm) {
                Ok(plan) if !products.tight && plan.is_short_of_stages() => products.tight = true,
                Ok(plan) => return Ok(plan),
                Err(why) => products.ahead = products.ahead.refused(&why),
            }
        }
    }

    /// Registers of a thread's tiles.
    fn registers(&self, plan: &Plan) -> f64 {
        // What products take from shared memory lies packed.
        if self.summed && self.most == 0 { plan.packed() } else { plan.registers() }
    }

    /// The plan, if a thread has registers for its tiles; else takes note of what is to be said.
    fn accepted(&mut self, plan: Plan) -> Option<Plan> {
        let room = NAMED.min(ALL / f64::from(plan.threads));
        let held = |value: Value| !matches!(plan.func.value(value).def, Def::Result(op, _) if plan.products.is_shared(op));
        let values = (0..fit::item(plan.func.value_count())).map(Value);
        let large = values.filter(|&value| held(value)).find(|&value| plan.dist(value).size() > VALUES);
        let packed = plan.packed();
        let threads = plan.threads;
        let (over, fault) = if let Some(value) = large {
            let size = plan.dist(value).size();
            let fault = Fault::TileSize { tile: plan.called(value), size, threads, most: VALUES };
            (size as f64 / VALUES as f64, fault)
        } else if self.summed && plan.products.wgmma.is_empty() && packed > room {
            let (registers, live) = (packed.ceil(), plan.live());
            (packed / room, Fault::Registers { registers, threads, most: room, live })
        } else {
            return Some(plan);
        };
        if self.refused.as_ref().is_none_or(|(other, _)| over < *other) {
            self.refused = Some((over, fault));
        }
        None
    }
}
