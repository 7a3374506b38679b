//! Strides in the form in which operations compute.

use crate::{Int, ModePath, Stride};

/// The bits of a leaf's tag that tell the kind of a stride.
pub(crate) const KIND: u16 = 3 << 13;
/// The kind of basis vectors.
pub(crate) const BASIS: u16 = 1 << 13;
/// The kind of F2 columns.
pub(crate) const COLUMN: u16 = 2 << 13;

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
    pub(crate) const fn step(self) -> Step<{ crate::leaf::int::FACTORS }> {
        match self {
            Stride::Int(int) => Step::int(int),
            Stride::Basis { scale, mode } => Step { scale, kind: BASIS, mode },
            Stride::F2(column) => {
                Step { scale: Int::fixed(column as i64), kind: COLUMN, mode: ModePath::ROOT }
            }
        }
    }
}
