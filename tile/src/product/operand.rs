//! From an operand of a product to the load that it comes from, and which of the load's axes is which mode.

use std::collections::HashMap;

use girih_tensor::DType;

use super::refused;
use crate::error::Refusal;
use crate::ir::{Def, Dims, Func, Kind, OpId, Rounding, Value};

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
    pub(super) latency: Option<u8>,
    pub(super) tma: bool,
}

/// The roles of a tile's last two axes, behind axes of one element.
pub(super) fn named(rank: usize, last: [Role; 2]) -> Vec<Role> {
    std::iter::repeat_n(Role::One, rank.saturating_sub(2)).chain(last).collect()
}

/// The operand of a product whose axes have these roles.
pub(super) fn of(func: &Func, value: Value, roles: Vec<Role>) -> Result<Operand, Refusal> {
    let dtype = func.ty(value).dtype;
    let (mut at, mut roles) = (value, roles);
    loop {
        let Def::Result(id, _) = func.value(at).def else {
            return Err(Refusal::new("an operand of the product comes from outside of the loop"));
        };
        let op = func.op(id);
        match &op.kind {
            Kind::Load(view) => {
                let (latency, tma) = (view.latency, view.tma);
                return Ok(Operand { load: id, loaded: at, roles, dtype, latency, tma });
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
            Kind::Cast(_) => {
                let from = func.ty(op.operands[0]).dtype;
                return Err(refused(
                    op,
                    format!("an operand of {from} is converted to {}", func.ty(at).dtype),
                ));
            }
            _ => return Err(refused(op, "an operand of the product is computed, and not loaded")),
        }
        at = op.operands[0];
    }
}

/// The roles of the operand of a permutation, by those of its result.
pub(super) fn permuted(roles: &[Role], axes: &Dims) -> Vec<Role> {
    let mut before = vec![Role::One; roles.len()];
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
