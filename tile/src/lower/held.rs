//! What holds a value: registers, an index expression, or shared memory.

use girih_codegen::scalar::register;
use girih_codegen::{Expr, Reg, Width};
use girih_ptx::{Opcode, Operand};
use girih_tensor::DType;

use super::{Lowering, unfit, words};
use crate::error::Result;
use crate::ir::Value;

/// What lowering knows of a value.
#[derive(Clone, Debug)]
pub enum Held {
    /// Registers in the order of the distribution's values.
    Regs(Vec<Reg>),
    /// An integer scalar as an index expression, with its range and divisor.
    Index(Expr),
    /// The address in shared memory of a tile that no thread holds.
    Shared(Expr),
}

impl Lowering<'_> {
    /// Says what holds a value.
    pub(crate) fn hold(&mut self, value: Value, held: Held) {
        self.held[value.index()] = Some(held);
    }

    /// Says which registers hold a value. An integer scalar of at most 32 bits becomes an index expression.
    pub(crate) fn hold_regs(&mut self, value: Value, regs: Vec<Reg>) -> Result {
        let ty = self.plan.func.ty(value);
        match regs.as_slice() {
            // A combination runs on padding too, which may be beyond the range of a narrow dtype.
            [reg]
                if ty.dims.rank() == 0
                    && ty.dtype.is_integer()
                    && (ty.dtype.bits() == 32 || ty.dtype.bits() < 32 && self.alike) =>
            {
                self.hold_number(value, &reg.clone(), ty.dtype)
            }
            _ => {
                self.hold(value, Held::Regs(regs));
                Ok(())
            }
        }
    }

    /// The registers of a value, in the order of its distribution.
    pub(crate) fn regs(&mut self, value: Value) -> Result<Vec<Reg>> {
        self.settle(value)?;
        match &self.held[value.index()] {
            Some(Held::Regs(regs)) => Ok(regs.clone()),
            Some(Held::Index(expr)) => {
                let expr = expr.clone();
                Ok(vec![self.materialise(&expr, self.plan.func.ty(value).dtype)?])
            }
            Some(Held::Shared(_)) => {
                Err(unfit(format!("%{} is in shared memory, where no thread reads it", value.0)))
            }
            None => Err(unfit(format!("%{} is used where it has not been computed", value.0))),
        }
    }

    /// The one register of a scalar.
    pub(crate) fn reg(&mut self, value: Value) -> Result<Reg> {
        Ok(self.regs(value)?.swap_remove(0))
    }

    /// An integer scalar as an index expression. What 32 bits do not hold is beyond any array, and remains so as the nearest number
    /// that they hold.
    pub(crate) fn index(&mut self, value: Value) -> Result<Expr> {
        if let Some(Held::Index(expr)) = &self.held[value.index()] {
            return Ok(expr.clone());
        }
        let (reg, dtype) = (self.reg(value)?, self.plan.func.ty(value).dtype);
        Ok(if dtype.bits() < 64 { self.index_in(&reg, dtype) } else { self.near(reg, dtype) })
    }

    /// A number of 64 bits, or the nearest one that 32 bits hold.
    pub(crate) fn near(&mut self, number: Reg, dtype: DType) -> Expr {
        let (ty, mut near) = (register(dtype), number);
        let (least, most) = (i64::from(i32::MIN), i64::from(i32::MAX));
        if dtype == DType::S64 {
            let inputs = vec![Operand::from(&near), Operand::Int(least)];
            near = self.make(ty, Opcode::Max, words::m![ty], inputs);
        }
        let inputs = vec![Operand::from(&near), Operand::Int(most)];
        let near = self.make(ty, Opcode::Min, words::m![ty], inputs);
        self.b.var(&near, if dtype == DType::S64 { least } else { 0 }, most, 1)
    }

    /// An integer register of at most 32 bits as an index expression with the range of its dtype.
    pub(crate) fn index_in(&mut self, reg: &Reg, dtype: DType) -> Expr {
        let (lower, upper) = crate::dtype::range(dtype);
        self.b.var(reg, lower, upper, 1)
    }

    /// A register of a dtype with the value of an index expression, which is in the dtype's range.
    pub(crate) fn materialise(&mut self, expr: &Expr, dtype: DType) -> Result<Reg> {
        let width = if dtype.bits() == 64 { Width::W64 } else { Width::W32 };
        Ok(self.b.value(expr, width)?)
    }
}
