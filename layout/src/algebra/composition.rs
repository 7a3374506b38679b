//! Composition: `R(c) = A(B(c))` (CuTe guide, 02 Layout algebra, Composition).
//!
//! A leaf `s:d` of the right-hand side walks the modes of the coalesced left-hand side. A mode of extent `m` is
//! * skipped where `m` divides `d`: the leaf steps over it, with `d/m` steps in what follows;
//! * taken with extent `s` and done, where the walk ends inside it: `(s-1)*d < m`;
//! * taken with extent `m/d` where `d` divides `m` and `m/d` divides `s`; what is left of the leaf goes on with step 1.
//!
//! The last mode takes the rest of the leaf, past the mode's extent too. If no rule applies, the leaf's values are
//! enumerated, and a layout is found if any has them.
//!
//! Several leaves compose one by one only if their digits don't carry into one another: for every mode end `P` on the left but the last,
//! the sum over the leaves of the greatest `x*d mod P` stays below `P`. Neither CuTe nor "the right-hand side is injective" gives that:
//! `(4,2):(1,10)` with `(2,2):(2,3)` has the index 11 at `(1,1)`, mode by mode it would be 5. Where the condition fails, the composition is
//! compared with its definition point by point and refused with the first difference.

use crate::algebra::compose_columns::compose_columns;
use crate::algebra::compose_coordinates::{compose_coordinates, has_coordinates};
use crate::algebra::compose_integers::compose_integers;
use crate::layout::tiler::Part;
use crate::leaf::int::{FACTORS, KNOWN};
use crate::tuple::profile::Node;
use crate::{Error, Lay, Tile, Tiler, Tiles};

const OP: &str = "composition";

impl Lay {
    /// `R(c) = self(right(c))` for every coordinate of `right`; the result's shape refines the shape of `right`.
    ///
    /// Where `right` reaches past the size of `self`, the last leaf of `self` goes on. Where the strides of `right` are basis
    /// vectors, `right(c)` is a coordinate of `self`, and past the end of a mode, the mode's last leaf goes on.
    ///
    /// ```
    /// use girih_layout::lay;
    /// let r = lay!("(10,2):(16,4)").composition(&lay!("(5,4):(1,5)"))?;
    /// assert_eq!(r, lay!("(5,(2,2)):(16,(80,4))"));
    /// // Strides of `right` that are basis vectors go along the modes of `self`.
    /// let a = lay!("(4096,8192):(1,4096)");
    /// let r = a.composition(&lay!("(32,s0,8,128):(1@0,8@1,1@1,32@0)"))?;
    /// assert_eq!(r, lay!("(32,s0,8,128):(1,32768,4096,32)"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoLayout`] where a leaf's values are those of no layout, with a witness ([`Error::StrideDivisibility`] and
    /// [`Error::ShapeDivisibility`] where there are too many to look at); [`Error::Carry`] where the leaves interact, with a witness; [`Error::NeedsFact`] and [`Error::NotKnown`] where a symbol decides;
    /// [`Error::NonPositiveStride`] for a negative right-hand stride unless `self` is a single mode; [`Error::NoLayout`] where F2 columns on the
    /// right come out as neither integers nor columns; [`Error::ModeOutOfRange`] for a basis vector along a mode that `self` does not have,
    /// [`Error::MixedModes`] for strides along a mode and along a mode of that mode, [`Error::Unsupported`] for integers mixed with basis vectors;
    /// [`Error::Capacity`], [`Error::Overflow`].
    pub const fn composition(&self, right: &Lay) -> Result<Lay, Error> {
        written!(|out| compose_into(self, self.root(), right, right.root(), out))
    }

    /// Composes mode `i` with tile `i`; modes without a tile are dropped, as in CuTe.
    ///
    /// ```
    /// use girih_layout::{Tile, lay};
    /// let a = lay!("(12,(4,8)):(59,(13,1))");
    /// let r = a.composition_by(&[Tile::Lay(lay!("3:1")), Tile::Lay(lay!("8:1"))])?;
    /// assert_eq!(r, lay!("(3,(4,2)):(59,(13,1))"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Lay::composition`], [`Error::RankMismatch`] for more tiles than modes.
    pub const fn composition_by(&self, tiles: &[Tile]) -> Result<Lay, Error> {
        self.compose_tiles(&tri!(Tiles::new(tiles)))
    }

    /// [`Lay::composition`] with a layout, [`Lay::composition_by`] with tiles.
    ///
    /// ```
    /// use girih_layout::{lay, tiler};
    /// let a = lay!("(8,6):(1,8)");
    /// assert_eq!(a.compose(&tiler!("<4,2>"))?, lay!("(4,2):(1,8)"));
    /// assert_eq!(a.compose(&tiler!("4:8"))?, lay!("4:8"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of the two operations.
    pub const fn compose(&self, tiler: &Tiler) -> Result<Lay, Error> {
        match tiler {
            Tiler::Lay(right) => self.composition(right),
            Tiler::Modes(tiles) => self.compose_tiles(tiles),
        }
    }

    const fn compose_tiles(&self, tiles: &Tiles) -> Result<Lay, Error> {
        let mut out = Lay::EMPTY;
        tri!(self.compose_tiles_into(self.root(), tiles, tiles.root(), 1, &mut out));
        tri!(self.require_added(OP, tiles, &out));
        Ok(out)
    }

    const fn compose_tiles_into(
        &self,
        n: Node,
        tiles: &Tiles,
        t: Node,
        depth: u8,
        out: &mut Lay,
    ) -> Result<(), Error> {
        tri!(self.require_tiles(OP, n, tiles, t));
        tri!(out.open());
        let mut k = 0;
        while k < tiles.count(t) {
            let mode = tri!(self.part(n, k));
            match tiles.part(t, k, depth) {
                Part::All => tri!(out.copy(self, mode)),
                Part::Lay(tile) => tri!(compose_into(self, mode, tiles.layouts(), tile, out)),
                Part::Modes(inner) => tri!(self.compose_tiles_into(mode, tiles, inner, depth + 1, out)),
            }
            k += 1;
        }
        out.close();
        Ok(())
    }

    /// Refuses tiles of F2 columns that would join modes by exclusive or where this layout adds them up.
    pub(crate) const fn require_added(
        &self,
        op: &'static str,
        tiles: &Tiles,
        out: &Lay,
    ) -> Result<(), Error> {
        if !tiles.layouts().has_columns() {
            return Ok(());
        }
        // Where this layout itself joins its modes by exclusive or, only the integers have to stay apart from the
        // columns.
        if !self.has_columns() {
            return out.require_modes_apart(op);
        }
        match out.parts(op) {
            Ok(_) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Refuses more tiles in the bracket `t` than the mode `n` has modes.
    pub(crate) const fn require_tiles(
        &self,
        op: &'static str,
        n: Node,
        tiles: &Tiles,
        t: Node,
    ) -> Result<(), Error> {
        let (rank, other) = (self.shape.profile.rank_of(n), tiles.count(t));
        if other > rank { Err(Error::RankMismatch { op, rank, other }) } else { Ok(()) }
    }
}

/// Appends the composition of two subtrees to `out`.
pub(crate) const fn compose_into(
    left: &Lay,
    l: Node,
    right: &Lay,
    r: Node,
    out: &mut Lay,
) -> Result<(), Error> {
    if has_coordinates(right, r) {
        return compose_coordinates(left, l, right, r, out);
    }
    if left.has_columns_in(l) || right.has_columns_in(r) {
        return compose_columns(left, l, right, r, out);
    }
    if left.is_known() && right.is_known() {
        return compose_integers::<KNOWN>(left, l, right, r, out);
    }
    compose_integers::<FACTORS>(left, l, right, r, out)
}
