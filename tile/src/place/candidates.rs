//! Candidate distributions by shape: those of efficient loads and stores, and those that follow for related shapes.

use std::collections::{BTreeMap, BTreeSet};

use girih_codegen::plan::{Digit, Dist, LANE_BITS, Leaf, WIDEST, primes};

use super::access::{order, width};
use super::assemble::operand_of;
use super::product::{fragments, of_warps, row_modes};
use super::rule::{extents, give, part, repeated};
use super::wgmma::Products;
use super::wgmma::choice::trace;
use crate::ir::{Dims, Func, Kind, Op, Value};

/// The most distributions of a shape.
const MOST: usize = 10;
/// The most elements that padding may add, by those that a tile has.
const WASTE: f64 = 1.25;
/// Bytes in which global memory moves.
const SECTOR: i64 = 32;

/// A tile as it is dealt out to threads and values.
struct Deal {
    left: Vec<i64>,
    scale: Vec<i64>,
    bits: Vec<Option<(usize, i64)>>,
    vals: Vec<Leaf>,
}

impl Deal {
    fn new(extents: &[i64]) -> Deal {
        Deal { left: extents.to_vec(), scale: vec![1; extents.len()], bits: Vec::new(), vals: Vec::new() }
    }

    fn values(&mut self, mode: usize, n: i64) {
        for extent in primes(n) {
            self.vals.push(Leaf { extent, mode, scale: self.scale[mode] });
            self.scale[mode] *= extent;
        }
        self.left[mode] = (self.left[mode] + n - 1) / n;
    }

    /// Gives up to `most` bits to a mode, while it has elements left and there are fewer than `all`.
    fn bits(&mut self, mode: usize, most: usize, all: usize) {
        let end = all.min(self.bits.len() + most);
        while self.left[mode] > 1 && self.bits.len() < end {
            self.bits.push(Some((mode, self.scale[mode])));
            self.scale[mode] *= 2;
            self.left[mode] = (self.left[mode] + 1) / 2;
        }
    }

    fn finish(mut self, order: &[usize], all: usize) -> Dist {
        self.bits.resize(all, None);
        for &mode in order {
            let left = self.left[mode];
            self.values(mode, left);
        }
        Dist { bits: self.bits, vals: self.vals }
    }
}

/// Threads along the fastest mode in vectors, at most `along` bits of them, then along the others.
fn dealt(extents: &[i64], order: &[usize], vector: i64, along: usize, all: usize) -> Dist {
    let mut deal = Deal::new(extents);
    if let Some(&fast) = order.first() {
        deal.values(fast, vector);
        deal.bits(fast, along, all);
    }
    order.iter().skip(1).chain(order.first()).for_each(|&mode| deal.bits(mode, all, all));
    deal.finish(order, all)
}

/// Lanes along the axis of a reduction, in vectors if it is the fastest mode; warps along the others first.
fn rows(extents: &[i64], order: &[usize], vector: i64, axis: usize, all: usize) -> Dist {
    let mut deal = Deal::new(extents);
    if let Some(&fast) = order.first() {
        deal.values(fast, vector);
    }
    deal.bits(axis, LANE_BITS, all);
    let others = order.iter().filter(|&&mode| mode != axis);
    others.for_each(|&mode| deal.bits(mode, all, all));
    deal.bits(axis, all, all);
    deal.finish(order, all)
}

/// Values along the axis of a scan, lanes along the others, and `along` bits of warps along the axis. `None` where the others have too few
/// elements for that.
fn columns(extents: &[i64], order: &[usize], axis: usize, along: usize, all: usize) -> Option<Dist> {
    let others = order.iter().filter(|&&mode| mode != axis);
    let mut deal = Deal::new(extents);
    deal.values(axis, (extents[axis] + (1 << along) - 1) >> along);
    others.for_each(|&mode| deal.bits(mode, all, all - along));
    let dist = (deal.bits.len() == all - along).then(|| {
        deal.bits(axis, along, all);
        deal.finish(order, all)
    });
    dist.filter(|dist| all - along >= LANE_BITS && dist.bits.iter().all(Option::is_some))
}

/// Rows and columns of an MMA over the threads, so that each has a block of both. `sides` are the rows and the columns that are together.
fn blocks(extents: &[i64], sides: [i64; 2], all: usize) -> Dist {
    let (row, column) = (extents.len() - 2, extents.len() - 1);
    let mut deal = Deal::new(extents);
    deal.values(column, sides[1]);
    deal.values(row, sides[0]);
    deal.bits(column, 3, all);
    deal.bits(row, LANE_BITS - 3, all);
    let order: Vec<usize> = [column, row].into_iter().chain((0..row).rev()).collect();
    order.iter().rev().for_each(|&mode| deal.bits(mode, all, all));
    deal.finish(&order, all)
}

/// Vectors of at most `most` elements along the mode of a matrix that is not `along`, four of them below each other in a thread, so that it has words along both.
fn turned(extents: &[i64], along: usize, most: i64, all: usize) -> Dist {
    let first = extents.len() - 2;
    let other = 2 * first + 1 - along;
    let mut deal = Deal::new(extents);
    deal.values(other, (extents[other] & extents[other].wrapping_neg()).min(most));
    deal.values(along, if extents[along] % 4 == 0 { 4 } else { 1 });
    let order: Vec<usize> = [other, along].into_iter().chain((0..first).rev()).collect();
    order.iter().for_each(|&mode| deal.bits(mode, all, all));
    deal.finish(&order, all)
}

/// The distributions of each shape that are worth trying.
pub(crate) struct Pools {
    pools: BTreeMap<Dims, Vec<Dist>>,
    all: usize,
}

impl Pools {
    /// Of a function, for blocks of this many threads, a power of two.
    pub(crate) fn new(func: &Func, threads: i64, products: &Products) -> Pools {
        let mut pools = Pools { pools: BTreeMap::new(), all: threads.ilog2() as usize };
        let mut axes: BTreeMap<Dims, BTreeSet<usize>> = BTreeMap::new();
        func.walk(func.body(), &mut |_, op| {
            if let Kind::Reduce { axis, .. } = op.kind {
                axes.entry(func.ty(op.operands[0]).dims).or_default().insert(usize::from(axis));
            }
        });
        for &id in products.wgmma.keys() {
            let op = func.op(id);
            for at in 0..op.operands.len() {
                if let Some(Some(dist)) = products.need(func, id, at, threads) {
                    pools.add(&func.ty(op.operands[at]).dims, dist);
                }
            }
        }
        func.walk(func.body(), &mut |id, op| {
            if op.kind == Kind::Mma && !products.wgmma.contains_key(&id) {
                pools.product(func, op, products.sm);
            }
        });
        func.walk(func.body(), &mut |id, op| {
            let (value, view, at) = match &op.kind {
                _ if products.is_shared(id) => return,
                Kind::Load(view) => (op.results[0], view, &op.operands[..]),
                Kind::Store(view) => (op.operands[0], view, &op.operands[1..]),
                _ => return,
            };
            let ty = func.ty(value);
            if ty.dims.rank() > 0 {
                let most = width(func, view, at).most;
                pools.access(&ty.dims, &order(func, view), most, ty.dtype.bytes(), axes.get(&ty.dims));
            }
        });
        // Shapes that nothing is known of.
        let unknown = |pools: &mut Pools, value: Value| {
            let ty = func.ty(value);
            if ty.dims.rank() > 0 && !pools.pools.contains_key(&ty.dims) {
                let order: Vec<usize> = (0..ty.dims.rank()).rev().collect();
                let last = ty.dims.last().map_or(1, |n| i64::from(n & n.wrapping_neg()));
                let most = last.min(WIDEST / ty.dtype.bytes()).max(1);
                pools.access(&ty.dims, &order, most, ty.dtype.bytes(), axes.get(&ty.dims));
            }
        };
        func.walk(func.body(), &mut |_, op| {
            if let Kind::Scan { axis, .. } = op.kind {
                unknown(&mut pools, op.operands[0]);
                pools.scan(&func.ty(op.operands[0]).dims, usize::from(axis));
            }
        });
        pools.propagate(func);
        func.walk(func.body(), &mut |_, op| {
            op.results.iter().chain(&op.operands).for_each(|&value| unknown(&mut pools, value));
        });
        pools.propagate(func);
        pools
    }

    /// The candidate distributions of values of a shape, the likeliest first.
    pub(crate) fn of(&self, dims: &Dims) -> &[Dist] {
        self.pools.get(dims).map_or(&[], Vec::as_slice)
    }

    /// Every distribution, by shape.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Dist> {
        self.pools.values().flatten()
    }

    fn add(&mut self, dims: &Dims, dist: Dist) -> bool {
        let pool = self.pools.entry(*dims).or_default();
        let new = pool.len() < MOST && !pool.contains(&dist) && dist.covers(&extents(dims));
        if new {
            pool.push(dist);
        }
        new
    }

    /// Adds the candidate distributions of the accumulators of an MMA of this shape.
    fn product(&mut self, func: &Func, op: &Op, sm: u32) {
        let dims = &func.ty(op.results[0]).dims;
        for dist in of_warps(func, op, self.all, sm).into_iter().take(4) {
            for (at, fragment) in fragments(func, op, &dist, sm).into_iter().enumerate() {
                // What is computed needs no shared memory where threads compute what they multiply.
                if trace(func, op.operands[at]).is_none() {
                    self.add(&func.ty(op.operands[at]).dims, fragment);
                }
            }
            self.add(dims, dist);
        }
        for which in 0..2 {
            let ty = func.ty(op.operands[which]);
            if let [along] = row_modes(ty.dtype, which, ty.dims.rank())[..] {
                let each = ty.dims.size() as i64 >> self.all >> 2;
                let mut vector = WIDEST.min(1 << each.max(1).ilog2());
                while vector >= 4 {
                    self.add(&ty.dims, turned(&extents(&ty.dims), along, vector, self.all));
                    vector /= 4;
                }
            }
        }
        let extents = extents(dims);
        let each = (extents.iter().product::<i64>() >> self.all).max(1);
        let fits = |sides: &[i64; 2]| {
            let ends = extents.iter().rev().zip(sides.iter().rev());
            sides[0] * sides[1] <= each && ends.clone().all(|(extent, side)| side <= extent)
        };
        let sides = [[4, 4], [2, 4], [4, 2], [2, 2], [1, 4], [1, 2], [2, 1], [1, 1]];
        for sides in sides.into_iter().filter(fits).take(2) {
            self.add(dims, blocks(&extents, sides, self.all));
        }
    }

    fn access(
        &mut self,
        dims: &Dims,
        order: &[usize],
        most: i64,
        bytes: i64,
        axes: Option<&BTreeSet<usize>>,
    ) {
        let (extents, all) = (extents(dims), self.all);
        let fast = order.first().copied().unwrap_or(0);
        let mut found = Vec::new();
        let mut vector = most;
        while vector >= 1 {
            for &axis in axes.into_iter().flatten() {
                found.push(rows(&extents, order, vector, axis, all));
            }
            found.push(dealt(&extents, order, vector, all, all));
            // A sector along the fastest mode, then the others: both ways of a transpose take whole sectors.
            let sector = (SECTOR / (vector * bytes)).max(1).ilog2() as usize;
            if extents.len() > 1 {
                found.push(dealt(&extents, order, vector, sector, all));
                found.push(dealt(&extents, order, vector, sector + 1, all));
            }
            vector /= 2;
        }
        // Those with little padding, the fewest accesses first; of all else that with the least padding.
        let size = extents.iter().product::<i64>() as f64;
        let waste = |dist: &Dist| dist.padded(extents.len()).iter().product::<i64>() as f64 / size;
        let cost = |dist: &Dist| {
            let run = girih_codegen::plan::run(dist, fast).min(most) as f64;
            dist.size() as f64 * (1.0 + 1.0 / run)
        };
        let least = found.iter().map(waste).fold(f64::INFINITY, f64::min);
        found.retain(|dist| waste(dist) <= WASTE.max(least));
        found.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
        found.dedup();
        let room = 5 + self.of(dims).len();
        for dist in found {
            if self.of(dims).len() < room {
                self.add(dims, dist);
            }
        }
    }

    /// Adds the candidate distributions of a scan, those with the fewest warps along its axis first.
    fn scan(&mut self, dims: &Dims, axis: usize) {
        let (extents, all) = (extents(dims), self.all);
        let order: Vec<usize> = (0..extents.len()).rev().collect();
        let found = (0..=all).filter_map(|along| columns(&extents, &order, axis, along, all));
        found.take(4).for_each(|dist| {
            self.add(dims, dist);
        });
    }

    /// Carries distributions through the operations that change shapes, both ways.
    fn propagate(&mut self, func: &Func) {
        let mut steps = Vec::new();
        func.walk(func.body(), &mut |_, op| {
            let carries = matches!(
                op.kind,
                Kind::Broadcast
                    | Kind::Reduce { .. }
                    | Kind::Permute(_)
                    | Kind::Reshape
                    | Kind::Cat(_)
                    | Kind::Extract(_)
            );
            if carries {
                steps.push((op.clone(), func.ty(op.operands[0]).dims, func.ty(op.results[0]).dims));
            }
        });
        // Every round adds a distribution somewhere, or is the last.
        loop {
            let mut more = false;
            for (op, from, to) in &steps {
                let (above, below) = (self.of(from).to_vec(), self.of(to).to_vec());
                for dist in above {
                    more |= result_of(op, [from, to], dist).is_some_and(|dist| self.add(to, dist));
                }
                for dist in below {
                    let own = match op.kind {
                        Kind::Reduce { .. } => None,
                        _ => operand_of(func, op, 0, &dist),
                    };
                    more |= own.is_some_and(|dist| self.add(from, dist));
                }
            }
            if !more {
                return;
            }
        }
    }
}

/// The distribution of a result in which nothing moves, by that of the first operand.
fn result_of(op: &Op, [from, to]: [&Dims; 2], dist: Dist) -> Option<Dist> {
    match &op.kind {
        Kind::Broadcast => None,
        Kind::Reduce { .. } | Kind::Permute(_) => Some(give(op, &dist)),
        Kind::Cat(axis) => repeated(&dist, usize::from(*axis), from[usize::from(*axis)].into(), 2),
        Kind::Extract(_) => {
            let mut modes = (0..from.rank()).filter(|&mode| from[mode] != to[mode]);
            modes.try_fold(dist, |dist, mode| {
                let (own, beyond) = part(&dist, mode, to[mode].into())?;
                beyond.iter().all(|digit| matches!(digit, Digit::Values { .. })).then_some(own)
            })
        }
        _ => dist.reshape(&extents(from), &extents(to)),
    }
}

/// The permutation that undoes another.
pub(crate) fn inverse(axes: &Dims) -> Vec<usize> {
    (0..axes.len()).filter_map(|mode| axes.iter().position(|&axis| axis as usize == mode)).collect()
}
