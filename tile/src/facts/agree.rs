//! Benign races between blocks: stores of one value, and loads that only guard atomic operations. A kernel has them
//! with [`Order::Relaxed`], so that they are defined even for the same element.

use std::collections::HashSet;

use super::access::Access;
use super::index::Index;
use crate::ir::{Array, ArrayId, End, Func, Kind, OpId, Order, RegionId, Scope, Value, follow};

/// The accesses without an order of an array, if these do not conflict with accesses of it by other blocks.
pub(super) fn agreeing(index: &Index<'_>, of: &[&Access]) -> Option<Vec<OpId>> {
    let stores: Vec<OpId> = of.iter().filter(|access| access.stores).map(|access| access.op).collect();
    let weak = || of.iter().filter(|access| !access.ordered);
    let agree = if weak().any(|access| access.stores) {
        stores.len() == of.len() && weak().count() == of.len() && is_one_value(index, of)
    } else {
        let is_atomic = |&op: &OpId| matches!(index.func.op(op).kind, Kind::Atomic { .. });
        stores.iter().all(is_atomic) && weak().all(|access| decides_alone(index.func, access))
    };
    agree.then(|| weak().map(|access| access.op).collect())
}

/// The program with these accesses relaxed.
pub(super) fn relaxed(func: &Func, ops: &[OpId]) -> Func {
    let mut func = func.clone();
    for &id in ops {
        match &mut func.ops[id.index()].kind {
            Kind::Load(view) | Kind::Store(view) => {
                (view.order, view.scope) = (Order::Relaxed, Some(Scope::Device))
            }
            Kind::Gather(at) | Kind::Scatter(at) => {
                (at.order, at.scope) = (Order::Relaxed, Some(Scope::Device))
            }
            _ => {}
        }
    }
    func
}

/// Whether stores to one element store the same value: all store one value to all elements, or there is one store of one tile to one place.
fn is_one_value(index: &Index<'_>, stores: &[&Access]) -> bool {
    let func = index.func;
    let values: Vec<Value> = stores.iter().map(|access| func.op(access.op).operands[0]).collect();
    let Some(&first) = values.first() else { return true };
    let bits = |value: Value| match index.op_of(value).map(|op| &op.kind) {
        Some(Kind::Full(bits)) => Some(*bits),
        _ => None,
    };
    let equal = |a: Value, b: Value| a == b || bits(a).is_some() && bits(a) == bits(b);
    // The value before broadcasts and reshapes.
    let repeated =
        |value: Value| func.within(value, |_, kind| matches!(kind, Kind::Broadcast | Kind::Reshape));
    let is_first = |value: Value| equal(repeated(value), repeated(first));
    if values.iter().all(|&value| is_repeated(index, value) && is_first(value)) {
        return true;
    }
    stores.len() == 1 && index.is_uniform(first) && stores[0].origin.iter().all(|origin| origin.is_uniform())
}

/// Whether all elements of a tile have one value, which is the same in all blocks.
fn is_repeated(index: &Index<'_>, value: Value) -> bool {
    let of_elements = |kind: &Kind| {
        matches!(
            kind,
            Kind::Full(_)
                | Kind::Each { .. }
                | Kind::Cast(_)
                | Kind::Bitcast
                | Kind::Broadcast
                | Kind::Reshape
        )
    };
    let mut all = true;
    follow(vec![value], |value, open| {
        let op = index.op_of(value).filter(|op| of_elements(&op.kind));
        match op {
            _ if index.func.ty(value).dims.size() == 1 => {}
            Some(op) => open.extend(&op.operands),
            None => all = false,
        }
    });
    all && index.is_uniform(value)
}

/// Whether what an access loads decides about atomic operations on its array alone.
fn decides_alone(func: &Func, access: &Access) -> bool {
    let mut uses = Uses {
        func,
        array: access.array,
        values: func.op(access.op).results.iter().copied().collect(),
        decides: false,
    };
    uses.walk(func.body()) && uses.decides && !uses.cuts_arrays()
}

/// The values that are computed from a load.
struct Uses<'a> {
    func: &'a Func,
    /// The parameter.
    array: ArrayId,
    values: HashSet<Value>,
    /// Whether an atomic operation depends on it.
    decides: bool,
}

impl Uses<'_> {
    /// Follows the values. False if one of them is used otherwise.
    fn walk(&mut self, region: RegionId) -> bool {
        let func = self.func;
        for &id in &func.region(region).ops {
            let op = func.op(id);
            let used: Vec<usize> =
                (0..op.operands.len()).filter(|&at| self.values.contains(&op.operands[at])).collect();
            match &op.kind {
                _ if used.is_empty() => {}
                Kind::Atomic { at, .. } if func.param_of(at.array).0 == self.array => {
                    if !at.masked || used != [op.operands.len() - 1] {
                        return false;
                    }
                    self.decides = true;
                    // The result shows whether the access has happened.
                    self.values.extend(&op.results);
                }
                Kind::If if op.results.is_empty() => {
                    let mut found = false;
                    if !op.regions.iter().all(|&region| self.is_atomic(region, &mut found)) || !found {
                        return false;
                    }
                    self.decides = true;
                }
                kind if kind.is_pure() && op.regions.is_empty() => self.values.extend(&op.results),
                _ => return false,
            }
            if !op.regions.iter().all(|&region| self.walk(region)) {
                return false;
            }
        }
        !func.region(region).end.values().iter().any(|value| self.values.contains(value))
    }

    /// Whether a side of a branch does nothing but atomic operations; `found` is set by one on the array.
    fn is_atomic(&self, region: RegionId, found: &mut bool) -> bool {
        let region = self.func.region(region);
        matches!(region.end, End::Yield(_))
            && region.ops.iter().all(|&id| {
                let op = self.func.op(id);
                match &op.kind {
                    Kind::Atomic { at, .. } => *found |= self.func.param_of(at.array).0 == self.array,
                    Kind::Load(_) | Kind::Gather(_) => {}
                    Kind::If => return op.regions.iter().all(|&inner| self.is_atomic(inner, found)),
                    kind => return kind.is_pure(),
                }
                true
            })
    }

    /// Whether a part of an array begins or ends where a value says.
    fn cuts_arrays(&self) -> bool {
        self.func.arrays().iter().any(|array| match array {
            Array::Slice { start, stop, .. } => {
                [start, stop].into_iter().any(|value| self.values.contains(value))
            }
            Array::Param(_) => false,
        })
    }
}
