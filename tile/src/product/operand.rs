//! From an operand of a product to the load that it comes from, and which of the load's axes is which mode.

use std::collections::HashMap;

use girih_tensor::DType;

use super::refused;
use super::scales::{Factor, factors};
use crate::error::Refusal;
use crate::ir::table::Each;
use crate::ir::{Def, Dims, Func, Kind, Op, OpId, Rounding, Value};

/// What an axis of a tile counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Role {
    /// Rows of C.
    M,
    /// Columns of C.
    N,
    /// Products that are summed.
    K,
    /// Nothing: the axis has one element.
    One,
}

/// A loaded operand.
pub(super) struct Operand {
    pub(super) load: OpId,
    pub(super) loaded: Value,
    /// The roles of the load's axes.
    pub(super) roles: Vec<Role>,
    /// The dtype that is multiplied.
    pub(super) dtype: DType,
    /// The dtype in memory, if it is one of 8 bits that is converted.
    pub(super) narrow: Option<DType>,
    /// What the converted numbers are multiplied by before they are an operand.
    pub(super) scales: Vec<Factor>,
    pub(super) latency: Option<u8>,
    pub(super) tma: bool,
}

/// The roles of a tile's last two axes, behind axes of one element.
pub(super) fn named(rank: usize, last: [Role; 2]) -> Vec<Role> {
    std::iter::repeat_n(Role::One, rank.saturating_sub(2)).chain(last).collect()
}

/// Whether a dtype has every number of another one, of 8 bits.
fn has(dtype: DType, narrow: DType) -> bool {
    match narrow {
        DType::E4m3 => matches!(dtype, DType::F16 | DType::Bf16 | DType::F32),
        _ => matches!(dtype, DType::S16 | DType::S32 | DType::F16 | DType::Bf16 | DType::F32),
    }
}

/// The operand of a product whose axes have these roles.
///
/// An operand of bf16 may be one of 8 bits in memory, which is converted without being rounded, and multiplied by scales. The product is then
/// that of the numbers as they are, scaled behind: what the program rounds of the scaled numbers, the kernel does not round.
pub(super) fn of(func: &Func, value: Value, roles: Vec<Role>) -> Result<Operand, Refusal> {
    let dtype = func.ty(value).dtype;
    let (mut at, mut roles) = (value, roles);
    // The dtypes that numbers go through, those behind scales apart, and the scales.
    let (mut through, mut scales) = (Vec::new(), Vec::new());
    loop {
        let Def::Result(id, _) = func.value(at).def else {
            return Err(Refusal::new("an operand of the product comes from outside of the loop"));
        };
        let op = func.op(id);
        match &op.kind {
            Kind::Load(view) => {
                let (latency, tma) = (view.latency, view.tma);
                let narrow = (!through.is_empty()).then(|| func.ty(at).dtype);
                return Ok(Operand { load: id, loaded: at, roles, dtype, narrow, scales, latency, tma });
            }
            Kind::Permute(axes) => roles = permuted(&roles, axes),
            Kind::Reshape => {
                let (from, to) = (func.ty(op.operands[0]).dims, func.ty(at).dims);
                roles = reshaped(&roles, &from, &to).ok_or_else(|| {
                    refused(
                        op,
                        format!(
                            "an operand is reshaped from {from} to {to}: axes of one element may come and go"
                        ),
                    )
                })?;
            }
            Kind::Cast(Rounding::Nearest)
                if dtype == DType::Tf32
                    && func.ty(op.operands[0]).dtype == DType::F32
                    && func.ty(at).dtype == DType::Tf32 => {}
            Kind::Cast(Rounding::Nearest) if dtype == DType::Bf16 => {
                through.push(func.ty(at).dtype);
                let narrow = loaded(func, op.operands[0]);
                if !narrow.is_some_and(|narrow| through.iter().all(|&dtype| has(dtype, narrow))) {
                    return Err(converted(func, op, at));
                }
            }
            Kind::Cast(_) => return Err(converted(func, op, at)),
            // Of integers and of floats of 8 bits, the product is one that wraps or is rounded.
            Kind::Each { op: Each::Mul, .. }
                if dtype == DType::Bf16
                    && scales.is_empty()
                    && matches!(func.ty(at).dtype, DType::F32 | DType::Bf16) =>
            {
                let mut all = factors(func, &[at], &roles);
                let narrow =
                    |of: &Factor| of.value != at && of.is_whole() && loaded(func, of.value).is_some();
                let Some(own) = all.iter().position(narrow) else {
                    return Err(refused(op, "an operand of the product is computed, and not loaded"));
                };
                let number = all.remove(own);
                (at, roles, scales) = (number.value, number.roles(), all);
                through.clear();
                continue;
            }
            _ => return Err(refused(op, "an operand of the product is computed, and not loaded")),
        }
        at = op.operands[0];
    }
}

/// That an operand is converted to a dtype that is not taken.
fn converted(func: &Func, op: &Op, to: Value) -> Refusal {
    let [from, to] = [op.operands[0], to].map(|value| func.ty(value).dtype);
    refused(op, format!("an operand of {from} is converted to {to}"))
}

/// The dtype of 8 bits that a value is loaded in, if it is converted since, or scaled.
fn loaded(func: &Func, value: Value) -> Option<DType> {
    let Def::Result(id, _) = func.value(value).def else { return None };
    let op = func.op(id);
    match &op.kind {
        Kind::Load(_) => Some(func.ty(value).dtype).filter(|dtype| matches!(dtype, DType::S8 | DType::E4m3)),
        Kind::Cast(_) | Kind::Permute(_) | Kind::Reshape => loaded(func, op.operands[0]),
        Kind::Each { op: Each::Mul, .. } => op.operands.iter().find_map(|&operand| loaded(func, operand)),
        _ => None,
    }
}

/// The roles of the operand of a permutation, by those of its result.
pub(super) fn permuted<R: Copy>(roles: &[R], axes: &Dims) -> Vec<R> {
    let mut before = roles.to_vec();
    for (role, &axis) in roles.iter().zip(axes.iter()) {
        before[axis as usize] = *role;
    }
    before
}

/// The roles of a tile of shape `from`, by those of the tile of shape `to` that it is reshaped to, if only axes of one element come or go.
pub(super) fn reshaped(roles: &[Role], from: &Dims, to: &Dims) -> Option<Vec<Role>> {
    let longer = |dims: &Dims| dims.iter().copied().filter(|&n| n != 1).collect::<Vec<_>>();
    if longer(from) != longer(to)
        || roles.iter().zip(to.iter()).any(|(role, &n)| n == 1 && *role != Role::One)
    {
        return None;
    }
    let mut of_longer = roles.iter().zip(to.iter()).filter(|(_, n)| **n != 1).map(|(role, _)| *role);
    from.iter().map(|&n| if n == 1 { Some(Role::One) } else { of_longer.next() }).collect()
}

/// The value without reshapes that add or remove axes of one element.
pub(super) fn without_units(func: &Func, mut value: Value) -> Value {
    while let Def::Result(id, _) = func.value(value).def {
        let op = func.op(id);
        let longer =
            |value: Value| func.ty(value).dims.iter().copied().filter(|&n| n != 1).collect::<Vec<_>>();
        if op.kind != Kind::Reshape || longer(value) != longer(op.operands[0]) {
            break;
        }
        value = op.operands[0];
    }
    value
}

/// The roles of values that are computed element by element from one whose axes have roles.
pub(super) struct Follow<'a> {
    func: &'a Func,
    found: HashMap<Value, Option<Vec<Role>>>,
}

impl<'a> Follow<'a> {
    pub(super) fn new(func: &'a Func, from: Value, roles: &[Role]) -> Follow<'a> {
        Follow { func, found: HashMap::from([(from, Some(roles.to_vec()))]) }
    }

    /// The roles of a value's axes, if it is computed so.
    pub(super) fn of(&mut self, value: Value) -> Option<Vec<Role>> {
        if let Some(found) = self.found.get(&value) {
            return found.clone();
        }
        let roles = self.follow(value);
        self.found.insert(value, roles.clone());
        roles
    }

    fn follow(&mut self, value: Value) -> Option<Vec<Role>> {
        let func = self.func;
        let Def::Result(id, _) = func.value(value).def else { return None };
        let op = func.op(id);
        let dims = func.ty(value).dims;
        match &op.kind {
            Kind::Each { .. } => op.operands.iter().find_map(|&operand| self.of(operand)),
            Kind::Cast(_) | Kind::Bitcast => self.of(op.operands[0]),
            Kind::Broadcast if func.ty(op.operands[0]).dims == dims => self.of(op.operands[0]),
            Kind::Permute(axes) => {
                let before = self.of(op.operands[0])?;
                axes.iter().map(|&axis| before.get(axis as usize).copied()).collect()
            }
            Kind::Reshape => {
                let before = self.of(op.operands[0])?;
                reshaped(&before, &dims, &func.ty(op.operands[0]).dims)
            }
            _ => None,
        }
    }
}
