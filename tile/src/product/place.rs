//! The place of a tile in a matrix.

use super::groups::Groups;
use super::operand::Role;
use super::refused;
use crate::error::Refusal;
use crate::facts::{Index, Poly};
use crate::fit;
use crate::ir::{Array, ArrayId, Func, Op, OpId, Order, Value, View};

/// An access to a tile of a matrix.
pub(super) struct Place {
    pub(super) array: ArrayId,
    pub(super) modes: [u8; 2],
    pub(super) batch: Option<u8>,
    pub(super) tile: [u32; 2],
    pub(super) at: [Poly; 2],
    pub(super) values: [Value; 2],
    pub(super) batch_at: Option<Poly>,
    pub(super) batch_value: Option<Value>,
}

/// The groups of rows that the loops around a store go through.
pub(super) fn groups_of(
    func: &Func,
    index: &Index<'_>,
    path: &[(OpId, usize)],
    (store, view): (&Op, &View),
    roles: &[Role],
) -> Result<Groups, Refusal> {
    if roles != [Role::M, Role::N] {
        return Err(refused(store, "of groups, rows of C are stored as they lie"));
    }
    let (c, _) = func.param_of(view.array);
    let tile = [0, 1].map(|axis| i64::from(view.tile[axis]));
    Groups::of(func, index, path, (c, store), [store.operands[1], store.operands[2]], tile)
}

/// Where an access finds the tile of a matrix, whose axes have roles. Its first `skip` operands are not the index. The first mode may be that
/// of groups of rows.
pub(super) fn located(
    func: &Func,
    op: &Op,
    view: &View,
    roles: &[Role],
    modes: [Role; 2],
    skip: usize,
    (index, groups): (&Index<'_>, Option<&Groups>),
) -> Result<Place, Refusal> {
    if view.order != Order::Weak {
        return Err(refused(op, "the access has an order"));
    }
    let rows = roles.iter().position(|role| *role == modes[0]);
    let part = groups.zip(rows).and_then(|(groups, rows)| groups.rows_of(func, view.array, rows));
    let array = part.unwrap_or(view.array);
    if matches!(func.arrays()[array.index()], Array::Slice { .. }) {
        return Err(refused(op, "the access is to a part of an array"));
    }
    // Rows of a group may be counted from the first one of all groups.
    let all_rows = groups.zip(rows).filter(|(groups, rows)| {
        part.is_none()
            && view.steps[*rows] == 1
            && groups.is_row(index, &index.poly(op.operands[skip + *rows]))
    });
    let steps = match all_rows {
        Some((_, rows)) => view.steps.with(rows, view.tile[rows]),
        None => view.steps,
    };
    if steps != view.tile {
        return Err(refused(op, "the tiles overlap or leave gaps"));
    }
    if groups.is_some() && part.is_none() && all_rows.is_none() {
        return Err(refused(op, "the rows are not those of the group"));
    }
    let at = |axis: usize| op.operands[skip + axis];
    let mut found = [None; 2];
    let mut batch = None;
    for (axis, role) in roles.iter().enumerate() {
        if let Some(mode) = modes.iter().position(|mode| mode == role) {
            found[mode] = Some(axis);
            continue;
        }
        // One of the axis: the only index that it has, or the matrix.
        match index.poly(at(axis)).as_number() {
            Some(0) => {}
            Some(_) => return Err(refused(op, "an axis of one element has another index than 0")),
            None if batch.is_none() => batch = Some(axis),
            None => return Err(refused(op, "two axes count matrices, one is accepted")),
        }
    }
    let [Some(x), Some(y)] = found else {
        return Err(refused(op, "the tile does not have the two modes of a matrix"));
    };
    let index_at = |axis: usize| match all_rows {
        Some((groups, rows)) if rows == axis => index.poly(groups.row),
        _ => index.poly(at(axis)),
    };
    Ok(Place {
        array,
        modes: [fit::axis(x), fit::axis(y)],
        batch: batch.map(fit::axis),
        tile: [view.tile[x], view.tile[y]],
        at: [x, y].map(index_at),
        values: [x, y].map(at),
        batch_at: batch.map(|axis| index.poly(at(axis))),
        batch_value: batch.map(at),
    })
}
