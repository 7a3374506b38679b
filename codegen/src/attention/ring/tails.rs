//! The warp that clears what stands behind the end of a packed sequence.
//!
//! Tensor copies bring the rows of the next sequence with the last keys of one. Their scores are taken for negative infinity, but a weight of 0 times
//! a value that is not a number would be none either. So a warp beside the producer writes zeros there, before the values are multiplied.

use girih_tensor::Slice;

use super::Parts;
use crate::algorithm::{clear, fence_proxy_async};
use crate::attention::keys::{self, OfTile};
use crate::attention::tile::{Entry, MAX_LENGTH, for_each_tile};
use crate::builder::{Builder, Cond};
use crate::sizes::shape_tiler;
use crate::sync::{MBARRIER_BYTES, Mbarrier};
use crate::{Error, Expr, PipelineState, Stage};

/// The lanes of a warp.
const WARP: i64 = 32;

/// For each buffer of Q two mbarriers: one says that the stage of its tile's last keys is theirs, the other that their values are clear.
pub(super) struct Tails {
    base: Expr,
    buffers: i64,
}

impl Tails {
    pub(super) fn new(b: &mut Builder, buffers: i64) -> Result<Tails, Error> {
        Ok(Tails { base: b.alloc_shared(2 * buffers * MBARRIER_BYTES, MBARRIER_BYTES)?, buffers })
    }

    fn clear_of(&self, buffer: &Expr) -> Result<Mbarrier, Error> {
        Mbarrier::new(&(&self.base + &(buffer * MBARRIER_BYTES)))
    }

    fn begun_of(&self, buffer: &Expr) -> Result<Mbarrier, Error> {
        self.clear_of(&(buffer + self.buffers))
    }

    /// Initialises the mbarriers, by one thread.
    pub(super) fn init(&self, b: &mut Builder) -> Result<(), Error> {
        (0..2 * self.buffers).try_for_each(|number| self.clear_of(&Expr::from(number))?.init(b, 1))
    }

    /// Says that the stage of V has been acquired in which the last keys of the tile in a buffer will lie.
    pub(super) fn begin(&self, b: &mut Builder, buffer: &Stage) -> Result<(), Error> {
        self.begun_of(&buffer.index)?.arrive(b, &Cond::Always)
    }

    /// Waits until the values of the tile in a buffer may be multiplied.
    pub(super) fn wait(&self, b: &mut Builder, buffer: &Stage) -> Result<(), Error> {
        self.clear_of(&buffer.index)?.wait(b, &buffer.phase)
    }
}

/// The warp's part; `thread` is the thread's number in the block.
pub(super) fn run(b: &mut Builder, parts: &Parts<'_>, tails: &Tails, thread: &Expr) -> Result<(), Error> {
    let lane = b.bounded(&thread.rem(WARP)?, WARP - 1)?;
    let [of_q, of_v] = [parts.ring.buffers, parts.ring.stages].map(|stages| PipelineState::new(b, stages));
    for_each_tile(b, parts.interface, |b, entry| {
        let buffer = of_q.stage(b);
        // What was in the stage before has been read, so that the phase for which the warp waits is the one in progress, or the one before.
        tails.begun_of(&buffer.index)?.wait(b, &buffer.phase)?;
        let OfTile { blocks, any } = keys::of_tile(b, parts.interface, entry)?;
        let stage = of_v.stage(b);
        b.if_(&any, |b| clear_behind(b, parts, entry, &blocks.stop, &stage, &lane))?;
        b.warp_sync();
        tails.clear_of(&buffer.index)?.arrive(b, &Cond::less(&lane, &Expr::from(1)))?;
        of_q.advance(b);
        let tiles = b.bounded(&(&blocks.stop - &blocks.first), MAX_LENGTH + 1)?;
        of_v.advance_by(b, &tiles)
    })
}

/// Clears the rows behind the last key of the sequence in the stage of the last tile of keys, that before tile `stop`, if there are any. Some row sees
/// this tile, so that its stage is not filled anew before the rows are clear.
fn clear_behind(
    b: &mut Builder,
    parts: &Parts<'_>,
    entry: &Entry,
    stop: &Expr,
    stage: &Stage,
    lane: &Expr,
) -> Result<(), Error> {
    let ([_, extent], columns) = (parts.config().tile, parts.config().head_dim);
    let begin = &(stop * extent) + -extent;
    let some = Cond::all([Cond::less(&begin, &entry.keys), Cond::less(&entry.keys, &(stop * extent))]);
    b.if_(&some, |b| {
        parts.of_v.consumer_wait(b, stage)?;
        let first = b.bounded(&(&entry.keys - &begin), extent)?;
        let tile = parts.v.slice((Slice::All, Slice::All, Slice::At(stage.index.clone())))?; // (Keys,HeadDim)
        let vector = parts.config().vector();
        b.if_(&Cond::less(lane, &Expr::from(columns / vector)), |b| {
            b.for_steps(&first, &Expr::from(extent), &Expr::from(1), |b, row| {
                let at = [Slice::At(row.clone()), Slice::At(lane.clone())];
                clear(b, &tile.local_tile(&shape_tiler(&[1, vector])?, &at)?) // (1,Vector)
            })
        })?;
        fence_proxy_async(b);
        Ok(())
    })
}
