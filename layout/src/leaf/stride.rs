//! Strides: integers, scaled basis vectors, columns over F2.

use core::fmt;

use crate::leaf::symbol::write_with_facts;
use crate::{Int, ModePath};

/// The stride of one leaf.
///
/// ```
/// use girih_layout::{Stride, Strides};
/// assert_eq!(Strides::parse("(4,2@1,^5)")?.get(2), Some(Stride::F2(5)));
/// # Ok::<(), girih_layout::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Stride {
    /// A step in a line of indices. In elements, unless the owner says otherwise.
    Int(Int),
    /// `scale` steps in the entry `mode` of a coordinate, printed `scale@mode`: the codomain of identity and TMA layouts is
    /// coordinates (CuTe's `ScaledBasis`). `E0` is read as `1@0`; in a nested coordinate `E<0,1>`, entry 1 of mode 0, as `1@1@0`.
    Basis {
        /// The step.
        scale: Int,
        /// The entry of the coordinate that the stride goes along.
        mode: ModePath,
    },
    /// A column over F2, printed `^5`: the bits of the digit select shifted copies of the column, and the copies of all
    /// leaves are joined by exclusive or, `(8,8):(^1,^9)` being `Sw<3,0,3> o (8,8):(1,8)`. If integers are mixed with
    /// columns, the integers are added up first, and the sum joins the columns by exclusive or.
    F2(u64),
}

impl Stride {
    /// Static 0.
    pub const ZERO: Stride = Stride::Int(Int::ZERO);

    /// The integer; `None` for a basis vector or an F2 column.
    ///
    /// ```
    /// use girih_layout::{Int, Stride};
    /// assert_eq!((Stride::from(4).int(), Stride::F2(4).int()), (Some(Int::fixed(4)), None));
    /// ```
    pub const fn int(self) -> Option<Int> {
        match self {
            Stride::Int(int) => Some(int),
            _ => None,
        }
    }

    /// Whether both are the same stride; `const` form of `==`.
    ///
    /// ```
    /// use girih_layout::Stride;
    /// const { assert!(Stride::F2(5).same(Stride::F2(5))) };
    /// ```
    #[inline]
    pub const fn same(self, other: Stride) -> bool {
        match (self, other) {
            (Stride::Int(a), Stride::Int(b)) => a.same(b),
            (Stride::Basis { scale: a, mode: i }, Stride::Basis { scale: b, mode: j }) => {
                i.same(j) && a.same(b)
            }
            (Stride::F2(a), Stride::F2(b)) => a == b,
            _ => false,
        }
    }

    /// Whether the stride is known to be 0.
    ///
    /// ```
    /// use girih_layout::Stride;
    /// assert!(Stride::from(0).is_zero() && Stride::F2(0).is_zero());
    /// ```
    #[inline]
    pub const fn is_zero(self) -> bool {
        match self {
            Stride::Int(int) => int.is(0),
            Stride::Basis { scale, .. } => scale.is(0),
            Stride::F2(column) => column == 0,
        }
    }

    /// Whether the stride is known to be the integer 1.
    #[inline]
    pub(crate) const fn is_one(self) -> bool {
        matches!(self, Stride::Int(int) if int.is(1))
    }
}

impl Default for Stride {
    fn default() -> Stride {
        Stride::ZERO
    }
}

impl From<Int> for Stride {
    fn from(int: Int) -> Stride {
        Stride::Int(int)
    }
}

impl fmt::Display for Stride {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stride::Int(int) => int.fmt(f),
            Stride::Basis { scale, .. } if f.sign_plus() => {
                write_with_facts(f, self, scale.factors().into_iter().flatten())
            }
            Stride::Basis { scale, mode } => {
                scale.fmt(f)?;
                write!(f, "@{mode}")
            }
            Stride::F2(column) => write!(f, "^{column}"),
        }
    }
}
