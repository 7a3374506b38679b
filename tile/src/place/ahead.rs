//! Loads that a loop issues turns before a product multiplies their tiles, where the threads that multiply load too.
//!
//! Such a tile has a slot of shared memory for each turn that is under way. A turn waits for its own slot, lets the threads meet once, and
//! issues the loads of the last turn under way, into the slot that the turn before has read: by `cp.async`, or, where that cannot copy what
//! the tile is to be, into registers, from which the turn stores it at its end. This takes scalars of a later turn, which are
//! computed twice; they may not depend on what the loop carries.

use std::collections::{BTreeMap, BTreeSet};

use girih_codegen::plan::Dist;

use super::Plan;
use super::access::{WIDEST, aligned, fastest};
use super::exchange::{Exchange, bytes};
use super::pipeline::leaves;
use super::product::{Way, fragments, rows, way};
use super::wgmma::{Products, blocks, choice::Choice, choice::Traced, choice::trace};
use crate::ir::{Array, ArrayId, Def, Func, Kind, Op, OpId, Padding, RegionId, Value};

/// How many turns of a loop are under way where the user says nothing, and memory allows.
const TURNS: i64 = 3;
/// The most words of a thread that wait in registers for the end of a turn, of one tile.
const WAITING: i64 = 32;
/// Bytes of the narrowest `cp.async`.
const NARROWEST: i64 = 4;
/// Slots begin at multiples of this.
const ALIGN: i64 = 128;

/// A tile that is loaded turns ahead.
#[derive(Clone, Debug, PartialEq)]
pub struct Early {
    /// The axis along which elements lie in a row.
    pub fast: usize,
    /// Elements of a copy at the most.
    pub vector: i64,
    /// Whether `cp.async` copies it, or why it goes through registers.
    pub copied: Result<(), String>,
    /// Which thread copies what.
    pub dist: Dist,
    /// Where elements lie by axis, in elements.
    pub strides: Vec<i64>,
    /// The extents that products read: beyond the tile's there are zeros.
    pub covered: Vec<i64>,
    /// Where it begins in a slot.
    pub start: i64,
}

/// The loads of a loop that are turns ahead.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rounds {
    /// The loads.
    pub loads: Vec<OpId>,
    /// The operations of the loop's body that say where tiles begin, in their order.
    pub scalars: Vec<OpId>,
    /// Turns that have a slot: the one that multiplies, and those that are loaded.
    pub stages: i64,
    /// Bytes of a slot.
    pub bytes: i64,
}

/// What is loaded turns ahead.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ahead {
    /// The loops.
    pub loops: BTreeMap<OpId, Rounds>,
    /// The loads.
    pub loads: BTreeMap<OpId, Early>,
    /// Operations that give such a tile other axes.
    pub views: BTreeSet<OpId>,
    /// Why other loads of products in loops are where they stand.
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
            if let Some(Traced { load, axes, .. }) = trace(func, func.op(product).operands[at]) {
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

/// How many turns a loop has, if that is known.
fn turns(func: &Func, op: &Op) -> Option<i64> {
    let number = |at: usize| match func.value(op.operands[at]).def {
        Def::Result(id, _) => match func.op(id).kind {
            Kind::Full(bits) => Some(match func.ty(op.operands[at]).dtype.bits() {
                32 => i64::from(bits as i32),
                _ => bits as i64,
            }),
            _ => None,
        },
        Def::Argument(..) => None,
    };
    let (start, stop, step) = (number(0)?, number(1)?, number(2)?);
    let all = stop.checked_sub(start)?.max(0);
    (step > 0).then(|| all / step + i64::from(all % step > 0))
}

/// The operations of a loop's body by which it is known where a load's tile begins.
struct Slice<'a> {
    func: &'a Func,
    body: RegionId,
    own: &'a BTreeSet<OpId>,
    found: BTreeSet<OpId>,
    work: Vec<Value>,
}

impl Slice<'_> {
    fn array(&mut self, array: ArrayId) {
        if let Array::Slice { of, start, stop, .. } = self.func.arrays()[array.index()] {
            self.work.extend([start, stop]);
            self.array(of);
        }
    }

    fn operation(&mut self, id: OpId) {
        let op = self.func.op(id);
        self.work.extend(&op.operands);
        match &op.kind {
            Kind::Dim(array, _) => self.array(*array),
            kind => kind.array().into_iter().for_each(|array| self.array(array)),
        }
    }

    fn close(&mut self) -> Result<(), String> {
        while let Some(value) = self.work.pop() {
            let ty = self.func.ty(value);
            let why = |what: &str| format!("where it begins depends on %{} {ty}{what}", value.0);
            match self.func.value(value).def {
                Def::Argument(region, at) if region == self.body && at > 0 => {
                    return Err(why(", which the loop carries"));
                }
                Def::Argument(..) => {}
                Def::Result(id, _) if !self.own.contains(&id) => {}
                Def::Result(id, _) => {
                    let op = self.func.op(id);
                    let simple = match &op.kind {
                        Kind::Full(_)
                        | Kind::Dense(_)
                        | Kind::Iota
                        | Kind::Bid(_)
                        | Kind::NumBlocks(_)
                        | Kind::Dim(..)
                        | Kind::Param(_)
                        | Kind::Each { .. }
                        | Kind::Cast(_)
                        | Kind::Bitcast
                        | Kind::Broadcast
                        | Kind::Permute(_)
                        | Kind::Reshape
                        | Kind::Convert => true,
                        Kind::Load(_) | Kind::Gather(_) => self.func.is_pure(&op.kind),
                        Kind::Reduce { .. } => op.regions.is_empty(),
                        _ => false,
                    };
                    let one = |value: &Value| self.func.ty(*value).dims.size() == 1;
                    if !simple || ty.dims.size() != 1 || !op.operands.iter().all(one) {
                        return Err(why(""));
                    }
                    if self.found.insert(id) {
                        self.operation(id);
                    }
                }
            }
        }
        Ok(())
    }
}

/// The operations of a loop's body that loads of it need, in their order.
fn scalars(func: &Func, body: RegionId, loads: &[OpId]) -> Result<Vec<OpId>, String> {
    let own: BTreeSet<OpId> = func.region(body).ops.iter().copied().collect();
    let mut slice = Slice { func, body, own: &own, found: BTreeSet::new(), work: Vec::new() };
    loads.iter().for_each(|&load| slice.operation(load));
    slice.close()?;
    let found = slice.found;
    Ok(func.region(body).ops.iter().copied().filter(|id| found.contains(id)).collect())
}

impl Ahead {
    /// Which loads of a function are turns ahead, in blocks of this many threads.
    pub(super) fn choose(func: &Func, sm: u32, threads: u32, products: &Products) -> Ahead {
        let mut ahead = Ahead::default();
        if sm < 80 {
            return ahead;
        }
        let beside = !products.wgmma.is_empty();
        let products = others(func, products);
        let choice = Choice::new(func, sm, threads);
        let readers = readers(func, &products);
        let changed = changed(func, &products);
        let mut loops = Vec::new();
        func.walk(func.body(), &mut |id, op| {
            if op.kind == Kind::For {
                loops.push(id);
            }
        });
        for id in loops {
            let body = func.op(id).regions[0];
            for &load in &func.region(body).ops {
                let Some(readers) = readers.get(&load) else {
                    if changed.contains(&load) {
                        ahead
                            .late
                            .insert(load, "its elements are changed before a product reads them".into());
                    }
                    continue;
                };
                let early = match beside {
                    true => Err(String::from("other products of the kernel are by wgmma")),
                    false => allowed(&choice, sm, id, load, &products),
                };
                match early.and_then(|()| early_of(func, threads, load, readers)) {
                    Ok(early) => {
                        ahead.loads.insert(load, early);
                        ahead.loops.entry(id).or_default().loads.push(load);
                    }
                    Err(why) => drop(ahead.late.insert(load, why)),
                }
            }
        }
        for &product in &products {
            for at in 0..2 {
                if let Some(Traced { load, views, .. }) = trace(func, func.op(product).operands[at])
                    && ahead.loads.contains_key(&load)
                {
                    ahead.views.extend(views);
                }
            }
        }
        ahead
    }

    /// Whether an operation's result lies in shared memory.
    pub(crate) fn is_shared(&self, id: OpId) -> bool {
        self.loads.contains_key(&id) || self.views.contains(&id)
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

/// Whether a load of a loop may be ahead.
fn allowed(
    choice: &Choice<'_>,
    sm: u32,
    around: OpId,
    load: OpId,
    products: &BTreeSet<OpId>,
) -> Result<(), String> {
    let func = choice.func;
    let (op, body) = (func.op(load), func.op(around).regions[0]);
    if choice.feeds(op.results[0], products).is_none() {
        return Err("something else than a product reads it".into());
    }
    if leaves(func, body) {
        return Err("the loop can be left early".into());
    }
    let wanted = wanted(func, sm, func.op(around), &[load]);
    if wanted < 2 {
        return Err(format!("{wanted} turn of the loop is under way at a time"));
    }
    scalars(func, body, &[load]).map(drop)
}

/// The loads whose elements are changed on their way to products.
fn changed(func: &Func, products: &BTreeSet<OpId>) -> BTreeSet<OpId> {
    let mut work: Vec<Value> =
        products.iter().flat_map(|&id| func.op(id).operands[..2].iter().copied()).collect();
    let (mut seen, mut found) = (BTreeSet::new(), BTreeSet::new());
    while let Some(value) = work.pop() {
        let Def::Result(id, _) = func.value(value).def else { continue };
        let op = func.op(id);
        match op.kind {
            Kind::Load(_) => drop(found.insert(id)),
            Kind::Each { .. } | Kind::Cast(_) | Kind::Bitcast | Kind::Broadcast if seen.insert(id) => {
                work.extend(&op.operands);
            }
            Kind::Permute(_) | Kind::Reshape if seen.insert(id) => work.extend(&op.operands),
            _ => {}
        }
    }
    found
}

/// How many turns of a loop are to be under way.
fn wanted(func: &Func, sm: u32, around: &Op, loads: &[OpId]) -> i64 {
    let latency = loads.iter().filter_map(|&load| match &func.op(load).kind {
        Kind::Load(view) => view.latency,
        _ => None,
    });
    let asked = func.hints.resolve(sm).num_stages.map(i64::from);
    let asked = asked.or(latency.max().map(|latency| 1 + i64::from(latency) / 3));
    asked.unwrap_or(TURNS).min(turns(func, around).unwrap_or(i64::MAX))
}

/// How a load gets a tile for products to shared memory.
fn early_of(func: &Func, threads: u32, load: OpId, readers: &[Reader]) -> Result<Early, String> {
    let op = func.op(load);
    let Kind::Load(view) = &op.kind else { return Err("it is no load".into()) };
    let dtype = func.ty(op.results[0]).dtype;
    let axes: Option<Vec<[usize; 2]>> = readers.iter().map(Reader::axes).collect();
    let axes = axes.ok_or("an axis of the matrix is not the array's")?;
    let width = aligned(func, view);
    let contiguous = width.contiguous.filter(|axis| axes.iter().all(|axes| axes.contains(axis)));
    let fast = contiguous.unwrap_or(axes[0][0]);
    if dtype.bits() == 8 && axes.iter().any(|[along, _]| *along != fast) {
        return Err("bytes lie along rows or columns, and are multiplied along K".into());
    }
    let (size, extents) = (bytes(dtype), super::rule::extents(&view.tile));
    let most = if contiguous.is_some() { width.most } else { 1 };
    let vector = most.min(1 << (extents[fast] as u64).next_power_of_two().trailing_zeros());
    // Integers have one zero, and nothing else beside numbers.
    let zero = matches!(view.padding, Padding::Zero | Padding::Undetermined) || !dtype.is_float();
    let copied = match () {
        () if !zero => Err(format!("outside of the array is {:?}: cp.async fills with zeros", view.padding)),
        () if vector * size < NARROWEST => Err(format!(
            "{} bytes at once, since {}: cp.async copies {NARROWEST} and more",
            vector * size,
            width.why
        )),
        () => Ok(()),
    };
    let dist = Dist::blocked(&extents, &fastest(fast, extents.len()), vector, threads.into());
    let waiting = dist.size() as i64 * size.max(if vector == 1 { 4 } else { size }) / 4;
    match &copied {
        Err(why) if waiting > WAITING => {
            Err(format!("{why}; {waiting} registers a thread: {WAITING} may wait"))
        }
        _ => Ok(Early { fast, vector, copied, dist, strides: Vec::new(), covered: extents, start: 0 }),
    }
}

impl Plan {
    /// Gives shared memory to what is loaded turns ahead, or says why there is none.
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
            for load in &rounds.loads {
                let Some(early) = ahead.loads.get_mut(load) else { continue };
                let dtype = func.ty(func.op(*load).results[0]).dtype;
                let (strides, size) = rows(&early.covered, early.fast, bytes(dtype));
                (early.strides, early.start) = (strides, rounds.bytes);
                rounds.bytes += (size + WIDEST - 1) / WIDEST * WIDEST;
            }
            rounds.bytes = (rounds.bytes + ALIGN - 1) / ALIGN * ALIGN;
        }
        let within = ahead.loops.keys().map(|&id| self.scratch(func.op(id).regions[0])).max();
        let room = shared(sm) / blocks(func, sm) - within.unwrap_or(0);
        while ahead.bytes(func, func.body()) > room {
            let most = ahead.loops.values_mut().filter(|rounds| rounds.stages > 2);
            match most.max_by_key(|rounds| rounds.bytes * rounds.stages) {
                Some(rounds) => rounds.stages -= 1,
                None => {
                    let taken = ahead.bytes(func, func.body());
                    return Err(format!("two turns take {taken} bytes of shared memory: {room} are left"));
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
            let Some(early) = ahead.loads.get_mut(&load) else { continue };
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
