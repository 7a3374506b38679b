//! The common part of two layouts: the run of indices that both have at the same coordinates.

use crate::arith::ask;
use crate::{Error, F2Matrix, Int, Lay, Stride};

impl Lay {
    /// The coordinates of the longest run of indices `0, 1, 2 ...` that both layouts have in the same places: `self(R(i)) = other(R(i)) = i` for
    /// all `i < size(R)` (CuTe's `max_common_layout`).
    ///
    /// The places are those of `other`'s [`Lay::right_inverse`]. The leading modes of this inverse are taken whole as
    /// long as both layouts agree on them, and the next mode as far as they agree on it: no longer piece of the right
    /// inverse that is a layout is common to both. With symbols, the result is the run that the facts show to be
    /// common, whatever the symbols' values turn out to be.
    ///
    /// ```
    /// use girih_layout::lay;
    /// let (a, b) = (lay!("(8,4):(1,8)"), lay!("(8,4):(1,16)"));
    /// assert_eq!(a.max_common_layout(&b)?, lay!("8:1")); // a column
    /// assert_eq!(lay!("(4,8):(8,1)").max_common_layout(&lay!("(4,8):(16,1)"))?, lay!("8:4")); // a row
    /// assert_eq!(lay!("(6,2):(1,8)").max_common_layout(&lay!("(4,3):(1,4)"))?, lay!("6:1"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Lay::right_inverse`].
    pub const fn max_common_layout(&self, other: &Lay) -> Result<Lay, Error> {
        let places = tri!(other.right_inverse()).flatten();
        let (mut common, mut k) = (Lay::UNIT, 0);
        while k < places.leaf_count() {
            let (extent, stride) = places.flat_leaf(k);
            let whole = tri!(places.leading(k, extent));
            if !self.counts(&whole) {
                let part = tri!(self.longest_part(&places, k, extent, stride));
                return if part > 1 { places.leading(k, Int::value(part)) } else { Ok(common) };
            }
            common = whole;
            k += 1;
        }
        Ok(common)
    }

    /// How many elements both layouts hold in the same order without a gap: the widest vector that can be copied
    /// between them, before alignment (CuTe's `max_common_vector`).
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert_eq!(lay!("(8,4):(1,8)").max_common_vector(&lay!("(8,4):(1,16)"))?.get(), Some(8));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Lay::max_common_layout`].
    pub const fn max_common_vector(&self, other: &Lay) -> Result<Int, Error> {
        let (run, stride) = tri!(self.max_common_layout(other)).coalesce().flat_leaf(0);
        Ok(if stride.same(Stride::Int(Int::ONE)) { run } else { Int::ONE })
    }

    /// The first `k` leaves, then the next leaf with the extent `extent`.
    const fn leading(&self, k: usize, extent: Int) -> Result<Lay, Error> {
        let (mut out, mut i) = (Lay::EMPTY, 0);
        while i < k {
            tri!(out.push(self.extent(i), self.step(i)));
            i += 1;
        }
        tri!(out.push(extent, self.step(k)));
        tri!(out.wrap_from(0));
        Ok(out)
    }

    /// Whether this layout has the index `i` at the place `places(i)`, for all `i`.
    const fn counts(&self, places: &Lay) -> bool {
        let inside = match (places.cosize_int(), self.size()) {
            (Ok(end), Ok(size)) => matches!(ask::at_most(end, size), Some(true)),
            _ => false,
        };
        // The identity is a layout, so composition finds it, and its canonical form is one mode.
        match self.composition(places) {
            Ok(values) if inside => values.is_identity(),
            _ => false,
        }
    }

    const fn is_identity(&self) -> bool {
        if self.has_columns() {
            return match F2Matrix::of_layout(self) {
                Ok(map) => matches!(F2Matrix::identity(map.inputs()), Ok(identity) if map.same(&identity)),
                Err(_) => false,
            };
        }
        let values = self.coalesce();
        values.leaf_count() == 1 && (values.extent(0).is(1) || values.step(0).is_one())
    }

    /// The greatest extent of leaf `k` with which this layout still [counts](Lay::counts); for an F2 column it is a
    /// power of two.
    const fn longest_part(&self, places: &Lay, k: usize, extent: Int, stride: Stride) -> Result<i64, Error> {
        // If the extent is known, the whole extent does not count, as the caller has found; the least value of a
        // symbolic extent may.
        let beyond = match (extent.get(), extent.lower()) {
            (Some(extent), _) => extent,
            (None, Some(lower)) => lower.saturating_add(1),
            (None, None) => 1,
        };
        let (mut low, mut high) = (1, beyond);
        while high - low > 1 {
            let middle = match stride {
                Stride::F2(_) => high / 2,
                _ => low + (high - low) / 2,
            };
            if self.counts(&tri!(places.leading(k, Int::value(middle)))) {
                low = middle;
            } else {
                high = middle;
            }
            if matches!(stride, Stride::F2(_)) && low == middle {
                break;
            }
        }
        Ok(low)
    }
}
