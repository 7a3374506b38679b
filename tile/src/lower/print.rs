//! Printing and assertions.

use girih_codegen::algorithm::distributed::redistribute;
use girih_codegen::plan::Dist;
use girih_codegen::{Cond, Expr, Scalar};
use girih_ptx::{Opcode, Type};

use super::Lowering;
use super::words::{m, of};
use crate::error::{Fault, Result};
use crate::ir::{Op, OpId};
use crate::place::product::whole;

/// The most elements of a tile that are printed.
const ELEMENTS: u64 = 1024;

impl Lowering<'_> {
    /// Lowers [`Kind::Print`](crate::ir::Kind::Print): one thread prints, of tiles once for each element, row-major.
    pub(crate) fn print(&mut self, id: OpId, op: &Op, format: &str) -> Result {
        let mut operands = Vec::new();
        for &value in &op.operands {
            let ty = self.plan.func.ty(value);
            if ty.dims.size() > ELEMENTS {
                return Err(self.refused(id, Fault::PrintSize { ty, most: ELEMENTS }));
            }
            let regs = self.regs(value)?;
            // Every thread holds all elements, row-major.
            let all = ty.dims.iter().enumerate().rev();
            let all = all.fold(Dist::scalar(self.plan.threads.into()), |dist, (mode, &extent)| {
                whole(dist, mode, 1, extent.into())
            });
            let regs = redistribute(self, ty.dtype, &ty.dims, [self.plan.dist(value), &all], &regs)?;
            operands.push((ty, regs));
        }
        let first = Cond::less(&self.thread, &Expr::from(1));
        let around = self.b.open_block();
        self.b.leave(&around, &Cond::not(first), false)?;
        let count = operands.iter().map(|(_, regs)| regs.len()).max().unwrap_or(1);
        for element in 0..count {
            let mut values: Vec<Scalar> = Vec::new();
            for (ty, regs) in &operands {
                let reg = regs.get(element).or(regs.first());
                values.extend(reg.map(|reg| self.b.scalar_in(reg, ty.dtype)).transpose()?);
            }
            self.b.printf(format, &values.iter().collect::<Vec<_>>())?;
        }
        Ok(self.b.close_block(around)?)
    }

    /// Lowers [`Kind::Assert`](crate::ir::Kind::Assert): a thread with an element that is false prints the message and traps.
    pub(crate) fn assert(&mut self, op: &Op, message: &str) -> Result {
        let value = op.operands[0];
        let (dist, dims) = (self.plan.dist(value), self.plan.func.ty(value).dims);
        let padded = self.is_padded(dist, &dims);
        let mut all = None;
        for (at, reg) in self.regs(value)?.into_iter().enumerate() {
            let mut holds = reg;
            if padded {
                let inside = self.inside(dist, at, &dims)?;
                let outside = self.b.cond(&Cond::not(inside))?;
                holds = self.make(Type::Pred, Opcode::Or, m![Type::Pred], of([&holds, &outside]));
            }
            all = Some(match all {
                None => holds,
                Some(all) => self.make(Type::Pred, Opcode::And, m![Type::Pred], of([&all, &holds])),
            });
        }
        let Some(all) = all else { return Ok(()) };
        let holds = self.b.cond_in(&all)?;
        let site = op.site.map(|site| format!("{site}: ")).unwrap_or_default();
        let text = format!("{site}assertion failed: {message}\n").replace('%', "%%").replace('\0', " ");
        self.trap_unless(&holds, Some(&text))
    }

    /// Ends the kernel with an error unless a condition holds; a thread in which it does not prints a text first.
    pub(super) fn trap_unless(&mut self, holds: &Cond, text: Option<&str>) -> Result {
        let around = self.b.open_block();
        self.b.leave(&around, holds, false)?;
        text.map(|text| self.b.printf(text, &[])).transpose()?;
        self.b.ptx("trap;", &[])?;
        Ok(self.b.close_block(around)?)
    }
}
