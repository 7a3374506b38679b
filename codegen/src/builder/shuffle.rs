//! Shuffles, by which a lane reads a scalar of another lane (PTX ISA, `shfl.sync`).

use girih_ptx::{Opcode, Operand, Type, Word};
use girih_tensor::DType;

use super::{Builder, Reg};
use crate::Error;
use crate::scalar::{Scalar, lower};

/// The mask of all lanes.
const EVERY_LANE: i64 = 0xffff_ffff;

impl Builder {
    /// The scalar of the lane whose number differs from the lane's own in the bits of `lanes` (CUDA's `__shfl_xor_sync`). All
    /// lanes of the warp take part.
    ///
    /// # Errors
    /// [`Error::Config`] for `lanes` above 31; as [`Builder::scalar`].
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

    /// The scalar of the lane that is `lanes` lanes behind the lane itself; the last lanes keep their own scalar (CUDA's
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
        let (dtype, reg) = (scalar.dtype(), self.scalar(scalar)?);
        let word = |b: &mut Builder, source: &Reg| {
            let got = b.reg(Type::B32);
            let [got_at, source] = [Operand::from(&got), Operand::from(source)];
            let operands = vec![got_at, source, lanes.clone(), Operand::Int(clamp), Operand::Int(EVERY_LANE)];
            b.inst(Opcode::Shfl, &[Word::Sync.into(), how.into(), Type::B32.into()], operands);
            got
        };
        let out = self.reg(lower::register(dtype));
        match dtype.bits() {
            64 => {
                let halves = self.regs(Type::B32, 2);
                let pair = |regs: &[Reg]| Operand::Vector(regs.iter().map(Operand::from).collect());
                let split = vec![pair(&halves), Operand::from(&reg)];
                self.inst(Opcode::Mov, &[Type::B64.into()], split);
                let got: Vec<Reg> = halves.iter().map(|half| word(self, half)).collect();
                self.inst(Opcode::Mov, &[Type::B64.into()], vec![Operand::from(&out), pair(&got)]);
            }
            16 => {
                let wide = self.reg(Type::B32);
                let operands = vec![Operand::from(&wide), Operand::from(&reg)];
                self.inst(Opcode::Cvt, &[Type::U32.into(), Type::U16.into()], operands);
                let got = word(self, &wide);
                let operands = vec![Operand::from(&out), Operand::from(&got)];
                self.inst(Opcode::Cvt, &[Type::U16.into(), Type::U32.into()], operands);
            }
            _ => {
                let got = word(self, &reg);
                let operands = vec![Operand::from(&out), Operand::from(&got)];
                self.inst(Opcode::Mov, &[Type::B32.into()], operands);
            }
        }
        let depth = self.depth();
        Ok(self.leaf(&out, depth, dtype))
    }
}

fn constant(lanes: u32) -> Result<Operand, Error> {
    if lanes < 32 {
        return Ok(Operand::Int(lanes.into()));
    }
    let accepted = String::from("0 to 31");
    Err(Error::Config { what: "lanes of a shuffle", value: lanes.to_string(), accepted })
}
