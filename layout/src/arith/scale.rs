//! Strides times integers, and the integers of strides for operations that need one.

use crate::leaf::step::{COLUMN, Step};
use crate::{Error, Int, Stride};

impl Stride {
    /// The stride times an integer.
    ///
    /// ```
    /// use girih_layout::{Int, Stride};
    /// assert_eq!(Stride::from(4).scaled(Int::fixed(3))?, Stride::from(12));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Int::mul`]; [`Error::Unsupported`] for an F2 column, unless the integer is a known power of two.
    #[inline]
    pub const fn scaled(self, by: Int) -> Result<Stride, Error> {
        Ok(tri!(self.step().scaled(by)).stride())
    }

    #[inline]
    pub(crate) const fn require_int(self, op: &'static str) -> Result<Int, Error> {
        match self {
            Stride::Int(int) => Ok(int),
            Stride::Basis { .. } => Err(Error::Unsupported { op, what: "basis strides" }),
            Stride::F2(_) => Err(Error::Unsupported { op, what: "F2 columns" }),
        }
    }

    pub(crate) const fn require_known(self, op: &'static str) -> Result<i64, Error> {
        let int = tri!(self.require_int(op));
        match int.get() {
            Some(value) => Ok(value),
            None => Err(Error::NotKnown { op, value: int.quoted() }),
        }
    }
}

impl<const F: usize> Step<F> {
    /// The stride times an integer.
    #[inline]
    pub(crate) const fn scaled(self, by: Int<F>) -> Result<Step<F>, Error> {
        if self.is_column() {
            return self.scaled_column(by);
        }
        Ok(Step { scale: tri!(self.scale.mul(by)), ..self })
    }

    const fn scaled_column(self, by: Int<F>) -> Result<Step<F>, Error> {
        match by.get() {
            _ if self.is_zero() => Ok(self),
            Some(by) if by > 0 && by & (by - 1) == 0 => {
                let column = tri!(carryless(by, self.scale.coef as u64));
                Ok(Step { scale: Int::number(column as i64, true), ..self })
            }
            _ => Err(Error::Unsupported {
                op: "scaling a stride",
                what: "an F2 column times something else than a power of two",
            }),
        }
    }

    #[inline]
    pub(crate) const fn require_int(&self, op: &'static str) -> Result<Int<F>, Error> {
        match self.kind {
            0 => Ok(self.scale),
            COLUMN => Err(Error::Unsupported { op, what: "F2 columns" }),
            _ => Err(Error::Unsupported { op, what: "basis strides" }),
        }
    }
}

/// The product without carries: the exclusive or of the columns shifted by each bit of `digit`.
pub(crate) const fn carryless(digit: i64, column: u64) -> Result<u64, Error> {
    const OP: &str = "an index";
    if digit < 0 {
        return Err(Error::Unsupported { op: OP, what: "a negative digit on an F2 column" });
    }
    if digit == 0 || column == 0 {
        return Ok(0);
    }
    if (64 - digit.leading_zeros()) + (64 - column.leading_zeros()) > 64 {
        return Err(Error::Overflow { op: OP });
    }
    let (mut out, mut rest) = (0, digit as u64);
    while rest != 0 {
        out ^= column << rest.trailing_zeros();
        rest &= rest - 1;
    }
    Ok(out)
}
