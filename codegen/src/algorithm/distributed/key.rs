//! Integer keys that order elements, and the wider dtypes in which elements are combined.

use girih_ptx::{Opcode, Operand, Type, Word};
use girih_tensor::DType;

use crate::Error;
use crate::algorithm::element::{Rounding, convert_element, extended, moved, of, setp};
use crate::builder::{Builder, Reg};
use crate::scalar::{immediate, register};

/// The dtype in which elements are combined: integers below 32 bits in 32, f16 and bf16 in f32, bool as a number.
pub(super) fn wide(dtype: DType) -> DType {
    match dtype {
        DType::F16 | DType::Bf16 | DType::Tf32 => DType::F32,
        DType::S8 | DType::S16 => DType::S32,
        DType::U8 | DType::U16 | DType::Bool => DType::U32,
        same => same,
    }
}

/// Where NaN is in an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NanAt {
    /// Before everything.
    First,
    /// Behind everything.
    Last,
}

/// The dtype of a [`key`].
pub(super) fn key_dtype(dtype: DType) -> DType {
    if dtype.bits() == 64 { DType::S64 } else { DType::S32 }
}

/// The least number of a key, and the greatest.
pub(super) fn key_range(dtype: DType) -> (i64, i64) {
    if dtype.bits() == 64 { (i64::MIN, i64::MAX) } else { (i32::MIN.into(), i32::MAX.into()) }
}

/// Whether an integer's key has its highest bit the other way round.
fn turns(dtype: DType) -> bool {
    !dtype.is_signed() && dtype.bits() >= 32
}

/// The untyped type of a register's size.
fn bits_of(ty: Type) -> Type {
    if ty.bytes() == Some(8) { Type::B64 } else { Type::B32 }
}

/// An element in its [`wide`] dtype.
pub(super) fn widened(b: &mut Builder, dtype: DType, value: &Reg) -> Result<Reg, Error> {
    match dtype {
        DType::F16 | DType::Bf16 => convert_element(b, dtype, DType::F32, Rounding::Nearest, value),
        DType::Bool => {
            let operands = vec![Operand::Int(1), Operand::Int(0), Operand::from(value)];
            Ok(b.inst_to(Type::U32, Opcode::Selp, &[Type::U32.into()], operands))
        }
        _ => Ok(value.clone()),
    }
}

/// An element of a dtype from its [`wide`] one: floats are rounded, integers wrap.
pub(super) fn narrowed(b: &mut Builder, dtype: DType, value: &Reg) -> Result<Reg, Error> {
    match dtype {
        DType::F16 | DType::Bf16 => convert_element(b, DType::F32, dtype, Rounding::Nearest, value),
        DType::Bool => Ok(setp(b, Word::Ne, Type::U32, value, Operand::Int(0))),
        _ => Ok(extended(b, dtype, value)),
    }
}

/// A signed integer that is the smaller the earlier the element comes: the least first, or the greatest first. -0 equals 0.
pub(super) fn key(
    b: &mut Builder,
    dtype: DType,
    value: &Reg,
    greatest_first: bool,
    nan: NanAt,
) -> Result<Reg, Error> {
    let of_dtype = wide(dtype);
    let ty = register(key_dtype(dtype));
    let raw = bits_of(ty);
    let (least, most) = key_range(dtype);
    let value = widened(b, dtype, value)?;
    let mut rank = value.clone();
    if of_dtype.is_float() {
        let float = register(of_dtype);
        // -0 + 0 is 0.
        let operands = vec![Operand::from(&value), immediate(of_dtype, 0)];
        let plain = b.inst_to(float, Opcode::Add, &[Word::Rn.into(), float.into()], operands);
        let bits = b.inst_to(ty, Opcode::Mov, &[raw.into()], of([&plain]));
        let shift = Operand::Int(i64::from(of_dtype.bits()) - 1);
        let sign = b.inst_to(ty, Opcode::Shr, &[ty.into()], vec![Operand::from(&bits), shift]);
        // The bits below the sign are the other way round in negative numbers.
        let turn = b.inst_to(ty, Opcode::And, &[raw.into()], vec![Operand::from(&sign), Operand::Int(most)]);
        rank = b.inst_to(ty, Opcode::Xor, &[raw.into()], of([&bits, &turn]));
    } else if turns(of_dtype) {
        rank = b.inst_to(ty, Opcode::Xor, &[raw.into()], vec![Operand::from(&rank), Operand::Int(least)]);
    }
    if greatest_first {
        rank = b.inst_to(ty, Opcode::Not, &[raw.into()], of([&rank]));
    }
    if !of_dtype.is_float() {
        return Ok(rank);
    }
    let is_nan = setp(b, Word::IsNan, register(of_dtype), &value, &value);
    let of_nan = Operand::Int(if nan == NanAt::First { least } else { most });
    let choice = vec![of_nan, Operand::from(&rank), Operand::from(&is_nan)];
    Ok(b.inst_to(ty, Opcode::Selp, &[raw.into()], choice))
}

/// The integer or the truth value of a dtype from its [`key`].
pub(super) fn of_key(b: &mut Builder, dtype: DType, key: &Reg, greatest_first: bool) -> Reg {
    let ty = register(wide(dtype));
    let raw = moved(wide(dtype));
    let mut value = key.clone();
    if greatest_first {
        value = b.inst_to(ty, Opcode::Not, &[raw.into()], of([&value]));
    }
    if turns(wide(dtype)) {
        let operands = vec![Operand::from(&value), Operand::Int(key_range(dtype).0)];
        value = b.inst_to(ty, Opcode::Xor, &[raw.into()], operands);
    }
    if dtype == DType::Bool { setp(b, Word::Ne, Type::U32, &value, Operand::Int(0)) } else { value }
}
