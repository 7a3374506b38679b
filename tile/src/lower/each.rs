//! Functions element by element, each an instruction or a few.

use girih_codegen::algorithm::element::{How, apply, quotients};
use girih_codegen::{Expr, Reg};
use girih_tensor::DType;

use super::{Held, Lowering};
use crate::error::Result;
use crate::ir::table::Each;
use crate::ir::{Op, OpId, Rounding};

impl Lowering<'_> {
    /// Lowers [`Kind::Each`](crate::ir::Kind::Each).
    pub(crate) fn each(&mut self, id: OpId, op: &Op, function: Each, how: How) -> Result {
        let result = op.results[0];
        let ty = self.plan.func.ty(result);
        if ty.dims.rank() == 0
            && let Some(expr) = self.scalar_each(function, &op.operands, ty.dtype)?
        {
            self.hold(result, Held::Index(expr));
            return Ok(());
        }
        let exact = how.rounding == Rounding::Nearest && !how.ftz;
        if function == Each::Mul && exact && self.scale_where_needed(id)? {
            return Ok(());
        }
        let dtype = self.plan.func.ty(op.operands[op.operands.len() - 1]).dtype;
        let operands = op.operands.iter().map(|&value| self.regs(value)).collect::<Result<Vec<_>, _>>()?;
        let size = self.plan.dist(result).size();
        if operands.iter().any(|regs| regs.len() != size) {
            return Err(self.misplaced(id));
        }
        let mut regs: Vec<Reg> = Vec::with_capacity(size);
        let full = how.rounding == Rounding::Full && !how.ftz;
        // Approximate ones are judged by the divisor alone.
        let judged = if full { &op.operands[1..] } else { &op.operands[..] };
        let divides = function == Each::TrueDiv && dtype == DType::F32 && (exact || full);
        if divides && judged.iter().all(|&value| self.is_judged(value)) {
            let pairs: Vec<_> = operands[0].iter().zip(&operands[1]).collect();
            regs = quotients(&mut self.b, &pairs, how.rounding)?;
        }
        for i in regs.len()..size {
            let args: Vec<&Reg> = operands.iter().map(|regs| &regs[i]).collect();
            // Elements that share their registers share the result.
            let same = (0..i).rev().take(1).find(|&k| operands.iter().all(|regs| regs[k] == regs[i]));
            let reg = match same {
                Some(k) => regs[k].clone(),
                None => apply(&mut self.b, function, how, dtype, &args)?
                    .ok_or_else(|| self.unsupported(id, "no instruction has this function"))?,
            };
            regs.push(reg);
        }
        if dtype == DType::F32 && function != Each::Select && ty.dtype == DType::F32 {
            self.compute_meanwhile(&regs);
        }
        self.hold_regs(result, regs)?;
        if ty.dims.rank() == 0 {
            self.narrow(function, &op.operands, result)?;
        }
        Ok(())
    }
}

/// Whether an index expression is a number of an integer dtype whatever its registers hold.
pub(crate) fn fits(expr: &Expr, dtype: DType) -> bool {
    let ((lower, upper), (least, most)) = (expr.range(), crate::dtype::range(dtype));
    dtype.is_integer() && lower >= least && upper <= most
}
