//! How tiles come to shared memory ahead of the warpgroups that multiply them: by TMA, and gathered rows by `cp.async`.
//!
//! A warpgroup of its own, the producer, runs the loads and the scalars that these need. Tiles of equal size at one depth of loops share a
//! ring of slots: the producer fills the slots in the order of the program, and a slot is filled again once all warpgroups have read it.
//! One thread issues the TMA copies. Gathers are copied by all threads of the producer, which compute the indices in distributions of their
//! own: each thread those of the rows that it copies.
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

mod slice;

use std::collections::{BTreeMap, BTreeSet};

use girih_codegen::plan::Dist;

use self::slice::{Places, Slice};
use super::Plan;
use super::exchange::Exchange;
use super::scratch::{Arena, FIXED, of_slots};
use super::wgmma::{KEPT, Products, WARPGROUP, begin, blocks};
use crate::ir::{Kind, OpId, Value};

/// How many iterations of a loop are under way where the user says nothing, and memory allows.
const ITERATIONS: i64 = 4;
/// Registers of a thread of the producer that copies gathered rows, besides those of tiles: addresses, and numbers of loops.
const OF_COPIES: f64 = 48.0;

/// Slots in shared memory that are filled and freed in turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ring {
    /// Bytes of a slot.
    pub bytes: i64,
    /// Slots.
    pub slots: i64,
    /// How many iterations of a loop they are for.
    pub iterations: i64,
    /// Whether the threads of the producer copy gathered rows to them, rather than TMA.
    pub gathered: bool,
}

/// What the producer does, and where it puts tiles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pipeline {
    /// The rings.
    pub rings: Vec<Ring>,
    /// The ring of each load that the producer runs.
    pub loads: BTreeMap<OpId, usize>,
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
    /// Whether all threads of the producer copy, rather than one that issues TMA copies.
    pub(crate) fn gathers(&self) -> bool {
        self.rings.iter().any(|ring| ring.gathered)
    }
}

impl Plan {
    /// Says which loads and gathers the producer runs, and gives shared memory to them. Loads that it cannot run are the threads' then.
    ///
    /// # Errors
    /// The gathers that it cannot run, and why: products are to be chosen without them.
    pub(super) fn pipelined(mut self, sm: u32) -> Result<Plan, BTreeMap<OpId, String>> {
        // What nothing reads has been left out.
        let mut live = BTreeSet::new();
        self.func.walk(self.func.body(), &mut |id, _| {
            live.insert(id);
        });
        self.products.keep(&live);
        self.products.keep_stores(&self.func, &self.dists);
        let produced = self.products.loads.iter().filter(|(_, tile)| tile.produced.is_ok());
        let (gathers, loads): (Vec<OpId>, Vec<OpId>) =
            produced.map(|(&id, _)| id).partition(|&id| self.is_gather(id));
        if loads.is_empty() && gathers.is_empty() {
            return Ok(self);
        }
        self.products.pipeline.alone = self.alone(&gathers);
        match self.pipeline(&loads, &gathers, sm) {
            Ok(pipeline) => self.products.pipeline = pipeline,
            Err(refused) if !gathers.is_empty() => return Err(refused),
            Err(refused) => {
                for (load, why) in refused {
                    self.products.loads.entry(load).and_modify(|tile| tile.produced = Err(why));
                }
            }
        }
        self.products.pipeline.kept = self.kept(sm);
        Ok(self)
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

    /// The pipeline of these loads and gathers, or those that the producer cannot run: all of a kind, or single gathers.
    fn pipeline(
        &self,
        loads: &[OpId],
        gathers: &[OpId],
        sm: u32,
    ) -> Result<Pipeline, BTreeMap<OpId, String>> {
        let places = Places::of(&self.func);
        let all = [loads, gathers].concat();
        let refused = |why: String| -> BTreeMap<OpId, String> {
            let which = if gathers.is_empty() { loads } else { gathers };
            which.iter().map(|&id| (id, why.clone())).collect()
        };
        let mut slice = Slice::new(&places);
        loads.iter().try_for_each(|&id| slice.produce(id)).map_err(refused)?;
        let mut others = BTreeMap::new();
        for &id in gathers {
            let mut more = slice.clone();
            match more.produce(id) {
                Ok(()) => slice = more,
                Err(why) => drop(others.insert(id, why)),
            }
        }
        if !others.is_empty() {
            return Err(others);
        }
        let Slice { ops, values, dists, .. } = slice;
        let (last, inside) = readers(&places, &self.products, &all);
        let shared = self.of_loops(&places, &last, &all);
        let (rings, of) = self.rings(&places, &all, &shared, sm).map_err(refused)?;
        let refilled = shared.into_keys().collect();
        let alone = self.products.pipeline.alone.clone();
        Ok(Pipeline {
            rings,
            loads: of,
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

    /// Loads beside a loop that bring what a load in it brings, and are read before the loop begins or begin when it has ended: they take the slots
    /// of the load in the loop, which is given of each. At either side of the loop there is one of each load in it, so that as many slots are enough.
    fn of_loops(
        &self,
        places: &Places<'_>,
        last: &BTreeMap<OpId, Vec<OpId>>,
        loads: &[OpId],
    ) -> BTreeMap<OpId, OpId> {
        let func = &self.func;
        let mut shared = BTreeMap::new();
        for &inside in loads {
            let Some(&around) = places.around(inside).first() else { continue };
            if func.op(around).kind != Kind::For {
                continue;
            }
            let ops = &func.region(places.regions[&around]).ops;
            let place = |id: &OpId| ops.iter().position(|other| other == id);
            let Some(of_loop) = place(&around) else { continue };
            let (mut before, mut behind) = (Vec::new(), Vec::new());
            let tile = |load: OpId| self.products.loads.get(&load);
            let like =
                |load: &&OpId| func.op(**load).kind == func.op(inside).kind && tile(**load) == tile(inside);
            for &load in loads.iter().filter(like) {
                let reader = last.iter().find(|(_, loads)| loads.contains(&load)).map(|(reader, _)| reader);
                match (place(&load), reader.and_then(place)) {
                    (Some(_), Some(read)) if read < of_loop => before.push(load),
                    (Some(at), Some(_)) if at > of_loop => behind.push(load),
                    _ => {}
                }
            }
            for side in [before, behind] {
                if let [load] = side[..] {
                    shared.entry(load).or_insert(inside);
                }
            }
        }
        shared
    }

    /// Rings by size and depth, as many slots as the user asks for and shared memory has.
    fn rings(
        &self,
        places: &Places<'_>,
        loads: &[OpId],
        shared: &BTreeMap<OpId, OpId>,
        sm: u32,
    ) -> Result<(Vec<Ring>, BTreeMap<OpId, usize>), String> {
        let stages = self.func.hints.resolve(sm).num_stages.map(i64::from);
        struct Wish {
            depth: usize,
            sites: i64,
            iterations: i64,
            most: i64,
            bytes: i64,
            gathered: bool,
        }
        let mut wishes: Vec<Wish> = Vec::new();
        let mut of = BTreeMap::new();
        let mut sites: BTreeMap<(usize, Option<OpId>), i64> = BTreeMap::new();
        for &id in loads.iter().filter(|id| !shared.contains_key(id)) {
            let tile = &self.products.loads[&id];
            let loops = places.loops(id);
            let (depth, bytes, gathered) = (loops.len(), tile.bytes(), self.is_gather(id));
            let ring = wishes
                .iter()
                .position(|wish| (wish.depth, wish.bytes, wish.gathered) == (depth, bytes, gathered));
            let ring = ring.unwrap_or_else(|| {
                wishes.push(Wish { depth, sites: 0, iterations: 1, most: 1, bytes, gathered });
                wishes.len() - 1
            });
            of.insert(id, ring);
            let here = sites.entry((ring, loops.first().copied())).or_default();
            *here += 1;
            let wish = &mut wishes[ring];
            wish.sites = wish.sites.max(*here);
            // A tile that a block loads once has one slot, whose descriptors are constants in the loops within.
            if depth > usize::from(self.func.is_persistent()) {
                let iterations = tile.latency.map_or(ITERATIONS, |latency| 1 + i64::from(latency) / 3);
                wish.most = wish.most.max(stages.unwrap_or(iterations));
            }
        }
        for (&load, inside) in shared {
            of.insert(load, of[inside]);
        }
        let room = super::ahead::shared(sm) / super::wgmma::blocks(&self.func, sm)
            - FIXED
            - self.products.ahead.least(&self.func)
            - self.scratch(self.func.body());
        // What threads store stands before the rings.
        let arena = self.products.arena();
        let taken = |wishes: &[Wish]| {
            let mut arena = Arena { bytes: arena.bytes, ..Arena::default() };
            let mut slots = 0;
            for wish in wishes {
                arena.take(wish.bytes * wish.sites * wish.iterations);
                slots += wish.sites * wish.iterations;
            }
            arena.bytes + of_slots(slots)
        };
        if taken(&wishes) > room {
            return Err(format!("{} bytes of tiles: {room} are left", taken(&wishes)));
        }
        // The innermost loops first.
        loop {
            let mut more: Vec<usize> =
                (0..wishes.len()).filter(|&at| wishes[at].iterations < wishes[at].most).collect();
            more.sort_by_key(|&at| (usize::MAX - wishes[at].depth, wishes[at].iterations));
            let next = more.into_iter().find(|&at| {
                wishes[at].iterations += 1;
                let fits = taken(&wishes) <= room;
                wishes[at].iterations -= 1;
                fits
            });
            let Some(at) = next else { break };
            wishes[at].iterations += 1;
        }
        if !self.products.stores.is_empty() && wishes.iter().any(|wish| wish.iterations < wish.most.min(2)) {
            return Err("what tensor copies store from leaves no room for a second stage".into());
        }
        let rings = wishes
            .iter()
            .map(|&Wish { sites, iterations, bytes, gathered, .. }| Ring {
                bytes,
                slots: sites * iterations,
                iterations,
                gathered,
            })
            .collect();
        Ok((rings, of))
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
