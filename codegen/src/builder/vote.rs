//! Votes among the lanes of a warp (PTX ISA, `vote.sync`, `match.sync`, `elect.sync`).

use girih_ptx::{Name, Opcode, Operand, Type, Word};
use girih_tensor::DType;

use super::{Builder, Cond};
use crate::Error;
use crate::error::BuilderError;
use crate::scalar::Scalar;

/// The mask of all lanes.
const EVERY_LANE: Operand = Operand::Int(0xffff_ffff);

impl Builder {
    /// Whether the condition holds in all lanes of the warp (CUDA's `__all_sync`). All lanes of the warp take part.
    ///
    /// # Errors
    /// As [`Builder::cond`].
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::{Builder, Scalar};
    /// use girih_ptx::Special;
    /// use girih_tensor::DType;
    ///
    /// let mut b = Builder::new("k", 80, 32);
    /// let lane = Scalar::index(&b.special(Special::Laneid), DType::S32);
    /// let small = b.vote_all(&lane.less(32))?;
    /// b.if_(&small, |b| Ok(b.barrier()))?;
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    #[track_caller]
    pub fn vote_all(&mut self, cond: &Cond) -> Result<Cond, Error> {
        self.vote(Word::All, cond)
    }

    /// Whether the condition holds in some lane of the warp (CUDA's `__any_sync`). All lanes of the warp take part.
    ///
    /// # Errors
    /// As [`Builder::cond`].
    #[track_caller]
    pub fn vote_any(&mut self, cond: &Cond) -> Result<Cond, Error> {
        self.vote(Word::Any, cond)
    }

    /// The lanes in which the condition holds, as the bits of a u32 (CUDA's `__ballot_sync`). All lanes of the warp take part.
    ///
    /// # Errors
    /// As [`Builder::cond`].
    #[track_caller]
    pub fn ballot(&mut self, cond: &Cond) -> Result<Scalar, Error> {
        let (holds, lanes) = (self.cond(cond)?, self.reg(Type::U32));
        let operands = vec![Operand::from(&lanes), Operand::from(&holds), EVERY_LANE];
        let words = [Word::Sync.into(), Word::Ballot.into(), Type::B32.into()];
        self.inst(Opcode::Vote, &words, operands);
        self.scalar_in(&lanes, DType::U32)
    }

    /// The lanes whose scalar has the same bits as the scalar of the lane itself, as the bits of a u32 (CUDA's `__match_any_sync`).
    /// All lanes of the warp take part.
    ///
    /// # Errors
    /// [`BuilderError::MatchDType`] for a dtype of 16 bits; as [`Builder::scalar`].
    #[track_caller]
    pub fn match_any(&mut self, scalar: &Scalar) -> Result<Scalar, Error> {
        let ty = match scalar.dtype().bits() {
            64 => Type::B64,
            32 => Type::B32,
            _ => return Err(BuilderError::MatchDType { dtype: scalar.dtype() }.into()),
        };
        let (value, lanes) = (self.scalar(scalar)?, self.reg(Type::U32));
        let operands = vec![Operand::from(&lanes), Operand::from(&value), EVERY_LANE];
        self.inst(Opcode::Match, &[Word::Any.into(), Word::Sync.into(), ty.into()], operands);
        self.scalar_in(&lanes, DType::U32)
    }

    /// A condition that holds in one lane of the warp (CuTe's `elect_one_sync`; sm_90). All lanes of the warp take part.
    ///
    /// # Errors
    /// [`BuilderError::Target`] below sm_90.
    #[track_caller]
    pub fn elect_one(&mut self) -> Result<Cond, Error> {
        if self.sm() < 90 {
            return Err(BuilderError::Target { what: "elect_one", sm: self.sm(), least: 90 }.into());
        }
        let elected = self.reg(Type::Pred);
        let operands = vec![Operand::Pair(Name::from("_"), elected.name.clone()), EVERY_LANE];
        self.inst(Opcode::Elect, &[Word::Sync.into()], operands);
        self.cond_in(&elected)
    }

    #[track_caller]
    fn vote(&mut self, word: Word, cond: &Cond) -> Result<Cond, Error> {
        if matches!(cond, Cond::Always | Cond::Never) {
            return Ok(cond.clone());
        }
        let (holds, all) = (self.cond(cond)?, self.reg(Type::Pred));
        let operands = vec![Operand::from(&all), Operand::from(&holds), EVERY_LANE];
        self.inst(Opcode::Vote, &[Word::Sync.into(), word.into(), Type::Pred.into()], operands);
        self.cond_in(&all)
    }
}
