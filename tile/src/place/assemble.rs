//! From work distributions to a plan: conversions where an operand has another distribution than the operation asks for.
//!
//! A conversion is right after what defines its operand, once for each distribution, hence outside of loops where it can. Values that
//! cost little are rematerialised instead: constants, numbers along an axis, and what is computed of them and of scalars.

use std::collections::BTreeMap;

use girih_codegen::plan::{Dist, Exchange};

use super::Plan;
use super::candidates::inverse;
use super::cost::{conversion, through_shared};
use super::product::{fragments, in_registers};
use super::rule::{Work, extents, give, wish, work};
use super::wgmma::Products;
use crate::fit;
use crate::ir::{Def, End, Func, Kind, Op, OpId, RegionId, Value, ValueData};

/// How many operations deep a value is rematerialised rather than converted.
pub(crate) const DEEP: u32 = 6;

struct Assembly<'a> {
    /// The function as it was, whose operands are in no other distribution yet.
    from: &'a Func,
    func: Func,
    threads: i64,
    products: Products,
    dists: Vec<Dist>,
    /// Values in another distribution.
    others: BTreeMap<(Value, Dist), Value>,
    /// Operations to be after the definition of a value.
    after: BTreeMap<Value, Vec<OpId>>,
    /// Distributions of what the loops around carry, the outermost first.
    loops: Vec<Vec<Dist>>,
    /// The number of loops around the definition of each value.
    depths: Vec<usize>,
}

/// The plan in which operations have these work distributions: that of an operation, or that of its result of that number for loops and
/// conditions. `None` is for an operand as it comes.
pub(crate) fn assemble(
    func: &Func,
    threads: u32,
    products: Products,
    works: impl Fn(OpId, usize) -> Option<Dist>,
) -> Plan {
    let threads = i64::from(threads);
    let scalar = Dist::scalar(threads);
    let mut assembly = Assembly {
        from: func,
        func: func.clone(),
        threads,
        products,
        dists: vec![scalar; func.value_count()],
        others: BTreeMap::new(),
        after: BTreeMap::new(),
        loops: Vec::new(),
        depths: vec![0; func.value_count()],
    };
    assembly.region(func.body(), &works);
    assembly.finish()
}

impl Assembly<'_> {
    /// The distribution of what nothing asks for in any other.
    fn row_major(&self, value: Option<Value>) -> Dist {
        let extents = value.map(|value| extents(&self.func.ty(value).dims)).unwrap_or_default();
        let order: Vec<usize> = (0..extents.len()).rev().collect();
        Dist::blocked(&extents, &order, 1, self.threads)
    }

    fn covers(&self, value: Value, dist: &Dist) -> bool {
        dist.covers(&extents(&self.func.ty(value).dims))
    }

    fn rank(&self, value: Value) -> usize {
        self.func.ty(value).dims.rank()
    }

    fn region(&mut self, region: RegionId, works: &impl Fn(OpId, usize) -> Option<Dist>) {
        for id in self.func.region(region).ops.clone() {
            self.op(id, works);
        }
    }

    /// The ends below a region that give values to it, or that leave the loop it is the body of.
    fn pass(&mut self, region: RegionId, own: &Vec<Dist>) {
        let end = &self.func.region(region).end;
        let Some(to) = end.target(own, &self.loops).cloned() else { return };
        let values = end.values().to_vec();
        let passed = values.iter().zip(&to).map(|(&value, dist)| self.other(value, dist)).collect();
        match &mut self.func.regions[region.index()].end {
            End::Yield(values) | End::Continue(_, values) | End::Break(_, values) => *values = passed,
            End::Unreachable => {}
        }
    }

    fn op(&mut self, id: OpId, works: &impl Fn(OpId, usize) -> Option<Dist>) {
        let op = self.func.op(id).clone();
        op.results.iter().for_each(|result| self.depths[result.index()] = self.loops.len());
        match work(&self.func, &op) {
            Work::None => {}
            Work::Each => self.control(id, &op, works),
            Work::Result | Work::Operand => {
                let of = if let Work::Operand = work(&self.func, &op) { &op.operands } else { &op.results };
                let dist = self
                    .products
                    .sums(&self.func, id, self.threads)
                    .or_else(|| works(id, 0))
                    .or_else(|| op.operands.first().map(|first| self.dists[first.index()].clone()))
                    .filter(|dist| of.first().is_none_or(|&value| self.covers(value, dist)))
                    .unwrap_or_else(|| self.row_major(of.first().copied()));
                let stay = self.stay(&op, &dist);
                for at in 0..if stay { 0 } else { op.operands.len() } {
                    let own = self.products.need(&self.func, id, at, self.threads);
                    if own.is_none() && self.is_staged(&op, at, &dist) {
                        continue;
                    }
                    if let Some(need) = self.products.wish(&self.func, id, at, &dist) {
                        self.func.ops[id.index()].operands[at] = self.other(op.operands[at], &need);
                    }
                }
                let give = give(&op, &dist);
                for &result in &op.results {
                    if self.rank(result) > 0 {
                        self.dists[result.index()] = give.clone();
                    }
                }
            }
        }
    }

    fn control(&mut self, id: OpId, op: &Op, works: &impl Fn(OpId, usize) -> Option<Dist>) {
        let scalar = Dist::scalar(self.threads);
        let dist = |at: usize, value: Value| {
            if self.rank(value) == 0 {
                scalar.clone()
            } else {
                works(id, at).unwrap_or_else(|| scalar.clone())
            }
        };
        let carried: Vec<Dist> = op.results.iter().enumerate().map(|(at, &value)| dist(at, value)).collect();
        for (&result, dist) in op.results.iter().zip(&carried) {
            self.dists[result.index()] = dist.clone();
        }
        let first = op.kind.bounds();
        if let Some(first) = first {
            for (at, dist) in carried.iter().enumerate() {
                self.func.ops[id.index()].operands[first + at] = self.other(op.operands[first + at], dist);
            }
            self.loops.push(carried.clone());
        }
        for &region in &op.regions {
            let args = self.func.region(region).args.clone();
            args.iter().for_each(|arg| self.depths[arg.index()] = self.loops.len());
            let skip = args.len().saturating_sub(carried.len());
            for (&arg, dist) in args.iter().skip(skip).zip(&carried) {
                self.dists[arg.index()] = dist.clone();
            }
            self.region(region, works);
            self.pass(region, &carried);
        }
        if first.is_some() {
            self.loops.pop();
        }
    }

    /// Whether the operands of an operation stay as they are, since it costs less to take its result from shared memory than to convert them.
    fn stay(&self, op: &Op, work: &Dist) -> bool {
        if !matches!(op.kind, Kind::Cat(_) | Kind::Extract(_)) {
            return false;
        }
        let converted = op.operands.iter().enumerate().map(|(at, &value)| {
            let (ty, from) = (self.func.ty(value), &self.dists[value.index()]);
            let to = wish(&self.func, op, at, work).unwrap_or_else(|| from.clone());
            remade(self.from, value, &to, DEEP)
                .unwrap_or_else(|| conversion(ty, from, &to, self.products.tight))
        });
        converted.sum::<f64>() > through_shared(work)
    }

    /// Whether an operand of an MMA stays as it is, and the MMA puts it into shared memory.
    fn is_staged(&self, op: &Op, at: usize, work: &Dist) -> bool {
        let value = op.operands[at];
        let (Kind::Mma, 0 | 1) = (&op.kind, at) else { return false };
        let (ty, from) = (self.func.ty(value), &self.dists[value.index()]);
        let fragment = &fragments(&self.func, op, work, self.products.sm)[at];
        let around = self.depths[value.index()] < self.loops.len();
        remade(self.from, value, fragment, DEEP).is_none()
            && !in_registers(&ty.dims, ty.dtype, from, fragment, around)
    }

    /// The value in a distribution.
    fn other(&mut self, value: Value, dist: &Dist) -> Value {
        if self.rank(value) == 0 || self.dists[value.index()] == *dist {
            return value;
        }
        if let Some(&other) = self.others.get(&(value, dist.clone())) {
            return other;
        }
        if remade(self.from, value, dist, DEEP).is_some() {
            return self.again(value, dist);
        }
        self.add(value, dist, Kind::Convert, vec![value])
    }

    /// Makes a value again in a distribution; [`remade`] said that this is possible.
    fn again(&mut self, value: Value, dist: &Dist) -> Value {
        let Some(op) = self.from.op_of(value) else { return value };
        let mut operands = op.operands.clone();
        for (at, operand) in operands.iter_mut().enumerate() {
            if let Some(need) = operand_of(self.from, op, at, dist) {
                *operand = self.other(*operand, &need);
            }
        }
        self.add(value, dist, op.kind.clone(), operands)
    }

    fn add(&mut self, value: Value, dist: &Dist, kind: Kind, operands: Vec<Value>) -> Value {
        let (id, result) = (OpId(fit::item(self.func.ops.len())), Value(fit::item(self.func.values.len())));
        let site = self.func.op_of(value).and_then(|op| op.site);
        let ty = self.func.ty(value);
        self.func.values.push(ValueData { ty, def: Def::Result(id, 0) });
        self.func.ops.push(Op { kind, operands, results: vec![result], regions: Vec::new(), site });
        self.dists.push(dist.clone());
        self.after.entry(value).or_default().push(id);
        self.others.insert((value, dist.clone()), result);
        result
    }

    /// Appends what is after a value's definition. What is added for an added value is after that one in turn.
    fn append_after(&self, value: Value, ops: &mut Vec<OpId>) {
        for &id in self.after.get(&value).into_iter().flatten() {
            ops.push(id);
            self.func.op(id).results.iter().for_each(|&result| self.append_after(result, ops));
        }
    }

    fn finish(mut self) -> Plan {
        for region in 0..self.func.regions.len() {
            let (args, old) = (&self.func.regions[region].args, &self.func.regions[region].ops);
            let mut ops = Vec::new();
            args.iter().for_each(|&arg| self.append_after(arg, &mut ops));
            for &id in old {
                ops.push(id);
                self.func.op(id).results.iter().for_each(|&result| self.append_after(result, &mut ops));
            }
            self.func.regions[region].ops = ops;
        }
        sweep(&mut self.func);
        let mut exchanges = BTreeMap::new();
        self.func.walk(self.func.body, &mut |_, op| {
            if let (Kind::Convert, Some(&from), Some(&to)) =
                (&op.kind, op.operands.first(), op.results.first())
            {
                let ty = self.func.ty(to);
                let sides = [&self.dists[from.index()], &self.dists[to.index()]];
                let mut exchange = Exchange::new(&ty.dims, ty.dtype, sides[0], sides[1]);
                if let Some(swizzle) = self.func.pins.get(&from).and_then(|pin| pin.swizzle) {
                    exchange = exchange.with_swizzle(&ty.dims, ty.dtype, sides, swizzle);
                }
                exchanges.insert(to, exchange);
            }
        });
        Plan {
            func: self.func,
            dists: self.dists,
            threads: fit::word(self.threads),
            exchanges,
            products: self.products,
        }
    }
}

/// The distribution of an operand of an operation that is rematerialised.
pub(super) fn operand_of(func: &Func, op: &Op, at: usize, dist: &Dist) -> Option<Dist> {
    match &op.kind {
        Kind::Permute(axes) => Some(dist.permute(&inverse(axes))),
        _ => wish(func, op, at, dist),
    }
}

/// The cost of recomputing a value in a distribution, in issue slots of a warp, if it can be made of constants and scalars in at most `deep`
/// operations one after the other.
pub(crate) fn remade(func: &Func, value: Value, dist: &Dist, deep: u32) -> Option<f64> {
    let dims = func.ty(value).dims;
    if dims.rank() == 0
        || (dims.size() == 1 && dist.vals.is_empty() && dist.bits.iter().all(Option::is_none) && deep < DEEP)
    {
        return Some(0.0);
    }
    let op = func.op_of(value)?;
    let registers = dist.size() as f64;
    let own = match &op.kind {
        Kind::Full(_) => return Some(0.0),
        Kind::Iota => return Some(registers),
        Kind::Each { op, .. } => registers * f64::from(op.row().cost),
        Kind::Cast(_) | Kind::Bitcast => registers,
        Kind::Broadcast | Kind::Permute(_) => 0.0,
        Kind::Reshape => {
            operand_of(func, op, 0, dist)?;
            0.0
        }
        _ => return None,
    };
    let deep = deep.checked_sub(1)?;
    (0..op.operands.len()).try_fold(own, |sum, at| {
        let need = operand_of(func, op, at, dist);
        let need = need.unwrap_or_else(|| Dist::scalar(dist.threads()));
        Some(sum + remade(func, op.operands[at], &need, deep)?)
    })
}

/// Removes pure operations whose results nobody reads.
fn sweep(func: &mut Func) {
    let mut live = vec![false; func.values.len()];
    let read = |live: &mut Vec<bool>, values: &[Value]| values.iter().for_each(|v| live[v.index()] = true);
    for array in &func.arrays {
        if let crate::ir::Array::Slice { start, stop, .. } = array {
            read(&mut live, &[*start, *stop]);
        }
    }
    func.regions.iter().for_each(|region| read(&mut live, region.end.values()));
    // Uses stand after definitions, and operations of inner regions after those that they are in.
    let mut order = Vec::new();
    func.walk(func.body, &mut |id, _| order.push(id));
    let mut dead = vec![false; func.ops.len()];
    for id in order.into_iter().rev() {
        let op = func.op(id);
        if func.is_pure(&op.kind) && !op.results.iter().any(|result| live[result.index()]) {
            dead[id.index()] = true;
        } else {
            read(&mut live, &op.operands);
        }
    }
    func.regions.iter_mut().for_each(|region| region.ops.retain(|id| !dead[id.index()]));
}
