//! Conditions: two ways of which a block goes one.

use girih_codegen::{Cond, Reg};
use girih_tensor::DType;

use super::Lowering;
use crate::error::Result;
use crate::ir::{End, Op, OpId, RegionId};

impl Lowering<'_> {
    /// A condition with two sides.
    pub(crate) fn if_else(&mut self, id: OpId, op: &Op) -> Result {
        let cond = self.reg(op.operands[0])?;
        let cond = self.b.cond_in(&cond)?;
        let mut results: Vec<Vec<Reg>> = Vec::new();
        for (at, &value) in op.results.iter().enumerate() {
            let own = self.passed_on(id, at).filter(|regs| !results.contains(regs));
            results.push(match own {
                _ if !self.knows(value) => Vec::new(),
                Some(regs) => regs,
                None => self.fresh(value),
            });
        }
        let before = self.state();
        let meanwhile = self.meanwhile();
        let beside = self.begin_beside(id);
        let second = |low: &mut Self| {
            let first = low.state();
            low.set_state(before);
            low.side(op.regions[1], &results)?;
            low.join_state(first);
            Ok(())
        };
        self.either(cond, |low| low.side(op.regions[0], &results), second)?;
        self.end_beside(beside);
        self.set_meanwhile(meanwhile);
        for (&result, regs) in op.results.iter().zip(results) {
            if self.plan.func.ty(result).dtype == DType::F32 {
                self.compute_meanwhile(&regs);
            }
            self.hold_regs(result, regs)?;
        }
        Ok(())
    }

    /// Goes one of two ways, as a condition says.
    pub(super) fn either(
        &mut self,
        cond: Cond,
        one: impl FnOnce(&mut Self) -> Result,
        other: impl FnOnce(&mut Self) -> Result,
    ) -> Result {
        let around = self.b.open_block();
        let beside = self.b.open_block();
        self.b.leave(&beside, &Cond::not(cond), self.alike)?;
        one(self)?;
        self.b.leave(&around, &Cond::Always, self.alike)?;
        self.b.close_block(beside)?;
        other(self)?;
        Ok(self.b.close_block(around)?)
    }

    /// The same; what either way gives is moved to registers.
    pub(super) fn either_of(
        &mut self,
        regs: &[Reg],
        cond: Cond,
        one: impl FnOnce(&mut Self) -> Result<Vec<Reg>>,
        other: impl FnOnce(&mut Self) -> Result<Vec<Reg>>,
    ) -> Result {
        let moved = |low: &mut Self, got: Vec<Reg>| Ok(low.b.move_all(regs, &got)?);
        let one = |low: &mut Self| one(low).and_then(|got| moved(low, got));
        self.either(cond, one, |low| other(low).and_then(|got| moved(low, got)))
    }

    fn side(&mut self, region: RegionId, results: &[Vec<Reg>]) -> Result {
        self.region(region)?;
        if let End::Yield(values) = &self.plan.func.region(region).end {
            let mut sources = Vec::new();
            for (&value, _) in values.iter().zip(results).filter(|(_, regs)| !regs.is_empty()) {
                sources.extend(self.regs(value)?);
            }
            self.b.move_all(&results.concat(), &sources)?;
        }
        Ok(())
    }
}
