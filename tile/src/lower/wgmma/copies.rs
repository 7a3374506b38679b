//! The copies of the producer: tiles of views by TMA, which one thread issues, and gathered rows by `cp.async` of all threads.

use girih_codegen::atom::{CopyAtom, Transfer};
use girih_codegen::{Builder, Cond, Expr, Pipeline, PipelineState, Stage, Width};
use girih_ptx::{Address, Opcode, Operand};

use super::super::Lowering;
use super::super::params::{Boxes, Source};
use super::super::words::of;
use super::wrong;
use crate::error::Error;
use crate::fit;
use crate::ir::{Array, ArrayId, Indexed, Kind, OpId, View};
use crate::place::wgmma::SharedTile;

impl Lowering<'_> {
    /// The next slot of a load's ring, and its address.
    fn next_slot(&mut self, id: OpId) -> Result<(Pipeline, PipelineState, Stage, Expr), Error> {
        let ring = self.ring(id)?;
        let slots = &self.products.rings[ring];
        let (pipeline, state) = (slots.pipeline.clone(), slots.state.clone());
        let state = state.ok_or_else(|| wrong("a ring without a state"))?;
        let slot = state.stage(&mut self.b);
        let target = &slots.base + &(&slot.index * slots.bytes);
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
        let mut at = Vec::new();
        for axis in 0..view.tile.rank() {
            at.push(self.begin_of(id, view, axis)?);
        }
        self.add_starts(view.array, &mut at)?;
        let missing = || wrong("a load without a tensor map");
        let map = self.products.maps.get(&id).cloned().ok_or_else(missing)?;
        let rank = at.len();
        let order = order(rank, tile);
        let (row, [along, others]) = (tile.row(), tile.extents);
        let size = tile.bytes() / (along * others);
        let rows: i64 = tile.rows_of_box().iter().product();
        let bits = row * rows * size * 8;
        let modifiers = CopyAtom::tma(Transfer::Load, fit::item(rank), bits)?.modifiers();
        let barrier = pipeline.full(&slot.index)?;
        let copy = |b: &mut Builder| {
            pipeline.producer_acquire(b, &slot)?;
            for (i, j) in (0..along / row).flat_map(|i| (0..others / rows).map(move |j| (i, j))) {
                let mut place = at.clone();
                place[tile.fast] = &place[tile.fast] + i * row;
                if let [(axis, _)] = tile.rows[..] {
                    place[axis] = &place[axis] + j * rows;
                }
                let mut coordinates = Vec::new();
                for &axis in &order {
                    let value = b.value(&place[axis], Width::W32)?;
                    coordinates.push(of([&value]).swap_remove(0));
                }
                let to = &target + (i * others + j * rows) * row * size;
                let to = b.address(&to, Width::W32)?;
                let from = b.address(&map, Width::W64)?;
                let Operand::Address(from) = from else { continue };
                let from = Operand::Address(Address { coordinates, ..from });
                let full = b.address(barrier.address(), Width::W32)?;
                b.inst(Opcode::Cp, &modifiers, vec![to, from, full]);
            }
            Ok(())
        };
        // One thread of those that gather rows.
        self.b.if_(&Cond::less(&self.thread, &Expr::from(1)), copy)?;
        state.advance(&mut self.b);
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
            let rank = param.extents.len();
            let axes = order(rank, tile);
            let mut sides = vec![1; rank];
            sides[tile.fast] = fit::word(tile.row());
            for (&(axis, _), rows) in tile.rows.iter().zip(tile.rows_of_box()) {
                sides[axis] = fit::word(rows);
            }
            let boxes = Boxes {
                dtype: tile.dtype,
                extents: axes.iter().map(|&axis| sides[axis]).collect(),
                axes,
                swizzle: tile.swizzle,
            };
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

/// The axes of an array in the order of a tensor map: that along which rows lie, those of the rows from the fastest, the rest from the last.
fn order(rank: usize, tile: &SharedTile) -> Vec<usize> {
    let own = std::iter::once(tile.fast).chain(tile.rows.iter().rev().map(|&(axis, _)| axis));
    let mut axes: Vec<usize> = own.collect();
    axes.extend(
        (0..rank).rev().filter(|axis| *axis != tile.fast && tile.rows.iter().all(|(own, _)| own != axis)),
    );
    axes
}
