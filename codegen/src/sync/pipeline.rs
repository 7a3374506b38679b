//! Pipelines through shared memory, from a thread that issues TMA copies, or from threads that copy by `cp.async`, to warps that read the
//! copied data (CUTLASS's `PipelineTmaAsync`, `PipelineAsync`, `PipelineState`).

use std::panic::Location;

use girih_ptx::{Opcode, Operand, Type, Word};

use super::{MBARRIER_BYTES, Mbarrier};
use crate::builder::{Builder, Cond, MAX_SHARED, Reg, Width};
use crate::error::SyncError;
use crate::{Error, Expr};

/// Stages that a producer fills and consumers free, each with two mbarriers: one that the copies' bytes complete and one at
/// which consumers arrive.
///
/// ```text
/// producer                                        consumers
/// acquire(state)   waits until the stage is free  wait(state)      waits until the stage is full
/// copies with barrier(state)                      ... read ...
/// state.advance()                                 release(state)
///                                                 state.advance()
/// ```
#[derive(Clone, Debug)]
pub struct Pipeline {
    base: Expr,
    stages: i64,
    bytes: i64,
    producers: i64,
    consumers: i64,
}

impl Pipeline {
    /// A pipeline whose mbarriers take [`Pipeline::barrier_bytes`] of shared memory. `bytes` bytes come into a stage, and `consumers`
    /// threads release it.
    ///
    /// # Errors
    /// [`SyncError::Stages`] for fewer than 1 stage, [`BuilderError::SharedMemory`](crate::BuilderError::SharedMemory) for shared memory that does not suffice.
    #[track_caller]
    pub fn new(b: &mut Builder, stages: i64, bytes: i64, consumers: i64) -> Result<Pipeline, Error> {
        Pipeline::between(b, stages, bytes, [1, consumers])
    }

    /// A pipeline that `producers` threads fill by `cp.async` (CUTLASS's `PipelineAsync`): each of them waits until a stage is free, issues its
    /// copies, and commits them. Consumers that read by the async proxy, as `wgmma` does, execute
    /// [`fence_proxy_async`](crate::algorithm::fence_proxy_async) after their wait.
    ///
    /// # Errors
    /// As [`Pipeline::new`].
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::algorithm::{copy, fence_barrier_init};
    /// use girih_codegen::atom::SM80_CP_ASYNC_CACHEGLOBAL_16;
    /// use girih_codegen::{Builder, Cond, Expr, Gmem, Pipeline, PipelineState, Smem};
    /// use girih_layout::lay;
    /// use girih_ptx::Special;
    /// use girih_tensor::{DType, Slice, Tensor};
    ///
    /// // 32 threads copy 4 values each into a stage, from which the next 32 threads read.
    /// let mut b = Builder::new("k", 90, 64);
    /// let thread = b.special(Special::TidX);
    /// let source = Tensor::new(Gmem::new(b.pointer("x", 16), DType::F32), lay!("(32,4):(4,1)"));
    /// let target = Smem::alloc(&mut b, DType::F32, None, &lay!("(32,4):(4,1)"))?;
    /// let pipeline = Pipeline::of_threads(&mut b, 1, 32, 1)?;
    /// b.if_(&Cond::less(&thread, &Expr::from(1)), |b| pipeline.init(b))?;
    /// fence_barrier_init(&mut b);
    /// b.barrier();
    /// let produces = Cond::less(&thread, &Expr::from(32));
    /// b.if_(&produces, |b| {
    ///     let stage = PipelineState::new(b, 1).stage(b);
    ///     pipeline.producer_wait_free(b, &stage)?;
    ///     let mine = Slice::tuple([Slice::At(thread.clone()), Slice::All]);
    ///     copy(b, SM80_CP_ASYNC_CACHEGLOBAL_16, &source.slice(mine.clone())?, &target.slice(mine)?)?;
    ///     pipeline.producer_commit(b, &stage)
    /// })?;
    /// let stage = PipelineState::new(&mut b, 1).stage(&mut b);
    /// pipeline.consumer_wait(&mut b, &stage)?;
    /// assert!(b.finish()?.module().to_string().contains("cp.async.mbarrier.arrive.noinc"));
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    #[track_caller]
    pub fn of_threads(
        b: &mut Builder,
        stages: i64,
        producers: i64,
        consumers: i64,
    ) -> Result<Pipeline, Error> {
        Pipeline::between(b, stages, 0, [producers, consumers])
    }

    #[track_caller]
    fn between(
        b: &mut Builder,
        stages: i64,
        bytes: i64,
        [producers, consumers]: [i64; 2],
    ) -> Result<Pipeline, Error> {
        let most = MAX_SHARED / (2 * MBARRIER_BYTES);
        if !(1..=most).contains(&stages) {
            return Err(SyncError::Stages { stages, least: 1, most }.into());
        }
        let base = b.alloc_shared(Pipeline::barrier_bytes(stages), MBARRIER_BYTES)?;
        Ok(Pipeline { base, stages, bytes, producers, consumers })
    }

    /// Bytes of shared memory that the mbarriers of a pipeline take.
    pub const fn barrier_bytes(stages: i64) -> i64 {
        2 * stages * MBARRIER_BYTES
    }

    /// Initialises the mbarriers. One thread does this; a fence ([`crate::algorithm::fence_barrier_init`]) and a barrier follow.
    ///
    /// # Errors
    /// As [`Mbarrier::init`].
    #[track_caller]
    pub fn init(&self, b: &mut Builder) -> Result<(), Error> {
        for stage in 0..self.stages {
            let stage = Expr::from(stage);
            self.full(&stage)?.init(b, self.producers)?;
            self.empty(&stage)?.init(b, self.consumers)?;
        }
        Ok(())
    }

    /// The mbarrier that says that a stage is full.
    ///
    /// # Errors
    /// As [`Mbarrier::new`].
    pub fn full(&self, stage: &Expr) -> Result<Mbarrier, Error> {
        Mbarrier::new(&(&self.base + &(stage * MBARRIER_BYTES)))
    }

    /// The mbarrier that says that a stage is free.
    ///
    /// # Errors
    /// As [`Mbarrier::new`].
    pub fn empty(&self, stage: &Expr) -> Result<Mbarrier, Error> {
        Mbarrier::new(&(&(&self.base + &(stage * MBARRIER_BYTES)) + self.stages * MBARRIER_BYTES))
    }

    /// The producer waits until the stage is free, and announces the bytes that will come; copies with
    /// [`Pipeline::full`]'s mbarrier follow.
    ///
    /// # Errors
    /// As [`Mbarrier::wait`].
    #[track_caller]
    pub fn producer_acquire(&self, b: &mut Builder, at: &Stage) -> Result<(), Error> {
        self.producer_wait_free(b, at)?;
        self.producer_expect(b, at)
    }

    /// The producer waits until the stage is free.
    ///
    /// # Errors
    /// As [`Mbarrier::wait`].
    #[track_caller]
    pub fn producer_wait_free(&self, b: &mut Builder, at: &Stage) -> Result<(), Error> {
        // The stages are free at first: a new mbarrier's phase of parity 1 has ended.
        self.empty(&at.index)?.wait(b, &(&Expr::from(1) - &at.phase))
    }

    /// The producer announces the bytes that will come into a stage, of which it knows otherwise that it is free.
    ///
    /// # Errors
    /// As [`Mbarrier::arrive_and_expect_tx`].
    #[track_caller]
    pub fn producer_expect(&self, b: &mut Builder, at: &Stage) -> Result<(), Error> {
        self.full(&at.index)?.arrive_and_expect_tx(b, self.bytes, &Cond::Always)
    }

    /// A thread of several producers commits the copies into a stage that it has issued by `cp.async`.
    ///
    /// # Errors
    /// As [`Mbarrier::cp_async_arrive_noinc`].
    #[track_caller]
    pub fn producer_commit(&self, b: &mut Builder, at: &Stage) -> Result<(), Error> {
        self.full(&at.index)?.cp_async_arrive_noinc(b)
    }

    /// The producer waits until the consumers have released what came into the stage in this round.
    ///
    /// # Errors
    /// As [`Mbarrier::wait`].
    #[track_caller]
    pub fn producer_wait(&self, b: &mut Builder, at: &Stage) -> Result<(), Error> {
        self.empty(&at.index)?.wait(b, &at.phase)
    }

    /// The consumers wait until the stage is full.
    ///
    /// # Errors
    /// As [`Mbarrier::wait`].
    #[track_caller]
    pub fn consumer_wait(&self, b: &mut Builder, at: &Stage) -> Result<(), Error> {
        self.full(&at.index)?.wait(b, &at.phase)
    }

    /// The threads where `cond` holds release the stage, which they have read.
    ///
    /// # Errors
    /// As [`Mbarrier::arrive`].
    #[track_caller]
    pub fn consumer_release(&self, b: &mut Builder, at: &Stage, cond: &Cond) -> Result<(), Error> {
        self.empty(&at.index)?.arrive(b, cond)
    }

    /// The threads where `cond` holds release the stage in the block `rank` of the cluster, whose copies come into the stage too.
    ///
    /// # Errors
    /// As [`Mbarrier::arrive_remote`].
    #[track_caller]
    pub fn consumer_release_in(
        &self,
        b: &mut Builder,
        at: &Stage,
        rank: &Expr,
        cond: &Cond,
    ) -> Result<(), Error> {
        self.empty(&at.index)?.arrive_remote(b, rank, cond)
    }
}

/// A place in a pipeline: a stage, and the parity of the round through all stages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// The number of the stage, 0 to stages - 1.
    pub index: Expr,
    /// The parity of the round: 0 in the first round, 1 in the second, then 0 again.
    pub phase: Expr,
}

/// The place of a thread in a pipeline, in registers that change from stage to stage.
#[derive(Clone, Debug)]
pub struct PipelineState {
    index: Reg,
    phase: Reg,
    stages: i64,
}

impl PipelineState {
    /// A state at the first stage.
    #[track_caller]
    pub fn new(b: &mut Builder, stages: i64) -> PipelineState {
        PipelineState::at(b, stages, [0, 0])
    }

    /// A state one stage behind [`PipelineState::new`], for the stage that was read before.
    #[track_caller]
    pub fn behind(b: &mut Builder, stages: i64) -> PipelineState {
        PipelineState::at(b, stages, [stages - 1, 1])
    }

    #[track_caller]
    fn at(b: &mut Builder, stages: i64, [index, phase]: [i64; 2]) -> PipelineState {
        let site = Location::caller();
        let [index, phase] = [(b.reg(Type::B32), index), (b.reg(Type::B32), phase)].map(|(reg, value)| {
            let operands = vec![Operand::from(&reg), Operand::Int(value)];
            b.on_behalf(site, |b| b.inst(Opcode::Mov, &[Type::B32.into()], operands));
            reg
        });
        PipelineState { index, phase, stages }
    }

    /// The stage, as expressions that hold in this scope until the next [`PipelineState::advance`].
    #[track_caller]
    pub fn stage(&self, b: &mut Builder) -> Stage {
        Stage { index: b.var(&self.index, 0, self.stages - 1, 1), phase: b.var(&self.phase, 0, 1, 1) }
    }

    /// Moves to the next stage. What [`PipelineState::stage`] returned before is stale from then on.
    #[track_caller]
    pub fn advance(&self, b: &mut Builder) {
        let phase = Operand::from(&self.phase);
        if self.stages == 1 {
            b.inst(Opcode::Xor, &[Type::B32.into()], vec![phase.clone(), phase, Operand::Int(1)]);
            return;
        }
        let wraps = increment(b, &self.index, 1, self.stages);
        let turned = Operand::from(&b.reg(Type::B32));
        b.inst(Opcode::Xor, &[Type::B32.into()], vec![turned.clone(), phase.clone(), Operand::Int(1)]);
        b.inst(Opcode::Selp, &[Type::B32.into()], vec![phase.clone(), turned, phase, wraps]);
    }

    /// Moves to the next stage as [`PipelineState::advance`] does, and returns the one before, in registers of its own.
    #[track_caller]
    pub fn pass(&self, b: &mut Builder) -> Stage {
        let [index, phase] = [(&self.index, self.stages - 1), (&self.phase, 1)].map(|(reg, upper)| {
            if upper == 0 {
                return Expr::from(0);
            }
            let kept = b.reg(Type::B32);
            b.inst(Opcode::Mov, &[Type::B32.into()], vec![Operand::from(&kept), Operand::from(reg)]);
            b.var(&kept, 0, upper, 1)
        });
        self.advance(b);
        Stage { index, phase }
    }

    /// Moves over `stages` stages, which others read. What [`PipelineState::stage`] returned before is stale from then on.
    ///
    /// # Errors
    /// Those of the expressions.
    #[track_caller]
    pub fn advance_by(&self, b: &mut Builder, stages: &Expr) -> Result<(), Error> {
        let Stage { index, phase } = self.stage(b);
        let index = &index + stages;
        let phase = (&phase + &index.div(self.stages)?).rem(2)?;
        let moved = [b.operand(&index.rem(self.stages)?, Width::W32)?, b.operand(&phase, Width::W32)?];
        for (reg, moved) in [&self.index, &self.phase].into_iter().zip(moved) {
            b.inst(Opcode::Mov, &[Type::B32.into()], vec![Operand::from(reg), moved]);
        }
        Ok(())
    }
}

/// Adds `step` to a register, which goes back to 0 at `end`. Returns the predicate that says whether it does.
#[track_caller]
pub(super) fn increment(b: &mut Builder, reg: &Reg, step: i64, end: i64) -> Operand {
    let (reg, wraps) = (Operand::from(reg), Operand::from(&b.reg(Type::Pred)));
    b.inst(Opcode::Add, &[Type::S32.into()], vec![reg.clone(), reg.clone(), Operand::Int(step)]);
    let test = vec![wraps.clone(), reg.clone(), Operand::Int(end)];
    b.inst(Opcode::Setp, &[Word::Eq.into(), Type::S32.into()], test);
    b.inst(Opcode::Selp, &[Type::B32.into()], vec![reg.clone(), Operand::Int(0), reg, wraps.clone()]);
    wraps
}
