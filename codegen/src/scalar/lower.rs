//! The PTX instructions for the operations on each dtype.

use girih_ptx::{Modifier, Opcode, Operand, Type, Word};
use girih_tensor::DType;

use super::ops::is_float;
use super::{Binary, Op, Rounding, Scalar, Unary};

/// The type that instructions compute in.
pub(crate) fn ty(dtype: DType) -> Type {
    match dtype {
        DType::F64 => Type::F64,
        DType::F16 => Type::F16,
        DType::Bf16 => Type::Bf16,
        DType::S64 => Type::S64,
        DType::U64 => Type::U64,
        DType::S32 => Type::S32,
        DType::U32 => Type::U32,
        _ => Type::F32,
    }
}

/// The type of the register that holds one value of a dtype: integers below 32 bits are extended to 32, and floats of 8 bits are
/// their bits.
pub fn register(dtype: DType) -> Type {
    match dtype {
        DType::Bool => Type::Pred,
        DType::F64 => Type::F64,
        DType::F32 | DType::Tf32 => Type::F32,
        DType::F16 | DType::Bf16 => Type::B16,
        DType::S64 => Type::S64,
        DType::U64 => Type::U64,
        _ if dtype.is_signed() => Type::S32,
        _ => Type::U32,
    }
}

/// The dtype in which a value is computed: integers below 32 bits are extended to 32, and floats of 8 bits are their bits.
pub fn computed(dtype: DType) -> DType {
    match dtype {
        DType::Tf32 => DType::F32,
        DType::F16 | DType::Bf16 => dtype,
        _ if dtype.bits() >= 32 => dtype,
        _ if dtype.is_signed() => DType::S32,
        _ => DType::U32,
    }
}

/// As bits.
pub(crate) fn bits(dtype: DType) -> Type {
    match dtype.bits() {
        64 => Type::B64,
        16 => Type::B16,
        _ => Type::B32,
    }
}

/// The type as which registers of a type are moved and selected.
pub fn moved(ty: Type) -> Type {
    match ty {
        Type::Pred | Type::F32 | Type::F64 => ty,
        _ => match ty.bytes() {
            Some(8) => Type::B64,
            Some(4) => Type::B32,
            _ => Type::B16,
        },
    }
}

/// The bits of a value of a dtype as an operand.
pub fn immediate(dtype: DType, bits: u64) -> Operand {
    match dtype {
        DType::F64 => Operand::F64(bits),
        DType::F32 | DType::Tf32 => Operand::F32(bits as u32),
        DType::S8 => Operand::Int(i64::from(bits as i8)),
        DType::S16 => Operand::Int(i64::from(bits as i16)),
        DType::S32 => Operand::Int(i64::from(bits as i32)),
        _ => Operand::Int(bits as i64),
    }
}

fn signed(dtype: DType) -> Type {
    match dtype {
        DType::S64 | DType::U64 => Type::S64,
        DType::S32 | DType::U32 => Type::S32,
        float => ty(float),
    }
}

/// The same scalar computed in f32, for operations that have no instruction for floats of 16 bits.
pub(crate) fn in_f32(scalar: &Scalar) -> Option<Scalar> {
    let dtype = scalar.dtype();
    if !matches!(dtype, DType::F16 | DType::Bf16) {
        return None;
    }
    let wide = |operand: &Scalar| operand.to(DType::F32);
    match scalar.op() {
        Op::Unary(Unary::Neg | Unary::Abs, _) => None,
        Op::Unary(op, x) => Some(wide(x).unary(*op).to(dtype)),
        Op::Binary(Binary::Min | Binary::Max | Binary::Minimum | Binary::Maximum, ..) => None,
        Op::Binary(Binary::Add | Binary::Sub | Binary::Mul, ..) if dtype == DType::F16 => None,
        Op::Binary(op, x, y) => Some(wide(x).binary(*op, wide(y)).to(dtype)),
        _ => None,
    }
}

/// The instruction of an operation on one scalar.
pub(crate) fn unary(op: Unary, dtype: DType) -> (Opcode, Vec<Modifier>) {
    let (ty, approx) = (ty(dtype), Modifier::from(Word::Approx));
    match op {
        Unary::Neg => (Opcode::Neg, vec![signed(dtype).into()]),
        Unary::Abs => (Opcode::Abs, vec![signed(dtype).into()]),
        Unary::Not => (Opcode::Not, vec![bits(dtype).into()]),
        Unary::Sqrt => (Opcode::Sqrt, vec![Word::Rn.into(), ty.into()]),
        Unary::Rsqrt => (Opcode::Rsqrt, vec![approx, ty.into()]),
        Unary::Recip => (Opcode::Rcp, vec![Word::Rn.into(), ty.into()]),
        Unary::RecipApprox => (Opcode::Rcp, vec![approx, ty.into()]),
        Unary::RecipFtz => (Opcode::Rcp, vec![approx, Word::Ftz.into(), ty.into()]),
        Unary::Exp2 => (Opcode::Ex2, vec![approx, ty.into()]),
        Unary::Exp2Ftz => (Opcode::Ex2, vec![approx, Word::Ftz.into(), ty.into()]),
        Unary::Log2 => (Opcode::Lg2, vec![approx, ty.into()]),
        Unary::Sin => (Opcode::Sin, vec![approx, ty.into()]),
        Unary::Cos => (Opcode::Cos, vec![approx, ty.into()]),
        Unary::Tanh => (Opcode::Tanh, vec![approx, ty.into()]),
        Unary::CountOnes => (Opcode::Popc, vec![bits(dtype).into()]),
        Unary::LeadingZeros => (Opcode::Clz, vec![bits(dtype).into()]),
        Unary::ReverseBits => (Opcode::Brev, vec![bits(dtype).into()]),
    }
}

/// The instruction of an operation on two scalars.
pub(crate) fn binary(op: Binary, dtype: DType) -> (Opcode, Vec<Modifier>) {
    let (float, ty, rounded) = (is_float(dtype), ty(dtype), vec![Word::Rn.into(), ty(dtype).into()]);
    match op {
        Binary::Add if float => (Opcode::Add, rounded),
        Binary::Sub if float => (Opcode::Sub, rounded),
        Binary::Mul if float => (Opcode::Mul, rounded),
        Binary::Div if float => (Opcode::Div, rounded),
        Binary::Add => (Opcode::Add, vec![ty.into()]),
        Binary::Sub => (Opcode::Sub, vec![ty.into()]),
        Binary::Mul => (Opcode::Mul, vec![Word::Lo.into(), ty.into()]),
        Binary::Div => (Opcode::Div, vec![ty.into()]),
        Binary::Rem => (Opcode::Rem, vec![ty.into()]),
        Binary::Minimum if float => (Opcode::Min, vec![Word::Nan.into(), ty.into()]),
        Binary::Maximum if float => (Opcode::Max, vec![Word::Nan.into(), ty.into()]),
        Binary::Min | Binary::Minimum => (Opcode::Min, vec![ty.into()]),
        Binary::Max | Binary::Maximum => (Opcode::Max, vec![ty.into()]),
        Binary::And => (Opcode::And, vec![bits(dtype).into()]),
        Binary::Or => (Opcode::Or, vec![bits(dtype).into()]),
        Binary::Xor => (Opcode::Xor, vec![bits(dtype).into()]),
        Binary::Shl => (Opcode::Shl, vec![bits(dtype).into()]),
        Binary::Shr => (Opcode::Shr, vec![ty.into()]),
    }
}

/// The instruction of a product and a sum, of floats rounded to nearest even or towards zero.
pub(crate) fn mul_add(dtype: DType, to_zero: bool) -> (Opcode, Vec<Modifier>) {
    if is_float(dtype) {
        let rounding = if to_zero { Word::Rz } else { Word::Rn };
        (Opcode::Fma, vec![rounding.into(), ty(dtype).into()])
    } else {
        (Opcode::Mad, vec![Word::Lo.into(), ty(dtype).into()])
    }
}

/// The modifiers of `cvt`, or `None` where the bits stay. On sm_80 `cvt` takes no bf16.
pub(crate) fn convert(from: DType, to: DType, rounding: Rounding) -> Option<Vec<Modifier>> {
    let rounding: Option<Word> = match (is_float(from), is_float(to)) {
        (true, true) if to.bits() > from.bits() => None,
        (true, false) => Some(match rounding {
            Rounding::NearestEven => Word::Rni,
            Rounding::Zero => Word::Rzi,
            Rounding::Down => Word::Rmi,
            Rounding::Up => Word::Rpi,
        }),
        (false, false) if from.bits() == to.bits() => return None,
        (false, false) => None,
        _ => Some(Word::Rn),
    };
    let modifiers = rounding.map(Modifier::from).into_iter();
    Some(modifiers.chain([ty(to).into(), ty(from).into()]).collect())
}
