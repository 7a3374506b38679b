//! Complement: a layout of the indices that another layout leaves out (CuTe guide, 02 Layout algebra, Complement).

use crate::arith::ask;
use crate::f2::columns::Parts;
use crate::leaf::int::{FACTORS, KNOWN};
use crate::leaf::step::Step;
use crate::tuple::profile::Node;
use crate::{Error, Int, Lay, Stride};

const OP: &str = "complement";

/// The behaviour if a mode ends inside the step of the next one.
#[derive(Clone, Copy)]
enum Holes {
    Refuse,
    Floor,
}

impl Lay {
    /// The layout, strictly increasing from 0, that together with this one fills `0..cotarget`: `(self, complement)` meets every index
    /// below the cotarget exactly once.
    ///
    /// Modes of extent 1 and of stride 0 don't count. Sorted by stride, each mode must end where a step of the next can
    /// begin: its extent times its stride divides the next stride. Where the last end does not divide the cotarget, the
    /// complement covers the cotarget rounded up to a multiple of that end.
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
    /// [`Error::NotKnown`] and [`Error::NeedsFact`] where a symbol decides; [`Error::Unsupported`] for basis strides, and with F2 columns
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
        if self.is_known() && !cotarget.is_symbolic() {
            return self.complement_in(cotarget.with_room::<KNOWN>(), holes);
        }
        self.complement_in(cotarget, holes)
    }

    const fn complement_in<const F: usize>(&self, cotarget: Int<F>, holes: Holes) -> Result<Lay, Error> {
        let root = self.root();
        if self.is_sorted(root) {
            return written!(|out| holes_into(self, root, cotarget, holes, out));
        }
        if self.has_columns() {
            return written!(|out| tri!(self.parts(OP)).complement_into(cotarget.wide(), out));
        }
        let mut modes = Lay::EMPTY;
        written!(|out| match self.sort_into::<F>(OP, &mut modes) {
            Ok(()) => holes_into(&modes, modes.root(), cotarget, holes, out),
            Err(error) => Err(error),
        })
    }

    /// Whether the leaves of a subtree are those of [`Lay::sorted`] as they are.
    pub(crate) const fn is_sorted(&self, node: Node) -> bool {
        let (mut before, mut i) = (0, node.begin);
        while i < node.end {
            let Some(d) = self.steps.known(i) else { return false };
            if self.is_narrow(i) || d <= before {
                return false;
            }
            before = d;
            i += 1;
        }
        true
    }

    /// The modes whose extent is not 1 and whose stride is not 0, by increasing stride, flat. Symbolic strides come
    /// last, as if they were above all known strides; each comes before its multiples.
    pub(crate) const fn sorted(&self, op: &'static str) -> Result<Lay, Error> {
        written!(|out| self.sort_into::<FACTORS>(op, out))
    }

    /// Writes [`Lay::sorted`] into an empty layout.
    pub(crate) const fn sort_into<const F: usize>(
        &self,
        op: &'static str,
        out: &mut Lay,
    ) -> Result<(), Error> {
        let mut i = 0;
        while i < self.leaf_count() {
            let (s, stride) = (self.extent_at::<F>(i), self.step_at::<F>(i));
            i += 1;
            if s.is(1) || stride.is_zero() {
                continue;
            }
            let d = tri!(stride.require_int(op));
            match (d.lower(), d.first_symbol()) {
                (Some(1..), _) => {}
                (Some(0), Some(_)) => return Err(ask::at_least(op, d.wide(), 1)),
                _ => return Err(Error::NonPositiveStride { op, stride: d.quoted() }),
            }
            tri!(out.push_leaf(s, stride));
            let (mut to, last) = (0, out.leaf_count() - 1);
            while to < last && !before(d, out.step_at(to)) {
                to += 1;
            }
            let mut k = last;
            while k > to {
                out.copy_leaf(k, k - 1);
                k -= 1;
            }
            if to < last {
                tri!(out.set_extent(to, s));
                tri!(out.set_step_at(to, stride));
            }
        }
        Ok(())
    }
}

impl Parts {
    /// Appends the complement up to the cotarget to `out`, as one node. Below `2^bits`, the complement has the least
    /// index of every coset of the map's image.
    pub(crate) const fn complement_into(&self, cotarget: Int, out: &mut Lay) -> Result<(), Error> {
        let reduced = self.map.reduced();
        tri!(self.require_independent(&reduced, true));
        let (first, taken) = (out.leaf_count(), self.integer_bits());
        let mut free = !reduced.leading & ((1 << self.bits) - 1);
        while free != 0 {
            let (row, run) = (free.trailing_zeros(), (free >> free.trailing_zeros()).trailing_ones());
            let (bit, extent) = (1u64 << row, 1i64 << run);
            // Where the map has integer strides, an integer would carry into these; a column joins by exclusive or.
            let stride = match taken >> row & (extent as u64 - 1) {
                0 => Stride::Int(Int::value(bit as i64)),
                _ => Stride::F2(bit),
            };
            tri!(out.push(Int::value(extent), stride));
            free &= !((extent as u64 - 1) << row);
        }
        let upper = tri!(self.upper.sorted(OP));
        tri!(holes_from(self.unit(), &upper, upper.root(), cotarget, Holes::Refuse, out));
        out.wrap_from(first)
    }

    /// Where the last mode ends.
    pub(crate) const fn end(&self) -> Result<Int, Error> {
        let upper = tri!(self.upper.sorted(OP));
        if upper.leaf_count() == 0 { Ok(self.unit()) } else { end_of(&upper, upper.root()) }
    }
}

/// Appends the holes of sorted modes up to the cotarget to `out`, as one node.
const fn holes_into<const F: usize>(
    modes: &Lay,
    node: Node,
    cotarget: Int<F>,
    holes: Holes,
    out: &mut Lay,
) -> Result<(), Error> {
    let first = out.leaf_count();
    tri!(holes_from(Int::number(1, true), modes, node, cotarget, holes, out));
    out.wrap_from(first)
}

/// Appends the holes between `begin` and the cotarget, side by side.
const fn holes_from<const F: usize>(
    begin: Int<F>,
    modes: &Lay,
    node: Node,
    cotarget: Int<F>,
    holes: Holes,
    out: &mut Lay,
) -> Result<(), Error> {
    let first = out.leaf_count();
    let (mut end, mut i) = (begin, node.begin);
    while i < node.end {
        let (s, stride) = (modes.extent_at::<F>(i), modes.step_at::<F>(i));
        let d = tri!(stride.require_int(OP));
        let gap = match (d.div_exact(end), d.get(), end.get(), holes) {
            (Some(gap), ..) => gap,
            (None, Some(step), Some(known), _) if step < known => {
                let mut all = Lay::EMPTY;
                tri!(all.copy(modes, node));
                return Err(match all.is_injective() {
                    Ok(true) => Error::NotTractable { op: OP, step: end.quoted(), stride: d.quoted() },
                    _ => Error::Overlap { extent: s.quoted(), stride: stride.quoted() },
                });
            }
            (None, Some(step), Some(end), Holes::Floor) => Int::number(step / end, false),
            (None, Some(_), Some(_), Holes::Refuse) => {
                return Err(Error::NotTractable { op: OP, step: end.quoted(), stride: d.quoted() });
            }
            (None, ..) => return Err(undecided(d.wide(), end.wide())),
        };
        if !gap.is(1) {
            tri!(out.push_leaf(gap, Step::int(end)));
        }
        end = tri!(d.mul(s));
        i += 1;
    }
    let tail = tri!(cotarget.ceil_div(end));
    if let Some(extent @ ..1) = tail.get() {
        return Err(Error::NonPositiveShape { leaf: out.leaf_count() - first, extent });
    }
    if !tail.is(1) {
        tri!(out.push_leaf(tail, Step::int(end)));
    }
    Ok(())
}

/// Appends the exact complement of sorted modes to `out`, as one node.
pub(crate) const fn complement_into<const F: usize>(
    modes: &Lay,
    node: Node,
    cotarget: Int<F>,
    out: &mut Lay,
) -> Result<(), Error> {
    holes_into(modes, node, cotarget, Holes::Refuse, out)
}

/// Where sorted modes end: extent times stride of the last, 1 where there is none.
pub(crate) const fn end_of<const F: usize>(modes: &Lay, node: Node) -> Result<Int<F>, Error> {
    if node.begin == node.end {
        return Ok(Int::number(1, true));
    }
    let last = node.end - 1;
    tri!(modes.step_at(last).require_int(OP)).mul(modes.extent_at(last))
}

/// Whether a stride sorts before another one.
const fn before<const F: usize>(d: Int<F>, other: Step<F>) -> bool {
    let other = other.scale;
    match (d.get(), other.get()) {
        (Some(a), Some(b)) => a < b,
        (Some(_), None) => true,
        (None, Some(_)) => false,
        (None, None) => !d.same(other) && other.div_exact(d).is_some(),
    }
}

/// The error where it is not known whether the step `d` is a multiple of `end`.
const fn undecided(d: Int, end: Int) -> Error {
    match (d.is_symbolic(), end.get()) {
        (true, Some(n)) => ask::divisible(OP, d, n),
        (true, None) => Error::NotKnown { op: OP, value: d.quoted() },
        (false, _) => Error::NotKnown { op: OP, value: end.quoted() },
    }
}
