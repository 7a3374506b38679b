//! Operands of operations: values, and constants with or without a dtype.

use girih_tensor::DType;

use crate::dtype::Const;
use crate::ir::Value;

/// An operand of an operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arg {
    /// A value.
    Value(Value),
    /// A constant without a dtype, which takes the dtype of the other operand.
    Loose(Const),
    /// A constant of this dtype, which promotes as a scalar does.
    Strict(DType, Const),
}

impl From<Value> for Arg {
    fn from(value: Value) -> Arg {
        Arg::Value(value)
    }
}

impl From<Const> for Arg {
    fn from(constant: Const) -> Arg {
        Arg::Loose(constant)
    }
}
