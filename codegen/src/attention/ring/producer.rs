//! The producer: one thread that loads tiles of Q, K and V by TMA.

use girih_tensor::{Slice, Tensor};

use super::{Parts, ROWS, tails};
use crate::algorithm::copy;
use crate::attention::interface::Tensor4;
use crate::attention::keys::{self, OfTile};
use crate::attention::tile::{Entry, for_each_tile};
use crate::builder::{Builder, Cond};
use crate::sizes::shape_tiler;
use crate::sync::Mbarrier;
use crate::{Error, Expr, Pipeline, PipelineState, Smem, Stage};
use girih_layout::Lay;

/// The warpgroup of the producer, of which one thread issues all TMA copies.
pub(super) struct Producer<'a> {
    parts: &'a Parts<'a>,
    of_q: PipelineState,
    of_keys: PipelineState,
}

impl Producer<'_> {
    pub(super) fn run(b: &mut Builder, parts: &Parts<'_>, thread: &Expr) -> Result<(), Error> {
        b.warpgroup_reg_dealloc(parts.ring.registers[0])?;
        b.if_(&Cond::less(thread, &Expr::from(1)), |b| {
            let [of_q, of_keys] =
                [parts.ring.buffers, parts.ring.stages].map(|stages| PipelineState::new(b, stages));
            let producer = Producer { parts, of_q, of_keys };
            for_each_tile(b, parts.interface, |b, entry| producer.load(b, entry))
        })?;
        let Some(tails) = &parts.tails else { return Ok(()) };
        let second = Cond::all([Cond::less(&Expr::from(31), thread), Cond::less(thread, &Expr::from(64))]);
        b.if_(&second, |b| tails::run(b, parts, tails, thread))
    }

    /// Issues the copies of a tile of queries and of all keys and values that its rows see.
    fn load(&self, b: &mut Builder, entry: &Entry) -> Result<(), Error> {
        let Parts { interface, ring, q, k, v, of_q, of_k, of_v, tails, .. } = self.parts;
        let buffer = self.of_q.stage(b);
        of_q.producer_acquire(b, &buffer)?;
        for warpgroup in 0..ring.warpgroups {
            let at = [Slice::All, Slice::All, Slice::at(warpgroup), Slice::At(buffer.index.clone())];
            let rows = q.slice(Slice::tuple(at))?; // (64,HeadDim)
            let origin = [
                &(&entry.first_query + &entry.row) + warpgroup * ROWS,
                entry.head.clone(),
                entry.batch.clone(),
            ];
            self.copy(b, Tensor4::Q, origin, &rows, (of_q, &buffer))?;
        }
        let OfTile { base, blocks, .. } = keys::of_tile(b, interface, entry)?;
        let last = &blocks.stop + -1;
        let extent = interface.config.tile[1];
        b.for_range(&(&blocks.stop - &blocks.first), |b, i| {
            let key = b.bounded(&(&(&last - i) * extent), last.range().1 * extent)?;
            let stage = self.of_keys.stage(b);
            let at = [&(&entry.first_key + &base) + &key, entry.group.clone(), entry.batch.clone()];
            let place = Slice::tuple([Slice::All, Slice::All, Slice::At(stage.index.clone())]);
            let (of_k_tile, of_v_tile) = (k.slice(place.clone())?, v.slice(place)?); // (Keys,HeadDim)
            of_k.producer_acquire(b, &stage)?;
            self.copy(b, Tensor4::K, at.clone(), &of_k_tile, (of_k, &stage))?;
            let Some(tails) = tails else {
                of_v.producer_acquire(b, &stage)?;
                self.copy(b, Tensor4::V, at, &of_v_tile, (of_v, &stage))?;
                self.of_keys.advance(b);
                return Ok(());
            };
            // V of the last tile is loaded for the tails' warp, which zero-fills the rows of keys that no query sees.
            of_v.producer_wait_free(b, &stage)?;
            b.if_else(
                &Cond::less(i, &Expr::from(1)),
                |b| {
                    tails.expect(b, &buffer)?;
                    self.copy_to(b, Tensor4::V, at.clone(), &of_v_tile, &tails.loaded(&buffer)?)
                },
                |b| {
                    of_v.producer_expect(b, &stage)?;
                    self.copy(b, Tensor4::V, at.clone(), &of_v_tile, (of_v, &stage))
                },
            )?;
            self.of_keys.advance(b);
            Ok(())
        })?;
        self.of_q.advance(b);
        Ok(())
    }

    /// Issues the copies of rows of a tensor from a row, a head and a batch on.
    fn copy(
        &self,
        b: &mut Builder,
        tensor: Tensor4,
        place: [Expr; 3],
        shared: &Tensor<Smem>, // (Rows,HeadDim)
        (pipeline, stage): (&Pipeline, &Stage),
    ) -> Result<(), Error> {
        self.copy_to(b, tensor, place, shared, &pipeline.full(&stage.index)?)
    }

    /// As [`Producer::copy`], for an mbarrier.
    fn copy_to(
        &self,
        b: &mut Builder,
        tensor: Tensor4,
        [row, head, batch]: [Expr; 3],
        shared: &Tensor<Smem>, // (Rows,HeadDim)
        barrier: &Mbarrier,
    ) -> Result<(), Error> {
        let Some(boxes) = &self.parts.copies[tensor as usize] else { return Ok(()) };
        let origin = [row, self.parts.interface.first_column(tensor), head, batch].map(Slice::At);
        let whole = boxes.tma_tensor()?.domain_offset(Slice::tuple(origin))?; // (Row,HeadDim,Head,Batch)
        let layout = shared.layout().append_to(4, &Lay::UNIT)?;
        let shared = Tensor::new(shared.engine().clone(), layout); // (Rows,HeadDim,1,1)
        let [rows, columns] =
            [0, 1].map(|mode| crate::sizes::static_size("tile", &layout.mode(mode).unwrap_or(Lay::UNIT)));
        let tiler = shape_tiler(&[rows?, columns?, 1, 1])?;
        let zero = [0; 4].map(Slice::at);
        let tile = whole.local_tile(&tiler, &zero)?; // (Rows,HeadDim,1,1)
        let with = boxes.with(&self.parts.interface.places[tensor as usize]).barrier(barrier.address());
        let one = boxes.copy().get_slice(&Expr::from(0))?;
        copy(b, with, &one.partition_s(&tile)?, &one.partition_d(&shared)?) // (Box,RestX,RestY,1,1)
    }
}
