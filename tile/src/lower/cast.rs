//! Conversions between dtypes.

use girih_codegen::Reg;
use girih_codegen::algorithm::element::{convert_element, recast};
use girih_ptx::{Opcode, Type};
use girih_tensor::DType;

use super::words::{m, of};
use super::{Held, Lowering};
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
            let value = if same {
                converted[i - 1].clone()
            } else {
                convert_element(&mut self.b, from, to.dtype, rounding, reg)?
            };
            converted.push(value);
        }
        self.hold_regs(result, converted)
    }

    /// Two f32 as floats of 16 bits, by one instruction.
    fn halves_of(&mut self, to: DType, rounding: Rounding, low: &Reg, high: &Reg) -> [Reg; 2] {
        let pair = if to == DType::F16 { Type::F16x2 } else { Type::Bf16x2 };
        // The first source goes to the upper half.
        let words = m![rounding.word(), pair, Type::F32];
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
        let regs = regs.iter().map(|reg| recast(&mut self.b, from, to, reg)).collect();
        self.hold_regs(result, regs)
    }
}
