//! Layouts with F2 columns, taken apart into a linear map over F2, whose indices are below some power of two, and
//! integers in steps of that power above.
//!
//! In the map, indices join by exclusive or, and Gaussian elimination takes the place of sorting by stride; above it,
//! the rules for integers hold. A layout that is no such pair, because an extent is no power of two or a sum carries
//! into the columns, is refused.

use crate::arith::ask;
use crate::f2::elimination::Reduced;
use crate::tuple::store::Small;
use crate::{Coord, Crd, Error, F2Matrix, Int, Lay, MAX_LEAVES, Stride};

/// The two parts of a layout.
#[derive(Clone, Copy)]
pub(crate) struct Parts {
    /// The leaves of the map, flat.
    pub(crate) low: Lay,
    /// The map itself: its indices are below `2^bits`.
    pub(crate) map: F2Matrix,
    pub(crate) bits: u32,
    /// The other leaves, flat: integer strides, multiples of `2^bits`.
    pub(crate) upper: Lay,
    /// Whether a leaf belongs to the map.
    pub(crate) is_low: [bool; MAX_LEAVES],
}

impl Parts {
    /// `2^bits`.
    pub(crate) const fn unit(&self) -> Int {
        Int::value(1 << self.bits)
    }

    /// The upper indices in steps of `2^bits`.
    pub(crate) const fn steps(&self) -> Result<Lay, Error> {
        let (mut out, mut i) = (self.upper, 0);
        while i < out.leaf_count() {
            if let Stride::Int(d) = out.step(i)
                && let Some(steps) = d.div_exact(self.unit())
            {
                tri!(out.set_step(i, Stride::Int(steps)));
            }
            i += 1;
        }
        Ok(out)
    }

    /// The coordinate of `of`, the layout of these parts, that is `inputs` in the map and `upper` in the other part.
    pub(crate) const fn coord(&self, of: &Lay, inputs: i64, upper: &Coord) -> Result<Coord, Error> {
        let mut out = Coord::zeros(of.shape.profile);
        let (mut rest, mut k, mut i) = (inputs, 0, 0);
        while i < of.leaf_count() {
            if self.is_low[i] {
                let extent = of.extent(i).coef;
                tri!(out.set(i, Crd::At(rest & (extent - 1))));
                rest >>= extent.trailing_zeros();
            } else {
                tri!(out.set(i, upper.at_leaf(k)));
                k += 1;
            }
            i += 1;
        }
        Ok(out)
    }

    /// The bits that integer strides of the map use.
    pub(crate) const fn integer_bits(&self) -> u64 {
        let (mut out, mut input, mut i) = (0, 0, 0);
        while i < self.low.leaf_count() {
            let end = input + self.low.extent(i).coef.trailing_zeros() as usize;
            while input < end {
                if matches!(self.low.step(i), Stride::Int(_)) {
                    out |= self.map.columns()[input];
                }
                input += 1;
            }
            i += 1;
        }
        out
    }

    /// Refuses a map that has an index twice. Columns that are 0 in the map itself are accepted if `zeros` is set.
    pub(crate) const fn require_independent(&self, reduced: &Reduced, zeros: bool) -> Result<(), Error> {
        let (mut input, mut i) = (0, 0);
        while i < self.low.leaf_count() {
            let end = input + self.low.extent(i).coef.trailing_zeros() as usize;
            while input < end {
                if reduced.dependent >> input & 1 == 1 && !(zeros && self.map.columns()[input] == 0) {
                    return Err(Error::Overlap {
                        extent: self.low.extent(i).quoted(),
                        stride: self.low.step(i).quoted(),
                    });
                }
                input += 1;
            }
            i += 1;
        }
        Ok(())
    }
}

impl Lay {
    /// Divides the leaves of a layout between the map and the integers above.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for an extent that is no power of two below the columns' highest bit and for integers that carry there,
    /// [`Error::NeedsFact`] and [`Error::NotKnown`] for symbols there.
    pub(crate) const fn parts(&self, op: &'static str) -> Result<Parts, Error> {
        self.parts_above(0, op)
    }

    /// [`Lay::parts`] with a map of at least `least` bits.
    pub(crate) const fn parts_above(&self, least: u32, op: &'static str) -> Result<Parts, Error> {
        let (bits, is_low) = tri!(self.column_bits(least, op));
        let (mut low, mut upper, mut i) = (Lay::EMPTY, Lay::EMPTY, 0);
        tri!(low.open());
        tri!(upper.open());
        while i < self.leaf_count() {
            let part = if is_low[i] { &mut low } else { &mut upper };
            // A column of 0 is the integer 0.
            let idle = self.extent(i).is(1) || self.step(i).is_zero();
            tri!(part.push(self.extent(i), if idle { Stride::ZERO } else { self.step(i) }));
            i += 1;
        }
        low.close();
        upper.close();
        Ok(Parts { map: tri!(F2Matrix::of_layout(&low)), low, bits, upper, is_low })
    }

    /// [`Lay::parts`] of flat modes such that all leaves of the map come first: then the low bits of the coordinate are
    /// the inputs of the map.
    pub(crate) const fn leading_parts(&self, op: &'static str) -> Result<Parts, Error> {
        let mut least = 0;
        loop {
            let parts = tri!(self.parts_above(least, op));
            let mut i = 0;
            while i < self.leaf_count() && parts.is_low[i] {
                i += 1;
            }
            if i == parts.low.leaf_count() {
                return Ok(parts);
            }
            // The first leaf outside of the map is before a leaf of the map: widen the map to include it.
            least = match (self.extent(i).get(), self.step(i)) {
                (Some(extent), Stride::Int(d)) if extent & (extent - 1) == 0 && d.coef > 0 => {
                    let width = d.coef.ilog2() + extent.ilog2();
                    if width > 61 || d.is_symbolic() { return self.whole_map() } else { width }
                }
                _ => return self.whole_map(),
            };
        }
    }

    /// All leaves as one map.
    pub(crate) const fn whole_map(&self) -> Result<Parts, Error> {
        let map = tri!(F2Matrix::of_layout(self));
        let bits = match map.reduced().leading.checked_ilog2() {
            Some(top) => top + 1,
            None => 0,
        };
        Ok(Parts { low: self.flatten(), map, bits, upper: Lay::EMPTY, is_low: [true; MAX_LEAVES] })
    }

    /// How many bits the columns need together with the integer strides that are among them, and which leaves these
    /// are.
    const fn column_bits(&self, least: u32, op: &'static str) -> Result<(u32, [bool; MAX_LEAVES]), Error> {
        let (mut bits, mut is_low) = (least, [false; MAX_LEAVES]);
        let mut settled = false;
        while !settled {
            settled = true;
            let mut i = 0;
            while i < self.leaf_count() {
                let (s, stride) = (self.extent(i), self.step(i));
                if !is_low[i] && tri!(is_among(s, stride, bits, op)) {
                    let Some(extent) = s.get() else { return Err(Error::NotKnown { op, value: s.quoted() }) };
                    if extent & (extent - 1) != 0 {
                        return Err(Error::Unsupported {
                            op,
                            what: "an extent that is no power of two among F2 columns",
                        });
                    }
                    let column = match stride {
                        _ if extent == 1 => 0,
                        Stride::F2(column) => column,
                        stride => tri!(stride.require_known(op)) as u64,
                    };
                    let width = match column.checked_ilog2() {
                        Some(top) => top + extent.trailing_zeros(),
                        None => 0,
                    };
                    if width > 61 {
                        return Err(Error::Overflow { op });
                    }
                    (bits, is_low[i], settled) = (if width > bits { width } else { bits }, true, false);
                }
                i += 1;
            }
        }
        Ok((bits, is_low))
    }

    /// Refuses modes whose indices F2 columns would join by exclusive or where adding is meant: no other mode may reach
    /// the bits of a mode with columns.
    pub(crate) const fn require_modes_apart(&self, op: &'static str) -> Result<(), Error> {
        let (mut columns, mut all, mut k) = (0u64, 0u64, 0);
        while k < self.rank() {
            let mode = tri!(self.mode(k));
            let bits = mode.reachable_bits();
            let meets = if mode.has_columns() { all } else { columns };
            if bits & meets != 0 {
                return Err(Error::Unsupported {
                    op,
                    what: "F2 columns over bits that another mode reaches",
                });
            }
            all |= bits;
            columns |= if mode.has_columns() { bits } else { 0 };
            k += 1;
        }
        Ok(())
    }

    /// Refuses copies of this block that would not be the block moved by an offset, because integers would carry into
    /// columns or columns would toggle bits of integers.
    pub(crate) const fn require_movable(&self, copies: &Lay, op: &'static str) -> Result<(), Error> {
        if !self.has_columns() && !copies.has_columns() {
            return Ok(());
        }
        let (own, theirs) = (self.part_bits(true), copies.part_bits(true));
        if own | theirs == 0 {
            return Ok(());
        }
        let (fixed, moved) = (self.part_bits(false), copies.part_bits(false));
        let among = ((own | theirs).ilog2() + 1) as u64;
        let carries = fixed & moved & (u64::MAX >> (64 - among)) != 0;
        // Inside its map, the block joins indices by exclusive or anyway.
        let above = u64::MAX << tri!(self.parts(op)).bits;
        if carries || fixed & theirs & above != 0 {
            return Err(Error::Unsupported { op, what: "F2 columns over bits that integer strides reach" });
        }
        Ok(())
    }

    /// The bits that the leaves of F2 columns reach, or those that the other leaves reach.
    const fn part_bits(&self, columns: bool) -> u64 {
        let (mut part, mut i) = (*self, 0);
        while i < part.leaf_count() {
            if columns != matches!(part.step(i), Stride::F2(_)) {
                part.steps.set(i, Small::ZERO);
            }
            i += 1;
        }
        part.filter_zeros().reachable_bits()
    }

    /// A mask of the bits that indices have; it may have bits that no index has.
    pub(crate) const fn reachable_bits(&self) -> u64 {
        if let Ok(map) = F2Matrix::of_layout(self) {
            let (mut out, mut i) = (0, 0);
            while i < map.inputs() as usize {
                out |= map.columns()[i];
                i += 1;
            }
            return out;
        }
        let most = match (self.min_index(), self.max_index()) {
            (Ok(0), Ok(most)) => (most as u64 + 1).next_power_of_two() - 1,
            _ => u64::MAX,
        };
        most & u64::MAX << self.common_zeros()
    }

    /// How many low bits are 0 in all indices.
    const fn common_zeros(&self) -> u32 {
        let (mut zeros, mut i) = (62, 0);
        while i < self.leaf_count() && zeros > 0 {
            let lacks = match self.step(i) {
                Stride::Int(d) => d.div_exact(Int::value(1 << zeros)).is_some(),
                Stride::F2(column) => column.trailing_zeros() >= zeros,
                Stride::Basis { .. } => false,
            };
            (zeros, i) = if lacks || self.extent(i).is(1) { (zeros, i + 1) } else { (zeros - 1, i) };
        }
        zeros
    }
}

/// Whether a leaf has to be part of the map of `bits` bits: an F2 column other than 0, an extent of 1, an integer
/// stride that is no multiple of `2^bits`, or a stride of 0 whose extent is a power of two.
const fn is_among(s: Int, stride: Stride, bits: u32, op: &'static str) -> Result<bool, Error> {
    if s.is(1) {
        return Ok(true);
    }
    let Stride::Int(d) = stride else {
        return match stride {
            Stride::F2(column) => Ok(column != 0 || matches!(s.get(), Some(n) if n & (n - 1) == 0)),
            _ => Err(Error::Unsupported { op, what: "basis strides beside F2 columns" }),
        };
    };
    if d.is(0) {
        return Ok(matches!(s.get(), Some(n) if n & (n - 1) == 0));
    }
    if d.div_exact(Int::value(1 << bits)).is_some() {
        return Ok(false);
    }
    match (d.is_symbolic(), d.get()) {
        (true, _) => Err(ask::divisible(op, d, 1 << bits)),
        (_, Some(n)) if n < 0 => Err(Error::NonPositiveStride { op, stride: d.quoted() }),
        _ => Ok(true),
    }
}
