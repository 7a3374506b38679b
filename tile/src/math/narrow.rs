//! Floats of 4 bits and powers of two, e2m1 and e8m0, which no instruction before sm_100 converts: integer arithmetic on their bits.

use girih_codegen::algorithm::math::Emit;
use girih_tensor::{DType, Round};

use super::Writer;
use crate::dtype::is_integer;
use crate::ir::table::Each;
use crate::ir::{Build, Rounding, Type, Value};

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
    let e = Writer::new(b, wide, dims);
    let word = if wide.bits() == 16 { DType::U16 } else { DType::U32 };
    let bits = e.x(bits).cast(word);
    let (Some(narrow), Some(format)) = (from.float(), wide.float()) else { return bits.value };
    if narrow.significand == 0 {
        // The exponent of an f32, except for a number that is subnormal there, and NaN.
        let number = bits << i128::from(format.significand);
        let (is_least, is_nan) = (bits.equal(0), bits.equal(0xff));
        let (least, nan) = (format.encode(narrow.least(), Round::Nearest), format.nan_bits());
        let (least, nan) = (e.n(word, least), e.n(word, nan));
        return is_nan.select(nan, is_least.select(least, number)).float().value;
    }
    // Exponent and significand in their places of the wide format, times a power of two for the difference of the biases.
    let below = narrow.exponent + narrow.significand;
    let magnitude = (bits & ((1 << below) - 1)) << i128::from(format.significand - narrow.significand);
    let sign = (bits & (1 << below)) << i128::from(wide.bits() - 1 - below);
    ((magnitude | sign).float() * 2f64.powi(format.bias() - narrow.bias())).value
}

/// The bits, as u8, of the nearest numbers of a narrow dtype.
pub(crate) fn encode(b: &mut Build, x: Value, to: DType) -> Value {
    let Type { dtype: from, dims } = b.ty(x);
    if to == DType::E8m0 {
        return exponent(b, x);
    }
    let wide = if from == DType::F64 { DType::F64 } else { DType::F32 };
    let e = Writer::new(b, wide, dims);
    let x = if from == wide { e.x(x) } else { e.x(x).cast(wide) };
    let Some(float) = to.float() else { return x.value };
    let below = float.exponent + float.significand;
    let most = (1u64 << below) - 1;
    let size = x.abs();
    // NaN is in no order, and becomes the greatest number.
    let mut code = e.n(DType::U8, most);
    for bits in (0..most).rev() {
        let middle = (float.decode(bits) + float.decode(bits + 1)) / 2.0;
        // A tie goes to the even one.
        let order = if bits % 2 == 0 { Each::LessEqual } else { Each::Less };
        code = size.op(order, middle).select(e.n(DType::U8, bits), code);
    }
    let (zero, sign) = (e.n(DType::U8, 0), e.n(DType::U8, 1 << below));
    let (negative, nan) = (x.is_negative(), x.is_nan());
    (code | nan.select(zero, negative.select(sign, zero))).value
}

/// The exponents of the nearest powers of two, from the bits of f64.
fn exponent(b: &mut Build, x: Value) -> Value {
    let Type { dtype: from, dims } = b.ty(x);
    let e = Writer::new(b, DType::F64, dims);
    let number = match from {
        DType::F64 => e.x(x),
        _ => e.x(e.cast(x, DType::F64, Rounding::Zero)),
    };
    let mut bits = number.bits();
    if is_integer(from) && from.bits() == 64 {
        // The last bit says that others were cut off.
        bits = bits | number.cast(from).op(Each::NotEqual, e.x(x)).cast(DType::S64);
    }
    // To nearest, of two the one with the even exponent, by the carry into the exponent.
    let last = (bits >> 52) & 1;
    let field = ((bits + last + ((1 << 51) - 1)) >> 52) - (1023 - 127);
    let (zero, most) = (e.n(DType::S64, 0), e.n(DType::S64, 254));
    let field = field.op(Each::Max, zero).op(Each::Min, most);
    let (negative, nan) = (number.is_negative(), number.is_nan());
    let field = negative.select(zero, field);
    nan.select(e.n(DType::S64, 255), field).cast(DType::U8).value
}
