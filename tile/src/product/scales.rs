//! Scales of blocks: sums of products of 128 elements of K are multiplied by a scale of each row of A and by one of the block of B.

use girih_tensor::DType;

use super::operand::{Role, permuted, reshaped};
use super::refused;
use crate::error::Refusal;
use crate::facts::{Index, Poly};
use crate::ir::table::Each;
use crate::ir::{Array, ArrayId, Def, Func, Kind, Known, Op, Order, Rounding, Value};

/// The elements of K, and the columns of C, that share a scale.
const BLOCK: i64 = 128;

/// The arrays of the scales of A and of B, (M, K / 128) and (N / 128, K / 128): of each the array, and its axes in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scales(pub [(ArrayId, [u8; 2]); 2]);

/// The factors of a product of tiles whose axes are rows and columns of C, each with the roles of its own axes.
fn factors(func: &Func, value: Value, roles: &[Role], found: &mut Vec<(Value, Vec<Role>)>) {
    let Def::Result(id, _) = func.value(value).def else { return found.push((value, roles.to_vec())) };
    let op = func.op(id);
    let dims = |value: Value| func.ty(value).dims;
    match &op.kind {
        Kind::Each { op: Each::Mul, rounding: Rounding::Nearest, ftz: false, .. } => {
            op.operands.iter().for_each(|&operand| factors(func, operand, roles, found));
        }
        Kind::Broadcast => {
            let before = dims(op.operands[0]);
            let role = |(role, &n): (&Role, &u32)| if n == 1 { Role::One } else { *role };
            let before: Vec<Role> = roles.iter().zip(before.iter()).map(role).collect();
            factors(func, op.operands[0], &before, found);
        }
        Kind::Permute(axes) => factors(func, op.operands[0], &permuted(roles, axes), found),
        Kind::Reshape if let Some(before) = reshaped(roles, &dims(op.operands[0]), &dims(value)) => {
            factors(func, op.operands[0], &before, found);
        }
        _ => found.push((value, roles.to_vec())),
    }
}

/// The scales by which a product is multiplied before it is added to the sums. `at` are the indices of rows, columns and along K.
pub(super) fn of(
    func: &Func,
    index: &Index<'_>,
    (op, scaled, result): (&Op, Value, Value),
    tile: [i64; 3],
    at: [&Poly; 3],
) -> Result<Scales, Refusal> {
    let rank = func.ty(scaled).dims.rank();
    let (mut all, roles) = (Vec::new(), super::operand::named(rank, [Role::M, Role::N]));
    factors(func, scaled, &roles, &mut all);
    // The product itself is a factor once, as it lies; another time it is no scale.
    if let Some(own) = all.iter().position(|of| of.0 == result && of.1 == roles) {
        all.remove(own);
    }
    if tile[1..] != [BLOCK; 2] {
        return Err(refused(
            op,
            "a product is scaled: tiles of 128 columns and 128 elements of K are accepted",
        ));
    }
    let [x, y] = &all[..] else {
        return Err(refused(
            op,
            format!("a product has {} scales, one of A and one of B are accepted", all.len()),
        ));
    };
    let read = |of: &(Value, Vec<Role>), block: i64, own: &Poly| {
        let Def::Result(id, _) = func.value(of.0).def else { return None };
        let load = func.op(id);
        let Kind::Load(view) = &load.kind else { return None };
        let Array::Param(param) = &func.arrays()[view.array.index()] else { return None };
        let is_narrow = load.operands.iter().any(|&at| index.narrows(at));
        let plain =
            !is_narrow && view.order == Order::Weak && view.steps == view.tile && func.is_pure(&load.kind);
        if !plain || param.dtype != DType::F32 || view.tile.rank() != 2 {
            return None;
        }
        let along = |axis: usize| index.poly(load.operands[axis]) == *at[2] && view.tile[axis] == 1;
        let rows = (0..2).find(|&axis| {
            index.poly(load.operands[axis]) == *own && i64::from(view.tile[axis]) == block && along(1 - axis)
        })?;
        let is_along = |(axis, role): (usize, &Role)| match axis == rows && block > 1 {
            true => *role == Role::M,
            false => *role == Role::One,
        };
        let lies = param.strides[rows] == Known::Is(1) && of.1.iter().enumerate().all(is_along);
        lies.then_some((view.array, [rows as u8, 1 - rows as u8]))
    };
    let pair = |a, b| Some(Scales([read(a, tile[0], at[0])?, read(b, 1, at[1])?]));
    pair(x, y).or_else(|| pair(y, x)).ok_or_else(|| {
        let why = "the scales of a product are loaded from arrays (M, K / 128) and (N / 128, K / 128) whose first axes are contiguous";
        refused(op, why)
    })
}
