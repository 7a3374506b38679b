//! Math functions for which no instruction is exact enough, as operations of tile programs ([`math`](girih_codegen::algorithm::math)).
//!
//! # Examples
//! ```
//! use girih_tensor::DType;
//! use girih_tile::ir::{Rounding, table::Each};
//! use girih_tile::math::expands;
//!
//! // An instruction gives 2 to the power x; e to the power x is made of it.
//! assert!(!expands(Each::Exp2, DType::F32, Rounding::Nearest));
//! assert!(expands(Each::Exp, DType::F32, Rounding::Nearest));
//! ```

use std::cell::RefCell;
use std::sync::Arc;

pub use girih_codegen::algorithm::math::expands;
use girih_codegen::algorithm::math::{Emit, X, computed_in, expand as write_out};
use girih_tensor::DType;

use crate::dtype::Const;
use crate::fit;
use crate::ir::table::{Each, How};
use crate::ir::{Build, Combine, Dims, End, Kind, Overflow, Rounding, Type, Value};

/// Writes a function out, if it [`expands`].
pub(crate) fn expand(b: &mut Build, kind: &Kind, operands: &[Value], ty: Type) -> Option<Value> {
    let &Kind::Each { op, rounding, ftz, nan, .. } = kind else { return None };
    let dtype = b.ty(*operands.last()?).dtype;
    let how = How { rounding, ftz, nan };
    expands(op, dtype, rounding)
        .then(|| write_out(&Writer::new(b, computed_in(dtype), ty.dims), op, how, operands))
}

/// Writes operations on tiles of one shape.
pub(crate) struct Writer<'b> {
    b: RefCell<&'b mut Build>,
    dtype: DType,
    dims: Dims,
}

impl<'b> Writer<'b> {
    /// Writes functions that are computed in a dtype.
    pub(crate) fn new(b: &'b mut Build, dtype: DType, dims: Dims) -> Writer<'b> {
        Writer { b: RefCell::new(b), dtype, dims }
    }

    pub(crate) fn x(&self, value: Value) -> X<'_, Writer<'b>> {
        X::new(self, value)
    }

    /// A constant of an integer dtype.
    pub(crate) fn n(&self, dtype: DType, n: impl Into<i128>) -> X<'_, Writer<'b>> {
        self.x(self.integer(dtype, n.into()))
    }

    /// An operation with one result of a dtype.
    fn push(&self, kind: Kind, args: &[Value], dtype: DType) -> Value {
        self.b.borrow_mut().push1(kind, args, Type { dtype, dims: self.dims })
    }

    /// Whether any element is true, as a scalar.
    fn any(&self, mut tile: Value) -> Value {
        let scalar = Type::scalar(DType::Bool);
        let mut b = self.b.borrow_mut();
        for axis in 0..self.dims.rank() {
            let dims = b.ty(tile).dims.with(axis, 1);
            let kind = Kind::Reduce { axis: fit::axis(axis), combine: Combine::Or, identity: Arc::new([]) };
            tile = b.push1(kind, &[tile], Type { dims, ..scalar });
        }
        if self.dims.rank() == 0 { tile } else { b.push1(Kind::Reshape, &[tile], scalar) }
    }
}

impl Emit for Writer<'_> {
    type Value = Value;

    fn dtype(&self) -> DType {
        self.dtype
    }

    fn dtype_of(&self, value: Value) -> DType {
        self.b.borrow().ty(value).dtype
    }

    fn float(&self, dtype: DType, x: f64) -> Value {
        self.b.borrow_mut().full(dtype, self.dims, Const::Float(x))
    }

    fn integer(&self, dtype: DType, n: i128) -> Value {
        self.b.borrow_mut().full(dtype, self.dims, Const::Int(n))
    }

    fn apply(&self, op: Each, how: How, args: &[Value], result: DType) -> Value {
        let How { rounding, ftz, nan } = how;
        self.push(Kind::Each { op, rounding, ftz, nan, overflow: Overflow::Wraps }, args, result)
    }

    fn cast(&self, value: Value, to: DType, rounding: Rounding) -> Value {
        self.push(Kind::Cast(rounding), &[value], to)
    }

    fn bitcast(&self, value: Value, to: DType) -> Value {
        self.push(Kind::Bitcast, &[value], to)
    }

    fn while_any(
        &self,
        value: Value,
        over: impl Fn(Value) -> Value,
        next: impl Fn(Value, Value) -> Value,
    ) -> Value {
        let ty = Type { dtype: self.dtype, dims: self.dims };
        let (region, args) = self.b.borrow_mut().open(&[ty]);
        let is_over = over(args[0]);
        let any = self.any(is_over);
        {
            let mut b = self.b.borrow_mut();
            b.open(&[]);
            let more = b.close(End::Yield(Vec::new()));
            b.open(&[]);
            let done = b.close(End::Break(0, vec![args[0]]));
            b.push_regions(Kind::If, &[any], &[], vec![more, done]);
        }
        let next = next(args[0], is_over);
        let mut b = self.b.borrow_mut();
        let closed = b.close(End::Continue(0, vec![next]));
        debug_assert_eq!(closed, region);
        b.push_regions(Kind::Loop, &[value], &[ty], vec![closed])[0]
    }
}
