//! Single instructions on registers, by the dtype that they compute in. They take a builder alone, so that kernels that are no placed
//! programs compute functions of elements with the same instructions.

use girih_codegen::{Builder, Cond, Reg};
use girih_ptx::{Modifier, Opcode, Operand, Type, Word};
use girih_tensor::DType;

use super::each::How;
use super::{Lowering, register};
use crate::dtype::is_signed;
use crate::error::Result;
use crate::ir::Rounding;
use crate::ir::table::Each;

/// Modifiers of an instruction: words and types.
macro_rules! m {
    ($($modifier:expr),* $(,)?) => { &[$(girih_ptx::Modifier::from($modifier)),*] };
}
pub(crate) use girih_codegen::scalar::immediate;
pub(crate) use m;

/// The type as which registers of a dtype are moved and selected.
pub(crate) fn moved(dtype: DType) -> Type {
    girih_codegen::scalar::moved(register(dtype))
}

/// The type of integer instructions on a dtype's registers.
pub(crate) fn integer(dtype: DType) -> Type {
    match (dtype.bits() == 64, is_signed(dtype)) {
        (true, true) => Type::S64,
        (true, false) => Type::U64,
        (false, true) => Type::S32,
        (false, false) => Type::U32,
    }
}

/// Registers as operands.
pub(crate) fn of<const N: usize>(regs: [&Reg; N]) -> Vec<Operand> {
    regs.into_iter().map(Operand::from).collect()
}

/// Writes instructions on elements in registers.
pub(crate) struct Words<'b> {
    /// The builder of the kernel.
    pub(crate) b: &'b mut Builder,
}

/// What [`Words`] writes, under the same names.
macro_rules! forward {
    ($($(#[$doc:meta])* $name:ident($($arg:ident: $ty:ty),*) -> $result:ty;)*) => {
        impl Lowering<'_> {
            $(
                $(#[$doc])*
                pub(crate) fn $name(&mut self, $($arg: $ty),*) -> $result {
                    Words { b: &mut self.b }.$name($($arg),*)
                }
            )*
        }
    };
}
forward! {
    /// An instruction with one result of a type.
    make(ty: Type, opcode: Opcode, modifiers: &[Modifier], inputs: Vec<Operand>) -> Reg;
    /// A register with a constant of a dtype, given as its bits.
    bits(dtype: DType, bits: u64) -> Result<Reg>;
    /// A copy of a register.
    copy(dtype: DType, from: &Reg) -> Reg;
    /// `cond ? a : b`, of any dtype.
    selp(dtype: DType, cond: &Reg, a: &Reg, b: &Reg) -> Reg;
    /// [`Lowering::selp`] by a condition.
    select(dtype: DType, cond: &Cond, a: &Reg, b: &Reg) -> Result<Reg>;
    /// `a` compared to `b`.
    setp(word: Word, ty: Type, a: &Reg, b: impl Into<Operand>) -> Reg;
    /// The integer in a register with the extension that its dtype of 8 or 16 bits asks for.
    extended(dtype: DType, reg: &Reg) -> Reg;
    /// The register of a function's value for operands of a dtype; none where no instruction has it.
    apply(op: Each, how: How, dtype: DType, args: &[&Reg]) -> Result<Option<Reg>>;
    /// An element of a dtype as one of another.
    convert_to(from: DType, to: DType, rounding: Rounding, reg: &Reg) -> Result<Reg>;
    /// A register with the bits of another dtype that is as wide.
    recast(from: DType, to: DType, reg: &Reg) -> Reg;
}

impl Words<'_> {
    /// An instruction with one result of a type.
    pub(crate) fn make(
        &mut self,
        ty: Type,
        opcode: Opcode,
        modifiers: &[Modifier],
        inputs: Vec<Operand>,
    ) -> Reg {
        self.b.inst_to(ty, opcode, modifiers, inputs)
    }

    /// A register with a constant of a dtype, given as its bits.
    pub(crate) fn bits(&mut self, dtype: DType, bits: u64) -> Result<Reg> {
        if dtype == DType::Bool {
            return Ok(self.b.cond(if bits != 0 { &Cond::Always } else { &Cond::Never })?);
        }
        let ty = moved(dtype);
        Ok(self.make(register(dtype), Opcode::Mov, m![ty], vec![immediate(dtype, bits)]))
    }

    /// A copy of a register.
    pub(crate) fn copy(&mut self, dtype: DType, from: &Reg) -> Reg {
        self.make(register(dtype), Opcode::Mov, m![moved(dtype)], of([from]))
    }

    /// `cond ? a : b`, of any dtype.
    pub(crate) fn selp(&mut self, dtype: DType, cond: &Reg, a: &Reg, b: &Reg) -> Reg {
        if a == b {
            return a.clone();
        }
        if dtype != DType::Bool {
            return self.make(register(dtype), Opcode::Selp, m![moved(dtype)], of([a, b, cond]));
        }
        let both = self.make(Type::Pred, Opcode::And, m![Type::Pred], of([cond, a]));
        let not = self.make(Type::Pred, Opcode::Not, m![Type::Pred], of([cond]));
        let other = self.make(Type::Pred, Opcode::And, m![Type::Pred], of([&not, b]));
        self.make(Type::Pred, Opcode::Or, m![Type::Pred], of([&both, &other]))
    }

    /// [`Lowering::selp`] by a condition.
    pub(crate) fn select(&mut self, dtype: DType, cond: &Cond, a: &Reg, b: &Reg) -> Result<Reg> {
        match cond {
            Cond::Always => Ok(a.clone()),
            Cond::Never => Ok(b.clone()),
            cond => {
                let cond = self.b.cond(cond)?;
                Ok(self.selp(dtype, &cond, a, b))
            }
        }
    }

    /// `a` compared to `b`.
    pub(crate) fn setp(&mut self, word: Word, ty: Type, a: &Reg, b: impl Into<Operand>) -> Reg {
        self.make(Type::Pred, Opcode::Setp, m![word, ty], vec![Operand::from(a), b.into()])
    }

    /// The integer in a register with the extension that its dtype of 8 or 16 bits asks for.
    pub(crate) fn extended(&mut self, dtype: DType, reg: &Reg) -> Reg {
        match (register(dtype), dtype.bits()) {
            (Type::S32, 8) => self.make(Type::S32, Opcode::Cvt, m![Type::S32, Type::S8], of([reg])),
            (Type::S32, 16) => self.make(Type::S32, Opcode::Cvt, m![Type::S32, Type::S16], of([reg])),
            (Type::U32, bits @ (8 | 16)) => self.masked(reg, (1 << bits) - 1),
            _ => reg.clone(),
        }
    }

    fn masked(&mut self, reg: &Reg, mask: i64) -> Reg {
        self.make(Type::U32, Opcode::And, m![Type::B32], vec![Operand::from(reg), Operand::Int(mask)])
    }
}
