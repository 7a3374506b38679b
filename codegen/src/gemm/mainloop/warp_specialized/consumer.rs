//! The warpgroups that multiply and store.

use girih_layout::{Lay, Shape};
use girih_tensor::{Slice, Tensor};

use super::config::{ROWS, WARPGROUP};
use super::{Context, Staged};
use crate::algorithm::{
    CacheHint, MmaWith, copy, fence_proxy_async, gemm, tma_store_arrive, tma_store_wait, warpgroup_arrive,
    warpgroup_commit_batch, warpgroup_wait,
};
use crate::builder::{Builder, Cond};
use crate::engine::element_bytes;
use crate::gemm::epilogue::{self, AtTile};
use crate::gemm::schedule::Tile;
use crate::tiled::copy::{shape_tiler, static_size};
use crate::tiled::mma::{Operand, ThrMma};
use crate::{Counting, Descriptor, Error, Expr, PipelineState, Rmem, Smem};

/// A consumer's operands and where it is.
struct Consumer {
    a: Tensor<Descriptor>, // (1,RestM,RestK,Stage)
    b: Tensor<Descriptor>, // (1,RestN,RestK,Stage)
    sums: Tensor<Rmem>,    // (FrgV,RestM,RestN)
    /// The thread among the threads that multiply.
    mine: ThrMma<Expr>,
    /// The warpgroup among those that multiply, and the thread in it.
    group: Expr,
    thread: Expr,
    /// One thread of the warpgroup.
    leader: Cond,
}

impl Context<'_> {
    pub(super) fn consume(&self, b: &mut Builder) -> Result<(), Error> {
        if self.parts.hands_registers_on()? {
            b.warpgroup_reg_alloc(self.parts.registers[1])?;
        }
        let consumer = self.consumer(b)?;
        let stages = self.parts.stages;
        let states = [PipelineState::new(b, stages), PipelineState::behind(b, stages)];
        // Threads that know the tile wait until it is known: all of them do where they read or write what depends on it.
        let knows = self.staged.is_none() || self.interface.epilogue_reads_tiles();
        let who = if knows { Cond::Always } else { consumer.leader.clone() };
        self.interface.for_each_tile(b, &who, false, |b, tile| {
            self.multiply(b, &consumer, &states)?;
            let epilogue = self.interface.epilogue_at(&consumer.mine, tile)?;
            match &self.staged {
                Some(staged) => self.store_staged(b, &consumer, &epilogue, staged, tile),
                None => {
                    let c = self.interface.tile_of_c(&self.interface.tensor(Operand::C)?, tile)?;
                    let c = consumer.mine.partition(Operand::C, &c)?; // (FrgV,RestM,RestN)
                    epilogue::store(b, &epilogue, &consumer.sums, &c)
                }
            }
        })?;
        if self.staged.is_none() {
            return Ok(());
        }
        b.if_(&consumer.leader, |b| {
            tma_store_wait(b, 0);
            Ok(())
        })
    }

    fn consumer(&self, b: &mut Builder) -> Result<Consumer, Error> {
        let mma = self.parts.mma()?;
        let consumers = self.parts.consumers()?;
        let group = b.bounded(&(&self.group - &Expr::from(1)), consumers - 1)?;
        // The same for all threads of a warpgroup, which the descriptors are.
        let thr_mma = mma.get_slice(&(&group * WARPGROUP))?;
        let a = thr_mma.partition_descriptor(Operand::A, &self.shared[0])?; // (1,RestM,RestK,Stage)
        let operand_b = thr_mma.partition_descriptor(Operand::B, &self.shared[1])?; // (1,RestN,RestK,Stage)
        let [m, n, _] = self.config().tile;
        let fragment = mma.thrfrg(Operand::C, &Lay::col_major([m, n])?)?.mode(1)?;
        let rest = fragment.mode(1)?;
        let sizes = [fragment.mode(0)?.size()?, rest.mode(0)?.size()?, rest.mode(1)?.size()?];
        let sums = Rmem::tensor(b, self.parts.atom.c_type, Lay::left(&Shape::flat(&sizes)?)?)?;
        let thread = self.thread.rem(WARPGROUP)?;
        let leader = Cond::less(&thread, &Expr::from(1));
        let mine = mma.get_slice(&(&(&group * WARPGROUP) + &thread))?;
        Ok(Consumer { a, b: operand_b, sums, mine, group, thread, leader })
    }

    /// The sum over K. A stage is released when the products after its own have been issued, which is when its own are
    /// known to have been read.
    fn multiply(
        &self,
        b: &mut Builder,
        consumer: &Consumer,
        [read, before]: &[PipelineState; 2],
    ) -> Result<(), Error> {
        b.for_range(&self.k_tiles, |b, step| {
            let stage = read.stage(b);
            self.pipeline.consumer_wait(b, &stage)?;
            warpgroup_arrive(b);
            let further = Cond::less(&Expr::from(0), step);
            let at = Slice::tuple(
                [Slice::All, Slice::All, Slice::All].into_iter().chain([Slice::At(stage.index)]),
            );
            let (a, operand_b) = (consumer.a.slice(&at)?, consumer.b.slice(&at)?);
            let with = MmaWith::from(&self.parts.atom).accumulate(further.clone());
            gemm(b, with, &a, &operand_b, &consumer.sums)?;
            warpgroup_commit_batch(b);
            warpgroup_wait(b, 1);
            let done = before.stage(b);
            self.pipeline.consumer_release(b, &done, &Cond::all([further, consumer.leader.clone()]))?;
            read.advance(b);
            before.advance(b);
            Ok(())
        })?;
        warpgroup_wait(b, 0);
        let done = before.stage(b);
        self.pipeline.consumer_release(b, &done, &consumer.leader)
    }

    /// The results to shared memory, as many rows as it has for them, and from there by tensor copies of 64 rows.
    fn store_staged(
        &self,
        b: &mut Builder,
        consumer: &Consumer,
        epilogue: &AtTile<'_>,
        staged: &Staged,
        tile: &Tile,
    ) -> Result<(), Error> {
        let rest_m = static_size("C", &consumer.sums.layout().mode(1)?)?;
        let together = staged.rows / (ROWS * self.parts.consumers()?);
        let barrier = &consumer.group + &Expr::from(1);
        for first in (0..rest_m).step_by(together as usize) {
            let parts = first..first + together;
            b.if_(&consumer.leader, |b| {
                tma_store_wait(b, 0);
                Ok(())
            })?;
            b.named_barrier_sync(&barrier, WARPGROUP as u32)?;
            for part in parts.clone() {
                self.to_shared(b, consumer, epilogue, staged, part, part - first)?;
            }
            fence_proxy_async(b);
            b.named_barrier_sync(&barrier, WARPGROUP as u32)?;
            b.if_(&consumer.leader, |b| {
                for part in parts {
                    self.to_global(b, consumer, staged, tile, part, part - first)?;
                }
                tma_store_arrive(b);
                Ok(())
            })?;
        }
        Ok(())
    }

    /// 64 rows of results to `place` among the warpgroup's rows in shared memory.
    fn to_shared(
        &self,
        b: &mut Builder,
        consumer: &Consumer,
        epilogue: &AtTile<'_>,
        staged: &Staged,
        part: i64,
        place: i64,
    ) -> Result<(), Error> {
        let store = self.parts.store_c(self.config().c_type)?;
        let mine = store.get_slice(&consumer.thread)?;
        let values = epilogue.of_row(b, &consumer.sums, part)?; // (FrgV,1,RestN)
        let rows = self.rows_of_c(consumer, staged, place)?;
        copy(b, &store, &mine.retile_s(&values)?, &mine.partition_d(&rows)?)
    }

    /// Issues the copies of those to C.
    fn to_global(
        &self,
        b: &mut Builder,
        consumer: &Consumer,
        staged: &Staged,
        tile: &Tile,
        part: i64,
        place: i64,
    ) -> Result<(), Error> {
        let [tile_m, tile_n, _] = self.config().tile;
        let row =
            &(&tile.row * (tile_m / ROWS)) + &(&consumer.group + &Expr::from(part * self.parts.consumers()?));
        let whole = Tensor::new(Counting::new(2), Lay::identity(&self.interface.shape(Operand::C)?)?); // (M,N)
        let at = [row, tile.column.clone()].map(Slice::At);
        let target = whole.local_tile(&shape_tiler(&[ROWS, tile_n])?, &at)?; // (64,BlockN)
        let one = staged.copy.copy().get_slice(&Expr::from(0))?;
        copy(
            b,
            // A and B are what the cache is for.
            staged.copy.with(self.interface.map(Operand::C)?).cache_hint(CacheHint::EvictFirst),
            &one.partition_s(&self.rows_of_c(consumer, staged, place)?)?, // (Box,1,RestN)
            &one.partition_d(&target)?,                                   // (Box,1,RestN)
        )
    }

    /// Rows of C in shared memory, (64,BlockN): those of a warpgroup at `place` among its own.
    fn rows_of_c(&self, consumer: &Consumer, staged: &Staged, place: i64) -> Result<Tensor<Smem>, Error> {
        let (config, rows) = (self.config(), self.config().shared_c()?);
        let bytes = ROWS * config.tile[1] * element_bytes("c_type", config.c_type)?;
        let number = &consumer.group + &Expr::from(place * self.parts.consumers()?);
        let base = &staged.base + &(&number * bytes);
        Ok(Tensor::new(Smem::new(base, config.c_type, Some(rows.swizzle())), *rows.layout()))
    }
}
