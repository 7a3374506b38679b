//! Prefetch of an input of C's shape (CUTLASS's epilogue load warp, with `ReuseSmemC`). While the mainloop runs, TMA loads the input's tile into
//! the shared memory where C will be staged, each element to the place of C's element.
//!
//! ```text
//! a carrier, for each turn                 its warpgroup, for each turn
//! issues the copy of the input             multiplies
//!                                          waits until the input has come
//! waits until C stands in its place        reads the input, writes C in its place
//! issues the copy to C, waits until it has read
//! ```

use girih_layout::{Int, Lay, Shape, Stride, Strides, Symbol};
use girih_tensor::Tensor;

use super::apply::Piece;
use super::staged::Staged;
use super::{Epilogue, Input, InputKind};
use crate::algorithm::{CacheHint, copy, prefetch_tma_descriptor, read, tma_store_arrive, tma_store_wait};
use crate::atom::SM75_U16X8_LDSM_T;
use crate::builder::{Builder, Cond};
use crate::engine::element_bytes;
use crate::gemm::mainloop::WARPGROUP;
use crate::gemm::schedule::Place;
use crate::gemm::{Arguments, Batch, GemmConfig, Major, Schedule, Store};
use crate::params::{MAX_EXTENT, Params};
use crate::{Error, Expr, Memory, Pipeline, PipelineState, Rmem, Scalar, Smem, Stage, TiledCopy, TmaCopy};

/// The threads of a warp.
const WARP: i64 = 32;
/// The warps of the producer's warpgroup other than the one that loads A and B.
const CARRIERS: i64 = WARPGROUP / WARP - 1;

/// An input that a tensor map describes, as parameters of the kernel that is being written.
#[derive(Clone, Debug)]
pub(in crate::gemm) struct Mapped {
    /// The address of the tensor map.
    pub(in crate::gemm) map: Expr,
    /// The input in global memory, (M,N).
    pub(in crate::gemm) layout: Lay,
    /// The input's name.
    pub(in crate::gemm) name: String,
}

/// An input that is read ahead, and the barriers of its way: those of each warpgroup for each place in which C is staged.
pub(in crate::gemm) struct Ahead {
    copy: TmaCopy,
    map: Expr,
    /// Places are full when the input has come, and empty when C is there.
    pipeline: Pipeline,
    /// The places of a warpgroup, and the warpgroups.
    stages: i64,
    warpgroups: i64,
}

/// A warpgroup's piece of the input in shared memory.
#[derive(Clone)]
pub(in crate::gemm) struct InPlace {
    /// The copy to registers, and the thread's part, (FrgV,1,RestN).
    pub(super) load: TiledCopy,
    pub(super) part: Tensor<Smem>,
}

/// The position of a warpgroup, or of its carrier, among the subtiles in which C is staged.
pub(in crate::gemm) struct Turns<'a> {
    ahead: &'a Ahead,
    /// The index of the warpgroup among the consumers.
    number: Expr,
    /// The round through all places.
    round: PipelineState,
}

/// A thread of the producer's warpgroup that carries an input's tiles to a warpgroup, and C's tiles from there.
pub(in crate::gemm) struct Carrier<'a> {
    staged: &'a Staged,
    turns: Turns<'a>,
    /// The index of the warpgroup's team, and its index in the team.
    team: Expr,
    group: Expr,
    /// The position of the block's tile in the order of the teams, if they ping-pong.
    own: Option<PipelineState>,
}

impl Epilogue {
    /// The number of the input that is read ahead: the first one that is laid out like C and has C's dtype, so that it can be staged where C is. A
    /// tensor map has to describe it, and each block has to store every tile that it multiplies.
    pub(in crate::gemm) fn ahead(&self, config: &GemmConfig) -> Result<Option<usize>, Error> {
        let Some(parts) = config.mainloop.warp_specialized() else { return Ok(None) };
        let whole = matches!(config.schedule, Schedule::Raster { .. } | Schedule::Persistent { .. });
        let carried = parts.consumers_of_all()? <= CARRIERS;
        let staged = matches!(config.store, Store::Tma { .. }) && !self.is_gated();
        if !staged || !whole || !carried || config.batch != Batch::Single {
            return Ok(None);
        }
        let line = 16 / element_bytes("c_type", config.c_type)?;
        let alike = |input: &Input| (input.kind, input.dtype) == (InputKind::Matrix, config.c_type);
        for (number, input) in self.inputs().iter().enumerate().filter(|(_, input)| alike(input)) {
            if input.aligned(config)? == line {
                return Ok(Some(number));
            }
        }
        Ok(None)
    }
}

impl Mapped {
    /// Declares the tensor map of an input of C's shape.
    pub(super) fn declare(
        params: &mut Params<Arguments>,
        b: &mut Builder,
        config: &GemmConfig,
        input: &Input,
        shape: &Shape,
    ) -> Result<Mapped, Error> {
        let line = 16 / element_bytes("input of an epilogue", input.dtype)?;
        let facts = |pitch: Symbol| pitch.at_least(1).at_most(MAX_EXTENT).divisible_by(line);
        let pitch = params.of_maps(b, "pitch of an input", facts, |a| a.ahead)?;
        let [pitched, one] = [Int::symbol(pitch), Int::fixed(1)].map(Stride::Int);
        let strides = if config.c_major == Major::K { [pitched, one] } else { [one, pitched] };
        let layout = Lay::new(shape, &Strides::flat(&strides)?)?; // (M,N)
        Ok(Mapped { map: params.tensor_map(b, &input.name, &input.name), layout, name: input.name.clone() })
    }
}

impl Ahead {
    /// Takes shared memory for the barriers, of `stages` places for each of `warpgroups` warpgroups. `bytes` bytes come into a place.
    pub(super) fn new(
        b: &mut Builder,
        mapped: &Mapped,
        copy: TmaCopy,
        [stages, warpgroups]: [i64; 2],
        bytes: i64,
    ) -> Result<Ahead, Error> {
        let pipeline = Pipeline::new(b, stages * warpgroups, bytes, WARPGROUP)?;
        Ok(Ahead { copy, map: mapped.map.clone(), pipeline, stages, warpgroups })
    }

    /// Initialises the barriers, by one thread.
    pub(super) fn init(&self, b: &mut Builder) -> Result<(), Error> {
        prefetch_tma_descriptor(b, &self.map)?;
        self.pipeline.init(b)
    }
}

impl<'a> Turns<'a> {
    /// At the first subtile of a warpgroup.
    pub(super) fn new(b: &mut Builder, ahead: &'a Ahead, number: &Expr) -> Turns<'a> {
        Turns { ahead, number: number.clone(), round: PipelineState::new(b, 1) }
    }

    /// The warpgroup's place of a subtile.
    fn place(&self, b: &mut Builder, turn: i64) -> Stage {
        let Ahead { stages, warpgroups, .. } = self.ahead;
        Stage { index: &self.number + turn % stages * warpgroups, phase: self.round.stage(b).phase }
    }

    /// Goes past a subtile.
    fn pass(&self, b: &mut Builder, turn: i64) {
        if (turn + 1) % self.ahead.stages == 0 {
            self.round.advance(b);
        }
    }

    /// The warpgroup waits until the input has come.
    pub(super) fn wait(&self, b: &mut Builder, turn: i64) -> Result<(), Error> {
        let place = self.place(b, turn);
        self.ahead.pipeline.consumer_wait(b, &place)
    }

    /// The warpgroup has written C in the input's place.
    pub(super) fn release(&self, b: &mut Builder, turn: i64) -> Result<(), Error> {
        let place = self.place(b, turn);
        self.ahead.pipeline.consumer_release(b, &place, &Cond::Always)?;
        self.pass(b, turn);
        Ok(())
    }
}

impl InPlace {
    /// The values of a piece.
    pub(super) fn read(&self, b: &mut Builder, piece: &Piece) -> Result<Vec<Scalar>, Error> {
        let part = piece.of(&self.part)?;
        let values = Rmem::tensor(b, part.engine().dtype(), Lay::left(part.layout().shape())?)?;
        copy(b, &self.load, &part, &values)?;
        if self.load.atom == SM75_U16X8_LDSM_T {
            // Lanes write where others have read.
            b.warp_sync();
        }
        read(b, &values)
    }
}

impl Carrier<'_> {
    /// Runs `body` in a thread for each warpgroup that multiplies. The threads of the producer's warpgroup execute this, of which `thread` is
    /// the number.
    pub(in crate::gemm) fn run(
        b: &mut Builder,
        staged: &Staged,
        thread: &Expr,
        body: impl FnOnce(&mut Builder, &Carrier<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Some(ahead) = &staged.ahead else { return Ok(()) };
        let warp = thread.div(WARP)?;
        let first = Cond::equal(&thread.rem(WARP)?, &Expr::from(0));
        let carries = Cond::less(&warp, &Expr::from(ahead.warpgroups + 1));
        b.if_(&Cond::all([first, Cond::less(&Expr::from(0), &warp), carries]), |b| {
            let number = b.bounded(&(&warp - &Expr::from(1)), ahead.warpgroups - 1)?;
            let [teams, of_team] = staged.teams();
            let (team, group) = (number.div(of_team)?, number.rem(of_team)?);
            let own = (teams > 1).then(|| PipelineState::new(b, teams));
            let turns = Turns::new(b, ahead, &number);
            body(b, &Carrier { staged, turns, team, group, own })
        })
    }

    /// Carries the tile at `tile`, if it is one of the warpgroup's team.
    pub(in crate::gemm) fn carry(&self, b: &mut Builder, tile: &Place) -> Result<(), Error> {
        let Some(own) = &self.own else { return self.carry_own(b, tile) };
        let cond = Cond::equal(&own.stage(b).index, &self.team);
        b.if_(&cond, |b| self.carry_own(b, tile))?;
        own.advance(b);
        Ok(())
    }

    fn carry_own(&self, b: &mut Builder, tile: &Place) -> Result<(), Error> {
        let (turns, stages) = (self.staged.rows.turns(), self.turns.ahead.stages);
        for turn in 0..turns {
            if turn >= stages {
                self.store(b, tile, turn - stages)?;
                tma_store_wait(b, 0);
            }
            self.load(b, tile, turn)?;
        }
        (turns - stages..turns).try_for_each(|turn| self.store(b, tile, turn))?;
        // The next tile's come to the same places.
        tma_store_wait(b, 0);
        Ok(())
    }

    /// Issues the copies of the input into the place of a subtile.
    fn load(&self, b: &mut Builder, tile: &Place, turn: i64) -> Result<(), Error> {
        let Ahead { copy: boxes, map, pipeline, .. } = self.turns.ahead;
        let place = self.turns.place(b, turn);
        pipeline.producer_expect(b, &place)?;
        let barrier = pipeline.full(&place.index)?;
        let one = boxes.copy().get_slice(&Expr::from(0))?;
        for strip in self.staged.rows.strips(turn) {
            let (source, place) = self.staged.boxes(boxes, [&self.team, &self.group], tile, &strip)?;
            // Nothing reads it again.
            let with = boxes.with(map).barrier(barrier.address()).cache_hint(CacheHint::EvictFirst);
            copy(b, with, &one.partition_s(&source)?, &one.partition_d(&place)?)?; // (Box,1,RestN,1)
        }
        Ok(())
    }

    /// Issues the copies of C from the place of a subtile, once it is there.
    fn store(&self, b: &mut Builder, tile: &Place, turn: i64) -> Result<(), Error> {
        let place = self.turns.place(b, turn);
        self.turns.ahead.pipeline.producer_wait(b, &place)?;
        for strip in self.staged.rows.strips(turn) {
            self.staged.store_boxes(b, [&self.team, &self.group], tile, &strip)?;
        }
        tma_store_arrive(b);
        self.turns.pass(b, turn);
        Ok(())
    }
}
