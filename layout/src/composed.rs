//! A swizzle after an offset after a layout.

use core::fmt;

use crate::{Coord, Error, Lay, Swizzle, Tiler};

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
    swizzle: Swizzle,
    offset: i64,
    layout: Lay,
}

impl Composed {
    /// `swizzle o offset o layout`.
    pub const fn new(swizzle: Swizzle, offset: i64, layout: Lay) -> Composed {
        Composed { swizzle, offset, layout }
    }

    /// The swizzle, applied last.
    pub const fn swizzle(&self) -> Swizzle {
        self.swizzle
    }

    /// What is added before the swizzle, in elements.
    pub const fn offset(&self) -> i64 {
        self.offset
    }

    /// The layout, applied first.
    pub const fn layout(&self) -> &Lay {
        &self.layout
    }

    /// The index of a coordinate.
    ///
    /// # Errors
    /// As [`Lay::crd2idx`].
    pub const fn crd2idx(&self, coord: &Coord) -> Result<i64, Error> {
        self.swizzled(tri!(self.layout.crd2idx(coord)))
    }

    /// The index of a 1-D coordinate.
    ///
    /// # Errors
    /// As [`Lay::crd2idx`].
    pub const fn at(&self, position: i64) -> Result<i64, Error> {
        self.swizzled(tri!(self.layout.at(position)))
    }

    const fn swizzled(&self, index: i64) -> Result<i64, Error> {
        match index.checked_add(self.offset) {
            Some(index) => Ok(self.swizzle.apply(index)),
            None => Err(Error::Overflow { op: "an index" }),
        }
    }

    /// The modes under `_`; the positions of the rest go into the offset.
    ///
    /// # Errors
    /// As [`Lay::slice`].
    pub const fn slice(&self, coord: &Coord) -> Result<Composed, Error> {
        let (layout, offset) = tri!(self.layout.slice(coord));
        match self.offset.checked_add(offset) {
            Some(offset) => Ok(Composed { offset, layout, ..*self }),
            None => Err(Error::Overflow { op: "an offset" }),
        }
    }

    /// The layout inside, composed: `(swizzle o offset o layout) o right`.
    ///
    /// # Errors
    /// As [`Lay::compose`].
    pub const fn compose(&self, right: &Tiler) -> Result<Composed, Error> {
        Ok(Composed { layout: tri!(self.layout.compose(right)), ..*self })
    }

    /// The layout inside, divided.
    ///
    /// # Errors
    /// As [`Lay::logical_divide`].
    pub const fn logical_divide(&self, tiler: &Tiler) -> Result<Composed, Error> {
        Ok(Composed { layout: tri!(self.layout.logical_divide(tiler)), ..*self })
    }

    /// The layout inside, divided and zipped.
    ///
    /// # Errors
    /// As [`Lay::logical_divide`].
    pub const fn zipped_divide(&self, tiler: &Tiler) -> Result<Composed, Error> {
        Ok(Composed { layout: tri!(self.layout.zipped_divide(tiler)), ..*self })
    }

    /// Elements of `new_bits` over the same memory as elements of `old_bits`.
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
