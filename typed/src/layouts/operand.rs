//! The second operand of an operation: a tree, or tiles by mode.

use girih_layout::{Error, Lay, Tile, Tiler};

use super::tree::Tree;

/// The most modes of a tuple.
const RANK: usize = 12;

/// The second operand of an operation: run-time integers, with 1 in the place of each that the type does not know.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub enum Operand {
    None,
    /// A layout, which is one tile for the whole layout; or a number, or a tree of integers.
    One(Tree),
    /// A tile for each of the first modes; or a target shape, and an order.
    Tiles(Tiles),
}

/// The tiles of the first modes.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Tiles {
    /// The tiles as modes of one tree, `1:0` for a mode that stays as it is.
    pub(super) tiles: Tree,
    /// The modes that stay as they are.
    all: u32,
}

impl Tiles {
    pub(crate) const fn new(tiles: &[Option<Tree>]) -> Result<Tiles, Error> {
        let (mut out, mut all, mut k) = (Tree::EMPTY, 0, 0);
        while k < tiles.len() {
            match &tiles[k] {
                Some(tile) if tile.leaf_count() == 0 => {
                    return Err(Error::Unsupported {
                        op: "a tiler",
                        what: "a tile of rank 0; `__` leaves the mode alone",
                    });
                }
                Some(tile) => out = tri!(out.append(tile)),
                None => {
                    out = tri!(out.append(&Tree::UNIT));
                    all |= 1 << k;
                }
            }
            k += 1;
        }
        Ok(Tiles { tiles: out, all })
    }

    pub(crate) const fn len(&self) -> usize {
        self.tiles.rank()
    }

    /// The run-time tiler, by way of `N` tiles, which are large.
    pub(super) const fn tiler<const N: usize>(&self) -> Result<Tiler, Error> {
        let (mut out, mut k) = ([Tile::All; N], 0);
        while k < self.len() {
            if let Some(tile) = tri!(self.tile(k)) {
                out[k] = Tile::Lay(tri!(tile.lay()));
            }
            k += 1;
        }
        Tiler::modes(out.split_at(k).0)
    }

    /// The tile of mode `k`; `None` for a mode that stays as it is.
    pub(crate) const fn tile(&self, k: usize) -> Result<Option<Tree>, Error> {
        Ok(if k >= self.len() || self.all >> k & 1 == 1 { None } else { Some(tri!(self.tiles.mode(k))) })
    }
}

impl Operand {
    pub(crate) const fn tiles(tiles: &[Option<Tree>]) -> Result<Operand, Error> {
        Ok(Operand::Tiles(tri!(Tiles::new(tiles))))
    }

    /// [`Operand::tiles`] of types, when the program is compiled.
    pub(crate) const fn skeleton(tiles: &[Option<Tree>]) -> Operand {
        match Operand::tiles(tiles) {
            Ok(operand) => operand,
            Err(_) => panic!("typed tiles of more than 24 leaves, or a tile of rank 0"),
        }
    }

    /// The run-time tiler.
    pub(crate) const fn tiler(&self) -> Result<Tiler, Error> {
        let tiles = match self {
            Operand::None => return Ok(Tiler::Lay(Lay::UNIT)),
            Operand::One(tile) => return Ok(Tiler::Lay(tri!(tile.lay()))),
            Operand::Tiles(tiles) => tiles,
        };
        match tiles.len() {
            0..=2 => tiles.tiler::<2>(),
            _ => tiles.tiler::<RANK>(),
        }
    }

    /// The only tree of the operand, `1:0` if there is none.
    pub(super) const fn one(&self) -> &Tree {
        match self {
            Operand::One(tree) => tree,
            _ => &Tree::UNIT,
        }
    }

    /// The target shape of an operation that fills it, and the order if there is one.
    pub(super) const fn target(&self) -> Result<(Tree, Option<Tree>), Error> {
        if let Operand::Tiles(tiles) = self
            && let Some(target) = tri!(tiles.tile(0))
        {
            return Ok((target, tri!(tiles.tile(1))));
        }
        Err(Error::Unsupported { op: "tile_to_shape", what: "tiles" })
    }
}
