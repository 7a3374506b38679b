//! What is decided while a kernel is built.

use super::Arg;
use crate::dtype::Const;
use crate::error::{Fault, ensure};
use crate::ir::Build;

impl Build {
    /// Refuses to build the kernel unless a condition holds.
    ///
    /// # Errors
    /// [`Fault::StaticAssertFalse`].
    pub fn static_assert(&self, cond: bool, message: &str) -> Result<(), Fault> {
        ensure!(cond, Fault::StaticAssertFalse { message: message.into() });
        Ok(())
    }

    /// The extent of a shape, which is known while building.
    ///
    /// # Errors
    /// [`Fault::ShapeFromRuntimeValue`] for a value; [`Fault::ExtentConst`] for a constant that is no integer.
    pub fn extent(&self, arg: Arg) -> Result<i64, Fault> {
        match arg {
            Arg::Value(value) => Err(Fault::ShapeFromRuntimeValue { ty: self.ty(value) }),
            Arg::Loose(constant) | Arg::Strict(_, constant) => {
                let number = if let Const::Int(n) = constant { i64::try_from(n).ok() } else { None };
                number.ok_or(Fault::ExtentConst { constant })
            }
        }
    }

    /// Checks the step of a loop, as far as it is a constant.
    ///
    /// # Errors
    /// [`Fault::RangeStep`].
    pub fn range_step(&self, step: Arg) -> Result<(), Fault> {
        match step {
            Arg::Loose(Const::Int(step)) | Arg::Strict(_, Const::Int(step)) if step <= 0 => {
                Err(Fault::RangeStep { step })
            }
            _ => Ok(()),
        }
    }
}
