//! Constants and conversions.

use girih_tensor::{DType, Element};
use half::{bf16, f16};

use super::ops::is_float;
use super::{COMPUTED, Op, Scalar};

/// How a float becomes an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// To the nearest integer, and halfway between two of them to the even one.
    NearestEven,
    /// Towards zero.
    Zero,
    /// To the next integer below.
    Down,
    /// To the next integer above.
    Up,
}

/// The other operand of a scalar's operation: another scalar, or a constant of its dtype.
pub trait IntoScalar {
    /// The scalar; a constant becomes one of `dtype`.
    #[track_caller]
    fn into_scalar(self, dtype: DType) -> Scalar;
}

impl IntoScalar for Scalar {
    fn into_scalar(self, _: DType) -> Scalar {
        self
    }
}

impl IntoScalar for &Scalar {
    fn into_scalar(self, _: DType) -> Scalar {
        self.clone()
    }
}

impl IntoScalar for f64 {
    #[track_caller]
    fn into_scalar(self, dtype: DType) -> Scalar {
        Scalar::new(dtype, self)
    }
}

impl IntoScalar for i32 {
    #[track_caller]
    fn into_scalar(self, dtype: DType) -> Scalar {
        Scalar::new(dtype, self.into())
    }
}

#[track_caller]
pub(super) fn constant(dtype: DType, value: f64) -> Scalar {
    // The conversion is exact below 2^127; beyond that it stays outside of every range.
    let whole = value as i128;
    let integer = |lower: i128, upper: i128| {
        (value.fract() == 0.0 && (lower..=upper).contains(&whole)).then_some(whole as u64)
    };
    let bits = match dtype {
        DType::F64 => Some(value.to_bits()),
        DType::F32 => Some((value as f32).to_bits().into()),
        DType::F16 => Some(<f16 as Element>::from_f64(value).to_bits().into()),
        DType::Bf16 => Some(<bf16 as Element>::from_f64(value).to_bits().into()),
        DType::S64 => integer(i64::MIN.into(), i64::MAX.into()),
        DType::U64 => integer(0, u64::MAX.into()),
        DType::S32 => integer(i32::MIN.into(), i32::MAX.into()),
        DType::U32 => integer(0, u32::MAX.into()),
        _ => {
            return Scalar::fault(
                dtype,
                format!("a scalar of {dtype}"),
                "f64, f32, f16, bf16, s64, u64, s32 and u32",
            );
        }
    };
    match bits {
        Some(bits) => Scalar::of(dtype, Op::Constant(bits), &[]),
        None => Scalar::fault(dtype, format!("{value} as {dtype}"), "whole numbers that the dtype has"),
    }
}

impl Scalar {
    /// The same value in another dtype, as Rust's `as` converts: floats are rounded to nearest even; a float that becomes an integer is
    /// rounded towards zero and clamped; an integer keeps its lowest bits. NaN becomes 0, but if one of the two dtypes has 64 bits, the
    /// integer whose highest bit alone is set (PTX ISA, `cvt`).
    #[track_caller]
    #[must_use]
    pub fn to(&self, dtype: DType) -> Scalar {
        let whole = is_float(self.dtype()) && !is_float(dtype);
        self.rounded_to(dtype, if whole { Rounding::Zero } else { Rounding::NearestEven })
    }

    /// A float as an integer, rounded as `rounding` says and clamped; between other dtypes the conversion is [`Scalar::to`].
    #[track_caller]
    #[must_use]
    pub fn rounded_to(&self, dtype: DType, rounding: Rounding) -> Scalar {
        let from = self.dtype();
        if from == dtype {
            return self.clone();
        }
        if !COMPUTED.contains(&dtype) {
            let accepted = "f64, f32, f16, bf16, s64, u64, s32 and u32";
            return Scalar::fault(dtype, format!("{from} as {dtype}"), accepted);
        }
        // To round twice could give another number than to round once.
        if dtype == DType::Bf16 && !matches!(from, DType::F32 | DType::F16) {
            let accepted = "f32 and f16: f32 in between is another rounding";
            return Scalar::fault(dtype, format!("{from} as {dtype}"), accepted);
        }
        let whole = is_float(from) && !is_float(dtype);
        let rounding = if whole { rounding } else { Rounding::NearestEven };
        Scalar::of(dtype, Op::Convert(rounding, self.clone()), &[self])
    }
}
