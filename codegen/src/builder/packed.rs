//! Computes two 16-bit floats in one register by one instruction, if both have the same operation (PTX ISA, "Half Precision Floating-Point
//! Instructions", the forms of `.f16x2` and `.bf16x2`).

use std::panic::Location;

use girih_ptx::{Opcode, Operand, Type, Word};
use girih_tensor::DType;

use super::{Builder, Reg, Scope, vector};
use crate::Error;
use crate::scalar::{Binary, Op, Scalar, Unary, lower};

/// The register of a pair, and the depth of the scope that has it.
type Placed = (Reg, usize);

/// The bits of 1, -1 and -0 of bf16.
const ONE: u64 = 0x3f80;
const MINUS_ONE: u64 = 0xbf80;
const MINUS_ZERO: u64 = 0x8000;

impl Builder {
    /// The two floats of 16 bits that a register holds, the lower one first. A float is extracted from the register only where an
    /// operation takes it alone.
    ///
    /// # Errors
    /// Those of [`Builder::scalar_in`].
    pub(crate) fn halves_of(&mut self, pair: &Reg, dtype: DType) -> Result<[Scalar; 2], Error> {
        let depth = self.depth();
        let id = self.declare_var(pair, depth);
        Ok([false, true].map(|upper| Scalar::half(dtype, id, upper)))
    }

    /// The register with both scalars, computed together as far as they are the same operation; `None` if nothing is computed together.
    ///
    /// # Errors
    /// As [`Builder::scalar`].
    #[track_caller]
    pub(crate) fn packed(&mut self, low: &Scalar, high: &Scalar) -> Result<Option<Reg>, Error> {
        self.on_behalf(Location::caller(), |b| match together(low, high) {
            Some(_) => b.pair(low, high).map(|(reg, _)| Some(reg)),
            None => Ok(None),
        })
    }

    #[track_caller]
    fn pair(&mut self, low: &Scalar, high: &Scalar) -> Result<Placed, Error> {
        if let Some(Together::Register(id)) = together(low, high) {
            return self.leaf_reg(id);
        }
        let both = (low.clone(), high.clone());
        let known = |(depth, scope): (usize, &Scope)| Some((scope.pairs.get(&both)?.clone(), depth));
        if let Some(found) = self.scopes.iter().enumerate().find_map(known) {
            return Ok(found);
        }
        let (reg, depth) = self.computed_pair(low, high)?;
        self.keep(&reg);
        self.scopes[depth].pairs.insert(both, reg.clone());
        Ok((reg, depth))
    }

    /// Writes the instruction of the outermost operation of both scalars, or puts both into one register.
    #[track_caller]
    fn computed_pair(&mut self, low: &Scalar, high: &Scalar) -> Result<Placed, Error> {
        let dtype = low.dtype();
        let ty = if dtype == DType::F16 { Type::F16x2 } else { Type::Bf16x2 };
        let constants = |bits| [Scalar::of_bits(dtype, bits), Scalar::of_bits(dtype, bits)];
        let (opcode, modifiers, operands) = match together(low, high) {
            Some(Together::Constant(bits)) => {
                let operands = vec![Operand::Int(i64::from(bits))];
                return Ok((self.emit(0, Opcode::Mov, &[Type::B32.into()], Type::B32, operands), 0));
            }
            Some(Together::Unary(op, x)) => (lower::unary(op, dtype).0, vec![ty.into()], vec![x]),
            // Before sm_90 there is no addition of bf16; `x * 1 + y` is rounded once, as `x + y` would be.
            Some(Together::Binary(Binary::Add, x, y)) if dtype == DType::Bf16 => {
                (Opcode::Fma, vec![Word::Rn.into(), ty.into()], vec![x, constants(ONE), y])
            }
            Some(Together::Binary(Binary::Sub, x, y)) if dtype == DType::Bf16 => {
                (Opcode::Fma, vec![Word::Rn.into(), ty.into()], vec![y, constants(MINUS_ONE), x])
            }
            Some(Together::Binary(Binary::Mul, x, y)) if dtype == DType::Bf16 => {
                (Opcode::Fma, vec![Word::Rn.into(), ty.into()], vec![x, y, constants(MINUS_ZERO)])
            }
            Some(Together::Binary(op, x, y)) => {
                let (opcode, mut modifiers) = lower::binary(op, dtype);
                modifiers.pop();
                modifiers.push(ty.into());
                (opcode, modifiers, vec![x, y])
            }
            Some(Together::MulAdd(x, y, z)) => (Opcode::Fma, vec![Word::Rn.into(), ty.into()], vec![x, y, z]),
            Some(Together::Register(_)) | None => return self.brought_together(low, high),
        };
        let operands = operands.into_iter().map(|[low, high]| self.pair(&low, &high));
        let operands = operands.collect::<Result<Vec<_>, Error>>()?;
        let depth = operands.iter().map(|(_, depth)| *depth).max().unwrap_or(0);
        let operands = operands.iter().map(|(reg, _)| Operand::from(reg)).collect();
        Ok((self.emit(depth, opcode, &modifiers, Type::B32, operands), depth))
    }

    /// Puts two scalars that are computed apart into one register.
    #[track_caller]
    fn brought_together(&mut self, low: &Scalar, high: &Scalar) -> Result<Placed, Error> {
        let pair = if low.dtype() == DType::F16 { Type::F16x2 } else { Type::Bf16x2 };
        if let ([Some(low), Some(high)], true) = ([low, high].map(Scalar::rounded_from_f32), self.sm() >= 80)
        {
            let [low, high] = [self.scalar_reg(low)?, self.scalar_reg(high)?];
            // The first source is the upper half.
            let operands = [&high, &low].map(|(reg, _)| Operand::from(reg)).to_vec();
            let (depth, words) = (low.1.max(high.1), [Word::Rn.into(), pair.into(), Type::F32.into()]);
            return Ok((self.emit(depth, Opcode::Cvt, &words, Type::B32, operands), depth));
        }
        let [low, high] = [self.scalar_reg(low)?, self.scalar_reg(high)?];
        let depth = low.1.max(high.1);
        let halves = vector([&low.0, &high.0]);
        Ok((self.emit(depth, Opcode::Mov, &[Type::B32.into()], Type::B32, vec![halves]), depth))
    }
}

/// One operation on two scalars of 16 bits.
enum Together {
    /// The two halves of the value that a register holds.
    Register(crate::expr::VarId),
    Constant(u32),
    Unary(Unary, [Scalar; 2]),
    Binary(Binary, [Scalar; 2], [Scalar; 2]),
    MulAdd([Scalar; 2], [Scalar; 2], [Scalar; 2]),
}

/// The operation that gives both scalars, if one instruction computes both.
fn together(low: &Scalar, high: &Scalar) -> Option<Together> {
    let floats = matches!(low.dtype(), DType::F16 | DType::Bf16) && low.dtype() == high.dtype();
    let both = |x: &Scalar, y: &Scalar| [x.clone(), y.clone()];
    match (low.op(), high.op()) {
        _ if !floats => None,
        (Op::Half(id, false), Op::Half(other, true)) if id == other => Some(Together::Register(*id)),
        (Op::Constant(low), Op::Constant(high)) => Some(Together::Constant((*low | *high << 16) as u32)),
        // Where both are the same scalar, it is computed once.
        _ if low == high => None,
        (Op::Unary(op @ (Unary::Neg | Unary::Abs), x), Op::Unary(other, y)) if op == other => {
            Some(Together::Unary(*op, both(x, y)))
        }
        (Op::Binary(op, x, y), Op::Binary(other, z, w)) if op == other && is_packed(*op) => {
            Some(Together::Binary(*op, both(x, z), both(y, w)))
        }
        (Op::MulAdd(x, y, z), Op::MulAdd(u, v, w)) => {
            Some(Together::MulAdd(both(x, u), both(y, v), both(z, w)))
        }
        _ => None,
    }
}

/// Whether there is an instruction for two floats of 16 bits.
fn is_packed(op: Binary) -> bool {
    use Binary::{Add, Max, Maximum, Min, Minimum, Mul, Sub};
    matches!(op, Add | Sub | Mul | Min | Max | Minimum | Maximum)
}
