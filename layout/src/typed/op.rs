//! The operations as values: each is computed by its definition and by the rules that the types follow.

use super::coalesce::coalesce;
use super::compact::{compact_like, fragment_like, left, ordered_by, right, zeroless};
use super::complement::complement;
use super::composition::compose_into;
use super::divide::{divide_into, paired, product_into};
use super::inverse::{left_inverse, right_inverse};
use super::recast::{downcast, recast, upcast};
use super::repeat::{coalesce_by, operands, tile_to_shape};
use super::share::{domain_distribute, max_common_layout, nullspace};
use crate::layout::tiler::Part;
use crate::tuple::profile::Node;
use crate::{Error, Int, Lay, Stride, Tiler};

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
    Left,
    Right,
    Identity,
    Ordered,
    CompactLike,
    FragmentLike,
    WithShape,
    Filter,
    FilterZeros,
    CoalesceBy,
    Upcast,
    Downcast,
    Recast,
    QuasiInverse,
    Nullspace,
    MaxCommonLayout,
    MaxCommonVector,
    MaxAlignment,
    DomainDistribute,
    TileToShape,
    TileToShapeBy,
}

/// The kind of an operation's second operand.
pub(super) enum Operand {
    None,
    Layout,
    /// A tree of integers: the extents of a layout without strides.
    Tree,
}

/// Stands for the right-hand operand of an operation that has none.
pub(super) const NONE: Tiler = Tiler::Lay(Lay::UNIT);

/// A number as an operand, or as a result.
pub(super) const fn number(n: Int) -> Lay {
    Lay::raw_leaf(n, Stride::ZERO)
}

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
            Op::Left => "left",
            Op::Right => "right",
            Op::Identity => "identity",
            Op::Ordered => "ordered",
            Op::CompactLike => "compact_like",
            Op::FragmentLike => "fragment_like",
            Op::WithShape => "with_shape",
            Op::Filter => "filter",
            Op::FilterZeros => "filter_zeros",
            Op::CoalesceBy => "coalesce_by",
            Op::Upcast => "upcast",
            Op::Downcast => "downcast",
            Op::Recast => "recast",
            Op::QuasiInverse => "quasi_inverse",
            Op::Nullspace => "nullspace",
            Op::MaxCommonLayout => "max_common_layout",
            Op::MaxCommonVector => "max_common_vector",
            Op::MaxAlignment => "max_alignment",
            Op::DomainDistribute => "domain_distribute",
            Op::TileToShape => "tile_to_shape",
            Op::TileToShapeBy => "tile_to_shape_by",
        }
    }

    /// Whether the first operand is a shape.
    pub(super) const fn takes_shape(self) -> bool {
        matches!(self, Op::Left | Op::Right | Op::Identity | Op::Ordered | Op::DomainDistribute)
    }

    pub(super) const fn operand(self) -> Operand {
        match self {
            Op::Coalesce
            | Op::RightInverse
            | Op::LeftInverse
            | Op::QuasiInverse
            | Op::Left
            | Op::Right
            | Op::Identity
            | Op::CompactLike
            | Op::FragmentLike
            | Op::Filter
            | Op::FilterZeros
            | Op::Nullspace
            | Op::MaxAlignment => Operand::None,
            Op::Complement
            | Op::Ordered
            | Op::WithShape
            | Op::CoalesceBy
            | Op::Upcast
            | Op::Downcast
            | Op::Recast
            | Op::DomainDistribute
            | Op::TileToShape
            | Op::TileToShapeBy => Operand::Tree,
            _ => Operand::Layout,
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

    /// The result by the run-time layer.
    pub(super) const fn defined(self, a: &Lay, t: &Tiler) -> Result<Lay, Error> {
        tri!(a.shape.checked());
        match (self, t) {
            (Op::Coalesce, _) => Ok(a.coalesce()),
            (Op::Composition, t) => a.compose(t),
            (Op::Complement, Tiler::Lay(c)) => a.complement(c.extent(0)),
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
            (Op::Left, _) => Lay::left(&a.shape),
            (Op::Right, _) => Lay::right(&a.shape),
            (Op::Identity, _) => Lay::identity(&a.shape),
            (Op::Ordered, Tiler::Lay(t)) => Lay::ordered(&a.shape, &t.shape),
            (Op::CompactLike, _) => a.compact_like(),
            (Op::FragmentLike, _) => a.fragment_like(),
            (Op::WithShape, Tiler::Lay(t)) => a.with_shape(&t.shape),
            (Op::Filter, _) => Ok(a.filter()),
            (Op::FilterZeros, _) => Ok(a.filter_zeros()),
            (Op::CoalesceBy, Tiler::Lay(t)) => a.coalesce_by(&t.shape),
            (Op::Upcast, Tiler::Lay(n)) => a.upcast(n.extent(0).coef),
            (Op::Downcast, Tiler::Lay(n)) => a.downcast(n.extent(0).coef),
            (Op::Recast, Tiler::Lay(n)) => a.recast(n.extent(0).coef, n.extent(1).coef),
            (Op::QuasiInverse, _) => a.quasi_inverse(),
            (Op::Nullspace, _) => a.nullspace(),
            (Op::MaxCommonLayout, Tiler::Lay(t)) => a.max_common_layout(t),
            (Op::MaxCommonVector, Tiler::Lay(t)) => Ok(number(tri!(a.max_common_vector(t)))),
            (Op::MaxAlignment, _) => Ok(number(Int::fixed(tri!(a.max_alignment())))),
            (Op::DomainDistribute, Tiler::Lay(n)) => Lay::domain_distribute(&a.shape, n.extent(0).coef),
            (Op::TileToShape | Op::TileToShapeBy, t) => {
                let (target, order) = tri!(operands(t));
                match &order {
                    Some(order) => a.tile_to_shape(&target.shape, Some(&order.shape)),
                    None => a.tile_to_shape(&target.shape, None),
                }
            }
            (op, _) => Err(Error::Unsupported { op: op.name(), what: "one tile a mode" }),
        }
    }

    /// The result by the rules that the types follow.
    pub(super) const fn ruled(self, a: &Lay, t: &Tiler) -> Result<Lay, Error> {
        match (self, t) {
            (Op::Coalesce, _) => coalesce(a),
            (Op::Complement, Tiler::Lay(c)) => complement(a, c.extent(0)),
            (Op::RightInverse, _) => right_inverse(a),
            (Op::LeftInverse | Op::QuasiInverse, _) => left_inverse(a),
            (Op::Left, _) => left(a),
            (Op::Right, _) => right(a),
            (Op::Identity, _) => Lay::identity(&a.shape),
            (Op::Ordered, Tiler::Lay(t)) => ordered_by(a, t),
            (Op::CompactLike, _) => compact_like(a),
            (Op::FragmentLike, _) => fragment_like(a),
            (Op::WithShape, Tiler::Lay(t)) => Op::Composition.by_mode(a, &Tiler::Lay(tri!(left(t)))),
            (Op::Filter, _) => coalesce(&tri!(zeroless(a))),
            (Op::FilterZeros, _) => zeroless(a),
            (Op::CoalesceBy, Tiler::Lay(t)) => coalesce_by(a, t),
            (Op::Upcast, Tiler::Lay(n)) => upcast(a, n.extent(0).coef),
            (Op::Downcast, Tiler::Lay(n)) => downcast(a, n.extent(0).coef),
            (Op::Recast, Tiler::Lay(n)) => recast(a, n.extent(0).coef, n.extent(1).coef),
            (Op::Nullspace, _) => nullspace(a),
            (Op::MaxCommonLayout, Tiler::Lay(t)) => max_common_layout(a, t),
            (Op::DomainDistribute, Tiler::Lay(n)) => domain_distribute(a, n.extent(0)),
            (Op::TileToShape | Op::TileToShapeBy, t) => tile_to_shape(a, t),
            (Op::BlockedProduct | Op::RakedProduct, Tiler::Lay(t)) => {
                paired(a, t, matches!(self, Op::BlockedProduct))
            }
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
                self.spread(&zipped)
            }
        }
    }

    /// The zipped form with its modes side by side, for the tiled and flat operations; unchanged for all others.
    pub(super) const fn spread(self, zipped: &Lay) -> Result<Lay, Error> {
        match self {
            Op::TiledDivide | Op::TiledProduct => zipped.spread(false),
            Op::FlatDivide | Op::FlatProduct => zipped.spread(true),
            _ => Ok(*zipped),
        }
    }

    /// Whether the result has no tree to keep: any layout with the same indices will do.
    pub(super) const fn is_one_function(self) -> bool {
        matches!(
            self,
            Op::Coalesce
                | Op::Complement
                | Op::LeftInverse
                | Op::RightInverse
                | Op::QuasiInverse
                | Op::Nullspace
                | Op::MaxCommonLayout
                | Op::DomainDistribute
        )
    }

    /// The operation in each mode with its tile, or in the whole layout at once with one tile for all modes.
    const fn by_mode(self, a: &Lay, t: &Tiler) -> Result<Lay, Error> {
        let mut out = Lay::EMPTY;
        let tiles = match t {
            Tiler::Lay(tile) => {
                tri!(self.one_into(a, a.root(), tile, tile.root(), &mut out));
                return Ok(out);
            }
            Tiler::Modes(tiles) => tiles,
        };
        tri!(a.require_tiles(self.name(), a.root(), tiles, tiles.root()));
        tri!(out.open());
        let mut k = 0;
        while k < a.rank() {
            let mode = tri!(a.node(k));
            if let Part::Lay(tile) = tiles.part(tiles.root(), k, 1) {
                tri!(self.one_into(a, mode, tiles.layouts(), tile, &mut out));
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
}
