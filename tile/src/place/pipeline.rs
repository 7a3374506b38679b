//! The producer pipeline: one warpgroup loads tiles into shared memory for the consumer warpgroups, by TMA, and gathered rows by `cp.async`.
//!
//! The producer executes the loads and the scalars that they need. Tiles of equal size at one depth of loops share a
//! ring of slots. The producer fills the slots in program order, and refills a slot after all warpgroups have read it.
//! One thread issues the TMA copies. All threads of the producer copy gathered rows, and each computes the indices of the rows that it
//! copies. Some tiles are read into registers; each warp frees their slots after reading them.
//!
//! # Examples
//! ```
//! use girih_tile::prelude::*;
//!
//! #[kernel]
//! fn product(a: &Array<bf16, 2>, b: &Array<bf16, 2>, c: &mut Array<f32, 2>) {
//!     let mut sums = zeros::<f32>([128, 128]);
//!     for k in 0..cdiv(a.dim(1), 64) {
//!         let left = a.tiles([128, 64]).padding(Padding::Zero).load((bid(0), k));
//!         let right = b.tiles([64, 128]).padding(Padding::Zero).load((k, bid(1)));
//!         sums = mma(left, right, sums);
//!     }
//!     c.tiles_mut([128, 128]).store((bid(0), bid(1)), sums);
//! }
//!
//! // On an sm_90, a warpgroup of its own loads what tensor copies can bring, into slots of rings.
//! let plan = girih_tile::place::place(&product::ir()?, 90)?;
//! let pipeline = &plan.products.pipeline;
//! assert_eq!(plan.block() - plan.threads, if pipeline.rings.is_empty() { 0 } else { 128 });
//! assert!(pipeline.rings.iter().all(|ring| ring.slots >= ring.iterations));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod rings;
mod slice;

use std::collections::{BTreeMap, BTreeSet};

use girih_codegen::plan::{Dist, Exchange};

use self::rings::{parts, sites};
use self::slice::{Places, Slice};
use super::Plan;
use super::wgmma::{KEPT, Products, WARPGROUP, begin, blocks};
use crate::ir::{Kind, OpId, Value};

/// Iterations in flight with which a tile comes while one is multiplied and one is freed.
const STAGES: i64 = 3;
/// Registers of a thread of the producer that copies gathered rows, other than those of tiles: addresses, and numbers of loops.
const OF_COPIES: f64 = 48.0;

/// Slots in shared memory that are filled and freed in turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ring {
    /// Bytes that come to a slot.
    pub bytes: i64,
    /// Bytes from one slot to the next.
    pub step: i64,
    /// Slots.
    pub slots: i64,
    /// How many iterations of a loop they are for.
    pub iterations: i64,
    /// Whether the threads of the producer copy gathered rows to them, rather than TMA.
    pub gathered: bool,
    /// Whether threads read the tiles into registers, rather than MMAs.
    pub read: bool,
}

/// Where a tile is that shares a slot with others, which come, and are read, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Where it begins, in bytes.
    pub at: i64,
    /// The load of the first tile.
    pub first: OpId,
    /// The load of the last tile.
    pub last: OpId,
}

/// The operations of the producer, and the slots of its tiles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pipeline {
    /// The rings.
    pub rings: Vec<Ring>,
    /// The ring of each load that the producer runs.
    pub loads: BTreeMap<OpId, usize>,
    /// Where the tiles of loads are that share a slot.
    pub parts: BTreeMap<OpId, Part>,
    /// The operations that the producer runs.
    pub produced: BTreeSet<OpId>,
    /// The values that it computes.
    pub values: BTreeSet<Value>,
    /// Which of its threads holds what of the tiles among them.
    pub dists: BTreeMap<Value, Dist>,
    /// The operations that it alone runs.
    pub alone: BTreeSet<OpId>,
    /// Registers that its threads keep.
    pub kept: i64,
    /// The loads whose tiles an operation of the same region is the last to read.
    pub last: BTreeMap<OpId, Vec<OpId>>,
    /// The loads whose tiles an operation with regions reads.
    pub inside: BTreeMap<OpId, Vec<OpId>>,
    /// Loads outside of loops whose slots are those of a loop, so that they are filled again.
    pub refilled: BTreeSet<OpId>,
}

impl Pipeline {
    /// Where the tile of a load is in its slot.
    pub(crate) fn part(&self, load: OpId) -> Part {
        self.parts.get(&load).copied().unwrap_or(Part { at: 0, first: load, last: load })
    }

    /// Whether all threads of the producer copy, rather than one that issues TMA copies.
    pub(crate) fn gathers(&self) -> bool {
        self.rings.iter().any(|ring| ring.gathered)
    }
}

impl Plan {
    /// Says which loads and gathers the producer runs, and gives shared memory to them. Loads that it cannot run are the threads' then.
    ///
    /// # Errors
    /// The gathers, and the loads of tiles that threads read, that it cannot run, and why: MMAs are to be chosen without them.
    pub(super) fn pipelined(mut self, sm: u32) -> Result<Plan, BTreeMap<OpId, String>> {
        // Values that nothing reads have been removed.
        let mut live = BTreeSet::new();
        self.func.walk(self.func.body(), &mut |id, _| {
            live.insert(id);
        });
        self.products.keep(&live);
        self.products.keep_stores(&self.func, &self.dists);
        let produced = self.products.loads.iter().filter(|(_, tile)| tile.produced.is_ok());
        let (beside, loads): (Vec<OpId>, Vec<OpId>) = produced
            .map(|(&id, _)| id)
            .partition(|&id| self.is_gather(id) || self.products.read.contains(&id));
        if loads.is_empty() && beside.is_empty() {
            return Ok(self);
        }
        let gathers: Vec<OpId> = beside.iter().copied().filter(|&id| self.is_gather(id)).collect();
        self.products.pipeline.alone = self.alone(&gathers);
        match self.pipeline(&loads, &beside, sm) {
            Ok(pipeline) => self.products.pipeline = pipeline,
            Err(refused) if !beside.is_empty() => return Err(refused),
            Err(refused) => {
                for (load, why) in refused {
                    self.products.loads.entry(load).and_modify(|tile| tile.produced = Err(why));
                }
            }
        }
        self.products.pipeline.kept = self.kept(sm);
        Ok(self)
    }

    /// Whether exchanges of a persistent kernel take the shared memory of a third stage.
    pub(super) fn is_short_of_stages(&self) -> bool {
        let exchanges = self.exchanges.values().any(|exchange| matches!(exchange, Exchange::Shared(_)));
        let most = self.products.pipeline.rings.iter().map(|ring| ring.iterations).max();
        self.func.is_persistent() && exchanges && most.is_some_and(|most| most < STAGES)
    }

    fn is_gather(&self, id: OpId) -> bool {
        matches!(self.func.op(id).kind, Kind::Gather(_))
    }

    /// The operations that compute indices of these gathers alone, which the other threads leave out.
    fn alone(&self, gathers: &[OpId]) -> BTreeSet<OpId> {
        let func = &self.func;
        let (mut order, mut live) = (Vec::new(), BTreeSet::new());
        func.walk(func.body(), &mut |id, _| order.push(id));
        func.regions.iter().for_each(|region| live.extend(region.end.values()));
        let mut alone = BTreeSet::new();
        for id in order.into_iter().rev().filter(|id| !gathers.contains(id)) {
            let op = func.op(id);
            if !gathers.is_empty()
                && func.is_pure(&op.kind)
                && !op.results.iter().any(|result| live.contains(result))
            {
                alone.insert(id);
            } else {
                live.extend(&op.operands);
                let arrays = op.kind.array().into_iter().chain(if let Kind::Dim(array, _) = op.kind {
                    Some(array)
                } else {
                    None
                });
                live.extend(arrays.flat_map(|array| func.slices(array)).flat_map(|(_, bounds)| bounds));
            }
        }
        alone
    }

    /// The pipeline of these loads of MMAs and of what it brings beside, or those that the producer cannot run: all of a kind, or single
    /// ones beside.
    fn pipeline(&self, loads: &[OpId], beside: &[OpId], sm: u32) -> Result<Pipeline, BTreeMap<OpId, String>> {
        let places = Places::of(&self.func);
        let all = [loads, beside].concat();
        let refused = |why: String| -> BTreeMap<OpId, String> {
            let which = if beside.is_empty() { loads } else { beside };
            which.iter().map(|&id| (id, why.clone())).collect()
        };
        let mut slice = Slice::new(&places);
        loads.iter().try_for_each(|&id| slice.produce(id)).map_err(refused)?;
        let mut others = BTreeMap::new();
        for &id in beside {
            let mut more = slice.clone();
            match more.produce(id) {
                Ok(()) => slice = more,
                Err(why) => drop(others.insert(id, why)),
            }
        }
        for &id in beside.iter().filter(|id| self.products.read.contains(id)) {
            if slice.values.contains(&self.func.op(id).results[0]) {
                others.insert(id, "the producer computes where others begin from it".into());
            }
        }
        if !others.is_empty() {
            return Err(others);
        }
        let Slice { ops, values, dists, .. } = slice;
        let of_products: Vec<OpId> =
            all.iter().copied().filter(|id| !self.products.read.contains(id)).collect();
        let (mut last, inside) = readers(&places, &self.products, &of_products);
        let sites = sites(self, &places, &all);
        let shared = self.of_loops(&places, &last, &sites);
        let (rings, of) = self.rings(&places, &sites, &shared, sm).map_err(refused)?;
        let refilled = shared.into_keys().flat_map(|site| sites[site].iter().copied()).collect();
        let parts = parts(self, &sites);
        let frees = |id: &OpId| parts.get(id).is_none_or(|part| part.first == *id);
        last.values_mut().for_each(|loads| loads.retain(frees));
        let alone = self.products.pipeline.alone.clone();
        Ok(Pipeline {
            rings,
            loads: of,
            parts,
            produced: ops,
            values,
            dists,
            alone,
            kept: KEPT,
            last,
            inside,
            refilled,
        })
    }

    /// Registers that a thread of the producer keeps.
    fn kept(&self, sm: u32) -> i64 {
        if !self.products.pipeline.gathers() {
            return KEPT;
        }
        let most = begin(i64::from(self.threads / WARPGROUP) + 1, blocks(&self.func, sm));
        let needed = OF_COPIES + self.of_producer().registers();
        (KEPT..most).step_by(8).find(|&kept| kept as f64 >= needed).unwrap_or(most)
    }

    /// The plan by which the producer computes: each of its threads holds of a tile what it copies the rows of.
    pub(crate) fn of_producer(&self) -> Plan {
        let mut plan = self.clone();
        let pipeline = &mut plan.products.pipeline;
        let scalar = Dist::scalar(WARPGROUP.into());
        plan.dists.fill(scalar);
        plan.threads = WARPGROUP;
        for (value, dist) in &pipeline.dists {
            plan.dists[value.index()] = dist.clone();
        }
        pipeline.alone.clear();
        let names = |(value, _): (&Value, &Exchange)| {
            (*value, Exchange::Rename((0..plan.dists[value.index()].size()).collect()))
        };
        plan.exchanges = plan.exchanges.iter().map(names).collect();
        plan
    }
}

type Readers = BTreeMap<OpId, Vec<OpId>>;

/// The operation of the same region that is the last to read the tile of each load, and the operations with regions that read it.
fn readers(places: &Places<'_>, products: &Products, loads: &[OpId]) -> (Readers, Readers) {
    let func = places.func;
    let (mut last, mut inside) = (Readers::new(), Readers::new());
    for &load in loads {
        let mut names = vec![func.op(load).results[0]];
        let (mut latest, region) = (load, places.regions[&load]);
        func.walk(func.body(), &mut |id, op| {
            if op.operands.iter().any(|operand| names.contains(operand)) {
                if products.views.contains(&id) {
                    names.extend(&op.results);
                }
                // The operation of the load's own region that this one is, or is in.
                let own = std::iter::once(id).chain(places.around(id));
                if let Some(own) = own.into_iter().find(|id| places.regions[id] == region) {
                    latest = own;
                    if own != id {
                        let within = inside.entry(own).or_default();
                        if !within.contains(&load) {
                            within.push(load);
                        }
                    }
                }
            }
        });
        last.entry(latest).or_default().push(load);
    }
    (last, inside)
}
