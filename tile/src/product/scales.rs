//! Scales: sums of products of 128 elements of K are multiplied by a scale of each row of A and by one of the block of B, or by one of each
//! row of B, whose numbers of 8 bits are converted.
//!
//! ```text
//! product --factors--> (value, axes): the product itself, and what is loaded beside it --read--> Scale: array and axes
//! ```

use girih_codegen::gemm::MixedInput;
use girih_tensor::DType;

use super::operand::{Operand, Role, named, permuted};
use super::refused;
use crate::error::Refusal;
use crate::facts::{Atom, Index, Poly};
use crate::fit;
use crate::ir::table::Each;
use crate::ir::{Array, ArrayId, Def, Dims, Func, Kind, Known, Op, Order, Rounding, Value};

/// The elements of K, and the columns of C, that share a scale.
const BLOCK: i64 = 128;

/// An array of scales: its axes along rows, or blocks of rows, of an operand, and along K.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    /// The array, a parameter.
    pub array: ArrayId,
    /// The axes along rows and along K.
    pub axes: [u8; 2],
}

/// The scales of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scales {
    /// Those of blocks of A and of B: (M, K / 128) and (N / 128, K / 128).
    Blocks([Scale; 2]),
    /// Those of rows of B, whose numbers of 8 bits are converted: (N, K / 128).
    Rows(MixedInput, Scale),
}

/// What an axis of a tile counts: elements of a mode, in steps of `step`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Axis {
    role: Role,
    step: u32,
}

const UNIT: Axis = Axis { role: Role::One, step: 1 };

/// A factor of a product of tiles.
#[derive(Clone, Debug)]
pub(super) struct Factor {
    pub(super) value: Value,
    axes: Vec<Axis>,
}

impl Factor {
    /// Whether the axes count single elements.
    pub(super) fn is_whole(&self) -> bool {
        self.axes.iter().all(|axis| axis.step == 1)
    }

    /// The roles of the axes.
    pub(super) fn roles(&self) -> Vec<Role> {
        self.axes.iter().map(|axis| axis.role).collect()
    }
}

/// The factors of the product of values whose axes have these roles. Permutations, broadcasts, reshapes and conversions that round nothing may
/// come between.
pub(super) fn factors(func: &Func, values: &[Value], roles: &[Role]) -> Vec<Factor> {
    let mut found = Vec::new();
    for &value in values {
        let axis = |(&role, &n): (&Role, &u32)| if n == 1 { UNIT } else { Axis { role, step: 1 } };
        let axes: Vec<Axis> = roles.iter().zip(func.ty(value).dims.iter()).map(axis).collect();
        follow(func, value, axes, &mut found);
    }
    found
}

fn follow(func: &Func, value: Value, axes: Vec<Axis>, found: &mut Vec<Factor>) {
    let Def::Result(id, _) = func.value(value).def else { return found.push(Factor { value, axes }) };
    let op = func.op(id);
    let ty = |at: usize| func.ty(op.operands[at]);
    match &op.kind {
        Kind::Each { op: Each::Mul, rounding: Rounding::Nearest, ftz: false, .. } => {
            op.operands.iter().for_each(|&operand| follow(func, operand, axes.clone(), found));
        }
        Kind::Broadcast => {
            let axis = |(axis, &n): (&Axis, &u32)| if n == 1 { UNIT } else { *axis };
            let before = axes.iter().zip(ty(0).dims.iter()).map(axis).collect();
            follow(func, op.operands[0], before, found);
        }
        Kind::Permute(order) => follow(func, op.operands[0], permuted(&axes, order), found),
        Kind::Cast(_) if ty(0).dtype == DType::Bf16 && func.ty(value).dtype == DType::F32 => {
            follow(func, op.operands[0], axes, found);
        }
        Kind::Reshape if let Some(before) = reshaped(&axes, &ty(0).dims, &func.ty(value).dims) => {
            follow(func, op.operands[0], before, found);
        }
        _ => found.push(Factor { value, axes }),
    }
}

/// The axes of a tile of shape `from`, by those of the tile of shape `to` that it is reshaped to, if each of them counts elements of one mode.
fn reshaped(axes: &[Axis], from: &Dims, to: &Dims) -> Option<Vec<Axis>> {
    // Axes are parted and joined from the last one on.
    let mut parts = axes.iter().copied().zip(to.iter().copied()).filter(|&(_, n)| n != 1).rev();
    let (mut part, mut before) = (None, Vec::new());
    for &n in from.iter().rev() {
        let (mut all, mut left) = (UNIT, n);
        while left > 1 {
            let (axis, extent) = part.take().or_else(|| parts.next())?;
            if left == n {
                all = axis;
            } else if axis.role != all.role || axis.step != all.step * (n / left) {
                return None;
            }
            let taken = extent.min(left);
            if extent % taken != 0 || left % taken != 0 {
                return None;
            }
            left /= taken;
            if extent > taken {
                part = Some((Axis { step: axis.step * taken, ..axis }, extent / taken));
            }
        }
        before.push(all);
    }
    before.reverse();
    (part.is_none() && parts.next().is_none()).then_some(before)
}

/// Where scales are looked for: the extents of a tile, and the indices of rows, columns and along K.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    pub(super) index: &'a Index<'a>,
    pub(super) tile: [i64; 3],
    pub(super) at: [&'a Poly; 3],
}

/// The scales by which a product, an operation with its result, is multiplied behind, if it is, or an operand before it is multiplied, and
/// whether they are those of the product with its operands in each other's place.
pub(super) fn of(
    func: &Func,
    at: At<'_>,
    op: &Op,
    scaled: Option<&[Value]>,
    operands: &[Operand; 2],
) -> Result<Option<(Scales, bool)>, Refusal> {
    let mut all = Vec::new();
    if let Some(values) = scaled {
        let result = op.results[0];
        let roles = named(func.ty(result).dims.rank(), [Role::M, Role::N]);
        all = factors(func, values, &named(func.ty(values[0]).dims.rank(), [Role::M, Role::N]));
        // The product itself is a factor once, as it lies.
        let own = |of: &Factor| of.value == result && of.is_whole() && of.roles() == roles;
        let Some(own) = all.iter().position(own) else { return Err(super::sums::not_summed(op)) };
        all.remove(own);
    }
    all.extend(operands.iter().flat_map(|operand| operand.scales.iter().cloned()));
    let narrow = [0, 1].map(|i| operands[i].narrow);
    if scaled.is_none() && narrow == [None; 2] {
        return Ok(None);
    }
    if at.tile[2] != BLOCK {
        let why =
            format!("a product is scaled by tiles of {} elements of K: {BLOCK} are accepted", at.tile[2]);
        return Err(refused(op, why));
    }
    let scales = match narrow {
        [None, None] => blocks(func, at, op, &all)?,
        [Some(_), Some(_)] => return Err(refused(op, "both operands are converted, one is accepted")),
        [Some(dtype), None] => (rows(func, at, op, (dtype, 0), &all)?, true),
        [None, Some(dtype)] => (rows(func, at, op, (dtype, 1), &all)?, false),
    };
    Ok(Some(scales))
}

fn blocks(func: &Func, at: At<'_>, op: &Op, all: &[Factor]) -> Result<(Scales, bool), Refusal> {
    let [x, y] = all else {
        let why = format!("a product has {} scales, one of A and one of B are accepted", all.len());
        return Err(refused(op, why));
    };
    let read = |of, mode, shared| read(func, at, of, mode, shared).filter(|(_, dtype)| *dtype == DType::F32);
    for turned in [false, true] {
        let [rows, shared] = if turned { [1, 0] } else { [0, 1] };
        let pair = |a, b| Some(Scales::Blocks([read(a, rows, 1)?.0, read(b, shared, BLOCK)?.0]));
        if let Some(found) = pair(x, y).or_else(|| pair(y, x)) {
            return Ok((found, turned));
        }
    }
    let why = "the scales of a product are loaded from arrays (M, K / 128) and (N / 128, K / 128) of f32 whose first axes are contiguous";
    Err(refused(op, why))
}

fn rows(
    func: &Func,
    at: At<'_>,
    op: &Op,
    (dtype, mode): (DType, usize),
    all: &[Factor],
) -> Result<Scales, Refusal> {
    let name = ["M", "N"][mode];
    let found = match all {
        [scale] => read(func, at, scale, mode, 1),
        _ => None,
    };
    let Some((array, scale)) = found else {
        let why = format!(
            "an operand of {dtype} is converted, and the product has {} scales: one from an array ({name}, K / 128) of f32 or bf16 whose \
             first axis is contiguous is accepted",
            all.len()
        );
        return Err(refused(op, why));
    };
    Ok(Scales::Rows(MixedInput { dtype, scale, group: BLOCK }, array))
}

/// The array that scales are loaded from, and its dtype, if this many elements of a mode have one.
fn read(func: &Func, at: At<'_>, of: &Factor, mode: usize, shared: i64) -> Option<(Scale, DType)> {
    let Def::Result(id, _) = func.value(of.value).def else { return None };
    let load = func.op(id);
    let Kind::Load(view) = &load.kind else { return None };
    let Array::Param(param) = &func.arrays()[view.array.index()] else { return None };
    let is_narrow = load.operands.iter().any(|&operand| at.index.narrows(operand));
    let plain =
        !is_narrow && view.order == Order::Weak && view.steps == view.tile && func.is_pure(&load.kind);
    if !plain || !MixedInput::SCALES.contains(&param.dtype) || view.tile.rank() != 2 {
        return None;
    }
    let (own, extent) = (at.at[mode], at.tile[mode]);
    // Tiles have scales of their own, or several of them have one.
    let own_scales = extent % shared == 0;
    let count = if own_scales { extent / shared } else { 1 };
    if !own_scales && shared % extent != 0 {
        return None;
    }
    let wanted = Axis { role: [Role::M, Role::N][mode], step: fit::word(shared) };
    let poly = |axis: usize| at.index.poly(load.operands[axis]);
    let is_rows = |axis: usize| {
        let found = poly(axis);
        let here = if own_scales { found == *own } else { is_part(&found, own, shared / extent) };
        here && i64::from(view.tile[axis]) == count && of.axes[axis] == if count > 1 { wanted } else { UNIT }
    };
    let is_along = |axis: usize| poly(axis) == *at.at[2] && view.tile[axis] == 1;
    let lies = |axis: usize| param.strides[axis] == Known::Is(1) && is_rows(axis) && is_along(1 - axis);
    let rows = (0..2).find(|&axis| lies(axis))?;
    Some((Scale { array: view.array, axes: [fit::axis(rows), 1 - fit::axis(rows)] }, param.dtype))
}

/// Whether an index is `own / by`, rounded down.
fn is_part(found: &Poly, own: &Poly, by: i64) -> bool {
    let mut terms = found.terms();
    let (Some(([Atom::Div(x, y)], 1)), None) = (terms.next(), terms.next()) else { return false };
    // Both may be multiplied by one number.
    let times = y.as_number().filter(|y| y % by == 0).map(|y| y / by);
    times.and_then(|times| own.times(&Poly::number(times))).is_some_and(|own| own == **x)
}
