//! A layout as a function: coordinates to indices.

use crate::arith::scale::carryless;
use crate::tuple::coord::Digits;
use crate::tuple::profile::Node;
use crate::{Coord, Crd, Error, Int, Lay, Stride, Sum};

/// Whether a coordinate past the end is an error, or goes on in the last leaf.
#[derive(Clone, Copy)]
pub(crate) struct Rule {
    pub(crate) extended: bool,
}

/// The index of some positions: integers add up, F2 columns join by exclusive or.
pub(crate) struct Index<'a> {
    pub(crate) sum: i64,
    pub(crate) columns: u64,
    /// The sum to which symbolic strides are added; without one, they are refused.
    pub(crate) terms: Option<&'a mut Sum>,
}

impl Index<'_> {
    pub(crate) const ZERO: Index<'static> = Index { sum: 0, columns: 0, terms: None };

    const fn add(&mut self, digit: i64, stride: Stride) -> Result<(), Error> {
        if let Stride::F2(column) = stride {
            self.columns ^= tri!(carryless(digit, column));
            return Ok(());
        }
        let stride = tri!(stride.require_int("an index"));
        match &mut self.terms {
            Some(terms) if stride.is_symbolic() => {
                if digit != 0 {
                    tri!(terms.push(tri!(stride.mul(Int::value(digit)))));
                }
            }
            _ => self.sum = tri!(step(self.sum, digit, stride)),
        }
        Ok(())
    }

    const fn value(&self) -> i64 {
        self.sum ^ self.columns as i64
    }
}

impl Lay {
    /// The index of a coordinate: 1-D, with one position for each mode, or as nested as the shape. All coordinates of
    /// one element have the same index.
    ///
    /// ```
    /// use girih_layout::{Coord, lay};
    /// let l = lay!("((2,2),4):((1,8),2)");
    /// assert_eq!(l.crd2idx(&Coord::parse("((1,1),3)")?)?, 15);
    /// assert_eq!(l.crd2idx(&Coord::parse("(3,3)")?)?, 15);
    /// assert_eq!(l.crd2idx(&15.into())?, 15);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::CoordOutOfRange`]; [`Error::RankMismatch`] where the coordinate is deeper than the shape or of another rank;
    /// [`Error::NotKnown`] where a symbol decides (a position past a symbolic last extent can't be seen here);
    /// [`Error::Unsupported`] for `_` and for basis strides.
    pub const fn crd2idx(&self, coord: &Coord) -> Result<i64, Error> {
        let quick = match coord.at_leaf(0) {
            Crd::At(position) if coord.is_leaf() => self.digit_by_digit(position),
            _ => self.leaf_by_leaf(coord),
        };
        if let Some(index) = quick {
            return Ok(index);
        }
        let mut index = Index::ZERO;
        tri!(self.walk(coord, coord.profile.root(), self.root(), Rule { extended: false }, &mut index, None));
        Ok(index.value())
    }

    /// The index of a coordinate congruent to the shape, if everything is known and fits: the common case without the general walk.
    const fn leaf_by_leaf(&self, coord: &Coord) -> Option<i64> {
        if !self.shape.profile.congruent(&coord.profile) {
            return None;
        }
        let (mut index, mut i) = (0i64, 0);
        while i < self.leaf_count() {
            let (Some(position), Some((extent, stride))) = (coord.leaves.known(i), self.known_leaf(i)) else {
                return None;
            };
            if position < 0 || position >= extent {
                return None;
            }
            let Some(reach) = position.checked_mul(stride) else { return None };
            let Some(sum) = index.checked_add(reach) else { return None };
            index = sum;
            i += 1;
        }
        Some(index)
    }

    /// The index of a 1-D coordinate, if everything is known and fits.
    #[inline]
    const fn digit_by_digit(&self, position: i64) -> Option<i64> {
        if position < 0 {
            return None;
        }
        let (mut rest, mut sum, mut i) = (position as u64, 0i64, 0);
        while i < self.leaf_count() {
            let Some((extent, stride)) = self.known_leaf(i) else { return None };
            if extent < 1 {
                return None;
            }
            let s = extent as u64;
            let digit = if rest < s { rest } else { rest % s };
            rest = if rest < s { 0 } else { rest / s };
            let Some(reach) = (digit as i64).checked_mul(stride) else { return None };
            let Some(next) = sum.checked_add(reach) else { return None };
            sum = next;
            i += 1;
        }
        if rest == 0 { Some(sum) } else { None }
    }

    /// [`Lay::crd2idx`] where strides may be symbolic: the index as a sum, which is computed when a kernel is launched.
    ///
    /// ```
    /// use girih_layout::{Coord, lay};
    /// let l = lay!("(128,(8,8)):(s0,(1,s1))");
    /// assert_eq!(l.index(&Coord::parse("(3,10)")?)?.to_string(), "3*s0 + s1 + 2");
    /// assert_eq!(l.index(&Coord::parse("(3,1)")?)?.bind(girih_layout::Symbol::new(0), 64)?.get(), Some(193));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Lay::crd2idx`], where a symbolic extent decides; [`Error::Unsupported`] for symbolic strides mixed with F2 columns that the coordinate
    /// reaches; those of [`Sum::add`].
    pub const fn index(&self, coord: &Coord) -> Result<Sum, Error> {
        self.index_by(coord, Rule { extended: false })
    }

    /// [`Lay::crd2idx_extended`] where strides may be symbolic, see [`Lay::index`].
    ///
    /// ```
    /// use girih_layout::{Coord, lay};
    /// assert_eq!(lay!("(4,2):(2,s0)").index_extended(&Coord::parse("(1,5)")?)?.to_string(), "5*s0 + 2");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Lay::index`]; [`Error::CoordOutOfRange`] for negative positions only.
    pub const fn index_extended(&self, coord: &Coord) -> Result<Sum, Error> {
        self.index_by(coord, Rule { extended: true })
    }

    const fn index_by(&self, coord: &Coord, rule: Rule) -> Result<Sum, Error> {
        let mut sum = Sum::ZERO;
        let mut index = Index { terms: Some(&mut sum), ..Index::ZERO };
        tri!(self.walk(coord, coord.profile.root(), self.root(), rule, &mut index, None));
        let (known, columns) = (index.value(), index.columns);
        if columns != 0 && sum.get().is_none() {
            return Err(Error::Unsupported { op: "an index", what: "symbols beside F2 columns" });
        }
        tri!(sum.push(Int::value(known)));
        Ok(sum)
    }

    /// [`Lay::crd2idx`] of the extended layout: the last leaf of the subtree that a position counts through goes on
    /// past its extent. Composition has this meaning past the end of the left-hand layout.
    ///
    /// ```
    /// use girih_layout::{Coord, lay};
    /// assert_eq!(lay!("(4,2):(2,10)").crd2idx_extended(&Coord::parse("(1,5)")?)?, 52);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Lay::crd2idx`]; [`Error::CoordOutOfRange`] for negative positions only.
    pub const fn crd2idx_extended(&self, coord: &Coord) -> Result<i64, Error> {
        let mut index = Index::ZERO;
        tri!(self.walk(coord, coord.profile.root(), self.root(), Rule { extended: true }, &mut index, None));
        Ok(index.value())
    }

    /// The index of a 1-D coordinate.
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert_eq!(lay!("(4,2):(2,10)").at(5)?, 12);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Lay::crd2idx`].
    #[inline]
    pub const fn at(&self, position: i64) -> Result<i64, Error> {
        if let Some(index) = self.digit_by_digit(position) {
            return Ok(index);
        }
        let mut index = Index::ZERO;
        tri!(self.index_in(self.root(), position, Rule { extended: false }, &mut index));
        Ok(index.value())
    }

    /// The index of a 1-D coordinate of the extended layout, see [`Lay::crd2idx_extended`].
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert_eq!(lay!("(4,2):(2,10)").at_extended(9)?, 22);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Lay::crd2idx_extended`].
    pub const fn at_extended(&self, position: i64) -> Result<i64, Error> {
        let mut index = Index::ZERO;
        tri!(self.index_in(self.root(), position, Rule { extended: true }, &mut index));
        Ok(index.value())
    }

    pub(crate) const fn require_rank(&self, coord: &Coord, c: Node, n: Node) -> Result<(), Error> {
        let (rank, other) = (self.shape.profile.rank_of(n), coord.profile.rank_of(c));
        if rank == other && !n.is_leaf() {
            return Ok(());
        }
        Err(Error::RankMismatch { op: "a coordinate", rank: if n.is_leaf() { 0 } else { rank }, other })
    }

    /// Adds the index of the fixed positions to `index`, and appends the modes under `_` to `kept`, if that is given.
    pub(crate) const fn walk(
        &self,
        coord: &Coord,
        c: Node,
        n: Node,
        rule: Rule,
        index: &mut Index<'_>,
        mut kept: Option<&mut Lay>,
    ) -> Result<(), Error> {
        if c.is_leaf() {
            return match (coord.at_leaf(c.begin), kept) {
                (Crd::At(position), _) => self.index_in(n, position, rule, index),
                (Crd::All, Some(out)) => out.copy(self, n),
                (Crd::All, None) => Err(Error::Unsupported { op: "an index", what: "'_' in the coordinate" }),
            };
        }
        tri!(self.require_rank(coord, c, n));
        let (mut i, mut j) = (c.begin, n.begin);
        while i < c.end {
            let (cc, cn) = (coord.profile.child(c, i), self.shape.profile.child(n, j));
            let out = match &mut kept {
                Some(out) => Some(&mut **out),
                None => None,
            };
            tri!(self.walk(coord, cc, cn, rule, index, out));
            (i, j) = (cc.end, cn.end);
        }
        Ok(())
    }

    const fn index_in(
        &self,
        node: Node,
        position: i64,
        rule: Rule,
        index: &mut Index<'_>,
    ) -> Result<(), Error> {
        // A position in a single leaf needs no counting.
        if let (1, Some(extent)) = (node.end - node.begin, self.extent(node.begin).get())
            && 0 < position
            && position < extent
        {
            return index.add(position, self.step(node.begin));
        }
        if node.begin == node.end && position != 0 {
            return Err(Error::CoordOutOfRange { coord: position, extent: Int::ONE.quoted() });
        }
        let mut digits = tri!(Digits::new(&self.shape, node, position, rule.extended));
        let mut i = node.begin;
        while i < node.end {
            let digit = tri!(digits.next(&self.shape));
            if digit != 0 {
                tri!(index.add(digit, self.step(i)));
            }
            i += 1;
        }
        Ok(())
    }
}

pub(crate) const fn step(sum: i64, digit: i64, stride: Int) -> Result<i64, Error> {
    if digit == 0 {
        return Ok(sum);
    }
    let Some(stride) = stride.get() else {
        return Err(Error::NotKnown { op: "an index", value: stride.quoted() });
    };
    if let Some(reach) = digit.checked_mul(stride)
        && let Some(sum) = sum.checked_add(reach)
    {
        return Ok(sum);
    }
    Err(Error::Overflow { op: "an index" })
}
