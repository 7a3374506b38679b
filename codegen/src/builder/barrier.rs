//! Barriers of threads, and instructions that a whole warpgroup executes.

use girih_ptx::{Opcode, Operand, Type, Word};

use super::{Builder, Width};
use crate::Error;
use crate::expr::Expr;

/// The threads of a warpgroup.
const WARPGROUP: i64 = 128;
/// The highest number of a block's barriers.
const BARRIERS: i64 = 15;
/// The numbers of registers that a thread can ask for.
const REGISTERS: std::ops::RangeInclusive<u32> = 24..=256;

impl Builder {
    /// `bar.sync 0`: all threads of the block meet.
    #[track_caller]
    pub fn barrier(&mut self) {
        self.inst(Opcode::Bar, &[Word::Sync.into()], vec![Operand::Int(0)]);
    }

    /// `bar.warp.sync`: all lanes of the warp meet, and see what the others have written (CUDA's `__syncwarp`).
    #[track_caller]
    pub fn warp_sync(&mut self) {
        self.inst(Opcode::Bar, &[Word::Warp.into(), Word::Sync.into()], vec![Operand::Int(0xffff_ffff)]);
    }

    /// `bar.sync id, threads`: that many threads of whole warps meet (CUTLASS's `NamedBarrier::sync`).
    ///
    /// # Errors
    /// [`Error::Config`] for an id that is not known to be in 1 to 15 (barrier 0 is that of [`Builder::barrier`]), and for a number of
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
        let refused = |what, value: String, accepted| {
            Err(Error::Config { what, value, accepted: String::from(accepted) })
        };
        let (lower, upper) = id.range();
        if lower < 1 || upper > BARRIERS {
            return refused(
                "barrier",
                id.to_string(),
                "a number that is known to be in 1 to 15; barrier 0 is the whole block's",
            );
        }
        if threads == 0 || threads > 1024 || !threads.is_multiple_of(32) {
            return refused("threads of a barrier", threads.to_string(), "multiples of 32 up to 1024");
        }
        let id = self.operand(id, Width::W32)?;
        self.inst(Opcode::Bar, &[word.into()], vec![id, Operand::Int(i64::from(threads))]);
        Ok(())
    }

    /// `barrier.cluster`: all threads of the cluster meet, and see what the others have written (CuTe's `cluster_sync`).
    #[track_caller]
    pub fn cluster_sync(&mut self) {
        let words =
            |word: Word, order: Word| [Word::Cluster.into(), word.into(), order.into(), Word::Aligned.into()];
        self.inst(Opcode::Barrier, &words(Word::Arrive, Word::Release), Vec::new());
        self.inst(Opcode::Barrier, &words(Word::Wait, Word::Acquire), Vec::new());
    }

    /// `setmaxnreg.inc`: the threads of a warpgroup wait until each of them has `registers` registers of 32 bits (CUTLASS's
    /// `warpgroup_reg_alloc`).
    ///
    /// # Errors
    /// [`Error::Config`] unless `registers` is a multiple of 8 in 24 to 256.
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
            return Err(Error::Config {
                what: "registers of a thread",
                value: registers.to_string(),
                accepted: String::from("multiples of 8 from 24 to 256"),
            });
        }
        let modifiers = [word.into(), Word::Sync.into(), Word::Aligned.into(), Type::U32.into()];
        self.inst(Opcode::Setmaxnreg, &modifiers, vec![Operand::Int(i64::from(registers))]);
        Ok(())
    }

    /// The number of the warpgroup of `thread`, an index in the block. The number comes from a shuffle, by which the assembler
    /// knows that all lanes of a warp have the same one (CUTLASS's `canonical_warp_group_idx`).
    ///
    /// # Errors
    /// As [`Builder::value`].
    #[track_caller]
    pub fn canonical_warp_group_idx(&mut self, thread: &Expr) -> Result<Expr, Error> {
        let group = thread.div(WARPGROUP)?;
        let own = self.value(&group, Width::W32)?;
        let uniform = self.reg(Type::B32);
        let operands = [&uniform, &own].map(Operand::from).into_iter();
        let operands = operands.chain([0, 31, 0xffff_ffff].map(Operand::Int)).collect();
        self.inst(Opcode::Shfl, &[Word::Sync.into(), Word::Idx.into(), Type::B32.into()], operands);
        let (lower, upper) = group.range();
        Ok(self.var(&uniform, lower, upper, 1))
    }
}
