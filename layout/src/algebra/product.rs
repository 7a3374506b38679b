//! Products: a layout repeated in the arrangement of another one (CuTe guide, 02 Layout algebra, Product).

use crate::algebra::composition::compose_into;
use crate::arith::ask;
use crate::layout::tiler::Part;
use crate::leaf::int::KNOWN;
use crate::leaf::step::Step;
use crate::tuple::profile::Node;
use crate::{Error, Int, IntTuple, Lay, Shape, Tiler, Tiles};

/// Which of two modes is the faster one when they become one.
#[derive(Clone, Copy)]
enum First {
    Block,
    Tile,
}

/// Where the copies of a block go.
///
/// ```
/// use girih_layout::{Product, lay, tiler};
/// let a = lay!("2:2"); // one hole
/// assert_eq!(a.logical_product_with(&tiler!("4:1"), Product::FillHoles)?, lay!("(2,(2,2)):(2,(1,4))"));
/// assert_eq!(a.logical_product_with(&tiler!("4:1"), Product::Outer)?, lay!("(2,4):(2,4)"));
/// # Ok::<(), girih_layout::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Product {
    /// Into the holes of the block first, as in CuTe. If the arrangement does not divide the holes, there is no such
    /// product.
    FillHoles,
    /// Past the end of the block, whose holes stay empty: the arrangement in steps of the block's whole reach. This
    /// product always exists.
    Outer,
}

impl Lay {
    /// `(self, composition(complement(self, size(self)*cosize(tile)), tile))`: mode 0 is this layout, mode 1 the
    /// arrangement of its copies. With one tile for each mode, every mode is multiplied by its own tile.
    ///
    /// ```
    /// use girih_layout::{lay, tiler};
    /// let a = lay!("(2,2):(4,1)");
    /// assert_eq!(a.logical_product(&tiler!("6:1"))?, lay!("((2,2),(2,3)):((4,1),(2,8))"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Lay::composition`] and [`Lay::complement`]: the copies go into the holes of the layout, and where the
    /// arrangement does not divide the holes, there is no such product. [`Error::RankMismatch`] for more tiles than
    /// modes.
    pub const fn logical_product(&self, tiler: &Tiler) -> Result<Lay, Error> {
        self.logical_product_with(tiler, Product::FillHoles)
    }

    /// [`Lay::logical_product`] with a choice of where the copies go.
    ///
    /// ```
    /// use girih_layout::{Product, lay, tiler};
    /// let a = lay!("4:2"); // one hole, and 3 copies don't fit in it
    /// assert!(a.logical_product(&tiler!("3:1")).is_err());
    /// assert_eq!(a.logical_product_with(&tiler!("3:1"), Product::Outer)?, lay!("(4,3):(2,8)"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Lay::logical_product`]; for [`Product::Outer`] only those of [`Lay::cosize`], [`Error::RankMismatch`], [`Error::Overflow`] and
    /// [`Error::Capacity`].
    pub const fn logical_product_with(&self, tiler: &Tiler, product: Product) -> Result<Lay, Error> {
        let name = match product {
            Product::FillHoles => "logical_product",
            Product::Outer => "outer_product",
        };
        written!(|out| called!(name, self.multiply_into(tiler, product, out)))
    }

    const fn multiply_into(&self, tiler: &Tiler, product: Product, out: &mut Lay) -> Result<(), Error> {
        match tiler {
            Tiler::Lay(tile) => tri!(product_into(self, self.root(), tile, tile.root(), product, out)),
            Tiler::Modes(tiles) => {
                tri!(self.multiply_modes_into(self.root(), tiles, (tiles.root(), 1), product, out));
                if self.has_columns() || tiles.layouts().has_columns() {
                    tri!(out.require_modes_apart("logical_product"));
                }
            }
        }
        Ok(())
    }

    const fn multiply_modes_into(
        &self,
        n: Node,
        tiles: &Tiles,
        (t, depth): (Node, u8),
        product: Product,
        out: &mut Lay,
    ) -> Result<(), Error> {
        tri!(self.require_tiles("logical_product", n, tiles, t));
        tri!(out.open());
        let mut k = 0;
        while k < self.shape.profile.rank_of(n) {
            let mode = tri!(self.part(n, k));
            match tiles.part(t, k, depth) {
                Part::All => tri!(out.copy(self, mode)),
                Part::Lay(tile) => {
                    tri!(product_into(self, mode, tiles.layouts(), tile, product, out));
                }
                Part::Modes(inner) => {
                    tri!(self.multiply_modes_into(mode, tiles, (inner, depth + 1), product, out));
                }
            }
            k += 1;
        }
        out.close();
        Ok(())
    }

    /// [`Lay::logical_product`] with the blocks' modes in mode 0 and the tiles' in mode 1.
    ///
    /// ```
    /// use girih_layout::{lay, tiler};
    /// assert_eq!(lay!("(2,5):(5,1)").zipped_product(&tiler!("<3:5,4:6>"))?, lay!("((2,5),(3,4)):((5,1),(10,30))"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Lay::logical_product`].
    pub const fn zipped_product(&self, tiler: &Tiler) -> Result<Lay, Error> {
        let product = tri!(called!("zipped_product", self.logical_product(tiler)));
        match tiler {
            Tiler::Lay(_) => Ok(product),
            Tiler::Modes(tiles) => product.unzip(tiles),
        }
    }

    /// [`Lay::zipped_product`] with the tiles' modes side by side.
    ///
    /// ```
    /// use girih_layout::{lay, tiler};
    /// assert_eq!(lay!("(2,5):(5,1)").tiled_product(&tiler!("<3:5,4:6>"))?, lay!("((2,5),3,4):((5,1),10,30)"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Lay::logical_product`].
    pub const fn tiled_product(&self, tiler: &Tiler) -> Result<Lay, Error> {
        tri!(called!("tiled_product", self.zipped_product(tiler))).spread(false)
    }

    /// [`Lay::zipped_product`] with all modes side by side.
    ///
    /// ```
    /// use girih_layout::{lay, tiler};
    /// assert_eq!(lay!("(2,5):(5,1)").flat_product(&tiler!("<3:5,4:6>"))?, lay!("(2,5,3,4):(5,1,10,30)"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Lay::logical_product`].
    pub const fn flat_product(&self, tiler: &Tiler) -> Result<Lay, Error> {
        tri!(called!("flat_product", self.zipped_product(tiler))).spread(true)
    }

    /// Copies of this block side by side: mode `i` runs through the block, then through the blocks,
    /// `((BlockM,TileM),(BlockN,TileN))`. The operand of lower rank is filled up with modes `1:0`.
    ///
    /// ```
    /// use girih_layout::lay;
    /// let r = lay!("(2,5):(5,1)").blocked_product(&lay!("(3,4):(1,3)"))?;
    /// assert_eq!(r, lay!("((2,3),(5,4)):((5,10),(1,30))"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Lay::logical_product`].
    pub const fn blocked_product(&self, tile: &Lay) -> Result<Lay, Error> {
        called!("blocked_product", self.zip_product(tile, First::Block))
    }

    /// Copies of this block interleaved: mode `i` runs through the blocks, then through the block, `((TileM,BlockM),(TileN,BlockN))`.
    ///
    /// ```
    /// use girih_layout::lay;
    /// let r = lay!("(2,5):(5,1)").raked_product(&lay!("(3,4):(1,3)"))?;
    /// assert_eq!(r, lay!("((3,2),(4,5)):((10,5),(30,1))"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Lay::logical_product`].
    pub const fn raked_product(&self, tile: &Lay) -> Result<Lay, Error> {
        called!("raked_product", self.zip_product(tile, First::Tile))
    }

    const fn zip_product(&self, tile: &Lay, first: First) -> Result<Lay, Error> {
        let rank = if self.rank() > tile.rank() { self.rank() } else { tile.rank() };
        let (mut block, mut tiles, mut product) = (Lay::EMPTY, Lay::EMPTY, Lay::EMPTY);
        tri!(self.pad_into(rank, &mut block));
        tri!(tile.pad_into(rank, &mut tiles));
        let (b, t) = (block.root(), tiles.root());
        tri!(product_into(&block, b, &tiles, t, Product::FillHoles, &mut product));
        let (blocks, tiles) = (tri!(product.node(0)), tri!(product.node(1)));
        let mut out = Lay::EMPTY;
        tri!(out.open());
        let mut k = 0;
        while k < rank {
            let (block, tile) = (tri!(product.part(blocks, k)), tri!(product.part(tiles, k)));
            let (a, b) = match first {
                First::Block => (block, tile),
                First::Tile => (tile, block),
            };
            tri!(out.open());
            tri!(out.copy(&product, a));
            tri!(out.copy(&product, b));
            out.close();
            k += 1;
        }
        out.close();
        Ok(out)
    }

    /// The layout with at least `rank` modes, filled up with `1:0`.
    pub(crate) const fn padded(&self, rank: usize) -> Result<Lay, Error> {
        written!(|out| self.pad_into(rank, out))
    }

    const fn pad_into(&self, rank: usize, out: &mut Lay) -> Result<(), Error> {
        tri!(out.open());
        tri!(out.copy_modes(self));
        let mut k = self.rank();
        while k < rank {
            tri!(out.push_leaf::<KNOWN>(Int::number(1, true), Step::ZERO));
            k += 1;
        }
        out.close();
        Ok(())
    }

    /// Repeats this block to fill a shape, with the copies compact in the order of the keys, or without keys the
    /// leftmost mode first; mode `i` is `(BlockI,RestI)` (CuTe's `tile_to_shape`).
    ///
    /// ```
    /// use girih_layout::{Shape, lay};
    /// let r = lay!("(2,2):(1,2)").tile_to_shape(&Shape::parse("(8,8)")?, None)?;
    /// assert_eq!(r, lay!("((2,4),(2,4)):((1,4),(2,16))"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ShapeDivisibility`] where a mode of the block does not divide its target, [`Error::NeedsFact`] and [`Error::NotKnown`] where a
    /// symbol decides, [`Error::RankMismatch`] for a block of higher rank
    /// than the shape, and those of [`Lay::blocked_product`] and [`Lay::ordered`].
    pub const fn tile_to_shape(&self, target: &Shape, order: Option<&IntTuple>) -> Result<Lay, Error> {
        const OP: &str = "tile_to_shape";
        let rank = target.rank();
        if self.rank() > rank {
            return Err(Error::RankMismatch { op: OP, rank: self.rank(), other: rank });
        }
        let block = tri!(self.padded(rank));
        let mut counts = crate::IntTuple::EMPTY;
        tri!(counts.profile.open());
        let mut k = 0;
        while k < rank {
            let whole = tri!(tri!(target.mode(k)).size());
            let part = tri!(block.shape.size_of(tri!(block.node(k))));
            let Some(count) = whole.div_exact(part) else {
                return Err(match (whole.get(), part.get()) {
                    (Some(_), Some(_)) => {
                        Error::ShapeDivisibility { op: OP, divisor: part.quoted(), shape: whole.quoted() }
                    }
                    (None, Some(n)) => ask::divisible(OP, whole, n),
                    (_, None) => Error::NotKnown { op: OP, value: part.quoted() },
                });
            };
            tri!(counts.push(count));
            k += 1;
        }
        counts.profile.close();
        let tiles = match order {
            Some(order) => tri!(Lay::ordered(&counts, order)),
            None => tri!(Lay::left(&counts)),
        };
        called!("tile_to_shape", block.blocked_product(&tiles))
    }
}

const fn product_into(
    left: &Lay,
    l: Node,
    tiles: &Lay,
    t: Node,
    product: Product,
    out: &mut Lay,
) -> Result<(), Error> {
    let (mut room, mut copies) = (Lay::EMPTY, Lay::EMPTY);
    let block = tri!(left.subtree(l, &mut room));
    match product {
        Product::FillHoles => {
            let mut room = Lay::EMPTY;
            let tile = tri!(tiles.subtree(t, &mut room));
            let holes = tri!(block.complement(tri!(tri!(block.size()).mul(tri!(tile.cosize_int())))));
            tri!(compose_into(&holes, holes.root(), tile, tile.root(), &mut copies));
        }
        Product::Outer => {
            tri!(copies.copy(tiles, t));
            let (step, mut i) = (tri!(block.reach()), 0);
            while i < copies.leaf_count() {
                if !copies.extent(i).is(1) {
                    tri!(copies.set_step(i, tri!(copies.step(i).scaled(step))));
                }
                i += 1;
            }
        }
    }
    tri!(block.require_movable(&copies, "a product"));
    tri!(out.open());
    tri!(out.copy(block, block.root()));
    tri!(out.copy(&copies, copies.root()));
    out.close();
    Ok(())
}

impl Lay {
    /// The index at which the next copy begins: the end of the longest mode (extent times stride), or the cosize if
    /// that is greater, as overlapping modes may have it.
    const fn reach(&self) -> Result<Int, Error> {
        if self.has_columns() {
            let parts = tri!(self.parts("a product"));
            return tri!(tri!(parts.steps()).reach()).mul(parts.unit());
        }
        const OP: &str = "a product";
        let mut reach = tri!(self.cosize_int());
        let mut i = 0;
        while i < self.leaf_count() {
            let (extent, stride) = self.flat_leaf(i);
            i += 1;
            // A mode of one coordinate has no step.
            if extent.is(1) {
                continue;
            }
            let end = tri!(tri!(stride.require_int(OP)).mul(extent));
            match ask::at_most(end, reach) {
                Some(true) => {}
                // An end that divides the reach is not past it.
                None if reach.div_exact(end).is_some() => {}
                _ if !tri!(ask::is_wide(OP, extent)) => {}
                Some(false) => reach = end,
                None => return Err(Error::NotKnown { op: OP, value: end.quoted() }),
            }
        }
        Ok(reach)
    }
}
