//! The notes of an operation in an explanation.

use std::collections::BTreeSet;

use girih_codegen::plan::{Dist, Exchange, WIDEST, run, sectors};

use super::Sizes;
use super::iterations::iterations;
use crate::ir::{Func, Indexed, Kind, OpId, Value, View};
use crate::place::access::{gathered, width};
use crate::place::ahead::{self, Early};
use crate::place::product::Way;
use crate::place::wgmma::{SharedTile, Source, Wgmma};
use crate::place::{Plan, across};

pub(super) fn of(plan: &Plan, id: OpId, sizes: &Sizes, feeding: &BTreeSet<OpId>) -> Vec<String> {
    let op = plan.func.op(id);
    let mut notes = Vec::new();
    let early = plan.products.ahead.loads.get(&id);
    let late = late(plan, id, feeding);
    if let Some(tile) = plan.products.loads.get(&id) {
        let pipeline = &plan.products.pipeline;
        let ring = pipeline.loads.get(&id).and_then(|&ring| pipeline.rings.get(ring));
        let by = match &op.kind {
            Kind::Gather(at) => {
                let size = plan.func.ty(op.results[0]).dtype.bytes();
                let bytes = gathered(&plan.func, at, &op.operands).1 * size;
                format!("cp.async of {bytes} bytes from the producer's warpgroup")
            }
            _ => String::from("TMA"),
        };
        notes.push(shared(tile, &by, ring.map(|ring| ring.slots)));
        match (ring, early) {
            (Some(ring), _) if ring.iterations > 1 => {
                notes.push(format!("prefetched {} ahead by {by}", count(ring.iterations - 1)))
            }
            (_, Some(early)) => notes.push(ahead(plan, id, early)),
            _ => notes.extend(late),
        }
        let read = plan.products.read.contains(&id);
        notes.extend(read.then(|| format!("read into registers, {}", layout(plan, op.results[0]))));
        return notes;
    }
    if let Some(early) = early {
        let mut notes =
            vec![format!("to shared memory, strides {:?}", early.strides), ahead(plan, id, early)];
        notes.extend(early.computed.then(|| format!("read into registers, {}", layout(plan, op.results[0]))));
        return notes;
    }
    if plan.products.is_view(id) {
        return vec![String::from("the same tile in shared memory")];
    }
    if op.kind == Kind::Mma {
        notes.push(product(plan, id));
    }
    match &op.kind {
        Kind::Load(view) => {
            notes.extend(op.results.first().map(|&value| layout(plan, value)));
            notes.extend(op.results.first().map(|&value| access(plan, view, &op.operands, value)));
            notes.extend(late);
        }
        Kind::Gather(at) => {
            notes.push(layout(plan, op.results[0]));
            notes.push(gather(plan, at, &op.operands, op.results[0]));
            notes.extend(late);
        }
        Kind::Store(_) if plan.products.stores.contains_key(&id) => {
            notes.extend(plan.products.stores.get(&id).map(stored));
        }
        Kind::Store(view) => {
            notes.extend(op.operands.split_first().map(|(&value, at)| access(plan, view, at, value)));
        }
        Kind::Reduce { axis, .. } => {
            let (from, axis) = (plan.dist(op.operands[0]), usize::from(*axis));
            let [lanes, warps] = across(from, axis);
            let inside = from.size() / from.slice(axis).size();
            let through = format!(", {} warps through shared memory", 1 << warps);
            let through = if warps > 0 { &through } else { "" };
            notes.push(layout(plan, op.results[0]));
            notes.push(format!("{inside} elements in a thread, {lanes} butterflies{through}"));
        }
        Kind::Convert => {
            notes.push(layout(plan, op.results[0]));
            notes.extend(plan.exchanges.get(&op.results[0]).map(exchange));
        }
        _ => {
            let often = iterations(&plan.func, id, sizes);
            notes.extend(often.map(|often| match often.value {
                Some(often) => count(often),
                None => format!("{} iterations", often.text),
            }));
            let tiles = op.results.iter().filter(|&&result| plan.func.ty(result).dims.rank() > 0);
            notes.extend(tiles.map(|&result| layout(plan, result)));
        }
    }
    notes
}

/// How a TMA copy stores a tile.
fn stored(tile: &SharedTile) -> String {
    let [along, others] = tile.extents;
    format!(
        "by TMA while the threads go on, from {} bytes of shared memory: {others} rows of {along} elements, {:?}",
        tile.bytes(),
        tile.swizzle
    )
}

/// How an MMA is computed.
fn product(plan: &Plan, id: OpId) -> String {
    let Some(Wgmma { atom, operands, warpgroups, sources, layouts, mnk }) = plan.products.wgmma.get(&id)
    else {
        let why = plan.products.refused.get(&id);
        let why = why.map_or("the architecture has none", String::as_str);
        let op = plan.func.op(id);
        let sums = plan.dist(op.results[0]).size();
        let by = match plan.way(id) {
            Way::Fma => format!("by multiply-adds, {sums} sums in each thread"),
            Way::Sync(atom) => {
                let [m, n, k] = atom.shape_mnk;
                format!("by mma.sync m{m}n{n}k{k}, {} blocks in each warp", sums as i64 * 32 / (m * n))
            }
        };
        let [a, b] = plan.in_registers(id).map(|held| if held { "registers" } else { "shared memory" });
        return format!("{by}; A from {a}; B from {b}; not by wgmma: {why}");
    };
    // By the MMA's operands.
    let source = |at: usize| match sources[operands[at]] {
        Source::Registers => String::from("registers"),
        Source::Loaded(_) => format!("shared memory, {}", layouts[operands[at]].name()),
        Source::Stored => format!("registers by way of shared memory, {}", layouts[operands[at]].name()),
    };
    let [m, n, k] = atom.shape_mnk;
    let each = mnk[0] / (64 * warpgroups) * (mnk[1] / n) * (mnk[2] / k);
    let turned = if *operands == [0, 1] { "" } else { " that computes C^T = B^T A^T" };
    format!(
        "by wgmma m{m}n{n}k{k}{turned}, {each} in each of {warpgroups} warpgroups; A from {}; B from {}",
        source(0),
        source(1)
    )
}

fn count(iterations: i64) -> String {
    if iterations == 1 { String::from("1 iteration") } else { format!("{iterations} iterations") }
}

/// The loads and gathers in loops whose elements MMAs multiply, as they are or computed with.
pub(super) fn feeding(func: &Func) -> BTreeSet<OpId> {
    let mut found = BTreeSet::new();
    func.walk(func.body(), &mut |_, op| {
        if matches!(op.kind, Kind::For | Kind::Loop) {
            let mut regions = op.regions.clone();
            while let Some(region) = regions.pop() {
                found.append(&mut ahead::feeding(func, region, |_| true));
                let inner = func.region(region).ops.iter().map(|&id| func.op(id));
                regions.extend(inner.filter(|op| op.kind == Kind::If).flat_map(|op| &op.regions));
            }
        }
    });
    found
}

/// Why a load of an MMA in a loop is not prefetched.
fn late(plan: &Plan, id: OpId, feeding: &BTreeSet<OpId>) -> Option<String> {
    let why = plan
        .products
        .ahead
        .late
        .get(&id)
        .or_else(|| plan.products.refused_loads.get(&id))
        .map(String::as_str);
    let own = match plan.func.op(id).kind {
        Kind::Gather(_) => "a gather has an address for each element",
        Kind::Load(_) => "what is computed from it depends on another product of the iteration",
        _ => return None,
    };
    let why = why.or_else(|| feeding.contains(&id).then_some(own))?;
    Some(format!("not prefetched: {why}"))
}

/// How a gather accesses memory.
fn gather(plan: &Plan, at: &Indexed, indices: &[Value], value: Value) -> String {
    let (dist, dtype) = (plan.dist(value), plan.func.ty(value).dtype);
    let (along, most) = gathered(&plan.func, at, indices);
    let own = run(dist, along);
    let vector = own.min(most);
    let why = match vector * dtype.bytes() {
        WIDEST => String::from("the widest"),
        _ if most == 1 => String::from("its indices do not count along an axis of stride 1"),
        _ if own < most => format!("a thread has {own} in a row"),
        _ => format!("strides, addresses and the first index are multiples of {most} elements"),
    };
    format!("{} accesses of {} bytes ({why})", dist.size() as i64 / vector, vector * dtype.bytes())
}

/// A load that is prefetched by the consumer threads.
fn ahead(plan: &Plan, id: OpId, early: &Early) -> String {
    let loops = &plan.products.ahead.loops;
    let stages = loops.values().find(|rounds| rounds.loads.contains(&id)).map_or(0, |rounds| rounds.stages);
    let size = plan.func.ty(plan.func.op(id).results[0]).dtype.bytes();
    let by = match &early.copied {
        Ok(()) => format!("by cp.async of {} bytes", early.vector * size),
        Err(why) => format!("through registers, since {why}"),
    };
    format!("prefetched {} ahead {by}", count(stages - 1))
}

/// A load to shared memory.
fn shared(tile: &SharedTile, by: &str, slots: Option<i64>) -> String {
    let by = match &tile.produced {
        Ok(()) => format!("by {by}, in a ring of {} slots", slots.unwrap_or(0)),
        Err(why) => format!("by the threads, since {why}"),
    };
    let (row, rows) = (tile.row, tile.extents[1]);
    format!(
        "to {} bytes of shared memory {by}: rows of {row} elements, {rows} below each other, {:?}",
        tile.bytes(),
        tile.swizzle
    )
}

/// A distribution, and the same as a layout.
fn layout(plan: &Plan, value: Value) -> String {
    let (dims, dist): (_, &Dist) = (plan.func.ty(value).dims, plan.dist(value));
    let mut padded = dist.padded(dims.rank());
    padded.iter_mut().zip(dims.iter()).for_each(|(reach, &n)| *reach = (*reach).max(i64::from(n)));
    let lay = dist.lay(&padded).map_or_else(|error| error.to_string(), |lay| lay.to_string());
    let beyond = padded.iter().zip(dims.iter()).any(|(&reach, &n)| reach > i64::from(n));
    let padding = if beyond { format!(", padded to {padded:?}") } else { String::new() };
    format!("{dist}: {lay}, {} a thread{padding}", dist.size())
}

fn access(plan: &Plan, view: &View, at: &[Value], value: Value) -> String {
    let (ty, dist) = (plan.func.ty(value), plan.dist(value));
    let width = width(&plan.func, view, at);
    let bytes = i64::from(ty.dtype.bits().max(8)) / 8;
    let own = width.contiguous.map_or(1, |mode| run(dist, mode));
    let vector = own.min(width.most);
    let why = match vector * bytes {
        WIDEST => String::from("the widest"),
        _ if own <= width.most => format!("a thread has {own} in a row"),
        _ => width.why,
    };
    let inside = if width.whole && vector > 1 { ", in a tile that is inside" } else { "" };
    let taken = sectors(dist, width.contiguous, vector, bytes);
    let active = dist.bits.iter().take(5).flatten().count();
    let least = (((vector * bytes) << active) + 31) / 32;
    format!(
        "{} accesses of {} bytes ({why}{inside}), {taken} sectors for a warp's ({least} at the least)",
        dist.size() as i64 / vector,
        vector * bytes
    )
}

fn exchange(exchange: &Exchange) -> String {
    match exchange {
        Exchange::Rename(_) => "by new names for registers".into(),
        Exchange::Shuffles(shuffles) => {
            let [count, choices] = shuffles.count();
            format!("between the lanes of a warp: {count} shuffles, {choices} selections")
        }
        Exchange::Shared(shared) => format!(
            "through {} bytes of shared memory, strides {:?}, {}: {} stores of {} bytes, {} loads of {} bytes, {} wavefronts ({} at \
             the least)",
            shared.bytes(),
            shared.strides,
            shared.swizzle,
            shared.store.count(),
            shared.store.vector * shared.bytes,
            shared.load.count(),
            shared.load.vector * shared.bytes,
            shared.wavefronts[0],
            shared.wavefronts[1]
        ),
    }
}
