//! The warpgroups that multiply.

mod promotion;

use girih_layout::{Int, Lay, Shape};
use girih_tensor::{Slice, Tensor};

use super::Shared;
use super::config::WARPGROUP;
use crate::algorithm::{MmaWith, clear, gemm, warpgroup_arrive, warpgroup_commit_batch, warpgroup_wait};
use crate::builder::{Builder, Cond};
use crate::gemm::mainloop::Sums;
use crate::tiled::mma::Operand;
use crate::{Descriptor, Error, Expr, PipelineState, Rmem, Stage};

/// A thread of the warpgroups that multiply.
pub struct Consumer<'a> {
    shared: &'a Shared<'a>,
    a: Tensor<Descriptor>, // (1,RestM,RestK,Stage)
    b: Tensor<Descriptor>, // (1,RestN,RestK,Stage)
    sums: Sums,
    /// The sums of one atom between two promotions, (FrgV,1,1), if there are promotions.
    partial: Option<Tensor<Rmem>>,
    group: Expr,
    thread: Expr,
    leader: Cond,
    /// The stage that is read, and the stage that was read before.
    states: [PipelineState; 2],
}

impl<'a> Consumer<'a> {
    pub(super) fn run(
        b: &mut Builder,
        shared: &'a Shared<'a>,
        thread: &Expr,
        group: &Expr,
        body: impl FnOnce(&mut Builder, &Consumer<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let parts = &shared.mainloop.parts;
        if parts.hands_registers_on()? {
            b.warpgroup_reg_alloc(parts.registers[1])?;
        }
        let consumer = Consumer::new(b, shared, thread, group)?;
        body(b, &consumer)?;
        if parts.multicast > 1 {
            // The block stays until no other block multicasts into it or arrives at its mbarriers.
            b.cluster_sync();
        }
        Ok(())
    }

    fn new(
        b: &mut Builder,
        shared: &'a Shared<'a>,
        thread: &Expr,
        group: &Expr,
    ) -> Result<Consumer<'a>, Error> {
        let super::WarpSpecializedMainloop { parts, tile, mma } = shared.mainloop;
        // The first warpgroup is the producer's.
        let group = b.bounded(&(group - &Expr::from(1)), parts.consumers()? - 1)?;
        // The descriptors are the same for all threads of a warpgroup.
        let first = mma.get_slice(&(&group * WARPGROUP))?;
        let a = first.partition_descriptor(Operand::A, &shared.tiles[0])?; // (1,RestM,RestK,Stage)
        let operand_b = first.partition_descriptor(Operand::B, &shared.tiles[1])?; // (1,RestN,RestK,Stage)
        let thread = thread.rem(WARPGROUP)?;
        let leader = Cond::less(&thread, &Expr::from(1));
        let sums = Sums::new(b, mma, *tile, mma.get_slice(&(&(&group * WARPGROUP) + &thread))?)?;
        let partial = match parts.mma_promotion_interval {
            0 => None,
            _ => {
                let values = sums.values.layout().mode(0)?.size()?;
                let one = Int::fixed(1);
                Some(Rmem::tensor(b, parts.atom.c_type, Lay::left(&Shape::flat(&[values, one, one])?)?)?)
            }
        };
        let states = [PipelineState::new(b, parts.stages), PipelineState::behind(b, parts.stages)];
        Ok(Consumer { shared, a, b: operand_b, sums, partial, group, thread, leader, states })
    }

    /// The sums over the next `k_tiles` tiles that the producer brings. The sums are in the same registers each time.
    ///
    /// # Errors
    /// Those of the expressions.
    // A stage is released when the products after its own have been issued, which is when its own are known to have been read.
    #[track_caller]
    pub fn multiply(&self, b: &mut Builder, k_tiles: &Expr) -> Result<&Sums, Error> {
        if let Some(partial) = &self.partial {
            self.multiply_promoted(b, k_tiles, partial)?;
            return Ok(&self.sums);
        }
        let (pipeline, [read, before]) = (&self.shared.pipeline, &self.states);
        let any = Cond::less(&Expr::from(0), k_tiles);
        if any != Cond::Always {
            // The first product overwrites the sums, but there may be none.
            clear(b, &self.sums.values)?;
        }
        b.for_range(k_tiles, |b, step| {
            let stage = read.stage(b);
            pipeline.consumer_wait(b, &stage)?;
            warpgroup_arrive(b);
            let further = Cond::less(&Expr::from(0), step);
            let at = Slice::tuple(
                [Slice::All, Slice::All, Slice::All].into_iter().chain([Slice::At(stage.index)]),
            );
            let (a, operand_b) = (self.a.slice(&at)?, self.b.slice(&at)?); // (1,RestX,RestK)
            let with = MmaWith::from(&self.shared.mainloop.parts.atom).accumulate(further.clone());
            gemm(b, with, &a, &operand_b, &self.sums.values)?;
            warpgroup_commit_batch(b);
            warpgroup_wait(b, 1);
            let done = before.stage(b);
            self.release(b, &done, further)?;
            read.advance(b);
            before.advance(b);
            Ok(())
        })?;
        warpgroup_wait(b, 0);
        let done = before.stage(b);
        self.release(b, &done, any)?;
        Ok(&self.sums)
    }

    /// Releases a stage that the warpgroup has read, if `cond` holds: in every block whose copies come into the stage.
    fn release(&self, b: &mut Builder, stage: &Stage, cond: Cond) -> Result<(), Error> {
        let (pipeline, blocks) = (&self.shared.pipeline, self.shared.mainloop.parts.multicast);
        if blocks == 1 {
            return pipeline.consumer_release(b, stage, &Cond::all([cond, self.leader.clone()]));
        }
        // One thread for each block.
        let of_block = Cond::less(&self.thread, &Expr::from(blocks));
        pipeline.consumer_release_in(b, stage, &self.thread, &Cond::all([cond, of_block]))
    }

    /// Registers for the thread's share of the sums if the tile's columns are shared among `blocks` blocks: those of a tile of as many
    /// fewer columns. They have no values yet.
    ///
    /// # Errors
    /// [`Error::Config`] if the shares are no whole atoms.
    pub fn share_of_sums(&self, b: &mut Builder, blocks: i64) -> Result<Sums, Error> {
        let super::WarpSpecializedMainloop { parts, tile: [m, n, k], .. } = self.shared.mainloop;
        let mma = parts.share(blocks)?.mma()?;
        let thread = mma.get_slice(&(&(&self.group * WARPGROUP) + &self.thread))?;
        Sums::new(b, &mma, [*m, n / blocks, *k], thread)
    }

    /// The number of the thread's warpgroup among those that multiply.
    pub fn group(&self) -> &Expr {
        &self.group
    }

    /// The thread's number in its warpgroup, of 128.
    pub fn thread(&self) -> &Expr {
        &self.thread
    }

    /// A condition that holds for one thread of each warpgroup.
    pub fn leader(&self) -> &Cond {
        &self.leader
    }
}
