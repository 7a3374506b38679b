//! Stores the results of an epilogue from registers to shared memory, and from there by TMA to global memory, while the next
//! tile is loaded, or by the threads where tensor maps do not describe C.

use girih_layout::Lay;
use girih_ptx::Special;
use girih_tensor::{Slice, Tensor};

use super::ahead::{Ahead, InPlace, Mapped, Turns};
use super::apply::{AtTile, Piece};
use super::gate::{for_pairs, once_for_pairs};
use super::rows::{Out, Rows, Strip, shared_bytes};
use crate::algorithm::{CacheHint, copy, fence_proxy_async, tma_store_arrive, tma_store_wait};
use crate::atom::Major;
use crate::builder::{Builder, Cond, SHARED_ALIGN};
use crate::error::narrow;
use crate::gemm::mainloop::{Consumer, ROWS, Sums, WARPGROUP};
use crate::gemm::schedule::Place;
use crate::sizes::shape_tiler;
use crate::tiled::mma::Operand;
use crate::{Counting, Error, Expr, Gmem, Smem, ThrCopy, TiledCopy, TmaCopy};

/// The lines of C that the threads of a warpgroup store together, so that what is in flight fits the registers.
const LINES: i64 = 8;

/// C's way through shared memory in a kernel.
pub(in crate::gemm) struct Staged {
    pub(super) rows: Rows,
    out: Out,
    /// The address of the rows in shared memory, in bytes.
    base: Expr,
    /// The input that comes to the rows' place before.
    pub(super) ahead: Option<Ahead>,
}

impl Staged {
    /// Allocates the shared memory. Inputs in `mapped` are prefetched by TMA.
    pub(in crate::gemm) fn new(
        b: &mut Builder,
        rows: Rows,
        out: Out,
        mapped: Option<(&Mapped, TmaCopy)>,
    ) -> Result<Staged, Error> {
        let turn = shared_bytes(rows.dtype, rows.together)?;
        let base = b.alloc_shared(rows.teams * rows.stages * turn, SHARED_ALIGN)?;
        let ahead = match mapped {
            Some((mapped, copy)) => {
                let warpgroups = rows.teams * rows.consumers;
                Some(Ahead::new(b, mapped, copy, [rows.stages, warpgroups], turn / rows.consumers)?)
            }
            None => None,
        };
        Ok(Staged { rows, out, base, ahead })
    }

    /// Initialises what is read ahead, by one thread; a fence and a barrier follow.
    pub(in crate::gemm) fn init(&self, b: &mut Builder) -> Result<(), Error> {
        let first = Cond::less(&b.special(Special::TidX), &Expr::from(1));
        self.ahead.iter().try_for_each(|ahead| b.if_(&first, |b| ahead.init(b)))
    }

    /// The consumer's way through the subtiles of what is read ahead.
    pub(in crate::gemm) fn turns(&self, b: &mut Builder, consumer: &Consumer<'_>) -> Option<Turns<'_>> {
        self.ahead.as_ref().map(|ahead| Turns::new(b, ahead, consumer.number()))
    }

    /// The teams, and the warpgroups of a team.
    pub(super) fn teams(&self) -> [i64; 2] {
        [self.rows.teams, self.rows.consumers]
    }

    /// Whether all threads write to C, and not TMA copies that one thread issues.
    pub(in crate::gemm) fn by_threads(&self) -> bool {
        matches!(self.out, Out::Threads(..))
    }

    /// Stores the results to shared memory, as many rows and columns as go there together, and from there to C, 64 rows at a time. With
    /// what is read ahead in their place, carriers do the latter.
    pub(in crate::gemm) fn store(
        &self,
        b: &mut Builder,
        consumer: &Consumer<'_>,
        turns: Option<&Turns<'_>>,
        epilogue: &AtTile<'_>,
        sums: &Sums,
        tile: &Place,
    ) -> Result<(), Error> {
        let barrier = consumer.number() + &Expr::from(1);
        for turn in 0..self.rows.turns() {
            let strips = self.rows.strips(turn);
            if let Some(turns) = turns {
                turns.wait(b, turn)?;
            } else {
                // Before a stage is written again, it must have been read.
                self.wait(b, consumer, self.rows.stages - 1)?;
                b.named_barrier_sync(&barrier, WARPGROUP as u32)?;
            }
            for strip in &strips {
                self.to_shared(b, consumer, epilogue, sums, strip)?;
            }
            if !self.by_threads() {
                fence_proxy_async(b);
            }
            if let Some(turns) = turns {
                turns.release(b, turn)?;
                continue;
            }
            b.named_barrier_sync(&barrier, WARPGROUP as u32)?;
            let to_global = |b: &mut Builder| {
                strips.iter().try_for_each(|strip| self.to_global(b, consumer, tile, strip))
            };
            if self.by_threads() {
                to_global(b)?;
                continue;
            }
            b.if_(consumer.leader(), |b| {
                to_global(b)?;
                tma_store_arrive(b);
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Waits until TMA copies have read what is in shared memory.
    pub(in crate::gemm) fn finish(&self, b: &mut Builder, consumer: &Consumer<'_>) -> Result<(), Error> {
        self.wait(b, consumer, 0)
    }

    /// Waits until TMA copies have read all but the last `pending` stages.
    fn wait(&self, b: &mut Builder, consumer: &Consumer<'_>, pending: i64) -> Result<(), Error> {
        if self.by_threads() || self.ahead.is_some() {
            return Ok(());
        }
        b.if_(consumer.leader(), |b| {
            tma_store_wait(b, narrow("stages of the store", pending)?);
            Ok(())
        })
    }

    /// Stores a strip of the results to its place in shared memory.
    fn to_shared(
        &self,
        b: &mut Builder,
        consumer: &Consumer<'_>,
        epilogue: &AtTile<'_>,
        sums: &Sums,
        strip: &Strip,
    ) -> Result<(), Error> {
        let rows = self.place([consumer.team(), consumer.group()], strip)?; // (64,EpiN)
        let place = if self.rows.gated {
            self.rows.mma.get_slice(consumer.thread())?.partition(Operand::C, &for_pairs(&rows)?)?
        } else {
            self.rows.store.get_slice(consumer.thread())?.partition_d(&rows)?
        }; // (FrgV,1,RestN)
        let share = [strip.column, self.rows.tile[1] / self.rows.together[1]];
        let piece = Piece::of_row(sums.values.layout(), strip.row, share)?;
        let sums = piece.of(&sums.values)?; // (FrgV,1,RestN)
        let ahead = match &self.ahead {
            Some(_) => {
                let load = self.rows.load;
                Some(InPlace { load, part: load.get_slice(consumer.thread())?.partition_s(&rows)? })
            }
            None => None,
        };
        epilogue.at_piece(&piece, ahead.as_ref())?.for_each_piece_of_row(b, &sums, |b, values, piece| {
            let place = piece.of(&place)?;
            let place = if self.rows.gated { once_for_pairs(&place)? } else { place };
            copy(b, &self.rows.store, values, &place)
        })
    }

    /// Copies a strip from shared memory to C, or issues the TMA copies that do so.
    fn to_global(
        &self,
        b: &mut Builder,
        consumer: &Consumer<'_>,
        tile: &Place,
        strip: &Strip,
    ) -> Result<(), Error> {
        let Out::Threads(threads, c) = &self.out else {
            return self.store_boxes(b, [consumer.team(), consumer.group()], tile, strip);
        };
        // As variables of this tile, so that values derived from them are not live along with the accumulators.
        let group = b.bounded(consumer.group(), self.rows.consumers - 1)?;
        let thread = b.bounded(consumer.thread(), WARPGROUP - 1)?;
        let at = self.at(&group, tile, strip).map(Slice::At);
        let place = self.place([consumer.team(), &group], strip)?; // (64,EpiN)
        let target = c.at(b, tile)?.local_tile(&shape_tiler(&[ROWS, self.rows.together[1]])?, &at)?; // (64,EpiN)
        self.by_lines(b, &threads.get_slice(&thread)?, threads, &place, &target)
    }

    /// Issues the TMA copies of a strip of a team's warpgroup to C.
    pub(super) fn store_boxes(
        &self,
        b: &mut Builder,
        warpgroup: [&Expr; 2],
        tile: &Place,
        strip: &Strip,
    ) -> Result<(), Error> {
        let Out::Tensor(boxes, map) = &self.out else { return Ok(()) };
        let (target, place) = self.boxes(boxes, warpgroup, tile, strip)?; // (64,EpiN,1)
        let one = boxes.copy().get_slice(&Expr::from(0))?;
        // The cache is kept for A and B.
        let with = boxes.with(map).cache_hint(CacheHint::EvictFirst);
        copy(b, with, &one.partition_s(&place)?, &one.partition_d(&target)?) // (Box,1,RestN,1)
    }

    /// A strip of a team's warpgroup in the tensor that `boxes` copies, and its place in shared memory, both (64,EpiN,1).
    pub(super) fn boxes(
        &self,
        boxes: &TmaCopy,
        warpgroup: [&Expr; 2],
        tile: &Place,
        strip: &Strip,
    ) -> Result<(Tensor<Counting>, Tensor<Smem>), Error> {
        let whole = boxes.tma_tensor()?;
        let rank = whole.layout().rank();
        let (mut extents, mut at) =
            (vec![ROWS, self.rows.together[1]], self.at(warpgroup[1], tile, strip).to_vec());
        extents.resize(rank, 1);
        at.resize(rank, tile.batch.clone());
        let at: Vec<Slice<Expr>> = at.into_iter().map(Slice::At).collect();
        let tensor = whole.local_tile(&shape_tiler(&extents)?, &at[..])?;
        let place = self.place(warpgroup, strip)?; // (64,EpiN)
        Ok((tensor, Tensor::new(place.engine().clone(), place.layout().append_to(rank, &Lay::UNIT)?)))
    }

    /// Which strip of C, counted in strips along both modes, a warpgroup's strip is.
    fn at(&self, group: &Expr, tile: &Place, strip: &Strip) -> [Expr; 2] {
        let ([tile_m, tile_n], columns) = (self.rows.tile, self.rows.together[1]);
        let row = &(&tile.row * (tile_m / ROWS)) + &(group + &Expr::from(strip.row * self.rows.consumers));
        [row, &(&tile.column * (tile_n / columns)) + &Expr::from(strip.column)]
    }

    /// Copies rows from shared memory to their place in C, (64,EpiN), a few lines of C's contiguous mode at a time.
    fn by_lines(
        &self,
        b: &mut Builder,
        mine: &ThrCopy<Expr>,
        threads: &TiledCopy,
        rows: &Tensor<Smem>,
        target: &Tensor<Gmem>,
    ) -> Result<(), Error> {
        let all = [ROWS, self.rows.together[1]];
        let mut piece = all;
        let across = usize::from(self.rows.major != Major::K);
        piece[across] = threads.extents()?[across].max(LINES);
        let tiler = shape_tiler(&piece)?;
        b.for_range(&Expr::from(all[across] / piece[across]), |b, i| {
            let mut at = [Expr::from(0), Expr::from(0)];
            at[across] = i.clone();
            let at = at.map(Slice::At);
            let (from, to) = (rows.local_tile(&tiler, &at)?, target.local_tile(&tiler, &at)?);
            copy(b, threads, &mine.partition_s(&from)?, &mine.partition_d(&to)?) // (Vec,RestM,RestN)
        })
    }

    /// The place of a strip of a team's warpgroup in shared memory, (64,EpiN).
    fn place(&self, [team, group]: [&Expr; 2], strip: &Strip) -> Result<Tensor<Smem>, Error> {
        let bytes = shared_bytes(self.rows.dtype, [ROWS, self.rows.together[1]])?;
        let of_team = self.rows.stages * self.rows.together[0] / ROWS;
        let number = &(group + &Expr::from(strip.place * self.rows.consumers)) + &(team * of_team);
        let base = &self.base + &(&number * bytes);
        Ok(Tensor::new(
            Smem::new(base, self.rows.dtype, Some(self.rows.layout.swizzle())),
            *self.rows.layout.layout(),
        ))
    }
}
