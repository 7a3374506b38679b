//! Elements from the threads that have them to the threads that need them.

use girih_codegen::plan::{Dist, Line};
use girih_codegen::{Expr, Reg};
use girih_tensor::DType;

use super::Lowering;
use super::shape::Piece;
use crate::error::Error;
use crate::ir::{Dims, Op};
use crate::place::exchange::Exchange;
use crate::place::extents;

/// Where the elements of a tile are in a buffer: `start` and a stride for each axis, in elements.
#[derive(Clone, Debug)]
pub(crate) struct Spread<'d> {
    pub(crate) dist: &'d Dist,
    pub(crate) dims: Dims,
    pub(crate) start: i64,
    pub(crate) strides: Vec<i64>,
}

impl<'d> Spread<'d> {
    pub(super) fn piece(&self, dtype: DType) -> Piece<'d> {
        let (extents, strides) = (extents(&self.dims), self.strides.clone());
        Piece::new(dtype, self.dist, Line { extents, base: self.start, strides })
    }
}

impl Lowering<'_> {
    /// Lowers [`Kind::Convert`](crate::ir::Kind::Convert).
    pub(crate) fn convert(&mut self, op: &Op) -> Result<(), Error> {
        let plan = self.plan;
        let (source, result) = (op.operands[0], op.results[0]);
        let ty = plan.func.ty(result);
        let regs = self.regs(source)?;
        let (from, to) = (plan.dist(source), plan.dist(result));
        let got = match plan.exchanges.get(&result) {
            Some(exchange) => self.carry_out(exchange, ty.dtype, from, &regs, to)?,
            None => self.redistribute(ty.dtype, &ty.dims, from, &regs, to)?,
        };
        self.hold_regs(result, got)
    }

    /// A tile in another distribution.
    pub(crate) fn redistribute(
        &mut self,
        dtype: DType,
        dims: &Dims,
        from: &Dist,
        regs: &[Reg],
        to: &Dist,
    ) -> Result<Vec<Reg>, Error> {
        self.carry_out(&Exchange::new(dims, dtype, from, to), dtype, from, regs, to)
    }

    fn carry_out(
        &mut self,
        exchange: &Exchange,
        dtype: DType,
        from: &Dist,
        regs: &[Reg],
        to: &Dist,
    ) -> Result<Vec<Reg>, Error> {
        let shared = match exchange {
            Exchange::Rename(values) => {
                return Ok(values.iter().map(|&value| regs[value].clone()).collect());
            }
            Exchange::Shuffles(shuffles) => {
                return Ok(shuffles.emit(&mut self.b, &self.thread, dtype, regs)?);
            }
            Exchange::Shared(shared) => shared,
        };
        let line = || Line { extents: shared.extents.clone(), base: 0, strides: shared.strides.clone() };
        let piece = |dist, vectors| Piece {
            swizzle: shared.swizzle,
            vectors: Some(vectors),
            ..Piece::new(dtype, dist, line())
        };
        let base = self.scratch(shared.bytes(), shared.alignment)?;
        self.put_piece(&piece(from, &shared.store), regs, &base, None)?;
        self.meet();
        self.take_piece(&piece(to, &shared.load), &base, None, &[])
    }

    /// Writes the elements of a tile to a buffer in shared memory, each by one thread.
    pub(crate) fn write_shared(
        &mut self,
        base: &Expr,
        dtype: DType,
        spread: &Spread<'_>,
        regs: &[Reg],
    ) -> Result<(), Error> {
        self.put_piece(&spread.piece(dtype), regs, base, None)
    }

    /// Reads the elements of a tile from a buffer in shared memory. Padding is anything.
    pub(crate) fn read_shared(
        &mut self,
        base: &Expr,
        dtype: DType,
        spread: &Spread<'_>,
    ) -> Result<Vec<Reg>, Error> {
        self.take_piece(&spread.piece(dtype), base, None, &[])
    }
}
