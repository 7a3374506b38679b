//! The warpgroups that multiply and store.

use girih_layout::{Lay, Shape};
use girih_tensor::{DType, Slice, Tensor};

use super::Context;
use super::config::ROWS;
use super::tiles::Tile;
use crate::algorithm::{
    CacheHint, MmaWith, copy, fence_proxy_async, gemm, tma_store_arrive, tma_store_wait, warpgroup_arrive,
    warpgroup_commit_batch, warpgroup_wait,
};
use crate::builder::{Builder, Cond};
use crate::engine::element_bytes;
use crate::gemm::epilogue::convert;
use crate::tiled_copy::{shape_tiler, static_size};
use crate::tiled_mma::Operand;
use crate::{Counting, Descriptor, Error, Expr, PipelineState, Rmem, Smem};

/// Threads of a warpgroup.
const WARPGROUP: i64 = 128;

/// A consumer's operands and where it is.
struct Consumer {
    a: Tensor<Descriptor>, // (1,RestM,RestK,Stage)
    b: Tensor<Descriptor>, // (1,RestN,RestK,Stage)
    c: Tensor<Rmem>,       // (FrgV,RestM,RestN)
    /// Among the consumers.
    group: Expr,
    thread: Expr,
    /// One thread of the warpgroup.
    leader: Cond,
}

impl Context<'_> {
    pub(super) fn consume(&self, b: &mut Builder) -> Result<(), Error> {
        if self.config.hands_registers_on()? {
            b.warpgroup_reg_alloc(self.config.registers[1])?;
        }
        let consumer = self.consumer(b)?;
        let stages = self.config.stages;
        let states = [PipelineState::new(b, stages), PipelineState::behind(b, stages)];
        // If all threads knew the tile, they would wait for it: it would be uniform.
        self.tiles.for_each(b, &consumer.leader, false, |b, tile| {
            self.multiply(b, &consumer, &states)?;
            self.store(b, &consumer, tile)
        })?;
        b.if_(&consumer.leader, |b| {
            tma_store_wait(b, 0);
            Ok(())
        })
    }

    fn consumer(&self, b: &mut Builder) -> Result<Consumer, Error> {
        let mma = self.config.mma()?;
        let consumers = self.config.consumers()?;
        let group = b.bounded(&(&self.group - &Expr::from(1)), consumers - 1)?;
        // The same for all threads of a warpgroup, which the descriptors are.
        let thr_mma = mma.get_slice(&(&group * WARPGROUP))?;
        let a = thr_mma.partition_descriptor(Operand::A, &self.shared[0])?; // (1,RestM,RestK,Stage)
        let operand_b = thr_mma.partition_descriptor(Operand::B, &self.shared[1])?; // (1,RestN,RestK,Stage)
        let [m, n, _] = self.config.tile;
        let fragment = mma.thrfrg(Operand::C, &Lay::col_major([m, n])?)?.mode(1)?;
        let rest = fragment.mode(1)?;
        let sizes = [fragment.mode(0)?.size()?, rest.mode(0)?.size()?, rest.mode(1)?.size()?];
        let c = Rmem::tensor(b, DType::F32, Lay::left(&Shape::flat(&sizes)?)?)?;
        let thread = self.thread.rem(WARPGROUP)?;
        let leader = Cond::less(&thread, &Expr::from(1));
        Ok(Consumer { a, b: operand_b, c, group, thread, leader })
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
            let with = MmaWith::from(&self.config.atom).accumulate(further.clone());
            gemm(b, with, &a, &operand_b, &consumer.c)?;
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

    /// The sums to shared memory, as many rows as it has for them, and from there by tensor copies of 64 rows.
    fn store(&self, b: &mut Builder, consumer: &Consumer, tile: &Tile) -> Result<(), Error> {
        let rest_m = static_size("C", &consumer.c.layout().mode(1)?)?;
        let together = self.config.rows_c / (ROWS * self.config.consumers()?);
        let barrier = &consumer.group + &Expr::from(1);
        for first in (0..rest_m).step_by(together as usize) {
            let parts = first..first + together;
            b.if_(&consumer.leader, |b| {
                tma_store_wait(b, 0);
                Ok(())
            })?;
            b.named_barrier_sync(&barrier, WARPGROUP as u32)?;
            for part in parts.clone() {
                self.to_shared(b, consumer, part, part - first)?;
            }
            fence_proxy_async(b);
            b.named_barrier_sync(&barrier, WARPGROUP as u32)?;
            b.if_(&consumer.leader, |b| {
                for part in parts {
                    self.to_global(b, consumer, tile, part, part - first)?;
                }
                tma_store_arrive(b);
                Ok(())
            })?;
        }
        Ok(())
    }

    /// 64 rows of sums to `place` among the warpgroup's rows in shared memory.
    fn to_shared(&self, b: &mut Builder, consumer: &Consumer, part: i64, place: i64) -> Result<(), Error> {
        let store = self.config.store_c()?;
        let mine = store.get_slice(&consumer.thread)?;
        let at = [Slice::All, Slice::At(Expr::from(part)), Slice::All];
        let sums = consumer.c.slice(&Slice::tuple(at))?; // (FrgV,RestN)
        let values = self.converted(b, &sums)?; // (FrgV,1,RestN)
        let rows = self.rows_of_c(consumer, place)?;
        copy(b, &store, &mine.retile_s(&values)?, &mine.partition_d(&rows)?)
    }

    /// Issues the copies of those to C.
    fn to_global(
        &self,
        b: &mut Builder,
        consumer: &Consumer,
        tile: &Tile,
        part: i64,
        place: i64,
    ) -> Result<(), Error> {
        let [tile_m, tile_n, _] = self.config.tile;
        let row = &(&tile.row * (tile_m / ROWS))
            + &(&consumer.group + &Expr::from(part * self.config.consumers()?));
        let whole = Tensor::new(Counting::new(2), Lay::identity(&self.shapes[2])?); // (M,N)
        let at = [row, tile.column.clone()].map(Slice::At);
        let target = whole.local_tile(&shape_tiler(&[ROWS, tile_n])?, &at)?; // (64,BlockN)
        let copies = &self.copies[2];
        let one = copies.copy().get_slice(&Expr::from(0))?;
        copy(
            b,
            // A and B are what the cache is for.
            copies.with(&self.maps[2]).cache_hint(CacheHint::EvictFirst),
            &one.partition_s(&self.rows_of_c(consumer, place)?)?, // (Box,1,RestN)
            &one.partition_d(&target)?,                           // (Box,1,RestN)
        )
    }

    /// Rows of C in shared memory, (64,BlockN): those of a warpgroup at `place` among its own.
    fn rows_of_c(&self, consumer: &Consumer, place: i64) -> Result<Tensor<Smem>, Error> {
        let rows = self.config.shared_c()?;
        let bytes = ROWS * self.config.tile[1] * element_bytes("c_type", self.config.c_type)?;
        let number = &consumer.group + &Expr::from(place * self.config.consumers()?);
        let base = &self.base_c + &(&number * bytes);
        Ok(Tensor::new(Smem::new(base, self.config.c_type, Some(rows.swizzle())), *rows.layout()))
    }

    /// f32 sums as a fragment of C's dtype with a mode of one row of atoms.
    fn converted(&self, b: &mut Builder, sums: &Tensor<Rmem>) -> Result<Tensor<Rmem>, Error> {
        let sizes =
            [sums.layout().mode(0)?.size()?, girih_layout::Int::fixed(1), sums.layout().mode(1)?.size()?];
        let layout = Lay::left(&Shape::flat(&sizes)?)?;
        let count = static_size("C", &layout)? as usize;
        let mut values = Vec::with_capacity(count);
        for i in 0..count as i64 {
            let at = crate::engine::at(sums, i)?.offset() as usize;
            values.extend(sums.engine().reg(at).cloned());
        }
        if self.config.c_type == DType::F32 {
            return Ok(Tensor::new(Rmem::of(values, DType::F32), layout));
        }
        let registers = convert(b, self.config.c_type, &values)?;
        Ok(Tensor::new(Rmem::of(registers, self.config.c_type), layout))
    }
}
