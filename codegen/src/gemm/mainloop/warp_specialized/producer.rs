//! The warpgroup that issues the tensor copies of A and B; one thread of it does.

use girih_layout::Lay;
use girih_tensor::{Slice, Tensor};

use super::Context;
use crate::algorithm::copy;
use crate::builder::{Builder, Cond};
use crate::tiled::copy::shape_tiler;
use crate::tiled::mma::Operand;
use crate::{Counting, Error, Expr, PipelineState, Stage};

impl Context<'_> {
    pub(super) fn produce(&self, b: &mut Builder) -> Result<(), Error> {
        if self.parts.hands_registers_on()? {
            b.warpgroup_reg_dealloc(self.parts.registers[0])?;
        }
        b.if_(&Cond::less(&self.thread, &Expr::from(1)), |b| {
            let state = PipelineState::new(b, self.parts.stages);
            self.interface.for_each_tile(b, &Cond::Always, self.alternates(), |b, tile| {
                b.for_range(&self.k_tiles, |b, step| {
                    let last = &self.k_tiles - &Expr::from(1);
                    let k_tile = step + &(&tile.backwards * &(&last - &(step * 2)));
                    let k_tile = b.bounded(&k_tile, self.k_tiles.range().1 - 1)?;
                    let stage = state.stage(b);
                    self.pipeline.producer_acquire(b, &stage)?;
                    for (operand, at) in [(Operand::A, &tile.row), (Operand::B, &tile.column)] {
                        self.load(b, operand, &[at.clone(), k_tile.clone()], &stage)?;
                    }
                    state.advance(b);
                    Ok(())
                })
            })
        })
    }

    /// Issues the copies of the operand's tile at `at` into a stage.
    fn load(&self, b: &mut Builder, operand: Operand, at: &[Expr; 2], stage: &Stage) -> Result<(), Error> {
        let copies = &self.copies[operand as usize];
        let barrier = self.pipeline.full(&stage.index)?;
        let tiler = shape_tiler(&self.config().extents(operand))?;
        let whole = Tensor::new(Counting::new(2), Lay::identity(&self.interface.shape(operand)?)?); // (X,K)
        let tile = whole.local_tile(&tiler, &at.clone().map(Slice::At))?; // (BlockX,BlockK)
        let stages = [Slice::All, Slice::All, Slice::At(stage.index.clone())];
        let shared = self.shared[operand as usize].slice(Slice::tuple(stages))?; // (BlockX,BlockK)
        let one = copies.copy().get_slice(&Expr::from(0))?;
        copy(
            b,
            copies.with(self.interface.map(operand)?).barrier(barrier.address()),
            &one.partition_s(&tile)?,   // (Box,RestX,RestK)
            &one.partition_d(&shared)?, // (Box,RestX,RestK)
        )
    }
}
