//! The copies of the producer: tiles of views by TMA, which one thread issues, and gathered rows by `cp.async` of all threads.

use girih_codegen::algorithm::copy;
use girih_codegen::atom::Transfer;
use girih_codegen::{Builder, Cond, Counting, Expr, Pipeline, PipelineState, Smem, Stage, TmaCopy};
use girih_tensor::{Slice, Tensor};

use super::super::params::{Boxes, Source};
use super::super::{Lowering, unfit};
use crate::error::Error;
use crate::ir::{Array, ArrayId, Indexed, Kind, OpId, View};
use crate::place::wgmma::SharedTile;

impl Lowering<'_> {
    /// The next slot of a load's ring, and its address.
    fn next_slot(&mut self, id: OpId) -> Result<(Pipeline, PipelineState, Stage, Expr), Error> {
        let ring = self.ring(id)?;
        let slots = &self.products.rings[ring];
        let (pipeline, state) = (slots.pipeline.clone(), slots.state.clone());
        let state = state.ok_or_else(|| unfit("a ring without a state"))?;
        let slot = state.stage(&mut self.b);
        let target = &slots.base + &(&slot.index * slots.step);
        Ok((pipeline, state, slot, target))
    }

    /// Copies gathered rows as soon as their slot is free. The consumers wait for the copies of all threads.
    pub(super) fn produce_gather(&mut self, id: OpId, at: &Indexed, tile: &SharedTile) -> Result<(), Error> {
        let plan = self.plan;
        let (pipeline, state, slot, target) = self.next_slot(id)?;
        pipeline.producer_wait_free(&mut self.b, &slot)?;
        self.gather_async((at, &plan.func.op(id).operands), &target, tile)?;
        pipeline.producer_commit(&mut self.b, &slot)?;
        state.advance(&mut self.b);
        Ok(())
    }

    /// Issues the copies of a tile as soon as its slot is free.
    pub(crate) fn produce(&mut self, id: OpId, view: &View, tile: &SharedTile) -> Result<(), Error> {
        let (pipeline, state, slot, target) = self.next_slot(id)?;
        let part = self.plan.products.pipeline.part(id);
        let target = &target + part.at;
        let rank = view.tile.rank();
        let mut begin = (0..rank).map(|axis| self.begin_of(id, view, axis)).collect::<Result<Vec<_>, _>>()?;
        self.add_starts(view.array, &mut begin)?;
        let missing = || unfit("a load without a tensor map");
        let map = self.products.maps.get(&id).cloned().ok_or_else(missing)?;
        let tma = tile.tensor_copy(Transfer::Load, rank)?;
        let (global, shared) = sides(&tma, tile, begin, target)?;
        let one = tma.copy().get_slice(&Expr::from(0))?;
        let (source, target) = (one.partition_s(&global)?, one.partition_d(&shared)?); // (Box,Rest0,Rest1,...)
        let with = tma.with(&map).barrier(pipeline.full(&slot.index)?.address());
        let issue = |b: &mut Builder| {
            if part.first == id {
                pipeline.producer_acquire(b, &slot)?;
            }
            copy(b, with, &source, &target)
        };
        // One thread of those that gather rows.
        self.b.if_(&Cond::less(&self.thread, &Expr::from(1)), issue)?;
        if part.last == id {
            state.advance(&mut self.b);
        }
        Ok(())
    }

    /// Where a tile begins along an axis of its array: what no coordinate of 32 bits reaches is beyond any array, and remains so.
    pub(super) fn begin_of(&mut self, id: OpId, view: &View, axis: usize) -> Result<Expr, Error> {
        let operands = &self.plan.func.op(id).operands;
        // Those of a store begin with what it stores.
        let index = self.index(operands[operands.len() - view.tile.rank() + axis])?;
        let step = i64::from(view.steps[axis]);
        Ok(&near(&index, step.max(1)) * step)
    }

    /// Adds where parts of arrays begin.
    fn add_starts(&mut self, array: ArrayId, at: &mut [Expr]) -> Result<(), Error> {
        if let Array::Slice { of, axis, start, .. } = self.plan.func.arrays()[array.index()] {
            let start = self.index(start)?;
            at[usize::from(axis)] = near(&(&at[usize::from(axis)] + &start), 1);
            self.add_starts(of, at)?;
        }
        Ok(())
    }

    /// Declares the tensor maps, one for each array and shape of boxes.
    pub(super) fn declare_maps(&mut self) -> Result<(), Error> {
        let plan = self.plan;
        let mut known: Vec<(ArrayId, Boxes, Expr)> = Vec::new();
        for &id in plan.products.pipeline.loads.keys() {
            let (Some(tile), Kind::Load(view)) = (plan.products.loads.get(&id), &plan.func.op(id).kind)
            else {
                continue;
            };
            let (array, param) = plan.func.param_of(view.array);
            let boxes = Boxes::of(tile, &tile.tensor_copy(Transfer::Load, param.extents.len())?);
            let found = known.iter().find(|(other, own, _)| (*other, own) == (array, &boxes));
            let map = match found {
                Some((_, _, map)) => map.clone(),
                None => {
                    let name = format!("{}_map{}", param.name, known.len());
                    let map = self.b.tensor_map(&name);
                    self.params.add_map(name, Source::Map(array), boxes.clone());
                    known.push((array, boxes, map.clone()));
                    map
                }
            };
            self.products.maps.insert(id, map);
        }
        Ok(())
    }
}

/// A number as near to an expression as coordinates of 32 bits can be, that are multiples of `step`.
fn near(number: &Expr, step: i64) -> Expr {
    let (least, most) = (i64::from(i32::MIN) / step, i64::from(i32::MAX) / step);
    number.maximum(&Expr::from(least)).minimum(&Expr::from(most))
}

/// A tile that begins at a coordinate of its array, and where it is in shared memory, both (Tile0,Tile1,...).
pub(super) fn sides(
    tma: &TmaCopy,
    tile: &SharedTile,
    begin: Vec<Expr>,
    base: Expr,
) -> Result<(Tensor<Counting>, Tensor<Smem>), girih_codegen::Error> {
    let (rank, swizzle) = (begin.len(), tile.swizzle.swizzle(tile.dtype)?);
    let begin = Slice::Tuple(begin.into_iter().map(Slice::At).collect());
    let global = tma.tma_tensor()?.domain_offset(begin)?;
    Ok((global, Tensor::new(Smem::new(base, tile.dtype, swizzle), tile.layout(rank)?)))
}
