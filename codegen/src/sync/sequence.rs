//! Groups of threads that alternate in a fixed order (CUTLASS's `OrderedSequenceBarrier`).

use super::{MBARRIER_BYTES, Mbarrier, PipelineState, Stage};
use crate::builder::{Builder, Cond, MAX_SHARED};
use crate::error::SyncError;
use crate::{Error, Expr};

/// Groups of threads that execute a section one after the other, again and again. Each has an mbarrier that signals the end of the group's
/// section.
///
/// # Examples
/// Two warps write in alternation, twice each.
/// ```
/// use girih_codegen::algorithm::fence_barrier_init;
/// use girih_codegen::sync::OrderedSequence;
/// use girih_codegen::{Builder, Cond, Expr};
/// use girih_ptx::Special;
///
/// let mut b = Builder::new("turns", 90, 64);
/// let thread = b.special(Special::TidX);
/// let turns = OrderedSequence::new(&mut b, 2, 1)?;
/// b.if_(&Cond::less(&thread, &Expr::from(1)), |b| {
///     turns.init(b)?;
///     fence_barrier_init(b);
///     Ok(())
/// })?;
/// b.barrier();
/// let (warp, leader) = (thread.div(32)?, Cond::less(&thread.rem(32)?, &Expr::from(1)));
/// let state = turns.first(&mut b);
/// b.for_range(&Expr::from(4), |b, _| {
///     let turn = state.stage(b);
///     b.if_(&Cond::equal(&turn.index, &warp), |b| {
///         turns.wait(b, &turn)?;
///         b.printf("warp %d\n", &[&girih_codegen::Scalar::index(&warp, girih_tensor::DType::U32)])?;
///         b.warp_sync();
///         turns.arrive(b, &turn, &leader)
///     })?;
///     state.advance(b);
///     Ok(())
/// })?;
/// assert!(b.finish()?.module().to_string().contains("mbarrier.try_wait"));
/// # Ok::<(), girih_codegen::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct OrderedSequence {
    base: Expr,
    groups: i64,
    arrivals: i64,
}

impl OrderedSequence {
    /// A sequence of this many groups, in each of which `arrivals` threads end the turn. Its mbarriers take
    /// [`OrderedSequence::barrier_bytes`] of shared memory.
    ///
    /// # Errors
    /// [`SyncError::Groups`] for fewer than 1 group, [`BuilderError::SharedMemory`](crate::BuilderError::SharedMemory) for shared memory that does not suffice.
    #[track_caller]
    pub fn new(b: &mut Builder, groups: i64, arrivals: i64) -> Result<OrderedSequence, Error> {
        let most = MAX_SHARED / MBARRIER_BYTES;
        if !(1..=most).contains(&groups) {
            return Err(SyncError::Groups { groups, most }.into());
        }
        let base = b.alloc_shared(OrderedSequence::barrier_bytes(groups), MBARRIER_BYTES)?;
        Ok(OrderedSequence { base, groups, arrivals })
    }

    /// Bytes of shared memory that the mbarriers of this many groups take.
    pub const fn barrier_bytes(groups: i64) -> i64 {
        groups * MBARRIER_BYTES
    }

    /// Initialises the mbarriers. One thread does this; a fence ([`crate::algorithm::fence_barrier_init`]) and a barrier follow.
    ///
    /// # Errors
    /// As [`Mbarrier::init`].
    #[track_caller]
    pub fn init(&self, b: &mut Builder) -> Result<(), Error> {
        (0..self.groups).try_for_each(|group| self.ended(&Expr::from(group))?.init(b, self.arrivals))
    }

    /// The first turn, which is that of group 0. The stages of the state are the groups: every group goes through all turns.
    #[track_caller]
    pub fn first(&self, b: &mut Builder) -> PipelineState {
        PipelineState::new(b, self.groups)
    }

    /// Waits until the turn before this one has ended.
    ///
    /// # Errors
    /// As [`Mbarrier::wait`].
    #[track_caller]
    pub fn wait(&self, b: &mut Builder, turn: &Stage) -> Result<(), Error> {
        // The turn before that of group 0 is one of the phase before. In new mbarriers, the phase of parity 1 counts as ended, so that the
        // first turn waits for nothing.
        let before = &turn.index + (self.groups - 1);
        let round = &(&turn.phase + 1) + &before.div(self.groups)?;
        self.ended(&before.rem(self.groups)?)?.wait(b, &round.rem(2)?)
    }

    /// Ends the turn: `cond` holds for the threads of its group that have to arrive.
    ///
    /// # Errors
    /// As [`Mbarrier::arrive`].
    #[track_caller]
    pub fn arrive(&self, b: &mut Builder, turn: &Stage, cond: &Cond) -> Result<(), Error> {
        self.ended(&turn.index)?.arrive(b, cond)
    }

    fn ended(&self, group: &Expr) -> Result<Mbarrier, Error> {
        Mbarrier::new(&(&self.base + &(group * MBARRIER_BYTES)))
    }
}
