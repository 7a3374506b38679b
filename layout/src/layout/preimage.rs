//! The coordinates of an index, and whether the indices are all of `0..size`.

use crate::arith::ask;
use crate::arith::equation::{Equation, MODES};
use crate::{Coord, Crd, Error, Int, Lay, Stride};

const OP: &str = "a preimage";

impl Lay {
    /// A coordinate, congruent to the shape, that has this index, if there is one: exact for any strides. The
    /// coordinate has position 0 in modes of stride 0.
    ///
    /// ```
    /// use girih_layout::lay;
    /// let l = lay!("(4,(2,3)):(2,(3,-1))"); // strides that interleave
    /// let c = l.preimage(7)?.expect("in the image");
    /// assert_eq!(l.crd2idx(&c)?, 7);
    /// assert_eq!(l.preimage(10)?, None); // 9 is the greatest
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotKnown`] for symbols; [`Error::Unsupported`] for basis strides, and with F2 columns for an extent that is no power of two;
    /// [`Error::Undecided`] where many modes with unrelated strides make the search too long; [`Error::Overflow`] past 128 bits.
    pub const fn preimage(&self, index: i64) -> Result<Option<Coord>, Error> {
        if self.has_columns() {
            return self.preimage_of_columns(index);
        }
        let mut equation = Equation::new(OP, index as i128);
        let mut i = 0;
        while i < self.leaf_count() {
            let (extent, stride) = tri!(self.known_mode(OP, i));
            tri!(equation.push(extent, stride));
            i += 1;
        }
        match tri!(equation.solve()) {
            Some(digits) => Ok(Some(tri!(self.coord_of(&digits, 0)))),
            None => Ok(None),
        }
    }

    /// Extent and stride of a leaf that must be known; the stride of one element is 0.
    pub(crate) const fn known_mode(&self, op: &'static str, i: usize) -> Result<(i128, i128), Error> {
        let (extent, stride) = self.flat_leaf(i);
        let Some(n) = extent.get() else {
            return Err(Error::NotKnown { op, value: extent.quoted() });
        };
        Ok((n as i128, if n == 1 { 0 } else { tri!(stride.require_known(op)) as i128 }))
    }

    /// The coordinate, congruent to the shape, with the digits from `first` on.
    pub(crate) const fn coord_of(&self, digits: &[i128; MODES], first: usize) -> Result<Coord, Error> {
        let (mut out, mut i) = (Coord::zeros(self.shape.profile), 0);
        while i < self.leaf_count() {
            tri!(out.set(i, Crd::At(digits[first + i] as i64)));
            i += 1;
        }
        Ok(out)
    }

    const fn preimage_of_columns(&self, index: i64) -> Result<Option<Coord>, Error> {
        let parts = tri!(self.parts(OP));
        let low = index & ((1 << parts.bits) - 1);
        let inputs = tri!(tri!(parts.map.reduced().back(parts.bits)).apply(low));
        let Some(upper) = tri!(parts.upper.preimage(index - low)) else { return Ok(None) };
        if tri!(parts.map.apply(inputs)) != low {
            return Ok(None);
        }
        Ok(Some(tri!(parts.coord(self, inputs, &upper))))
    }
}

impl Lay {
    /// Whether the indices are `0..size`, each once: a permutation, without holes.
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert!(lay!("(4,2):(2,1)").is_compact()?);
    /// assert!(!lay!("(4,2):(2,8)").is_compact()?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NeedsFact`] and [`Error::NotKnown`] where a symbol decides, [`Error::Unsupported`] for strides that are no integers,
    /// [`Error::Overflow`].
    pub const fn is_compact(&self) -> Result<bool, Error> {
        const OP: &str = "is_compact";
        if self.has_columns() {
            let parts = tri!(self.parts(OP));
            let onto = parts.map.reduced().leading == (1 << parts.bits) - 1;
            let once = parts.bits == parts.map.inputs();
            return if onto && once { tri!(parts.steps()).is_compact() } else { Ok(false) };
        }
        if tri!(self.stands_still(OP, 0)).is_some() {
            return Ok(false);
        }
        let modes = tri!(self.sorted(OP));
        let (mut end, mut i) = (Int::ONE, 0);
        while i < modes.leaf_count() {
            let (extent, stride) = modes.flat_leaf(i);
            let d = tri!(stride.require_int(OP));
            if !d.same(end) {
                return modes.is_compact_from(i, end);
            }
            end = tri!(end.mul(extent));
            i += 1;
        }
        Ok(true)
    }

    /// A leaf of extent above 1 with stride 0 or, if `below` is 0, a negative stride.
    pub(crate) const fn stands_still(&self, op: &'static str, below: i64) -> Result<Option<usize>, Error> {
        let (mut open, mut i) = (Ok(None), 0);
        while i < self.leaf_count() {
            let (extent, stride) = self.flat_leaf(i);
            let down = match (stride, below) {
                (Stride::Int(d), 0) => matches!(d.upper(), Some(..=0)),
                _ => stride.is_zero(),
            };
            if down && !extent.is(1) {
                match ask::is_wide(op, extent) {
                    Ok(true) => return Ok(Some(i)),
                    Ok(false) => {}
                    // Another mode may settle the question.
                    Err(error) => open = Err(error),
                }
            }
            i += 1;
        }
        open
    }

    /// Whether sorted modes are compact, of which the first `k` have the indices below `end` once each and mode `k`
    /// does not have the stride `end`: not if the modes surely leave out `end` or have an index twice.
    const fn is_compact_from(&self, k: usize, end: Int) -> Result<bool, Error> {
        const OP: &str = "is_compact";
        let (mut wide, mut all_above, mut i) = (Ok(false), true, k);
        while i < self.leaf_count() {
            let (extent, stride) = self.flat_leaf(i);
            let d = tri!(stride.require_int(OP));
            all_above = all_above && matches!(end.less(d), Some(true));
            let leads = ask::is_wide(OP, extent);
            if matches!((leads, d.less(end)), (Ok(true), Some(true))) {
                return Ok(false);
            }
            wide = if matches!(wide, Ok(true)) || matches!(leads, Ok(false)) { wide } else { leads };
            i += 1;
        }
        if all_above {
            return match wide {
                Ok(true) => Ok(false),
                Ok(false) => Ok(true),
                Err(error) => Err(error),
            };
        }
        let stride = tri!(self.flat_leaf(k).1.require_int(OP));
        Err(Error::NotKnown { op: OP, value: (if stride.is_symbolic() { stride } else { end }).quoted() })
    }
}
