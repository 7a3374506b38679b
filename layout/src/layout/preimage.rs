//! The coordinates of an index: whether an index has a coordinate, and whether it has several.

use crate::arith::ask;
use crate::leaf::symbol::gcd;
use crate::{Coord, Crd, Error, Int, Lay, MAX_LEAVES, Stride};

const OP: &str = "a preimage";

/// The most steps of a search; only many modes with unrelated strides need more.
const STEPS: u32 = 1 << 22;

/// The modes with an extent above 1 and a stride other than 0, the longest stride first, and the sums that the modes
/// from each of these on can reach.
struct Search {
    count: usize,
    leaf: [usize; MAX_LEAVES],
    extent: [i64; MAX_LEAVES],
    stride: [i64; MAX_LEAVES],
    /// Least and greatest sum, and the common divisor, of the modes from here on.
    least: [i128; MAX_LEAVES + 1],
    greatest: [i128; MAX_LEAVES + 1],
    divisor: [i64; MAX_LEAVES + 1],
    digits: [i64; MAX_LEAVES],
    steps: u32,
}

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
    /// [`Error::NotKnown`] for symbols; [`Error::Unsupported`] for basis strides, beside F2 columns for an extent that is no power of two, and
    /// where many modes with unrelated strides make the search too long.
    pub const fn preimage(&self, index: i64) -> Result<Option<Coord>, Error> {
        if self.has_columns() {
            return self.preimage_of_columns(index);
        }
        let mut search = tri!(Search::new(self));
        if !tri!(search.descend(0, index as i128)) {
            return Ok(None);
        }
        let mut out = Coord::zeros(self.shape.profile);
        let mut i = 0;
        while i < search.count {
            tri!(out.set(search.leaf[i], Crd::At(search.digits[i])));
            i += 1;
        }
        Ok(Some(out))
    }

    const fn preimage_of_columns(&self, index: i64) -> Result<Option<Coord>, Error> {
        let parts = tri!(self.parts(OP));
        let low = index & ((1 << parts.bits) - 1);
        let inputs = tri!(tri!(parts.map.reduced().back(parts.bits)).apply(low));
        let Some(upper) = tri!(parts.upper.preimage(index - low)) else { return Ok(None) };
        if tri!(parts.map.apply(inputs)) != low {
            return Ok(None);
        }
        let mut out = Coord::zeros(self.shape.profile);
        let (mut rest, mut k, mut i) = (inputs, 0, 0);
        while i < self.leaf_count() {
            if parts.is_low[i] {
                let extent = self.extent(i).coef;
                tri!(out.set(i, Crd::At(rest & (extent - 1))));
                rest >>= extent.trailing_zeros();
            } else {
                tri!(out.set(i, upper.at_leaf(k)));
                k += 1;
            }
            i += 1;
        }
        Ok(Some(out))
    }
}

impl Lay {
    /// Whether no two coordinates share an index: exact for any strides.
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
        const OP: &str = "is_injective";
        if tri!(self.stands_still(OP, 1)) {
            return Ok(false);
        }
        if self.has_columns() {
            let parts = tri!(self.parts(OP));
            return if parts.map.reduced().dependent == 0 { parts.upper.is_injective() } else { Ok(false) };
        }
        // The digits of two coordinates that share an index differ by numbers between -(s-1) and s-1 whose index is 0.
        // Counted from -(s-1), these differences are digits of modes of extent 2s-1. The first difference other than 0
        // is positive in one of the two orders of the coordinates.
        let mut search = tri!(Search::new(self));
        let (mut k, mut origin) = (search.count, 0i128);
        while k > 0 {
            k -= 1;
            let (extent, stride) = (search.extent[k], search.stride[k] as i128);
            let mut difference = 1;
            while difference < extent {
                if tri!(search.descend(k + 1, origin - difference as i128 * stride)) {
                    return Ok(false);
                }
                difference += 1;
            }
            origin += (extent - 1) as i128 * stride;
            search.extent[k] = 2 * extent - 1;
            search.least[k] =
                search.least[k + 1] + if stride < 0 { 2 * (extent - 1) as i128 * stride } else { 0 };
            search.greatest[k] =
                search.greatest[k + 1] + if stride > 0 { 2 * (extent - 1) as i128 * stride } else { 0 };
        }
        Ok(true)
    }

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
        if tri!(self.stands_still(OP, 0)) {
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

    /// Whether a mode of extent above 1 has stride 0 or, if `below` is 0, a negative stride.
    const fn stands_still(&self, op: &'static str, below: i64) -> Result<bool, Error> {
        let (mut open, mut i) = (Ok(false), 0);
        while i < self.leaf_count() {
            let (extent, stride) = self.flat_leaf(i);
            let down = match (stride, below) {
                (Stride::Int(d), 0) => matches!(d.upper(), Some(..=0)),
                _ => stride.is_zero(),
            };
            if down && !extent.is(1) {
                match ask::is_wide(op, extent) {
                    Ok(true) => return Ok(true),
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

impl Search {
    const fn new(lay: &Lay) -> Result<Search, Error> {
        let mut out = Search {
            count: 0,
            leaf: [0; MAX_LEAVES],
            extent: [1; MAX_LEAVES],
            stride: [0; MAX_LEAVES],
            least: [0; MAX_LEAVES + 1],
            greatest: [0; MAX_LEAVES + 1],
            divisor: [0; MAX_LEAVES + 1],
            digits: [0; MAX_LEAVES],
            steps: 0,
        };
        let mut i = 0;
        while i < lay.leaf_count() {
            let stride = tri!(lay.step(i).require_known(OP));
            let Some(extent) = lay.extent(i).get() else {
                return Err(Error::NotKnown { op: OP, value: lay.extent(i).quoted() });
            };
            if extent > 1 && stride != 0 {
                out.insert(i, extent, stride);
            }
            i += 1;
        }
        let mut k = out.count;
        while k > 0 {
            k -= 1;
            let reach = (out.extent[k] - 1) as i128 * out.stride[k] as i128;
            out.least[k] = out.least[k + 1] + if reach < 0 { reach } else { 0 };
            out.greatest[k] = out.greatest[k + 1] + if reach > 0 { reach } else { 0 };
            out.divisor[k] = gcd(out.divisor[k + 1], out.stride[k]);
        }
        Ok(out)
    }

    const fn insert(&mut self, leaf: usize, extent: i64, stride: i64) {
        let mut k = self.count;
        while k > 0 && self.stride[k - 1].unsigned_abs() < stride.unsigned_abs() {
            self.leaf[k] = self.leaf[k - 1];
            self.extent[k] = self.extent[k - 1];
            self.stride[k] = self.stride[k - 1];
            k -= 1;
        }
        (self.leaf[k], self.extent[k], self.stride[k]) = (leaf, extent, stride);
        self.count += 1;
    }

    /// Whether the modes from `k` on have the sum `rest`; if so, `digits` has their digits.
    const fn descend(&mut self, k: usize, rest: i128) -> Result<bool, Error> {
        self.steps += 1;
        if self.steps > STEPS {
            return Err(Error::Unsupported { op: OP, what: "many modes of unrelated strides" });
        }
        if k == self.count {
            return Ok(rest == 0);
        }
        if rest < self.least[k] || rest > self.greatest[k] || rest % self.divisor[k] as i128 != 0 {
            return Ok(false);
        }
        // Only these digits leave a rest within the reach of the other modes.
        let d = self.stride[k] as i128;
        let (near, far) = (rest - self.greatest[k + 1], rest - self.least[k + 1]);
        let (low, high) = if d > 0 { (near, far) } else { (-far, -near) };
        let d = d.abs();
        let low = -(-low).div_euclid(d);
        let mut digit = if low < 0 { 0 } else { low };
        while digit < self.extent[k] as i128 && digit * d <= high {
            self.digits[k] = digit as i64;
            if tri!(self.descend(k + 1, rest - digit * self.stride[k] as i128)) {
                return Ok(true);
            }
            digit += 1;
        }
        Ok(false)
    }
}
