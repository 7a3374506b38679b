//! Multistage prefetch by the threads that multiply: loads of a product's operands, issued iterations before their tiles are needed.
//!
//! Such a tile has a slot of shared memory for each stage. An iteration waits for its slot, executes one barrier, and
//! issues the loads of the last stage into the slot that the previous iteration has read. The loads use `cp.async`. If `cp.async` cannot produce
//! the tile, they load into registers, and the end of the iteration stores these to the slot. The indices of a later iteration are
//! computed twice, so they must not depend on loop-carried values.
//!
//! An MMA reads its operand from the slot. If an operand is computed from a tile (a cast, a scale, an unpacked integer), the tile is prefetched
//! in the array's dtype, and the threads read it from its slot into registers, in the distribution of the computation.
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
//! // On an sm_80, the threads that multiply load too: both loads are iterations ahead, or it is known why not.
//! let ahead = girih_tile::place::place(&product::ir()?, 80)?.products.ahead;
//! assert_eq!(ahead.loads.len() + ahead.late.len(), 2);
//! assert!(ahead.loops.values().all(|rounds| rounds.stages > 1 && rounds.bytes > 0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod slice;

use std::collections::{BTreeMap, BTreeSet};

use girih_codegen::plan::{Dist, Exchange, fastest};

pub(in crate::place) use self::slice::computed;
pub(crate) use self::slice::feeding;
use self::slice::{iterations, scalars};
use super::Plan;
use super::access::aligned;
use super::product::{Way, fragments, rows, way};
use super::scratch::{FIXED, PATTERN};
use super::wgmma::choice::{Choice, NARROWEST, Traced, trace};
use super::wgmma::{Products, SharedTile, blocks};
use crate::ir::{Func, Kind, Op, OpId, Padding, RegionId};

/// How many iterations of a loop are under way where the user says nothing, and memory allows.
const ITERATIONS: i64 = 3;
/// The most words of a thread that wait in registers for the end of an iteration, of one tile.
const WAITING: i64 = 32;
/// Slots begin at multiples of this, and those with tiles for `wgmma` at multiples of [`PATTERN`].
const ALIGN: i64 = 128;

/// A tile that is loaded iterations ahead.
#[derive(Clone, Debug, PartialEq)]
pub struct Early {
    /// The axis along which elements are in a row.
    pub fast: usize,
    /// Elements of a copy at the most.
    pub vector: i64,
    /// Whether `cp.async` copies it, or why it goes through registers.
    pub copied: Result<(), String>,
    /// Which thread copies what.
    pub dist: Dist,
    /// Where elements are by axis, in elements.
    pub strides: Vec<i64>,
    /// The extents that products read: beyond the tile's there are zeros.
    pub covered: Vec<i64>,
    /// Where it begins in a slot.
    pub start: i64,
    /// How it is laid out for products by `wgmma`, where it is for these.
    pub tile: Option<SharedTile>,
    /// Whether threads read it into registers, to compute an operand from it; else products read it in its slot.
    pub computed: bool,
}

/// The loads of a loop that are iterations ahead.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rounds {
    /// The loads.
    pub loads: Vec<OpId>,
    /// The operations of the loop's body that say where tiles begin, in their order.
    pub scalars: Vec<OpId>,
    /// Iterations that have a slot: the one that multiplies, and those that are loaded.
    pub stages: i64,
    /// Bytes of a slot.
    pub bytes: i64,
    /// What slots and tiles in them begin at multiples of.
    pub align: i64,
}

/// What is loaded iterations ahead.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ahead {
    /// The loops.
    pub loops: BTreeMap<OpId, Rounds>,
    /// The loads.
    pub loads: BTreeMap<OpId, Early>,
    /// Operations that give such a tile other axes.
    pub views: BTreeSet<OpId>,
    /// Why other loads of products in loops are where they are.
    pub late: BTreeMap<OpId, String>,
}

/// Bytes of shared memory that a block may have on an architecture.
pub(crate) fn shared(sm: u32) -> i64 {
    match sm {
        80 | 87 => 163 << 10,
        90 | 100 | 101 | 103 | 110 => 227 << 10,
        _ => 99 << 10,
    }
}

/// An operand of a product that a load gives: the product, which operand, and the load's axis of each of its modes.
struct Reader {
    product: OpId,
    at: usize,
    axes: Vec<Option<usize>>,
}

impl Reader {
    /// The axis of K, and that of rows or columns.
    fn axes(&self) -> Option<[usize; 2]> {
        let rank = self.axes.len();
        let [k, other] = [[rank - 1, rank - 2], [rank - 2, rank - 1]][self.at];
        Some([self.axes[k]?, self.axes[other]?])
    }
}

/// Who reads the tiles of loads.
fn readers(func: &Func, products: &BTreeSet<OpId>) -> BTreeMap<OpId, Vec<Reader>> {
    let mut found: BTreeMap<OpId, Vec<Reader>> = BTreeMap::new();
    for &product in products {
        for at in 0..2 {
            if let Some(Traced { load, axes, .. }) = trace(func, func.op(product).operands[at])
                && matches!(func.op(load).kind, Kind::Load(_))
            {
                found.entry(load).or_default().push(Reader { product, at, axes });
            }
        }
    }
    found
}

/// The products of a function that are not by `wgmma`.
fn others(func: &Func, products: &Products) -> BTreeSet<OpId> {
    let mut found = BTreeSet::new();
    func.walk(func.body(), &mut |id, op| {
        if op.kind == Kind::Mma && !products.wgmma.contains_key(&id) {
            found.insert(id);
        }
    });
    found
}

impl Ahead {
    /// Which loads of a function are iterations ahead, in blocks of this many threads.
    pub(super) fn choose(func: &Func, sm: u32, threads: u32, products: &Products) -> Ahead {
        let mut ahead = Ahead::default();
        if sm < 80 {
            return ahead;
        }
        let by_wgmma: BTreeSet<OpId> = products.wgmma.keys().copied().collect();
        let others = others(func, products);
        let choice = Choice::new(func, sm, threads);
        let readers = readers(func, &others);
        let mut loops = Vec::new();
        func.walk(func.body(), &mut |id, op| {
            if op.kind == Kind::For {
                loops.push(id);
            }
        });
        for id in loops {
            let body = func.op(id).regions[0];
            let computed = computed(func, body);
            for &load in &func.region(body).ops {
                let in_slot = |products: &BTreeSet<OpId>| {
                    let alone = choice.feeds(func.op(load).results[0], products).is_some();
                    alone.then_some(()).ok_or("something else than a product reads it")
                };
                let early = match (products.loads.get(&load), readers.get(&load)) {
                    (Some(tile), _) if tile.produced.is_ok() => continue,
                    (Some(tile), _) => in_slot(&by_wgmma)
                        .map_err(Into::into)
                        .and_then(|()| allowed(func, sm, id, load))
                        .and_then(|()| Early::new(func, threads, load, tile.fast, Some(tile))),
                    (None, Some(readers)) if by_wgmma.is_empty() && in_slot(&others).is_ok() => {
                        allowed(func, sm, id, load)
                            .and_then(|()| row(func, load, readers))
                            .and_then(|fast| Early::new(func, threads, load, fast, None))
                    }
                    (None, Some(_)) => Err("something else than a product reads it".into()),
                    (None, None) if computed.contains(&load) => {
                        allowed(func, sm, id, load).and_then(|()| Early::of_computed(func, threads, load))
                    }
                    (None, None) => continue,
                };
                match early {
                    Ok(early) => {
                        ahead.loads.insert(load, early);
                        ahead.loops.entry(id).or_default().loads.push(load);
                    }
                    Err(why) => drop(ahead.late.insert(load, why)),
                }
            }
            ahead.give_up_where_others_wait(func, id, products);
        }
        for &product in &others {
            for at in 0..2 {
                if let Some(Traced { load, views, .. }) = trace(func, func.op(product).operands[at])
                    && ahead.loads.get(&load).is_some_and(|early| !early.computed)
                {
                    ahead.views.extend(views);
                }
            }
        }
        ahead
    }

    /// Leaves tiles that operands are computed from where they are, if the threads wait for another load of the iteration anyway: nothing is
    /// hidden then, and to read them back takes longer.
    fn give_up_where_others_wait(&mut self, func: &Func, around: OpId, products: &Products) {
        let waits = |id: &OpId| {
            let (op, tile) = (func.op(*id), products.loads.get(id));
            matches!(op.kind, Kind::Load(_) | Kind::Gather(_))
                && func.ty(op.results[0]).dims.size() > 1
                && !self.loads.contains_key(id)
                && tile.is_none_or(|tile| tile.produced.is_err())
        };
        if !func.region(func.op(around).regions[0]).ops.iter().any(waits) {
            return;
        }
        let Some(rounds) = self.loops.get_mut(&around) else { return };
        for load in std::mem::take(&mut rounds.loads) {
            if self.loads[&load].computed {
                self.loads.remove(&load);
                self.late.insert(load, "the threads wait for another load of the iteration anyway".into());
            } else {
                rounds.loads.push(load);
            }
        }
        if rounds.loads.is_empty() {
            self.loops.remove(&around);
        }
    }

    /// The loads of a loop.
    pub(crate) fn of<'a>(&'a self, rounds: &'a Rounds) -> impl Iterator<Item = (OpId, &'a Early)> {
        rounds.loads.iter().filter_map(|&load| Some((load, self.loads.get(&load)?)))
    }

    /// Whether an operation's result is in shared memory.
    pub(crate) fn is_shared(&self, id: OpId) -> bool {
        self.loads.get(&id).is_some_and(|early| !early.computed) || self.views.contains(&id)
    }

    /// Bytes that the stages of all loops take at the least: two of each.
    pub(super) fn least(&self, func: &Func) -> i64 {
        let size = |load: &OpId| {
            let ty = func.ty(func.op(*load).results[0]);
            ty.dims.size() as i64 * ty.dtype.bytes() + ALIGN
        };
        2 * self.loads.keys().map(size).sum::<i64>()
    }

    /// Whether a load's tile waits in registers.
    pub(super) fn waits(&self, id: OpId) -> bool {
        self.loads.get(&id).is_some_and(|early| early.copied.is_err())
    }

    /// Without any, for a reason.
    pub(super) fn refused(self, why: &str) -> Ahead {
        let mut late = self.late;
        self.loads.into_keys().for_each(|load| drop(late.insert(load, why.into())));
        Ahead { late, ..Ahead::default() }
    }

    /// Keeps what is said of these operations.
    pub(super) fn keep(&mut self, live: &BTreeSet<OpId>) {
        self.loads.retain(|id, _| live.contains(id));
        self.late.retain(|id, _| live.contains(id));
        self.views.retain(|id| live.contains(id));
        for rounds in self.loops.values_mut() {
            rounds.loads.retain(|id| live.contains(id));
        }
        self.loops.retain(|id, rounds| live.contains(id) && !rounds.loads.is_empty());
    }
}

/// Whether a load of a loop may be prefetched.
fn allowed(func: &Func, sm: u32, around: OpId, load: OpId) -> Result<(), String> {
    let body = func.op(around).regions[0];
    if func.leaves(body) {
        return Err("the loop can be left early".into());
    }
    let wanted = wanted(func, sm, func.op(around), &[load]);
    if wanted < 2 {
        return Err(format!("the loop has {wanted} stage: two or more prefetch"));
    }
    scalars(func, body, &[load]).map(drop)
}

/// How many iterations of a loop are to be under way.
fn wanted(func: &Func, sm: u32, around: &Op, loads: &[OpId]) -> i64 {
    let latency = loads.iter().filter_map(|&load| match &func.op(load).kind {
        Kind::Load(view) => view.latency,
        _ => None,
    });
    let asked = func.hints.resolve(sm).num_stages.map(i64::from);
    let asked = asked.or(latency.max().map(|latency| 1 + i64::from(latency) / 3));
    asked.unwrap_or(ITERATIONS).min(iterations(func, around).unwrap_or(i64::MAX))
}

/// The axis along which a tile is in rows for products other than by `wgmma`.
fn row(func: &Func, load: OpId, readers: &[Reader]) -> Result<usize, String> {
    let op = func.op(load);
    let Kind::Load(view) = &op.kind else { return Err("it is no load".into()) };
    let axes: Option<Vec<[usize; 2]>> = readers.iter().map(Reader::axes).collect();
    let axes = axes.ok_or("an axis of the matrix is not the array's")?;
    let contiguous = aligned(func, view).contiguous;
    let fast = contiguous.filter(|axis| axes.iter().all(|axes| axes.contains(axis))).unwrap_or(axes[0][0]);
    let bits = func.ty(op.results[0]).dtype.bits();
    if bits == 8 && axes.iter().any(|[along, _]| *along != fast) {
        return Err("bytes lie along rows or columns, and are multiplied along K".into());
    }
    Ok(fast)
}

impl Early {
    /// How a load gets a tile whose rows are along an axis to shared memory.
    fn new(
        func: &Func,
        threads: u32,
        load: OpId,
        fast: usize,
        tile: Option<&SharedTile>,
    ) -> Result<Early, String> {
        let op = func.op(load);
        let Kind::Load(view) = &op.kind else { return Err("it is no load".into()) };
        let dtype = func.ty(op.results[0]).dtype;
        let (size, extents, width) = (dtype.bytes(), super::rule::extents(&view.tile), aligned(func, view));
        let most = if width.contiguous == Some(fast) { width.most } else { 1 };
        let vector = most.min(1 << extents[fast].cast_unsigned().next_power_of_two().trailing_zeros());
        // Integers have one zero, and nothing else beside numbers.
        let zero = matches!(view.padding, Padding::Zero | Padding::Undetermined) || !dtype.is_float();
        let copied = match () {
            () if !zero => {
                Err(format!("outside of the array is {:?}: cp.async fills with zeros", view.padding))
            }
            () if vector * size < NARROWEST => Err(format!(
                "{} bytes at once, since {}: cp.async copies {NARROWEST} and more",
                vector * size,
                width.why
            )),
            () => Ok(()),
        };
        let dist = Dist::blocked(&extents, &fastest(fast, extents.len()), vector, threads.into());
        // Elements that are loaded alone have registers of their own.
        let waiting = dist.size() as i64 * if vector == 1 { size.max(4) } else { size } / 4;
        if let Err(why) = &copied
            && waiting > WAITING
        {
            return Err(format!("{why}; {waiting} registers a thread: {WAITING} may wait"));
        }
        let tile = tile.cloned();
        let (strides, covered) = (Vec::new(), extents);
        Ok(Early { fast, vector, copied, dist, strides, covered, start: 0, tile, computed: false })
    }

    /// How a load gets a tile to shared memory from which threads compute an operand.
    fn of_computed(func: &Func, threads: u32, load: OpId) -> Result<Early, String> {
        let op = func.op(load);
        let Kind::Load(view) = &op.kind else { return Err("it is no load".into()) };
        let fast = aligned(func, view).contiguous.unwrap_or(view.tile.rank() - 1);
        Ok(Early { computed: true, ..Early::new(func, threads, load, fast, None)? })
    }
}

impl Plan {
    /// Gives shared memory to what is loaded iterations ahead, or says why there is none.
    pub(super) fn with_slots(mut self, sm: u32) -> Result<Plan, String> {
        let mut ahead = self.products.ahead.clone();
        if ahead.loops.is_empty() {
            return Ok(self);
        }
        self.cover(&mut ahead, sm);
        let func = &self.func;
        for (&id, rounds) in &mut ahead.loops {
            let body = func.op(id).regions[0];
            rounds.scalars = scalars(func, body, &rounds.loads)?;
            self.replicated(&rounds.scalars)?;
            rounds.stages = wanted(func, sm, func.op(id), &rounds.loads);
            let of_wgmma = |load| ahead.loads.get(load).is_some_and(|early| early.tile.is_some());
            rounds.align = if rounds.loads.iter().any(of_wgmma) { PATTERN } else { ALIGN };
            for load in &rounds.loads {
                let Some(early) = ahead.loads.get_mut(load) else { continue };
                let dtype = func.ty(func.op(*load).results[0]).dtype;
                let (strides, size) = rows(&early.covered, early.fast, dtype.bytes());
                (early.strides, early.start) = (strides, rounds.bytes);
                let size = early.tile.as_ref().map_or(size, SharedTile::bytes);
                rounds.bytes += (size + rounds.align - 1) / rounds.align * rounds.align;
            }
        }
        let within = ahead.loops.keys().map(|&id| self.most_scratch(func.op(id).regions[0])).max();
        let others = within.unwrap_or(0) + self.counters() + self.products.arena().bytes;
        let room = shared(sm) / blocks(func, sm) - FIXED - others;
        while ahead.bytes(func, func.body()) > room {
            let most = ahead.loops.values_mut().filter(|rounds| rounds.stages > 2);
            match most.max_by_key(|rounds| rounds.bytes * rounds.stages) {
                Some(rounds) => rounds.stages -= 1,
                None => {
                    let taken = ahead.bytes(func, func.body());
                    return Err(format!(
                        "two iterations take {taken} bytes of shared memory: {room} are left"
                    ));
                }
            }
        }
        self.products.ahead = ahead;
        Ok(self)
    }

    /// Says how far products read beyond tiles.
    fn cover(&self, ahead: &mut Ahead, sm: u32) {
        let func = &self.func;
        for (load, readers) in readers(func, &others(func, &self.products)) {
            let Some(early) = ahead.loads.get_mut(&load).filter(|early| !early.computed) else { continue };
            for Reader { product, at, axes } in readers {
                let op = func.op(product);
                let sums = self.dist(op.results[0]);
                if way(func, op, sums, sm) == Way::Fma {
                    continue;
                }
                let reach = fragments(func, op, sums, sm)[at].padded(axes.len());
                for (axis, reach) in axes.iter().zip(reach) {
                    if let Some(axis) = *axis {
                        early.covered[axis] = early.covered[axis].max(reach);
                    }
                }
            }
        }
    }

    /// Whether all threads hold the results of these operations, and need no others for them.
    fn replicated(&self, ops: &[OpId]) -> Result<(), String> {
        for &id in ops {
            for &value in &self.func.op(id).results {
                let exchanged =
                    self.exchanges.get(&value).is_some_and(|by| !matches!(by, Exchange::Rename(_)));
                if exchanged || self.dist(value).bits.iter().any(Option::is_some) {
                    return Err(format!("where it begins depends on %{}, which threads share", value.0));
                }
            }
        }
        Ok(())
    }
}

impl Ahead {
    /// Bytes of the slots of a region's loops, where they take the most: those of loops within one another.
    fn bytes(&self, func: &Func, region: RegionId) -> i64 {
        let of = |&id: &OpId| {
            let own = self.loops.get(&id).map_or(0, |rounds| rounds.bytes.saturating_mul(rounds.stages));
            let within = func.op(id).regions.iter().map(|&region| self.bytes(func, region)).max();
            own + within.unwrap_or(0)
        };
        func.region(region).ops.iter().map(of).max().unwrap_or(0)
    }
}
