//! Division of indices by values that are known only at run time.

use std::panic::Location;

use girih_tensor::DType;

use super::Builder;
use crate::Error;
use crate::error::BuilderError;
use crate::expr::Expr;
use crate::scalar::Scalar;

impl Builder {
    /// The quotient and the remainder of two index expressions, such as a block index and the number of tiles in a row. By a constant this divides as
    /// [`Expr::div`] and [`Expr::rem`] do.
    ///
    /// # Errors
    /// [`BuilderError::Dividend`] if the dividend may be negative, [`BuilderError::Divisor`] if the divisor may be less than 1; those of
    /// [`Builder::value`].
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::{Builder, Expr};
    /// use girih_layout::Int;
    /// use girih_ptx::Special;
    ///
    /// let mut b = Builder::new("k", 80, 32);
    /// let columns = b.symbol("columns", |n| n.at_least(1).at_most(100))?;
    /// let block = b.special(Special::CtaidX);
    /// let (row, column) = b.div_rem(&block, &Expr::from_int(&Int::symbol(columns)))?;
    /// assert_eq!(column.range(), (0, 99));
    /// assert_eq!(row.range(), (0, block.range().1));
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    #[track_caller]
    pub fn div_rem(&mut self, dividend: &Expr, divisor: &Expr) -> Result<(Expr, Expr), Error> {
        let ((least, most), (smallest, largest)) = (dividend.range(), divisor.range());
        if least < 0 {
            return Err(BuilderError::Dividend { dividend: dividend.to_string(), least }.into());
        }
        if smallest < 1 {
            return Err(BuilderError::Divisor { divisor: divisor.to_string(), least: smallest }.into());
        }
        if let Some(constant) = divisor.as_constant() {
            return Ok((dividend.div(constant)?, dividend.rem(constant)?));
        }
        let dtype = if most.max(largest) <= u32::MAX.into() { DType::U32 } else { DType::U64 };
        self.on_behalf(Location::caller(), |b| {
            let [whole, by] = [dividend, divisor].map(|expr| Scalar::index(expr, dtype));
            let quotient = b.hold(&(&whole / &by))?;
            let remainder = b.hold(&(whole - &quotient * by))?;
            let mut index = |scalar: &Scalar, lower, upper| -> Result<Expr, Error> {
                let (reg, depth) = b.scalar_reg(scalar)?;
                Ok(b.var_at(&reg, depth, lower, upper, 1))
            };
            let quotient = index(&quotient, least / largest, most / smallest)?;
            Ok((quotient, index(&remainder, 0, most.min(largest - 1))?))
        })
    }
}
