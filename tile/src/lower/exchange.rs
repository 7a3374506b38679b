//! Elements from the threads that have them to the threads that need them.

use girih_codegen::algorithm::load_elements;
use girih_codegen::plan::Dist;
use girih_codegen::{Cond, Expr, Reg};
use girih_layout::Swizzle;
use girih_tensor::{DType, Space};

use super::Lowering;
use super::memory::runs;
use crate::error::Error;
use crate::fit;
use crate::ir::{Dims, OpId};
use crate::place::exchange::{Exchange, Shared};

/// Where the elements of a tile are in a buffer: `start` and a stride for each axis, in elements.
#[derive(Clone, Debug)]
pub(crate) struct Spread<'d> {
    pub(crate) dist: &'d Dist,
    pub(crate) dims: Dims,
    pub(crate) start: i64,
    pub(crate) strides: Vec<i64>,
}

impl<'d> Spread<'d> {
    /// Row-major from the buffer's beginning.
    pub(crate) fn row_major(dist: &'d Dist, dims: Dims) -> Spread<'d> {
        Spread { dist, dims, start: 0, strides: row_major(&dims) }
    }
}

/// The strides of a row-major tile.
pub(crate) fn row_major(dims: &Dims) -> Vec<i64> {
    let mut strides = vec![1; dims.rank()];
    for axis in (1..dims.rank()).rev() {
        strides[axis - 1] = strides[axis] * i64::from(dims[axis]);
    }
    strides
}

impl Lowering<'_> {
    /// Lowers [`Kind::Convert`](crate::ir::Kind::Convert).
    pub(crate) fn convert(&mut self, id: OpId) -> Result<(), Error> {
        let plan = self.plan;
        let op = plan.func.op(id);
        let (source, result) = (op.operands[0], op.results[0]);
        let ty = plan.func.ty(result);
        let regs = self.regs(source)?;
        let (from, to) = (plan.dist(source), plan.dist(result));
        let got = match plan.exchanges.get(&result) {
            Some(exchange) => self.carry_out(exchange, ty.dtype, &ty.dims, from, &regs, to)?,
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
        self.carry_out(&Exchange::new(dims, dtype, from, to), dtype, dims, from, regs, to)
    }

    fn carry_out(
        &mut self,
        exchange: &Exchange,
        dtype: DType,
        dims: &Dims,
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
        let base = self.scratch(shared.bytes(), shared.alignment)?;
        let own = from.owner(&self.thread)?;
        for run in shared.store.iter() {
            let (address, inside) = self.exchanged(&base, shared, from, dims.rank(), run[0])?;
            let values: Vec<Reg> = run.iter().map(|&value| regs[value].clone()).collect();
            self.put(dtype, &address, &values, &Cond::all([own.clone(), inside]))?;
        }
        self.meet();
        let mut got = vec![None; to.size()];
        for run in shared.load.iter() {
            let (address, inside) = self.exchanged(&base, shared, to, dims.rank(), run[0])?;
            let loaded = load_elements(&mut self.b, Space::Smem, dtype, run.len(), &address, &inside, None)?;
            for (&value, reg) in run.iter().zip(loaded) {
                got[value] = Some(reg);
            }
        }
        Ok(got.into_iter().flatten().collect())
    }

    /// The address of a value in shared memory, and whether it is there.
    fn exchanged(
        &mut self,
        base: &Expr,
        shared: &Shared,
        dist: &Dist,
        rank: usize,
        value: usize,
    ) -> Result<(Expr, Cond), Error> {
        let at = self.coordinates(dist, value, rank)?;
        let number = at.iter().zip(&shared.strides).fold(Expr::from(0), |sum, (at, &by)| &sum + &(at * by));
        let number =
            if shared.swizzle == Swizzle::NONE { number } else { number.swizzle(&shared.swizzle)? };
        let inside = at.iter().zip(&shared.extents).map(|(at, &n)| Cond::less(at, &Expr::from(n)));
        Ok((base + &(&number * shared.bytes), Cond::all(inside)))
    }

    /// The elements of tiles, written to a buffer in shared memory by all threads and read by all.
    pub(crate) fn through_shared(
        &mut self,
        dtype: DType,
        elements: i64,
        from: &[(&Spread<'_>, &[Reg])],
        to: &Spread<'_>,
    ) -> Result<Vec<Reg>, Error> {
        let base = self.scratch(elements * dtype.bytes(), 16)?;
        for (spread, regs) in from {
            self.write_shared(&base, dtype, spread, regs)?;
        }
        self.meet();
        self.read_shared(&base, dtype, to)
    }

    /// Writes the elements of a tile to a buffer in shared memory, each by one thread.
    pub(crate) fn write_shared(
        &mut self,
        base: &Expr,
        dtype: DType,
        spread: &Spread<'_>,
        regs: &[Reg],
    ) -> Result<(), Error> {
        let own = spread.dist.owner(&self.thread)?;
        let (_, runs) = self.shared_runs(base, dtype, spread)?;
        for run in runs {
            let address = self.shared_at(base, dtype, spread, run[0])?;
            let inside = self.inside(spread.dist, run[0], &spread.dims)?;
            let values: Vec<Reg> = run.iter().map(|&value| regs[value].clone()).collect();
            let cond = Cond::all([own.clone(), inside]);
            self.put(dtype, &address, &values, &cond)?;
        }
        Ok(())
    }

    /// Reads the elements of a tile from a buffer in shared memory. Padding is anything.
    pub(crate) fn read_shared(
        &mut self,
        base: &Expr,
        dtype: DType,
        spread: &Spread<'_>,
    ) -> Result<Vec<Reg>, Error> {
        let (vector, runs) = self.shared_runs(base, dtype, spread)?;
        let mut regs = vec![None; spread.dist.size()];
        for run in runs {
            let address = self.shared_at(base, dtype, spread, run[0])?;
            let inside = self.inside(spread.dist, run[0], &spread.dims)?;
            let got = load_elements(&mut self.b, Space::Smem, dtype, vector, &address, &inside, None)?;
            for (&value, reg) in run.iter().zip(got) {
                regs[value] = Some(reg);
            }
        }
        Ok(regs.into_iter().flatten().collect())
    }

    pub(super) fn shared_at(
        &mut self,
        base: &Expr,
        dtype: DType,
        spread: &Spread<'_>,
        value: usize,
    ) -> Result<Expr, Error> {
        let at = self.coordinates(spread.dist, value, spread.dims.rank())?;
        let sum =
            at.iter().zip(&spread.strides).fold(Expr::from(spread.start), |sum, (at, &by)| &sum + &(at * by));
        Ok(base + &(&sum * dtype.bytes()))
    }

    /// The widest vectors that a distribution has in a buffer.
    fn shared_runs(
        &mut self,
        base: &Expr,
        dtype: DType,
        spread: &Spread<'_>,
    ) -> Result<(usize, Vec<Vec<usize>>), Error> {
        let rank = spread.dims.rank();
        let widest = fit::size(16 / dtype.bytes());
        let axis = spread.strides.iter().position(|&stride| stride == 1);
        for vector in std::iter::successors(Some(widest), |&n| (n > 1).then_some(n / 2)) {
            let Some(axis) = axis.filter(|_| vector > 1) else { continue };
            if !spread.dims[axis].is_multiple_of(fit::item(vector)) {
                continue;
            }
            let Some(found) = runs(spread.dist, rank, axis, vector) else { continue };
            let mut aligned = true;
            for run in &found {
                let address = self.shared_at(base, dtype, spread, run[0])?;
                aligned &= address.multiple() % (vector as i64 * dtype.bytes()) == 0;
            }
            if aligned {
                return Ok((vector, found));
            }
        }
        Ok((1, runs(spread.dist, rank, 0, 1).unwrap_or_default()))
    }
}
