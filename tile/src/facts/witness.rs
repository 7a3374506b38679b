//! Two blocks that access one element, found by trying small grids.

use std::collections::{BTreeSet, HashMap};

use super::access::Access;
use super::check::{axes_used, may_not_meet};
use super::index::{Index, arithmetic};
use super::poly::{Atom, Poly};
use crate::fit;
use crate::ir::table::Each;
use crate::ir::{Kind, Value};

/// One choice of everything that varies.
struct World {
    grid: [i64; 3],
    bid: [i64; 3],
    /// The values of the sizes, which are used in rotation.
    sizes: Vec<i64>,
    iterations: HashMap<Value, i64>,
}

struct Search<'a> {
    index: &'a Index<'a>,
    /// Sizes that expressions name, in order.
    leaves: Vec<Value>,
}

/// Sizes that are tried, for each size that the expressions name in turn.
const SIZES: &[&[i64]] = &[&[4], &[3], &[2], &[5, 3], &[3, 5], &[6, 4], &[2, 7], &[64], &[100], &[1]];

/// Names two blocks that access one element, one of them by a store.
pub(super) fn witness(index: &Index<'_>, group: &[&Access]) -> Option<String> {
    let mut search = Search { index, leaves: Vec::new() };
    let mut iterations = BTreeSet::new();
    for access in group {
        let conditions = index.conditions(access.region);
        for poly in &access.origin {
            search.note(poly, &mut iterations);
        }
        for (value, _) in conditions {
            search.leaf(value);
        }
    }
    let used = axes_used(index.func);
    let iterations: Vec<Atom> = iterations.into_iter().collect();
    for sizes in SIZES {
        for extent in 0..27 {
            let pick = |axis: usize| {
                if used[axis] { [2, 3, 5][extent / 3usize.pow(fit::item(axis)) % 3] } else { 1 }
            };
            let grid = [pick(0), pick(1), pick(2)];
            if let Some(found) = search.grid(group, grid, sizes, &iterations) {
                return Some(found);
            }
        }
    }
    None
}

impl Search<'_> {
    fn note(&mut self, poly: &Poly, iterations: &mut BTreeSet<Atom>) {
        self.sizes(poly);
        poly.all(&mut |atom| {
            if matches!(atom, Atom::Iteration(_) | Atom::Lane(..)) {
                iterations.insert(atom.clone());
            }
            true
        });
        for atom in &*iterations {
            self.index.extents(atom).iter().for_each(|(extent, _)| self.sizes(extent));
        }
    }

    /// Finds the sizes that an expression names.
    fn sizes(&mut self, poly: &Poly) {
        poly.all(&mut |atom| {
            if let Atom::Uniform(value) = atom {
                self.leaf(*value);
            }
            true
        });
    }

    /// Finds the sizes that a value is computed from.
    fn leaf(&mut self, value: Value) {
        let Some(op) = self.index.op_of(value) else { return };
        match &op.kind {
            Kind::Dim(..) | Kind::Param(_) if !self.leaves.contains(&value) => self.leaves.push(value),
            _ => op.operands.clone().into_iter().for_each(|value| self.leaf(value)),
        }
    }

    fn grid(&self, group: &[&Access], grid: [i64; 3], sizes: &[i64], iterations: &[Atom]) -> Option<String> {
        // The block of each tile's access, and whether it is a store.
        let mut seen: HashMap<Vec<i64>, Vec<([i64; 3], &Access)>> = HashMap::new();
        let mut world = World { grid, bid: [0; 3], sizes: sizes.to_vec(), iterations: HashMap::new() };
        for block in 0..grid.iter().product::<i64>() {
            world.bid = [block % grid[0], block / grid[0] % grid[1], block / (grid[0] * grid[1])];
            for mut step in 0..4i64.pow(fit::item(iterations.len().min(3))) {
                world.iterations.clear();
                let mut inside = true;
                for atom in iterations {
                    let iteration = step % 4;
                    step /= 4;
                    let extents = self.index.extents(atom);
                    let bounds = extents.iter().filter_map(|(extent, _)| self.poly(extent, &world));
                    inside &= bounds.min().is_none_or(|extent| iteration < extent);
                    if let Atom::Iteration(value) | Atom::Lane(_, value) = atom {
                        world.iterations.insert(*value, iteration);
                    }
                }
                if !inside {
                    continue;
                }
                for access in group {
                    let holds = |&(value, wanted): &(Value, bool)| {
                        self.value(value, &world).is_none_or(|found| (found != 0) == wanted)
                    };
                    if !self.index.conditions(access.region).iter().all(holds) {
                        continue;
                    }
                    let at: Option<Vec<i64>> =
                        access.origin.iter().map(|poly| self.poly(poly, &world)).collect();
                    let Some(at) = at.filter(|at| at.iter().all(|&n| n >= 0)) else { continue };
                    let met = seen.entry(at.clone()).or_default();
                    let other =
                        met.iter().find(|(bid, other)| *bid != world.bid && may_not_meet(other, access));
                    if let Some(&(bid, other)) = other {
                        return Some(self.text(access, &world, bid, other, &at));
                    }
                    if !met.iter().any(|(bid, other)| *bid == world.bid && other.op == access.op) {
                        met.push((world.bid, access));
                    }
                }
            }
        }
        None
    }

    fn text(&self, access: &Access, world: &World, bid: [i64; 3], other: &Access, at: &[i64]) -> String {
        let how = match (other.stores, access.stores) {
            (true, true) if !other.ordered && !access.ordered => "both store",
            (true, true) => "store, one of them atomically,",
            _ => "load and store",
        };
        let sizes: Vec<String> = self
            .leaves
            .iter()
            .enumerate()
            .map(|(i, &value)| format!("{} = {}", self.index.name(value), world.sizes[i % world.sizes.len()]))
            .collect();
        let with = if sizes.is_empty() { String::new() } else { format!(" with {}", sizes.join(", ")) };
        format!(
            "blocks {bid:?} and {:?} of a grid {:?}{with} {how} the element at {at:?}",
            world.bid, world.grid
        )
    }

    fn poly(&self, poly: &Poly, world: &World) -> Option<i64> {
        poly.of(|n| n, |atom| self.atom(atom, world), arithmetic)
    }

    fn atom(&self, atom: &Atom, world: &World) -> Option<i64> {
        match atom {
            Atom::Bid(axis) => Some(world.bid[usize::from(*axis)]),
            Atom::Blocks(axis) => Some(world.grid[usize::from(*axis)]),
            Atom::Uniform(value) => self.value(*value, world),
            Atom::Iteration(value) | Atom::Lane(_, value) => world.iterations.get(value).copied(),
            Atom::Element(_) | Atom::Which(_) | Atom::Free(_) => Some(0),
            Atom::Div(a, b) => arithmetic(Each::FloorDiv, self.poly(a, world)?, self.poly(b, world)?),
            Atom::Mod(a, b) => arithmetic(Each::Mod, self.poly(a, world)?, self.poly(b, world)?),
            Atom::Min(a, b) => arithmetic(Each::Min, self.poly(a, world)?, self.poly(b, world)?),
            Atom::Max(a, b) => arithmetic(Each::Max, self.poly(a, world)?, self.poly(b, world)?),
        }
    }

    /// The value of a scalar, if it can be computed.
    fn value(&self, value: Value, world: &World) -> Option<i64> {
        if let Some(at) = self.leaves.iter().position(|&leaf| leaf == value) {
            return Some(world.sizes[at % world.sizes.len()]);
        }
        if self.index.argument(value).is_some() {
            return self.poly(&self.index.poly(value), world);
        }
        let func = self.index.func;
        let op = self.index.op_of(value)?;
        let operand = |at: usize| self.value(*op.operands.get(at)?, world);
        match &op.kind {
            Kind::Full(_) => func.number(value),
            Kind::Bid(axis) => Some(world.bid[usize::from(*axis)]),
            Kind::NumBlocks(axis) => Some(world.grid[usize::from(*axis)]),
            Kind::Cast(_) => operand(0),
            Kind::Each { op: each, .. } => match (each, operand(0)?) {
                (Each::Not, x) => Some(i64::from(x == 0)),
                (Each::Neg, x) => Some(-x),
                (each, x) => arithmetic(*each, x, operand(1)?),
            },
            _ => None,
        }
    }
}
