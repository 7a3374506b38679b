//! Branches around masks: an iteration whose mask is true throughout does not apply it.
//!
//! Causal attention masks an accumulator by a comparison of positions. Only tiles that cross the boundary need the mask.
//! Positions are `arange` plus scalars, so two scalars bound them. If the bounds show that the comparison is true for all
//! elements, the mask is skipped.
//!
//! ```text
//! s = a b                            s = a b
//! t = f(s)                           if all of mask and c divides:  p = g(f'(s))
//! p = g(select(mask, t, x))          else:                          p = g(select(mask, f(s), x))
//! ```
//!
//! Both branches contain all functions of the MMA that need no other MMA, so that the assembler can schedule them together. In `f'`,
//! [approximate](super::approximate) quotients by a scalar c are products with its reciprocal, if that is a normal number. The pass does not skip
//! iterations that mask everything: a probability of zero times an infinity is NaN, so skipping them would change results.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use girih_tensor::DType;

use super::overlap::each;
use super::rebuild::{Copy, Pass, rebuild, types};
use super::uses::{dependent, needs, readers};
use crate::ir::table::Each;
use crate::ir::{End, Func, Kind, Op, OpId, RegionId, Rounding, Type, Value};

/// Elements of a tile from which on a condition costs less than a mask.
const MANY: u64 = 1024;

/// Branches around masks in loops with products, if bounds of positions can say that a mask is true throughout.
pub fn guard(func: &Func) -> Func {
    let mut found = Guard { masks: BTreeMap::new(), sunk: BTreeSet::new(), inside: None };
    let readers = readers(func);
    func.walk(func.body(), &mut |_, op| {
        if op.kind == Kind::For {
            found.look(&Body::new(func, op.regions[0], &readers));
        }
    });
    if found.masks.is_empty() { func.clone() } else { rebuild(func, &mut found) }
}

struct Guard {
    /// By the result of the selection.
    masks: BTreeMap<Value, Masked>,
    /// The results of operations that are written into branches.
    sunk: BTreeSet<Value>,
    /// The branch that is being written: whether it has quotients by reciprocals.
    inside: Option<bool>,
}

/// A selection by a mask, and what is computed with it.
struct Masked {
    /// The operations that the mask alone needs.
    mask: Vec<OpId>,
    /// The functions of products that the selection alone reads.
    before: Vec<OpId>,
    /// The functions of the selection.
    after: Vec<OpId>,
    /// What others read.
    results: Vec<Value>,
}

fn is_each(op: &Op, function: Each) -> bool {
    matches!(op.kind, Kind::Each { op, .. } if op == function)
}

/// The body of a loop with products.
struct Body<'a> {
    func: &'a Func,
    ops: &'a [OpId],
    readers: &'a HashMap<Value, Vec<Option<OpId>>>,
    of_products: BTreeSet<Value>,
    /// What has an accumulator is scaled when the product before is done, not with the probabilities.
    of_accumulators: BTreeSet<Value>,
    /// Whether there is one product beside those that add to accumulators. While others are under way, what threads compute stays one block with
    /// what reads both.
    single: bool,
}

impl<'a> Body<'a> {
    fn new(func: &'a Func, body: RegionId, readers: &'a HashMap<Value, Vec<Option<OpId>>>) -> Body<'a> {
        let data = func.region(body);
        let passed = data.end.values();
        let is_product = |value: Value| func.maker(value).is_some_and(|id| func.op(id).kind == Kind::Mma);
        let results = data.ops.iter().flat_map(|&id| func.op(id).results.iter().copied());
        let products: Vec<Value> = results.filter(|&value| is_product(value)).collect();
        let carried = data.args[1..].iter().zip(passed);
        let accumulators = carried.filter(|(_, passed)| is_product(**passed)).map(|(&arg, _)| arg);
        Body {
            func,
            ops: &data.ops,
            readers,
            single: products.iter().filter(|value| !passed.contains(value)).count() == 1,
            of_accumulators: dependent(func, &data.ops, accumulators),
            of_products: dependent(func, &data.ops, products),
        }
    }

    fn is_large(&self, id: OpId) -> bool {
        let result = self.func.op(id).results.first();
        result.is_some_and(|&value| self.func.ty(value).dims.size() >= MANY)
    }

    /// Whether an operation is a function that may be computed in either branch.
    fn is_function(&self, id: OpId) -> bool {
        let op = self.func.op(id);
        let computes = matches!(
            op.kind,
            Kind::Each { .. } | Kind::Broadcast | Kind::Reshape | Kind::Reduce { .. } | Kind::Full(_)
        );
        let scales = op.results.iter().any(|value| self.of_accumulators.contains(value));
        self.single && computes && op.regions.is_empty() && !scales
    }

    /// The operations that a value comes from and that nothing reads but these and `reader`, in the order of the program.
    fn alone(&self, value: Value, reader: OpId, fits: impl Fn(OpId) -> bool) -> Vec<OpId> {
        let func = self.func;
        let (mut own, mut work) = (BTreeSet::from([reader]), vec![value]);
        while let Some(value) = work.pop() {
            let Some(from) = func.maker(value) else { continue };
            let reads = |reader: &Option<OpId>| reader.is_some_and(|reader| own.contains(&reader));
            let plain = func.is_pure(&func.op(from).kind) && func.ty(value).dims.rank() > 0;
            let here = self.ops.contains(&from) && plain && fits(from);
            if here && self.readers[&value].iter().all(reads) && own.insert(from) {
                needs(func, func.op(from), &mut work);
            }
        }
        own.remove(&reader);
        self.ops.iter().copied().filter(|id| own.contains(id)).collect()
    }

    /// The functions of a selection, unless they need another product. What functions outside read stretched is stretched there.
    fn after(&self, place: usize, taken: &BTreeSet<OpId>) -> Vec<OpId> {
        let func = self.func;
        let (mut after, mut known) = (Vec::new(), BTreeSet::new());
        known.extend(func.op(self.ops[place]).results.iter().copied());
        for (at, &id) in self.ops.iter().enumerate().skip(place + 1) {
            let operands = &func.op(id).operands;
            let later = |id: OpId| self.ops[place..=at].contains(&id) || taken.contains(&id);
            let there = |value: &Value| {
                let of_others = self.of_products.contains(value) || func.maker(*value).is_some_and(later);
                known.contains(value) || !of_others
            };
            let follows = operands.iter().any(|value| known.contains(value));
            if follows && self.is_function(id) && operands.iter().all(there) {
                known.extend(&func.op(id).results);
                after.push(id);
            }
        }
        let mut needed = BTreeSet::<Value>::new();
        for &id in after.iter().rev() {
            let op = func.op(id);
            let own = matches!(op.kind, Kind::Each { .. } | Kind::Reduce { .. });
            if own || op.results.iter().any(|value| needed.contains(value)) {
                needed.extend(&op.operands);
            } else {
                known.retain(|value| !op.results.contains(value));
            }
        }
        after.retain(|&id| func.op(id).results.iter().all(|value| known.contains(value)));
        after
    }
}

impl Guard {
    /// Takes note of the masks in the body of a loop.
    fn look(&mut self, body: &Body<'_>) {
        let mut taken: BTreeSet<OpId> = BTreeSet::new();
        for (place, &id) in body.ops.iter().enumerate() {
            let op = body.func.op(id);
            let masks = is_each(op, Each::Select) && body.is_large(id);
            if !masks || !body.of_products.contains(&op.operands[1]) || !taken.insert(id) {
                continue;
            }
            let mask = body.alone(op.operands[0], id, |from| !taken.contains(&from));
            let own = |from: OpId| {
                let of_products =
                    body.func.op(from).results.iter().any(|value| body.of_products.contains(value));
                of_products && body.is_function(from) && !mask.contains(&from) && !taken.contains(&from)
            };
            let before = body.alone(op.operands[1], id, own);
            let after = body.after(place, &taken);
            let results_of = |id: &OpId| body.func.op(*id).results.iter().copied();
            let others: Vec<OpId> = [&mask[..], &before, &after].concat();
            let outside = |reader: &Option<OpId>| reader.is_none_or(|by| by != id && !others.contains(&by));
            let read = |value: &Value| body.readers.get(value).is_some_and(|all| all.iter().any(outside));
            let results = [id].iter().chain(&after).flat_map(results_of).filter(read).collect();
            self.sunk.extend(others.iter().flat_map(results_of));
            taken.extend(others);
            self.masks.insert(op.results[0], Masked { mask, before, after, results });
        }
    }
}

impl Pass for Guard {
    fn replace(&mut self, copy: &mut Copy<'_>, op: &Op, operands: &[Value]) -> Option<Vec<Value>> {
        let &result = op.results.first()?;
        if let Some(reciprocal) = self.inside {
            let by = divisor(copy.func, op).filter(|_| reciprocal)?;
            let ty = copy.func.ty(result);
            let by = inverse(copy, by);
            let by = copy.b.broadcast_to(by, ty.dims).ok()?;
            return Some(vec![copy.b.push1(Kind::each(Each::Mul), &[operands[0], by], ty)]);
        }
        if self.sunk.contains(&result) {
            return Some(Vec::new());
        }
        let masked = self.masks.remove(&result)?;
        let func = copy.func;
        let mut bounds = Bounds { within: Vec::new() };
        let all = bounds.all(copy, op.operands[0]);
        let mut write = |copy: &mut Copy<'_>, mask: bool| {
            self.inside = Some(!mask);
            if mask {
                copy.list(&masked.mask, self);
            }
            copy.list(&masked.before, self);
            copy.b.at(op.site);
            let operands: Vec<Value> = op.operands.iter().map(|&value| copy.value(value)).collect();
            let new = if mask {
                let kind = copy.kind(op);
                copy.b.push(kind, &operands, &types(func, &op.results))
            } else {
                vec![operands[1]]
            };
            copy.define(&op.results, &new);
            copy.list(&masked.after, self);
            self.inside = None;
            masked.results.iter().map(|&value| copy.value(value)).collect::<Vec<Value>>()
        };
        let Some(mut all) = all else {
            write(copy, true);
            return Some(vec![copy.value(result)]);
        };
        let functions = masked.before.iter().chain(&masked.after);
        let divisors: BTreeSet<Value> = functions.filter_map(|&id| divisor(func, func.op(id))).collect();
        let normal = divisors.into_iter().flat_map(|by| normal(copy, by)).collect::<Vec<Value>>();
        for within in bounds.within.into_iter().chain(normal) {
            all = each(copy, Each::And, [all, within], DType::Bool);
        }
        copy.b.open(&[]);
        let plain = write(copy, false);
        let then = copy.b.close(End::Yield(plain));
        copy.b.open(&[]);
        let rest = write(copy, true);
        let other = copy.b.close(End::Yield(rest));
        copy.b.at(op.site);
        let new = copy.b.push_regions(Kind::If, &[all], &types(func, &masked.results), vec![then, other]);
        copy.define(&masked.results, &new);
        Some(vec![copy.value(result)])
    }
}

/// The scalar parameter by which an operation divides a tile of f32 approximately. A branch may not depend on what an array has, which may be
/// undetermined.
fn divisor(func: &Func, op: &Op) -> Option<Value> {
    let full = Kind::each_rounded(Each::TrueDiv, Rounding::Full);
    let mut by = *op.operands.get(1).filter(|_| op.kind == full)?;
    while func.ty(by).dims.rank() > 0 {
        let from = func.op_of(by).filter(|from| matches!(from.kind, Kind::Broadcast | Kind::Reshape))?;
        by = from.operands[0];
    }
    let is_param = matches!(func.op_of(by)?.kind, Kind::Param(_));
    (is_param && func.ty(by).dtype == DType::F32).then_some(by)
}

fn constant(copy: &mut Copy<'_>, number: f32) -> Value {
    copy.b.push1(Kind::Full(u64::from(number.to_bits())), &[], Type::scalar(DType::F32))
}

fn inverse(copy: &mut Copy<'_>, scalar: Value) -> Value {
    let (one, by) = (constant(copy, 1.0), copy.value(scalar));
    each(copy, Each::TrueDiv, [one, by], DType::F32)
}

/// What holds of a scalar whose reciprocal is a normal number, as it is.
fn normal(copy: &mut Copy<'_>, scalar: Value) -> [Value; 2] {
    let by = copy.value(scalar);
    let size = copy.b.push1(Kind::each(Each::Abs), &[by], Type::scalar(DType::F32));
    let [least, most] = [f32::MIN_POSITIVE, f32::MIN_POSITIVE.recip()].map(|bound| constant(copy, bound));
    [[least, size], [size, most]].map(|pair| each(copy, Each::LessEqual, pair, DType::Bool))
}

fn number(copy: &mut Copy<'_>, number: i64) -> Value {
    copy.b.push1(Kind::Full(number.cast_unsigned()), &[], Type::scalar(DType::S64))
}

/// The least or the greatest element of a tile, as a scalar of 64 bits, and the range that it is known to be in.
#[derive(Clone, Copy)]
struct Extreme {
    value: Value,
    range: [i64; 2],
}

/// What scalars say of all elements of tiles. Numbers are computed with 64 bits, and those of the tile must not leave its dtype.
struct Bounds {
    /// What must hold for that.
    within: Vec<Value>,
}

impl Bounds {
    fn must(&mut self, cond: Value) {
        if !self.within.contains(&cond) {
            self.within.push(cond);
        }
    }

    /// A scalar that is false unless all elements of a tile of `bool` are true.
    fn all(&mut self, copy: &mut Copy<'_>, value: Value) -> Option<Value> {
        let func = copy.func;
        if func.ty(value).dims.rank() == 0 {
            return Some(copy.value(value));
        }
        let op = func.op_of(value)?;
        let operands = &op.operands;
        match op.kind {
            Kind::Broadcast | Kind::Reshape | Kind::Permute(_) => self.all(copy, operands[0]),
            Kind::Full(bits) => Some(copy.b.push1(Kind::Full(bits), &[], Type::scalar(DType::Bool))),
            Kind::Each { op: Each::And, .. } => {
                let both = [self.all(copy, operands[0])?, self.all(copy, operands[1])?];
                Some(each(copy, Each::And, both, DType::Bool))
            }
            Kind::Each { op, .. } => {
                let (a, b) = match op {
                    Each::Less | Each::LessEqual => (operands[0], operands[1]),
                    Each::Greater | Each::GreaterEqual => (operands[1], operands[0]),
                    _ => return None,
                };
                let ([_, most], [least, _]) = (self.extremes(copy, a)?, self.extremes(copy, b)?);
                let strict = matches!(op, Each::Less | Each::Greater);
                let op = if strict { Each::Less } else { Each::LessEqual };
                Some(each(copy, op, [most.value, least.value], DType::Bool))
            }
            _ => None,
        }
    }

    /// Bounds of the elements of a tile of integers.
    fn extremes(&mut self, copy: &mut Copy<'_>, value: Value) -> Option<[Extreme; 2]> {
        let func = copy.func;
        let ty = func.ty(value);
        if !ty.dtype.is_integer() || ty.dtype.bits() > 32 {
            return None;
        }
        let (least, most) = crate::dtype::range(ty.dtype);
        let both = |copy: &mut Copy<'_>, scalar: Value| {
            let value = copy.b.push1(Kind::Cast(Rounding::Nearest), &[scalar], Type::scalar(DType::S64));
            Some([Extreme { value, range: [least, most] }; 2])
        };
        if ty.dims.rank() == 0 {
            let scalar = copy.value(value);
            return both(copy, scalar);
        }
        let op = func.op_of(value)?;
        let sides = [0, 1].map(|at| op.operands.get(at).copied());
        match (&op.kind, sides) {
            (Kind::Broadcast | Kind::Reshape | Kind::Permute(_), [Some(of), _]) => self.extremes(copy, of),
            (Kind::Iota, _) => {
                let ends = [0, i64::from(ty.dims[0]) - 1];
                let end = |end| Extreme { value: number(copy, end), range: [end; 2] };
                (ends[1] <= most).then(|| ends.map(end))
            }
            (Kind::Full(_), _) => {
                let scalar = copy.b.push1(op.kind.clone(), &[], Type::scalar(ty.dtype));
                both(copy, scalar)
            }
            (Kind::Each { op: function @ (Each::Add | Each::Sub), .. }, [Some(a), Some(b)]) => {
                let (a, mut b) = (self.extremes(copy, a)?, self.extremes(copy, b)?);
                if *function == Each::Sub {
                    b.reverse();
                }
                let ends @ [low, high] = [0, 1].map(|at| {
                    let value = each(copy, *function, [a[at].value, b[at].value], DType::S64);
                    let ([a, b], [c, d]) = (a[at].range, b[at].range);
                    let range = if *function == Each::Sub { [a - d, b - c] } else { [a + c, b + d] };
                    Extreme { value, range }
                });
                if low.range[0] < least {
                    let least = number(copy, least);
                    self.must(each(copy, Each::LessEqual, [least, low.value], DType::Bool));
                }
                if high.range[1] > most {
                    let most = number(copy, most);
                    self.must(each(copy, Each::LessEqual, [high.value, most], DType::Bool));
                }
                Some(ends.map(|Extreme { value, range: [low, high] }| Extreme {
                    value,
                    range: [low.max(least), high.min(most)],
                }))
            }
            _ => None,
        }
    }
}
