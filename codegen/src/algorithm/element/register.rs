//! Elements in registers: constants, selections, comparisons, extension.

use girih_ptx::{Opcode, Operand, Type, Word};
use girih_tensor::DType;

use crate::Error;
use crate::builder::{Builder, Cond, Reg};
use crate::scalar::{immediate, register};

/// Modifiers of an instruction: words and types.
macro_rules! m {
    ($($modifier:expr),* $(,)?) => { &[$(girih_ptx::Modifier::from($modifier)),*] };
}
pub(crate) use m;

/// Registers as operands.
pub fn of<const N: usize>(regs: [&Reg; N]) -> Vec<Operand> {
    regs.into_iter().map(Operand::from).collect()
}

/// The type as which registers of a dtype are moved and selected.
pub fn moved(dtype: DType) -> Type {
    crate::scalar::moved(register(dtype))
}

/// The type of integer instructions on a dtype's registers.
pub fn integer(dtype: DType) -> Type {
    match (dtype.bits() == 64, dtype.is_signed()) {
        (true, true) => Type::S64,
        (true, false) => Type::U64,
        (false, true) => Type::S32,
        (false, false) => Type::U32,
    }
}

/// The type that instructions compute floats of a dtype in.
pub fn float(dtype: DType) -> Type {
    match dtype {
        DType::F64 => Type::F64,
        DType::F16 => Type::F16,
        DType::Bf16 => Type::Bf16,
        _ => Type::F32,
    }
}

/// A register with a constant of a dtype, given as its bits.
///
/// # Errors
/// As [`Builder::cond`].
#[track_caller]
pub fn constant(b: &mut Builder, dtype: DType, bits: u64) -> Result<Reg, Error> {
    if dtype == DType::Bool {
        return b.cond(if bits != 0 { &Cond::Always } else { &Cond::Never });
    }
    let ty = moved(dtype);
    Ok(b.inst_to(register(dtype), Opcode::Mov, m![ty], vec![immediate(dtype, bits)]))
}

/// A copy of a register.
#[track_caller]
pub fn copy(b: &mut Builder, dtype: DType, from: &Reg) -> Reg {
    b.inst_to(register(dtype), Opcode::Mov, m![moved(dtype)], of([from]))
}

/// `cond ? x : y` of registers of a dtype.
#[track_caller]
pub fn selp(b: &mut Builder, dtype: DType, cond: &Reg, x: &Reg, y: &Reg) -> Reg {
    if x == y {
        return x.clone();
    }
    if dtype != DType::Bool {
        return b.inst_to(register(dtype), Opcode::Selp, m![moved(dtype)], of([x, y, cond]));
    }
    let both = b.inst_to(Type::Pred, Opcode::And, m![Type::Pred], of([cond, x]));
    let not = b.inst_to(Type::Pred, Opcode::Not, m![Type::Pred], of([cond]));
    let other = b.inst_to(Type::Pred, Opcode::And, m![Type::Pred], of([&not, y]));
    b.inst_to(Type::Pred, Opcode::Or, m![Type::Pred], of([&both, &other]))
}

/// As [`selp`], by a condition.
///
/// # Errors
/// As [`Builder::cond`].
#[track_caller]
pub fn select(b: &mut Builder, dtype: DType, cond: &Cond, x: &Reg, y: &Reg) -> Result<Reg, Error> {
    match cond {
        Cond::Always => Ok(x.clone()),
        Cond::Never => Ok(y.clone()),
        cond => {
            let cond = b.cond(cond)?;
            Ok(selp(b, dtype, &cond, x, y))
        }
    }
}

/// `x` compared to `y`, by a comparison of `setp`.
#[track_caller]
pub fn setp(b: &mut Builder, word: Word, ty: Type, x: &Reg, y: impl Into<Operand>) -> Reg {
    b.inst_to(Type::Pred, Opcode::Setp, m![word, ty], vec![Operand::from(x), y.into()])
}

/// The integer in a register with the extension that its dtype of 8 or 16 bits asks for.
#[track_caller]
pub fn extended(b: &mut Builder, dtype: DType, reg: &Reg) -> Reg {
    match (register(dtype), dtype.bits()) {
        (Type::S32, 8) => b.inst_to(Type::S32, Opcode::Cvt, m![Type::S32, Type::S8], of([reg])),
        (Type::S32, 16) => b.inst_to(Type::S32, Opcode::Cvt, m![Type::S32, Type::S16], of([reg])),
        (Type::U32, bits @ (8 | 16)) => {
            let mask = vec![Operand::from(reg), Operand::Int((1 << bits) - 1)];
            b.inst_to(Type::U32, Opcode::And, m![Type::B32], mask)
        }
        _ => reg.clone(),
    }
}
