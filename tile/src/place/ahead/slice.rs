//! The part of a program that a prefetch of its loads needs: the positions of tiles, the number of iterations, and the values that are computed from
//! the tiles.

use std::collections::BTreeSet;

use super::super::numbers::computes;
use crate::ir::{Def, End, Func, Kind, Op, OpId, RegionId, Value, follow};

/// How many iterations a loop has, if that is known.
pub(super) fn iterations(func: &Func, op: &Op) -> Option<i64> {
    let number = |at: usize| func.number(op.operands[at]);
    let (start, stop, step) = (number(0)?, number(1)?, number(2)?);
    let all = stop.checked_sub(start)?.max(0);
    (step > 0).then(|| all / step + i64::from(all % step > 0))
}

/// The operations of a loop's body that loads of it need, in their order.
pub(super) fn scalars(func: &Func, body: RegionId, loads: &[OpId]) -> Result<Vec<OpId>, String> {
    let ops = &func.region(body).ops;
    let own: BTreeSet<OpId> = ops.iter().copied().collect();
    let (mut found, mut refused) = (BTreeSet::new(), Ok(()));
    let open = loads.iter().flat_map(|&load| func.reads(func.op(load))).collect();
    follow(open, |value, open| {
        let (ty, def) = (func.ty(value), func.value(value).def);
        let why = match def {
            Def::Argument(region, at) if region == body && at > 0 => ", which the loop carries",
            Def::Result(id, _) if own.contains(&id) => {
                let op = func.op(id);
                let simple = match &op.kind {
                    Kind::Convert => true,
                    Kind::Reduce { .. } => op.regions.is_empty(),
                    kind => computes(func, kind),
                };
                let one = |value: &Value| func.ty(*value).dims.size() == 1;
                if simple && one(&value) && op.operands.iter().all(one) {
                    found.insert(id);
                    open.extend(func.reads(op));
                    return;
                }
                ""
            }
            _ => return,
        };
        if refused.is_ok() {
            refused = Err(format!("where it begins depends on %{} {ty}{why}", value.0));
        }
    });
    refused.map(|()| ops.iter().copied().filter(|id| found.contains(id)).collect())
}

/// The loads of a loop's body from which operands of its MMAs are computed, before any MMA of the iteration.
pub(in crate::place) fn computed(func: &Func, body: RegionId) -> BTreeSet<OpId> {
    // The values that depend on an MMA of the same iteration.
    let mut after: BTreeSet<Value> = BTreeSet::new();
    for &id in &func.region(body).ops {
        let op = func.op(id);
        if op.kind == Kind::Mma || op.operands.iter().any(|operand| after.contains(operand)) {
            after.extend(&op.results);
        }
    }
    let mut found = feeding(func, body, |value| !after.contains(&value));
    found.retain(|&id| {
        let op = func.op(id);
        matches!(op.kind, Kind::Load(_)) && func.is_pure(&op.kind) && func.ty(op.results[0]).dims.size() > 1
    });
    found
}

/// The loads and gathers of a region whose elements its MMAs multiply, as they are or computed with, in the same iteration or a later one.
/// `follows` says of which values the operands count.
pub(crate) fn feeding(func: &Func, region: RegionId, follows: impl Fn(Value) -> bool) -> BTreeSet<OpId> {
    let data = func.region(region);
    // A condition may continue the loop around it, whose values are no arguments of its own.
    let (passed, carried): (&[Value], usize) = match &data.end {
        End::Continue(0, passed) if passed.len() <= data.args.len() => {
            (passed, data.args.len() - passed.len())
        }
        _ => (&[], data.args.len()),
    };
    let products = data.ops.iter().map(|&id| func.op(id)).filter(|op| op.kind == Kind::Mma);
    let open: Vec<Value> = products.flat_map(|op| op.operands[..2].iter().copied()).collect();
    let own: BTreeSet<OpId> = data.ops.iter().copied().collect();
    let mut found = BTreeSet::new();
    follow(open, |value, open| {
        if !follows(value) {
            return;
        }
        match func.value(value).def {
            Def::Argument(of, at) if of == region => {
                open.extend((at as usize).checked_sub(carried).and_then(|at| passed.get(at)));
            }
            Def::Result(id, _) if own.contains(&id) => match &func.op(id).kind {
                Kind::Load(_) | Kind::Gather(_) => _ = found.insert(id),
                Kind::Mma => {}
                _ => open.extend(&func.op(id).operands),
            },
            _ => {}
        }
    });
    found
}
