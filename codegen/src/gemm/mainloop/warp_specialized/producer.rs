//! The producer's warpgroup, of which one thread issues the tensor copies of A and B.

use std::ops::Range;

use girih_ptx::Special;
use girih_tensor::Slice;

use super::{Feed, Shared};
use crate::algorithm::copy;
use crate::builder::{Builder, Cond};
use crate::sizes::shape_tiler;
use crate::tiled::mma::Operand;
use crate::{Error, Expr, PipelineState, Stage};

/// The thread that brings tiles of A and B into the stages.
pub struct Producer<'a> {
    shared: &'a Shared<'a>,
    feeds: &'a [Feed; 2],
    state: PipelineState,
}

impl<'a> Producer<'a> {
    pub(super) fn run(
        b: &mut Builder,
        shared: &'a Shared<'a>,
        feeds: &'a [Feed; 2],
        thread: &Expr,
        body: impl FnOnce(&mut Builder, &Producer<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let parts = &shared.mainloop.parts;
        if parts.hands_registers_on()? {
            b.warpgroup_reg_dealloc(parts.registers[0])?;
        }
        b.if_(&Cond::less(thread, &Expr::from(1)), |b| {
            let state = PipelineState::new(b, parts.stages);
            body(b, &Producer { shared, feeds, state })
        })
    }

    /// Brings the tiles `k_tiles` along K of block tile `at[0]` of A and `at[1]` of B, one after the other as stages become free. If
    /// `backwards` is 1 and not 0, the last tile comes first.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for a copy that was made for another mainloop.
    #[track_caller]
    pub fn load(
        &self,
        b: &mut Builder,
        at: [&Expr; 2],
        k_tiles: Range<Expr>,
        backwards: &Expr,
    ) -> Result<(), Error> {
        let Range { start, end } = k_tiles;
        b.for_range(&(&end - &start), |b, step| {
            let last = &(&end - &start) - &Expr::from(1);
            let k_tile = step + &(backwards * &(&last - &(step * 2)));
            let k_tile = b.bounded(&(&start + &k_tile), end.range().1 - 1)?;
            let stage = self.state.stage(b);
            self.shared.pipeline.producer_acquire(b, &stage)?;
            for (operand, at) in [(Operand::A, at[0]), (Operand::B, at[1])] {
                self.load_tile(b, operand, &[at.clone(), k_tile.clone()], &stage)?;
            }
            self.state.advance(b);
            Ok(())
        })
    }

    /// Issues the copies of the operand's tile at `at` into a stage.
    fn load_tile(
        &self,
        b: &mut Builder,
        operand: Operand,
        at: &[Expr; 2],
        stage: &Stage,
    ) -> Result<(), Error> {
        let Feed { copy: boxes, map } = &self.feeds[operand as usize];
        let barrier = self.shared.pipeline.full(&stage.index)?;
        let mainloop = self.shared.mainloop;
        let tiler = shape_tiler(&mainloop.extents_of_copy(operand))?;
        let stages = [Slice::All, Slice::All, Slice::At(stage.index.clone())];
        let shared = self.shared.tiles[operand as usize].slice(Slice::tuple(stages))?; // (BlockX,BlockK)
        let (mut with, mut at, mut place) =
            (boxes.with(map).barrier(barrier.address()), at.clone(), [0, 0].map(Expr::from));
        if mainloop.is_multicast(operand) {
            let rank = b.special(Special::ClusterCtarank);
            at[0] = &(&at[0] * mainloop.parts.multicast) + &rank;
            place[0] = rank;
            with = with.blocks(u16::MAX >> (16 - mainloop.parts.multicast));
        }
        let tile = boxes.tma_tensor()?.local_tile(&tiler, &at.map(Slice::At))?; // (CopyX,BlockK)
        let shared = shared.local_tile(&tiler, &place.map(Slice::At))?; // (CopyX,BlockK)
        let one = boxes.copy().get_slice(&Expr::from(0))?;
        copy(
            b,
            with,
            &one.partition_s(&tile)?,   // (Box,RestX,RestK)
            &one.partition_d(&shared)?, // (Box,RestX,RestK)
        )
    }
}
