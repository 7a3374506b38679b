//! Software pipelining: an iteration issues its first MMA before the second MMA of the previous iteration, so that
//! tensor cores and threads overlap.
//!
//! The body of the loop has an MMA of loaded tiles, functions of its result, and an MMA of these that adds to the loop-carried accumulator:
//!
//! ```text
//! for n {                              if any {
//!     s = k[n] q                           p = f(k[first] q)
//!     p = f(s)                             for n behind the first {
//!     o = g(o) + p v[n]                        s = k[n] q
//! }                                            o = o + p v[n - 1]
//!                                              p, o = f(s), g(o)
//!                                          }
//!                                          o = o + p v[last]
//!                                      }
//! ```
//!
//! A loop whose MMA multiplies functions of loaded tiles is pipelined in the same way, without a first MMA: `p = f(w[n])`.
//!
//! Every MMA keeps its operands and their order, so results are bitwise equal.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use girih_tensor::DType;

use super::rebuild::{Copy, Pass, rebuild, types};
use super::uses::{dependent, readers, sources};
use super::{dce, fold};
use crate::ir::table::Each;
use crate::ir::{End, Func, Kind, Op, OpId, RegionId, Type, Value};

/// The function with such loops in this order, or `None` if there is none. `may` says of a loop's first products, and of those that are added an iteration
/// later, whether they may be under way at a time; `held` says which operand of a product threads compute.
pub fn overlap(
    func: &Func,
    may: impl Fn(&[OpId], &[OpId]) -> bool,
    held: impl Fn(OpId) -> usize,
) -> Option<Func> {
    let analysis = Analysis { func, readers: readers(func) };
    let mut iterations = BTreeMap::new();
    func.walk(func.body(), &mut |id, op| {
        if op.kind == Kind::For
            && let Some(iteration) = analysis.iteration(op, &may, &held)
        {
            iterations.insert(id, iteration);
        }
    });
    (!iterations.is_empty()).then(|| dce(&fold(&rebuild(func, &mut Overlap { iterations }))))
}

/// The operations of a loop's body by when they run, each list in the order of the program.
struct Iteration {
    /// What the products need that are issued first.
    before: Vec<OpId>,
    /// These products.
    early: Vec<OpId>,
    /// What the products of the iteration before need besides what is carried.
    behind: Vec<OpId>,
    /// These products.
    late: Vec<Late>,
    /// What these multiply that the iteration before has computed.
    multiplied: Vec<Value>,
    /// Functions of the first products, then those that need the accumulators of the others, then what the others of the next iteration multiply.
    rest: [Vec<OpId>; 3],
}

/// A product that comes an iteration later.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Late {
    id: OpId,
    /// The place in which its result is carried.
    at: usize,
    /// The operand that threads compute.
    held: usize,
}

struct Analysis<'a> {
    func: &'a Func,
    readers: HashMap<Value, Vec<Option<OpId>>>,
}

impl Analysis<'_> {
    /// Whether an operation may change its place among others, and has no product within.
    fn moves(&self, id: OpId) -> bool {
        let op = self.func.op(id);
        let inside = |&region: &RegionId| {
            let ops = &self.func.region(region).ops;
            ops.iter().all(|&id| self.func.op(id).kind != Kind::Mma && self.moves(id))
        };
        match op.kind {
            Kind::If => op.regions.iter().all(inside),
            _ => self.func.is_pure(&op.kind),
        }
    }

    /// Whether numbers of a loop's iterations can be counted from the second on, and backwards.
    fn counts(&self, op: &Op) -> bool {
        let dtype = self.func.ty(op.operands[0]).dtype;
        let most = i64::MAX >> (64 - dtype.bits());
        let known = |at: usize| self.func.number(op.operands[at]).filter(|_| dtype.is_signed());
        let [first, step] = [known(0), known(2)];
        match (first, step) {
            (_, Some(1)) => true,
            (Some(first), Some(step)) => first >= 0 && step > 0 && first <= most - step,
            _ => false,
        }
    }

    /// The order of a loop's operations, if it has such a body.
    fn iteration(
        &self,
        op: &Op,
        may: &impl Fn(&[OpId], &[OpId]) -> bool,
        held: &impl Fn(OpId) -> usize,
    ) -> Option<Iteration> {
        let func = self.func;
        let body = op.regions[0];
        let data = func.region(body);
        let End::Continue(0, passed) = &data.end else { return None };
        let carried = &data.args[1..];
        if !self.counts(op) || func.leaves(body) || !data.ops.iter().all(|&id| self.moves(id)) {
            return None;
        }
        let mut late = Vec::new();
        for (at, &value) in passed.iter().enumerate() {
            if let Some(id) = func.maker(value)
                && data.ops.contains(&id)
                && func.op(id).kind == Kind::Mma
                && self.readers.get(&value).is_some_and(|readers| readers.len() == 1)
            {
                late.push(Late { id, at, held: held(id) });
            }
        }
        late.sort_unstable();
        let is_late = |id: &OpId| late.iter().any(|late| late.id == *id);
        let products = data.ops.iter().copied().filter(|id| func.op(*id).kind == Kind::Mma);
        let early: Vec<OpId> = products.filter(|id| !is_late(id)).collect();
        let of_early: Vec<Value> = early.iter().map(|&id| func.op(id).results[0]).collect();
        let varies = dependent(func, &data.ops, carried.iter().copied());
        let behind_products = dependent(func, &data.ops, of_early.iter().copied());
        let computed = || late.iter().map(|late| func.op(late.id).operands[late.held]);
        let loaded = || late.iter().map(|late| func.op(late.id).operands[1 - late.held]);
        let accumulators = late.iter().map(|late| func.op(late.id).operands[2]);
        let follows = |value: Value| match func.maker(value) {
            Some(id) if early.is_empty() => data.ops.contains(&id),
            _ => behind_products.contains(&value),
        };
        let fits = !late.is_empty()
            && may(&early, &late.iter().map(|late| late.id).collect::<Vec<OpId>>())
            && of_early.iter().all(|value| !varies.contains(value))
            && computed().all(follows)
            && loaded().all(|value| !varies.contains(&value) && !behind_products.contains(&value));
        let alone = early.iter().all(|&id| {
            let op = func.op(id);
            op.operands.iter().all(|value| !behind_products.contains(value))
        });
        if !fits || !alone {
            return None;
        }
        let here = |id: OpId| data.ops.contains(&id);
        let ahead = sources(func, &of_early, here);
        let operands_of_late: Vec<Value> = loaded().collect();
        let behind = sources(func, &operands_of_late, here);
        let has_regions = |id: &OpId| !func.op(*id).regions.is_empty();
        if ahead.iter().chain(&behind).any(has_regions) {
            return None;
        }
        let kept = passed.iter().enumerate().filter(|(at, _)| !late.iter().any(|late| late.at == *at));
        let mut ends: Vec<Value> = kept.map(|(_, &value)| value).collect();
        ends.extend(computed().chain(accumulators));
        let rest = sources(func, &ends, here);
        let sums: Vec<Value> = late.iter().map(|late| carried[late.at]).collect();
        let of_sums = dependent(func, &data.ops, sums.iter().copied());
        let is_of_sums = |id: &OpId| func.op(*id).results.iter().any(|value| of_sums.contains(value));
        // What is cast for a product that comes an iteration later takes registers of its own: once sums are there, others are free.
        let (mut last, mut open) = (BTreeSet::new(), computed().collect::<Vec<Value>>());
        while let Some(value) = open.pop() {
            let Some(id) = func.maker(value) else { continue };
            let is_own =
                |reader: &Option<OpId>| reader.as_ref().is_some_and(|id| is_late(id) || last.contains(id));
            let op = func.op(id);
            if matches!(op.kind, Kind::Cast(_) | Kind::Permute(_)) && self.readers[&value].iter().all(is_own)
            {
                last.insert(id);
                open.extend(matches!(op.kind, Kind::Permute(_)).then(|| op.operands[0]));
            }
        }
        let is_last = |id: &OpId| last.contains(id);
        let mut multiplied: Vec<Value> = computed().collect();
        multiplied.sort_unstable();
        multiplied.dedup();
        let list =
            |keep: &dyn Fn(&OpId) -> bool| data.ops.iter().copied().filter(keep).collect::<Vec<OpId>>();
        let in_rest = |id: &OpId| rest.contains(id) && !ahead.contains(id);
        Some(Iteration {
            before: list(&|id| ahead.contains(id) && !early.contains(id)),
            behind: list(&|id| behind.contains(id)),
            rest: [
                list(&|id| in_rest(id) && !is_of_sums(id) && !is_last(id)),
                list(&|id| in_rest(id) && is_of_sums(id) && !is_last(id)),
                list(&|id| in_rest(id) && is_last(id)),
            ],
            early,
            late,
            multiplied,
        })
    }
}

struct Overlap {
    iterations: BTreeMap<OpId, Iteration>,
}

impl Pass for Overlap {
    fn replace(&mut self, _: &mut Copy<'_>, _: &Op, _: &[Value]) -> Option<Vec<Value>> {
        None
    }

    fn rewrites(&mut self, copy: &mut Copy<'_>, id: OpId, operands: &[Value]) -> bool {
        let Some(iteration) = self.iterations.remove(&id) else { return false };
        Rewrite { iteration, id }.run(self, copy, operands);
        true
    }
}

/// A loop that is written in the other order.
struct Rewrite {
    iteration: Iteration,
    id: OpId,
}

/// A function of two scalars.
pub(super) fn each(copy: &mut Copy<'_>, op: Each, operands: [Value; 2], dtype: DType) -> Value {
    copy.b.push1(Kind::each(op), &operands, Type::scalar(dtype))
}

impl Rewrite {
    fn run(&self, pass: &mut Overlap, copy: &mut Copy<'_>, operands: &[Value]) {
        let func = copy.func;
        let op = func.op(self.id);
        let data = func.region(op.regions[0]);
        let (number, carried) = (data.args[0], &data.args[1..]);
        let ([start, stop, step], initial) = ([operands[0], operands[1], operands[2]], &operands[3..]);
        let dtype = func.ty(number).dtype;
        let any = each(copy, Each::Less, [start, stop], DType::Bool);

        copy.b.open(&[]);
        copy.define(&[number], &[start]);
        copy.define(carried, initial);
        copy.list(&self.iteration.before, pass);
        copy.list(&self.iteration.early, pass);
        self.iteration.rest.iter().for_each(|list| copy.list(list, pass));
        let first = self.state(copy);
        let second = each(copy, Each::Add, [start, step], dtype);
        let state_types: Vec<Type> = first.iter().map(|&value| copy.b.ty(value)).collect();

        let opened: Vec<Type> =
            [Type::scalar(dtype)].into_iter().chain(state_types.iter().copied()).collect();
        let (_, args) = copy.b.open(&opened);
        copy.define(&[number], &[args[0]]);
        copy.list(&self.iteration.before, pass);
        let results = self.iteration.before.iter().flat_map(|&id| func.op(id).results.clone());
        let known: Vec<(Value, Value)> = results.map(|value| (value, copy.value(value))).collect();
        let before = each(copy, Each::Sub, [args[0], step], dtype);
        copy.define(&[number], &[before]);
        copy.list(&self.iteration.behind, pass);
        let factors: Vec<Value> = self.factors(copy);
        copy.define(&[number], &[args[0]]);
        known.iter().for_each(|&(old, new)| copy.define(&[old], &[new]));
        copy.list(&self.iteration.early, pass);
        let sums = self.late(copy, &args[1..], &factors);
        copy.define(carried, &self.carried(&args[1..], &sums));
        self.iteration.rest.iter().for_each(|list| copy.list(list, pass));
        let next = self.state(copy);
        let body = copy.b.close(End::Continue(0, next));
        copy.b.at(op.site);
        let inputs: Vec<Value> = [second, stop, step].into_iter().chain(first).collect();
        let left = copy.b.push_regions(Kind::For, &inputs, &state_types, vec![body]);

        let last = self.last(copy, [start, stop, step], dtype);
        copy.define(&[number], &[last]);
        copy.list(&self.iteration.behind, pass);
        let factors = self.factors(copy);
        let sums = self.late(copy, &left, &factors);
        let results = self.carried(&left, &sums);
        let then = copy.b.close(End::Yield(results));
        copy.b.open(&[]);
        let other = copy.b.close(End::Yield(initial.to_vec()));
        copy.b.at(op.site);
        let new = copy.b.push_regions(Kind::If, &[any], &types(func, &op.results), vec![then, other]);
        copy.define(&op.results, &new);
    }

    /// The number of the last iteration, of which there is one.
    fn last(&self, copy: &mut Copy<'_>, [start, stop, step]: [Value; 3], dtype: DType) -> Value {
        let func = copy.func;
        if func.number(func.op(self.id).operands[2]) == Some(1) {
            return each(copy, Each::Sub, [stop, step], dtype);
        }
        let one = copy.b.push1(Kind::Full(1), &[], Type::scalar(dtype));
        let end = each(copy, Each::Sub, [stop, one], dtype);
        let far = each(copy, Each::Sub, [end, start], dtype);
        let iterations = each(copy, Each::FloorDiv, [far, step], dtype);
        let far = each(copy, Each::Mul, [iterations, step], dtype);
        each(copy, Each::Add, [start, far], dtype)
    }

    fn passed<'f>(&self, func: &'f Func) -> &'f [Value] {
        func.region(func.op(self.id).regions[0]).end.values()
    }

    /// What iterations pass on: what they passed on before, but what late products are to be added to in place of their results, and then what these
    /// multiply.
    fn state(&self, copy: &Copy<'_>) -> Vec<Value> {
        let func = copy.func;
        let mut state: Vec<Value> = self.passed(func).to_vec();
        self.iteration.late.iter().for_each(|late| state[late.at] = func.op(late.id).operands[2]);
        state.extend(&self.iteration.multiplied);
        state.into_iter().map(|value| copy.value(value)).collect()
    }

    /// What the loop carried before, of its new state and the accumulators of the late products.
    fn carried(&self, state: &[Value], sums: &[Value]) -> Vec<Value> {
        let mut carried = state[..state.len() - self.iteration.multiplied.len()].to_vec();
        self.iteration.late.iter().zip(sums).for_each(|(late, &sum)| carried[late.at] = sum);
        carried
    }

    fn factors(&self, copy: &Copy<'_>) -> Vec<Value> {
        let late = self.iteration.late.iter();
        late.map(|late| copy.value(copy.func.op(late.id).operands[1 - late.held])).collect()
    }

    /// The late products of a state.
    fn late(&self, copy: &mut Copy<'_>, state: &[Value], factors: &[Value]) -> Vec<Value> {
        let func = copy.func;
        let multiplied = &state[state.len() - self.iteration.multiplied.len()..];
        let mut sums = Vec::new();
        for (late, &factor) in self.iteration.late.iter().zip(factors) {
            let op = func.op(late.id);
            copy.b.at(op.site);
            let held = op.operands[late.held];
            let new = self.iteration.multiplied.iter().zip(multiplied).find(|(old, _)| **old == held);
            let held = new.map_or(held, |(_, &new)| new);
            let [a, b] = if late.held == 0 { [held, factor] } else { [factor, held] };
            sums.push(copy.b.push1(Kind::Mma, &[a, b, state[late.at]], func.ty(op.results[0])));
        }
        sums
    }
}
