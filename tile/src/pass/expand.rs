//! Functions that have no instruction become arithmetic.

use super::rebuild::rebuild;
use crate::ir::Func;
use crate::math;

/// Writes out the functions of [`math::expands`].
pub fn expand(func: &Func) -> Func {
    rebuild(func, |copy, op, operands| {
        let &result = op.results.first()?;
        let ty = copy.func.ty(result);
        math::expand(&mut copy.b, &op.kind, operands, ty).map(|value| vec![value])
    })
}
