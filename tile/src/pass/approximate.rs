//! Quotients that only approximate functions read are approximate too.
//!
//! The relative error of `tanh`, of a square root and of a reciprocal square root is at most that of the argument, since `|x f'(x)| <= |f(x)|`.
//! A quotient to two units in the last place adds 2^-22 to the 2^-11 of `tanh.approx`, and takes one instruction where one number divides many.

use std::collections::HashMap;

use girih_tensor::DType;

use super::rebuild::{Copy, Pass, rebuild};
use super::uses::readers;
use crate::ir::table::Each;
use crate::ir::{Func, Kind, Op, OpId, Rounding, Value};

/// The function with such quotients of f32 computed by `div.full`.
pub fn approximate(func: &Func) -> Func {
    rebuild(func, &mut Approximate { readers: readers(func) })
}

struct Approximate {
    readers: HashMap<Value, Vec<Option<OpId>>>,
}

impl Pass for Approximate {
    fn replace(&mut self, copy: &mut Copy<'_>, op: &Op, operands: &[Value]) -> Option<Vec<Value>> {
        let func = copy.func;
        let exact = Kind::each_rounded(Each::TrueDiv, Rounding::Nearest);
        let &result = op.results.first()?;
        let (ty, readers) = (func.ty(result), self.readers.get(&result)?);
        let tolerates = |reader: &Option<OpId>| {
            let kind = reader.map(|id| &func.op(id).kind);
            matches!(
                kind,
                Some(&Kind::Each {
                    op: Each::Tanh | Each::Sqrt | Each::Rsqrt,
                    rounding: Rounding::Approx,
                    ..
                })
            )
        };
        let takes = op.kind == exact && ty.dtype == DType::F32 && readers.iter().all(tolerates);
        let full = Kind::each_rounded(Each::TrueDiv, Rounding::Full);
        takes.then(|| vec![copy.b.push1(full, operands, ty)])
    }
}
