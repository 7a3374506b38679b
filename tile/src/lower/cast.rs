//! Conversions between dtypes.

use girih_codegen::Reg;
use girih_codegen::algorithm::{byte_to_f16, f32_to_byte, f32_to_tf32};
use girih_ptx::{Opcode, Operand, Type, Word};
use girih_tensor::DType;

use super::each::{direction, float};
use super::words::{Words, immediate, integer, m, of};
use super::{Held, Lowering, register, unfit};
use crate::dtype::{Category, category, is_integer, is_signed};
use crate::error::Result;
use crate::ir::{Op, Rounding};

impl Lowering<'_> {
    /// Lowers [`Kind::Cast`](crate::ir::Kind::Cast).
    pub(crate) fn cast(&mut self, op: &Op, rounding: Rounding) -> Result {
        let (source, result) = (op.operands[0], op.results[0]);
        let (from, to) = (self.plan.func.ty(source).dtype, self.plan.func.ty(result));
        if to.dims.rank() == 0
            && let Some(expr) = self.scalar_cast(source, to.dtype)
        {
            self.hold(result, Held::Index(expr));
            return Ok(());
        }
        let regs = self.regs(source)?;
        let mut converted: Vec<Reg> = Vec::with_capacity(regs.len());
        let pairs = from == DType::F32
            && matches!(to.dtype, DType::F16 | DType::Bf16)
            && matches!(rounding, Rounding::Nearest | Rounding::Zero);
        for (i, reg) in regs.iter().enumerate() {
            if converted.len() > i {
                continue;
            }
            if let Some(next) = regs.get(i + 1).filter(|next| pairs && *next != reg) {
                converted.extend(self.halves_of(to.dtype, rounding, reg, next));
                continue;
            }
            let same = i > 0 && regs[i - 1] == *reg;
            let value =
                if same { converted[i - 1].clone() } else { self.convert_to(from, to.dtype, rounding, reg)? };
            converted.push(value);
        }
        self.hold_regs(result, converted)
    }

    /// Two f32 as floats of 16 bits, by one instruction.
    fn halves_of(&mut self, to: DType, rounding: Rounding, low: &Reg, high: &Reg) -> [Reg; 2] {
        let pair = if to == DType::F16 { Type::F16x2 } else { Type::Bf16x2 };
        // The first source goes to the upper half.
        let words = m![direction(rounding), pair, Type::F32];
        let both = self.make(Type::B32, Opcode::Cvt, words, of([high, low]));
        let halves = self.b.split(Type::B16, &both);
        self.note_pair([&halves[0], &halves[1]], &both);
        halves
    }

    /// Lowers [`Kind::Bitcast`](crate::ir::Kind::Bitcast).
    pub(crate) fn bitcast(&mut self, op: &Op) -> Result {
        let (source, result) = (op.operands[0], op.results[0]);
        let (from, to) = (self.plan.func.ty(source).dtype, self.plan.func.ty(result).dtype);
        let regs = self.regs(source)?;
        let regs = regs.iter().map(|reg| self.recast(from, to, reg)).collect();
        self.hold_regs(result, regs)
    }
}

impl Words<'_> {
    /// A register with the bits of another dtype that is as wide.
    pub(crate) fn recast(&mut self, from: DType, to: DType, reg: &Reg) -> Reg {
        let (old, new) = (register(from), register(to));
        match (old, new) {
            (Type::B16, Type::B16) => reg.clone(),
            (Type::B16, _) => {
                let ty = if is_signed(to) { Type::S16 } else { Type::U16 };
                self.make(new, Opcode::Cvt, m![new, ty], of([reg]))
            }
            (_, Type::B16) => self.make(new, Opcode::Cvt, m![Type::U16, Type::U32], of([reg])),
            _ if old == new && (from.bits() == 32 || is_signed(from) == is_signed(to)) => reg.clone(),
            _ if from.bits() < 32 => self.extended(to, reg),
            _ => {
                let bits = if to.bits() == 64 { Type::B64 } else { Type::B32 };
                self.make(new, Opcode::Mov, m![bits], of([reg]))
            }
        }
    }

    /// An element of a dtype as one of another.
    pub(crate) fn convert_to(
        &mut self,
        from: DType,
        to: DType,
        rounding: Rounding,
        reg: &Reg,
    ) -> Result<Reg> {
        if from == to {
            return Ok(reg.clone());
        }
        match (category(from), category(to)) {
            (_, Category::Bool) => self.truth(from, reg),
            (Category::Bool, _) => {
                let one = crate::dtype::number::encode(to, crate::dtype::Const::Int(1));
                let (one, zero) = (self.bits(to, one)?, self.bits(to, 0)?);
                Ok(self.selp(to, reg, &one, &zero))
            }
            (Category::Integer, Category::Integer) => Ok(self.convert_integer(from, to, reg)),
            (Category::Integer, Category::Float) => self.cast_from_integer(from, to, rounding, reg),
            (Category::Float, Category::Integer) => Ok(self.cast_to_integer(from, to, reg)),
            (Category::Float, Category::Float) => self.convert_float(from, to, rounding, reg),
        }
    }

    fn truth(&mut self, from: DType, reg: &Reg) -> Result<Reg> {
        if is_integer(from) {
            return Ok(self.setp(Word::Ne, integer(from), reg, Operand::Int(0)));
        }
        let (dtype, reg) = match from {
            DType::F64 | DType::F32 | DType::Tf32 => (from, reg.clone()),
            _ => (DType::F32, self.widened(from, reg)),
        };
        Ok(self.setp(Word::Neu, float(dtype), &reg, immediate(dtype, 0)))
    }

    fn convert_integer(&mut self, from: DType, to: DType, reg: &Reg) -> Reg {
        let (old, new) = (integer(from), integer(to));
        let value = match (from.bits() == 64, to.bits() == 64) {
            (true, false) => self.make(new, Opcode::Cvt, m![Type::U32, Type::U64], of([reg])),
            (false, true) => {
                let wide = if is_signed(from) { Type::S64 } else { Type::U64 };
                return self.make(new, Opcode::Cvt, m![wide, old], of([reg]));
            }
            (true, true) => return self.make(new, Opcode::Mov, m![Type::B64], of([reg])),
            (false, false) => reg.clone(),
        };
        let kept = from.bits() < to.bits() && !is_signed(from)
            || from.bits() < to.bits() && is_signed(from) && is_signed(to);
        if kept || to.bits() == 32 { value } else { self.extended(to, &value) }
    }

    fn cast_from_integer(&mut self, from: DType, to: DType, rounding: Rounding, reg: &Reg) -> Result<Reg> {
        let source = integer(from);
        let word = direction(rounding);
        match to {
            DType::F64 | DType::F32 | DType::F16 => {
                Ok(self.make(register(to), Opcode::Cvt, m![word, float(to), source], of([reg])))
            }
            // Numbers of up to 24 bits are f32 numbers.
            _ if from.bits() <= 16 => {
                let exact = self.make(Type::F32, Opcode::Cvt, m![Word::Rn, Type::F32, source], of([reg]));
                self.convert_float(DType::F32, to, rounding, &exact)
            }
            _ => {
                let cut = self.make(Type::F32, Opcode::Cvt, m![Word::Rz, Type::F32, source], of([reg]));
                // The number is cut, so that it is in the integer's range.
                let back = self.make(source, Opcode::Cvt, m![Word::Rzi, source, Type::F32], of([&cut]));
                let inexact = self.setp(Word::Ne, source, &back, Operand::from(reg));
                let odd = self.sticky(&cut, &inexact);
                self.convert_float(DType::F32, to, rounding, &odd)
            }
        }
    }

    /// The f32 with its lowest bit set where something was cut off: rounding to fewer bits then is as if nothing had been.
    fn sticky(&mut self, cut: &Reg, inexact: &Reg) -> Reg {
        let odd = self.make(Type::F32, Opcode::Or, m![Type::B32], vec![Operand::from(cut), Operand::Int(1)]);
        self.selp(DType::F32, inexact, &odd, cut)
    }

    fn cast_to_integer(&mut self, from: DType, to: DType, reg: &Reg) -> Reg {
        let (source, reg) = match from {
            DType::F64 | DType::F32 | DType::F16 => (from, reg.clone()),
            _ => (DType::F32, self.widened(from, reg)),
        };
        let ty = match (to.bits(), is_signed(to)) {
            (8, true) => Type::S8,
            (8, false) => Type::U8,
            (16, true) => Type::S16,
            (16, false) => Type::U16,
            _ => integer(to),
        };
        let value = self.make(register(to), Opcode::Cvt, m![Word::Rzi, ty, float(source)], of([&reg]));
        if to.bits() == 64 || source == DType::F64 {
            // Among 32 bits NaN becomes 0 by itself.
            let nan = self.setp(Word::IsNan, float(source), &reg, Operand::from(&reg));
            let zero =
                self.make(register(to), Opcode::Mov, m![super::words::moved(to)], vec![Operand::Int(0)]);
            let value = self.selp(to, &nan, &zero, &value);
            return self.extended(to, &value);
        }
        self.extended(to, &value)
    }

    /// A float of at most 32 bits as an f32, exactly.
    pub(crate) fn widened(&mut self, from: DType, reg: &Reg) -> Reg {
        match from {
            DType::F16 => self.make(Type::F32, Opcode::Cvt, m![Type::F32, Type::F16], of([reg])),
            DType::Bf16 => {
                // A bf16 is the upper half of an f32.
                let zero = self.make(Type::B16, Opcode::Mov, m![Type::B16], vec![Operand::Int(0)]);
                self.b.join(Type::F32, [&zero, reg])
            }
            DType::E4m3 | DType::E5m2 => {
                let half = byte_to_f16(self.b, from, reg);
                self.make(Type::F32, Opcode::Cvt, m![Type::F32, Type::F16], of([&half]))
            }
            _ => reg.clone(),
        }
    }

    /// A float as another one.
    pub(crate) fn convert_float(
        &mut self,
        from: DType,
        to: DType,
        rounding: Rounding,
        reg: &Reg,
    ) -> Result<Reg> {
        let word = match rounding {
            Rounding::Full | Rounding::Approx => Word::Rn,
            direct => direction(direct),
        };
        let refused = || {
            let message =
                format!("{from} to {to} rounded {rounding:?} has no instruction on sm_{}", self.b.sm());
            Err(unfit(message))
        };
        if to == DType::F64 {
            return Ok(match from {
                DType::F32 | DType::F16 | DType::Tf32 => {
                    self.make(Type::F64, Opcode::Cvt, m![Type::F64, float(from)], of([reg]))
                }
                _ => {
                    let wide = self.widened(from, reg);
                    self.make(Type::F64, Opcode::Cvt, m![Type::F64, Type::F32], of([&wide]))
                }
            });
        }
        if from == DType::F64 {
            if matches!(to, DType::F32 | DType::F16) {
                return Ok(self.make(register(to), Opcode::Cvt, m![word, float(to), Type::F64], of([reg])));
            }
            let cut = self.make(Type::F32, Opcode::Cvt, m![Word::Rz, Type::F32, Type::F64], of([reg]));
            let back = self.make(Type::F64, Opcode::Cvt, m![Type::F64, Type::F32], of([&cut]));
            // Ordered, since NaN needs no bit; a number beyond f32 was cut to the greatest one.
            let inexact = self.setp(Word::Ne, Type::F64, &back, Operand::from(reg));
            let odd = self.sticky(&cut, &inexact);
            return self.convert_float(DType::F32, to, rounding, &odd);
        }
        if !matches!(from, DType::F32 | DType::Tf32) {
            let wide = self.widened(from, reg);
            return self.convert_float(DType::F32, to, rounding, &wide);
        }
        match to {
            DType::F32 => Ok(reg.clone()),
            DType::F16 | DType::Bf16 => {
                Ok(self.make(Type::B16, Opcode::Cvt, m![word, float(to), Type::F32], of([reg])))
            }
            DType::Tf32 if from == DType::Tf32 => Ok(reg.clone()),
            DType::Tf32 if rounding == Rounding::Nearest => Ok(f32_to_tf32(self.b, reg)),
            DType::E4m3 | DType::E5m2 if rounding == Rounding::Nearest => Ok(f32_to_byte(self.b, to, reg)),
            _ => refused(),
        }
    }
}
