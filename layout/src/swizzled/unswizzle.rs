//! Swizzled layouts as plain ones, whose strides are columns over F2, and the operations of the algebra on such
//! layouts.

use crate::algebra::compose_columns::interleave;
use crate::{Composed, Error, Int, Lay, Stride};

impl Composed {
    /// The same function as a plain layout, with F2 columns if the swizzle moves any index: composition, inverses and
    /// the rest of the algebra take such a layout as it is. A mode that leaves the swizzle's period is split there.
    ///
    /// ```
    /// use girih_layout::{Composed, lay};
    /// let stages = Composed::parse("Sw<3,0,3> o 0 o (8,8,3):(1,8,64)")?;
    /// assert_eq!(stages.columns()?, lay!("(8,8,3):(^1,^9,64)"));
    /// // A layout after a swizzled one.
    /// assert_eq!(lay!("192:2").composition(&stages.columns()?)?, lay!("(8,8,3):(^2,^18,128)"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`] for an offset ([`Composed::decay`] returns an offset with the layout), for an extent
    /// inside the swizzle's period that is no power of two and for strides that carry there; [`Error::NeedsFact`] and
    /// [`Error::NotKnown`] for symbols there.
    pub const fn columns(&self) -> Result<Lay, Error> {
        const OP: &str = "the columns of a swizzled layout";
        if self.offset != 0 {
            return Err(Error::Unsupported { op: OP, what: "an offset" });
        }
        if self.swizzle.bits() == 0 {
            return Ok(self.layout);
        }
        self.unswizzled(OP, false)
    }

    /// The layout with the swizzle in its columns; with integer strides if no two columns have a bit in common, unless
    /// `always` asks for columns.
    const fn unswizzled(&self, op: &'static str, always: bool) -> Result<Lay, Error> {
        let period = self.swizzle.period();
        let split = tri!(self.layout.split_at(period));
        let parts = tri!(split.parts_above(period.trailing_zeros(), op));
        let (mut map, mut i) = (parts.map, 0);
        while i < map.inputs() as usize {
            map.set(i, self.swizzle.apply(map.columns()[i] as i64) as u64);
            i += 1;
        }
        let mut rest = Lay::EMPTY;
        tri!(rest.open());
        tri!(rest.push(Int::ONE, Stride::ZERO));
        tri!(rest.copy_modes(&parts.upper));
        rest.close();
        if parts.low.leaf_count() == 0 {
            return Ok(self.layout);
        }
        let low = parts.low.shape.flatten().wrap();
        interleave(&split, &parts, &tri!(map.layout_of(&low, !always && map.columns_apart())), &rest)
    }

    /// A layout `R` with `self(R(i)) = i` for all `i < size(R)`, in F2 columns where the swizzle moves anything ([`Lay::right_inverse`]).
    ///
    /// ```
    /// use girih_layout::Composed;
    /// let tile = Composed::parse("Sw<1,0,1> o 0 o (2,2):(2,1)")?;
    /// let inverse = tile.right_inverse()?;
    /// assert_eq!(inverse.to_string(), "(2,2):(^2,^3)");
    /// assert_eq!(tile.at(inverse.at(3)?)?, 3);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Composed::columns`] and [`Lay::right_inverse`]. An offset other than 0 is [`Error::Unsupported`]: the coordinate of index 0 would
    /// not be 0.
    pub const fn right_inverse(&self) -> Result<Lay, Error> {
        tri!(self.columns()).right_inverse()
    }

    /// A layout `L` with `L(self(x)) = x` for every 1-D coordinate `x`, in F2 columns where the swizzle moves anything ([`Lay::left_inverse`]).
    ///
    /// With an offset, there is an inverse if no index of the layout has a bit of the offset set, as with the offset of
    /// a pipeline's stage.
    ///
    /// ```
    /// use girih_layout::Composed;
    /// let stage = Composed::parse("Sw<1,0,1> o 8 o (2,2):(2,1)")?;
    /// let inverse = stage.left_inverse()?;
    /// for x in 0..4 {
    ///     assert_eq!(inverse.at(stage.at(x)?)?, x);
    /// }
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Composed::columns`] and [`Lay::left_inverse`]; [`Error::Unsupported`] for an offset that carries into
    /// the layout, and [`Error::Overlap`] for an offset that the layout reaches from its own first index.
    pub const fn left_inverse(&self) -> Result<Lay, Error> {
        const OP: &str = "left_inverse of a swizzled layout";
        let layout = tri!(self.unswizzled(OP, true));
        if self.offset == 0 {
            return layout.left_inverse();
        }
        if self.offset < 0 || self.layout.reachable_bits() & self.offset as u64 != 0 {
            if self.layout.is_symbolic() && self.offset > 0 {
                return Err(Error::NotKnown { op: OP, value: self.layout.first_symbolic().quoted() });
            }
            return Err(Error::Unsupported { op: OP, what: "an offset that carries into the layout" });
        }
        // The offset becomes one more digit of the domain, which the inverse drops again.
        let digit = Lay::raw_leaf(Int::value(2), Stride::F2(self.swizzle.apply(self.offset) as u64));
        let inverse = tri!(tri!(Lay::concat(&[digit, layout])).left_inverse());
        let forget = Lay::raw_leaf(Int::value(2), Stride::ZERO);
        let keep = Lay::raw_leaf(tri!(layout.size()), Stride::Int(Int::ONE));
        tri!(Lay::concat(&[forget, keep])).composition(&inverse)
    }

    /// One more than the greatest index.
    ///
    /// ```
    /// use girih_layout::Composed;
    /// assert_eq!(Composed::parse("Sw<1,0,1> o 0 o 3:1")?.cosize()?.get(), Some(4)); // 0 1 3
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Lay::size`]; [`Error::NotKnown`] for symbols; [`Error::Capacity`] for a layout of more than 2^24
    /// coordinates that [`Composed::columns`] refuses.
    pub const fn cosize(&self) -> Result<Int, Error> {
        const OP: &str = "cosize of a swizzled layout";
        if let Ok(columns) = self.columns()
            && let Ok(cosize) = columns.cosize_int()
        {
            return Ok(cosize);
        }
        let Some(size @ 0..=0x100_0000) = tri!(self.layout.size()).get() else {
            return Err(Error::Capacity { op: OP });
        };
        let (mut most, mut i) = (-1, 0);
        while i < size {
            let index = tri!(self.at(i));
            most = if index > most { index } else { most };
            i += 1;
        }
        match most.checked_add(1) {
            Some(cosize) => Ok(Int::value(cosize)),
            None => Err(Error::Overflow { op: OP }),
        }
    }

    /// [`Lay::max_common_layout`] of swizzled layouts: the longest run of indices that both have, in the coordinates of both.
    ///
    /// ```
    /// use girih_layout::{Composed, lay};
    /// let tile = Composed::parse("Sw<2,3,3> o 0 o (8,64):(64,1)")?;
    /// let plain = Composed::parse("Sw<0,4,3> o 0 o (8,64):(64,1)")?;
    /// assert_eq!(tile.max_common_layout(&plain)?, lay!("64:8"));
    /// assert_eq!(tile.max_common_layout(&tile)?.size()?.get(), Some(512));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Composed::columns`] and [`Lay::max_common_layout`].
    pub const fn max_common_layout(&self, other: &Composed) -> Result<Lay, Error> {
        tri!(self.columns()).max_common_layout(&tri!(other.columns()))
    }

    /// [`Lay::max_common_vector`] of swizzled layouts.
    ///
    /// ```
    /// use girih_layout::Composed;
    /// let tile = Composed::parse("Sw<2,3,3> o 0 o (64,8):(1,64)")?;
    /// let plain = Composed::parse("Sw<0,4,3> o 0 o (64,8):(1,64)")?;
    /// assert_eq!(tile.max_common_vector(&plain)?.get(), Some(64));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Composed::max_common_layout`].
    pub const fn max_common_vector(&self, other: &Composed) -> Result<Int, Error> {
        tri!(self.columns()).max_common_vector(&tri!(other.columns()))
    }
}

impl Lay {
    /// The same function with every mode that steps over `period`, a power of two, split into two modes, below and
    /// above `period`.
    const fn split_at(&self, period: i64) -> Result<Lay, Error> {
        let (mut out, root, mut i) = (Lay::EMPTY, self.root(), 0);
        while i < self.leaf_count() {
            let (opens, closes) = self.shape.profile.parens(root, i);
            tri!(out.shape.profile.open_many(opens));
            let (first, s, stride) = (out.leaf_count(), self.extent(i), self.step(i));
            let below = match stride {
                Stride::Int(d) if !d.is(0) => Int::value(period).div_exact(d),
                _ => None,
            };
            match below {
                Some(below) if matches!(below.get(), Some(2..)) && matches!(below.less(s), Some(true)) => {
                    if let Some(above) = s.div_exact(below) {
                        tri!(out.push(below, stride));
                        tri!(out.push(above, Stride::Int(Int::value(period))));
                    } else {
                        tri!(out.push(s, stride));
                    }
                }
                _ => tri!(out.push(s, stride)),
            }
            tri!(out.wrap_from(first));
            out.shape.profile.close_many(closes);
            i += 1;
        }
        Ok(out)
    }
}
