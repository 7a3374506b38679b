//! The search for the cheapest work distributions.
//!
//! A node is a choice: the work distribution of an operation, or what a loop carries in one place. From every distribution as a seed each
//! node takes the candidate nearest to it; then nodes change one by one, and all that have one candidate together, while that gains.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

use girih_codegen::plan::Dist;

use super::assemble::{DEEP, remade};
use super::candidates::{Pools, inverse};
use super::cost::{conversion, own};
use super::product::{in_registers, row_modes, staging};
use super::rule::{Work, accepts, extents, give, work};
use super::wgmma::Products;
use crate::error::{Code, Error, Fault};
use crate::ir::{Dims, End, Func, Kind, Op, OpId, RegionId, Value};

/// How much more often the body of a loop runs than what stands around it.
const LOOP: f64 = 8.0;
/// Differences of cost that count.
const LEAST: f64 = 1e-9;
/// Seeds that are tried, and those where products say what most tiles are like.
const SEEDS: usize = 12;
const SEEDS_OF_PRODUCTS: usize = 3;

/// A distribution by its number.
type Id = u32;

struct Node {
    candidates: Vec<Id>,
    /// The cost of the operation itself, by candidate.
    own: Vec<f64>,
    /// Values whose conversions depend on the node.
    touches: Vec<usize>,
    /// The shape, if further functions of its elements may join the node.
    joins: Option<Dims>,
}

/// Where the distribution of a value comes from.
#[derive(Clone)]
enum Source {
    Fixed(Id),
    /// A node, and the distribution by the node's candidate.
    Node(usize, Vec<Id>),
}

/// A use of a value: the node that reads it, and what that asks for by candidate.
struct Use {
    node: usize,
    needs: Vec<Option<Id>>,
    /// How often the use runs, and the modes along which elements may lie in a row, if it is a product that puts the value into shared memory
    /// where threads do not have what they need.
    staged: Option<(f64, Vec<usize>)>,
}

/// A hash of a few numbers: nobody chooses them so as to meet.
#[derive(Default)]
struct Mix(u64);

impl Mix {
    fn mix(&mut self, n: u64) {
        self.0 = (self.0.rotate_left(29) ^ n).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

impl Hasher for Mix {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.mix(byte.into()));
    }

    fn write_u32(&mut self, n: u32) {
        self.mix(n.into());
    }

    fn write_usize(&mut self, n: usize) {
        self.mix(n as u64);
    }

    fn finish(&self) -> u64 {
        // The table takes the lowest bits, and multiplication moves differences up.
        self.0 ^ self.0 >> 32
    }
}

struct Problem<'a> {
    func: &'a Func,
    threads: i64,
    products: &'a Products,
    dists: Vec<Dist>,
    ids: BTreeMap<Dist, Id>,
    nodes: Vec<Node>,
    of: BTreeMap<(OpId, usize), usize>,
    /// Work distributions of what whoever reads it makes again.
    remade: BTreeMap<(OpId, usize), Dist>,
    sources: Vec<Source>,
    uses: Vec<Vec<Use>>,
    /// How often the definition of a value runs.
    weights: Vec<f64>,
    /// Conversions priced, by value, from, to.
    priced: HashMap<(usize, Id, Id, usize), f64, BuildHasherDefault<Mix>>,
}

/// The work distributions that cost the least for blocks of this many threads.
pub(crate) fn search(
    func: &Func,
    threads: u32,
    products: &Products,
) -> Result<BTreeMap<(OpId, usize), Dist>, Error> {
    let threads = i64::from(threads);
    let pools = Pools::new(func, threads, products);
    let mut problem = Problem {
        func,
        threads,
        products,
        dists: Vec::new(),
        ids: BTreeMap::new(),
        nodes: Vec::new(),
        of: BTreeMap::new(),
        remade: BTreeMap::new(),
        sources: Vec::new(),
        uses: (0..func.value_count()).map(|_| Vec::new()).collect(),
        weights: vec![1.0; func.value_count()],
        priced: HashMap::default(),
    };
    let scalar = problem.id(&Dist::scalar(threads));
    problem.sources = vec![Source::Fixed(scalar); func.value_count()];
    problem.region(func.body(), &pools, &mut Vec::new(), 1.0)?;
    problem.touch();
    let chosen = problem.solve(&pools);
    let dist = |node: usize| problem.dists[problem.nodes[node].candidates[chosen[node]] as usize].clone();
    let mut works: BTreeMap<_, _> = problem.of.iter().map(|(&at, &node)| (at, dist(node))).collect();
    works.append(&mut problem.remade);
    Ok(works)
}

fn is_each(op: &Op) -> bool {
    matches!(op.kind, Kind::Each { .. } | Kind::Cast(_) | Kind::Bitcast)
}

impl Problem<'_> {
    fn id(&mut self, dist: &Dist) -> Id {
        if let Some(&id) = self.ids.get(dist) {
            return id;
        }
        let id = self.dists.len() as Id;
        self.dists.push(dist.clone());
        self.ids.insert(dist.clone(), id);
        id
    }

    fn node(&mut self, at: (OpId, usize), candidates: &[Dist], own: Vec<f64>) -> usize {
        let candidates = candidates.iter().map(|dist| self.id(dist)).collect();
        self.nodes.push(Node { candidates, own, touches: Vec::new(), joins: None });
        self.of.insert(at, self.nodes.len() - 1);
        self.nodes.len() - 1
    }

    fn region(
        &mut self,
        region: RegionId,
        pools: &Pools,
        loops: &mut Vec<Vec<Option<usize>>>,
        weight: f64,
    ) -> Result<(), Error> {
        let func = self.func;
        for &id in &func.region(region).ops {
            let op = func.op(id);
            op.results.iter().for_each(|result| self.weights[result.index()] = weight);
            match work(func, op) {
                Work::None => {}
                Work::Each => self.control(id, op, pools, loops, weight)?,
                Work::Result | Work::Operand => self.op(id, op, pools, weight)?,
            }
        }
        Ok(())
    }

    fn op(&mut self, id: OpId, op: &Op, pools: &Pools, weight: f64) -> Result<(), Error> {
        let func = self.func;
        let kind = work(func, op);
        let of = if kind == Work::Result { op.results[0] } else { op.operands[0] };
        let dims = func.ty(of).dims;
        let pin =
            op.results.iter().find_map(|result| Some((*result, func.pins().get(result)?.dist.clone()?)));
        if dims.rank() == 0 || self.products.is_shared(id) {
            return Ok(());
        }
        if let (Kind::Permute(axes), None) = (&op.kind, &pin) {
            let axes: Vec<usize> = axes.iter().map(|&axis| axis as usize).collect();
            let source = self.sources[op.operands[0].index()].clone();
            let mut permute = |id: Id| {
                let dist = self.dists[id as usize].permute(&axes);
                self.id(&dist)
            };
            self.sources[op.results[0].index()] = match source {
                Source::Fixed(id) => Source::Fixed(permute(id)),
                Source::Node(node, ids) => Source::Node(node, ids.into_iter().map(permute).collect()),
            };
            return Ok(());
        }
        let mut candidates = self.candidates(op, &dims, pools);
        let sums = self.products.sums(func, id, self.threads);
        if let Some(sums) = sums {
            candidates = vec![sums];
        }
        if let Some((value, pin)) = pin {
            let work = match &op.kind {
                Kind::Permute(axes) => {
                    pin.permute(&inverse(&axes.iter().map(|&axis| axis as usize).collect::<Vec<_>>()))
                }
                _ => pin.clone(),
            };
            let fits = work.threads() == self.threads
                && work.covers(&extents(&dims))
                && accepts(func, op, &work).is_ok()
                && give(op, &work) == pin;
            if !fits {
                let message = format!(
                    "%{} {} is pinned to {pin}: a distribution of {} threads that covers the tile and that the operation takes is \
                     accepted",
                    value.0,
                    func.ty(value),
                    self.threads
                );
                return Err(Error::Place(Fault::new(Code::Shape, message)));
            }
            candidates = vec![work];
        } else if op.results.len() == 1 && remade(func, op.results[0], &candidates[0], DEEP).is_some() {
            // Made again by whoever reads it.
            let fixed = self.id(&candidates[0]);
            self.sources[op.results[0].index()] = Source::Fixed(fixed);
            self.remade.insert((id, 0), candidates.swap_remove(0));
            return Ok(());
        } else if self.join(id, op, &dims, weight) {
            return Ok(());
        }
        let own = |dist: &Dist| match op.kind {
            Kind::Mma => super::product::cost(func, op, dist, self.products.sm),
            _ => own(func, op, dist),
        };
        let own = candidates.iter().map(|dist| weight * own(dist)).collect();
        let node = self.node((id, 0), &candidates, own);
        if is_each(op) && candidates.len() > 1 {
            self.nodes[node].joins = Some(dims);
        }
        for (at, &operand) in op.operands.iter().enumerate() {
            let own = self.products.need(func, id, at, self.threads);
            let need = |dist: &Dist| self.products.wish(func, id, at, dist);
            let needs: Vec<Option<Id>> =
                candidates.iter().map(|dist| need(dist).map(|dist| self.id(&dist))).collect();
            if func.ty(operand).dims.rank() > 0 {
                let ty = func.ty(operand);
                let staged = (op.kind == Kind::Mma && at < 2 && own.is_none())
                    .then(|| (weight, row_modes(ty.dtype, at, ty.dims.rank())));
                self.uses[operand.index()].push(Use { node, needs, staged });
            }
        }
        let gives: Vec<Id> = candidates.iter().map(|dist| self.id(&give(op, dist))).collect();
        for &result in &op.results {
            if func.ty(result).dims.rank() > 0 {
                self.sources[result.index()] = Source::Node(node, gives.clone());
            }
        }
        Ok(())
    }

    /// Gives a function of elements to the node of an operand that is one too: nothing is gained by conversions between them.
    fn join(&mut self, id: OpId, op: &Op, dims: &Dims, weight: f64) -> bool {
        let node = op.operands.iter().find_map(|operand| match &self.sources[operand.index()] {
            Source::Node(node, _) if self.nodes[*node].joins == Some(*dims) => Some(*node),
            _ => None,
        });
        let Some(node) = node.filter(|_| is_each(op)) else { return false };
        let candidates = self.nodes[node].candidates.clone();
        for (at, &candidate) in candidates.iter().enumerate() {
            self.nodes[node].own[at] += weight * own(self.func, op, &self.dists[candidate as usize]);
        }
        for &operand in &op.operands {
            let together = matches!(&self.sources[operand.index()], Source::Node(other, ids) if *other == node && *ids == candidates);
            if self.func.ty(operand).dims.rank() > 0 && !together {
                let needs = candidates.iter().map(|&id| Some(id)).collect();
                self.uses[operand.index()].push(Use { node, needs, staged: None });
            }
        }
        for &result in &op.results {
            self.sources[result.index()] = Source::Node(node, candidates.clone());
        }
        self.of.insert((id, 0), node);
        true
    }

    /// What the operation takes of a shape's pool; at least one.
    fn candidates(&self, op: &Op, dims: &Dims, pools: &Pools) -> Vec<Dist> {
        let mut all = pools.of(dims).to_vec();
        let order: Vec<usize> = (0..dims.rank()).rev().collect();
        match op.kind {
            Kind::Atomic { .. } => all.iter_mut().for_each(|dist| *dist = dist.distinct(0)),
            Kind::Sort { axis, .. } => {
                let axis = usize::from(axis);
                let padded = extents(&dims.with(axis, dims[axis].next_power_of_two()));
                let mut fastest: Vec<usize> = order.iter().copied().filter(|&mode| mode != axis).collect();
                fastest.push(axis);
                all.push(Dist::blocked(&padded, &order, 1, self.threads));
                all.push(Dist::blocked(&padded, &fastest, 1, self.threads));
            }
            _ => {}
        }
        let mut seen = BTreeSet::new();
        all.retain(|dist| accepts(self.func, op, dist).is_ok() && seen.insert(dist.clone()));
        if all.is_empty() {
            all.push(Dist::blocked(&extents(dims), &order, 1, self.threads));
        }
        all
    }

    fn control(
        &mut self,
        id: OpId,
        op: &Op,
        pools: &Pools,
        loops: &mut Vec<Vec<Option<usize>>>,
        weight: f64,
    ) -> Result<(), Error> {
        let func = self.func;
        let mut carried = Vec::new();
        for (at, &result) in op.results.iter().enumerate() {
            let dims = func.ty(result).dims;
            if dims.rank() == 0 {
                carried.push(None);
                continue;
            }
            let mut candidates = pools.of(&dims).to_vec();
            if let Some(pin) = func.pins().get(&result).and_then(|pin| pin.dist.clone()) {
                candidates = vec![pin];
            }
            let node = self.node((id, at), &candidates, vec![0.0; candidates.len()]);
            self.sources[result.index()] = Source::Node(node, self.nodes[node].candidates.clone());
            carried.push(Some(node));
        }
        let first = match op.kind {
            Kind::For => Some(3),
            Kind::Loop => Some(0),
            _ => None,
        };
        if let Some(first) = first {
            self.reads(op.operands.get(first..).unwrap_or_default(), &carried);
            loops.push(carried.clone());
        }
        let inner = if first.is_some() { weight * LOOP } else { weight };
        for &region in &op.regions {
            let args = &func.region(region).args;
            args.iter().for_each(|arg| self.weights[arg.index()] = inner);
            for (&arg, node) in args.iter().skip(args.len().saturating_sub(carried.len())).zip(&carried) {
                if let &Some(node) = node {
                    self.sources[arg.index()] = Source::Node(node, self.nodes[node].candidates.clone());
                }
            }
            self.region(region, pools, loops, inner)?;
            let to = match &func.region(region).end {
                End::Yield(_) => Some(carried.clone()),
                End::Continue(depth, _) | End::Break(depth, _) => {
                    loops.len().checked_sub(1 + *depth as usize).map(|at| loops[at].clone())
                }
                End::Unreachable => None,
            };
            if let Some(to) = to {
                self.reads(func.region(region).end.values(), &to);
            }
        }
        if first.is_some() {
            loops.pop();
        }
        Ok(())
    }

    /// Values that nodes take as they are.
    fn reads(&mut self, values: &[Value], nodes: &[Option<usize>]) {
        for (&value, node) in values.iter().zip(nodes) {
            if let &Some(node) = node {
                let needs = self.nodes[node].candidates.iter().map(|&id| Some(id)).collect();
                self.uses[value.index()].push(Use { node, needs, staged: None });
            }
        }
    }

    fn touch(&mut self) {
        for value in 0..self.uses.len() {
            let mut nodes: Vec<usize> = self.uses[value].iter().map(|reader| reader.node).collect();
            if let (Source::Node(node, _), false) = (&self.sources[value], nodes.is_empty()) {
                nodes.push(*node);
            }
            nodes.sort_unstable();
            nodes.dedup();
            nodes.into_iter().for_each(|node| self.nodes[node].touches.push(value));
        }
    }

    /// The cost of a value's conversions.
    fn converted(&mut self, value: usize, chosen: &[usize]) -> f64 {
        let from = match &self.sources[value] {
            Source::Fixed(id) => *id,
            Source::Node(node, ids) => ids[chosen[*node]],
        };
        let mut sum = 0.0;
        for (i, reader) in self.uses[value].iter().enumerate() {
            let Some(to) = reader.needs[chosen[reader.node]] else { continue };
            let before = &self.uses[value][..i];
            if to == from || before.iter().any(|other| other.needs[chosen[other.node]] == Some(to)) {
                continue;
            }
            let own = self.weights[value];
            let (staged, often) = match &reader.staged {
                &Some((weight, ref rows)) => {
                    let dists = [from, to].map(|id| &self.dists[id as usize]);
                    let ty = self.func.ty(Value(value as u32));
                    let held = in_registers(&ty.dims, ty.dtype, dists[0], dists[1], own < weight);
                    (Some(rows).filter(|_| !held), if held { own } else { weight })
                }
                None => (None, own),
            };
            let price = self
                .priced
                .entry((
                    value,
                    from,
                    to,
                    staged.map_or(0, |rows| rows.iter().map(|mode| 1 << mode).sum::<usize>()),
                ))
                .or_insert_with(|| {
                    let of = Value(value as u32);
                    let (ty, from, to) =
                        (self.func.ty(of), &self.dists[from as usize], &self.dists[to as usize]);
                    let again = remade(self.func, of, to, DEEP);
                    again.unwrap_or_else(|| match staged {
                        Some(rows) => staging(ty.dtype, from, rows),
                        None => conversion(&ty.dims, ty.dtype, from, to),
                    })
                });
            sum += *price * often;
        }
        sum
    }

    /// What the cost of everything that depends on a node is.
    fn around(&mut self, node: usize, chosen: &[usize]) -> f64 {
        let mut sum = self.nodes[node].own[chosen[node]];
        for at in 0..self.nodes[node].touches.len() {
            sum += self.converted(self.nodes[node].touches[at], chosen);
        }
        sum
    }

    fn total(&mut self, chosen: &[usize]) -> f64 {
        let own: f64 = self.nodes.iter().zip(chosen).map(|(node, &at)| node.own[at]).sum();
        own + (0..self.uses.len()).map(|value| self.converted(value, chosen)).sum::<f64>()
    }

    fn solve(&mut self, pools: &Pools) -> Vec<usize> {
        let mut seeds: Vec<Id> = Vec::new();
        for dist in pools.all() {
            let Some(&id) = self.ids.get(dist) else { continue };
            if !seeds.contains(&id) {
                seeds.push(id);
            }
        }
        let nearest = |problem: &Self, seed: Id, node: &Node| {
            let near = |id: Id| {
                let (a, b) = (&problem.dists[id as usize], &problem.dists[seed as usize]);
                let bits = a.bits.iter().zip(&b.bits);
                (id == seed, bits.filter(|(a, b)| a == b || a.is_none()).count())
            };
            let mut best = 0;
            for at in 1..node.candidates.len() {
                if near(node.candidates[at]) > near(node.candidates[best]) {
                    best = at;
                }
            }
            best
        };
        // The seeds that are cheapest as they are go first.
        let mut starts: Vec<(f64, Vec<usize>)> = Vec::new();
        for &seed in &seeds {
            let chosen: Vec<usize> = self.nodes.iter().map(|node| nearest(self, seed, node)).collect();
            if !starts.iter().any(|(_, other)| *other == chosen) {
                starts.push((self.total(&chosen), chosen));
            }
        }
        starts.push((self.total(&vec![0; self.nodes.len()]), vec![0; self.nodes.len()]));
        starts.sort_by(|a, b| a.0.total_cmp(&b.0));
        starts.truncate(if self.products.wgmma.is_empty() { SEEDS } else { SEEDS_OF_PRODUCTS });
        let mut best: Option<(f64, Vec<usize>)> = None;
        for (_, start) in starts {
            let (cost, chosen) = self.descend(start, &seeds);
            if best.as_ref().is_none_or(|(least, _)| cost < least - LEAST) {
                best = Some((cost, chosen));
            }
        }
        best.map(|(_, chosen)| chosen).unwrap_or_default()
    }

    fn descend(&mut self, mut chosen: Vec<usize>, seeds: &[Id]) -> (f64, Vec<usize>) {
        loop {
            let mut moved = false;
            for node in 0..self.nodes.len() {
                let mut best = (self.around(node, &chosen), chosen[node]);
                for at in 0..self.nodes[node].candidates.len() {
                    chosen[node] = at;
                    let cost = self.around(node, &chosen);
                    if cost < best.0 - LEAST {
                        best = (cost, at);
                        moved = true;
                    }
                }
                chosen[node] = best.1;
            }
            let mut least = self.total(&chosen);
            for &seed in seeds {
                let together = |(node, &at): (&Node, &usize)| {
                    node.candidates.iter().position(|&id| id == seed).unwrap_or(at)
                };
                let next: Vec<usize> = self.nodes.iter().zip(&chosen).map(together).collect();
                if next != chosen {
                    let cost = self.total(&next);
                    if cost < least - LEAST {
                        (least, chosen, moved) = (cost, next, true);
                    }
                }
            }
            if !moved {
                return (least, chosen);
            }
        }
    }
}
