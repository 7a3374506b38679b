//! How tiles come to shared memory by tensor copies ahead of the warpgroups that multiply them.
//!
//! A warpgroup of its own, the producer, runs the loads and the scalars that these need. Tiles of equal size at one depth of loops share a
//! ring of slots: the producer fills the slots in the order of the program, and a slot is filled again once all warpgroups have read it.
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
//! assert!(pipeline.rings.iter().all(|ring| ring.slots >= ring.turns));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::{BTreeMap, BTreeSet};

use super::Plan;
use super::numbers::computes;
use super::scratch::{Arena, FIXED, of_slots};
use super::wgmma::Products;
use crate::ir::{ArrayId, Def, Func, Kind, OpId, RegionId, Value};

/// How many turns of a loop are under way where the user says nothing, and memory allows.
const TURNS: i64 = 4;

/// Slots in shared memory that are filled and freed in turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ring {
    /// Bytes of a slot.
    pub bytes: i64,
    /// Slots.
    pub slots: i64,
    /// How many turns of a loop they are for.
    pub turns: i64,
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
    /// The loads whose tiles an operation of the same region is the last to read.
    pub last: BTreeMap<OpId, Vec<OpId>>,
    /// The loads whose tiles an operation with regions reads.
    pub inside: BTreeMap<OpId, Vec<OpId>>,
    /// Loads outside of loops whose slots are those of a loop, so that they are filled again.
    pub refilled: BTreeSet<OpId>,
}

/// What is known of where operations stand.
struct Places<'a> {
    func: &'a Func,
    regions: BTreeMap<OpId, RegionId>,
    /// The operation that a region belongs to.
    owners: BTreeMap<RegionId, OpId>,
}

impl Places<'_> {
    fn collect(&mut self, region: RegionId) {
        let func = self.func;
        for &id in &func.region(region).ops {
            self.regions.insert(id, region);
            for &inner in &func.op(id).regions {
                self.owners.insert(inner, id);
                self.collect(inner);
            }
        }
    }

    /// The operations around another, the innermost first.
    fn around(&self, id: OpId) -> Vec<OpId> {
        let owner = |id: &OpId| self.owners.get(self.regions.get(id)?).copied();
        std::iter::successors(owner(&id), owner).collect()
    }

    fn loops(&self, id: OpId) -> Vec<OpId> {
        let is_loop = |id: &OpId| matches!(self.func.op(*id).kind, Kind::For | Kind::Loop);
        self.around(id).into_iter().filter(is_loop).collect()
    }
}

/// The operations and values that the loads need.
struct Slice<'a> {
    places: &'a Places<'a>,
    ops: BTreeSet<OpId>,
    values: BTreeSet<Value>,
    work: Vec<Value>,
}

impl Slice<'_> {
    fn value(&mut self, value: Value) {
        if self.values.insert(value) {
            self.work.push(value);
        }
    }

    fn array(&mut self, array: ArrayId) {
        let func = self.places.func;
        func.slices(array).flat_map(|(_, bounds)| bounds).for_each(|value| self.value(value));
    }

    /// An operation, and what stands around it.
    fn op(&mut self, id: OpId) -> Result<(), String> {
        let func = self.places.func;
        if !self.ops.insert(id) {
            return Ok(());
        }
        let op = func.op(id);
        match &op.kind {
            Kind::For => {
                op.operands[..3].iter().for_each(|&value| self.value(value));
                if op.regions.iter().any(|&region| func.leaves(region)) {
                    return Err("a loop around it can be left early".into());
                }
            }
            Kind::If => self.value(op.operands[0]),
            Kind::Load(view) => {
                self.array(view.array);
                op.operands.iter().for_each(|&value| self.value(value));
            }
            Kind::Gather(at) => {
                self.array(at.array);
                op.operands.iter().for_each(|&value| self.value(value));
            }
            Kind::Dim(array, _) => self.array(*array),
            Kind::Loop => return Err("a loop around it has no range".into()),
            _ => op.operands.iter().for_each(|&value| self.value(value)),
        }
        for around in self.places.around(id) {
            self.op(around)?;
        }
        Ok(())
    }

    fn close(&mut self, is_own: impl Fn(Value) -> bool) -> Result<(), String> {
        let func = self.places.func;
        while let Some(value) = self.work.pop() {
            let ty = func.ty(value);
            if ty.dims.size() != 1 || !is_own(value) {
                return Err(format!("where it begins depends on %{} {ty}", value.0));
            }
            match func.value(value).def {
                Def::Result(id, at) => {
                    let op = func.op(id);
                    let simple = match &op.kind {
                        Kind::For | Kind::If => {
                            self.carried(id, at as usize);
                            true
                        }
                        kind => computes(func, kind),
                    };
                    if !simple {
                        return Err(format!("where it begins depends on %{} {ty}", value.0));
                    }
                    self.op(id)?;
                }
                Def::Argument(region, at) => {
                    let Some(&id) = self.places.owners.get(&region) else { continue };
                    // The first argument of a loop with a range is its number.
                    if func.op(id).kind == Kind::For && at > 0 {
                        self.carried(id, at as usize - 1);
                    }
                    self.op(id)?;
                }
            }
        }
        Ok(())
    }

    /// What a loop carries in one place, or what a condition gives.
    fn carried(&mut self, id: OpId, at: usize) {
        let func = self.places.func;
        let op = func.op(id);
        self.value(op.results[at]);
        for &region in &op.regions {
            let data = func.region(region);
            if op.kind == Kind::For {
                self.value(op.operands[3 + at]);
                self.value(data.args[1 + at]);
            }
            if let Some(&value) = data.end.values().get(at) {
                self.value(value);
            }
        }
    }
}

impl Plan {
    /// Says which loads the producer runs, and gives shared memory to them; others are the threads' then, with the reason.
    pub(super) fn pipelined(mut self, sm: u32) -> Plan {
        // What nothing reads has been left out.
        let mut live = BTreeSet::new();
        self.func.walk(self.func.body(), &mut |id, _| {
            live.insert(id);
        });
        self.products.keep(&live);
        self.products.keep_stores(&self.func, &self.dists);
        let loads: Vec<OpId> =
            self.products.loads.iter().filter(|(_, tile)| tile.tensor.is_ok()).map(|(&id, _)| id).collect();
        if loads.is_empty() {
            return self;
        }
        match self.pipeline(&loads, sm) {
            Ok(pipeline) => self.products.pipeline = pipeline,
            Err(why) => {
                for tile in self.products.loads.values_mut().filter(|tile| tile.tensor.is_ok()) {
                    tile.tensor = Err(why.clone());
                }
            }
        }
        self
    }

    fn pipeline(&self, loads: &[OpId], sm: u32) -> Result<Pipeline, String> {
        let func = &self.func;
        let mut places = Places { func, regions: BTreeMap::new(), owners: BTreeMap::new() };
        places.collect(func.body());
        let mut slice =
            Slice { places: &places, ops: BTreeSet::new(), values: BTreeSet::new(), work: Vec::new() };
        loads.iter().try_for_each(|&id| slice.op(id))?;
        slice.close(|value| self.dist(value).bits.iter().all(Option::is_none))?;
        let Slice { ops, values, .. } = slice;
        let (last, inside) = readers(&places, &self.products, loads);
        let shared = self.of_loops(&places, &last, loads);
        let (rings, of) = self.rings(&places, loads, &shared, sm)?;
        let refilled = shared.into_keys().collect();
        Ok(Pipeline { rings, loads: of, produced: ops, values, last, inside, refilled })
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
            for &load in loads.iter().filter(|load| func.op(**load).kind == func.op(inside).kind) {
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
            turns: i64,
            most: i64,
            bytes: i64,
        }
        let mut wishes: Vec<Wish> = Vec::new();
        let mut of = BTreeMap::new();
        let mut sites: BTreeMap<(usize, Option<OpId>), i64> = BTreeMap::new();
        for &id in loads.iter().filter(|id| !shared.contains_key(id)) {
            let tile = &self.products.loads[&id];
            let loops = places.loops(id);
            let (depth, bytes) = (loops.len(), tile.bytes());
            let ring = wishes.iter().position(|wish| (wish.depth, wish.bytes) == (depth, bytes));
            let ring = ring.unwrap_or_else(|| {
                wishes.push(Wish { depth, sites: 0, turns: 1, most: 1, bytes });
                wishes.len() - 1
            });
            of.insert(id, ring);
            let here = sites.entry((ring, loops.first().copied())).or_default();
            *here += 1;
            let wish = &mut wishes[ring];
            wish.sites = wish.sites.max(*here);
            // A tile that a block loads once has one slot, whose descriptors are constants in the loops within.
            if depth > usize::from(self.func.is_persistent()) {
                let turns = tile.latency.map_or(TURNS, |latency| 1 + i64::from(latency) / 3);
                wish.most = wish.most.max(stages.unwrap_or(turns));
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
                arena.take(wish.bytes * wish.sites * wish.turns);
                slots += wish.sites * wish.turns;
            }
            arena.bytes + of_slots(slots)
        };
        if taken(&wishes) > room {
            return Err(format!("{} bytes of tiles: {room} are left", taken(&wishes)));
        }
        // The innermost loops first.
        loop {
            let mut more: Vec<usize> =
                (0..wishes.len()).filter(|&at| wishes[at].turns < wishes[at].most).collect();
            more.sort_by_key(|&at| (usize::MAX - wishes[at].depth, wishes[at].turns));
            let next = more.into_iter().find(|&at| {
                wishes[at].turns += 1;
                let fits = taken(&wishes) <= room;
                wishes[at].turns -= 1;
                fits
            });
            let Some(at) = next else { break };
            wishes[at].turns += 1;
        }
        if !self.products.stores.is_empty() && wishes.iter().any(|wish| wish.turns < wish.most.min(2)) {
            return Err("what tensor copies store from leaves no room for a second stage".into());
        }
        let rings = wishes
            .iter()
            .map(|wish| Ring { bytes: wish.bytes, slots: wish.sites * wish.turns, turns: wish.turns })
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
