//! The nullspace and the alignment of a layout, compact layouts in the order of another layout's strides, and
//! coordinates of indices.

use crate::arith::ask;
use crate::layout::make::compact;
use crate::leaf::symbol::gcd;
use crate::{Coord, Crd, Error, Int, Lay, MAX_LEAVES, Shape, Stride, crd2idx};

impl Lay {
    /// A layout of the coordinates that `self` sends to 0: `self(nullspace(i)) = 0` for all `i`. Its size is that of
    /// the modes of stride 0 (CuTe's `nullspace`). A symbolic stride counts as one other than 0.
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert_eq!(lay!("(6,2,4):(2,1,0)").nullspace()?, lay!("4:12"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Overflow`], or [`Error::Unsupported`] for products of more than three symbolic factors.
    pub const fn nullspace(&self) -> Result<Lay, Error> {
        let mut out = Lay::EMPTY;
        let (mut step, mut i) = (Int::ONE, 0);
        while i < self.leaf_count() {
            if self.step(i).is_zero() {
                tri!(out.push(self.extent(i), Stride::Int(step)));
            }
            i += 1;
            if i < self.leaf_count() {
                step = tri!(step.mul(self.extent(i - 1)));
            }
        }
        tri!(out.wrap_from(0));
        Ok(out.coalesce())
    }

    /// The largest `n` such that the indices come in whole, aligned runs of `n` consecutive indices: the elements per
    /// vector of an access that may take the elements in any order (CuTe's `max_alignment`).
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert_eq!(lay!("(8,4):(1,24)").max_alignment()?, 8);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotKnown`] where a symbol decides, [`Error::Unsupported`] for strides that are no integers.
    pub const fn max_alignment(&self) -> Result<i64, Error> {
        const OP: &str = "max_alignment";
        let modes = tri!(self.sorted(OP));
        let mut run = 1;
        let mut rest = 0;
        let mut i = 0;
        while i < modes.leaf_count() {
            let d = tri!(modes.step(i).require_known(OP));
            // Of several modes of the same stride, the largest continues the run.
            let mut largest = i;
            let mut k = i;
            while k < modes.leaf_count() && modes.step(k).same(modes.step(i)) {
                if modes.extent(k).is_symbolic() {
                    return Err(Error::NotKnown { op: OP, value: modes.extent(k).quoted() });
                }
                if matches!(modes.extent(largest).less(modes.extent(k)), Some(true)) {
                    largest = k;
                }
                k += 1;
            }
            if d == run {
                run = match run.checked_mul(modes.extent(largest).coef) {
                    Some(run) => run,
                    None => return Err(Error::Overflow { op: OP }),
                };
                rest = if k - i > 1 { gcd(rest, d) } else { rest };
            } else {
                rest = gcd(rest, d);
            }
            i = k;
        }
        Ok(if rest == 0 { run } else { gcd(run, rest) })
    }

    /// A compact layout of the same shape, with the modes in the order of this layout's strides; modes of stride 0 keep
    /// stride 0 (CuTe's `make_layout_like`).
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert_eq!(lay!("(4,(2,3)):(64,(1,0))").compact_like()?, lay!("(4,(2,3)):(2,(1,0))"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NonPositiveStride`], [`Error::NotKnown`] for symbolic strides, and those of [`Lay::left`].
    pub const fn compact_like(&self) -> Result<Lay, Error> {
        let mut out = *self;
        tri!(called!("compact_like", out.compact_from(0, Int::ONE, false)));
        Ok(out)
    }

    /// The layout of a register fragment for a partition of this layout: mode 0, the values of one atom, compact and
    /// leftmost first (stride 0 stays), and the other modes compact in the order of their strides, those of stride 0
    /// too: each has registers of its own (CuTe's `make_fragment_like`).
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert_eq!(lay!("((2,2),4):((8,1),64)").fragment_like()?, lay!("((2,2),4):((1,2),4)"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Lay::compact_like`].
    pub const fn fragment_like(&self) -> Result<Lay, Error> {
        called!("fragment_like", self.fragment())
    }

    const fn fragment(&self) -> Result<Lay, Error> {
        if self.rank() < 2 {
            return self.compact_like();
        }
        let mut out = *self;
        let first = tri!(self.node(0));
        let (mut step, mut i) = (Int::ONE, first.begin);
        while i < first.end {
            if let Stride::Int(d) = self.step(i)
                && d.is_symbolic()
                && !matches!(d.lower(), Some(1..))
            {
                return Err(ask::at_least("fragment_like", d, 1));
            }
            if !self.step(i).is_zero() {
                tri!(out.set_step(i, compact(self.extent(i), step)));
                step = tri!(step.mul(self.extent(i)));
            }
            i += 1;
        }
        tri!(out.compact_from(first.end, step, true));
        Ok(out)
    }

    /// Gives the leaves from `begin` on compact strides in the order of their old strides; unless `zeros` is set,
    /// stride 0 stays.
    const fn compact_from(&mut self, begin: usize, first: Int, zeros: bool) -> Result<(), Error> {
        const OP: &str = "a compact layout";
        let mut done = [false; MAX_LEAVES];
        let mut step = first;
        loop {
            let (mut best, mut best_stride, mut i) = (MAX_LEAVES, 0, begin);
            while i < self.leaf_count() {
                if done[i] {
                    i += 1;
                    continue;
                }
                let d = tri!(self.step(i).require_known(OP));
                if d < 0 {
                    return Err(Error::NonPositiveStride { op: OP, stride: Int::value(d).quoted() });
                }
                if (zeros || d != 0) && (best == MAX_LEAVES || d < best_stride) {
                    (best, best_stride) = (i, d);
                }
                i += 1;
            }
            if best == MAX_LEAVES {
                return Ok(());
            }
            done[best] = true;
            tri!(self.set_step(best, compact(self.extent(best), step)));
            step = tri!(step.mul(self.extent(best)));
        }
    }

    /// The coordinate of an index (CuTe's `get_hier_coord`): in a compact layout `(index / stride) mod extent` at every leaf.
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert_eq!(lay!("(4,(2,3)):(6,(3,1))").hier_coord(11)?.to_string(), "(1,(1,2))");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoCoordinate`] for an index that the layout does not have, [`Error::NonPositiveStride`], [`Error::NotKnown`] for symbols.
    pub const fn hier_coord(&self, index: i64) -> Result<Coord, Error> {
        const OP: &str = "hier_coord";
        let mut out = crate::Coord::zeros(self.shape.profile);
        let (mut rest, mut i) = (index, 0);
        while i < self.leaf_count() {
            let d = tri!(self.step(i).require_known(OP));
            let s = self.extent(i);
            if !s.is(1) && d != 0 {
                let Some(extent) = s.get() else {
                    return Err(Error::NotKnown { op: OP, value: s.quoted() });
                };
                if d < 0 {
                    return Err(Error::NonPositiveStride { op: OP, stride: Int::value(d).quoted() });
                }
                let digit = index / d % extent;
                rest = rest.saturating_sub(digit.saturating_mul(d));
                tri!(out.set(i, Crd::At(digit)));
            }
            i += 1;
        }
        if index < 0 {
            return Err(Error::NoCoordinate { op: OP, index });
        }
        if rest == 0 {
            return Ok(out);
        }
        // Where strides interleave, another coordinate may have the index.
        match tri!(self.preimage(index)) {
            Some(coord) => Ok(coord),
            None => Err(Error::NoCoordinate { op: OP, index }),
        }
    }

    /// The flat coordinate of an index in a compact layout (CuTe's `get_flat_coord`): one position for each mode.
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert_eq!(lay!("(4,(2,3)):(6,(3,1))").flat_coord(11)?.to_string(), "(1,5)");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Lay::hier_coord`].
    pub const fn flat_coord(&self, index: i64) -> Result<Coord, Error> {
        let hier = tri!(self.hier_coord(index));
        if self.is_leaf() {
            return Ok(hier);
        }
        let mut positions = [0; MAX_LEAVES];
        let mut mode = 0;
        while mode < self.rank() {
            positions[mode] = tri!(crd2idx(&tri!(self.shape.mode(mode)), &tri!(hier.mode(mode))));
            mode += 1;
        }
        let (used, _) = positions.split_at(self.rank());
        Coord::of(used)
    }

    /// The 1-D coordinate of an index in a compact layout (CuTe's `get_1d_coord`).
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert_eq!(lay!("(4,(2,3)):(6,(3,1))").coord_1d(11)?, 21);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Lay::hier_coord`].
    pub const fn coord_1d(&self, index: i64) -> Result<i64, Error> {
        crd2idx(&self.shape, &tri!(self.hier_coord(index)))
    }

    /// A layout of at most `n` workers over the domain of `shape` that divides the shape evenly, so that all workers
    /// have the same number of elements: leaf by leaf from the left, as many workers as divide the extent and the
    /// number of workers left (CuTe's `domain_distribute`).
    ///
    /// ```
    /// use girih_layout::{Lay, Shape, lay};
    /// assert_eq!(Lay::domain_distribute(&Shape::parse("(8,4)")?, 16)?, lay!("16:1"));
    /// // 3 of 15 rows by 2 of 14 columns: the second column begins at 15.
    /// assert_eq!(Lay::domain_distribute(&Shape::parse("(15,14)")?, 6)?, lay!("(3,2):(1,15)"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotKnown`] for symbols, [`Error::Unsupported`] for `n < 1`, [`Error::Overflow`].
    pub const fn domain_distribute(shape: &Shape, n: i64) -> Result<Lay, Error> {
        const OP: &str = "domain_distribute";
        if n < 1 {
            return Err(Error::Unsupported { op: OP, what: "fewer than one worker" });
        }
        let (mut out, mut rest, mut step, mut i) = (Lay::EMPTY, n, Int::ONE, 0);
        while i < shape.leaf_count() {
            let leaf = shape.at_leaf(i);
            let Some(extent) = leaf.get() else {
                return Err(Error::NotKnown { op: OP, value: leaf.quoted() });
            };
            if extent < 1 {
                return Err(Error::NonPositiveShape { leaf: i, extent });
            }
            let workers = gcd(extent, rest);
            rest /= workers;
            // A number that follows from static extents alone is static.
            let workers = if leaf.is_static() { Int::fixed(workers) } else { Int::value(workers) };
            tri!(out.push(workers, Stride::Int(step)));
            step = tri!(step.mul(leaf));
            i += 1;
        }
        tri!(out.wrap_from(0));
        Ok(out.coalesce())
    }
}
