//! Complement: the indices that a layout leaves out (CuTe guide, 02 Layout algebra, Complement).

use crate::{Error, Int, Lay, MAX_LEAVES, Stride};

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
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotTractable`] where the holes are irregular, [`Error::Overlap`] where modes overlap, [`Error::NonPositiveStride`];
    /// [`Error::NotKnown`] and [`Error::NeedsFact`] where a symbol decides; [`Error::Unsupported`] for basis strides.
    pub const fn complement(&self, cotarget: Int) -> Result<Lay, Error> {
        self.complement_with(cotarget, Holes::Refuse)
    }

    /// CuTe's complement: where a mode ends inside the step of the next, the step is rounded down. The result is increasing and disjoint
    /// from the layout, but leaves indices out: `(2,2):(1,3)` in 12 gives `2:6`.
    ///
    /// # Errors
    /// As [`Lay::complement`], without [`Error::NotTractable`].
    pub const fn complement_floor(&self, cotarget: Int) -> Result<Lay, Error> {
        self.complement_with(cotarget, Holes::Floor)
    }

    const fn complement_with(&self, cotarget: Int, holes: Holes) -> Result<Lay, Error> {
        let modes = tri!(self.filter().sorted(OP));
        let mut rest = Lay::EMPTY;
        let (mut end, mut i) = (Int::ONE, 0);
        while i < modes.leaf_count() {
            let d = tri!(modes.stride[i].require_int(OP));
            let gap = match (d.div_exact(end), d.get(), end.get(), holes) {
                (Some(gap), ..) => gap,
                (None, Some(step), Some(end), _) if step < end => {
                    return Err(Error::Overlap { extent: modes.shape.leaves[i], stride: modes.stride[i] });
                }
                (None, Some(step), Some(end), Holes::Floor) => Int::value(step / end),
                (None, Some(_), Some(_), Holes::Refuse) => {
                    return Err(Error::NotTractable { end, stride: d });
                }
                (None, ..) => return Err(undecided(d, end)),
            };
            tri!(rest.push(gap, Stride::Int(end)));
            end = tri!(d.mul(modes.shape.leaves[i]));
            i += 1;
        }
        tri!(rest.push(tri!(cotarget.ceil_div(end)), Stride::Int(end)));
        if rest.leaf_count() > 1 {
            rest.shape.profile = rest.shape.profile.as_flat();
        }
        Ok(tri!(rest.checked()).coalesce())
    }

    /// Extent times stride of the mode with the largest stride, 1 where no mode leads anywhere.
    pub(crate) const fn end_of_last(&self) -> Result<Int, Error> {
        let modes = tri!(self.filter().sorted(OP));
        let Some(last) = modes.leaf_count().checked_sub(1) else {
            return Ok(Int::ONE);
        };
        tri!(modes.stride[last].require_int(OP)).mul(modes.shape.leaves[last])
    }

    const fn checked(self) -> Result<Lay, Error> {
        tri!(self.shape.checked());
        Ok(self)
    }

    /// The leaves by increasing stride, flat; symbolic strides, which the known ones are taken to be below, come last in the order in which
    /// each is a multiple of the one before.
    pub(crate) const fn sorted(&self, op: &'static str) -> Result<Lay, Error> {
        let n = self.leaf_count();
        let mut out = Lay::EMPTY;
        if n == 1 && self.shape.leaves[0].is(1) {
            return Ok(out);
        }
        let mut done = [false; MAX_LEAVES];
        let mut placed = 0;
        while placed < n {
            let (mut best, mut i) = (MAX_LEAVES, 0);
            while i < n {
                let d = tri!(self.stride[i].require_int(op));
                if let Some(lower) = d.lower()
                    && lower < 0
                {
                    return Err(Error::NonPositiveStride { op, stride: d });
                }
                if !done[i] && (best == MAX_LEAVES || before(d, self.stride[best])) {
                    best = i;
                }
                i += 1;
            }
            done[best] = true;
            tri!(out.push(self.shape.leaves[best], self.stride[best]));
            placed += 1;
        }
        Ok(out)
    }
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
    match (d.first_symbol(), end.get()) {
        (Some(symbol), Some(n)) => Error::NeedsFact { op: OP, symbol, fact: crate::Fact::DivisibleBy(n) },
        (Some(_), None) => Error::NotKnown { op: OP, value: d },
        (None, _) => Error::NotKnown { op: OP, value: end },
    }
}
