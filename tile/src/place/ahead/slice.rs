//! What a program's loads need to be prefetched: where tiles begin, how many iterations there are, and what is computed from the tiles.

use std::collections::BTreeSet;

use super::super::numbers::computes;
use crate::fit;
use crate::ir::{ArrayId, Def, End, Func, Kind, Op, OpId, RegionId, Value};

/// How many iterations a loop has, if that is known.
pub(super) fn iterations(func: &Func, op: &Op) -> Option<i64> {
    let number = |at: usize| match func.value(op.operands[at]).def {
        Def::Result(id, _) => match func.op(id).kind {
            Kind::Full(bits) => Some(match func.ty(op.operands[at]).dtype.bits() {
                32 => fit::signed(bits, 32),
                _ => bits as i64,
            }),
            _ => None,
        },
        Def::Argument(..) => None,
    };
    let (start, stop, step) = (number(0)?, number(1)?, number(2)?);
    let all = stop.checked_sub(start)?.max(0);
    (step > 0).then(|| all / step + i64::from(all % step > 0))
}

/// The operations of a loop's body by which it is known where a load's tile begins.
struct Slice<'a> {
    func: &'a Func,
    body: RegionId,
    own: &'a BTreeSet<OpId>,
    found: BTreeSet<OpId>,
    work: Vec<Value>,
}

impl Slice<'_> {
    fn array(&mut self, array: ArrayId) {
        self.work.extend(self.func.slices(array).flat_map(|(_, bounds)| bounds));
    }

    fn operation(&mut self, id: OpId) {
        let op = self.func.op(id);
        self.work.extend(&op.operands);
        match &op.kind {
            Kind::Dim(array, _) => self.array(*array),
            kind => kind.array().into_iter().for_each(|array| self.array(array)),
        }
    }

    fn close(&mut self) -> Result<(), String> {
        while let Some(value) = self.work.pop() {
            let ty = self.func.ty(value);
            let why = |what: &str| format!("where it begins depends on %{} {ty}{what}", value.0);
            match self.func.value(value).def {
                Def::Argument(region, at) if region == self.body && at > 0 => {
                    return Err(why(", which the loop carries"));
                }
                Def::Argument(..) => {}
                Def::Result(id, _) if !self.own.contains(&id) => {}
                Def::Result(id, _) => {
                    let op = self.func.op(id);
                    let simple = match &op.kind {
                        Kind::Convert => true,
                        Kind::Reduce { .. } => op.regions.is_empty(),
                        kind => computes(self.func, kind),
                    };
                    let one = |value: &Value| self.func.ty(*value).dims.size() == 1;
                    if !simple || ty.dims.size() != 1 || !op.operands.iter().all(one) {
                        return Err(why(""));
                    }
                    if self.found.insert(id) {
                        self.operation(id);
                    }
                }
            }
        }
        Ok(())
    }
}

/// The operations of a loop's body that loads of it need, in their order.
pub(super) fn scalars(func: &Func, body: RegionId, loads: &[OpId]) -> Result<Vec<OpId>, String> {
    let own: BTreeSet<OpId> = func.region(body).ops.iter().copied().collect();
    let mut slice = Slice { func, body, own: &own, found: BTreeSet::new(), work: Vec::new() };
    loads.iter().for_each(|&load| slice.operation(load));
    slice.close()?;
    let found = slice.found;
    Ok(func.region(body).ops.iter().copied().filter(|id| found.contains(id)).collect())
}

/// The loads of a loop's body from which operands of its products are computed, before any product of the iteration.
pub(in crate::place) fn computed(func: &Func, body: RegionId) -> BTreeSet<OpId> {
    // What depends on a product of the same iteration.
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

/// The loads and gathers of a region whose elements its products multiply, as they are or computed with, in the same iteration or a later one.
/// `follows` says of which values the operands count.
pub(crate) fn feeding(func: &Func, region: RegionId, follows: impl Fn(Value) -> bool) -> BTreeSet<OpId> {
    let data = func.region(region);
    let passed: &[Value] = if let End::Continue(0, passed) = &data.end { passed } else { &[] };
    let carried = data.args.len() - passed.len();
    let products = data.ops.iter().map(|&id| func.op(id)).filter(|op| op.kind == Kind::Mma);
    let mut open: Vec<Value> = products.flat_map(|op| op.operands[..2].iter().copied()).collect();
    let own: BTreeSet<OpId> = data.ops.iter().copied().collect();
    let (mut seen, mut found) = (BTreeSet::new(), BTreeSet::new());
    while let Some(value) = open.pop() {
        if !follows(value) || !seen.insert(value) {
            continue;
        }
        match func.value(value).def {
            Def::Argument(of, at) if of == region => {
                open.extend((at as usize).checked_sub(carried).map(|at| passed[at]));
            }
            Def::Result(id, _) if own.contains(&id) => match &func.op(id).kind {
                Kind::Load(_) | Kind::Gather(_) => _ = found.insert(id),
                Kind::Mma => {}
                _ => open.extend(&func.op(id).operands),
            },
            _ => {}
        }
    }
    found
}
