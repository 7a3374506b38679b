//! How many coordinates a layout has, and which indices they reach.

use crate::{Error, Int, Lay, MAX_LEAVES, Shape, Stride};

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
    /// [`Error::Overflow`], or [`Error::Unsupported`] for a product of more than two symbols.
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
    /// [`Error::Unsupported`] for basis strides and for F2 columns beside an extent that is no power of two, [`Error::NotKnown`] for
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

    /// Below the columns' highest bit the least index is 0 and the greatest comes out of elimination.
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
                (None, _) => return Err(Error::NotKnown { op: OP, value: self.extent(i) }),
                (_, None) => return Err(Error::NotKnown { op: OP, value: stride }),
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
    /// A symbolic layout has one where it is a single product, such as `ld*N` of an unpadded matrix.
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert_eq!(lay!("(4,3):(1,8)").cosize()?.get(), Some(20)); // 16 + 4, the padding after the last column is not needed
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NonPositiveStride`] where an index is negative (see [`Lay::min_index`]), and those of [`Lay::max_index`].
    pub const fn cosize(&self) -> Result<Int, Error> {
        const OP: &str = "cosize";
        if self.is_symbolic() {
            return self.symbolic_cosize();
        }
        let least = tri!(self.min_index());
        if least < 0 {
            return Err(Error::NonPositiveStride { op: OP, stride: Int::value(least) });
        }
        let Some(cosize) = tri!(self.max_index()).checked_add(1) else {
            return Err(Error::Overflow { op: OP });
        };
        Ok(if self.is_static() { Int::fixed(cosize) } else { Int::value(cosize) })
    }

    /// The number of indices from the least to the greatest, `max_index - min_index + 1`; what CuTe calls cosize where strides are negative.
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert_eq!(lay!("(4,3):(1,-4)").span()?, 12);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Lay::max_index`].
    pub const fn span(&self) -> Result<i64, Error> {
        match tri!(self.max_index()).checked_sub(tri!(self.min_index())) {
            Some(reach) if reach < i64::MAX => Ok(reach + 1),
            _ => Err(Error::Overflow { op: OP }),
        }
    }

    /// The least shape that holds all coordinates of an identity layout or anything computed from one: one more than the greatest
    /// position along each of the first `rank` basis vectors (CuTe's `coshape`).
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert_eq!(lay!("((4,2),3):((1@0,8@0),2@1)").coshape(2)?.to_string(), "(12,5)");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ModeOutOfRange`] for a basis vector past `rank`, [`Error::Unsupported`] for strides that are no basis vectors,
    /// [`Error::NonPositiveStride`], [`Error::NotKnown`] for symbols.
    pub const fn coshape(&self, rank: usize) -> Result<Shape, Error> {
        const OP: &str = "coshape";
        let (mut ends, mut i) = ([Int::ONE; MAX_LEAVES], 0);
        if rank > MAX_LEAVES {
            return Err(Error::Capacity { op: OP });
        }
        while i < self.leaf_count() {
            let (s, stride) = (self.extent(i), self.step(i));
            i += 1;
            if s.is(1) || stride.is_zero() {
                continue;
            }
            let Stride::Basis { scale, mode } = stride else {
                return Err(Error::Unsupported { op: OP, what: "strides that are no basis vectors" });
            };
            if mode as usize >= rank {
                return Err(Error::ModeOutOfRange { mode: mode as usize, rank });
            }
            let reach = tri!(Lay::raw_leaf(s, Stride::Int(scale)).max_index());
            if matches!(scale.get(), Some(..0)) {
                return Err(Error::NonPositiveStride { op: OP, stride: scale });
            }
            ends[mode as usize] = tri!(ends[mode as usize].add(Int::value(reach)));
        }
        let (used, _) = ends.split_at(rank);
        Shape::flat(used)
    }

    /// Strides that follow on from one another: the last end.
    const fn symbolic_cosize(&self) -> Result<Int, Error> {
        const OP: &str = "cosize";
        let (mut end, mut done, mut placed) = (Int::ONE, [false; MAX_LEAVES], 0);
        while placed < self.leaf_count() {
            let mut i = 0;
            while i < self.leaf_count() {
                let skip = self.extent(i).is(1) || self.step(i).is_zero();
                if !done[i] && (skip || self.step(i).same(Stride::Int(end))) {
                    if !skip {
                        end = tri!(end.mul(self.extent(i)));
                    }
                    done[i] = true;
                    break;
                }
                i += 1;
            }
            if i == self.leaf_count() {
                return Err(Error::NotKnown { op: OP, value: self.first_symbolic() });
            }
            placed += 1;
        }
        Ok(end)
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
