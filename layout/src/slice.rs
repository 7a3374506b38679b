//! Slices: the modes that a coordinate leaves open, and where they begin.

use crate::coord::Digits;
use crate::eval::{Index, Rule};
use crate::profile::Node;
use crate::{Coord, Crd, Error, Int, Lay};

impl Lay {
    /// The modes under `_`, side by side, and the index of the rest: `L(c) = slice(c) + offset` (CuTe's `slice_and_offset`).
    ///
    /// ```
    /// use girih_layout::{Coord, lay};
    /// let (row, offset) = lay!("(8,(2,3)):(6,(1,2))").slice(&Coord::parse("(5,(_,1))")?)?;
    /// assert_eq!((row, offset), (lay!("(2):(1)"), 32));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// Without a `_` the slice has rank 0, `():()`, and size 1.
    ///
    /// # Errors
    /// As [`Lay::crd2idx`].
    pub const fn slice(&self, coord: &Coord) -> Result<(Lay, i64), Error> {
        let root = coord.profile.root();
        if let (true, Crd::All) = (root.is_leaf(), coord.at_leaf(0)) {
            return Ok((*self, 0));
        }
        let (mut out, mut offset) = (Lay::EMPTY, Index::ZERO);
        tri!(out.open());
        let rule = Rule { extended: false };
        tri!(self.walk(coord, root, self.root(), rule, &mut offset, Some(&mut out)));
        out.close();
        if offset.columns != 0 || offset.sum != 0 && out.has_columns() {
            return Err(Error::Unsupported {
                op: "a slice",
                what: "an offset that does not add to F2 columns",
            });
        }
        Ok((out, offset.sum))
    }

    /// [`Lay::slice`] where strides may be symbolic: the offset is an integer that the kernel computes at launch, such as `128*s2` for a tile
    /// of a matrix with leading dimension `s2` (CuTe's `slice_and_offset`).
    ///
    /// ```
    /// use girih_layout::{Coord, lay};
    /// let tiles = lay!("((128,32),(4,8)):((s2,1),(128*s2,32))");
    /// let (tile, offset) = tiles.slice_and_offset(&Coord::parse("(_,(3,0))")?)?;
    /// assert_eq!((tile, offset.to_string().as_str()), (lay!("((128,32)):((s2,1))"), "384*s2"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Lay::slice`], and [`Error::Unsupported`] where the offset is a sum of different symbols: slice one mode after the other then.
    pub const fn slice_and_offset(&self, coord: &Coord) -> Result<(Lay, Int), Error> {
        let root = coord.profile.root();
        if let (true, Crd::All) = (root.is_leaf(), coord.at_leaf(0)) {
            return Ok((*self, Int::ZERO));
        }
        let (mut out, mut offset) = (Lay::EMPTY, Int::value(0));
        tri!(out.open());
        tri!(self.offset_into(coord, root, self.root(), &mut out, &mut offset));
        out.close();
        Ok((out, offset))
    }

    /// How far a coordinate is from the origin: the offset by which the same layout is to be moved so that it begins there (CuTe's
    /// `domain_offset`). Symbolic strides give a symbolic offset.
    ///
    /// ```
    /// use girih_layout::{Coord, lay};
    /// assert_eq!(lay!("(128,32):(s0,1)").domain_offset(&Coord::parse("(3,0)")?)?.to_string(), "3*s0");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Lay::slice_and_offset`]; [`Error::Unsupported`] for `_`.
    pub const fn domain_offset(&self, coord: &Coord) -> Result<Int, Error> {
        let (rest, offset) = tri!(self.slice_and_offset(coord));
        if rest.leaf_count() > 0 {
            return Err(Error::Unsupported { op: "domain_offset", what: "'_' in the coordinate" });
        }
        Ok(offset)
    }

    const fn offset_into(
        &self,
        coord: &Coord,
        c: Node,
        n: Node,
        out: &mut Lay,
        offset: &mut Int,
    ) -> Result<(), Error> {
        if c.is_leaf() {
            let Crd::At(position) = coord.at_leaf(c.begin) else {
                return out.copy(self, n);
            };
            let mut digits = tri!(Digits::new(&self.shape, n, position, false));
            let mut i = n.begin;
            while i < n.end {
                let digit = tri!(digits.next(&self.shape));
                if digit != 0 {
                    let stride = tri!(self.step(i).require_int("an offset"));
                    *offset = tri!(offset.add(tri!(stride.mul(Int::value(digit)))));
                }
                i += 1;
            }
            return Ok(());
        }
        tri!(self.require_rank(coord, c, n));
        let (mut i, mut j) = (c.begin, n.begin);
        while i < c.end {
            let (cc, cn) = (coord.profile.child(c, i), self.shape.profile.child(n, j));
            tri!(self.offset_into(coord, cc, cn, out, offset));
            (i, j) = (cc.end, cn.end);
        }
        Ok(())
    }

    /// The modes that are not under `_`, side by side (CuTe's `dice`): what [`Lay::slice`] leaves out.
    ///
    /// ```
    /// use girih_layout::{Coord, lay};
    /// assert_eq!(lay!("(8,(2,3)):(6,(1,2))").dice(&Coord::parse("(5,(_,1))")?)?, lay!("(8,3):(6,2)"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::RankMismatch`] where the coordinate is deeper than the shape or of another rank.
    pub const fn dice(&self, coord: &Coord) -> Result<Lay, Error> {
        let root = coord.profile.root();
        if root.is_leaf() {
            return Ok(if matches!(coord.at_leaf(0), Crd::At(_)) { *self } else { Lay::EMPTY });
        }
        let mut out = Lay::EMPTY;
        tri!(out.open());
        tri!(self.dice_into(coord, root, self.root(), &mut out));
        out.close();
        Ok(out)
    }

    const fn dice_into(&self, coord: &Coord, c: Node, n: Node, out: &mut Lay) -> Result<(), Error> {
        if c.is_leaf() {
            return match coord.at_leaf(c.begin) {
                Crd::At(_) => out.copy(self, n),
                Crd::All => Ok(()),
            };
        }
        tri!(self.require_rank(coord, c, n));
        let (mut i, mut j) = (c.begin, n.begin);
        while i < c.end {
            let (cc, cn) = (coord.profile.child(c, i), self.shape.profile.child(n, j));
            tri!(self.dice_into(coord, cc, cn, out));
            (i, j) = (cc.end, cn.end);
        }
        Ok(())
    }
}
