//! Operations on tiles of one shape, as the expansions write them.

use std::cell::RefCell;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Shl, Shr, Sub};

use girih_tensor::DType;

use crate::dtype::Const;
use crate::ir::table::{Each, Gives};
use crate::ir::{Build, Dims, Kind, Rounding, Type, Value};

/// Writes operations of f32 or f64 and of integers of the same width, on tiles of one shape.
pub(crate) struct Emit<'b> {
    pub(crate) b: RefCell<&'b mut Build>,
    /// f32 or f64.
    pub(crate) dtype: DType,
    pub(crate) dims: Dims,
}

/// A tile of an expansion, whose operators write operations.
#[derive(Clone, Copy)]
pub(crate) struct X<'e, 'b> {
    pub(crate) value: Value,
    pub(super) e: &'e Emit<'b>,
}

/// What is beside a tile as an operand: another one, or a number, which becomes a constant of the tile's dtype.
pub(crate) trait Beside<'e, 'b> {
    fn beside(self, x: X<'e, 'b>) -> X<'e, 'b>;
}

impl<'e, 'b> Beside<'e, 'b> for X<'e, 'b> {
    fn beside(self, _: X<'e, 'b>) -> X<'e, 'b> {
        self
    }
}

impl<'e, 'b> Beside<'e, 'b> for f64 {
    fn beside(self, x: X<'e, 'b>) -> X<'e, 'b> {
        x.e.full(x.dtype(), Const::Float(self))
    }
}

impl<'e, 'b> Beside<'e, 'b> for i128 {
    fn beside(self, x: X<'e, 'b>) -> X<'e, 'b> {
        x.e.full(x.dtype(), Const::Int(self))
    }
}

impl<'b> Emit<'b> {
    pub(crate) fn new(b: &'b mut Build, dtype: DType, dims: Dims) -> Emit<'b> {
        Emit { b: RefCell::new(b), dtype, dims }
    }

    pub(crate) fn x(&self, value: Value) -> X<'_, 'b> {
        X { value, e: self }
    }

    /// An operation with one result of a dtype.
    pub(crate) fn push(&self, kind: Kind, args: &[Value], dtype: DType) -> X<'_, 'b> {
        self.x(self.b.borrow_mut().push1(kind, args, Type { dtype, dims: self.dims }))
    }

    fn full(&self, dtype: DType, value: Const) -> X<'_, 'b> {
        self.x(self.b.borrow_mut().full(dtype, self.dims, value))
    }

    /// A constant of the dtype.
    pub(crate) fn c(&self, x: f64) -> X<'_, 'b> {
        self.full(self.dtype, Const::Float(x))
    }

    /// A constant of an integer dtype.
    pub(crate) fn n(&self, dtype: DType, n: impl Into<i128>) -> X<'_, 'b> {
        self.full(dtype, Const::Int(n.into()))
    }
}

macro_rules! operators {
    ($($name:ident $method:ident $op:ident),*) => { $(
        impl<'e, 'b, Y: Beside<'e, 'b>> $name<Y> for X<'e, 'b> {
            type Output = Self;
            fn $method(self, y: Y) -> Self {
                self.op(Each::$op, y)
            }
        }
    )* };
}
operators!(Add add Add, Sub sub Sub, Mul mul Mul, Div div TrueDiv, Shl shl Shl, Shr shr Shr);
operators!(BitAnd bitand And, BitOr bitor Or, BitXor bitxor Xor);

impl Neg for X<'_, '_> {
    type Output = Self;
    fn neg(self) -> Self {
        self.map(Each::Neg)
    }
}

impl Not for X<'_, '_> {
    type Output = Self;
    fn not(self) -> Self {
        self.map(Each::Not)
    }
}

impl<'e, 'b> X<'e, 'b> {
    pub(crate) fn dtype(self) -> DType {
        self.e.b.borrow().ty(self.value).dtype
    }

    /// Whether the expansion's dtype is f64.
    pub(crate) fn wide(self) -> bool {
        self.e.dtype == DType::F64
    }

    /// One of two, for f32 and for f64.
    pub(crate) fn by<T>(self, narrow: T, wide: T) -> T {
        if self.wide() { wide } else { narrow }
    }

    /// The signed integer of the dtype's width.
    pub(crate) fn int(self) -> DType {
        self.by(DType::S32, DType::S64)
    }

    /// Bits of the significand after the point.
    pub(crate) fn point(self) -> i128 {
        self.by(23, 52)
    }

    /// A constant of the expansion's dtype.
    pub(crate) fn c(self, x: f64) -> Self {
        self.e.c(x)
    }

    /// A function of this tile and others.
    pub(crate) fn apply(self, op: Each, rounding: Rounding, others: &[Self]) -> Self {
        let args: Vec<Value> = [self].iter().chain(others).map(|x| x.value).collect();
        let last = others.last().unwrap_or(&self).dtype();
        let dtype = if op.row().gives == Gives::Bool { DType::Bool } else { last };
        self.e.push(Kind::each_rounded(op, rounding), &args, dtype)
    }

    pub(crate) fn map(self, op: Each) -> Self {
        self.apply(op, Rounding::Nearest, &[])
    }

    pub(crate) fn op(self, op: Each, y: impl Beside<'e, 'b>) -> Self {
        let y = y.beside(self);
        self.apply(op, Rounding::Nearest, &[y])
    }

    /// `self * y + z`.
    pub(crate) fn fma(self, y: impl Beside<'e, 'b>, z: impl Beside<'e, 'b>) -> Self {
        let (y, z) = (y.beside(self), z.beside(self));
        self.apply(Each::Fma, Rounding::Nearest, &[y, z])
    }

    pub(crate) fn abs(self) -> Self {
        self.map(Each::Abs)
    }

    pub(crate) fn less(self, y: impl Beside<'e, 'b>) -> Self {
        self.op(Each::Less, y)
    }

    pub(crate) fn equal(self, y: impl Beside<'e, 'b>) -> Self {
        self.op(Each::Equal, y)
    }

    pub(crate) fn is_nan(self) -> Self {
        self.map(Each::IsNan)
    }

    /// `a` where this condition holds, else `b`.
    pub(crate) fn select(self, a: Self, b: Self) -> Self {
        self.apply(Each::Select, Rounding::Nearest, &[a, b])
    }

    pub(crate) fn cast(self, dtype: DType) -> Self {
        self.e.push(Kind::Cast(Rounding::Nearest), &[self.value], dtype)
    }

    pub(crate) fn bits_as(self, dtype: DType) -> Self {
        self.e.push(Kind::Bitcast, &[self.value], dtype)
    }

    /// The bits of a float as a signed integer.
    pub(crate) fn bits(self) -> Self {
        self.bits_as(self.int())
    }

    /// The float of these bits.
    pub(crate) fn float(self) -> Self {
        self.bits_as(self.e.dtype)
    }

    /// `c[0] + c[1] x + c[2] x^2 + ...`
    pub(crate) fn poly(self, coefficients: &[f64]) -> Self {
        let mut rest = coefficients.iter().rev();
        let first = rest.next().map_or(0.0, |&c| c);
        rest.fold(self.c(first), |sum, &c| sum.fma(self, c))
    }

    /// The number, or its negative where the sign bit of `sign` is set.
    pub(crate) fn with_sign(self, sign: Self) -> Self {
        let (bits, sign) = (self.bits(), sign.bits());
        (bits ^ (sign & self.by(i128::from(i32::MIN), i128::from(i64::MIN)))).float()
    }

    /// Whether the sign bit is set.
    pub(crate) fn is_negative(self) -> Self {
        self.bits().less(0)
    }

    /// Whether an integer has one of these bits.
    pub(crate) fn has(self, bits: i128) -> Self {
        (self & bits).op(Each::NotEqual, 0)
    }
}
