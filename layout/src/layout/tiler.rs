//! The operands that a layout can be divided or multiplied by: a layout, or one tile for each mode, or tiles for the
//! modes of a mode.

use core::fmt;

use crate::leaf::symbol::write_with_facts;
use crate::tuple::profile::Node;
use crate::{Error, Int, Lay, MAX_LEAVES, Shape, Stride};

// `Tiles` marks its leaves in 32 bits.
const _: () = assert!(MAX_LEAVES <= 32);

/// The tile of one mode.
///
/// ```
/// use girih_layout::{Lay, Tile, Tiler, lay, tiler};
/// let tiler = Tiler::modes(&[Tile::Lay(lay!("4:1")), Tile::All])?;
/// assert_eq!(tiler, tiler!("<4,_>"));
/// # Ok::<(), girih_layout::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Tile {
    /// `_`: the mode stays as it is.
    All,
    /// A layout applied to the mode; a size `n` is `n:1`.
    Lay(Lay),
    /// One tile for each of the mode's modes: `<2,2>` in `<<2,2>,4>`.
    Modes(Tiles),
}

/// The right-hand operand of divides and products.
///
/// ```
/// use girih_layout::{lay, tiler};
/// let a = lay!("(8,6):(1,8)");
/// // One tile a mode: blocks of 4 by 2. A layout: 8 elements of the whole, counted through the modes.
/// assert_eq!(a.zipped_divide(&tiler!("<4,2>"))?, lay!("((4,2),(2,3)):((1,8),(4,16))"));
/// assert_eq!(a.zipped_divide(&tiler!("(4,2):(1,4)"))?, lay!("((4,2),6):((1,4),8)"));
/// # Ok::<(), girih_layout::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Tiler {
    /// A layout, applied to the whole domain.
    Lay(Lay),
    /// One tile for each mode, printed `<128:1,_>`; a mode's tile may be tiles again, `<<2:1,2:1>,4:1>`.
    Modes(Tiles),
}

/// The tile of a mode in [`Tiles`], as a node of the tiles' layout.
pub(crate) enum Part {
    All,
    Lay(Node),
    Modes(Node),
}

/// The tiles of the first modes, in order.
///
/// ```
/// use girih_layout::{Lay, Tile, Tiles, lay};
/// let tiles = Tiles::new(&[Tile::Lay(lay!("4:1")), Tile::All])?;
/// assert_eq!((tiles.len(), tiles.to_string().as_str()), (2, "<4:1,_>"));
/// # Ok::<(), girih_layout::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Tiles {
    /// The tiles as modes of one layout, `1:0` for [`Tile::All`].
    lay: Lay,
    /// The leaves that stand for [`Tile::All`].
    all: u32,
    /// In how many brackets a leaf's tile is.
    depths: [u8; MAX_LEAVES],
    len: u8,
}

impl Tiles {
    pub(crate) const EMPTY: Tiles = Tiles { lay: Lay::EMPTY, all: 0, depths: [0; MAX_LEAVES], len: 0 };

    /// The tiles of the first modes.
    ///
    /// ```
    /// use girih_layout::{Tile, Tiles};
    /// assert_eq!(Tiles::new(&[Tile::All])?.len(), 1);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Capacity`].
    pub const fn new(tiles: &[Tile]) -> Result<Tiles, Error> {
        let mut out = Tiles::EMPTY;
        let mut i = 0;
        while i < tiles.len() {
            tri!(out.push(&tiles[i]));
            i += 1;
        }
        Ok(out)
    }

    /// How many modes have a tile.
    ///
    /// ```
    /// use girih_layout::{Tile, Tiles};
    /// assert_eq!(Tiles::new(&[Tile::All, Tile::All])?.len(), 2);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether no mode has a tile.
    ///
    /// ```
    /// use girih_layout::Tiles;
    /// assert!(Tiles::new(&[])?.is_empty());
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The tile of mode `mode`.
    ///
    /// ```
    /// use girih_layout::{Lay, Tile, Tiles, lay};
    /// assert_eq!(Tiles::new(&[Tile::Lay(lay!("4:1")), Tile::All])?.tile(1)?, Tile::All);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ModeOutOfRange`].
    pub const fn tile(&self, mode: usize) -> Result<Tile, Error> {
        if mode >= self.len() {
            return Err(Error::ModeOutOfRange { mode, rank: self.len() });
        }
        match self.part(self.lay.root(), mode, 1) {
            Part::All => Ok(Tile::All),
            Part::Lay(node) => {
                let mut out = Lay::EMPTY;
                tri!(out.copy(&self.lay, node));
                Ok(Tile::Lay(out))
            }
            Part::Modes(node) => {
                let mut out = Tiles { all: self.all >> node.begin, ..Tiles::EMPTY };
                tri!(out.lay.copy(&self.lay, node));
                out.len = out.lay.rank() as u8;
                let mut i = 0;
                while i < out.lay.leaf_count() {
                    out.depths[i] = self.depths[node.begin + i] - 1;
                    i += 1;
                }
                out.all &= ((1u64 << i) - 1) as u32;
                Ok(Tile::Modes(out))
            }
        }
    }

    pub(crate) const fn push(&mut self, tile: &Tile) -> Result<(), Error> {
        let empty = match tile {
            Tile::All => false,
            Tile::Lay(lay) => lay.leaf_count() == 0,
            Tile::Modes(tiles) => tiles.is_empty(),
        };
        if empty {
            return Err(Error::Unsupported {
                op: "a tiler",
                what: "a tile of rank 0; '_' leaves the mode alone",
            });
        }
        // The tiles stand side by side in a tuple that is written anew for each new tile.
        let old = self.lay;
        self.lay = Lay::EMPTY;
        tri!(self.lay.open());
        let root = old.root();
        let mut at = 0;
        while at < root.end {
            let child = old.shape.profile.child(root, at);
            tri!(self.lay.copy(&old, child));
            at = child.end;
        }
        let begin = self.lay.leaf_count();
        match tile {
            Tile::All => {
                tri!(self.lay.push(Int::ONE, Stride::ZERO));
                self.all |= 1 << begin;
            }
            Tile::Lay(lay) => tri!(self.lay.copy(lay, lay.root())),
            Tile::Modes(tiles) => {
                tri!(self.lay.copy(&tiles.lay, tiles.lay.root()));
                self.all |= tiles.all << begin;
            }
        }
        let mut i = begin;
        while i < self.lay.leaf_count() {
            self.depths[i] = match tile {
                Tile::Modes(tiles) => tiles.depths[i - begin] + 1,
                _ => 1,
            };
            i += 1;
        }
        self.lay.close();
        self.len += 1;
        Ok(())
    }

    pub(crate) const fn layouts(&self) -> &Lay {
        &self.lay
    }

    /// The outermost bracket, of all tiles.
    pub(crate) const fn root(&self) -> Node {
        self.lay.root()
    }

    /// The number of tiles in a bracket.
    pub(crate) const fn count(&self, node: Node) -> usize {
        if self.is_empty() { 0 } else { self.lay.shape.profile.rank_of(node) }
    }

    /// The tile of a mode in the bracket `node`, which is the bracket of nesting level `depth` (1 for the outermost); a
    /// mode without a tile stays as it is.
    pub(crate) const fn part(&self, node: Node, mode: usize, depth: u8) -> Part {
        if self.is_empty() {
            return Part::All;
        }
        match self.lay.shape.profile.nth(node, mode) {
            None => Part::All,
            Some(child) if self.depths[child.begin] > depth => Part::Modes(child),
            Some(child) if self.all >> child.begin & 1 == 1 => Part::All,
            Some(child) => Part::Lay(child),
        }
    }
}

impl Tiler {
    /// A tiler of one tile for each mode.
    ///
    /// ```
    /// use girih_layout::{Lay, Tile, Tiler, lay};
    /// assert_eq!(Tiler::modes(&[Tile::Lay(lay!("4:1")), Tile::All])?, Tiler::parse("<4,_>")?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Capacity`].
    pub const fn modes(tiles: &[Tile]) -> Result<Tiler, Error> {
        Ok(Tiler::Modes(tri!(Tiles::new(tiles))))
    }

    /// A tiler of the tile `n:1` for each mode: a block of these extents.
    ///
    /// ```
    /// use girih_layout::Tiler;
    /// assert_eq!(Tiler::sizes(&[128, 32])?, Tiler::parse("<128,32>")?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Capacity`], [`Error::NonPositiveShape`].
    pub const fn sizes(sizes: &[i64]) -> Result<Tiler, Error> {
        let mut tiles = Tiles::EMPTY;
        let mut i = 0;
        while i < sizes.len() {
            let tile = tri!(Lay::leaf(Int::fixed(sizes[i]), Stride::Int(Int::ONE)));
            tri!(tiles.push(&Tile::Lay(tile)));
            i += 1;
        }
        Ok(Tiler::Modes(tiles))
    }

    /// Adds what is known of a symbol. Returns whether a tile has the symbol.
    pub(crate) const fn learn(&mut self, symbol: crate::Symbol) -> bool {
        match self {
            Tiler::Lay(lay) | Tiler::Modes(Tiles { lay, .. }) => lay.learn(symbol),
        }
    }

    /// The same tiles with more facts about a symbol, see [`Int::assume`].
    ///
    /// ```
    /// use girih_layout::{Symbol, lay, tiler};
    /// let tile = tiler!("<s0>").assume(Symbol::new(0).at_least(2).at_most(4))?;
    /// assert_eq!(lay!("8:3").compose(&tile)?.to_string(), "(s0):(3)");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Int::assume`].
    pub const fn assume(&self, symbol: crate::Symbol) -> Result<Tiler, Error> {
        Ok(match self {
            Tiler::Lay(lay) => Tiler::Lay(tri!(lay.assume(symbol))),
            Tiler::Modes(tiles) => Tiler::Modes(Tiles { lay: tri!(tiles.lay.assume(symbol)), ..*tiles }),
        })
    }

    /// The tiles at launch: `symbol`, by its id, becomes `value`.
    ///
    /// ```
    /// use girih_layout::{Symbol, tiler};
    /// assert_eq!(tiler!("<s0,_>").bind(Symbol::new(0), 8)?, tiler!("<8,_>"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Lay::bind`].
    pub const fn bind(&self, symbol: crate::Symbol, value: i64) -> Result<Tiler, Error> {
        Ok(match self {
            Tiler::Lay(lay) => Tiler::Lay(tri!(lay.bind(symbol, value))),
            Tiler::Modes(tiles) => Tiler::Modes(Tiles { lay: tri!(tiles.lay.bind(symbol, value)), ..*tiles }),
        })
    }

    /// A block of the shape: mode `i` of the shape, compact, tiles mode `i`.
    ///
    /// ```
    /// use girih_layout::{Shape, Tiler};
    /// assert_eq!(Tiler::shape(&Shape::parse("(4,(2,2))")?)?, Tiler::parse("<4:1,(2,2):(1,2)>")?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Lay::left`].
    pub const fn shape(shape: &Shape) -> Result<Tiler, Error> {
        let mut tiles = Tiles::EMPTY;
        let mut i = 0;
        while i < shape.rank() {
            let tile = tri!(Lay::left(&tri!(shape.mode(i))));
            tri!(tiles.push(&Tile::Lay(tile)));
            i += 1;
        }
        Ok(Tiler::Modes(tiles))
    }
}

impl From<Lay> for Tiler {
    fn from(lay: Lay) -> Tiler {
        Tiler::Lay(lay)
    }
}

impl fmt::Display for Tile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Tile::All => f.write_str("_"),
            Tile::Lay(lay) => lay.fmt(f),
            Tile::Modes(tiles) => tiles.fmt(f),
        }
    }
}

impl fmt::Display for Tiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.sign_plus() {
            return write_with_facts(f, self, self.lay.factors());
        }
        for i in 0..self.len() {
            f.write_str(if i == 0 { "<" } else { "," })?;
            self.tile(i).map_err(|_| fmt::Error)?.fmt(f)?;
        }
        f.write_str(if self.is_empty() { "<>" } else { ">" })
    }
}

impl fmt::Debug for Tiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:#}")
    }
}

impl fmt::Display for Tiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Tiler::Lay(lay) => lay.fmt(f),
            Tiler::Modes(tiles) => tiles.fmt(f),
        }
    }
}
