//! Loads that are issued iterations before their tiles are multiplied ([`place::ahead`](crate::place::ahead)).

use girih_codegen::algorithm::distributed::{Move, put, take};
use girih_codegen::algorithm::fence_proxy_async;
use girih_codegen::builder::SharedScope;
use girih_codegen::sync::{CpAsyncRing, RingState};
use girih_codegen::{Cond, Expr, Reg, Width};
use girih_ptx::{Opcode, Type, Word};
use girih_tensor::DType;

use super::stage::Staged;
use crate::error::Result;
use crate::fit;
use crate::ir::{self, Def, Kind, OpId, Padding, RegionId, Value};
use crate::lower::asynchronous::Target;
use crate::lower::memory::{global, padding};
use crate::lower::shape::piece_at;
use crate::lower::wgmma::Role;
use crate::lower::words::{integer, m, of};
use crate::lower::{Held, Lowering, register, unfit};
use crate::place::ahead::{Early, Rounds};
use crate::place::wgmma::choice::trace;

/// The loops that are being written whose loads are iterations ahead.
#[derive(Debug, Default)]
pub(crate) struct Ahead {
    loops: Vec<Iterations>,
}

/// A loop whose loads are iterations ahead.
#[derive(Clone, Debug)]
struct Iterations {
    body: RegionId,
    /// The first slot.
    base: Expr,
    /// The dtype of its number, the number of the next iteration that is loaded, its end and its step.
    dtype: DType,
    next: Reg,
    end: Reg,
    by: Reg,
    /// What is known of its number.
    ranges: Option<(i64, i64, i64)>,
    /// Whether there is such an iteration.
    more: Reg,
    ring: CpAsyncRing,
    /// The slots, in bytes from the first one.
    state: RingState,
    /// Tiles on their way through registers, and whether there are any.
    waiting: Vec<(OpId, Vec<Reg>)>,
    loaded: Reg,
    /// The slot that they go to.
    target: Expr,
}

impl Lowering<'_> {
    /// Loads what the first iterations of a loop need, of which there is one at the least.
    pub(crate) fn begin_ahead(
        &mut self,
        id: OpId,
        [first, end, by]: [&Reg; 3],
        ranges: Option<(i64, i64, i64)>,
    ) -> Result<Option<SharedScope>> {
        let plan = self.plan;
        let rounds = plan.products.ahead.loops.get(&id).filter(|_| self.products.role != Role::Producer);
        let Some(rounds) = rounds else { return Ok(None) };
        let op = plan.func.op(id);
        let dtype = plan.func.ty(op.operands[0]).dtype;
        let early: Vec<(OpId, &Early)> = plan.products.ahead.of(rounds).collect();
        let scope = self.b.open_shared();
        let base = self.b.alloc_shared(rounds.bytes * rounds.stages, rounds.align)?;
        // Others may still read what stood there.
        self.meet_unless_clear();
        let ty = |load: OpId| plan.func.ty(plan.func.op(load).results[0]);
        let beyond = |&(load, early): &(OpId, &Early)| {
            early.covered.iter().zip(ty(load).dims.iter()).any(|(covered, &n)| *covered > i64::from(n))
        };
        if early.iter().any(beyond) {
            self.zeros(&base, rounds.bytes * rounds.stages)?;
            self.meet_idle();
        }
        let mut waiting = Vec::new();
        for (load, early) in early.iter().filter(|(_, early)| early.copied.is_err()) {
            waiting.push((*load, self.b.regs(register(ty(*load).dtype), early.dist.size())));
        }
        let next = self.b.reg(register(dtype));
        let [more, loaded] = [(); 2].map(|()| self.b.reg(Type::Pred));
        self.b.move_all(std::slice::from_ref(&next), std::slice::from_ref(first))?;
        let always = self.bits(DType::Bool, 1)?;
        self.b.move_all(&[more.clone(), loaded.clone()], &[always.clone(), always])?;
        // Tiles that go through registers are not waited for.
        let ring = CpAsyncRing::new(rounds.stages, early.iter().any(|(_, early)| early.copied.is_ok()))?;
        let state = ring.state(&mut self.b, rounds.bytes);
        let iterations = Iterations {
            body: op.regions[0],
            base: base.clone(),
            dtype,
            next,
            end: end.clone(),
            by: by.clone(),
            ranges,
            more,
            ring,
            state,
            waiting,
            loaded,
            target: base.clone(),
        };
        for stage in 0..ring.ahead() {
            self.fetch_iteration(rounds, &iterations, &(&base + stage * rounds.bytes), false)?;
        }
        self.ahead.loops.push(iterations);
        Ok(Some(scope))
    }

    /// At the beginning of an iteration: waits for its tiles, and loads those of the last iteration under way.
    pub(crate) fn enter_ahead(&mut self, id: OpId) -> Result {
        let plan = self.plan;
        let missing = || unfit("an iteration of a loop without slots");
        let rounds = plan.products.ahead.loops.get(&id).ok_or_else(missing)?;
        let Iterations { base, ring, state, .. } = self.ahead.loops.last().cloned().ok_or_else(missing)?;
        let of_wgmma = plan.products.ahead.of(rounds).any(|(_, early)| early.tile.is_some());
        if of_wgmma {
            // Products of the iteration before may read the slot that is filled now.
            self.settle_all()?;
        }
        ring.wait(&mut self.b)?;
        if of_wgmma {
            fence_proxy_async(&mut self.b);
        }
        // All have come, and the iteration before has been read.
        self.meet_idle();
        let slots = [state.read(&mut self.b), state.write(&mut self.b)];
        let [read, written] = slots.map(|at| self.b.hold_index(&(&base + &at), Width::W32));
        let (read, written) = (read?, written?);
        for (load, early) in plan.products.ahead.of(rounds) {
            let base = &read + early.start;
            let base = if early.tile.is_some() { self.for_descriptors(&base)? } else { base };
            self.hold(plan.func.op(load).results[0], Held::Shared(base));
        }
        let top = self.ahead.loops.last_mut().ok_or_else(missing)?;
        top.target = written.clone();
        let iterations = top.clone();
        self.fetch_iteration(rounds, &iterations, &written, true)
    }

    /// At the end of an iteration: stores what waits in registers, and goes on to the next slot.
    pub(crate) fn end_turn_ahead(&mut self, region: RegionId) -> Result {
        let Some(iterations) =
            self.ahead.loops.last().filter(|iterations| iterations.body == region).cloned()
        else {
            return Ok(());
        };
        if !iterations.waiting.is_empty() {
            let skip = self.b.open_block();
            let loaded = self.b.cond_in(&iterations.loaded)?;
            self.b.leave(&skip, &Cond::not(loaded), true)?;
            for (load, regs) in &iterations.waiting {
                self.on_behalf(*load, |low| low.put_early(*load, &iterations.target, regs))?;
            }
            self.b.close_block(skip)?;
        }
        iterations.state.advance(&mut self.b);
        Ok(())
    }

    /// Behind the loop.
    pub(crate) fn leave_ahead(&mut self, scope: SharedScope) {
        self.ahead.loops.pop();
        self.b.close_shared(scope);
        // Its last iteration may still read what others are given now.
        self.scratch_unknown();
    }

    /// Loads the tiles of the next iteration, if there is one, to a slot. Where they `wait`, what goes through registers remains there.
    fn fetch_iteration(
        &mut self,
        rounds: &Rounds,
        iterations: &Iterations,
        slot: &Expr,
        wait: bool,
    ) -> Result {
        let plan = self.plan;
        let args = &plan.func.region(iterations.body).args;
        if wait && !iterations.waiting.is_empty() {
            self.b
                .move_all(std::slice::from_ref(&iterations.loaded), std::slice::from_ref(&iterations.more))?;
        }
        let skip = self.b.open_block();
        let more = self.b.cond_in(&iterations.more)?;
        self.b.leave(&skip, &Cond::not(more), true)?;
        let number = self.copy(iterations.dtype, &iterations.next);
        let (dtype, by) = (iterations.dtype, &iterations.by);
        let more = self.goes_on(dtype, [&number, &iterations.end, by]);
        let sum = self.make(register(dtype), Opcode::Add, m![integer(dtype)], of([&number, by]));
        self.b.move_all(&[iterations.more.clone(), iterations.next.clone()], &[more, sum])?;

        let own: Vec<Value> =
            rounds.scalars.iter().flat_map(|&id| plan.func.op(id).results.iter().copied()).collect();
        let own: Vec<Value> = own.into_iter().chain(args.first().copied()).collect();
        let now: Vec<Option<Held>> = own.iter().map(|value| self.held[value.index()].take()).collect();
        self.hold_number_of_loop(args[0], number, iterations.ranges)?;
        rounds.scalars.iter().try_for_each(|&id| self.op(id))?;
        for &load in &rounds.loads {
            let waiting = iterations.waiting.iter().find(|(of, _)| *of == load).map(|(_, regs)| &regs[..]);
            self.on_behalf(load, |low| low.fetch(load, slot, waiting.filter(|_| wait)))?;
        }
        for (value, held) in own.into_iter().zip(now) {
            self.held[value.index()] = held;
        }
        self.b.close_block(skip)?;
        iterations.ring.commit(&mut self.b);
        Ok(())
    }

    /// Loads a tile to a slot, or to registers that it waits in.
    fn fetch(&mut self, load: OpId, slot: &Expr, waiting: Option<&[Reg]>) -> Result {
        let plan = self.plan;
        let op = plan.func.op(load);
        let (Kind::Load(view), Some(early)) = (&op.kind, plan.products.ahead.loads.get(&load)) else {
            return Err(self.misplaced(load));
        };
        let mut access = global(view.order, view.scope);
        access.words.push(Word::Nc.into());
        let tile = self.tile(load, view, &op.operands, &early.dist, access)?;
        let ty = plan.func.ty(op.results[0]);
        let (base, target) = (slot + early.start, target(early, ty));
        if early.copied.is_ok()
            && self.copy_async(&tile, &base, &target, early.fast, fit::size(early.vector))?
        {
            return Ok(());
        }
        let outside = if view.padding == Padding::Undetermined { Padding::Zero } else { view.padding };
        let regs = self.transfer(&tile, &Move::Load(padding(ty.dtype, outside)))?;
        match waiting {
            Some(waiting) => Ok(self.b.move_all(waiting, &regs)?),
            None => self.put_early(load, slot, &regs),
        }
    }

    /// Stores a tile to a slot.
    fn put_early(&mut self, load: OpId, slot: &Expr, regs: &[Reg]) -> Result {
        let plan = self.plan;
        let early = plan.products.ahead.loads.get(&load).ok_or_else(|| self.misplaced(load))?;
        let (base, ty) = (slot + early.start, plan.func.ty(plan.func.op(load).results[0]));
        match target(early, ty) {
            Target::Rows(piece) => put(self, &piece, regs, &base, None),
            Target::Swizzled(tile) => self.write_tile(&base, tile, &early.dist, ty.dims, regs),
        }
    }

    /// The registers of a tile that has been prefetched for what operands are computed from.
    pub(crate) fn read_early(&mut self, id: OpId, early: &Early) -> Result {
        let plan = self.plan;
        let result = plan.func.op(id).results[0];
        let Some(Held::Shared(base)) = self.held[result.index()].clone() else {
            return Err(unfit("a tile that has not come"));
        };
        let ty = plan.func.ty(result);
        let piece = piece_at(ty.dtype, plan.dist(result), &ty.dims, &early.strides);
        let regs = take(self, &piece, &base, None, &[])?;
        self.hold_regs(result, regs)
    }

    /// An operand of a product that has been loaded iterations ahead.
    pub(super) fn early(&self, value: Value) -> Result<Option<Staged>> {
        let plan = self.plan;
        let Def::Result(id, _) = plan.func.value(value).def else { return Ok(None) };
        if !plan.products.ahead.is_shared(id) {
            return Ok(None);
        }
        let missing = || unfit("a tile that has not come");
        let traced = trace(&plan.func, value).ok_or_else(missing)?;
        let early = plan.products.ahead.loads.get(&traced.load).ok_or_else(missing)?;
        let Some(Held::Shared(base)) = &self.held[value.index()] else { return Err(missing()) };
        let ty = plan.func.ty(value);
        let strides = traced.axes.iter().map(|axis| axis.map_or(0, |axis| early.strides[axis])).collect();
        Ok(Some(Staged { dtype: ty.dtype, dims: ty.dims, base: base.clone(), strides }))
    }
}

/// How a tile is laid out in a slot.
fn target(early: &Early, ir::Type { dtype, dims }: ir::Type) -> Target<'_> {
    let rows = || Target::Rows(piece_at(dtype, &early.dist, &dims, &early.strides));
    early.tile.as_ref().map_or_else(rows, Target::Swizzled)
}
