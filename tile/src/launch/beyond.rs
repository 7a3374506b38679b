//! Checks for MMAs that read undetermined padding.

use crate::error::Site;
use crate::facts::{Concrete, Index, Intervals};
use crate::fit;
use crate::ir::{Array, ArrayId, Func, Kind, Order, Padding, Value};
use crate::place::wgmma::choice::trace;

/// A load that a product sums over, of a tile that reaches beyond its array where nobody says what it has there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Beyond {
    /// Where the load is.
    pub(super) site: Option<Site>,
    /// The array.
    pub(super) array: ArrayId,
    /// Its axis.
    pub(super) axis: u8,
    /// Elements of a tile along it.
    pub(super) tile: i64,
    /// The extent.
    pub(super) extent: i64,
    /// Whether every block surely reads there.
    pub(super) is_certain: bool,
}

/// The operands of products that have undetermined elements along K, as far as bounds of the indices say.
pub(super) fn beyond(func: &Func, with: &Concrete) -> Vec<Beyond> {
    let index = Index::new(func);
    let mut found = Vec::new();
    func.walk(func.body(), &mut |_, op| {
        for at in 0..if op.kind == Kind::Mma { 2 } else { 0 } {
            let more = operand(&index, with, op.operands[at], at);
            found.extend(more.filter(|more| !found.contains(more)));
        }
    });
    found
}

/// The same of the left or the right operand of a product.
fn operand(index: &Index<'_>, with: &Concrete, value: Value, at: usize) -> Option<Beyond> {
    let func = index.func;
    let traced = trace(func, value)?;
    let op = func.op(traced.load);
    let Kind::Load(view) = &op.kind else { return None };
    let axis = traced.axes[traced.axes.len() - 1 - at]?;
    let Array::Param(_) = func.arrays()[view.array.index()] else { return None };
    if view.padding != Padding::Undetermined || !view.check || view.order != Order::Weak {
        return None;
    }
    let region = index.region_of(traced.load)?;
    let conditions = index.conditions(region);
    let intervals = Intervals::new(index, with, &conditions);
    let begin = op.operands[axis];
    let (low, high) = intervals.value(begin)?;
    let (tile, step) = (i128::from(view.tile[axis]), i128::from(view.steps[axis]));
    let extent = *with.extents.get(view.array.index())?.get(axis)?;
    if high.checked_mul(step)? + tile <= extent.into() {
        return None;
    }
    // The last number of a loop that begins and ends somewhere known, and goes through all numbers.
    let is_last = index.argument(begin).is_some_and(|(around, _, at)| {
        let bounds = [0, 1, 2].map(|at| around.operands.get(at).and_then(|&value| intervals.value(value)));
        around.kind == Kind::For
            && at == 0
            && bounds.iter().all(|bound| bound.is_some_and(|bound| bound.0 == bound.1))
            && bounds[2] == Some((1, 1))
            && bounds[0].map(|bound| bound.0) <= bounds[1].map(|bound| bound.1 - 1)
    });
    let plain = conditions.is_empty()
        && index.loops(region).iter().all(|&id| {
            let around = func.op(id);
            around.kind == Kind::For && !func.leaves(around.regions[0])
        });
    let is_certain = plain && (is_last || low == high);
    let (tile, axis) = (view.tile[axis].into(), fit::axis(axis));
    Some(Beyond { site: op.site, array: view.array, axis, tile, extent, is_certain })
}
