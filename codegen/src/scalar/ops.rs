//! Operators and methods of scalars.

use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Rem, Shl, Shr, Sub};

use girih_tensor::DType;

use super::{Cond, IntoScalar, Op, Scalar};

/// An operation on one scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    /// The negative.
    Neg,
    /// The absolute value.
    Abs,
    /// All bits inverted.
    Not,
    /// The square root.
    Sqrt,
    /// One divided by the square root, approximated.
    Rsqrt,
    /// One divided by the scalar.
    Recip,
    /// One divided by the scalar, approximated.
    RecipApprox,
    /// The same of an f32, where subnormal numbers are 0.
    RecipFtz,
    /// Two to the power of the scalar, approximated.
    Exp2,
    /// The same of an f32, where subnormal numbers are 0.
    Exp2Ftz,
    /// The logarithm to base 2, approximated.
    Log2,
    /// The sine, approximated.
    Sin,
    /// The cosine, approximated.
    Cos,
    /// The hyperbolic tangent, approximated.
    Tanh,
    /// The number of bits that are 1, as u32.
    CountOnes,
    /// The number of bits that are 0 in front of the first 1, as u32.
    LeadingZeros,
    /// The bits in reverse order.
    ReverseBits,
}

/// An operation on two scalars of one dtype.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binary {
    /// The sum.
    Add,
    /// The difference.
    Sub,
    /// The product.
    Mul,
    /// The quotient.
    Div,
    /// The remainder of an integer division.
    Rem,
    /// The smaller one; of a number and NaN, the number.
    Min,
    /// The larger one; of a number and NaN, the number.
    Max,
    /// The smaller one; NaN if one of the two is NaN.
    Minimum,
    /// The larger one; NaN if one of the two is NaN.
    Maximum,
    /// The bits that are set in both.
    And,
    /// The bits that are set in one or both.
    Or,
    /// The bits that are set in exactly one.
    Xor,
    /// The bits, moved to the left by a u32.
    Shl,
    /// The bits, moved to the right by a u32; the sign of a signed integer is kept.
    Shr,
}

pub(crate) fn is_float(dtype: DType) -> bool {
    matches!(dtype, DType::F64 | DType::F32 | DType::F16 | DType::Bf16)
}

const FLOATS: &str = "f64, f32, f16 and bf16";
const APPROXIMATED: &str = "f32, f16 and bf16";
const INTEGERS: &str = "s64, u64, s32 and u32";

impl Scalar {
    #[track_caller]
    pub(super) fn unary(&self, op: Unary) -> Scalar {
        let dtype = self.dtype();
        let (float, double) = (is_float(dtype), dtype == DType::F64);
        let (fits, accepted) = match op {
            Unary::Neg | Unary::Abs => (true, ""),
            Unary::Sqrt | Unary::Recip | Unary::Rsqrt => (float, FLOATS),
            Unary::Not | Unary::CountOnes | Unary::LeadingZeros | Unary::ReverseBits => (!float, INTEGERS),
            Unary::Exp2Ftz | Unary::RecipFtz => (dtype == DType::F32, "f32"),
            _ => (float && !double, APPROXIMATED),
        };
        if !fits {
            return Scalar::fault(dtype, format!("{op:?} of {dtype}"), accepted);
        }
        if op == Unary::Abs && matches!(dtype, DType::U64 | DType::U32) {
            return self.clone();
        }
        let result = if matches!(op, Unary::CountOnes | Unary::LeadingZeros) { DType::U32 } else { dtype };
        Scalar::of(result, Op::Unary(op, self.clone()), &[self])
    }

    #[track_caller]
    pub(super) fn binary(&self, op: Binary, other: impl IntoScalar) -> Scalar {
        let dtype = self.dtype();
        let shifts = matches!(op, Binary::Shl | Binary::Shr);
        let other = other.into_scalar(if shifts { DType::U32 } else { dtype });
        let (float, double) = (is_float(dtype), dtype == DType::F64);
        let (fits, accepted) = match op {
            Binary::Add | Binary::Sub | Binary::Mul | Binary::Div | Binary::Min | Binary::Max => (true, ""),
            Binary::Minimum | Binary::Maximum => (!double, "f32, f16, bf16 and integers"),
            _ => (!float, INTEGERS),
        };
        if !fits {
            return Scalar::fault(dtype, format!("{op:?} of {dtype}"), accepted);
        }
        if shifts && other.dtype() != DType::U32 {
            return Scalar::fault(dtype, format!("{op:?} by {}", other.dtype()), "u32 to shift by");
        }
        if !shifts && other.dtype() != dtype {
            let what = format!("{op:?} of {dtype} and {}", other.dtype());
            return Scalar::fault(dtype, what, "operands of one dtype, `to` converts");
        }
        Scalar::of(dtype, Op::Binary(op, self.clone(), other.clone()), &[self, &other])
    }

    /// `self * by + plus`, rounded once.
    #[track_caller]
    pub fn mul_add(&self, by: impl IntoScalar, plus: impl IntoScalar) -> Scalar {
        let dtype = self.dtype();
        let (by, plus) = (by.into_scalar(dtype), plus.into_scalar(dtype));
        if by.dtype() != dtype || plus.dtype() != dtype {
            let what = format!("MulAdd of {dtype}, {} and {}", by.dtype(), plus.dtype());
            return Scalar::fault(dtype, what, "operands of one dtype, `to` converts");
        }
        Scalar::of(dtype, Op::MulAdd(self.clone(), by.clone(), plus.clone()), &[self, &by, &plus])
    }

    /// `self * by + plus` of f32 or f64, rounded once, towards zero: a finite sum beyond the largest number becomes the largest number, and not
    /// infinite (`fma.rz`).
    #[track_caller]
    pub fn mul_add_to_zero(&self, by: impl IntoScalar, plus: impl IntoScalar) -> Scalar {
        let dtype = self.dtype();
        let (by, plus) = (by.into_scalar(dtype), plus.into_scalar(dtype));
        if !matches!(dtype, DType::F32 | DType::F64) {
            return Scalar::fault(dtype, format!("MulAddToZero of {dtype}"), "f64 and f32");
        }
        if by.dtype() != dtype || plus.dtype() != dtype {
            let what = format!("MulAddToZero of {dtype}, {} and {}", by.dtype(), plus.dtype());
            return Scalar::fault(dtype, what, "operands of one dtype, `to` converts");
        }
        Scalar::of(dtype, Op::MulAddToZero(self.clone(), by.clone(), plus.clone()), &[self, &by, &plus])
    }

    /// `self` where `cond` holds, elsewhere `other`.
    #[track_caller]
    pub fn select(&self, cond: &Cond, other: impl IntoScalar) -> Scalar {
        let dtype = self.dtype();
        let other = other.into_scalar(dtype);
        match cond {
            _ if other.dtype() != dtype => {
                let what = format!("Select of {dtype} and {}", other.dtype());
                Scalar::fault(dtype, what, "operands of one dtype, `to` converts")
            }
            Cond::Always => self.clone(),
            Cond::Never => other,
            cond => Scalar::of(dtype, Op::Select(cond.clone(), self.clone(), other.clone()), &[self, &other]),
        }
    }
}

/// Methods that are one operation each.
macro_rules! methods {
    ($($(#[$doc:meta])* $name:ident = $op:ident ($($other:ident)?);)*) => {
        impl Scalar {
            $(
                $(#[$doc])*
                #[track_caller]
                #[must_use]
                pub fn $name(&self $(, $other: impl IntoScalar)?) -> Scalar {
                    methods!(@call self $op $($other)?)
                }
            )*
        }
    };
    (@call $self:ident $op:ident) => { $self.unary(Unary::$op) };
    (@call $self:ident $op:ident $other:ident) => { $self.binary(Binary::$op, $other) };
}

methods! {
    /// The absolute value.
    abs = Abs();
    /// The square root, correctly rounded.
    sqrt = Sqrt();
    /// One divided by the square root: `rsqrt.approx`.
    rsqrt = Rsqrt();
    /// One divided by the scalar, correctly rounded.
    recip = Recip();
    /// One divided by the scalar: `rcp.approx`.
    recip_approx = RecipApprox();
    /// One divided by an f32, where subnormal operands and results are 0: `rcp.approx.ftz`, one instruction of the hardware.
    recip_ftz = RecipFtz();
    /// Two to the power of the scalar: `ex2.approx`.
    exp2 = Exp2();
    /// Two to the power of an f32, where subnormal operands and results are 0: `ex2.approx.ftz`, one instruction of the hardware.
    exp2_ftz = Exp2Ftz();
    /// The logarithm to base 2: `lg2.approx`.
    log2 = Log2();
    /// The sine: `sin.approx`.
    sin = Sin();
    /// The cosine: `cos.approx`.
    cos = Cos();
    /// The hyperbolic tangent: `tanh.approx`.
    tanh = Tanh();
    /// The number of bits of an integer that are 1, as u32.
    count_ones = CountOnes();
    /// The number of bits of an integer that are 0 in front of the first 1, as u32.
    leading_zeros = LeadingZeros();
    /// The bits of an integer in reverse order.
    reverse_bits = ReverseBits();
    /// The smaller of two; of a number and NaN, the number.
    min = Min(other);
    /// The larger of two; of a number and NaN, the number.
    max = Max(other);
    /// The smaller of two; NaN if one of the two is NaN.
    minimum = Minimum(other);
    /// The larger of two; NaN if one of the two is NaN.
    maximum = Maximum(other);
}

macro_rules! operators {
    ($($trait:ident $name:ident $op:ident),*) => {$(
        impl<R: IntoScalar> $trait<R> for &Scalar {
            type Output = Scalar;
            #[track_caller]
            fn $name(self, other: R) -> Scalar {
                self.binary(Binary::$op, other)
            }
        }
        impl<R: IntoScalar> $trait<R> for Scalar {
            type Output = Scalar;
            #[track_caller]
            fn $name(self, other: R) -> Scalar {
                self.binary(Binary::$op, other)
            }
        }
    )*};
}
operators!(
    Add add Add, Sub sub Sub, Mul mul Mul, Div div Div, Rem rem Rem, BitAnd bitand And, BitOr bitor Or, BitXor bitxor Xor,
    Shl shl Shl, Shr shr Shr
);

macro_rules! constants_first {
    ($($trait:ident $name:ident $op:ident),*) => {$(
        impl $trait<&Scalar> for f64 {
            type Output = Scalar;
            #[track_caller]
            fn $name(self, other: &Scalar) -> Scalar {
                Scalar::new(other.dtype(), self).binary(Binary::$op, other)
            }
        }
        impl $trait<Scalar> for f64 {
            type Output = Scalar;
            #[track_caller]
            fn $name(self, other: Scalar) -> Scalar {
                Scalar::new(other.dtype(), self).binary(Binary::$op, &other)
            }
        }
    )*};
}
constants_first!(Add add Add, Sub sub Sub, Mul mul Mul, Div div Div);

macro_rules! prefixes {
    ($($trait:ident $name:ident $op:ident),*) => {$(
        impl $trait for &Scalar {
            type Output = Scalar;
            #[track_caller]
            fn $name(self) -> Scalar {
                self.unary(Unary::$op)
            }
        }
        impl $trait for Scalar {
            type Output = Scalar;
            #[track_caller]
            fn $name(self) -> Scalar {
                self.unary(Unary::$op)
            }
        }
    )*};
}
prefixes!(Neg neg Neg, Not not Not);
