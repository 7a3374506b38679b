//! Operations on tiles of one shape, as the expansions write them.

use girih_tensor::DType;

use crate::dtype::Const;
use crate::ir::table::{Each, Gives};
use crate::ir::{Build, Dims, Kind, Nan, Overflow, Rounding, Type, Value};

/// Writes operations of f32 or f64 and of integers of the same width, on tiles of one shape.
pub(crate) struct Emit<'a> {
    pub(crate) b: &'a mut Build,
    /// f32 or f64.
    pub(crate) dtype: DType,
    pub(crate) dims: Dims,
}

impl Emit<'_> {
    /// Whether the dtype is f64.
    pub(crate) fn wide(&self) -> bool {
        self.dtype == DType::F64
    }

    /// One of two, for f32 and for f64.
    pub(crate) fn by<T>(&self, narrow: T, wide: T) -> T {
        if self.wide() { wide } else { narrow }
    }

    /// The signed integer of the dtype's width.
    pub(crate) fn int(&self) -> DType {
        self.by(DType::S32, DType::S64)
    }

    /// Bits of the significand after the point.
    pub(crate) fn point(&self) -> i64 {
        self.by(23, 52)
    }

    /// What is added to an exponent.
    pub(crate) fn bias(&self) -> i64 {
        self.by(127, 1023)
    }

    /// A constant of the dtype.
    pub(crate) fn c(&mut self, x: f64) -> Value {
        self.b.full(self.dtype, self.dims, Const::Float(x))
    }

    /// A constant of an integer dtype.
    pub(crate) fn n(&mut self, dtype: DType, n: i128) -> Value {
        self.b.full(dtype, self.dims, Const::Int(n))
    }

    pub(crate) fn round_by(&mut self, op: Each, rounding: Rounding, args: &[Value]) -> Value {
        let last = args.last().map_or(self.dtype, |&value| self.b.ty(value).dtype);
        let dtype = if op.row().gives == Gives::Bool { DType::Bool } else { last };
        let kind = Kind::Each { op, rounding, ftz: false, nan: Nan::Ignored, overflow: Overflow::Wraps };
        self.b.push1(kind, args, Type { dtype, dims: self.dims })
    }

    pub(crate) fn op(&mut self, op: Each, args: &[Value]) -> Value {
        self.round_by(op, Rounding::Nearest, args)
    }

    pub(crate) fn add(&mut self, a: Value, b: Value) -> Value {
        self.op(Each::Add, &[a, b])
    }

    pub(crate) fn sub(&mut self, a: Value, b: Value) -> Value {
        self.op(Each::Sub, &[a, b])
    }

    pub(crate) fn mul(&mut self, a: Value, b: Value) -> Value {
        self.op(Each::Mul, &[a, b])
    }

    pub(crate) fn div(&mut self, a: Value, b: Value) -> Value {
        self.op(Each::TrueDiv, &[a, b])
    }

    pub(crate) fn fma(&mut self, a: Value, b: Value, c: Value) -> Value {
        self.op(Each::Fma, &[a, b, c])
    }

    pub(crate) fn neg(&mut self, a: Value) -> Value {
        self.op(Each::Neg, &[a])
    }

    pub(crate) fn abs(&mut self, a: Value) -> Value {
        self.op(Each::Abs, &[a])
    }

    pub(crate) fn less(&mut self, a: Value, b: Value) -> Value {
        self.op(Each::Less, &[a, b])
    }

    pub(crate) fn equal(&mut self, a: Value, b: Value) -> Value {
        self.op(Each::Equal, &[a, b])
    }

    pub(crate) fn select(&mut self, cond: Value, a: Value, b: Value) -> Value {
        self.op(Each::Select, &[cond, a, b])
    }

    /// `a + x`, with a constant.
    pub(crate) fn addc(&mut self, a: Value, x: f64) -> Value {
        let x = self.c(x);
        self.add(a, x)
    }

    /// `a * x`, with a constant.
    pub(crate) fn mulc(&mut self, a: Value, x: f64) -> Value {
        let x = self.c(x);
        self.mul(a, x)
    }

    /// `a * x + b`, with a constant factor.
    pub(crate) fn fmac(&mut self, a: Value, x: f64, b: Value) -> Value {
        let x = self.c(x);
        self.fma(a, x, b)
    }

    /// `a < x`, with a constant.
    pub(crate) fn lessc(&mut self, a: Value, x: f64) -> Value {
        let x = self.c(x);
        self.less(a, x)
    }

    /// An integer operation with a constant.
    pub(crate) fn intc(&mut self, op: Each, a: Value, n: i128) -> Value {
        let dtype = self.b.ty(a).dtype;
        let n = self.n(dtype, n);
        self.op(op, &[a, n])
    }

    pub(crate) fn cast(&mut self, a: Value, dtype: DType) -> Value {
        self.b.push1(Kind::Cast(Rounding::Nearest), &[a], Type { dtype, dims: self.dims })
    }

    pub(crate) fn bits_as(&mut self, a: Value, dtype: DType) -> Value {
        self.b.push1(Kind::Bitcast, &[a], Type { dtype, dims: self.dims })
    }

    /// The bits of a float as a signed integer.
    pub(crate) fn bits(&mut self, a: Value) -> Value {
        let int = self.int();
        self.bits_as(a, int)
    }

    /// The float of these bits.
    pub(crate) fn float(&mut self, a: Value) -> Value {
        self.bits_as(a, self.dtype)
    }

    /// `c[0] + c[1] x + c[2] x^2 + ...`
    pub(crate) fn poly(&mut self, x: Value, coefficients: &[f64]) -> Value {
        let mut rest = coefficients.iter().rev();
        let first = rest.next().map_or(0.0, |&c| c);
        let mut sum = self.c(first);
        for &c in rest {
            let c = self.c(c);
            sum = self.fma(sum, x, c);
        }
        sum
    }

    /// `a`, or its negative where the sign bit of `sign` is set.
    pub(crate) fn with_sign(&mut self, a: Value, sign: Value) -> Value {
        let (a, sign) = (self.bits(a), self.bits(sign));
        let least = self.by(i128::from(i32::MIN), i128::from(i64::MIN));
        let sign = self.intc(Each::And, sign, least);
        let bits = self.op(Each::Xor, &[a, sign]);
        self.float(bits)
    }

    /// Whether the sign bit is set.
    pub(crate) fn is_negative(&mut self, a: Value) -> Value {
        let bits = self.bits(a);
        self.intc(Each::Less, bits, 0)
    }
}
