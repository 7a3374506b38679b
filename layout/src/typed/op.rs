//! The operations as values: each by its definition and by the rules that the types follow.

use super::coalesce::coalesce;
use super::complement::complement;
use super::composition::compose_into;
use super::divide::{divide_into, product_into};
use super::inverse::{left_inverse, right_inverse};
use crate::profile::Node;
use crate::{Error, Lay, Tiler};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Op {
    Coalesce,
    Composition,
    Complement,
    RightInverse,
    LeftInverse,
    LogicalDivide,
    ZippedDivide,
    TiledDivide,
    FlatDivide,
    LogicalProduct,
    ZippedProduct,
    TiledProduct,
    FlatProduct,
    BlockedProduct,
    RakedProduct,
}

/// Stands for the right-hand operand of an operation that has none.
pub(super) const NONE: Tiler = Tiler::Lay(Lay::UNIT);

impl Op {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Op::Coalesce => "coalesce",
            Op::Composition => "composition",
            Op::Complement => "complement",
            Op::RightInverse => "right_inverse",
            Op::LeftInverse => "left_inverse",
            Op::LogicalDivide => "logical_divide",
            Op::ZippedDivide => "zipped_divide",
            Op::TiledDivide => "tiled_divide",
            Op::FlatDivide => "flat_divide",
            Op::LogicalProduct => "logical_product",
            Op::ZippedProduct => "zipped_product",
            Op::TiledProduct => "tiled_product",
            Op::FlatProduct => "flat_product",
            Op::BlockedProduct => "blocked_product",
            Op::RakedProduct => "raked_product",
        }
    }

    /// The operation whose modes this one spreads, or itself.
    pub(super) const fn zipped(self) -> Op {
        match self {
            Op::TiledDivide | Op::FlatDivide => Op::ZippedDivide,
            Op::TiledProduct | Op::FlatProduct => Op::ZippedProduct,
            op => op,
        }
    }

    /// By the run-time layer.
    pub(super) const fn defined(self, a: &Lay, t: &Tiler) -> Result<Lay, Error> {
        tri!(a.shape.checked());
        match (self, t) {
            (Op::Coalesce, _) => Ok(a.coalesce()),
            (Op::Composition, t) => a.compose(t),
            (Op::Complement, Tiler::Lay(c)) => a.complement(c.shape.leaves[0]),
            (Op::RightInverse, _) => a.right_inverse(),
            (Op::LeftInverse, _) => a.left_inverse(),
            (Op::LogicalDivide, t) => a.logical_divide(t),
            (Op::ZippedDivide, t) => a.zipped_divide(t),
            (Op::TiledDivide, t) => a.tiled_divide(t),
            (Op::FlatDivide, t) => a.flat_divide(t),
            (Op::LogicalProduct, t) => a.logical_product(t),
            (Op::ZippedProduct, t) => a.zipped_product(t),
            (Op::TiledProduct, t) => a.tiled_product(t),
            (Op::FlatProduct, t) => a.flat_product(t),
            (Op::BlockedProduct, Tiler::Lay(t)) => a.blocked_product(t),
            (Op::RakedProduct, Tiler::Lay(t)) => a.raked_product(t),
            (op, _) => Err(Error::Unsupported { op: op.name(), what: "one tile a mode" }),
        }
    }

    /// By the rules that the types follow.
    pub(super) const fn ruled(self, a: &Lay, t: &Tiler) -> Result<Lay, Error> {
        match (self, t) {
            (Op::Coalesce, _) => coalesce(a),
            (Op::Complement, Tiler::Lay(c)) => complement(a, c.shape.leaves[0]),
            (Op::RightInverse, _) => right_inverse(a),
            (Op::LeftInverse, _) => left_inverse(a),
            (Op::BlockedProduct | Op::RakedProduct, Tiler::Lay(t)) => self.paired(a, t),
            _ => {
                let split = tri!(self.by_mode(a, t));
                let zipped = match t {
                    Tiler::Modes(tiles)
                        if !matches!(self, Op::Composition | Op::LogicalDivide | Op::LogicalProduct) =>
                    {
                        tri!(split.unzip(tiles))
                    }
                    _ => split,
                };
                match self {
                    Op::TiledDivide | Op::TiledProduct => zipped.spread(false),
                    Op::FlatDivide | Op::FlatProduct => zipped.spread(true),
                    _ => Ok(zipped),
                }
            }
        }
    }

    /// In each mode with its tile, or in all at once.
    const fn by_mode(self, a: &Lay, t: &Tiler) -> Result<Lay, Error> {
        let mut out = Lay::EMPTY;
        let tiles = match t {
            Tiler::Lay(tile) => {
                tri!(self.one_into(a, a.root(), tile, tile.root(), &mut out));
                return Ok(out);
            }
            Tiler::Modes(tiles) => tiles,
        };
        tri!(a.require_tiles(self.name(), tiles));
        tri!(out.open());
        let mut k = 0;
        while k < a.rank() {
            let mode = tri!(a.node(k));
            if k < tiles.len() && !tiles.is_all(k) {
                tri!(self.one_into(a, mode, tiles.layouts(), tri!(tiles.node(k)), &mut out));
            } else if k < tiles.len() || !matches!(self, Op::Composition) {
                tri!(out.copy(a, mode));
            }
            k += 1;
        }
        out.close();
        Ok(out)
    }

    const fn one_into(self, a: &Lay, m: Node, tiles: &Lay, t: Node, out: &mut Lay) -> Result<(), Error> {
        match self {
            Op::Composition => compose_into(a, m, tiles, t, out),
            Op::LogicalDivide | Op::ZippedDivide | Op::TiledDivide | Op::FlatDivide => {
                divide_into(a, m, tiles, t, out)
            }
            _ => product_into(a, m, tiles, t, out),
        }
    }

    /// The modes of block and tile in pairs.
    const fn paired(self, a: &Lay, t: &Lay) -> Result<Lay, Error> {
        let rank = if a.rank() > t.rank() { a.rank() } else { t.rank() };
        let (block, tile) = (tri!(a.padded(rank)), tri!(t.padded(rank)));
        let (mut product, mut out) = (Lay::EMPTY, Lay::EMPTY);
        tri!(product_into(&block, block.root(), &tile, tile.root(), &mut product));
        let (blocks, tiles) = (tri!(product.node(0)), tri!(product.node(1)));
        tri!(out.open());
        let mut k = 0;
        while k < rank {
            let (block, tile) = (tri!(product.part(blocks, k)), tri!(product.part(tiles, k)));
            let (first, second) =
                if matches!(self, Op::BlockedProduct) { (block, tile) } else { (tile, block) };
            tri!(out.open());
            tri!(out.copy(&product, first));
            tri!(out.copy(&product, second));
            out.close();
            k += 1;
        }
        out.close();
        Ok(out)
    }
}
