//! Right and left inverses.

use crate::arith::ask;
use crate::f2::columns::Parts;
use crate::leaf::int::{FACTORS, KNOWN};
use crate::leaf::step::Step;
use crate::{Error, Int, Lay, MAX_LEAVES};

impl Parts {
    /// The inverse of both parts as one layout.
    const fn turn_back(&self) -> Result<Lay, Error> {
        let mut out = Lay::EMPTY;
        tri!(tri!(self.map.reduced().back(self.bits)).modes_into(&mut out));
        tri!(self.upper.turn_back::<FACTORS>(self.unit(), Int::value(1 << self.map.inputs()), &mut out));
        tri!(out.wrap_from(0));
        Ok(out.coalesce())
    }
}

impl Lay {
    /// The largest layout `R` of this construction with `self(R(i)) = i` for all `i < size(R)`: the coordinates of the indices 0, 1, 2 ...
    /// as far as modes follow on one another (CuTe's `right_inverse`).
    ///
    /// Modes of stride 0 are skipped; among modes of equal stride the largest is taken. Without a mode of stride 1 the
    /// result is `1:0`. For F2 columns, equations over F2 are solved for the indices 1, 2, 4 ..., as far as the columns
    /// reach these.
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert_eq!(lay!("(2,4,6):(4,1,8)").right_inverse()?, lay!("(4,2,6):(2,1,8)"));
    /// assert_eq!(lay!("(8,8):(^1,^9)").right_inverse()?, lay!("(8,8):(^1,^9)")); // a swizzle is its own inverse
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Overflow`]; [`Error::Unsupported`] for products of more than three symbolic factors, and with F2
    /// columns for an extent that is no power of two before the last column.
    pub const fn right_inverse(&self) -> Result<Lay, Error> {
        let flat = self.coalesce();
        let mut out = Lay::EMPTY;
        if flat.has_columns() {
            let parts = tri!(flat.leading_parts("right_inverse"));
            let back = tri!(parts.map.reduced().back(parts.bits));
            let mut n = 0;
            while n < parts.bits && tri!(parts.map.apply(back.columns()[n as usize] as i64)) == 1 << n {
                n += 1;
            }
            tri!(back.first(n).modes_into(&mut out));
            if n == parts.bits {
                let step = Int::value(1 << parts.map.inputs());
                tri!(parts.upper.follow::<FACTORS>(parts.unit(), step, &mut out));
            }
        } else if flat.is_known() {
            tri!(flat.follow::<KNOWN>(Int::number(1, true), Int::number(1, true), &mut out));
        } else {
            tri!(flat.follow::<FACTORS>(Int::ONE, Int::ONE, &mut out));
        }
        tri!(out.wrap_from(0));
        Ok(out.coalesce())
    }

    /// Appends the modes that follow on one another from the index `end` on; `step` is the 1-D step of the first leaf.
    const fn follow<const F: usize>(
        &self,
        mut end: Int<F>,
        step: Int<F>,
        out: &mut Lay,
    ) -> Result<(), Error> {
        let steps = tri!(self.prefix_products(step));
        loop {
            let (mut best, mut i) = (MAX_LEAVES, 0);
            while i < self.leaf_count() {
                if self.step_at(i).same(&Step::int(end))
                    && !self.is_narrow(i)
                    && (best == MAX_LEAVES || self.is_wider::<F>(i, best))
                {
                    best = i;
                }
                i += 1;
            }
            if best == MAX_LEAVES {
                return Ok(());
            }
            let taken = self.extent_at(best);
            tri!(out.push_leaf(taken, Step::int(steps[best])));
            end = tri!(end.mul(taken));
        }
    }

    const fn is_wider<const F: usize>(&self, i: usize, than: usize) -> bool {
        matches!(self.extent_at::<F>(than).less(self.extent_at(i)), Some(true))
    }

    /// A layout `L` with `L(self(i)) = i` for every `i` of the domain (CuTe's `left_inverse`). For an index that this
    /// layout does not have, the value of `L` means nothing.
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
                return Err(Error::Overlap {
                    extent: flat.extent(i).quoted(),
                    stride: flat.step(i).quoted(),
                });
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
        let turned = match flat.is_known() {
            true => flat.turn_back::<KNOWN>(Int::number(1, true), Int::number(1, true), &mut out),
            false => flat.turn_back::<FACTORS>(Int::ONE, Int::ONE, &mut out),
        };
        match turned {
            Ok(()) => {
                tri!(out.wrap_from(0));
                Ok(out.coalesce())
            }
            // Modes whose strides don't build on one another may still reach separate bits.
            Err(error) => match flat.whole_map() {
                Ok(parts) => parts.turn_back(),
                Err(_) => match error {
                    // For some values of the symbols, powers of two, the modes may reach separate bits.
                    Error::NotTractable { .. } if flat.is_symbolic() => {
                        Err(Error::NotKnown { op: OP, value: flat.first_symbolic().quoted() })
                    }
                    error => Err(error),
                },
            },
        }
    }

    /// Appends the inverse of integer modes from the index `before` on; `step` is the 1-D step of the first leaf.
    const fn turn_back<const F: usize>(
        &self,
        mut before: Int<F>,
        step: Int<F>,
        out: &mut Lay,
    ) -> Result<(), Error> {
        const OP: &str = "left_inverse";
        let steps = tri!(self.prefix_products(step));
        let mut sorted = Lay::EMPTY;
        tri!(self.sort_into::<F>(OP, &mut sorted));
        let (mut k, mut last_extent, mut last_step) = (0, Int::number(1, true), Int::number(0, true));
        while k < sorted.leaf_count() {
            let (s, stride) = (sorted.extent_at::<F>(k), sorted.step_at::<F>(k));
            k += 1;
            let d = tri!(stride.require_int(OP));
            let Some(gap) = d.div_exact(before) else {
                return Err(match (d.is_symbolic(), before.get()) {
                    (true, Some(n)) => ask::divisible(OP, d.wide(), n),
                    (true, None) => Error::NotKnown { op: OP, value: d.quoted() },
                    (false, None) => Error::NotKnown { op: OP, value: before.quoted() },
                    (false, Some(_)) => {
                        Error::NotTractable { op: OP, step: before.quoted(), stride: d.quoted() }
                    }
                });
            };
            if !matches!(gap.less(last_extent), Some(false)) {
                return Err(match gap.less(last_extent) {
                    None => Error::NotKnown { op: OP, value: gap.quoted() },
                    _ => Error::Overlap { extent: s.quoted(), stride: stride.quoted() },
                });
            }
            if !gap.is(1) {
                tri!(out.push_leaf(gap, Step::int(last_step)));
            }
            (last_extent, last_step, before) = (s, steps[self.position(s, &stride)], d);
        }
        out.push_leaf(last_extent, Step::int(last_step))
    }

    /// The first leaf that is `s:d`.
    const fn position<const F: usize>(&self, s: Int<F>, d: &Step<F>) -> usize {
        let mut i = 0;
        while i + 1 < self.leaf_count() && !(self.extent_at(i).same(s) && self.step_at(i).same(d)) {
            i += 1;
        }
        i
    }

    /// The 1-D step of each leaf.
    const fn prefix_products<const F: usize>(&self, first: Int<F>) -> Result<[Int<F>; MAX_LEAVES], Error> {
        let mut steps = [first; MAX_LEAVES];
        let mut i = 1;
        while i < self.leaf_count() {
            steps[i] = tri!(steps[i - 1].mul(self.extent_at(i - 1)));
            i += 1;
        }
        Ok(steps)
    }
}
