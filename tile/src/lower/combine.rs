//! Reductions, scans and sorts, by the algorithms on distributed tiles.

use girih_codegen::Reg;
use girih_codegen::algorithm::distributed::{self, By, Function, Scan, Tile, reduce, scan, sort};

use super::{Lowering, order};
use crate::error::Result;
use crate::ir::{Kind, Op, RegionId, Value};
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
        let region = op.regions.first().copied().unwrap_or(RegionId(0));
        let function =
            move |low: &mut Self, left: &[Reg], right: &[Reg]| low.inlined(region, &[left, right].concat());
        let results = match &op.kind {
            Kind::Reduce { axis, combine, identity } => {
                let axis = usize::from(*axis);
                let combine = combine.map(|()| self.by((op, region), (axis, false), identity, &function));
                reduce(self, &tile, axis, &combine)?
            }
            Kind::Scan { axis, combine, identity, reverse, exclusive } => {
                let axis = usize::from(*axis);
                let combine = combine.map(|()| self.by((op, region), (axis, *reverse), identity, &function));
                scan(self, &tile, axis, &combine, Scan { reverse: *reverse, exclusive: *exclusive })?
            }
            Kind::Sort { axis, descending } => sort(self, &tile, usize::from(*axis), *descending)?,
            _ => Vec::new(),
        };
        op.results.iter().zip(results).try_for_each(|(&value, regs)| self.hold_regs(value, regs))
    }

    /// The function of an operation's region along an axis, which goes along it in `reverse` or not.
    fn by<'f>(
        &self,
        (op, region): (&Op, RegionId),
        (axis, reverse): (usize, bool),
        identity: &'f [u64],
        function: &'f Function<'f, Self>,
    ) -> By<'f, Self> {
        let func = &self.plan.func;
        match self.order(op, region, axis, reverse) {
            Some([order, in_a_row]) => By::First { order, in_a_row, identity },
            None => {
                // Padding must not decide which way a thread takes.
                let branches = func.region(region).ops.iter().any(|&id| !func.op(id).regions.is_empty());
                By::Function { function, identity, branches }
            }
        }
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
