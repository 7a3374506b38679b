//! The warp that zero-fills values of keys that no query of a tile sees.
//!
//! The last KV tile of a query tile also has keys that no query sees: those of later queries, or of the next packed sequence. Their
//! scores are negative infinity, but a probability of 0 times NaN would be NaN. So a second warp of the producer's warpgroup writes zeros
//! after the last values, and then signals that the stage is full.

use girih_tensor::{DType, Slice, Space};

use super::Parts;
use crate::algorithm::fence_proxy_async;
use crate::attention::interface::Tensor4;
use crate::attention::keys::{self, OfTile};
use crate::attention::tile::{MAX_LENGTH, for_each_tile};
use crate::builder::{Builder, Cond};
use crate::engine::element_bytes;
use crate::sizes::shape_tiler;
use crate::sync::{MBARRIER_BYTES, Mbarrier};
use crate::{Error, Expr, Memory, PipelineState, Scalar, Stage};

/// The lanes of a warp.
const WARP: i64 = 32;
/// The keys that the warp clears in an iteration: tiles have multiples of them.
const ROWS: i64 = 16;

/// For each buffer of Q the mbarrier that says that the values of the last keys of its tile have come.
pub(super) struct Tails {
    base: Expr,
    buffers: i64,
    /// Bytes of a tile of values.
    bytes: i64,
}

impl Tails {
    pub(super) fn new(b: &mut Builder, buffers: i64, bytes: i64) -> Result<Tails, Error> {
        Ok(Tails { base: b.alloc_shared(buffers * MBARRIER_BYTES, MBARRIER_BYTES)?, buffers, bytes })
    }

    /// Initialises the mbarriers, by one thread.
    pub(super) fn init(&self, b: &mut Builder) -> Result<(), Error> {
        (0..self.buffers).try_for_each(|number| self.of(&Expr::from(number))?.init(b, 1))
    }

    fn of(&self, buffer: &Expr) -> Result<Mbarrier, Error> {
        Mbarrier::new(&(&self.base + &(buffer * MBARRIER_BYTES)))
    }

    /// The mbarrier that the copies of the values complete.
    pub(super) fn loaded(&self, buffer: &Stage) -> Result<Mbarrier, Error> {
        self.of(&buffer.index)
    }

    /// The producer announces the values of the last keys of the tile in a buffer.
    pub(super) fn expect(&self, b: &mut Builder, buffer: &Stage) -> Result<(), Error> {
        self.loaded(buffer)?.arrive_and_expect_tx(b, self.bytes, &Cond::Always)
    }
}

/// The warp's part; `thread` is the thread's index in the block.
pub(super) fn run(b: &mut Builder, parts: &Parts<'_>, tails: &Tails, thread: &Expr) -> Result<(), Error> {
    let lane = b.bounded(&thread.rem(WARP)?, WARP - 1)?;
    let [of_q, of_v] = [parts.ring.buffers, parts.ring.stages].map(|stages| PipelineState::new(b, stages));
    for_each_tile(b, parts.interface, |b, entry| {
        let (buffer, stage) = (of_q.stage(b), of_v.stage(b));
        let OfTile { base, end, blocks, .. } = keys::of_tile(b, parts.interface, entry)?;
        // The buffer is not filled anew before the stage is full, so that the warp misses no phase.
        tails.loaded(&buffer)?.wait(b, &buffer.phase)?;
        let extent = parts.config().tile[1];
        // No query sees any of the keys of a tile that has none.
        let seen = &(&end - &base) - &(&(&blocks.stop + -1) * extent);
        b.if_(&Cond::less(&seen, &Expr::from(extent)), |b| clear_behind(b, parts, &seen, &stage, &lane))?;
        b.warp_sync();
        parts.of_v.full(&stage.index)?.arrive(b, &Cond::less(&lane, &Expr::from(1)))?;
        of_q.advance(b);
        let tiles = b.bounded(&blocks.stop, MAX_LENGTH)?;
        of_v.advance_by(b, &tiles)
    })
}

/// Clears the values of keys from `seen` on in a stage, 16 keys in an iteration: a lane has a vector of the columns of all of them, or of eight.
fn clear_behind(
    b: &mut Builder,
    parts: &Parts<'_>,
    seen: &Expr,
    stage: &Stage,
    lane: &Expr,
) -> Result<(), Error> {
    let config = parts.config();
    let ([_, extent], vector) = (config.tile, config.vector());
    let vectors = config.columns(Tensor4::V) / vector;
    let groups = if 2 * vectors <= WARP { 2 } else { 1 };
    let seen = b.bounded(seen, extent)?;
    let tile = parts.v.slice((Slice::All, Slice::All, Slice::At(stage.index.clone())))?; // (Keys,HeadDim)
    let words = vector * element_bytes("dtype", config.dtype)? / 4;
    let zero = b.scalar(&Scalar::new(DType::U32, 0.0))?;
    let zeros = vec![zero; words as usize];
    b.if_(&Cond::less(lane, &Expr::from(vectors * groups)), |b| {
        b.for_steps(&seen.div(ROWS)?, &Expr::from(extent / ROWS), &Expr::from(1), |b, group_of_keys| {
            // As a variable of this iteration: what follows from it would take registers outside that the warp does not have.
            let lane = b.bounded(lane, WARP - 1)?;
            let (column, group) = (lane.rem(vectors)?, lane.div(vectors)?);
            let first = &(group_of_keys * ROWS) + &(&group * (ROWS / groups));
            for row in 0..ROWS / groups {
                let row = &first + row;
                let at = [Slice::At(row.clone()), Slice::At(column.clone())];
                let place = tile.local_tile(&shape_tiler(&[1, vector])?, &at)?; // (1,Vector)
                let address = place.engine().address()?;
                b.store(Space::Smem, &address, &zeros, &Cond::not(Cond::less(&row, &seen)))?;
            }
            Ok(())
        })
    })?;
    fence_proxy_async(b);
    Ok(())
}
