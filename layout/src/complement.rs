//! Complement: the indices that a layout leaves out (CuTe guide, 02 Layout algebra, Complement).

use crate::columns::Parts;
use crate::{Error, Int, Lay, Stride, ask};

const OP: &str = "complement";

/// What to do where a mode ends inside the step of the next one.
#[derive(Clone, Copy)]
enum Holes {
    Refuse,
    Floor,
}

impl Lay {
    /// The layout, strictly increasing from 0, that together with this one fills `0..cotarget`: `(self, complement)` meets every index
    /// below the cotarget exactly once.
    ///
    /// Modes of extent 1 and of stride 0 don't count. Sorted by stride, each mode must end where a step of the next can begin: its extent
    /// times its stride divides the next stride. Where the last end does not divide the cotarget, the complement covers the cotarget rounded
    /// up to it.
    ///
    /// ```
    /// use girih_layout::{Int, lay};
    /// assert_eq!(lay!("(2,2):(1,6)").complement(Int::fixed(24))?, lay!("(3,2):(2,12)"));
    /// // Columns over F2 and their complement meet by exclusive or: each element of the diagonal 0 9 18 27 ... 63, and its row.
    /// assert_eq!(lay!("8:^9").complement(Int::fixed(64))?, lay!("8:1"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotTractable`] where the holes are irregular, [`Error::Overlap`] where modes overlap, [`Error::NonPositiveStride`];
    /// [`Error::NotKnown`] and [`Error::NeedsFact`] where a symbol decides; [`Error::Unsupported`] for basis strides, and beside F2 columns
    /// for an extent that is no power of two.
    pub const fn complement(&self, cotarget: Int) -> Result<Lay, Error> {
        called!("complement", self.complement_with(cotarget, Holes::Refuse))
    }

    /// CuTe's complement: where a mode ends inside the step of the next, the step is rounded down. The result is increasing and disjoint
    /// from the layout, but leaves indices out: `(2,2):(1,3)` in 12 gives `2:6`.
    ///
    /// ```
    /// use girih_layout::{Int, lay};
    /// assert_eq!(lay!("(2,2):(1,3)").complement_floor(Int::fixed(12))?, lay!("2:6"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Lay::complement`]; [`Error::NotTractable`] only where modes interleave, such as in `(4,2):(2,3)`.
    pub const fn complement_floor(&self, cotarget: Int) -> Result<Lay, Error> {
        called!("complement_floor", self.complement_with(cotarget, Holes::Floor))
    }

    const fn complement_with(&self, cotarget: Int, holes: Holes) -> Result<Lay, Error> {
        if self.is_sorted() {
            return written!(|out| holes_into(self, cotarget, holes, out));
        }
        if self.has_columns() {
            return written!(|out| tri!(self.parts(OP)).complement_into(cotarget, out));
        }
        let mut modes = Lay::EMPTY;
        written!(|out| match self.sort_into(OP, &mut modes) {
            Ok(()) => holes_into(&modes, cotarget, holes, out),
            Err(error) => Err(error),
        })
    }

    /// Whether the leaves are those of [`Lay::sorted`] as they stand.
    pub(crate) const fn is_sorted(&self) -> bool {
        let (mut before, mut i) = (0, 0);
        while i < self.leaf_count() {
            let (s, Stride::Int(d)) = (self.extent(i), self.step(i)) else { return false };
            let Some(d) = d.get() else { return false };
            if s.is(1) || d <= before {
                return false;
            }
            before = d;
            i += 1;
        }
        true
    }

    /// The modes that lead somewhere, by increasing stride, flat. Symbolic strides, which the known ones are taken to be below, come last, each
    /// before its multiples.
    pub(crate) const fn sorted(&self, op: &'static str) -> Result<Lay, Error> {
        written!(|out| self.sort_into(op, out))
    }

    /// Writes [`Lay::sorted`] into an empty layout.
    pub(crate) const fn sort_into(&self, op: &'static str, out: &mut Lay) -> Result<(), Error> {
        let mut i = 0;
        while i < self.leaf_count() {
            let (s, stride) = (self.extent(i), self.step(i));
            i += 1;
            if s.is(1) || stride.is_zero() {
                continue;
            }
            let d = tri!(stride.require_int(op));
            match (d.lower(), d.first_symbol()) {
                (Some(1..), _) => {}
                (Some(0), Some(_)) => return Err(ask::at_least(op, d, 1)),
                _ => return Err(Error::NonPositiveStride { op, stride: d }),
            }
            tri!(out.push(s, stride));
            let (mut to, last) = (0, out.leaf_count() - 1);
            while to < last && !before(d, out.step(to)) {
                to += 1;
            }
            let mut k = last;
            while k > to {
                out.copy_leaf(k, k - 1);
                k -= 1;
            }
            tri!(out.set_extent(to, s));
            tri!(out.set_step(to, stride));
        }
        Ok(())
    }
}

impl Parts {
    /// Appends the complement up to the cotarget to `out`, as one node: below, the least index of every coset of the map's image.
    pub(crate) const fn complement_into(&self, cotarget: Int, out: &mut Lay) -> Result<(), Error> {
        let reduced = self.map.reduced();
        tri!(self.require_independent(&reduced, true));
        let (first, taken) = (out.leaf_count(), self.integer_bits());
        let mut free = !reduced.leading & ((1 << self.bits) - 1);
        while free != 0 {
            let (row, run) = (free.trailing_zeros(), (free >> free.trailing_zeros()).trailing_ones());
            let (bit, extent) = (1u64 << row, 1i64 << run);
            // An integer would carry into the integers of the map; a column joins them.
            let stride = match taken >> row & (extent as u64 - 1) {
                0 => Stride::Int(Int::value(bit as i64)),
                _ => Stride::F2(bit),
            };
            tri!(out.push(Int::value(extent), stride));
            free &= !((extent as u64 - 1) << row);
        }
        let upper = tri!(self.upper.sorted(OP));
        tri!(holes_from(self.unit(), &upper, cotarget, Holes::Refuse, out));
        out.wrap_from(first)
    }

    /// Where the last mode ends.
    pub(crate) const fn end(&self) -> Result<Int, Error> {
        let upper = tri!(self.upper.sorted(OP));
        if upper.leaf_count() == 0 { Ok(self.unit()) } else { end_of(&upper) }
    }
}

/// Appends the holes of sorted modes up to the cotarget to `out`, as one node.
const fn holes_into(modes: &Lay, cotarget: Int, holes: Holes, out: &mut Lay) -> Result<(), Error> {
    let first = out.leaf_count();
    tri!(holes_from(Int::ONE, modes, cotarget, holes, out));
    out.wrap_from(first)
}

/// Appends the holes between `begin` and the cotarget, side by side.
const fn holes_from(
    begin: Int,
    modes: &Lay,
    cotarget: Int,
    holes: Holes,
    out: &mut Lay,
) -> Result<(), Error> {
    let first = out.leaf_count();
    let (mut end, mut i) = (begin, 0);
    while i < modes.leaf_count() {
        let (s, stride) = (modes.extent(i), modes.step(i));
        let d = tri!(stride.require_int(OP));
        let gap = match (d.div_exact(end), d.get(), end.get(), holes) {
            (Some(gap), ..) => gap,
            (None, Some(step), Some(known), _) if step < known => {
                return Err(match modes.is_injective() {
                    Ok(true) => Error::NotTractable { op: OP, step: end, stride: d },
                    _ => Error::Overlap { extent: s, stride },
                });
            }
            (None, Some(step), Some(end), Holes::Floor) => Int::value(step / end),
            (None, Some(_), Some(_), Holes::Refuse) => {
                return Err(Error::NotTractable { op: OP, step: end, stride: d });
            }
            (None, ..) => return Err(undecided(d, end)),
        };
        if !gap.is(1) {
            tri!(out.push(gap, Stride::Int(end)));
        }
        end = tri!(d.mul(s));
        i += 1;
    }
    let tail = tri!(cotarget.ceil_div(end));
    if let Some(extent @ ..1) = tail.get() {
        return Err(Error::NonPositiveShape { leaf: out.leaf_count() - first, extent });
    }
    if !tail.is(1) {
        tri!(out.push(tail, Stride::Int(end)));
    }
    Ok(())
}

/// Appends the exact complement of sorted modes to `out`, as one node.
pub(crate) const fn complement_into(modes: &Lay, cotarget: Int, out: &mut Lay) -> Result<(), Error> {
    holes_into(modes, cotarget, Holes::Refuse, out)
}

/// Where sorted modes end: extent times stride of the last, 1 where there is none.
pub(crate) const fn end_of(modes: &Lay) -> Result<Int, Error> {
    let Some(last) = modes.leaf_count().checked_sub(1) else {
        return Ok(Int::ONE);
    };
    tri!(modes.step(last).require_int(OP)).mul(modes.extent(last))
}

/// Whether a stride sorts before another one.
const fn before(d: Int, other: Stride) -> bool {
    let Stride::Int(other) = other else { return false };
    match (d.get(), other.get()) {
        (Some(a), Some(b)) => a < b,
        (Some(_), None) => true,
        (None, Some(_)) => false,
        (None, None) => !d.same(other) && other.div_exact(d).is_some(),
    }
}

/// Why a symbolic step can't be told to be a multiple of a symbolic end.
const fn undecided(d: Int, end: Int) -> Error {
    match (d.is_symbolic(), end.get()) {
        (true, Some(n)) => ask::divisible(OP, d, n),
        (true, None) => Error::NotKnown { op: OP, value: d },
        (false, _) => Error::NotKnown { op: OP, value: end },
    }
}
