//! Strides: integers, scaled basis vectors, columns over F2.

use core::fmt;

use crate::{Error, Int, ModePath, Tuple};

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
    /// leaves are joined by exclusive or, `(8,8):(^1,^9)` being `Sw<3,0,3> o (8,8):(1,8)`. Where integers stand beside
    /// columns, the integers are added up first, and the sum joins the columns by exclusive or.
    F2(u64),
}

/// A tree of strides.
///
/// ```
/// use girih_layout::Strides;
/// assert_eq!(Strides::parse("(1,(2@1,4))")?.to_string(), "(1,(2@1,4))");
/// # Ok::<(), girih_layout::Error>(())
/// ```
pub type Strides = Tuple<Stride>;

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
            Stride::Basis { scale, mode } => {
                scale.fmt(f)?;
                write!(f, "@{mode}")
            }
            Stride::F2(column) => write!(f, "^{column}"),
        }
    }
}
