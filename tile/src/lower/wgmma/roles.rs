//! A producer that brings tiles by TMA and `cp.async`, and consumers that do all else.

use girih_codegen::algorithm::distributed::{Piece, take};
use girih_codegen::algorithm::{
    cp_async_wait_all, fence_barrier_init, fence_proxy_async, prefetch_tma_descriptor,
};
use girih_codegen::builder::Block;
use girih_codegen::plan::Line;
use girih_codegen::{Cond, Expr, Pipeline, PipelineState, Stage, Width};
use girih_layout::Swizzle;
use girih_ptx::{Opcode, Operand, Special};

use super::super::words::m;
use super::super::{Held, Lowering, unfit};
use crate::error::Error;
use crate::fit;
use crate::ir::{OpId, Value};
use crate::place::extents;
use crate::place::wgmma::{SharedTile, WARPGROUP, blocks, registers_of_consumers};

/// Which part of the program is being written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Role {
    /// All of it.
    #[default]
    All,
    /// That of the threads that load: one, or a warpgroup if it gathers rows.
    Producer,
    /// That of the threads that do not load what the producer does.
    Consumer,
}

/// The barrier at which the consumers meet.
const MEETING: i64 = 1;

/// A ring of slots, and where the role that is being written is in it.
#[derive(Debug)]
pub(crate) struct Slots {
    pub(super) base: Expr,
    /// The same for descriptors.
    matrices: Expr,
    /// Bytes from one slot to the next.
    pub(super) step: i64,
    pub(super) pipeline: Pipeline,
    count: i64,
    pub(super) state: Option<PipelineState>,
}

/// A tile in a slot.
#[derive(Clone, Debug)]
pub(crate) struct Ticket {
    ring: usize,
    slot: Stage,
    waited: bool,
}

impl Lowering<'_> {
    /// Writes the program; where a producer brings tiles, once for its threads and once for all others.
    pub(crate) fn body(&mut self) -> Result<(), Error> {
        let plan = self.plan;
        let body = plan.func.body();
        let rings = &plan.products.pipeline.rings;
        if rings.is_empty() {
            self.region(body)?;
            return self.end_stores();
        }
        let consumers = i64::from(plan.threads / WARPGROUP);
        for (ring, base) in rings.iter().zip(self.products.slots.clone()) {
            let matrices = self.for_descriptors(&base)?;
            let pipeline = if ring.gathered {
                Pipeline::of_threads(&mut self.b, ring.slots, WARPGROUP.into(), consumers)?
            } else {
                // One thread of each warpgroup frees what products read, one of each warp what its threads read.
                let free = if ring.read { i64::from(plan.threads / 32) } else { consumers };
                Pipeline::new(&mut self.b, ring.slots, ring.bytes, free)?
            };
            self.products.rings.push(Slots {
                base,
                matrices,
                step: ring.step,
                pipeline,
                count: ring.slots,
                state: None,
            });
        }
        self.declare_maps()?;
        let thread = self.b.special(Special::TidX);
        let first = Cond::less(&thread, &Expr::from(1));
        let (rings, maps) = (&self.products.rings, &self.products.maps);
        self.b.if_(&first, |b| {
            maps.values().try_for_each(|map| prefetch_tma_descriptor(b, map))?;
            rings.iter().try_for_each(|ring| ring.pipeline.init(b))?;
            fence_barrier_init(b);
            Ok(())
        })?;
        self.b.barrier();
        let group = self.b.canonical_warp_group_idx(&thread)?;
        let blocks = blocks(&plan.func, self.b.sm());
        // One warpgroup alone has all that threads can name.
        let hands_on = consumers > 1 || blocks > 1;

        let around = self.b.open_block();
        let consume = self.b.open_block();
        self.b.leave(&consume, &Cond::less(&group, &Expr::from(consumers)), true)?;
        let kept = plan.products.pipeline.kept;
        if hands_on {
            self.b.warpgroup_reg_dealloc(fit::word(kept))?;
        }
        let threads = i64::from(plan.threads);
        let own = if plan.products.pipeline.gathers() {
            self.b.bounded(&(&thread - &Expr::from(threads)), i64::from(WARPGROUP) - 1)?
        } else {
            self.b.leave(&around, &Cond::not(Cond::equal(&thread, &Expr::from(threads))), false)?;
            Expr::from(0)
        };
        self.produce_all(&around, consume, own)?;

        if hands_on {
            let all = registers_of_consumers(consumers, blocks, kept);
            self.b.warpgroup_reg_alloc(fit::word(all))?;
        }
        self.thread = self.b.bounded(&thread, i64::from(plan.threads) - 1)?;
        self.products.group =
            Some(if consumers == 1 { Expr::from(0) } else { self.b.bounded(&group, consumers - 1)? });
        self.begin_role(Role::Consumer);
        self.open_turns()?;
        self.region(body)?;
        self.close_turns()?;
        self.end_stores()?;
        self.b.close_block(around)?;
        Ok(())
    }

    fn begin_role(&mut self, role: Role) {
        self.products.role = role;
        for ring in &mut self.products.rings {
            ring.state = Some(PipelineState::new(&mut self.b, ring.count));
        }
    }

    /// The producer's part, of its thread with this number, which goes out of `around` afterwards; `consume` ends here.
    fn produce_all(&mut self, around: &Block, consume: Block, thread: Expr) -> Result<(), Error> {
        let (held, state) = (self.held.clone(), self.state());
        let plan = self.plan;
        self.plan = self.producer.unwrap_or(plan);
        self.thread = thread;
        self.begin_role(Role::Producer);
        self.region(plan.func.body())?;
        if plan.products.pipeline.gathers() {
            cp_async_wait_all(&mut self.b);
        }
        self.b.leave(around, &Cond::Always, true)?;
        self.b.close_block(consume)?;
        self.plan = plan;
        self.origins.clear();
        self.held = held;
        self.set_state(state);
        Ok(())
    }

    /// Whether an operation belongs to the role that is being written.
    pub(crate) fn takes_part(&self, id: OpId) -> bool {
        let pipeline = &self.plan.products.pipeline;
        match self.products.role {
            Role::All => true,
            Role::Producer => pipeline.produced.contains(&id),
            Role::Consumer => !pipeline.alone.contains(&id),
        }
    }

    /// Whether the role that is being written has the threads that multiply.
    pub(crate) fn consumes(&self) -> bool {
        self.products.role != Role::Producer
    }

    /// Whether the role that is being written knows a value.
    pub(crate) fn knows(&self, value: Value) -> bool {
        self.products.role != Role::Producer || self.plan.products.pipeline.values.contains(&value)
    }

    /// Lets the consumers meet, where a producer is that does not.
    pub(crate) fn meet_consumers(&mut self) -> bool {
        if self.products.role != Role::Consumer {
            return false;
        }
        let threads = Operand::Int(self.plan.threads.into());
        self.b.inst(Opcode::Bar, m![girih_ptx::Word::Sync], vec![Operand::Int(MEETING), threads]);
        true
    }

    pub(super) fn ring(&self, id: OpId) -> Result<usize, Error> {
        let ring = self.plan.products.pipeline.loads.get(&id).copied();
        ring.ok_or_else(|| unfit("a load without a ring of slots"))
    }

    /// Takes note of the tile that the producer brings for a load.
    pub(crate) fn expect(&mut self, id: OpId) -> Result<(), Error> {
        let ring = self.ring(id)?;
        let part = self.plan.products.pipeline.part(id);
        let slots = &self.products.rings[ring];
        let (base, step) = (slots.matrices.clone(), slots.step);
        if part.first == id {
            let state = slots.state.clone().ok_or_else(|| unfit("a ring without a state"))?;
            // The state goes on while the slot is in use.
            let slot = state.pass(&mut self.b);
            self.products.tickets.insert(id, Ticket { ring, slot, waited: false });
        }
        let at = &(&self.ticket(id)?.slot.index * step) + part.at;
        self.hold(self.plan.func.op(id).results[0], Held::Shared(&base + &at));
        Ok(())
    }

    /// The slot of a load.
    fn ticket(&self, id: OpId) -> Result<Ticket, Error> {
        let first = self.plan.products.pipeline.part(id).first;
        self.products.tickets.get(&first).cloned().ok_or_else(|| unfit("a tile that has not come"))
    }

    /// Waits until the tile of a load has come, before the first product that reads it, and the tiles with which it shares a slot.
    pub(crate) fn await_tile(&mut self, id: OpId) -> Result<(), Error> {
        let products = &self.plan.products;
        let first = products.pipeline.part(id).first;
        let Some(ticket) = self.products.tickets.get_mut(&first).filter(|ticket| !ticket.waited) else {
            return Ok(());
        };
        ticket.waited = true;
        let (ring, slot) = (ticket.ring, ticket.slot.clone());
        let slots = &self.products.rings[ring];
        let (pipeline, base, step) = (slots.pipeline.clone(), slots.base.clone(), slots.step);
        pipeline.consumer_wait(&mut self.b, &slot)?;
        if products.pipeline.rings[ring].gathered {
            // The threads of the producer have written it by the generic proxy.
            fence_proxy_async(&mut self.b);
        }
        for &id in products.pipeline.loads.keys().filter(|&&id| products.pipeline.part(id).first == first) {
            let base = &base + products.pipeline.part(id).at;
            self.clear_beyond(id, &slot.index, step, &base)?;
        }
        Ok(())
    }

    /// Reads a tile that the producer has brought into registers. Each warp frees the slot as soon as its threads have read all that is there.
    pub(super) fn read_tile(&mut self, id: OpId, tile: &SharedTile) -> Result<(), Error> {
        let plan = self.plan;
        let part = plan.products.pipeline.part(id);
        if part.first == id {
            self.expect(id)?;
            self.await_tile(id)?;
        }
        let Ticket { ring, slot, .. } = self.ticket(id)?;
        let slots = &self.products.rings[ring];
        let (base, pipeline) = (&slots.base + &(&slot.index * slots.step), slots.pipeline.clone());
        let base = &base + part.at;
        let result = plan.func.op(id).results[0];
        let ty = plan.func.ty(result);
        let mut strides = vec![0; ty.dims.rank()];
        strides[tile.fast] = 1;
        let mut below = tile.row;
        for &(axis, extent) in tile.rows.iter().rev() {
            strides[axis] = below;
            below *= extent;
        }
        let line = Line { extents: extents(&ty.dims), base: 0, strides };
        let swizzle = tile.swizzle.swizzle(ty.dtype)?.unwrap_or(Swizzle::NONE);
        let piece = Piece { swizzle, ..Piece::new(ty.dtype, plan.dist(result), line) };
        let regs = take(self, &piece, &base, None, &[])?;
        self.hold_regs(result, regs)?;
        if part.last == id && self.is_filled_again(id) {
            self.b.warp_sync();
            let leader = Cond::less(&self.thread.rem(32)?, &Expr::from(1));
            pipeline.consumer_release(&mut self.b, &slot, &leader)?;
        }
        Ok(())
    }

    /// Whether the slot of a load is filled again.
    fn is_filled_again(&self, load: OpId) -> bool {
        !self.loops.is_empty() || self.plan.products.pipeline.refilled.contains(&load)
    }

    /// Waits for the tiles that an operation with regions reads.
    pub(crate) fn await_inside(&mut self, id: OpId) -> Result<(), Error> {
        if self.products.role == Role::Consumer
            && let Some(loads) = self.plan.products.pipeline.inside.get(&id)
        {
            loads.iter().try_for_each(|&load| self.await_tile(load))?;
        }
        Ok(())
    }

    /// After the last operation that reads tiles: frees their slots, once the products that are under way have read them.
    pub(crate) fn free_after(&mut self, id: OpId) -> Result<(), Error> {
        if self.products.role != Role::Consumer {
            return Ok(());
        }
        let pipeline = &self.plan.products.pipeline;
        let Some(loads) = pipeline.last.get(&id) else { return Ok(()) };
        let loads: Vec<OpId> = loads.iter().copied().filter(|&load| self.is_filled_again(load)).collect();
        match self.products.flight.last_mut() {
            Some(flight) => flight.frees.extend(loads),
            None => loads.into_iter().try_for_each(|load| self.free(load))?,
        }
        Ok(())
    }

    pub(crate) fn free(&mut self, load: OpId) -> Result<(), Error> {
        // The producer has filled the slot before it may be filled again, whether anything was read or not.
        self.await_tile(load)?;
        let Some(ticket) = self.products.tickets.get(&load).cloned() else { return Ok(()) };
        let pipeline = self.products.rings[ticket.ring].pipeline.clone();
        let leader = self.leader(true)?;
        Ok(pipeline.consumer_release(&mut self.b, &ticket.slot, &leader)?)
    }

    /// The address of the mbarrier at which the slot of a load is freed.
    pub(super) fn freeing(&mut self, load: OpId) -> Result<girih_codegen::Reg, Error> {
        let ticket = self.ticket(load)?;
        let empty = self.products.rings[ticket.ring].pipeline.empty(&ticket.slot.index)?;
        Ok(self.b.value(empty.address(), Width::W32)?)
    }
}
