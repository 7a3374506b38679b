//! The rings of a producer: which tiles share a slot, and how many slots (stages) each ring has.

use std::collections::BTreeMap;

use super::super::Plan;
use super::super::scratch::{Arena, FIXED, of_slots};
use super::super::wgmma::SharedTile;
use super::slice::Places;
use super::{Part, Ring};
use crate::ir::{Kind, OpId, RegionId};

/// How many iterations of a loop are in flight where the user says nothing, and memory allows.
const ITERATIONS: i64 = 4;
/// The same of a persistent kernel, whose block has an SM to itself.
const OF_PERSISTENT: i64 = 6;
/// The alignment in bytes of what TMA writes.
const ALIGN: i64 = 128;

/// A ring that is to be.
struct Wish {
    depth: usize,
    bytes: i64,
    step: i64,
    gathered: bool,
    read: bool,
    sites: i64,
    iterations: i64,
    most: i64,
}

/// Where the tiles of a slot begin, and how many bytes it is to the next slot.
fn layout(plan: &Plan, site: &[OpId]) -> (Vec<i64>, i64) {
    let tiles = || site.iter().map(|id| &plan.products.loads[id]);
    let align = |tile: &SharedTile| tile.swizzle.period().max(ALIGN);
    let up = |bytes: i64, align: i64| (bytes + align - 1) / align * align;
    let mut end = 0;
    let begins = tiles().map(|tile| {
        let begin = up(end, align(tile));
        end = begin + tile.bytes();
        begin
    });
    let begins = begins.collect();
    (begins, up(end, tiles().map(align).max().unwrap_or(ALIGN)))
}

/// The loads of each slot, in the order of the program: both tiles of an MMA, all tiles of a region that threads read, or the tile of one load.
pub(super) fn sites(plan: &Plan, places: &Places<'_>, loads: &[OpId]) -> Vec<Vec<OpId>> {
    let place = |id: &OpId| {
        let ops = &plan.func.region(places.regions[id]).ops;
        ops.iter().position(|other| other == id).unwrap_or_default()
    };
    let mut loads: Vec<(RegionId, usize, OpId)> =
        loads.iter().map(|id| (places.regions[id], place(id), *id)).collect();
    loads.sort_unstable();
    let mut sites: Vec<Vec<OpId>> = Vec::new();
    let mut read: BTreeMap<RegionId, usize> = BTreeMap::new();
    for (region, _, id) in loads {
        let fresh = sites.len();
        let is_read = plan.products.read.contains(&id);
        let of_pair = |site: &Vec<OpId>| {
            let one = site[..] == site[..1] && places.regions[&site[0]] == region;
            one && !plan.is_gather(site[0]) && !plan.is_gather(id) && plan.products.is_pair([site[0], id])
        };
        let before = if sites.last().is_some_and(of_pair) { fresh - 1 } else { fresh };
        let at = if is_read { *read.entry(region).or_insert(fresh) } else { before };
        match sites.get_mut(at) {
            Some(site) => site.push(id),
            None => sites.push(vec![id]),
        }
    }
    sites
}

/// Where tiles are that share a slot with others.
pub(super) fn parts(plan: &Plan, sites: &[Vec<OpId>]) -> BTreeMap<OpId, Part> {
    let mut parts = BTreeMap::new();
    for site in sites.iter().filter(|site| site.len() > 1) {
        for (&id, at) in site.iter().zip(layout(plan, site).0) {
            parts.insert(id, Part { at, first: site[0], last: site[site.len() - 1] });
        }
    }
    parts
}

impl Plan {
    /// Sites outside of a loop that load the same tile as a site in it, and are read before the loop begins or begin when it has ended: they take the slots
    /// of the site in the loop, which is given of each. At either side of the loop there is one of each site in it, so that as many slots are
    /// enough.
    pub(super) fn of_loops(
        &self,
        places: &Places<'_>,
        last: &BTreeMap<OpId, Vec<OpId>>,
        sites: &[Vec<OpId>],
    ) -> BTreeMap<usize, usize> {
        let func = &self.func;
        let mut shared = BTreeMap::new();
        for (inside, site) in sites.iter().enumerate() {
            let Some(&around) = places.around(site[0]).first() else { continue };
            if func.op(around).kind != Kind::For {
                continue;
            }
            let ops = &func.region(places.regions[&around]).ops;
            let place = |id: &OpId| ops.iter().position(|other| other == id);
            let Some(of_loop) = place(&around) else { continue };
            let (mut before, mut behind) = (Vec::new(), Vec::new());
            let same = |one: &OpId, other: &OpId| {
                func.op(*one).kind == func.op(*other).kind
                    && self.products.loads.get(one) == self.products.loads.get(other)
            };
            for (at, other) in sites.iter().enumerate() {
                let like = other.len() == site.len() && other.iter().zip(site).all(|(a, b)| same(a, b));
                let (Some(load), Some(end)) = (other.first(), other.last()) else { continue };
                let reader = last.iter().find(|(_, loads)| loads.contains(load)).map(|(reader, _)| reader);
                let reader = reader.or_else(|| self.products.read.get(end));
                match (place(load), reader.and_then(place)) {
                    (Some(_), Some(read)) if like && read < of_loop => before.push(at),
                    (Some(begin), Some(_)) if like && begin > of_loop => behind.push(at),
                    _ => {}
                }
            }
            for side in [before, behind] {
                if let [site] = side[..] {
                    shared.entry(site).or_insert(inside);
                }
            }
        }
        shared
    }

    /// Rings by size and depth, as many slots as the user asks for and shared memory has; the ring of each load.
    pub(super) fn rings(
        &self,
        places: &Places<'_>,
        sites: &[Vec<OpId>],
        shared: &BTreeMap<usize, usize>,
        sm: u32,
    ) -> Result<(Vec<Ring>, BTreeMap<OpId, usize>), String> {
        let stages = self.func.hints.resolve(sm).num_stages.map(i64::from);
        let mut wishes: Vec<Wish> = Vec::new();
        let mut of = BTreeMap::new();
        let mut found: BTreeMap<(usize, Option<OpId>), i64> = BTreeMap::new();
        for (number, site) in sites.iter().enumerate().filter(|(number, _)| !shared.contains_key(number)) {
            let tiles = || site.iter().map(|id| &self.products.loads[id]);
            let loops = places.loops(site[0]);
            let (depth, gathered) = (loops.len(), self.is_gather(site[0]));
            let read = self.products.read.contains(&site[0]);
            let bytes = tiles().map(|tile| tile.bytes()).sum();
            let (_, step) = layout(self, site);
            let key = (depth, bytes, gathered, read);
            let known =
                |wish: &Wish| (wish.depth, wish.bytes, wish.gathered, wish.read) == key && wish.step == step;
            let ring = wishes.iter().position(known).unwrap_or_else(|| {
                wishes.push(Wish { depth, bytes, step, gathered, read, sites: 0, iterations: 1, most: 1 });
                wishes.len() - 1
            });
            of.insert(number, ring);
            let here = found.entry((ring, loops.first().copied())).or_default();
            *here += 1;
            let wish = &mut wishes[ring];
            wish.sites = wish.sites.max(*here);
            // A tile that a block loads once has one slot, whose descriptors are constants in the loops within.
            if depth > usize::from(self.func.is_persistent()) {
                let latency = tiles().filter_map(|tile| tile.latency).max();
                let usual = if self.func.is_persistent() { OF_PERSISTENT } else { ITERATIONS };
                let iterations = latency.map_or(usual, |latency| 1 + i64::from(latency) / 3);
                wish.most = wish.most.max(stages.unwrap_or(iterations));
            }
        }
        for (&site, inside) in shared {
            of.insert(site, of[inside]);
        }
        self.give_slots(&mut wishes, sm)?;
        let rings = wishes.iter().map(|wish| Ring {
            bytes: wish.bytes,
            step: wish.step,
            slots: wish.sites * wish.iterations,
            iterations: wish.iterations,
            gathered: wish.gathered,
            read: wish.read,
        });
        let of = of.into_iter().flat_map(|(site, ring)| sites[site].iter().map(move |&id| (id, ring)));
        Ok((rings.collect(), of.collect()))
    }

    /// Gives as many iterations to rings as they want and there is room for.
    fn give_slots(&self, wishes: &mut [Wish], sm: u32) -> Result<(), String> {
        let room = super::super::ahead::shared(sm) / super::super::wgmma::blocks(&self.func, sm)
            - FIXED
            - self.products.ahead.least(&self.func)
            - self.scratch(self.func.body());
        // Tiles that threads store are before the rings.
        let arena = self.products.arena();
        let taken = |wishes: &[Wish]| {
            let mut arena = Arena { bytes: arena.bytes, ..Arena::default() };
            let mut slots = 0;
            for wish in wishes {
                arena.take(wish.step * wish.sites * wish.iterations);
                slots += wish.sites * wish.iterations;
            }
            arena.bytes + of_slots(slots)
        };
        if taken(wishes) > room {
            return Err(format!("{} bytes of tiles: {room} are left", taken(wishes)));
        }
        // The innermost loops first.
        loop {
            let mut more: Vec<usize> =
                (0..wishes.len()).filter(|&at| wishes[at].iterations < wishes[at].most).collect();
            more.sort_by_key(|&at| (usize::MAX - wishes[at].depth, wishes[at].iterations));
            let next = more.into_iter().find(|&at| {
                wishes[at].iterations += 1;
                let fits = taken(wishes) <= room;
                wishes[at].iterations -= 1;
                fits
            });
            let Some(at) = next else { break };
            wishes[at].iterations += 1;
        }
        if !self.products.stores.is_empty() && wishes.iter().any(|wish| wish.iterations < wish.most.min(2)) {
            return Err("what tensor copies store from leaves no room for a second stage".into());
        }
        Ok(())
    }
}
