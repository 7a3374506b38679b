//! Expansion of functions without an instruction into arithmetic.

use super::rebuild::{Copy, Pass, rebuild};
use crate::ir::{Func, Op, Value};
use crate::math;

/// Writes out the functions of [`math::expands`].
pub fn expand(func: &Func) -> Func {
    rebuild(func, &mut Expand)
}

struct Expand;

impl Pass for Expand {
    fn replace(&mut self, copy: &mut Copy<'_>, op: &Op, operands: &[Value]) -> Option<Vec<Value>> {
        let &result = op.results.first()?;
        let ty = copy.func.ty(result);
        math::expand(&mut copy.b, &op.kind, operands, ty).map(|value| vec![value])
    }
}
