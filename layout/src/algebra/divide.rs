//! Divides: a layout split into a tile and the arrangement of the tiles (CuTe guide, 02 Layout algebra, Division).

use crate::algebra::compose_coordinates::has_coordinates;
use crate::algebra::divide_coordinates::divide_by_coordinates;
use crate::algebra::divide_integers::divide_by_integers;
use crate::layout::tiler::Part;
use crate::tuple::profile::Node;
use crate::{Error, Lay, Tiler, Tiles};

impl Lay {
    /// `composition(self, (tile, complement(tile, size(self))))`: mode 0 is the tile, mode 1 says where the tiles are.
    /// With one tile for each mode, every mode is divided by its own tile, and modes without a tile stay:
    /// `((TileM,RestM),(TileN,RestN),L)`.
    ///
    /// A size that the tile does not divide rounds up: the mode of the coalesced layout in which the tile ends counts
    /// as the next multiple of the tile. The last tile then reaches past the end, and the kernel has to guard it:
    /// [`Lay::divide_with_residue`] returns the predicate.
    ///
    /// A tile of basis strides divides each mode by the leaves that go along it; the rest has the modes of `self`.
    ///
    /// ```
    /// use girih_layout::{lay, tiler};
    /// let a = lay!("(4,2,3):(2,1,8)");
    /// assert_eq!(a.logical_divide(&tiler!("4:2"))?, lay!("((2,2),(2,3)):((4,1),(2,8))"));
    /// let a = lay!("(8,6):(1,8)");
    /// assert_eq!(a.logical_divide(&tiler!("(2,4):(1@1,1@0)"))?, lay!("((2,4),(2,3)):((8,1),(4,16))"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Lay::composition`] and [`Lay::complement`]; [`Error::RankMismatch`] for more tiles than modes.
    pub const fn logical_divide(&self, tiler: &Tiler) -> Result<Lay, Error> {
        written!(|out| called!("logical_divide", self.divide_all_into(tiler, out)))
    }

    const fn divide_all_into(&self, tiler: &Tiler, out: &mut Lay) -> Result<(), Error> {
        let mut room = [Lay::EMPTY, Lay::EMPTY];
        match tiler {
            Tiler::Lay(tile) => divide_into(self, self.root(), tile, tile.root(), &mut room, out),
            Tiler::Modes(tiles) => {
                tri!(self.divide_modes_into(self.root(), tiles, (tiles.root(), 1), &mut room, out));
                self.require_added("logical_divide", tiles, out)
            }
        }
    }

    const fn divide_modes_into(
        &self,
        n: Node,
        tiles: &Tiles,
        (t, depth): (Node, u8),
        room: &mut [Lay; 2],
        out: &mut Lay,
    ) -> Result<(), Error> {
        tri!(self.require_tiles("logical_divide", n, tiles, t));
        tri!(out.open());
        let mut k = 0;
        while k < self.shape.profile.rank_of(n) {
            let mode = tri!(self.part(n, k));
            match tiles.part(t, k, depth) {
                Part::All => tri!(out.copy(self, mode)),
                Part::Lay(tile) => tri!(divide_into(self, mode, tiles.layouts(), tile, room, out)),
                Part::Modes(inner) => {
                    tri!(self.divide_modes_into(mode, tiles, (inner, depth + 1), room, out));
                }
            }
            k += 1;
        }
        out.close();
        Ok(())
    }

    /// The tiles' modes in mode 0, the rests' in mode 1: `((TileM,TileN),(RestM,RestN,L))`. A `_` tile is the whole mode, with the rest `1:0`.
    ///
    /// ```
    /// use girih_layout::{lay, tiler};
    /// let a = lay!("(s0,s1):(s2,1)"); // any M, N and leading dimension
    /// let tiles = a.zipped_divide(&tiler!("<128,32>"))?;
    /// assert_eq!(tiles, lay!("((128,32),(ceil(s0/128),ceil(s1/32))):((s2,1),(128*s2,32))"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Lay::logical_divide`].
    pub const fn zipped_divide(&self, tiler: &Tiler) -> Result<Lay, Error> {
        let Tiler::Modes(tiles) = tiler else {
            return written!(|out| called!("zipped_divide", self.divide_all_into(tiler, out)));
        };
        let mut divided = Lay::EMPTY;
        tri!(called!("zipped_divide", self.divide_all_into(tiler, &mut divided)));
        divided.unzip(tiles)
    }

    /// [`Lay::zipped_divide`] with the rest's modes side by side: `((TileM,TileN),RestM,RestN,L)`.
    ///
    /// ```
    /// use girih_layout::{lay, tiler};
    /// assert_eq!(lay!("(8,6):(1,8)").tiled_divide(&tiler!("<4,2>"))?, lay!("((4,2),2,3):((1,8),4,16)"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Lay::logical_divide`].
    pub const fn tiled_divide(&self, tiler: &Tiler) -> Result<Lay, Error> {
        tri!(called!("tiled_divide", self.zipped_divide(tiler))).spread(false)
    }

    /// [`Lay::zipped_divide`] with all modes side by side: `(TileM,TileN,RestM,RestN,L)`.
    ///
    /// ```
    /// use girih_layout::{lay, tiler};
    /// assert_eq!(lay!("(8,6):(1,8)").flat_divide(&tiler!("<4,2>"))?, lay!("(4,2,2,3):(1,8,4,16)"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Lay::logical_divide`].
    pub const fn flat_divide(&self, tiler: &Tiler) -> Result<Lay, Error> {
        tri!(called!("flat_divide", self.zipped_divide(tiler))).spread(true)
    }

    /// Gathers the first modes of the tiled modes in one tuple, and their second modes with the modes that have no tile
    /// in another (CuTe's `tile_unzip`). This turns a logical divide or product into a zipped one.
    ///
    /// ```
    /// use girih_layout::{Tile, Tiles, lay};
    /// let tiles = Tiles::new(&[Tile::Lay(lay!("4:1")), Tile::Lay(lay!("2:1"))])?;
    /// let logical = lay!("((4,3),(2,5),7):((1,4),(12,24),120)");
    /// assert_eq!(logical.unzip(&tiles)?, lay!("((4,2),(3,5,7)):((1,12),(4,24,120))"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ModeOutOfRange`] where a tiled mode is no pair.
    pub const fn unzip(&self, tiles: &Tiles) -> Result<Lay, Error> {
        written!(|out| self.unzip_into(tiles, out))
    }

    const fn unzip_into(&self, tiles: &Tiles, out: &mut Lay) -> Result<(), Error> {
        tri!(out.open());
        tri!(self.unzip_modes_into(self.root(), tiles, tiles.root(), (0, 1), out));
        tri!(self.unzip_modes_into(self.root(), tiles, tiles.root(), (1, 1), out));
        out.close();
        Ok(())
    }

    /// One tuple of the first or second modes in the bracket `t`.
    const fn unzip_modes_into(
        &self,
        n: Node,
        tiles: &Tiles,
        t: Node,
        (second, depth): (usize, u8),
        out: &mut Lay,
    ) -> Result<(), Error> {
        tri!(out.open());
        let mut k = 0;
        while k < self.shape.profile.rank_of(n) {
            let mode = tri!(self.part(n, k));
            match tiles.part(t, k, depth) {
                // Modes past the tiles belong to the rest, modes of a `_` to the tile.
                Part::All if (k < tiles.count(t)) == (second == 0) => tri!(out.copy(self, mode)),
                Part::All if second == 1 => tri!(out.copy(&Lay::UNIT, Lay::UNIT.root())),
                Part::All => {}
                Part::Lay(_) => tri!(out.copy(self, tri!(self.part(mode, second)))),
                Part::Modes(inner) => {
                    tri!(self.unzip_modes_into(mode, tiles, inner, (second, depth + 1), out));
                }
            }
            k += 1;
        }
        out.close();
        Ok(())
    }

    pub(crate) const fn part(&self, node: Node, mode: usize) -> Result<Node, Error> {
        match self.shape.profile.nth(node, mode) {
            Some(part) => Ok(part),
            None => Err(Error::ModeOutOfRange { mode, rank: self.shape.profile.rank_of(node) }),
        }
    }

    /// The layout with mode 1 replaced by its modes, and mode 0 too if `both` is set. A mode of one mode stays whole,
    /// as in CuTe.
    pub(crate) const fn spread(&self, both: bool) -> Result<Lay, Error> {
        let mut out = Lay::EMPTY;
        tri!(out.open());
        let mut k = 0;
        while k < self.rank() {
            let mode = tri!(self.node(k));
            if (k == 1 || both) && self.shape.profile.rank_of(mode) > 1 {
                let mut at = mode.begin;
                while at < mode.end {
                    let child = self.shape.profile.child(mode, at);
                    tri!(out.copy(self, child));
                    at = child.end;
                }
            } else {
                tri!(out.copy(self, mode));
            }
            k += 1;
        }
        out.close();
        Ok(out)
    }
}

/// Appends the divide of a subtree by another one; `room` is where its operands are written.
const fn divide_into(
    left: &Lay,
    l: Node,
    tiles: &Lay,
    t: Node,
    room: &mut [Lay; 2],
    out: &mut Lay,
) -> Result<(), Error> {
    if has_coordinates(tiles, t) {
        return divide_by_coordinates(left, l, tiles, t, room, out);
    }
    divide_by_integers(left, l, tiles, t, room, out)
}
