//! The producer's warpgroup, of which one thread issues the TMA copies of A and B.

use std::ops::Range;

use girih_layout::Lay;
use girih_ptx::Special;
use girih_tensor::{Slice, Tensor};

use super::{Feed, Shared, WarpSpecializedMainloop};
use crate::algorithm::copy;
use crate::builder::{Builder, Cond};
use crate::sizes::shape_tiler;
use crate::tiled::mma::Operand;
use crate::{Error, Expr, PipelineState, Stage};

/// The thread that loads tiles of A and B into the stages.
pub struct Producer<'a> {
    shared: &'a Shared<'a>,
    feeds: &'a [Feed],
    state: PipelineState,
}

impl<'a> Producer<'a> {
    pub(super) fn run(
        b: &mut Builder,
        shared: &'a Shared<'a>,
        feeds: &'a [Feed],
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

    /// Brings the tiles `k_tiles` along K of block tile `at[0]` of A and `at[1]` of B, one after the other as stages become free. A block
    /// tile is its number along M or N, and for a tensor with a mode L its coordinate there. If `backwards` is 1 and not 0, the last tile
    /// comes first.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for a copy that was made for another mainloop.
    #[track_caller]
    pub fn load(
        &self,
        b: &mut Builder,
        at: [&[Expr]; 2],
        k_tiles: Range<Expr>,
        backwards: &Expr,
    ) -> Result<(), Error> {
        self.load_behind(b, [None; 2], at, k_tiles, backwards)
    }

    /// The same for block tiles that begin at the row `origins[0]` of A and the row `origins[1]` of B, which need not be multiples of the tile. Such
    /// a tile also contains the rows after the requested ones.
    ///
    /// # Errors
    /// As [`Producer::load`].
    #[track_caller]
    pub fn load_behind(
        &self,
        b: &mut Builder,
        origins: [Option<&Expr>; 2],
        at: [&[Expr]; 2],
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
                self.load_tile(b, operand, (origins[operand as usize], at), &k_tile, &stage)?;
            }
            self.load_scales(b, at, &k_tile, &stage)?;
            self.state.advance(b);
            Ok(())
        })
    }

    /// Issues the copies of the operand's tile at `at` and `k_tile` into a stage.
    fn load_tile(
        &self,
        b: &mut Builder,
        operand: Operand,
        (origin, at): (Option<&Expr>, &[Expr]),
        k_tile: &Expr,
        stage: &Stage,
    ) -> Result<(), Error> {
        let Feed { copy: boxes, map } = &self.feeds[operand as usize];
        let barrier = self.shared.pipeline.full(&stage.index)?;
        let (mainloop, mut whole) = (self.shared.mainloop, boxes.tma_tensor()?);
        if let Some(origin) = origin {
            let zeros = vec![Expr::from(0); whole.layout().rank() - 1];
            whole = whole
                .domain_offset(Slice::tuple([origin.clone()].into_iter().chain(zeros).map(Slice::At)))?;
        }
        let mut extents = mainloop.extents_of_copy(operand).to_vec();
        extents.resize(whole.layout().rank(), 1);
        let tiler = shape_tiler(&extents)?;
        let stages = [Slice::All, Slice::All, Slice::At(stage.index.clone())];
        let shared = self.shared.stages.tiles[operand as usize].slice(Slice::tuple(stages))?; // (BlockX,BlockK)
        let layout = shared.layout().append_to(extents.len(), &Lay::UNIT)?;
        let shared = Tensor::new(shared.engine().clone(), layout); // (BlockX,BlockK,1)
        let mut with = boxes.with(map).barrier(barrier.address());
        let (mut at, mut place) = (at.to_vec(), vec![Expr::from(0); extents.len()]);
        at.insert(1, k_tile.clone());
        if mainloop.is_multicast(operand) {
            let rank = b.special(Special::ClusterCtarank);
            at[0] = &(&at[0] * mainloop.parts.multicast) + &rank;
            place[0] = rank;
            with = with.blocks(u16::MAX >> (16 - mainloop.parts.multicast));
        }
        let slices = |at: Vec<Expr>| at.into_iter().map(Slice::At).collect::<Vec<_>>();
        let tile = whole.local_tile(&tiler, &slices(at)[..])?; // (CopyX,BlockK,1)
        let shared = shared.local_tile(&tiler, &slices(place)[..])?; // (CopyX,BlockK,1)
        let one = boxes.copy().get_slice(&Expr::from(0))?;
        copy(
            b,
            with,
            &one.partition_s(&tile)?,   // (Box,RestX,RestK,1)
            &one.partition_d(&shared)?, // (Box,RestX,RestK,1)
        )
    }

    /// Issues the copies of the scales of the rows of block tile `at[0]` of A and `at[1]` of B for the tile `k_tile` along K, of those that
    /// have scales.
    fn load_scales(
        &self,
        b: &mut Builder,
        at: [&[Expr]; 2],
        k_tile: &Expr,
        stage: &Stage,
    ) -> Result<(), Error> {
        let mut feeds = self.feeds.iter().skip(2);
        for operand in [Operand::A, Operand::B] {
            let i = operand as usize;
            let WarpSpecializedMainloop { parts, tile, .. } = self.shared.mainloop;
            let (Some(scaling), Some(scales), Some(row)) =
                (parts.scales(operand), &self.shared.stages.scales[i], at[i].first())
            else {
                continue;
            };
            let Some(Feed { copy: boxes, map }) = feeds.next() else { continue };
            let group = k_tile.div(scaling.group / tile[2])?;
            let rows = tile[i];
            let [first, _] = scaling.begin(row, rows)?;
            let whole =
                boxes.tma_tensor()?.domain_offset(Slice::tuple([Slice::At(first), Slice::At(group)]))?;
            let zero = || Slice::At(Expr::from(0));
            let tile = whole.local_tile(&shape_tiler(&[scaling.boxed(rows), 1])?, &[zero(), zero()])?; // (Scales,1)
            let shared = scales.slice((Slice::All, Slice::All, Slice::At(stage.index.clone())))?; // (Scales,1)
            let barrier = self.shared.pipeline.full(&stage.index)?;
            let one = boxes.copy().get_slice(&Expr::from(0))?;
            let (source, target) = (one.partition_s(&tile)?, one.partition_d(&shared)?); // (Box,RestX,1)
            copy(b, boxes.with(map).barrier(barrier.address()), &source, &target)?;
        }
        Ok(())
    }
}
