//! Shuffles, by which a lane reads a scalar of another lane (PTX ISA, `shfl.sync`).

use girih_ptx::{Opcode, Operand, Type, Word};
use girih_tensor::DType;

use super::{Builder, Reg};
use crate::Error;
use crate::error::BuilderError;
use crate::scalar::{Scalar, lower};

/// The mask of all lanes.
const EVERY_LANE: i64 = 0xffff_ffff;

impl Builder {
    /// The scalar of the lane whose number differs from the lane's own in the bits of `lanes` (CUDA's `__shfl_xor_sync`). All
    /// lanes of the warp take part.
    ///
    /// # Errors
    /// [`BuilderError::ShuffleLanes`] for `lanes` above 31; as [`Builder::scalar`].
    #[track_caller]
    pub fn shfl_xor(&mut self, scalar: &Scalar, lanes: u32) -> Result<Scalar, Error> {
        let lanes = constant(lanes)?;
        self.shuffled(Word::Bfly, scalar, lanes, 31)
    }

    /// The scalar of the lane that is `lanes` lanes before the lane itself; the first lanes keep their own scalar (CUDA's
    /// `__shfl_up_sync`). All lanes of the warp take part.
    ///
    /// # Errors
    /// As [`Builder::shfl_xor`].
    #[track_caller]
    pub fn shfl_up(&mut self, scalar: &Scalar, lanes: u32) -> Result<Scalar, Error> {
        let lanes = constant(lanes)?;
        self.shuffled(Word::Up, scalar, lanes, 0)
    }

    /// The scalar of the lane that is `lanes` lanes after the lane itself; the last lanes keep their own scalar (CUDA's
    /// `__shfl_down_sync`). All lanes of the warp take part.
    ///
    /// # Errors
    /// As [`Builder::shfl_xor`].
    #[track_caller]
    pub fn shfl_down(&mut self, scalar: &Scalar, lanes: u32) -> Result<Scalar, Error> {
        let lanes = constant(lanes)?;
        self.shuffled(Word::Down, scalar, lanes, 31)
    }

    /// The scalar of lane `lane`, which is a u32 or s32 whose lowest five bits count (CUDA's `__shfl_sync`). All lanes of the warp
    /// take part.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for a lane of another dtype; as [`Builder::scalar`].
    #[track_caller]
    pub fn shfl(&mut self, scalar: &Scalar, lane: &Scalar) -> Result<Scalar, Error> {
        if !matches!(lane.dtype(), DType::U32 | DType::S32) {
            return Err(Error::Mismatch {
                what: "shfl",
                layout: lane.dtype().to_string(),
                with: String::from("the number of a lane"),
                accepted: "u32 and s32",
            });
        }
        let lane = self.scalar_operand(lane)?.0;
        self.shuffled(Word::Idx, scalar, lane, 31)
    }

    #[track_caller]
    fn shuffled(&mut self, how: Word, scalar: &Scalar, lanes: Operand, clamp: i64) -> Result<Scalar, Error> {
        let reg = self.scalar(scalar)?;
        let out = self.shuffle(lower::register(scalar.dtype()), how, &reg, &lanes, clamp);
        let depth = self.depth();
        Ok(self.leaf(&out, depth, scalar.dtype()))
    }

    /// The register of another lane, which is of type `ty`. `how` is one of bfly, up, down and idx; `lanes` is what `shfl` takes as its
    /// second operand, `clamp` as its third. All lanes of the warp take part.
    #[track_caller]
    pub fn shuffle(&mut self, ty: Type, how: Word, reg: &Reg, lanes: &Operand, clamp: i64) -> Reg {
        match ty {
            Type::Pred => {
                let number = vec![Operand::Int(1), Operand::Int(0), Operand::from(reg)];
                let number = self.inst_to(Type::B32, Opcode::Selp, &[Type::B32.into()], number);
                let got = self.shuffle(Type::B32, how, &number, lanes, clamp);
                let inputs = vec![Operand::from(&got), Operand::Int(0)];
                self.inst_to(ty, Opcode::Setp, &[Word::Ne.into(), Type::B32.into()], inputs)
            }
            _ if ty.bytes() == Some(2) => {
                let words = [Type::U32.into(), Type::U16.into()];
                let wide = self.inst_to(Type::U32, Opcode::Cvt, &words, vec![Operand::from(reg)]);
                let got = self.shuffle(Type::B32, how, &wide, lanes, clamp);
                let words = [Type::U16.into(), Type::U32.into()];
                self.inst_to(ty, Opcode::Cvt, &words, vec![Operand::from(&got)])
            }
            _ if ty.bytes() == Some(8) => {
                let halves = self.split(Type::B32, reg);
                let got = halves.map(|half| self.shuffle(Type::B32, how, &half, lanes, clamp));
                self.join(ty, got.each_ref())
            }
            _ => {
                let inputs =
                    vec![Operand::from(reg), lanes.clone(), Operand::Int(clamp), Operand::Int(EVERY_LANE)];
                self.inst_to(ty, Opcode::Shfl, &[Word::Sync.into(), how.into(), Type::B32.into()], inputs)
            }
        }
    }
}

fn constant(lanes: u32) -> Result<Operand, Error> {
    if lanes < 32 {
        return Ok(Operand::Int(lanes.into()));
    }
    Err(BuilderError::ShuffleLanes { lanes }.into())
}
