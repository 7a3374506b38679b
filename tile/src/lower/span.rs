//! Gathers of contiguous elements: they are loaded in vectors if the index along an array's axis of stride 1 is `n + 0, 1, 2, ...` and the other
//! indices are equal for all of them.

use girih_codegen::algorithm::distributed::widest;
use girih_codegen::plan::WIDEST;
use girih_codegen::{Cond, Expr};
use girih_ptx::Opcode;
use girih_tensor::DType;

use super::gather::Places;
use super::words::{integer, m, of};
use super::{Lowering, register};
use crate::dtype::range;
use crate::error::{Error, Result};
use crate::ir::Value;
use crate::place::access::counting;

/// The vectors of a gather.
pub(super) struct Spans {
    /// Indices of values; each run is contiguous in the array.
    pub(super) runs: Vec<Vec<usize>>,
    /// The contiguous axis of the array, and that of the tile.
    pub(super) axis: usize,
    along: usize,
    /// The coordinate of the tile's first element along the axis.
    start: Expr,
    /// The condition that all of the tile is in the array along the axis, so that no element is compared; `None` if every vector is wholly inside or
    /// outside.
    pub(super) whole: Option<Cond>,
}

impl Lowering<'_> {
    /// The vectors of a gather by these indices, if it has any.
    pub(super) fn spans(&mut self, places: &Places<'_>, indices: &[Value]) -> Result<Option<Spans>> {
        let func = &self.plan.func;
        let row = |axis: &usize| places.array.strides[*axis].as_constant() == Some(1);
        let found = (0..indices.len()).rev().filter(row);
        let Some((axis, found)) =
            found.filter_map(|axis| Some((axis, counting(func, indices[axis])?))).next()
        else {
            return Ok(None);
        };
        let along = found.along;
        let mut start = self.sum_of(&found.start)?;
        let known = found.multiple(func);
        if start.multiple() % known != 0 {
            let (least, most) = range(DType::S32);
            let reg = self.materialise(&start, DType::S32)?;
            start = self.b.var(&reg, least, most + 1 - known, known);
        }
        let (size, rank) = (places.array.dtype.bytes(), places.dims.rank());
        let (extent, count) = (places.array.extents[axis].clone(), i64::from(places.dims[along]));
        let low = places.array.lows[axis].clone();
        let mut spans = Spans { runs: Vec::new(), axis, along, start: start.clone(), whole: None };
        spans.runs = widest(places.dist, rank, Some(along), WIDEST / size, |vector, run| {
            if count % vector != 0 || !places.alike(axis, run) {
                return Ok::<_, Error>(false);
            }
            let (address, _) = self.place(places, Some(&spans), run[0])?;
            Ok(address.multiple() % (vector * size) == 0)
        })?;
        let vector = spans.runs[0].len() as i64;
        if places.check && [&extent, &start, &low].iter().any(|at| at.multiple() % vector != 0) {
            let inside = [Cond::less(&(&low + -1), &start), Cond::less(&(&start + (count - 1)), &extent)];
            spans.whole = Some(Cond::all(inside));
        }
        Ok((vector > 1).then_some(spans))
    }

    /// A sum of scalars of one dtype, with the dtype's wrap-around.
    fn sum_of(&mut self, scalars: &[Value]) -> Result<Expr> {
        let mut sum = Expr::from(0);
        for &scalar in scalars {
            sum = &sum + &self.index(scalar)?;
        }
        let &[first, .., _] = scalars else { return Ok(sum) };
        let dtype = self.plan.func.ty(first).dtype;
        let ((lower, upper), (least, most)) = (sum.range(), range(dtype));
        if least <= lower && upper <= most {
            return Ok(sum);
        }
        let (ty, multiple) = (integer(dtype), sum.multiple());
        let mut total = self.reg(first)?;
        for &scalar in &scalars[1..] {
            let next = self.reg(scalar)?;
            total = self.make(register(dtype), Opcode::Add, m![ty], of([&total, &next]));
        }
        if dtype.bits() == 64 {
            return Ok(self.near(total, dtype));
        }
        // A power of two that divides a number divides it after a wrap, too.
        let multiple = (multiple & multiple.wrapping_neg()).clamp(1, 1 << 30);
        Ok(self.b.var(&total, least, most + 1 - multiple, multiple))
    }

    /// The coordinate of an element along the axis of the vectors.
    pub(super) fn column(&mut self, places: &Places<'_>, spans: &Spans, value: usize) -> Result<Expr> {
        let at = self.coordinates(places.dist, value, places.dims.rank())?.swap_remove(spans.along);
        Ok(&spans.start + &at)
    }

    /// The same. The conditions for it to be in the array, unless all of the tile is, are added to `conds`.
    pub(super) fn counted(
        &mut self,
        places: &Places<'_>,
        spans: &Spans,
        value: usize,
        conds: &mut Vec<Cond>,
    ) -> Result<Expr> {
        let at = self.column(places, spans, value)?;
        if places.check && spans.whole.is_none() {
            conds.push(Cond::less(&(&places.array.lows[spans.axis] + -1), &at));
            conds.push(Cond::less(&at, &places.array.extents[spans.axis]));
        }
        Ok(at)
    }
}
