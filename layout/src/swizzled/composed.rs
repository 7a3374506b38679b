//! A swizzle after an offset after a layout.

use core::fmt;

use crate::exact::definition::Function;
use crate::exact::space::Space;
use crate::f2::matrix::OP;
use crate::{Coord, Error, F2Matrix, Lay, Swizzle};

/// `x -> swizzle(offset + layout(x))`, printed `Sw<3,4,3> o 0 o (8,64):(64,1)` (CuTe's `ComposedLayout` of a swizzle).
///
/// The offset stays inside: a swizzle does not commute with adding, so a slice adds to the offset instead of to the result.
///
/// ```
/// use girih_layout::{Composed, Swizzle, lay};
/// let tile = Composed::new(Swizzle::new(3, 3, 3)?, 0, lay!("(8,64):(64,1)"));
/// assert_eq!(tile.at(8)?, 1); // row 0, column 1
/// assert_eq!(tile.at(1)?, 64 + 8); // row 1: its first 8 elements changed places with the next 8
/// # Ok::<(), girih_layout::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Composed {
    pub(crate) swizzle: Swizzle,
    pub(crate) offset: i64,
    pub(crate) layout: Lay,
}

/// The layout with the identity as swizzle, and without an offset.
///
/// ```
/// use girih_layout::{Composed, lay};
/// assert_eq!(Composed::from(lay!("(2,2):(2,1)")).at(1)?, 2);
/// # Ok::<(), girih_layout::Error>(())
/// ```
impl From<Lay> for Composed {
    fn from(layout: Lay) -> Composed {
        Composed::new(Swizzle::NONE, 0, layout)
    }
}

impl Composed {
    /// `swizzle o offset o layout`.
    ///
    /// ```
    /// use girih_layout::{Composed, Swizzle, lay};
    /// assert_eq!(Composed::new(Swizzle::new(1, 0, 1)?, 4, lay!("(2,2):(2,1)")).to_string(), "Sw<1,0,1> o 4 o (2,2):(2,1)");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn new(swizzle: Swizzle, offset: i64, layout: Lay) -> Composed {
        Composed { swizzle, offset, layout }
    }

    /// The swizzle, applied last.
    ///
    /// ```
    /// use girih_layout::{Composed, Swizzle};
    /// assert_eq!(Composed::parse("Sw<1,0,1> o 4 o (2,2):(2,1)")?.swizzle(), Swizzle::new(1, 0, 1)?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn swizzle(&self) -> Swizzle {
        self.swizzle
    }

    /// The offset that is added before the swizzle, in elements.
    ///
    /// ```
    /// use girih_layout::Composed;
    /// assert_eq!(Composed::parse("Sw<1,0,1> o 4 o (2,2):(2,1)")?.offset(), 4);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn offset(&self) -> i64 {
        self.offset
    }

    /// The layout, applied first.
    ///
    /// ```
    /// use girih_layout::{Composed, lay};
    /// assert_eq!(Composed::parse("Sw<1,0,1> o 4 o (2,2):(2,1)")?.layout(), &lay!("(2,2):(2,1)"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn layout(&self) -> &Lay {
        &self.layout
    }

    /// The same layout with more facts about a symbol, see [`Lay::assume`].
    ///
    /// ```
    /// use girih_layout::{Composed, Symbol};
    /// let rows = Composed::parse("Sw<3,3,3> o 0 o (s0,64):(64,1)")?.assume(Symbol::new(0).divisible_by(8))?;
    /// assert_eq!(rows.layout().flat_leaf(0).0.is_divisible_by(8), Some(true));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Lay::assume`].
    pub const fn assume(&self, symbol: crate::Symbol) -> Result<Composed, Error> {
        Ok(Composed { layout: tri!(self.layout.assume(symbol)), ..*self })
    }

    /// Adds what is known of a symbol. Returns whether the layout has the symbol.
    pub(crate) const fn learn(&mut self, symbol: crate::Symbol) -> bool {
        self.layout.learn(symbol)
    }

    /// The layout at launch: `symbol`, by its id, becomes `value`.
    ///
    /// ```
    /// use girih_layout::{Composed, Symbol};
    /// let rows = Composed::parse("Sw<3,3,3> o 0 o (s0,64):(64,1)")?.bind(Symbol::new(0), 8)?;
    /// assert_eq!(rows.to_string(), "Sw<3,3,3> o 0 o (8,64):(64,1)");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Lay::bind`].
    pub const fn bind(&self, symbol: crate::Symbol, value: i64) -> Result<Composed, Error> {
        Ok(Composed { layout: tri!(self.layout.bind(symbol, value)), ..*self })
    }

    /// The index of a coordinate.
    ///
    /// ```
    /// use girih_layout::{Coord, Composed};
    /// assert_eq!(Composed::parse("Sw<1,0,1> o 4 o (2,2):(2,1)")?.crd2idx(&Coord::parse("(1,0)")?)?, 7); // 4 + 2 = 0b110, the low bit toggled
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Lay::crd2idx`].
    pub const fn crd2idx(&self, coord: &Coord) -> Result<i64, Error> {
        self.index(tri!(self.layout.crd2idx(coord)))
    }

    /// The index of a 1-D coordinate.
    ///
    /// ```
    /// use girih_layout::Composed;
    /// assert_eq!(Composed::parse("Sw<1,0,1> o 4 o (2,2):(2,1)")?.at(3)?, 6);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Lay::crd2idx`].
    pub const fn at(&self, position: i64) -> Result<i64, Error> {
        self.index(tri!(self.layout.at(position)))
    }

    const fn index(&self, index: i64) -> Result<i64, Error> {
        match index.checked_add(self.offset) {
            Some(index) => Ok(self.swizzle.apply(index)),
            None => Err(Error::Overflow { op: "an index" }),
        }
    }

    /// The modes under `_`; the positions of the rest go into the offset.
    ///
    /// ```
    /// use girih_layout::{Coord, Composed};
    /// assert_eq!(Composed::parse("Sw<1,0,1> o 4 o (2,2):(2,1)")?.slice(&Coord::parse("(1,_)")?)?.to_string(), "Sw<1,0,1> o 6 o (2):(1)");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Lay::slice`]; [`Error::NotKnown`] for a symbolic offset, since the effect of the swizzle depends on the
    /// offset.
    pub const fn slice(&self, coord: &Coord) -> Result<Composed, Error> {
        let (layout, offset) = tri!(self.layout.slice(coord));
        match self.offset.checked_add(tri!(offset.require_known("a slice of a swizzled layout"))) {
            Some(offset) => Ok(Composed { offset, layout, ..*self }),
            None => Err(Error::Overflow { op: "an offset" }),
        }
    }

    /// The same layout moved to begin at a coordinate of this one: the offset stays inside (CuTe's `domain_offset`).
    ///
    /// ```
    /// use girih_layout::{Composed, Coord};
    /// let moved = Composed::parse("Sw<1,0,2> o 0 o (4,4):(1,4)")?.domain_offset(&Coord::parse("(1,2)")?)?;
    /// assert_eq!(moved.to_string(), "Sw<1,0,2> o 9 o (4,4):(1,4)");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Lay::crd2idx`].
    pub const fn domain_offset(&self, coord: &Coord) -> Result<Composed, Error> {
        match self.offset.checked_add(tri!(self.layout.crd2idx(coord))) {
            Some(offset) => Ok(Composed { offset, ..*self }),
            None => Err(Error::Overflow { op: "an offset" }),
        }
    }

    /// The layout of elements of `new_bits` bits over the same memory as this layout's elements of `old_bits` bits.
    ///
    /// ```
    /// use girih_layout::Composed;
    /// let bytes = Composed::parse("Sw<3,4,3> o 0 o (8,128):(128,1)")?;
    /// assert_eq!(bytes.recast(8, 16)?.to_string(), "Sw<3,3,3> o 0 o (8,64):(64,1)");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Lay::recast`] and [`Swizzle::upcast`]; [`Error::Unsupported`] unless the ratio of the sizes is a power of two that divides
    /// the offset.
    pub const fn recast(&self, old_bits: i64, new_bits: i64) -> Result<Composed, Error> {
        const OP: &str = "recast of a swizzled layout";
        let layout = tri!(self.layout.recast(old_bits, new_bits));
        let (small, large) = if old_bits < new_bits { (old_bits, new_bits) } else { (new_bits, old_bits) };
        let ratio = large / small;
        if large % small != 0 || ratio & (ratio - 1) != 0 {
            return Err(Error::Unsupported { op: OP, what: "a ratio that is no power of two" });
        }
        let n = ratio.trailing_zeros();
        if old_bits >= new_bits {
            let Some(offset) = self.offset.checked_mul(ratio) else {
                return Err(Error::Overflow { op: "an offset" });
            };
            return Ok(Composed { swizzle: tri!(self.swizzle.downcast(n)), offset, layout });
        }
        if self.offset % ratio != 0 {
            return Err(Error::Unsupported { op: OP, what: "an offset inside a unit" });
        }
        Ok(Composed { swizzle: tri!(self.swizzle.upcast(n)), offset: self.offset / ratio, layout })
    }
}

impl Composed {
    /// The plain layout and offset with the same indices, if there are any: `index(c) = offset + layout(c)`. A slice that the swizzle moves as
    /// a whole decays, and its accesses need no exclusive or any more.
    ///
    /// ```
    /// use girih_layout::{Composed, Coord, Swizzle, lay};
    /// let tile = Composed::new(Swizzle::new(3, 3, 3)?, 0, lay!("(8,64):(64,1)"));
    /// let row = tile.slice(&Coord::parse("(3,_)")?)?;
    /// // Row 3: blocks of 8 elements in the order 3 2 1 0 7 6 5 4.
    /// assert_eq!(row.decay()?, (lay!("((8,4,2)):((1,-8,32))"), 192 + 24));
    /// assert!(tile.decay().is_err());
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoLayout`] with a witness where there is none; [`Error::Capacity`] for more than 2^24 coordinates, [`Error::NotKnown`] for symbols.
    pub const fn decay(&self) -> Result<(Lay, i64), Error> {
        const OP: &str = "decay of a swizzled layout";
        match tri!(self.layout.size()).get() {
            Some(size) if size <= 1 << 24 => {}
            _ => return Err(Error::Capacity { op: OP }),
        }
        let function =
            Function::Swizzled { swizzle: self.swizzle, offset: self.offset, layout: &self.layout };
        let (mut out, root) = (Lay::EMPTY, self.layout.root());
        match tri!(function.lay_out(&Space::INTEGERS, &self.layout.shape, root, &mut out)) {
            Ok(()) => Ok((out, self.swizzle.apply(self.offset))),
            Err(refusal) => Err(Error::NoLayout { op: OP, witness: refusal.witness }),
        }
    }

    /// [`Lay::max_alignment`], as far as the swizzle keeps elements together.
    ///
    /// ```
    /// use girih_layout::Composed;
    /// assert_eq!(Composed::parse("Sw<3,3,3> o 0 o (8,64):(64,1)")?.max_alignment()?, 8);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Lay::max_alignment`].
    pub const fn max_alignment(&self) -> Result<i64, Error> {
        let mut whole = tri!(self.layout.max_alignment());
        whole = if self.offset == 0 { whole } else { crate::leaf::symbol::gcd(whole, self.offset) };
        let kept = 1 << self.swizzle.base();
        Ok(if self.swizzle.bits() == 0 { whole } else { crate::leaf::symbol::gcd(whole, kept) })
    }
}

impl F2Matrix {
    /// The map of a swizzled layout, whose offset must be 0 (with another offset the map is affine, see
    /// [`Composed::decay`]).
    ///
    /// ```
    /// use girih_layout::{Composed, F2Matrix};
    /// let composed = Composed::parse("Sw<1,0,1> o 0 o (2,2):(2,1)")?;
    /// assert_eq!(F2Matrix::of_composed(&composed)?.columns(), [3, 1]);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`F2Matrix::of_layout`]; [`Error::Unsupported`] for an offset.
    pub const fn of_composed(composed: &Composed) -> Result<F2Matrix, Error> {
        if composed.offset() != 0 {
            return Err(Error::Unsupported { op: OP, what: "an offset" });
        }
        let mut out = tri!(F2Matrix::of_layout(composed.layout()));
        let mut i = 0;
        while i < out.inputs() as usize {
            out.set(i, composed.swizzle().apply(out.columns()[i] as i64) as u64);
            i += 1;
        }
        Ok(out)
    }
}

impl fmt::Display for Composed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} o {} o ", self.swizzle, self.offset)?;
        self.layout.fmt(f)
    }
}

impl fmt::Debug for Composed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:#}")
    }
}
