//! Computes scalars into registers.

use std::panic::Location;

use girih_ptx::{Opcode, Operand, Site, Type};
use girih_tensor::DType;

use super::{Builder, CLOSED, Reg, Width, vector};
use crate::Error;
use crate::expr::{Expr, VarId};
use crate::scalar::{COMPUTED, Home, Op, Rounding, Scalar, lower};

/// An operand, and the depth of the scope that has it.
type Placed = (Operand, usize);

impl Builder {
    /// The register that holds a scalar, computed in the outermost scope that has its operands. Floats of 16 bits are in `.b16`
    /// registers.
    ///
    /// # Errors
    /// [`Error::Scalar`] for an operation in the expression that does not fit, with its line; [`Error::OutOfScope`] and [`Error::Stale`]
    /// as [`Builder::value`].
    #[track_caller]
    pub fn scalar(&mut self, scalar: &Scalar) -> Result<Reg, Error> {
        self.told()?;
        self.on_behalf(Location::caller(), |b| Ok(b.scalar_reg(scalar)?.0))
    }

    /// The scalar as one that is in a register already; an expression over it begins at that register.
    ///
    /// # Errors
    /// As [`Builder::scalar`].
    #[track_caller]
    pub fn hold(&mut self, scalar: &Scalar) -> Result<Scalar, Error> {
        self.told()?;
        let (reg, depth) = self.on_behalf(Location::caller(), |b| b.scalar_reg(scalar))?;
        Ok(self.leaf(&reg, depth, scalar.dtype()))
    }

    /// The value that a register holds now, as a scalar. Once an instruction writes the register, the scalar is refused
    /// ([`Error::Stale`]).
    ///
    /// # Errors
    /// [`Error::Mismatch`] for a register of another size than the dtype's, or a dtype that no scalar has.
    #[track_caller]
    pub fn scalar_in(&mut self, reg: &Reg, dtype: DType) -> Result<Scalar, Error> {
        if !COMPUTED.contains(&dtype) || reg.ty.bytes() != lower::register(dtype).bytes() {
            return Err(Error::Mismatch {
                what: "scalar_in",
                layout: format!(".{}", reg.ty),
                with: dtype.to_string(),
                accepted: "registers as large as the dtype: f64, f32, f16, bf16, s64, u64, s32 or u32",
            });
        }
        Ok(self.leaf(reg, self.depth(), dtype))
    }

    /// An integer as an index expression with the range of its dtype. A u64 is claimed to be below 2^63, which the simulator checks.
    /// A caller that knows a smaller range declares it for the register of [`Builder::scalar`] by [`Builder::var`].
    ///
    /// # Errors
    /// As [`Builder::scalar`]; [`Error::Mismatch`] for a float.
    #[track_caller]
    pub fn index_of(&mut self, scalar: &Scalar) -> Result<Expr, Error> {
        let (lower, upper) = match scalar.dtype() {
            DType::S64 => (i64::MIN, i64::MAX),
            DType::U64 => (0, i64::MAX),
            DType::S32 => (i32::MIN.into(), i32::MAX.into()),
            DType::U32 => (0, u32::MAX.into()),
            other => {
                return Err(Error::Mismatch {
                    what: "index_of",
                    layout: other.to_string(),
                    with: String::from("an index"),
                    accepted: "s64, u64, s32 and u32",
                });
            }
        };
        let (reg, depth) = self.on_behalf(Location::caller(), |b| b.scalar_reg(scalar))?;
        if scalar.dtype() == DType::U64 {
            self.claim(depth, &reg, (lower, upper, 1));
        }
        Ok(self.var_at(&reg, depth, lower, upper, 1))
    }

    /// A register as a scalar of the scope at `depth`.
    pub(super) fn leaf(&mut self, reg: &Reg, depth: usize, dtype: DType) -> Scalar {
        Scalar::register(dtype, self.declare_var(reg, depth))
    }

    /// The depth of the scope that has a scalar that has been computed.
    pub(super) fn scalar_depth(&self, scalar: &Scalar) -> usize {
        match scalar.op() {
            Op::Constant(_) => 0,
            Op::Register(id) => self.vars[id.index as usize].depth,
            Op::Index(expr) => self.expr_depth(expr),
            Op::Convert(rounding, x) if lower::convert(x.dtype(), scalar.dtype(), *rounding).is_none() => {
                self.scalar_depth(x)
            }
            _ => self.scopes.iter().position(|scope| scope.scalars.contains_key(scalar)).unwrap_or(CLOSED),
        }
    }

    /// An operand for a scalar: an immediate for a constant, except for a float of 16 bits, which PTX takes from registers.
    #[track_caller]
    pub(super) fn scalar_operand(&mut self, scalar: &Scalar) -> Result<Placed, Error> {
        match scalar.op() {
            Op::Constant(bits) if scalar.dtype().bits() > 16 => {
                Ok((lower::immediate(scalar.dtype(), *bits), 0))
            }
            _ => self.scalar_reg(scalar).map(|(reg, depth)| (Operand::from(&reg), depth)),
        }
    }

    #[track_caller]
    pub(super) fn scalar_reg(&mut self, scalar: &Scalar) -> Result<(Reg, usize), Error> {
        if let Some(fault) = scalar.faulty() {
            let (site, what, accepted) = (Site::from(fault.site), fault.what.clone(), fault.accepted.clone());
            return Err(Error::Scalar { site, what, accepted });
        }
        if !matches!(scalar.span().home, Home::Nowhere) && scalar.span().home != Home::Builder(self.id) {
            return Err(Error::OtherBuilder { kernel: self.name.to_string() });
        }
        match scalar.op() {
            Op::Register(id) => return self.leaf_reg(*id),
            // The register is that of `x`, which may be written later, so that it is not remembered.
            Op::Convert(rounding, x) if lower::convert(x.dtype(), scalar.dtype(), *rounding).is_none() => {
                return self.scalar_reg(x);
            }
            Op::Index(expr) => {
                let width = if scalar.dtype().bits() == 64 { Width::W64 } else { Width::W32 };
                let reg = self.value(expr, width)?;
                return Ok((reg, self.expr_depth(expr)));
            }
            _ => {}
        }
        let known =
            |(depth, scope): (usize, &super::Scope)| Some((scope.scalars.get(scalar)?.clone(), depth));
        if let Some(found) = self.scopes.iter().enumerate().find_map(known) {
            return Ok(found);
        }
        let (reg, depth) = self.computed_scalar(scalar)?;
        self.keep(&reg);
        self.scopes[depth].scalars.insert(scalar.clone(), reg.clone());
        Ok((reg, depth))
    }

    pub(super) fn leaf_reg(&mut self, id: VarId) -> Result<(Reg, usize), Error> {
        let now = self.tick();
        let var = &mut self.vars[id.index as usize];
        let expr = var.reg.name.to_string();
        if var.depth == CLOSED {
            return Err(Error::OutOfScope { expr });
        }
        if var.stale {
            return Err(Error::Stale { expr });
        }
        var.used = now;
        Ok((var.reg.clone(), var.depth))
    }

    /// Writes the instruction of a scalar's outermost operation.
    #[track_caller]
    fn computed_scalar(&mut self, scalar: &Scalar) -> Result<(Reg, usize), Error> {
        let dtype = scalar.dtype();
        if let Some(wide) = lower::in_f32(scalar) {
            return self.scalar_reg(&wide);
        }
        let (opcode, modifiers, operands) = match scalar.op() {
            Op::Unary(op, x) => {
                let (opcode, modifiers) = lower::unary(*op, x.dtype());
                (opcode, modifiers, vec![self.scalar_operand(x)?])
            }
            Op::Binary(op, x, y) => {
                let (opcode, modifiers) = lower::binary(*op, dtype);
                (opcode, modifiers, vec![self.scalar_operand(x)?, self.scalar_operand(y)?])
            }
            Op::MulAdd(x, y, z) | Op::MulAddToZero(x, y, z) => {
                let to_zero = matches!(scalar.op(), Op::MulAddToZero(..));
                let (opcode, modifiers) = lower::mul_add(dtype, to_zero);
                let operands = [x, y, z].map(|operand| self.scalar_operand(operand));
                (opcode, modifiers, operands.into_iter().collect::<Result<_, Error>>()?)
            }
            Op::Select(cond, x, y) => {
                let mut operands = vec![self.scalar_operand(x)?, self.scalar_operand(y)?];
                let cond_reg = self.cond(cond)?;
                operands.push((Operand::from(&cond_reg), self.cond_depth(cond)));
                (Opcode::Selp, vec![lower::moved(lower::register(dtype)).into()], operands)
            }
            Op::Convert(rounding, x) => return self.converted(x, dtype, *rounding),
            Op::Constant(bits) => (
                Opcode::Mov,
                vec![lower::moved(lower::register(dtype)).into()],
                vec![(lower::immediate(dtype, *bits), 0)],
            ),
            Op::Half(id, upper) => return self.half(*id, dtype, *upper),
            Op::Register(_) | Op::Index(_) | Op::Faulty => return self.scalar_reg(scalar),
        };
        let depth = operands.iter().map(|(_, depth)| *depth).max().unwrap_or(0);
        let operands = operands.into_iter().map(|(operand, _)| operand).collect();
        Ok((self.emit(depth, opcode, &modifiers, lower::register(dtype), operands), depth))
    }

    /// A half of the value that a register holds; the other half is extracted with it.
    fn half(&mut self, id: VarId, dtype: DType, upper: bool) -> Result<(Reg, usize), Error> {
        let (pair, depth) = self.leaf_reg(id)?;
        let halves = [false, true].map(|upper| (upper, self.reg(Type::B16)));
        let target = vector(halves.iter().map(|(_, reg)| reg));
        self.inst_at(depth, Opcode::Mov, &[Type::B32.into()], vec![target, Operand::from(&pair)]);
        let [low, high] = halves;
        let (own, (of_other, other)) = if upper { (high.1, low) } else { (low.1, high) };
        self.keep(&other);
        self.scopes[depth].scalars.insert(Scalar::half(dtype, id, of_other), other);
        Ok((own, depth))
    }

    #[track_caller]
    fn converted(&mut self, x: &Scalar, to: DType, rounding: Rounding) -> Result<(Reg, usize), Error> {
        let from = x.dtype();
        if from == DType::Bf16 {
            if to != DType::F32 {
                return self.scalar_reg(&x.to(DType::F32).rounded_to(to, rounding));
            }
            // A bf16 is the upper half of an f32.
            let (reg, depth) = self.scalar_reg(x)?;
            let zero = self.emit(depth, Opcode::Mov, &[Type::B16.into()], Type::B16, vec![Operand::Int(0)]);
            let halves = vector([&zero, &reg]);
            return Ok((self.emit(depth, Opcode::Mov, &[Type::B32.into()], Type::F32, vec![halves]), depth));
        }
        if (from, to) == (DType::F16, DType::Bf16) {
            return self.scalar_reg(&x.to(DType::F32).to(to));
        }
        let (reg, depth) = self.scalar_reg(x)?;
        let modifiers = lower::convert(from, to, rounding).unwrap_or_default();
        let operands = vec![Operand::from(&reg)];
        Ok((self.emit(depth, Opcode::Cvt, &modifiers, lower::register(to), operands), depth))
    }
}
