//! Gathered rows that all threads of the producer copy by `cp.async` to a slot of a ring.

use super::super::Lowering;
use super::roles::missing_state;
use crate::error::Error;
use crate::ir::{Indexed, OpId};
use crate::place::wgmma::SharedTile;

impl Lowering<'_> {
    /// Copies a tile as soon as its slot is free. The consumers wait for the copies of all threads.
    pub(super) fn produce_gather(&mut self, id: OpId, at: &Indexed, tile: &SharedTile) -> Result<(), Error> {
        let plan = self.plan;
        let ring = self.ring(id)?;
        let slots = &self.products.rings[ring];
        let (base, bytes, pipeline) = (slots.base.clone(), slots.bytes, slots.pipeline.clone());
        let state = slots.state.clone().ok_or_else(missing_state)?;
        let slot = state.stage(&mut self.b);
        pipeline.producer_wait_free(&mut self.b, &slot)?;
        let base = &base + &(&slot.index * bytes);
        self.gather_async((at, &plan.func.op(id).operands), &base, tile)?;
        pipeline.producer_commit(&mut self.b, &slot)?;
        state.advance(&mut self.b);
        Ok(())
    }
}
