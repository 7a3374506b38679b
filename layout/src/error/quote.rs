//! Integers and strides as errors quote them.

use core::fmt;

use crate::leaf::int::FACTORS;
use crate::leaf::step::Step;
use crate::leaf::symbol::{Facts, Packed};
use crate::{Int, ModePath, Stride};

/// An integer or a stride in an [`Error`](crate::Error), without the facts about its symbols.
///
/// A quote prints like the integer or stride that it quotes, and is equal to that. The facts are left out so that an
/// error, and with it each `Result`, stays small.
///
/// ```
/// use girih_layout::{Error, Int, lay};
/// let Err(Error::NotTractable { stride, .. }) = lay!("(2,2):(1,3)").complement(Int::fixed(12)) else { panic!() };
/// assert_eq!((stride == Int::fixed(3), stride.to_string().as_str()), (true, "3"));
/// ```
#[derive(Clone, Copy)]
pub struct Quote {
    coef: i64,
    keys: [u64; FACTORS],
    kind: u16,
    mode: ModePath,
    fixed: bool,
}

impl Quote {
    /// The quoted number as a stride, whose symbols have no facts.
    ///
    /// ```
    /// use girih_layout::{Error, Stride, lay};
    /// let Err(Error::Overlap { stride, .. }) = lay!("4:0").left_inverse() else { panic!() };
    /// assert_eq!(stride.stride(), Stride::from(0));
    /// ```
    pub const fn stride(self) -> Stride {
        Step { scale: self.scale(), kind: self.kind, mode: self.mode }.stride()
    }

    /// The integer, the scale of a basis vector, or the bits of an F2 column.
    pub(crate) const fn scale(self) -> Int {
        let (mut out, mut i): (Int, _) = (Int::number(self.coef, self.fixed), 0);
        while i < FACTORS && self.keys[i] != 0 {
            out.factors[i] = Packed { key: self.keys[i], facts: Facts::NONE };
            i += 1;
        }
        out
    }

    /// The quoted integer; `None` for another stride.
    ///
    /// ```
    /// use girih_layout::{Error, Int, lay};
    /// let Err(Error::CoordOutOfRange { extent, .. }) = lay!("4:1").at(9) else { panic!() };
    /// assert_eq!(extent.int(), Some(Int::fixed(4)));
    /// ```
    pub const fn int(self) -> Option<Int> {
        self.stride().int()
    }
}

impl<const F: usize> Int<F> {
    pub(crate) const fn quoted(self) -> Quote {
        Step::int(self).quoted()
    }
}

impl Stride {
    pub(crate) const fn quoted(self) -> Quote {
        self.step().quoted()
    }
}

impl<const F: usize> Step<F> {
    pub(crate) const fn quoted(self) -> Quote {
        let Step { scale, kind, mode } = self;
        let (mut keys, mut i) = ([0; FACTORS], 0);
        while i < FACTORS && i < F {
            keys[i] = scale.factors[i].key;
            i += 1;
        }
        Quote { coef: scale.coef, keys, kind, mode, fixed: scale.is_static() }
    }
}

impl From<Int> for Quote {
    fn from(int: Int) -> Quote {
        int.quoted()
    }
}

impl From<Stride> for Quote {
    fn from(stride: Stride) -> Quote {
        stride.quoted()
    }
}

impl PartialEq for Quote {
    fn eq(&self, other: &Quote) -> bool {
        self.stride() == other.stride()
    }
}

impl Eq for Quote {}

impl PartialEq<Int> for Quote {
    fn eq(&self, other: &Int) -> bool {
        *self == other.quoted()
    }
}

impl PartialEq<Stride> for Quote {
    fn eq(&self, other: &Stride) -> bool {
        *self == other.quoted()
    }
}

impl fmt::Display for Quote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.stride().fmt(f)
    }
}

impl fmt::Debug for Quote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:#}")
    }
}
