//! Right and left inverses.

use crate::columns::Parts;
use crate::{Error, Int, Lay, MAX_LEAVES, Stride, ask};

impl Parts {
    /// The inverse of both parts.
    const fn turn_back(&self) -> Result<Lay, Error> {
        let mut out = Lay::EMPTY;
        tri!(tri!(self.map.reduced().back(self.bits)).modes_into(&mut out));
        tri!(self.upper.turn_back(self.unit(), Int::value(1 << self.map.inputs()), &mut out));
        tri!(out.wrap_from(0));
        Ok(out.coalesce())
    }
}

impl Lay {
    /// The largest layout `R` of this construction with `self(R(i)) = i` for all `i < size(R)`: the coordinates of the indices 0, 1, 2 ...
    /// as far as modes follow on one another (CuTe's `right_inverse`).
    ///
    /// Modes of stride 0 are skipped; among modes of equal stride the largest is taken. Without a mode of stride 1 it is `1:0`. F2 columns are
    /// solved for the indices 1, 2, 4 ..., as far as they reach them.
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert_eq!(lay!("(2,4,6):(4,1,8)").right_inverse()?, lay!("(4,2,6):(2,1,8)"));
    /// assert_eq!(lay!("(8,8):(^1,^9)").right_inverse()?, lay!("(8,8):(^1,^9)")); // a swizzle is its own inverse
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Overflow`]; [`Error::Unsupported`] for products of more than two symbols, and beside F2 columns for an extent that is no power of
    /// two before the last column.
    pub const fn right_inverse(&self) -> Result<Lay, Error> {
        let flat = self.coalesce();
        let (mut out, mut end, mut step, mut rest) = (Lay::EMPTY, Int::ONE, Int::ONE, flat);
        if flat.has_columns() {
            let parts = tri!(flat.leading_parts("right_inverse"));
            let back = tri!(parts.map.reduced().back(parts.bits));
            let mut n = 0;
            while n < parts.bits && tri!(parts.map.apply(back.columns()[n as usize] as i64)) == 1 << n {
                n += 1;
            }
            tri!(back.first(n).modes_into(&mut out));
            rest = if n == parts.bits { parts.upper } else { Lay::EMPTY };
            (end, step) = (parts.unit(), Int::value(1 << parts.map.inputs()));
        }
        tri!(rest.follow(end, step, &mut out));
        tri!(out.wrap_from(0));
        Ok(out.coalesce())
    }

    /// Appends the modes that follow on one another from `end` on; `step` is the 1-D step of the first.
    const fn follow(&self, mut end: Int, step: Int, out: &mut Lay) -> Result<(), Error> {
        let steps = tri!(self.prefix_products(step));
        loop {
            let (mut best, mut i) = (MAX_LEAVES, 0);
            while i < self.leaf_count() {
                if self.step(i).same(Stride::Int(end))
                    && !self.extent(i).is(1)
                    && (best == MAX_LEAVES || matches!(self.extent(best).less(self.extent(i)), Some(true)))
                {
                    best = i;
                }
                i += 1;
            }
            if best == MAX_LEAVES {
                return Ok(());
            }
            let taken = self.extent(best);
            tri!(out.push(taken, Stride::Int(steps[best])));
            end = tri!(end.mul(taken));
        }
    }

    /// A layout `L` with `L(self(i)) = i` for every `i` of the domain (CuTe's `left_inverse`). Off the image it means nothing.
    ///
    /// Sorted by stride, each stride must divide the next, and no mode may reach the next one's step; or the extents are powers of two and
    /// the strides, F2 columns among them, don't carry into one another.
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert_eq!(lay!("4:2").left_inverse()?, lay!("(2,4):(0,1)"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Overlap`] where the layout is not injective (a mode of stride 0 among them), [`Error::NotTractable`] where a stride does not
    /// divide the next, [`Error::NonPositiveStride`]; [`Error::NeedsFact`] and [`Error::NotKnown`] where a symbol decides.
    pub const fn left_inverse(&self) -> Result<Lay, Error> {
        let flat = self.coalesce();
        let mut i = 0;
        while i < flat.leaf_count() {
            if flat.step(i).is_zero() && !flat.extent(i).is(1) {
                return Err(Error::Overlap { extent: flat.extent(i), stride: flat.step(i) });
            }
            i += 1;
        }
        if flat.has_columns() {
            let parts = tri!(flat.leading_parts("left_inverse"));
            tri!(parts.require_independent(&parts.map.reduced(), false));
        }
        self.quasi_inverse()
    }

    /// [`Lay::left_inverse`] for layouts that repeat themselves along modes of stride 0: `self(Q(self(i))) = self(i)`.
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert_eq!(lay!("(2,4):(0,3)").quasi_inverse()?, lay!("(3,4):(0,2)"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Lay::left_inverse`], but stride 0 and dependent F2 columns are accepted.
    pub const fn quasi_inverse(&self) -> Result<Lay, Error> {
        const OP: &str = "left_inverse";
        let flat = self.coalesce();
        if flat.has_columns() {
            return tri!(flat.leading_parts(OP)).turn_back();
        }
        let mut out = Lay::EMPTY;
        match flat.turn_back(Int::ONE, Int::ONE, &mut out) {
            Ok(()) => {
                tri!(out.wrap_from(0));
                Ok(out.coalesce())
            }
            // Strides that don't build on one another may still keep to bits of their own.
            Err(error) => match flat.whole_map() {
                Ok(parts) => parts.turn_back(),
                Err(_) => match error {
                    // As powers of two, the numbers may keep to bits of their own.
                    Error::NotTractable { .. } if flat.is_symbolic() => {
                        Err(Error::NotKnown { op: OP, value: flat.first_symbolic() })
                    }
                    error => Err(error),
                },
            },
        }
    }

    /// Appends the inverse of integer modes from `before` on; `step` is the 1-D step of the first.
    const fn turn_back(&self, mut before: Int, step: Int, out: &mut Lay) -> Result<(), Error> {
        const OP: &str = "left_inverse";
        let steps = tri!(self.prefix_products(step));
        let sorted = tri!(self.sorted(OP));
        let (mut k, mut last_extent, mut last_step) = (0, Int::ONE, Int::ZERO);
        while k < sorted.leaf_count() {
            let (s, stride) = (sorted.extent(k), sorted.step(k));
            k += 1;
            let d = tri!(stride.require_int(OP));
            let Some(gap) = d.div_exact(before) else {
                return Err(match (d.is_symbolic(), before.get()) {
                    (true, Some(n)) => ask::divisible(OP, d, n),
                    (true, None) => Error::NotKnown { op: OP, value: d },
                    (false, None) => Error::NotKnown { op: OP, value: before },
                    (false, Some(_)) => Error::NotTractable { op: OP, step: before, stride: d },
                });
            };
            if !matches!(gap.less(last_extent), Some(false)) {
                return Err(match gap.less(last_extent) {
                    None => Error::NotKnown { op: OP, value: gap },
                    _ => Error::Overlap { extent: s, stride },
                });
            }
            if !gap.is(1) {
                tri!(out.push(gap, Stride::Int(last_step)));
            }
            (last_extent, last_step, before) = (s, steps[self.position(s, stride)], d);
        }
        out.push(last_extent, Stride::Int(last_step))
    }

    /// The first leaf that is `s:d`.
    const fn position(&self, s: Int, d: Stride) -> usize {
        let mut i = 0;
        while i + 1 < self.leaf_count() && !(self.extent(i).same(s) && self.step(i).same(d)) {
            i += 1;
        }
        i
    }

    /// The 1-D step of each leaf.
    const fn prefix_products(&self, first: Int) -> Result<[Int; MAX_LEAVES], Error> {
        let mut steps = [first; MAX_LEAVES];
        let mut i = 1;
        while i < self.leaf_count() {
            steps[i] = tri!(steps[i - 1].mul(self.extent(i - 1)));
            i += 1;
        }
        Ok(steps)
    }
}
