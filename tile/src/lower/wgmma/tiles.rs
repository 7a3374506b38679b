//! Tiles in shared memory that threads write.

use std::collections::{BTreeMap, HashMap};

use girih_codegen::algorithm::distributed::{Move, runs};
use girih_codegen::algorithm::fence_proxy_async;
use girih_codegen::plan::Dist;
use girih_codegen::plan::fastest;
use girih_codegen::{Cond, Expr, Reg};
use girih_ptx::Word;

use super::super::memory::{global, padding};
use super::super::{Held, Lowering, unfit};
use super::roles::Role;
use super::{has_own_registers, stored};
use crate::error::Error;
use crate::fit;
use crate::ir::{Def, Dims, End, Func, Kind, OpId, Padding, RegionId, Value};
use crate::pass::uses::readers;
use crate::place::wgmma::{SharedTile, Wgmma};

/// Who reads values, and where operations are.
#[derive(Debug, Default)]
pub(crate) struct Uses {
    /// The operations that read a value; none for the end of a region.
    readers: HashMap<Value, Vec<Option<OpId>>>,
    /// The region of each operation, and its position there.
    places: BTreeMap<OpId, (RegionId, usize)>,
}

impl Uses {
    pub(super) fn of(func: &Func) -> Uses {
        fn region(func: &Func, at: RegionId, places: &mut BTreeMap<OpId, (RegionId, usize)>) {
            for (position, &id) in func.region(at).ops.iter().enumerate() {
                places.insert(id, (at, position));
                func.op(id).regions.iter().for_each(|&inner| region(func, inner, places));
            }
        }
        let mut places = BTreeMap::new();
        region(func, func.body(), &mut places);
        Uses { readers: readers(func), places }
    }

    /// The operations that read a value; none for the end of a region.
    pub(super) fn readers(&self, value: Value) -> &[Option<OpId>] {
        self.readers.get(&value).map_or(&[], Vec::as_slice)
    }

    /// The arguments of the loop around that results of an operation become, maybe with other axes.
    pub(super) fn arguments(&self, func: &Func, id: OpId) -> Vec<Value> {
        let Some(data) = self.places.get(&id).map(|&(region, _)| func.region(region)) else {
            return Vec::new();
        };
        let End::Continue(0, values) = &data.end else { return Vec::new() };
        let carried = data.args.iter().rev().zip(values.iter().rev());
        let results = &func.op(id).results;
        let mut found: Vec<Value> =
            carried.filter(|(_, value)| results.contains(value)).map(|(&arg, _)| arg).collect();
        for reader in results.iter().flat_map(|&result| self.readers(result)).flatten() {
            if matches!(func.op(*reader).kind, Kind::Permute(_)) {
                found.extend(self.arguments(func, *reader));
            }
        }
        found
    }

    /// Whether an operation alone reads a value, each time anew, so that it may overwrite the value's registers.
    pub(super) fn is_last(&self, func: &Func, value: Value, reader: OpId) -> bool {
        let Some(&(region, _)) = self.places.get(&reader) else { return false };
        let defined = match func.value(value).def {
            Def::Result(id, _) => {
                self.places.get(&id).is_some_and(|&(of, _)| of == region)
                    && has_own_registers(&func.op(id).kind)
            }
            Def::Argument(of, _) => of == region,
        };
        defined && self.readers.get(&value).is_some_and(|readers| readers[..] == [Some(reader)])
    }

    /// The accumulators of a product that a side of a condition gives in one place, if the condition's sides alone read them.
    pub(super) fn passed_on(&self, func: &Func, id: OpId, at: usize) -> Option<Value> {
        let &(region, _) = self.places.get(&id)?;
        let op = func.op(id);
        let inside = |reader: &OpId| {
            let home = self.places.get(reader).map(|&(region, _)| region);
            home.is_some_and(|home| op.regions.contains(&home))
        };
        op.regions.iter().find_map(|&side| {
            let End::Yield(values) = &func.region(side).end else { return None };
            let &value = values.get(at)?;
            let Def::Result(from, _) = func.value(value).def else { return None };
            let made = func.op(from).kind == Kind::Mma && self.places.get(&from)?.0 == region;
            // Once it is passed on, and else read by the operations of the sides.
            let readers = self.readers.get(&value)?;
            let passed = readers.iter().filter(|reader| reader.is_none()).count() == 1;
            let alone = readers.iter().flatten().all(inside);
            (made && passed && alone).then_some(value)
        })
    }

    /// The place of what a loop carries that the result of an operation becomes, if what is carried there is not read from this operation
    /// on, but maybe by itself.
    pub(super) fn carried(&self, func: &Func, id: OpId) -> Option<usize> {
        let &(region, position) = self.places.get(&id)?;
        let (result, data) = (*func.op(id).results.first()?, func.region(region));
        let End::Continue(0, values) = &data.end else { return None };
        let at = values.iter().position(|&value| value == result)?;
        let arg = data.args[data.args.len() - values.len() + at];
        let before = |reader: &Option<OpId>| {
            let Some(&(of, at)) = reader.as_ref().and_then(|reader| self.places.get(reader)) else {
                return false;
            };
            let op = reader.map(|reader| func.op(reader));
            // Other operations may give their registers to others under a new name, as a product does those of its accumulator.
            let reads = op.is_some_and(|op| match op.kind {
                Kind::Mma => at == position || op.operands[2] != arg,
                Kind::Reduce { .. } => true,
                _ => has_own_registers(&op.kind),
            });
            of == region && at <= position && reads
        };
        let alone = self.readers.get(&result).is_some_and(|readers| readers[..] == [None]);
        (alone && self.readers.get(&arg).is_none_or(|readers| readers.iter().all(before))).then_some(at)
    }
}

impl Lowering<'_> {
    /// Lowers a load of a tile that goes to shared memory, by the threads.
    pub(crate) fn load_shared(&mut self, id: OpId, tile: &SharedTile) -> Result<(), Error> {
        let plan = self.plan;
        let op = plan.func.op(id);
        let view = match (&op.kind, &tile.produced, self.products.role) {
            (Kind::Load(view), Ok(()), Role::Producer) => return self.produce(id, view, tile),
            (Kind::Gather(at), Ok(()), Role::Producer) => return self.produce_gather(id, at, tile),
            (_, Ok(()), Role::Consumer) if plan.products.read.contains(&id) => {
                return self.read_tile(id, tile);
            }
            (_, Ok(()), Role::Consumer) => return self.expect(id),
            (Kind::Load(view), ..) => view,
            _ => return Err(self.misplaced(id)),
        };
        let extents: Vec<i64> = view.tile.iter().map(|&n| n.into()).collect();
        let vector = 16 / tile.dtype.bytes();
        let dist = Dist::blocked(&extents, &fastest(tile.fast, extents.len()), vector, plan.threads.into());
        let mut access = global(view.order, view.scope);
        access.words.push(Word::Nc.into());
        let at = self.tile(id, view, &op.operands, &dist, access)?;
        let outside = if view.padding == Padding::Undetermined { Padding::Zero } else { view.padding };
        let regs = self.transfer(&at, &Move::Load(padding(tile.dtype, outside)))?;
        let base = self.put_tile((id, 0), tile, &dist, view.tile, &regs)?;
        self.hold(op.results[0], Held::Shared(base));
        Ok(())
    }

    /// Stores an operand of a product to shared memory.
    pub(super) fn store_operand(&mut self, id: OpId, product: &Wgmma, at: usize) -> Result<Expr, Error> {
        let plan = self.plan;
        let operand = product.operands[at];
        let value = plan.func.op(id).operands[operand];
        let regs = self.regs(value)?;
        let (dims, mut tile) = (plan.func.ty(value).dims, stored(product, at));
        // X and K as modes of the operand: (M,K) and (K,N).
        let rank = dims.rank();
        let axis = |mode: usize| if (mode == 0) == (operand == 0) { rank - 2 } else { rank - 1 };
        tile.fast = axis(tile.fast);
        tile.rows.iter_mut().for_each(|(mode, _)| *mode = axis(*mode));
        self.put_tile((id, at), &tile, plan.dist(value), dims, &regs)
    }

    /// Writes a tile to its place in shared memory, and lets instructions see it there. Returns its address for descriptors.
    fn put_tile(
        &mut self,
        place: super::Place,
        tile: &SharedTile,
        dist: &Dist,
        dims: Dims,
        regs: &[Reg],
    ) -> Result<Expr, Error> {
        let missing = || unfit("a tile without a place in shared memory");
        let [base, matrices] = self.products.buffers.get(&place).cloned().ok_or_else(missing)?;
        if !self.loops.is_empty() {
            // The products of the iteration before have read what stands there.
            self.settle_all()?;
            self.meet();
        }
        self.write_tile(&base, tile, dist, dims, regs)?;
        fence_proxy_async(&mut self.b);
        self.meet();
        Ok(matrices)
    }

    /// Writes a tile to shared memory.
    pub(in crate::lower) fn write_tile(
        &mut self,
        base: &Expr,
        tile: &SharedTile,
        dist: &Dist,
        dims: Dims,
        regs: &[Reg],
    ) -> Result<(), Error> {
        let own = dist.owner(&self.thread)?;
        let widest = fit::size(16 / tile.dtype.bytes());
        let vectors = std::iter::successors(Some(widest), |&n| (n > 1).then_some(n / 2));
        let found = vectors.filter_map(|n| runs(dist, dims.rank(), tile.fast, n)).next().unwrap_or_default();
        for run in found {
            let address = self.in_tile(base, tile, dist, dims.rank(), run[0])?;
            let inside = self.inside(dist, run[0], &dims)?;
            let values: Vec<Reg> = run.iter().map(|&value| regs[value].clone()).collect();
            let cond = Cond::all([own.clone(), inside]);
            self.put(tile.dtype, &address, &values, &cond)?;
        }
        Ok(())
    }

    /// The address of a thread's value in a tile in shared memory.
    pub(in crate::lower) fn in_tile(
        &mut self,
        base: &Expr,
        tile: &SharedTile,
        dist: &Dist,
        rank: usize,
        value: usize,
    ) -> Result<Expr, Error> {
        let at = self.coordinates(dist, value, rank)?;
        let along = &at[tile.fast];
        let other =
            tile.rows.iter().fold(Expr::from(0), |rows, &(axis, extent)| &(&rows * extent) + &at[axis]);
        let row = tile.row;
        let number = &(&(&along.div(row)? * (row * tile.extents[1])) + &(&other * row)) + &along.rem(row)?;
        let number = match tile.swizzle.swizzle(tile.dtype)? {
            Some(swizzle) => number.swizzle(&swizzle)?,
            None => number,
        };
        Ok(base + &(&number * tile.dtype.bytes()))
    }

    /// Clears what a TMA copy has brought from outside of the part that an array is of another one.
    pub(super) fn clear_beyond(
        &mut self,
        id: OpId,
        slot: &Expr,
        step: i64,
        base: &Expr,
    ) -> Result<(), Error> {
        let plan = self.plan;
        let op = plan.func.op(id);
        let (Kind::Load(view), Some(tile)) = (&op.kind, plan.products.loads.get(&id)) else { return Ok(()) };
        if tile.cut.is_empty() {
            return Ok(());
        }
        let array = self.array_at(view.array)?;
        let (mut whole, mut bounds) = (Vec::new(), Vec::new());
        for &axis in &tile.cut {
            let extent = i64::from(view.tile[axis]);
            let begin = self.begin_of(id, view, axis)?;
            let rest = (&array.extents[axis] - &begin).maximum(&Expr::from(0)).minimum(&Expr::from(extent));
            let begin = &begin - &array.lows[axis];
            whole.extend([Cond::less(&Expr::from(extent - 1), &rest), Cond::less(&Expr::from(-1), &begin)]);
            bounds.push((axis, begin, rest));
        }
        let state = self.state();
        let around = self.b.open_block();
        self.b.leave(&around, &Cond::all(whole), true)?;
        // In the block, so that nothing of it is computed where there is nothing to clear.
        let base = base + &(&self.b.bounded(slot, slot.range().1)? * step);
        let extents: Vec<i64> = view.tile.iter().map(|&n| n.into()).collect();
        let vector = 16 / tile.dtype.bytes();
        let dist = Dist::blocked(&extents, &fastest(tile.fast, extents.len()), vector, plan.threads.into());
        let zeros = vec![self.bits(tile.dtype, 0)?; fit::size(vector)];
        let own = dist.owner(&self.thread)?;
        for run in runs(&dist, extents.len(), tile.fast, fit::size(vector)).unwrap_or_default() {
            let address = self.in_tile(&base, tile, &dist, extents.len(), run[0])?;
            let at = self.coordinates(&dist, run[0], extents.len())?;
            let inside = bounds.iter().flat_map(|(axis, begin, rest)| {
                [Cond::less(&at[*axis], rest), Cond::less(&Expr::from(-1), &(begin + &at[*axis]))]
            });
            let beyond = Cond::not(Cond::all(inside));
            let exists = self.inside(&dist, run[0], &view.tile)?;
            let cond = Cond::all([own.clone(), exists, beyond]);
            self.put(tile.dtype, &address, &zeros, &cond)?;
        }
        fence_proxy_async(&mut self.b);
        self.meet();
        self.b.close_block(around)?;
        self.set_state(state);
        Ok(())
    }
}
