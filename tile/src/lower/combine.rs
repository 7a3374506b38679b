//! Reductions, scans and sorts, by the algorithms on distributed tiles.

use girih_codegen::Reg;
use girih_codegen::algorithm::distributed::{self, By, Combine, Scan, Tile, reduce, scan, sort};

use super::{Lowering, order};
use crate::error::Result;
use crate::ir::{self, Kind, Op, RegionId, Value};
use crate::place::extents;

impl<'a> Lowering<'a> {
    /// Values of one shape and distribution as operands of an algorithm.
    pub(super) fn tile_of(&mut self, values: &[Value]) -> Result<Tile<'a>> {
        let plan = self.plan;
        let operand = |&value: &Value| Ok((plan.func.ty(value).dtype, self.regs(value)?));
        let operands = values.iter().map(operand).collect::<Result<_>>()?;
        Ok(Tile::new(plan.dist(values[0]), &extents(&plan.func.ty(values[0]).dims), operands)?)
    }

    /// Lowers a [`Kind::Reduce`], a [`Kind::Scan`] or a [`Kind::Sort`].
    pub(super) fn combine(&mut self, op: &Op) -> Result {
        let tile = self.tile_of(&op.operands)?;
        let results = match &op.kind {
            Kind::Reduce { axis, combine, identity } => {
                self.by(op, (usize::from(*axis), *combine, identity), false, |low, axis, combine| {
                    reduce(low, &tile, axis, combine)
                })?
            }
            Kind::Scan { axis, combine, identity, reverse, exclusive } => {
                let way = Scan { reverse: *reverse, exclusive: *exclusive };
                self.by(op, (usize::from(*axis), *combine, identity), *reverse, |low, axis, combine| {
                    scan(low, &tile, axis, combine, way)
                })?
            }
            Kind::Sort { axis, descending } => sort(self, &tile, usize::from(*axis), *descending)?,
            _ => Vec::new(),
        };
        op.results.iter().zip(results).try_for_each(|(&value, regs)| self.hold_regs(value, regs))
    }

    /// Runs an algorithm along an axis by the combination of an operation, which goes along it in `reverse` or not.
    fn by(
        &mut self,
        op: &Op,
        (axis, combine, identity): (usize, ir::Combine, &[u64]),
        reverse: bool,
        run: impl FnOnce(&mut Self, usize, &Combine<'_, Self>) -> Result<Vec<Vec<Reg>>>,
    ) -> Result<Vec<Vec<Reg>>> {
        let func = &self.plan.func;
        let region = op.regions.first().copied().unwrap_or(RegionId(0));
        let function =
            move |low: &mut Self, left: &[Reg], right: &[Reg]| low.inlined(region, &[left, right].concat());
        let combine = match combine {
            ir::Combine::Sum => Combine::Sum,
            ir::Combine::Prod => Combine::Prod,
            ir::Combine::Max(nan) => Combine::Max(nan),
            ir::Combine::Min(nan) => Combine::Min(nan),
            ir::Combine::ArgMax(nan) => Combine::ArgMax(nan),
            ir::Combine::ArgMin(nan) => Combine::ArgMin(nan),
            ir::Combine::And => Combine::And,
            ir::Combine::Or => Combine::Or,
            ir::Combine::Xor => Combine::Xor,
            ir::Combine::Region => match self.order(op, region, axis, reverse) {
                Some([order, in_a_row]) => Combine::First { order, in_a_row, identity },
                None => {
                    // Padding must not decide which way a thread takes.
                    let branches = func.region(region).ops.iter().any(|&id| !func.op(id).regions.is_empty());
                    Combine::By(By { function: &function, identity, branches })
                }
            },
        };
        run(self, axis, &combine)
    }

    /// The order by which a region chooses between any two elements, and that of elements in a row.
    fn order(
        &self,
        op: &Op,
        region: RegionId,
        axis: usize,
        reverse: bool,
    ) -> Option<[distributed::Order; 2]> {
        let func = &self.plan.func;
        let order = order::of(func, region)?;
        let rising = (0..op.operands.len()).find(|&at| self.rises(op.operands[at], axis));
        let padded = self.is_padded(self.plan.dist(op.operands[0]), &func.ty(op.operands[0]).dims);
        let order = order.decides(op.operands.len(), rising, padded, reverse)?;
        let in_a_row = rising.map_or(order.clone(), |at| order.in_a_row(at));
        Some([order, in_a_row])
    }
}
