//! Right and left inverses.

use crate::{Error, Int, Lay, MAX_LEAVES, Stride};

impl Lay {
    /// The largest layout `R` of this construction with `self(R(i)) = i` for all `i < size(R)`: the coordinates of the indices 0, 1, 2 ...
    /// as far as modes follow on one another (CuTe's `right_inverse`).
    ///
    /// Modes of stride 0 are skipped; among modes of equal stride the largest is taken. Without a mode of stride 1 it is `1:0`.
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert_eq!(lay!("(2,4,6):(4,1,8)").right_inverse()?, lay!("(4,2,6):(2,1,8)"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Overflow`], or [`Error::Unsupported`] for products of more than two symbols.
    pub const fn right_inverse(&self) -> Result<Lay, Error> {
        let flat = self.coalesce();
        let n = flat.leaf_count();
        let steps = tri!(flat.prefix_products());
        let mut out = Lay::EMPTY;
        let mut end = Int::ONE;
        loop {
            let (mut best, mut i) = (MAX_LEAVES, 0);
            while i < n {
                if flat.stride[i].same(Stride::Int(end))
                    && !flat.shape.leaves[i].is(1)
                    && (best == MAX_LEAVES
                        || matches!(flat.shape.leaves[best].less(flat.shape.leaves[i]), Some(true)))
                {
                    best = i;
                }
                i += 1;
            }
            if best == MAX_LEAVES {
                tri!(out.wrap_from(0));
                return Ok(out.coalesce());
            }
            let taken = flat.shape.leaves[best];
            tri!(out.push(taken, Stride::Int(steps[best])));
            end = tri!(end.mul(taken));
        }
    }

    /// A layout `L` with `L(self(i)) = i` for every `i` of the domain (CuTe's `left_inverse`). Off the image it means nothing.
    ///
    /// Sorted by stride, each stride must divide the next, and no mode may reach the next one's step.
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert_eq!(lay!("4:2").left_inverse()?, lay!("(2,4):(0,1)"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Overlap`] where the layout is not injective (a mode of stride 0 among them), [`Error::NotTractable`] where a stride does not
    /// divide the next, [`Error::NonPositiveStride`]; [`Error::NotKnown`] where a symbol decides.
    pub const fn left_inverse(&self) -> Result<Lay, Error> {
        let flat = self.coalesce();
        let mut i = 0;
        while i < flat.leaf_count() {
            if flat.stride[i].is_zero() && !flat.shape.leaves[i].is(1) {
                return Err(Error::Overlap { extent: flat.shape.leaves[i], stride: flat.stride[i] });
            }
            i += 1;
        }
        self.quasi_inverse()
    }

    /// [`Lay::left_inverse`] for layouts that repeat themselves along modes of stride 0: `self(Q(self(i))) = self(i)`.
    ///
    /// # Errors
    /// As [`Lay::left_inverse`], but stride 0 is accepted.
    pub const fn quasi_inverse(&self) -> Result<Lay, Error> {
        const OP: &str = "left_inverse";
        let flat = self.coalesce();
        let steps = tri!(flat.prefix_products());
        let sorted = tri!(flat.sorted(OP));
        let mut out = Lay::EMPTY;
        let (mut k, mut before) = (0, Int::ONE);
        let (mut last_extent, mut last_step) = (Int::ONE, Int::ZERO);
        while k < sorted.leaf_count() {
            let (s, stride) = (sorted.shape.leaves[k], sorted.stride[k]);
            k += 1;
            let d = tri!(stride.require_int(OP));
            let Some(gap) = d.div_exact(before) else {
                return Err(Error::NotTractable { op: OP, step: before, stride: d });
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
            (last_extent, last_step, before) = (s, steps[flat.position(s, stride)], d);
        }
        tri!(out.push(last_extent, Stride::Int(last_step)));
        tri!(out.wrap_from(0));
        Ok(out.coalesce())
    }

    /// The first leaf that is `s:d`.
    const fn position(&self, s: Int, d: Stride) -> usize {
        let mut i = 0;
        while i + 1 < self.leaf_count() && !(self.shape.leaves[i].same(s) && self.stride[i].same(d)) {
            i += 1;
        }
        i
    }

    /// The 1-D step of each leaf.
    const fn prefix_products(&self) -> Result<[Int; MAX_LEAVES], Error> {
        let mut steps = [Int::ONE; MAX_LEAVES];
        let mut i = 1;
        while i < self.leaf_count() {
            steps[i] = tri!(steps[i - 1].mul(self.shape.leaves[i - 1]));
            i += 1;
        }
        Ok(steps)
    }
}
