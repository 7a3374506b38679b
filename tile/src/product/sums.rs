//! The loop along K of a recognised program: its loads and its MMA.

use super::operand::{self, Operand, Role};
use super::refused;
use crate::error::Refusal;
use crate::facts::Index;
use crate::ir::table::Each;
use crate::ir::{Def, End, Func, Kind, Op, OpId, Rounding, Value};

/// What is in the loop.
pub(super) struct Inner {
    pub(super) operands: [Operand; 2],
    pub(super) sums: Value,
    /// Values whose product is added to the accumulators, if that is not the product of the operands itself.
    pub(super) scaled: Option<Vec<Value>>,
}

/// What a loop multiplies and sums up.
pub(super) fn inner(
    func: &Func,
    index: &Index<'_>,
    iterations: &Op,
    product: OpId,
) -> Result<Inner, Refusal> {
    let body = func.region(iterations.regions[0]);
    let ([sums], [_, carried]) = (&iterations.results[..], &body.args[..]) else {
        let why =
            format!("the loop carries {} values, the sums alone are accepted", iterations.results.len());
        return Err(refused(iterations, why));
    };
    if !body.ops.contains(&product) {
        return Err(refused(func.op(product), "the product does not stand in the loop itself"));
    }
    let number = |value: Value| index.poly(value).as_number();
    if number(iterations.operands[0]) != Some(0) || number(iterations.operands[2]) != Some(1) {
        return Err(refused(iterations, "the loop does not count tiles from 0 in steps of 1"));
    }
    if !index.poly(iterations.operands[1]).is_uniform() {
        return Err(refused(iterations, "blocks go through different numbers of tiles"));
    }
    if !is_zero(func, iterations.operands[3]) {
        return Err(refused(iterations, "the sums do not begin at zero"));
    }
    for &id in &body.ops {
        let op = func.op(id);
        if !func.is_pure(&op.kind) || !op.regions.is_empty() {
            return Err(refused(op, "the loop does more than load and multiply"));
        }
    }
    let End::Continue(0, next) = &body.end else {
        return Err(refused(iterations, "the loop may end early"));
    };
    let op = func.op(product);
    let result = op.results[0];
    let [next] = next[..] else { return Err(refused(iterations, "the loop carries more than the sums")) };
    let Some(scaled) = sums_up(func, next, *carried, result, op.operands[2]) else {
        return Err(not_summed(op));
    };
    let (dims, rank) = (func.ty(result).dims, func.ty(result).dims.rank());
    if rank == 3 && dims[0] != 1 {
        return Err(refused(op, format!("a product of {} matrices at once: one is accepted", dims[0])));
    }
    let a = operand::of(func, op.operands[0], operand::named(rank, [Role::M, Role::K]))?;
    let b = operand::of(func, op.operands[1], operand::named(rank, [Role::K, Role::N]))?;
    for operand in [&a, &b] {
        if !matches!(func.value(operand.loaded).def, Def::Result(id, _) if body.ops.contains(&id)) {
            let why = "an operand is loaded before the loop";
            return Err(refused(func.op(operand.load), why));
        }
    }
    Ok(Inner { operands: [a, b], sums: *sums, scaled })
}

/// That a loop does not sum up its product.
pub(super) fn not_summed(product: &Op) -> Refusal {
    refused(product, "what the loop carries is not the product added to what it has carried")
}

/// Whether the next accumulators are the product added to the last ones: by the product itself, or by a sum of floats behind a product that begins
/// at zero, or of floats whose product with others is added, which are then given. Unit axes may come and go.
fn sums_up(
    func: &Func,
    next: Value,
    carried: Value,
    result: Value,
    accumulator: Value,
) -> Option<Option<Vec<Value>>> {
    let plain = |value| operand::without_units(func, value);
    if plain(next) == result {
        return (plain(accumulator) == carried).then_some(None);
    }
    let Def::Result(id, _) = func.value(plain(next)).def else { return None };
    let op = func.op(id);
    let Kind::Each { op: each, rounding: Rounding::Nearest, ftz: false, .. } = op.kind else { return None };
    if !is_zero(func, accumulator) {
        return None;
    }
    match (each, &op.operands[..]) {
        (Each::Add, &[x, y]) => {
            let other = if plain(x) == carried { y } else { (plain(y) == carried).then_some(x)? };
            Some((plain(other) != result).then(|| vec![other]))
        }
        (Each::Fma, &[x, y, z]) => (plain(z) == carried).then(|| Some(vec![x, y])),
        _ => None,
    }
}

/// Whether a value is zero, and not negative zero.
fn is_zero(func: &Func, value: Value) -> bool {
    let Def::Result(id, _) = func.value(value).def else { return false };
    let op = func.op(id);
    match &op.kind {
        Kind::Full(bits) => *bits == 0,
        Kind::Broadcast | Kind::Reshape | Kind::Permute(_) => is_zero(func, op.operands[0]),
        Kind::Cast(_) => is_zero(func, op.operands[0]),
        _ => false,
    }
}
