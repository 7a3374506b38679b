//! Slices: the modes that a coordinate leaves open, and the index at which these modes begin.

use crate::layout::eval::{Index, Rule};
use crate::tuple::profile::Node;
use crate::{Coord, Crd, Error, Int, Lay, Sum};

impl Lay {
    /// The modes under `_`, side by side, and the index of the fixed positions as an offset: `L(c) = slice(c) + offset`
    /// (CuTe's `slice_and_offset`). Symbolic strides give an offset that the kernel computes at launch.
    ///
    /// ```
    /// use girih_layout::{Coord, lay};
    /// let (row, offset) = lay!("(8,(2,3)):(6,(1,2))").slice(&Coord::parse("(5,(_,1))")?)?;
    /// assert_eq!((row, offset.get()), (lay!("(2):(1)"), Some(32)));
    /// // A tile of a matrix with leading dimension s2.
    /// let tiles = lay!("((128,32),(4,8)):((s2,1),(128*s2,32))");
    /// let (tile, offset) = tiles.slice(&Coord::parse("(_,(3,5))")?)?;
    /// assert_eq!((tile, offset.to_string().as_str()), (lay!("((128,32)):((s2,1))"), "384*s2 + 160"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// Without a `_` the slice has rank 0, `():()`, and size 1.
    ///
    /// # Errors
    /// As [`Lay::index`]; [`Error::Unsupported`] for an offset that does not add to F2 columns.
    pub const fn slice(&self, coord: &Coord) -> Result<(Lay, Sum), Error> {
        let (mut out, mut sum) = (Lay::EMPTY, Sum::of(Int::value(0)));
        let root = coord.profile.root();
        if let (true, Crd::All) = (root.is_leaf(), coord.at_leaf(0)) {
            return Ok((*self, sum));
        }
        tri!(out.open());
        let mut index = Index { terms: Some(&mut sum), ..Index::ZERO };
        tri!(self.walk(coord, root, self.root(), Rule { extended: false }, &mut index, Some(&mut out)));
        let (known, columns) = (index.sum, index.columns);
        out.close();
        tri!(sum.push(Int::value(known)));
        if columns != 0 || !matches!(sum.get(), Some(0)) && out.has_columns() {
            return Err(Error::Unsupported {
                op: "a slice",
                what: "an offset that does not add to F2 columns",
            });
        }
        Ok((out, sum))
    }

    /// The offset of a coordinate from the origin: moved by this offset, the same layout begins at that coordinate
    /// (CuTe's `domain_offset`). Symbolic strides give a symbolic offset.
    ///
    /// ```
    /// use girih_layout::{Coord, lay};
    /// assert_eq!(lay!("(128,32):(s0,1)").domain_offset(&Coord::parse("(3,2)")?)?.to_string(), "3*s0 + 2");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Lay::index`]; [`Error::Unsupported`] for F2 columns, unless the coordinate is the origin.
    pub const fn domain_offset(&self, coord: &Coord) -> Result<Sum, Error> {
        const OP: &str = "domain_offset";
        let offset = tri!(self.index(coord));
        if self.has_columns() && !matches!(offset.get(), Some(0)) {
            return Err(Error::Unsupported { op: OP, what: "an offset that does not add to F2 columns" });
        }
        Ok(offset)
    }

    /// The modes that are not under `_`, side by side (CuTe's `dice`): the modes that [`Lay::slice`] leaves out.
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
