//! Barriers of threads, and instructions that a whole warpgroup executes.

use girih_ptx::{Opcode, Operand, Type, Word};

use super::{Builder, Cond, Width};
use crate::Error;
use crate::error::BuilderError;
use crate::expr::Expr;

/// The threads of a warpgroup.
pub(crate) const WARPGROUP: u32 = 128;
/// The highest number of a block's barriers.
pub(crate) const BARRIERS: i64 = 15;
/// The numbers of registers that a thread can ask for.
const REGISTERS: std::ops::RangeInclusive<u32> = 24..=256;

impl Builder {
    /// `bar.sync 0`: a barrier of all threads of the block.
    #[track_caller]
    pub fn barrier(&mut self) {
        self.inst(Opcode::Bar, &[Word::Sync.into()], vec![Operand::Int(0)]);
    }

    /// `bar.warp.sync`: a barrier of all lanes of the warp, which makes their writes visible (CUDA's `__syncwarp`).
    #[track_caller]
    pub fn warp_sync(&mut self) {
        self.inst(Opcode::Bar, &[Word::Warp.into(), Word::Sync.into()], vec![Operand::Int(0xffff_ffff)]);
    }

    /// `bar.sync id, threads`: a barrier of that many threads of whole warps (CUTLASS's `NamedBarrier::sync`).
    ///
    /// # Errors
    /// [`Error::Builder`] for an id that is not known to be in 1 to 15 (barrier 0 is that of [`Builder::barrier`]), and for a number of
    /// threads that makes no whole warps; as [`Builder::value`].
    #[track_caller]
    pub fn named_barrier_sync(&mut self, id: &Expr, threads: u32) -> Result<(), Error> {
        self.named_barrier(Word::Sync, id, threads)
    }

    /// `bar.arrive id, threads`: counts the calling threads for a [`Builder::named_barrier_sync`] of others, without waiting.
    ///
    /// # Errors
    /// As [`Builder::named_barrier_sync`].
    #[track_caller]
    pub fn named_barrier_arrive(&mut self, id: &Expr, threads: u32) -> Result<(), Error> {
        self.named_barrier(Word::Arrive, id, threads)
    }

    #[track_caller]
    fn named_barrier(&mut self, word: Word, id: &Expr, threads: u32) -> Result<(), Error> {
        let meeting = self.meeting(id, threads)?;
        self.inst(Opcode::Bar, &[word.into()], meeting);
        Ok(())
    }

    /// The operands of a named barrier.
    fn meeting(&mut self, id: &Expr, threads: u32) -> Result<Vec<Operand>, Error> {
        let range = id.range();
        if range.0 < 1 || range.1 > BARRIERS {
            return Err(BuilderError::Barrier { id: id.to_string(), range, most: BARRIERS }.into());
        }
        if threads == 0 || threads > 1024 || !threads.is_multiple_of(32) {
            return Err(BuilderError::BarrierThreads { threads }.into());
        }
        let id = self.operand(id, Width::W32)?;
        Ok(vec![id, Operand::Int(i64::from(threads))])
    }

    /// `bar.red.or`: a barrier of all threads of the block that returns whether the condition holds for one of them (CUDA's `__syncthreads_or`).
    ///
    /// # Errors
    /// As [`Builder::cond`].
    #[track_caller]
    pub fn barrier_or(&mut self, cond: &Cond) -> Result<Cond, Error> {
        self.meet_or(vec![Operand::Int(0)], cond)
    }

    /// The same for `threads` threads of whole warps, which meet at the barrier `id` ([`Builder::named_barrier_sync`]).
    ///
    /// # Errors
    /// As [`Builder::named_barrier_sync`] and [`Builder::cond`].
    #[track_caller]
    pub fn named_barrier_or(&mut self, id: &Expr, threads: u32, cond: &Cond) -> Result<Cond, Error> {
        let meeting = self.meeting(id, threads)?;
        self.meet_or(meeting, cond)
    }

    #[track_caller]
    fn meet_or(&mut self, meeting: Vec<Operand>, cond: &Cond) -> Result<Cond, Error> {
        let (holds, any) = (self.cond(cond)?, self.reg(Type::Pred));
        let operands = [Operand::from(&any)].into_iter().chain(meeting).chain([Operand::from(&holds)]);
        let words = [Word::Red.into(), Word::Or.into(), Type::Pred.into()];
        self.inst(Opcode::Bar, &words, operands.collect());
        self.cond_in(&any)
    }

    /// `barrier.cluster`: a barrier of all threads of the cluster, which makes their writes visible (CuTe's `cluster_sync`).
    #[track_caller]
    pub fn cluster_sync(&mut self) {
        self.cluster_arrive();
        self.cluster_wait();
    }

    /// `barrier.cluster.arrive`: the first half of [`Builder::cluster_sync`], after which the thread goes on (CuTe's `cluster_arrive`).
    #[track_caller]
    pub fn cluster_arrive(&mut self) {
        self.cluster_barrier(Word::Arrive, Word::Release);
    }

    /// `barrier.cluster.wait`: waits until all threads of the cluster that have not exited have arrived (CuTe's `cluster_wait`).
    #[track_caller]
    pub fn cluster_wait(&mut self) {
        self.cluster_barrier(Word::Wait, Word::Acquire);
    }

    #[track_caller]
    fn cluster_barrier(&mut self, word: Word, order: Word) {
        let words = [Word::Cluster.into(), word.into(), order.into(), Word::Aligned.into()];
        self.inst(Opcode::Barrier, &words, Vec::new());
    }

    /// `griddepcontrol.launch_dependents`: as soon as all blocks have executed this, the next kernel of the stream may begin, if its launch
    /// is a programmatic one (CUTLASS's `launch_dependent_grids`; sm_90).
    #[track_caller]
    pub fn launch_dependent_grids(&mut self) {
        self.inst(Opcode::Griddepcontrol, &[Word::LaunchDependents.into()], Vec::new());
    }

    /// `griddepcontrol.wait`: waits until the kernels before this one in its stream have ended and their writes are seen (CUTLASS's
    /// `wait_on_dependent_grids`; sm_90). In a launch that is not programmatic that is so from the beginning.
    #[track_caller]
    pub fn wait_on_dependent_grids(&mut self) {
        self.inst(Opcode::Griddepcontrol, &[Word::Wait.into()], Vec::new());
    }

    /// `setmaxnreg.inc`: the threads of a warpgroup wait until each of them has `registers` registers of 32 bits (CUTLASS's
    /// `warpgroup_reg_alloc`).
    ///
    /// # Errors
    /// [`BuilderError::Registers`] unless `registers` is a multiple of 8 in 24 to 256.
    #[track_caller]
    pub fn warpgroup_reg_alloc(&mut self, registers: u32) -> Result<(), Error> {
        self.setmaxnreg(Word::Inc, registers)
    }

    /// `setmaxnreg.dec`: each thread of a warpgroup keeps `registers` registers (CUTLASS's `warpgroup_reg_dealloc`).
    ///
    /// # Errors
    /// As [`Builder::warpgroup_reg_alloc`].
    #[track_caller]
    pub fn warpgroup_reg_dealloc(&mut self, registers: u32) -> Result<(), Error> {
        self.setmaxnreg(Word::Dec, registers)
    }

    #[track_caller]
    fn setmaxnreg(&mut self, word: Word, registers: u32) -> Result<(), Error> {
        if !REGISTERS.contains(&registers) || !registers.is_multiple_of(8) {
            return Err(BuilderError::Registers { registers }.into());
        }
        let modifiers = [word.into(), Word::Sync.into(), Word::Aligned.into(), Type::U32.into()];
        self.inst(Opcode::Setmaxnreg, &modifiers, vec![Operand::Int(i64::from(registers))]);
        Ok(())
    }

    /// The index of the warpgroup of `thread`, an index in the block. It comes from a shuffle, by which the assembler
    /// knows that all lanes of a warp have the same one (CUTLASS's `canonical_warp_group_idx`).
    ///
    /// # Errors
    /// As [`Builder::value`].
    #[track_caller]
    pub fn canonical_warp_group_idx(&mut self, thread: &Expr) -> Result<Expr, Error> {
        let group = thread.div(WARPGROUP.into())?;
        let own = self.value(&group, Width::W32)?;
        let uniform = self.shuffle(Type::B32, Word::Idx, &own, &Operand::Int(0), 31);
        let (lower, upper) = group.range();
        Ok(self.var(&uniform, lower, upper, 1))
    }
}
