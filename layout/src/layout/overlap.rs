//! Overlap: whether two layouts, or two coordinates of one, have an index in common.

use crate::arith::equation::Equation;
use crate::{Coord, Crd, Error, Int, Lay, Stride};

impl Lay {
    /// A coordinate of each of two layouts that have the same index, where `self` begins at `offset` and `other` at
    /// `other_offset`: `offset + self(a) = other_offset + other(b)`. `None` means that the layouts are disjoint. Exact for
    /// strides of any sign; sizes do not matter.
    ///
    /// Both must count the same units. Arrays of different elements have bytes in common, see [`Lay::units`].
    ///
    /// ```
    /// use girih_layout::lay;
    /// // The left and the right half of the columns of one matrix.
    /// let half = lay!("(4096,512):(1024,1)");
    /// assert_eq!(half.overlap(0, &half, 512)?, None);
    /// // One column more, and the first column of the right half is the last of the left.
    /// let (a, b) = lay!("(4096,513):(1024,1)").overlap(0, &half, 512)?.expect("512 is met");
    /// assert_eq!(half.crd2idx(&b)? + 512, lay!("(4096,513):(1024,1)").crd2idx(&a)?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotKnown`] for symbols, [`Error::Unsupported`] for basis strides and F2 columns, [`Error::Overflow`] past 128 bits.
    /// [`Error::Undecided`] where many modes with unrelated strides make the search too long; modes that build on one another
    /// count as one.
    pub const fn overlap(
        &self,
        offset: i64,
        other: &Lay,
        other_offset: i64,
    ) -> Result<Option<(Coord, Coord)>, Error> {
        const OP: &str = "overlap";
        let mut equation = Equation::new(OP, other_offset as i128 - offset as i128);
        let mut i = 0;
        while i < self.leaf_count() {
            let (extent, stride) = tri!(self.known_mode(OP, i));
            tri!(equation.push(extent, stride));
            i += 1;
        }
        let mut i = 0;
        while i < other.leaf_count() {
            let (extent, stride) = tri!(other.known_mode(OP, i));
            tri!(equation.push(extent, -stride));
            i += 1;
        }
        match tri!(equation.solve()) {
            Some(x) => Ok(Some((tri!(self.coord_of(&x, 0)), tri!(other.coord_of(&x, self.leaf_count()))))),
            None => Ok(None),
        }
    }

    /// Two different coordinates that have the same index; `None` for an injective layout. Exact for strides of any
    /// sign; sizes do not matter.
    ///
    /// ```
    /// use girih_layout::lay;
    /// let l = lay!("(4,2):(2,4)");
    /// let (a, b) = l.self_overlap()?.expect("4 is met twice");
    /// assert!(a != b && l.crd2idx(&a)? == l.crd2idx(&b)?);
    /// assert_eq!(lay!("(3,8,2):(32,1,40)").self_overlap()?, None);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Lay::is_injective`].
    pub const fn self_overlap(&self) -> Result<Option<(Coord, Coord)>, Error> {
        self.met_twice("self_overlap")
    }

    /// Whether no two coordinates share an index: exact for any strides. [`Lay::self_overlap`] says which ones do.
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert!(lay!("(4,2):(2,3)").is_injective()?); // though the strides interleave
    /// assert!(!lay!("(4,2):(2,4)").is_injective()?); // 4 is met twice
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Lay::preimage`]; [`Error::NeedsFact`] for a stride of 0 whose symbolic extent may be 1.
    pub const fn is_injective(&self) -> Result<bool, Error> {
        Ok(tri!(self.met_twice("is_injective")).is_none())
    }

    const fn met_twice(&self, op: &'static str) -> Result<Option<(Coord, Coord)>, Error> {
        let origin = Coord::zeros(self.shape.profile);
        if let Some(leaf) = tri!(self.stands_still(op, 1)) {
            let mut other = origin;
            tri!(other.set(leaf, Crd::At(1)));
            return Ok(Some((origin, other)));
        }
        if self.has_columns() {
            return self.columns_met_twice(op, origin);
        }
        // Of two coordinates with the same index, some leaf is the first in which they differ. Let that of the first be
        // greater by 1 + x there; in the leaves after it the differences are -(s-1) + x for an x below 2s-1.
        let mut first = 0;
        while first < self.leaf_count() {
            let (extent, stride) = tri!(self.known_mode(op, first));
            if extent > 1 {
                let mut sum = -stride;
                let mut i = first + 1;
                while i < self.leaf_count() {
                    let (extent, stride) = tri!(self.known_mode(op, i));
                    sum = match (extent - 1).checked_mul(stride) {
                        Some(reach) => match sum.checked_add(reach) {
                            Some(sum) => sum,
                            None => return Err(Error::Overflow { op }),
                        },
                        None => return Err(Error::Overflow { op }),
                    };
                    i += 1;
                }
                let mut equation = Equation::new(op, sum);
                tri!(equation.push(extent - 1, stride));
                let mut i = first + 1;
                while i < self.leaf_count() {
                    let (extent, stride) = tri!(self.known_mode(op, i));
                    tri!(equation.push(2 * extent - 1, stride));
                    i += 1;
                }
                if let Some(x) = tri!(equation.solve()) {
                    let (mut a, mut b) = (origin, origin);
                    let mut i = first;
                    while i < self.leaf_count() {
                        let base = if i == first { -1 } else { tri!(self.known_mode(op, i)).0 - 1 };
                        let difference = (x[i - first] - base) as i64;
                        let (to, by) =
                            if difference < 0 { (&mut b, -difference) } else { (&mut a, difference) };
                        tri!(to.set(i, Crd::At(by)));
                        i += 1;
                    }
                    return Ok(Some((a, b)));
                }
            }
            first += 1;
        }
        Ok(None)
    }

    const fn columns_met_twice(
        &self,
        op: &'static str,
        origin: Coord,
    ) -> Result<Option<(Coord, Coord)>, Error> {
        let parts = tri!(self.parts(op));
        let vanishing = parts.map.reduced().vanishing;
        let zeros = Coord::zeros(parts.upper.shape.profile);
        if vanishing != 0 {
            return Ok(Some((origin, tri!(parts.coord(self, vanishing as i64, &zeros)))));
        }
        match tri!(parts.upper.met_twice(op)) {
            Some((a, b)) => Ok(Some((tri!(parts.coord(self, 0, &a)), tri!(parts.coord(self, 0, &b))))),
            None => Ok(None),
        }
    }

    /// The units of elements of `n` units each: a mode `n:1` before the layout, whose strides count units. With it, views
    /// of elements of different sizes can be compared in bytes, or in bits.
    ///
    /// ```
    /// use girih_layout::lay;
    /// let floats = lay!("(4,8):(8,1)").units(4)?;
    /// assert_eq!(floats, lay!("(4,(4,8)):(1,(32,4))"));
    /// // Halves in the second half of each float's row of 32 bytes meet the floats from byte 16 on.
    /// assert!(floats.overlap(0, &lay!("(4,8):(16,1)").units(2)?, 16)?.is_some());
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NonPositiveShape`] for `n < 1`, [`Error::Overflow`], [`Error::Capacity`], and those of [`Stride::scaled`].
    pub const fn units(&self, n: i64) -> Result<Lay, Error> {
        const OP: &str = "units";
        let (mut scaled, mut i) = (*self, 0);
        while i < self.leaf_count() {
            tri!(scaled.set_step(i, tri!(called!(OP, self.step(i).scaled(Int::value(n))))));
            i += 1;
        }
        called!(OP, Lay::concat(&[tri!(Lay::leaf(Int::value(n), Stride::Int(Int::ONE))), scaled]))
    }
}
