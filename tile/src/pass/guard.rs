//! Masks of products that are true throughout a tile are not computed.
//!
//! A loop that masks the sums of a product by a comparison of positions, as causal attention does, needs the mask where a tile lies across the
//! boundary and nowhere else. Positions are numbers along axes plus scalars, so that two scalars bound them: where the bounds say that the
//! comparison holds for all elements, the sums stay as they are. Iterations that mask everything are the program's to leave out: a weight of zero times an infinity is
//! no zero, so that such an iteration changes results.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use girih_tensor::DType;

use super::overlap::each;
use super::rebuild::{Copy, Pass, rebuild, types};
use super::uses::{needs, readers};
use crate::dtype::is_integer;
use crate::ir::table::Each;
use crate::ir::{End, Func, Kind, Op, OpId, RegionId, Rounding, Type, Value};

/// Elements of a tile from which on a condition costs less than a mask.
const MANY: u64 = 1024;

/// Masks sums of products in loops where bounds of positions do not say that the mask is true throughout.
pub fn guard(func: &Func) -> Func {
    let mut found = Guard { masks: BTreeMap::new(), sunk: BTreeSet::new(), inside: false };
    let readers = readers(func);
    func.walk(func.body(), &mut |_, op| {
        if op.kind == Kind::For {
            found.look(func, op.regions[0], &readers);
        }
    });
    if found.masks.is_empty() { func.clone() } else { rebuild(func, &mut found) }
}

struct Guard {
    /// The operations that a mask alone needs, by the result of the selection.
    masks: BTreeMap<Value, Vec<OpId>>,
    /// The results of these operations.
    sunk: BTreeSet<Value>,
    /// Whether such operations are being written.
    inside: bool,
}

fn is_each(op: &Op, function: Each) -> bool {
    matches!(op.kind, Kind::Each { op, .. } if op == function)
}

impl Guard {
    /// Takes note of the masks in the body of a loop.
    fn look(&mut self, func: &Func, body: RegionId, readers: &HashMap<Value, Vec<Option<OpId>>>) {
        let ops = &func.region(body).ops;
        let mut of_products: BTreeSet<Value> = BTreeSet::new();
        for &id in ops {
            let op = func.op(id);
            if op.kind == Kind::Mma || op.operands.iter().any(|value| of_products.contains(value)) {
                of_products.extend(&op.results);
            }
            let result = op.results.first().map(|&value| func.ty(value));
            let large = result.is_some_and(|ty| ty.dims.size() >= MANY);
            if !is_each(op, Each::Select) || !large || !of_products.contains(&op.operands[1]) {
                continue;
            }
            let mut alone: BTreeSet<OpId> = BTreeSet::from([id]);
            let mut work = vec![op.operands[0]];
            while let Some(value) = work.pop() {
                let Some(from) = func.maker(value) else { continue };
                let own = |reader: &Option<OpId>| reader.is_some_and(|reader| alone.contains(&reader));
                let plain = func.is_pure(&func.op(from).kind) && func.ty(value).dims.rank() > 0;
                if ops.contains(&from) && plain && readers[&value].iter().all(own) && alone.insert(from) {
                    needs(func, func.op(from), &mut work);
                }
            }
            alone.remove(&id);
            self.sunk.extend(alone.iter().flat_map(|&id| &func.op(id).results));
            let list = ops.iter().copied().filter(|id| alone.contains(id)).collect();
            self.masks.insert(op.results[0], list);
        }
    }
}

impl Pass for Guard {
    fn replace(&mut self, copy: &mut Copy<'_>, op: &Op, operands: &[Value]) -> Option<Vec<Value>> {
        let &result = op.results.first()?;
        if !self.inside && self.sunk.contains(&result) {
            return Some(Vec::new());
        }
        let list = self.masks.remove(&result)?;
        let mut bounds = Bounds { within: Vec::new() };
        let all = bounds.all(copy, op.operands[0]);
        let write = |pass: &mut Guard, copy: &mut Copy<'_>| {
            let outer = std::mem::replace(&mut pass.inside, true);
            copy.list(&list, pass);
            pass.inside = outer;
            copy.b.at(op.site);
            let operands: Vec<Value> = op.operands.iter().map(|&value| copy.value(value)).collect();
            let kind = copy.kind(op);
            copy.b.push(kind, &operands, &types(copy.func, &op.results))
        };
        let Some(mut all) = all else { return Some(write(self, copy)) };
        for within in bounds.within {
            all = each(copy, Each::And, [all, within], DType::Bool);
        }
        let some = copy.b.push1(Kind::each(Each::Not), &[all], Type::scalar(DType::Bool));
        copy.b.open(&[]);
        let masked = write(self, copy);
        let then = copy.b.close(End::Yield(masked));
        copy.b.open(&[]);
        let other = copy.b.close(End::Yield(vec![operands[1]]));
        copy.b.at(op.site);
        Some(copy.b.push_regions(Kind::If, &[some], &types(copy.func, &op.results), vec![then, other]))
    }
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
        if !is_integer(ty.dtype) || ty.dtype.bits() > 32 {
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
