//! Floats of 4 bits and powers of two, e2m1 and e8m0, which no instruction before sm_100 converts: integer arithmetic on their bits.

use girih_tensor::{DType, Round};

use super::emit::Emit;
use crate::dtype::is_integer;
use crate::ir::table::Each;
use crate::ir::{Build, Kind, Rounding, Type, Value};

/// Whether a dtype is a float that is converted here.
pub(crate) fn is_narrow(dtype: DType) -> bool {
    matches!(dtype, DType::E2m1 | DType::E8m0)
}

/// The float in which the numbers of a narrow dtype are computed on the way to another dtype.
pub(crate) fn wide(from: DType, to: DType) -> DType {
    match to {
        DType::F16 | DType::Bf16 if from == DType::E2m1 => to,
        _ => DType::F32,
    }
}

/// The numbers, in the dtype that [`wide`] says, whose bits in `from` are the u8 of a tile.
pub(crate) fn decode(b: &mut Build, bits: Value, from: DType, wide: DType) -> Value {
    let dims = b.ty(bits).dims;
    let mut e = Emit { b, dtype: wide, dims };
    let word = if wide.bits() == 16 { DType::U16 } else { DType::U32 };
    let bits = e.cast(bits, word);
    let (Some(narrow), Some(format)) = (from.float(), wide.float()) else { return bits };
    if narrow.significand == 0 {
        // The exponent of an f32, except for a number that is subnormal there, and NaN.
        let number = e.intc(Each::Shl, bits, i128::from(format.significand));
        let (is_least, is_nan) = (e.intc(Each::Equal, bits, 0), e.intc(Each::Equal, bits, 0xff));
        let (least, nan) = (format.encode(narrow.least(), Round::Nearest), format.nan_bits());
        let (least, nan) = (e.n(word, least.into()), e.n(word, nan.into()));
        let number = e.select(is_least, least, number);
        let number = e.select(is_nan, nan, number);
        return e.float(number);
    }
    // Exponent and significand in their places of the wide format, times a power of two for the difference of the biases.
    let below = narrow.exponent + narrow.significand;
    let magnitude = e.intc(Each::And, bits, (1 << below) - 1);
    let magnitude = e.intc(Each::Shl, magnitude, i128::from(format.significand - narrow.significand));
    let sign = e.intc(Each::And, bits, 1 << below);
    let sign = e.intc(Each::Shl, sign, i128::from(wide.bits() - 1 - below));
    let small = e.op(Each::Or, &[magnitude, sign]);
    let small = e.float(small);
    e.mulc(small, 2f64.powi(format.bias() - narrow.bias()))
}

/// The bits, as u8, of the nearest numbers of a narrow dtype.
pub(crate) fn encode(b: &mut Build, x: Value, to: DType) -> Value {
    let Type { dtype: from, dims } = b.ty(x);
    if to == DType::E8m0 {
        return exponent(b, x);
    }
    let wide = if from == DType::F64 { DType::F64 } else { DType::F32 };
    let mut e = Emit { b, dtype: wide, dims };
    let x = if from == wide { x } else { e.cast(x, wide) };
    let Some(float) = to.float() else { return x };
    let below = float.exponent + float.significand;
    let most = (1u64 << below) - 1;
    let size = e.abs(x);
    // NaN is in no order, and becomes the greatest number.
    let mut code = e.n(DType::U8, most.into());
    for bits in (0..most).rev() {
        let middle = (float.decode(bits) + float.decode(bits + 1)) / 2.0;
        let middle = e.c(middle);
        // A tie goes to the even one.
        let order = if bits % 2 == 0 { Each::LessEqual } else { Each::Less };
        let (stays, own) = (e.op(order, &[size, middle]), e.n(DType::U8, bits.into()));
        code = e.select(stays, own, code);
    }
    let (zero, sign) = (e.n(DType::U8, 0), e.n(DType::U8, 1 << below));
    let (negative, nan) = (e.is_negative(x), e.op(Each::IsNan, &[x]));
    let sign = e.select(negative, sign, zero);
    let sign = e.select(nan, zero, sign);
    e.op(Each::Or, &[code, sign])
}

/// The exponents of the nearest powers of two, from the bits of f64.
fn exponent(b: &mut Build, x: Value) -> Value {
    let Type { dtype: from, dims } = b.ty(x);
    let mut e = Emit { b, dtype: DType::F64, dims };
    let number = match from {
        DType::F64 => x,
        _ => e.b.push1(Kind::Cast(Rounding::Zero), &[x], Type { dtype: DType::F64, dims }),
    };
    let mut bits = e.bits(number);
    if is_integer(from) && from.bits() == 64 {
        // The last bit says that others were cut off.
        let back = e.cast(number, from);
        let cut = e.op(Each::NotEqual, &[back, x]);
        let cut = e.cast(cut, DType::S64);
        bits = e.op(Each::Or, &[bits, cut]);
    }
    // To nearest, of two the one with the even exponent, by the carry into the exponent.
    let above = e.intc(Each::Shr, bits, 52);
    let last = e.intc(Each::And, above, 1);
    let sum = e.add(bits, last);
    let sum = e.intc(Each::Add, sum, (1 << 51) - 1);
    let field = e.intc(Each::Shr, sum, 52);
    let field = e.intc(Each::Sub, field, 1023 - 127);
    let (zero, most) = (e.n(DType::S64, 0), e.n(DType::S64, 254));
    let field = e.op(Each::Max, &[field, zero]);
    let field = e.op(Each::Min, &[field, most]);
    let (negative, nan) = (e.is_negative(number), e.op(Each::IsNan, &[number]));
    let field = e.select(negative, zero, field);
    let of_nan = e.n(DType::S64, 255);
    let field = e.select(nan, of_nan, field);
    e.cast(field, DType::U8)
}
