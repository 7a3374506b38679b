//! Exchanges of elements between threads.

use girih_codegen::Reg;
use girih_codegen::plan::{Dist, Line};
use girih_tensor::DType;

use super::Lowering;
use super::shape::Piece;
use crate::error::Result;
use crate::ir::{Op, Type};
use crate::place::exchange::Exchange;

impl Lowering<'_> {
    /// Lowers [`Kind::Convert`](crate::ir::Kind::Convert).
    pub(crate) fn convert(&mut self, op: &Op) -> Result {
        let plan = self.plan;
        let (source, result) = (op.operands[0], op.results[0]);
        let ty = plan.func.ty(result);
        let regs = self.regs(source)?;
        let sides = [plan.dist(source), plan.dist(result)];
        let got = match plan.exchanges.get(&result) {
            Some(exchange) => self.carry_out(exchange, ty.dtype, sides, regs)?,
            None => self.redistribute(ty, sides, regs)?,
        };
        self.hold_regs(result, got)
    }

    /// A tile in another distribution.
    pub(crate) fn redistribute(&mut self, ty: Type, sides: [&Dist; 2], regs: Vec<Reg>) -> Result<Vec<Reg>> {
        self.carry_out(&Exchange::new(&ty.dims, ty.dtype, sides[0], sides[1]), ty.dtype, sides, regs)
    }

    fn carry_out(
        &mut self,
        exchange: &Exchange,
        dtype: DType,
        [from, to]: [&Dist; 2],
        regs: Vec<Reg>,
    ) -> Result<Vec<Reg>> {
        match exchange {
            Exchange::Rename(values) => Ok(values.iter().map(|&value| regs[value].clone()).collect()),
            Exchange::Shuffles(shuffles) => Ok(shuffles.emit(&mut self.b, &self.thread, dtype, &regs)?),
            Exchange::Shared(shared) => {
                let line =
                    || Line { extents: shared.extents.clone(), base: 0, strides: shared.strides.clone() };
                let piece = |dist, vectors| Piece {
                    swizzle: shared.swizzle,
                    vectors: Some(vectors),
                    ..Piece::new(dtype, dist, line())
                };
                let (from, to) = (piece(from, &shared.store), piece(to, &shared.load));
                self.through(&[(from, regs)], &to, [shared.bytes(), shared.alignment], None, &[])
            }
        }
    }
}
