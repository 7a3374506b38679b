//! Floats of 4 bits and powers of two, e2m1 and e8m0, which no instruction before sm_100 converts: integer arithmetic on their bits.
//!
//! # Examples
//! ```
//! use girih_codegen::algorithm::math::narrow::{decoded_in, is_narrow};
//! use girih_tensor::DType;
//!
//! assert!(is_narrow(DType::E2m1) && !is_narrow(DType::E4m3));
//! assert_eq!(decoded_in(DType::E2m1, DType::F16), DType::F16);
//! ```

use girih_tensor::{DType, Round};

use super::emit::{Emit, X};
use super::registers::written;
use crate::algorithm::element::{Each, Rounding};
use crate::{Builder, Error, Scalar};

/// Whether a dtype is a float that is converted here.
pub fn is_narrow(dtype: DType) -> bool {
    matches!(dtype, DType::E2m1 | DType::E8m0)
}

/// The float that numbers of a narrow dtype are [decoded](decode) in on the way to another dtype.
pub fn decoded_in(from: DType, to: DType) -> DType {
    match to {
        DType::F16 | DType::Bf16 if from == DType::E2m1 => to,
        _ => DType::F32,
    }
}

/// The float that numbers of a dtype are [encoded](encode) from on the way to a narrow dtype.
pub fn encoded_in(from: DType, to: DType) -> DType {
    if from == DType::F64 || to == DType::E8m0 { DType::F64 } else { DType::F32 }
}

/// The number, in the dtype that it is computed in, whose bits in `from` are a u8.
pub fn decode<'e, E: Emit>(bits: X<'e, E>, from: DType) -> X<'e, E> {
    let wide = bits.e.dtype();
    let word = if wide.bits() == 16 { DType::U16 } else { DType::U32 };
    let bits = bits.cast(word);
    let (Some(narrow), Some(format)) = (from.float(), wide.float()) else { return bits };
    if narrow.significand == 0 {
        // The exponent of an f32, except for a number that is subnormal there, and NaN.
        let number = bits << i128::from(format.significand);
        let (is_least, is_nan) = (bits.equal(0), bits.equal(0xff));
        let (least, nan) = (format.encode(narrow.least(), Round::Nearest), format.nan_bits());
        let (least, nan) = (bits.n(word, least), bits.n(word, nan));
        return is_nan.select(nan, is_least.select(least, number)).float();
    }
    // Exponent and significand in their places of the wide format, times a power of two for the difference of the biases.
    let below = narrow.exponent + narrow.significand;
    let magnitude = (bits & ((1 << below) - 1)) << i128::from(format.significand - narrow.significand);
    let sign = (bits & (1 << below)) << i128::from(wide.bits() - 1 - below);
    (magnitude | sign).float() * 2f64.powi(format.bias() - narrow.bias())
}

/// The bits, as u8, of the nearest number of a narrow dtype.
pub fn encode<'e, E: Emit>(x: X<'e, E>, to: DType) -> X<'e, E> {
    if to == DType::E8m0 {
        return exponent(x);
    }
    let wide = x.e.dtype();
    let x = if x.dtype() == wide { x } else { x.cast(wide) };
    let Some(float) = to.float() else { return x };
    let below = float.exponent + float.significand;
    let most = (1u64 << below) - 1;
    let size = x.abs();
    // NaN is in no order, and becomes the greatest number.
    let mut code = x.n(DType::U8, most);
    for bits in (0..most).rev() {
        let middle = (float.decode(bits) + float.decode(bits + 1)) / 2.0;
        // A tie goes to the even one.
        let order = if bits % 2 == 0 { Each::LessEqual } else { Each::Less };
        code = size.op(order, middle).select(x.n(DType::U8, bits), code);
    }
    let (zero, sign) = (x.n(DType::U8, 0), x.n(DType::U8, 1 << below));
    let (negative, nan) = (x.is_negative(), x.is_nan());
    code | nan.select(zero, negative.select(sign, zero))
}

/// The exponent of the nearest power of two, from the bits of f64.
fn exponent<'e, E: Emit>(x: X<'e, E>) -> X<'e, E> {
    let from = x.dtype();
    let number = match from {
        DType::F64 => x,
        _ => x.with(x.e.cast(x.value, DType::F64, Rounding::Zero)),
    };
    let mut bits = number.bits();
    if from.is_integer() && from.bits() == 64 {
        // The last bit says that others were cut off.
        bits = bits | number.cast(from).op(Each::NotEqual, x).cast(DType::S64);
    }
    // To nearest, of two the one with the even exponent, by the carry into the exponent.
    let last = (bits >> 52) & 1;
    let field = ((bits + last + ((1 << 51) - 1)) >> 52) - (1023 - 127);
    let (zero, most) = (x.n(DType::S64, 0), x.n(DType::S64, 254));
    let field = field.op(Each::Max, zero).op(Each::Min, most);
    let (negative, nan) = (number.is_negative(), number.is_nan());
    let field = negative.select(zero, field);
    nan.select(x.n(DType::S64, 255), field).cast(DType::U8)
}

/// The f32 whose bits in a narrow dtype are a u32.
pub(in crate::algorithm) fn to_f32(b: &mut Builder, from: DType, bits: &Scalar) -> Result<Scalar, Error> {
    let bits = b.scalar(bits)?;
    let single = written(b, DType::F32, |e| decode(X::new(e, e.keep(DType::U8, bits)), from).value)?;
    b.scalar_in(&single, DType::F32)
}

/// The bits, a u32, of the number of a narrow dtype that is nearest to an f32.
pub(in crate::algorithm) fn of_f32(b: &mut Builder, to: DType, single: &Scalar) -> Result<Scalar, Error> {
    let single = b.scalar(single)?;
    let wide = encoded_in(DType::F32, to);
    let bits = written(b, wide, |e| encode(X::new(e, e.keep(DType::F32, single)), to).value)?;
    b.scalar_in(&bits, DType::U32)
}
