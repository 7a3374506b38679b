//! What is decided while a kernel is built.

use super::Arg;
use crate::dtype::Const;
use crate::error::{Code, Fault, fault};
use crate::ir::Build;

impl Build {
    /// Refuses to build the kernel unless a condition holds.
    ///
    /// # Errors
    /// [`Code::StaticAssertFalse`].
    pub fn static_assert(&self, cond: bool, message: &str) -> Result<(), Fault> {
        if cond { Ok(()) } else { Err(fault!(Code::StaticAssertFalse, "static assertion: {message}")) }
    }

    /// The extent of a shape, which is known while building.
    ///
    /// # Errors
    /// [`Code::ShapeFromRuntimeValue`] for a value; [`Code::Shape`] for a constant that is no integer.
    pub fn extent(&self, arg: Arg) -> Result<i64, Fault> {
        match arg {
            Arg::Value(value) => Err(fault!(
                Code::ShapeFromRuntimeValue,
                "an extent that is a value {} of the kernel: constants of the build are accepted",
                self.ty(value)
            )),
            Arg::Loose(constant) | Arg::Strict(_, constant) => {
                let number = if let Const::Int(n) = constant { i64::try_from(n).ok() } else { None };
                number.ok_or_else(|| fault!(Code::Shape, "an extent of {constant:?}: integers are accepted"))
            }
        }
    }

    /// Checks the step of a loop, as far as it is a constant.
    ///
    /// # Errors
    /// [`Code::RangeStep`].
    pub fn range_step(&self, step: Arg) -> Result<(), Fault> {
        match step {
            Arg::Loose(Const::Int(n)) | Arg::Strict(_, Const::Int(n)) if n <= 0 => {
                Err(fault!(Code::RangeStep, "a loop in steps of {n}: steps of 1 or more are accepted"))
            }
            _ => Ok(()),
        }
    }
}
