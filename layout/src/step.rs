//! Strides as the operations compute with them.

use crate::store::{BASIS, COLUMN};
use crate::stride::carryless;
use crate::{Error, Int, ModePath, Stride};

/// A [`Stride`] with room for `F` factors.
#[derive(Clone, Copy)]
pub(crate) struct Step<const F: usize> {
    /// The integer, the scale of a basis vector, or the bits of an F2 column.
    pub(crate) scale: Int<F>,
    /// 0 for an integer, otherwise [`BASIS`] or [`COLUMN`].
    pub(crate) kind: u16,
    /// The mode of a basis vector; the root for other strides.
    pub(crate) mode: ModePath,
}

impl<const F: usize> Step<F> {
    /// Static 0.
    pub(crate) const ZERO: Step<F> = Step::int(Int::number(0, true));

    #[inline]
    pub(crate) const fn int(int: Int<F>) -> Step<F> {
        Step { scale: int, kind: 0, mode: ModePath::ROOT }
    }

    #[inline]
    pub(crate) const fn is_int(&self) -> bool {
        self.kind == 0
    }

    #[inline]
    pub(crate) const fn is_column(&self) -> bool {
        self.kind == COLUMN
    }

    /// Whether the stride is known to be 0.
    #[inline]
    pub(crate) const fn is_zero(&self) -> bool {
        self.scale.is(0)
    }

    /// Whether both are the same stride.
    #[inline]
    pub(crate) const fn same(&self, other: &Step<F>) -> bool {
        self.kind == other.kind && self.mode.same(other.mode) && self.scale.same(other.scale)
    }

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

    /// The same stride as the public type.
    #[inline]
    pub(crate) const fn stride(self) -> Stride {
        match self.kind {
            COLUMN => Stride::F2(self.scale.coef as u64),
            BASIS => Stride::Basis { scale: self.scale.wide(), mode: self.mode },
            _ => Stride::Int(self.scale.wide()),
        }
    }
}

impl Stride {
    #[inline]
    pub(crate) const fn step(self) -> Step<{ crate::int::FACTORS }> {
        match self {
            Stride::Int(int) => Step::int(int),
            Stride::Basis { scale, mode } => Step { scale, kind: BASIS, mode },
            Stride::F2(column) => {
                Step { scale: Int::fixed(column as i64), kind: COLUMN, mode: ModePath::ROOT }
            }
        }
    }
}
