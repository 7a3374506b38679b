//! The values of a math function during its expansion, with operators.

use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Shl, Shr, Sub};

use girih_tensor::DType;

use crate::algorithm::element::{Each, Gives, How, Rounding};

/// Writes the operations that a function is made of: on elements in registers, or as operations of another language.
pub trait Emit {
    /// The representation of a value.
    type Value: Copy;

    /// The dtype that the function is computed in: f32 or f64, and u32 of random numbers.
    fn dtype(&self) -> DType;

    /// The dtype of a value.
    fn dtype_of(&self, value: Self::Value) -> DType;

    /// A number of a float dtype.
    fn float(&self, dtype: DType, x: f64) -> Self::Value;

    /// A number of any dtype; integers wrap.
    fn integer(&self, dtype: DType, n: i128) -> Self::Value;

    /// A function of values of one dtype, or of a bool and two such values, which gives a `result`.
    fn apply(&self, op: Each, how: How, args: &[Self::Value], result: DType) -> Self::Value;

    /// A value in another dtype.
    fn cast(&self, value: Self::Value, to: DType, rounding: Rounding) -> Self::Value;

    /// The bits of a value as those of another dtype.
    fn bitcast(&self, value: Self::Value, to: DType) -> Self::Value;

    /// Replaces a value by `next` of it and `over` of it while `over`, a bool, holds, here or in what is computed together.
    fn while_any(
        &self,
        value: Self::Value,
        over: impl Fn(Self::Value) -> Self::Value,
        next: impl Fn(Self::Value, Self::Value) -> Self::Value,
    ) -> Self::Value;
}

/// A value of a function that is written out; its operators write operations.
pub struct X<'e, E: Emit> {
    /// The representation of the value.
    pub value: E::Value,
    pub(super) e: &'e E,
}

impl<E: Emit> Clone for X<'_, E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E: Emit> Copy for X<'_, E> {}

/// The second operand of an operation: a value, or a number, which becomes a constant of the first operand's dtype.
pub trait Beside<'e, E: Emit> {
    /// The operand as a value.
    fn beside(self, x: X<'e, E>) -> X<'e, E>;
}

impl<'e, E: Emit> Beside<'e, E> for X<'e, E> {
    fn beside(self, _: X<'e, E>) -> X<'e, E> {
        self
    }
}

impl<'e, E: Emit> Beside<'e, E> for f64 {
    fn beside(self, x: X<'e, E>) -> X<'e, E> {
        x.with(x.e.float(x.dtype(), self))
    }
}

impl<'e, E: Emit> Beside<'e, E> for i128 {
    fn beside(self, x: X<'e, E>) -> X<'e, E> {
        x.n(x.dtype(), self)
    }
}

macro_rules! operators {
    ($($name:ident $method:ident $op:ident),*) => { $(
        impl<'e, E: Emit, Y: Beside<'e, E>> $name<Y> for X<'e, E> {
            type Output = Self;
            fn $method(self, y: Y) -> Self {
                self.op(Each::$op, y)
            }
        }
    )* };
}
operators!(Add add Add, Sub sub Sub, Mul mul Mul, Div div TrueDiv, Shl shl Shl, Shr shr Shr);
operators!(BitAnd bitand And, BitOr bitor Or, BitXor bitxor Xor);

impl<E: Emit> Neg for X<'_, E> {
    type Output = Self;
    fn neg(self) -> Self {
        self.map(Each::Neg)
    }
}

impl<E: Emit> Not for X<'_, E> {
    type Output = Self;
    fn not(self) -> Self {
        self.map(Each::Not)
    }
}

impl<'e, E: Emit> X<'e, E> {
    /// A value, with what writes operations.
    pub fn new(e: &'e E, value: E::Value) -> X<'e, E> {
        X { value, e }
    }

    /// Another value of the function.
    #[must_use]
    pub fn with(self, value: E::Value) -> Self {
        X { value, e: self.e }
    }

    /// The value's dtype.
    pub fn dtype(self) -> DType {
        self.e.dtype_of(self.value)
    }

    /// Whether the function is computed in f64.
    pub(super) fn wide(self) -> bool {
        self.e.dtype() == DType::F64
    }

    /// One of two, for f32 and for f64.
    pub(super) fn by<T>(self, narrow: T, wide: T) -> T {
        if self.wide() { wide } else { narrow }
    }

    /// The signed integer of the dtype's width.
    pub(super) fn int(self) -> DType {
        self.by(DType::S32, DType::S64)
    }

    /// Bits of the significand after the point.
    pub(super) fn point(self) -> i128 {
        self.by(23, 52)
    }

    /// A constant of the dtype that the function is computed in.
    pub(super) fn c(self, x: f64) -> Self {
        self.with(self.e.float(self.e.dtype(), x))
    }

    /// A constant of an integer dtype.
    #[must_use]
    pub fn n(self, dtype: DType, n: impl Into<i128>) -> Self {
        self.with(self.e.integer(dtype, n.into()))
    }

    /// A function of this value and others.
    #[must_use]
    pub fn apply(self, op: Each, rounding: Rounding, others: &[Self]) -> Self {
        let args: Vec<E::Value> = [self].iter().chain(others).map(|x| x.value).collect();
        let last = others.last().unwrap_or(&self).dtype();
        let result = if op.row().gives == Gives::Bool { DType::Bool } else { last };
        self.with(self.e.apply(op, How { rounding, ..How::default() }, &args, result))
    }

    /// A function of this value.
    #[must_use]
    pub fn map(self, op: Each) -> Self {
        self.apply(op, Rounding::Nearest, &[])
    }

    /// A function of this value and another one.
    #[must_use]
    pub fn op(self, op: Each, y: impl Beside<'e, E>) -> Self {
        let y = y.beside(self);
        self.apply(op, Rounding::Nearest, &[y])
    }

    /// `self * y + z`.
    pub(super) fn fma(self, y: impl Beside<'e, E>, z: impl Beside<'e, E>) -> Self {
        let (y, z) = (y.beside(self), z.beside(self));
        self.apply(Each::Fma, Rounding::Nearest, &[y, z])
    }

    /// The magnitude.
    #[must_use]
    pub fn abs(self) -> Self {
        self.map(Each::Abs)
    }

    /// Whether the value is below another one.
    #[must_use]
    pub fn less(self, y: impl Beside<'e, E>) -> Self {
        self.op(Each::Less, y)
    }

    /// Whether the value equals another one.
    #[must_use]
    pub fn equal(self, y: impl Beside<'e, E>) -> Self {
        self.op(Each::Equal, y)
    }

    /// Whether the value is NaN.
    #[must_use]
    pub fn is_nan(self) -> Self {
        self.map(Each::IsNan)
    }

    /// `a` where this condition holds, else `b`.
    #[must_use]
    pub fn select(self, a: Self, b: Self) -> Self {
        self.apply(Each::Select, Rounding::Nearest, &[a, b])
    }

    /// The value in another dtype, to nearest.
    #[must_use]
    pub fn cast(self, dtype: DType) -> Self {
        self.with(self.e.cast(self.value, dtype, Rounding::Nearest))
    }

    /// The value's bits as those of another dtype.
    #[must_use]
    pub fn bits_as(self, dtype: DType) -> Self {
        self.with(self.e.bitcast(self.value, dtype))
    }

    /// The bits of a float as a signed integer.
    #[must_use]
    pub fn bits(self) -> Self {
        self.bits_as(self.int())
    }

    /// The float of these bits.
    #[must_use]
    pub fn float(self) -> Self {
        self.bits_as(self.e.dtype())
    }

    /// `c[0] + c[1] x + c[2] x^2 + ...`
    pub(super) fn poly(self, coefficients: &[f64]) -> Self {
        let mut rest = coefficients.iter().rev();
        let first = rest.next().map_or(0.0, |&c| c);
        rest.fold(self.c(first), |sum, &c| sum.fma(self, c))
    }

    /// The number, or its negative where the sign bit of `sign` is set.
    pub(super) fn with_sign(self, sign: Self) -> Self {
        let (bits, sign) = (self.bits(), sign.bits());
        (bits ^ (sign & self.by(i128::from(i32::MIN), i128::from(i64::MIN)))).float()
    }

    /// Whether the sign bit is set.
    #[must_use]
    pub fn is_negative(self) -> Self {
        self.bits().less(0)
    }

    /// Whether an integer has one of these bits.
    pub(super) fn has(self, bits: i128) -> Self {
        (self & bits).op(Each::NotEqual, 0)
    }

    /// Replaces the value by `next` of it and `over` of it while `over` holds.
    pub(super) fn while_any(self, over: impl Fn(Self) -> Self, next: impl Fn(Self, Self) -> Self) -> Self {
        let over = |value: E::Value| over(self.with(value)).value;
        let next = |value: E::Value, over: E::Value| next(self.with(value), self.with(over)).value;
        self.with(self.e.while_any(self.value, over, next))
    }
}
