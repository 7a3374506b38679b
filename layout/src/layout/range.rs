//! How many coordinates a layout has, and the range of its indices.

use crate::{Error, Int, Lay, Stride, Sum};

const OP: &str = "the range of indices";

impl Lay {
    /// The number of coordinates: the product of the extents.
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert_eq!(lay!("(4,(2,3)):(6,(3,1))").size()?.get(), Some(24));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Overflow`], or [`Error::Unsupported`] for a product of more than three symbols.
    pub const fn size(&self) -> Result<Int, Error> {
        self.shape.size()
    }

    /// The least index.
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert_eq!(lay!("(4,3):(1,-4)").min_index()?, -8);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`] for basis strides and for F2 columns with an extent that is no power of two, [`Error::NotKnown`] for
    /// symbols, [`Error::Overflow`].
    pub const fn min_index(&self) -> Result<i64, Error> {
        self.extreme(false)
    }

    /// The greatest index.
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert_eq!(lay!("(4,3):(1,-4)").max_index()?, 3);
    /// assert_eq!(lay!("(8,4):(^1,^9)").max_index()?, 31);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Lay::min_index`].
    pub const fn max_index(&self) -> Result<i64, Error> {
        self.extreme(true)
    }

    /// The least or greatest index of a layout with F2 columns: in the map of the columns the least index is 0, and
    /// elimination gives the greatest.
    const fn extreme_of_columns(&self, upper: bool) -> Result<i64, Error> {
        let parts = tri!(self.parts(OP));
        let above = tri!(parts.upper.extreme(upper));
        let below = if upper { parts.map.reduced().greatest() as i64 } else { 0 };
        match above.checked_add(below) {
            Some(index) => Ok(index),
            None => Err(Error::Overflow { op: OP }),
        }
    }

    const fn extreme(&self, upper: bool) -> Result<i64, Error> {
        if self.has_columns() {
            return self.extreme_of_columns(upper);
        }
        let (mut sum, mut i) = (0i64, 0);
        while i < self.leaf_count() {
            let stride = tri!(self.step(i).require_int(OP));
            let (n, d) = match (self.extent(i).get(), stride.get()) {
                (Some(1), _) | (_, Some(0)) => (0, 0),
                (Some(n), Some(d)) => (n - 1, d),
                (None, _) => return Err(Error::NotKnown { op: OP, value: self.extent(i).quoted() }),
                (_, None) => return Err(Error::NotKnown { op: OP, value: stride.quoted() }),
            };
            if upper == (d > 0) {
                sum = match n.checked_mul(d) {
                    Some(reach) => match sum.checked_add(reach) {
                        Some(sum) => sum,
                        None => return Err(Error::Overflow { op: OP }),
                    },
                    None => return Err(Error::Overflow { op: OP }),
                };
            }
            i += 1;
        }
        Ok(sum)
    }

    /// One more than the greatest index: the number of elements that a buffer needs.
    ///
    /// For a symbolic layout, the result holds if all extents are at least 1.
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert_eq!(lay!("(4,3):(1,8)").cosize()?.get(), Some(20)); // 16 + 4, the padding after the last column is not needed
    /// assert_eq!(lay!("(128,64):(s0,1)").cosize()?.to_string(), "127*s0 + 64");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NonPositiveStride`] where an index is negative (see [`Lay::min_index`]), and those of [`Lay::max_index`] and [`Sum::add`].
    pub const fn cosize(&self) -> Result<Sum, Error> {
        const OP: &str = "cosize";
        if self.is_symbolic() {
            return self.extent_of_indices(OP, false);
        }
        Ok(Sum::of(tri!(self.known_cosize(OP))))
    }

    /// [`Lay::cosize`], if that is a single product.
    pub(crate) const fn cosize_int(&self) -> Result<Int, Error> {
        const OP: &str = "cosize";
        if self.is_symbolic() {
            return match tri!(self.extent_of_indices(OP, false)).int() {
                Some(int) => Ok(int),
                None => Err(Error::NotKnown { op: OP, value: self.first_symbolic().quoted() }),
            };
        }
        self.known_cosize(OP)
    }

    const fn known_cosize(&self, op: &'static str) -> Result<Int, Error> {
        let least = tri!(self.min_index());
        if least < 0 {
            return Err(Error::NonPositiveStride { op, stride: Int::value(least).quoted() });
        }
        let Some(cosize) = tri!(self.max_index()).checked_add(1) else {
            return Err(Error::Overflow { op });
        };
        Ok(if self.is_static() { Int::fixed(cosize) } else { Int::value(cosize) })
    }

    /// The number of indices from the least to the greatest, `max_index - min_index + 1`; CuTe calls this the cosize of
    /// a layout with negative strides.
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert_eq!(lay!("(4,3):(1,-4)").span()?.get(), Some(12));
    /// assert_eq!(lay!("(4,s0):(1,-4)").span()?.to_string(), "4*s0");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Lay::max_index`] without [`Error::NotKnown`], and those of [`Sum::add`].
    pub const fn span(&self) -> Result<Sum, Error> {
        if self.is_symbolic() {
            return self.extent_of_indices(OP, true);
        }
        match tri!(self.max_index()).checked_sub(tri!(self.min_index())) {
            Some(reach) if reach < i64::MAX => Ok(Sum::of(Int::value(reach + 1))),
            _ => Err(Error::Overflow { op: OP }),
        }
    }

    /// One more than the sum of the modes' reaches. Negative strides count with their absolute value if `either_way` is
    /// set, and are refused otherwise.
    const fn extent_of_indices(&self, op: &'static str, either_way: bool) -> Result<Sum, Error> {
        let (mut sum, mut i) = (Sum::of(Int::ONE), 0);
        while i < self.leaf_count() {
            tri!(sum.push_reach(op, self.extent(i), tri!(self.step(i).require_int(op)), either_way));
            i += 1;
        }
        Ok(sum)
    }

    pub(crate) const fn first_symbolic(&self) -> Int {
        let mut i = 0;
        while i < self.leaf_count() {
            if self.extent(i).is_symbolic() {
                return self.extent(i);
            }
            if let Stride::Int(d) = self.step(i)
                && d.is_symbolic()
            {
                return d;
            }
            i += 1;
        }
        Int::ONE
    }
}

impl Sum {
    /// Adds how far a mode reaches, `(extent - 1) * stride`.
    pub(crate) const fn push_reach(
        &mut self,
        op: &'static str,
        extent: Int,
        stride: Int,
        either_way: bool,
    ) -> Result<(), Error> {
        if extent.is(1) || stride.is(0) {
            return Ok(());
        }
        let mut by = stride;
        // A symbol is at least 0: the coefficient has the sign.
        if stride.coefficient() < 0 {
            if !either_way {
                return Err(Error::NonPositiveStride { op, stride: stride.quoted() });
            }
            by = tri!(stride.neg());
        }
        // A known extent first loses its 1, so that nothing overflows on the way.
        match extent.get() {
            Some(extent) => self.push(tri!(by.mul(Int::value(extent - 1)))),
            None => {
                tri!(self.push(tri!(extent.mul(by))));
                self.push(tri!(by.neg()))
            }
        }
    }
}
