//! Regions that choose one of two elements by an order of keys.

use girih_codegen::algorithm::distributed::{Key, Order};

use super::Lowering;
use crate::ir::table::Each;
use crate::ir::{Func, Kind, RegionId, Value};
use crate::place::access::counting;

/// The comparison of keys by which an element is chosen.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    Before,
    BeforeOrEqual,
    Equal,
}

/// The order that a region chooses by: all its results are of one side, by a chain of comparisons.
pub(super) fn of(func: &Func, region: RegionId) -> Option<Order> {
    let region = func.region(region);
    let chooses = region.ops.iter().all(|&id| matches!(func.op(id).kind, Kind::Each { .. }));
    let (left, right) = region.args.split_at(region.args.len() / 2);
    let choices = region.end.values().iter().map(|&value| each(func, value));
    let choices = choices.collect::<Option<Vec<_>>>().filter(|_| chooses)?;
    let &(_, first) = choices.first()?;
    let (cond, turned) = (first.first()?, first.get(1) == right.first());
    let [asked, other] = if turned { [right, left] } else { [left, right] };
    let of_one_side = choices.len() == left.len()
        && choices
            .iter()
            .zip(asked.iter().zip(other))
            .all(|(&(op, operands), (&a, &b))| op == Each::Select && operands == [*cond, a, b]);
    let mut order = Order { keys: Vec::new(), turned, or_equal: false };
    (of_one_side && read(&mut order, func, *cond, asked, other)).then_some(order)
}

/// Reads the keys off a condition: one comparison, or one or equality and a condition on further keys.
fn read(order: &mut Order, func: &Func, cond: Value, asked: &[Value], other: &[Value]) -> bool {
    if let Some((key, how)) = compared(func, cond, asked, other) {
        order.keys.push(key);
        order.or_equal = how == Asked::BeforeOrEqual;
        return how != Asked::Equal;
    }
    let both = |value: Value, of: Each| match each(func, value) {
        Some((op, &[a, b])) if op == of => Some([[a, b], [b, a]]),
        _ => None,
    };
    let key = |value: Value| compared(func, value, asked, other);
    for [before, tie] in both(cond, Each::Or).into_iter().flatten() {
        for [equal, rest] in both(tie, Each::And).into_iter().flatten() {
            if let (Some((key, Asked::Before)), Some((same, Asked::Equal))) = (key(before), key(equal))
                && key.operand == same.operand
            {
                order.keys.push(key);
                return read(order, func, rest, asked, other);
            }
        }
    }
    false
}

/// The function of elements that a value is.
fn each(func: &Func, value: Value) -> Option<(Each, &[Value])> {
    let op = func.op_of(value)?;
    match op.kind {
        Kind::Each { op: each, .. } => Some((each, &op.operands)),
        _ => None,
    }
}

/// A comparison of one operand of both elements.
fn compared(func: &Func, value: Value, asked: &[Value], other: &[Value]) -> Option<(Key, Asked)> {
    let (op, &[a, b]) = each(func, value)? else { return None };
    let place = |a: Value, b: Value| (0..asked.len()).find(|&at| asked[at] == a && other[at] == b);
    let (operand, swapped) = match (place(a, b), place(b, a)) {
        (Some(at), _) => (at, false),
        (None, Some(at)) => (at, true),
        (None, None) => return None,
    };
    let (greatest, how) = match op {
        Each::Less => (swapped, Asked::Before),
        Each::LessEqual => (swapped, Asked::BeforeOrEqual),
        Each::Greater => (!swapped, Asked::Before),
        Each::GreaterEqual => (!swapped, Asked::BeforeOrEqual),
        Each::Equal => (false, Asked::Equal),
        _ => return None,
    };
    Some((Key::new(operand, greatest), how))
}

impl Lowering<'_> {
    /// Whether a tile's elements rise along an axis.
    pub(super) fn rises(&self, value: Value, axis: usize) -> bool {
        let func = &self.plan.func;
        let Some(found) = counting(func, value).filter(|found| found.along == axis) else { return false };
        let dtype = func.ty(*found.start.first().unwrap_or(&value)).dtype;
        let extent = i64::from(func.ty(value).dims[axis]);
        // Scalars with known ranges: with others, positions may wrap.
        let start = found.start.iter().try_fold(0.into(), |sum: girih_codegen::Expr, &scalar| {
            match &self.held[scalar.index()] {
                Some(super::Held::Index(expr)) => Some(&sum + expr),
                _ => None,
            }
        });
        start.is_some_and(|start| {
            super::each::fits(&start, dtype) && super::each::fits(&(&start + (extent - 1)), dtype)
        })
    }
}
