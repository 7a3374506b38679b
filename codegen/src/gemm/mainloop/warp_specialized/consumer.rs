//! The consumer warpgroups, which issue `wgmma`.

mod mixed;
mod promotion;
mod scales;

use girih_layout::{Int, Lay, Shape};
use girih_tensor::{Slice, Tensor};

use super::config::{WARP, WARPGROUP};
use super::{Shared, Stages};
use crate::algorithm::{MmaWith, clear, gemm, warpgroup_arrive, warpgroup_commit_batch, warpgroup_wait};
use crate::builder::{Builder, Cond};
use crate::gemm::mainloop::Sums;
use crate::sync::OrderedSequence;
use crate::tiled::mma::Operand;
use crate::{Descriptor, Error, Expr, PipelineState, Rmem, Stage};
use mixed::{AT_ONCE, Converted};

/// A thread of the consumer warpgroups. The warpgroups that compute one tile together are a team; several teams ping-pong.
pub struct Consumer<'a> {
    shared: &'a Shared<'a>,
    a: Source,
    b: Tensor<Descriptor>, // (1,RestN,RestK,Stage)
    sums: Sums,
    /// The index of the warpgroup among all consumers, the index of its team, and its index in the team.
    number: Expr,
    team: Expr,
    group: Expr,
    thread: Expr,
    leader: Cond,
    /// The stage that is read, and the stage that was read before.
    states: [PipelineState; 2],
    /// The barriers by which teams ping-pong, and the position of the block's tile in the order of the teams.
    turn: Option<(&'a OrderedSequence, PipelineState)>,
}

/// The memory of A, and the partial accumulators, if accumulators are promoted or scaled.
enum Source {
    /// From shared memory, (1,RestM,RestK,Stage).
    Shared(Tensor<Descriptor>),
    /// From shared memory, with the partial accumulator of one atom, (FrgV,1,1), which is promoted.
    Promoted(Tensor<Descriptor>, Box<Tensor<Rmem>>),
    /// From registers, with the partial accumulators of two atoms, (FrgV,1,1,2), which are scaled.
    Converted(Box<(Converted, Tensor<Rmem>)>),
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
            // The block must not exit while another block multicasts into it or arrives at its mbarriers.
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
        let number = b.bounded(&(group - &Expr::from(1)), parts.consumers_of_all()? - 1)?;
        let of_team = parts.consumers()?;
        let (team, group) = (number.div(of_team)?, number.rem(of_team)?);
        // The descriptors are the same for all threads of a warpgroup.
        let first = mma.get_slice(&(&group * WARPGROUP))?;
        let Stages { tiles: [tiles_of_a, tiles_of_b], .. } = &shared.stages;
        let operand_b = first.partition_descriptor(Operand::B, tiles_of_b)?; // (1,RestN,RestK,Stage)
        let thread = thread.rem(WARPGROUP)?;
        let leader = Cond::less(&thread, &Expr::from(1));
        let sums = Sums::new(b, mma, *tile, mma.get_slice(&(&(&group * WARPGROUP) + &thread))?)?;
        let partial = |b: &mut Builder, atoms: i64| {
            let values = sums.values.layout().mode(0)?.size()?;
            let [one, atoms] = [1, atoms].map(Int::fixed);
            Rmem::tensor(b, parts.atom.c_type, Lay::left(&Shape::flat(&[values, one, one, atoms])?)?)
        };
        let descriptors = || first.partition_descriptor(Operand::A, tiles_of_a); // (1,RestM,RestK,Stage)
        let a = match (&parts.mixed_input, parts.mma_promotion_interval) {
            (Some(_), _) => {
                let converted = Converted::new(b, &sums.thread, tiles_of_a)?;
                Source::Converted(Box::new((converted, partial(b, AT_ONCE)?)))
            }
            (None, 0) => Source::Shared(descriptors()?),
            (None, _) => Source::Promoted(
                descriptors()?,
                Box::new(partial(b, 1)?.slice((Slice::All, Slice::All, Slice::All, Slice::at(0)))?),
            ),
        };
        let states = [PipelineState::new(b, parts.stages), PipelineState::behind(b, parts.stages)];
        let turn = shared.turns.as_ref().map(|turns| (turns, turns.first(b)));
        Ok(Consumer { shared, a, b: operand_b, sums, number, team, group, thread, leader, states, turn })
    }

    /// Runs `body` for the block's next tile of C if the tile belongs to the thread's team. Tiles alternate between teams. `k_tiles` is the number of
    /// the tile's K tiles. All teams execute this for all tiles.
    ///
    /// # Errors
    /// Those of `body` and of the expressions.
    #[track_caller]
    pub fn in_turn(
        &self,
        b: &mut Builder,
        k_tiles: &Expr,
        body: impl FnOnce(&mut Builder) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Some((_, turn)) = &self.turn else { return body(b) };
        let own = Cond::equal(&turn.stage(b).index, &self.team);
        let others = |b: &mut Builder| self.states.iter().try_for_each(|state| state.advance_by(b, k_tiles));
        b.if_else(&own, body, others)?;
        turn.advance(b);
        Ok(())
    }

    /// Computes the accumulators over the next `k_tiles` tiles that the producer loads. `at` is the position of the block's tile along M and N, which
    /// only block scales need. The accumulators are in the same registers each time. Several teams call this within [`Consumer::in_turn`].
    ///
    /// # Errors
    /// Those of the expressions.
    // The next team may issue its MMAs when all MMAs of this one have been issued. Its stages follow this team's. A wait for a phase of a stage is
    // right only after a wait for the phase before.
    #[track_caller]
    pub fn multiply(&self, b: &mut Builder, at: [&Expr; 2], k_tiles: &Expr) -> Result<&Sums, Error> {
        if let Some((turns, turn)) = &self.turn {
            let turn = turn.stage(b);
            turns.wait(b, &turn)?;
        }
        match &self.a {
            Source::Shared(a) => self.multiply_shared(b, k_tiles, a)?,
            Source::Promoted(a, partial) => {
                self.multiply_promoted(b, k_tiles, a, partial, &self.scales(at)?)?;
                self.end_turn(b)?;
            }
            Source::Converted(converted) => {
                let (a, partial) = &**converted;
                self.multiply_converted(b, k_tiles, a, partial, &self.scales(at)?)?;
                self.end_turn(b)?;
            }
        }
        Ok(&self.sums)
    }

    fn end_turn(&self, b: &mut Builder) -> Result<(), Error> {
        let Some((turns, turn)) = &self.turn else { return Ok(()) };
        let turn = turn.stage(b);
        turns.arrive(b, &turn, &self.leader)
    }

    /// Computes the accumulators over the next `k_tiles` tiles.
    // A stage is released when the MMAs of the next stage have been issued: the wait for all but the latest batch shows that its own have finished.
    fn multiply_shared(
        &self,
        b: &mut Builder,
        k_tiles: &Expr,
        a: &Tensor<Descriptor>, // (1,RestM,RestK,Stage)
    ) -> Result<(), Error> {
        let (pipeline, [read, before]) = (&self.shared.pipeline, &self.states);
        let any = Cond::less(&Expr::from(0), k_tiles);
        if any != Cond::Always {
            // The first MMA overwrites the accumulators, but there may be none.
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
            let (a, operand_b) = (a.slice(&at)?, self.b.slice(&at)?); // (1,RestX,RestK)
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
        self.end_turn(b)?;
        warpgroup_wait(b, 0);
        let done = before.stage(b);
        self.release(b, &done, any)
    }

    /// Releases the next `k_tiles` tiles that the producer loads, without MMAs.
    ///
    /// # Errors
    /// Those of the expressions.
    #[track_caller]
    pub fn pass(&self, b: &mut Builder, k_tiles: &Expr) -> Result<(), Error> {
        b.for_range(k_tiles, |b, _| {
            let stage = self.states[0].stage(b);
            self.shared.pipeline.consumer_wait(b, &stage)?;
            self.release(b, &stage, Cond::Always)?;
            self.states.iter().for_each(|state| state.advance(b));
            Ok(())
        })
    }

    /// Releases a stage that the warpgroup has read, if `cond` holds, in every block that multicasts into it.
    fn release(&self, b: &mut Builder, stage: &Stage, cond: Cond) -> Result<(), Error> {
        let (pipeline, blocks) = (&self.shared.pipeline, self.shared.mainloop.parts.multicast);
        let thread = if self.shared.mainloop.parts.reads_stages() {
            // The lanes have read A or scales themselves.
            b.warp_sync();
            self.thread.rem(WARP)?
        } else {
            self.thread.clone()
        };
        // One thread for each block.
        let cond = Cond::all([cond, Cond::less(&thread, &Expr::from(blocks))]);
        if blocks == 1 {
            return pipeline.consumer_release(b, stage, &cond);
        }
        pipeline.consumer_release_in(b, stage, &thread, &cond)
    }

    /// Uninitialised registers for the thread's share of the accumulators if `blocks` blocks share the tile's columns: a tile of
    /// (BlockM,BlockN/blocks).
    ///
    /// # Errors
    /// [`Error::Wgmma`] if the shares are no whole atoms.
    pub fn share_of_sums(&self, b: &mut Builder, blocks: i64) -> Result<Sums, Error> {
        let super::WarpSpecializedMainloop { parts, tile: [m, n, k], .. } = self.shared.mainloop;
        let mma = parts.with_columns(n / blocks)?.mma()?;
        let thread = mma.get_slice(&(&(&self.group * WARPGROUP) + &self.thread))?;
        Sums::new(b, &mma, [*m, n / blocks, *k], thread)
    }

    /// The index of the thread's warpgroup among all consumers.
    pub fn number(&self) -> &Expr {
        &self.number
    }

    /// The index of the thread's team.
    pub fn team(&self) -> &Expr {
        &self.team
    }

    /// The index of the thread's warpgroup in its team.
    pub fn group(&self) -> &Expr {
        &self.group
    }

    /// The index of the thread in its warpgroup, 0 to 127.
    pub fn thread(&self) -> &Expr {
        &self.thread
    }

    /// A condition that holds for one thread of each warpgroup.
    pub fn leader(&self) -> &Cond {
        &self.leader
    }
}
