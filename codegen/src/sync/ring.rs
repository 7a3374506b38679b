//! Rings of stages in shared memory that all threads of a block fill by `cp.async` and read (CUTLASS's `MainloopSm80CpAsync`).

use girih_ptx::{Opcode, Operand, Type};

use super::pipeline::increment;
use crate::algorithm::{cp_async_fence, cp_async_wait, cp_async_wait_all};
use crate::builder::{Builder, MAX_SHARED, Reg};
use crate::error::{SyncError, narrow};
use crate::{Error, Expr};

/// Stages that all threads of a block fill by `cp.async`, [`ahead`](CpAsyncRing::ahead) turns before they read them. A barrier of the block takes
/// the place of the mbarriers of a [`Pipeline`](super::Pipeline).
///
/// ```text
/// for each of the first stages - 1 turns: load, commit()
/// in each turn:
///     wait()            the thread's copies for this turn have arrived
///     barrier           those of all threads have, and all have read the stage of the turn before
///     load, commit()    into that stage, for the turn that is stages - 1 further on
///     ... read ...
///     state.advance()
/// ```
///
/// # Examples
/// A thread goes through vectors of 16 bytes, two of which are on their way while it reads one.
/// ```
/// use girih_codegen::algorithm::{copy, read};
/// use girih_codegen::atom::SM80_CP_ASYNC_CACHEGLOBAL_16;
/// use girih_codegen::sync::CpAsyncRing;
/// use girih_codegen::{Builder, Error, Expr, Gmem, Smem};
/// use girih_layout::lay;
/// use girih_tensor::{DType, Slice, Tensor};
///
/// let mut b = Builder::new("k", 80, 1);
/// let x = Tensor::new(Gmem::new(b.pointer("x", 16), DType::F32), lay!("(4,10):(1,4)")); // (Vector,Turn)
/// let shared = Smem::alloc(&mut b, DType::F32, None, &lay!("(4,3):(1,4)"))?; // (Vector,Stage)
/// let (ring, at) = (CpAsyncRing::new(3, true)?, |at: &Expr| (Slice::All, Slice::At(at.clone())));
/// let load = |b: &mut Builder, turn: &Expr, stage: &Expr| -> Result<(), Error> {
///     copy(b, SM80_CP_ASYNC_CACHEGLOBAL_16, &x.slice(at(turn))?, &shared.slice(at(stage))?)?;
///     ring.commit(b);
///     Ok(())
/// };
/// (0..ring.ahead()).try_for_each(|turn| load(&mut b, &turn.into(), &turn.into()))?;
/// let state = ring.state(&mut b, 1);
/// b.for_range(&Expr::from(8), |b, turn| {
///     ring.wait(b)?;
///     b.barrier();
///     let (stage, free) = (state.read(b), state.write(b));
///     load(b, &(turn + ring.ahead()), &free)?;
///     read(b, &shared.slice(at(&stage))?)?;
///     state.advance(b);
///     Ok(())
/// })?;
/// assert_eq!(b.finish()?.module().to_string().matches("cp.async.wait_group 1").count(), 1);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct CpAsyncRing {
    stages: i64,
    copies: bool,
}

impl CpAsyncRing {
    /// A ring of this many stages. `copies` says whether `cp.async` fills them: for loads that go through registers nothing is committed and waited for.
    ///
    /// # Errors
    /// [`SyncError::Stages`] for fewer than 2 stages.
    pub fn new(stages: i64, copies: bool) -> Result<CpAsyncRing, Error> {
        if (2..=MAX_SHARED).contains(&stages) {
            return Ok(CpAsyncRing { stages, copies });
        }
        Err(SyncError::Stages { stages, least: 2, most: MAX_SHARED }.into())
    }

    /// The turns that are loaded ahead of the one that is read: all stages but one.
    pub fn ahead(&self) -> i64 {
        self.stages - 1
    }

    /// The thread's copies since the last call are those of a turn.
    #[track_caller]
    pub fn commit(&self, b: &mut Builder) {
        if self.copies {
            cp_async_fence(b);
        }
    }

    /// Waits until the thread's copies of the oldest turn in flight have arrived.
    ///
    /// # Errors
    /// [`Error::Wide`] for a number of stages that does not fit the instruction.
    #[track_caller]
    pub fn wait(&self, b: &mut Builder) -> Result<(), Error> {
        if self.copies {
            cp_async_wait(b, narrow("stages", self.stages - 2)?);
        }
        Ok(())
    }

    /// Waits until no copy of the thread is in flight.
    #[track_caller]
    pub fn drain(&self, b: &mut Builder) {
        if self.copies {
            cp_async_wait_all(b);
        }
    }

    /// The stage of a turn, for loops that count turns from 0.
    ///
    /// # Errors
    /// Those of [`Expr::rem`].
    pub fn stage(&self, turn: &Expr) -> Result<Expr, Error> {
        turn.rem(self.stages)
    }

    /// The stages of turn 0, for loops that go on from stage to stage. Stage `i` begins at `i * step`.
    #[track_caller]
    pub fn state(&self, b: &mut Builder, step: i64) -> RingState {
        let [read, write] = [0, self.ahead() * step].map(|at| {
            let reg = b.reg(Type::B32);
            b.inst(Opcode::Mov, &[Type::B32.into()], vec![Operand::from(&reg), Operand::Int(at)]);
            reg
        });
        RingState { read, write, stages: self.stages, step }
    }
}

/// The stages that a turn reads and writes, in registers (CUTLASS's `smem_pipe_read` and `smem_pipe_write`): it writes what the turn before has read.
#[derive(Clone, Debug)]
pub struct RingState {
    read: Reg,
    write: Reg,
    stages: i64,
    step: i64,
}

impl RingState {
    /// Where the stage begins that the turn reads, as an expression that holds in this scope until the next [`RingState::advance`].
    #[track_caller]
    pub fn read(&self, b: &mut Builder) -> Expr {
        b.var(&self.read, 0, (self.stages - 1) * self.step, self.step)
    }

    /// Where the stage begins that the turn writes, as [`RingState::read`].
    #[track_caller]
    pub fn write(&self, b: &mut Builder) -> Expr {
        b.var(&self.write, 0, (self.stages - 1) * self.step, self.step)
    }

    /// Moves to the next turn.
    #[track_caller]
    pub fn advance(&self, b: &mut Builder) {
        let operands = [&self.write, &self.read].map(Operand::from).to_vec();
        b.inst(Opcode::Mov, &[Type::B32.into()], operands);
        increment(b, &self.read, self.step, self.stages * self.step);
    }
}
