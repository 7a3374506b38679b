//! The operations as values: each is computed by its definition and by the rules that the types follow.

use girih_layout::{Error, Int, Lay, Stride};

use super::coalesce::{coalesce, flat};
use super::compact::{compact_like, fragment_like, left, ordered_by, right, zeroless};
use super::complement::complement;
use super::composition::composed;
use super::divide::{divide, paired, product};
use super::inverse::{left_inverse, right_inverse};
use super::operand::{Operand, Tiles};
use super::recast::{downcast, recast, upcast};
use super::repeat::{coalesce_by, tile_to_shape};
use super::share::{domain_distribute, max_common_layout, nullspace};
use super::tree::Tree;

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

/// How an operation's second operand is written.
pub(super) enum Kind {
    None,
    Layout,
    /// A tree of integers: the extents of a layout without strides.
    Tree,
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

    pub(super) const fn operand(self) -> Kind {
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
            | Op::MaxAlignment => Kind::None,
            Op::Complement
            | Op::Ordered
            | Op::WithShape
            | Op::CoalesceBy
            | Op::Upcast
            | Op::Downcast
            | Op::Recast
            | Op::DomainDistribute
            | Op::TileToShape
            | Op::TileToShapeBy => Kind::Tree,
            _ => Kind::Layout,
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
    pub(super) const fn defined(self, a: &Tree, t: &Operand) -> Result<Lay, Error> {
        let (lay, other) = (tri!(a.lay()), t.one());
        let number = other.extent(0);
        match self {
            Op::Coalesce => Ok(lay.coalesce()),
            Op::Composition => lay.compose(&tri!(t.tiler())),
            Op::Complement => lay.complement(number),
            Op::RightInverse => lay.right_inverse(),
            Op::LeftInverse => lay.left_inverse(),
            Op::LogicalDivide => lay.logical_divide(&tri!(t.tiler())),
            Op::ZippedDivide => lay.zipped_divide(&tri!(t.tiler())),
            Op::TiledDivide => lay.tiled_divide(&tri!(t.tiler())),
            Op::FlatDivide => lay.flat_divide(&tri!(t.tiler())),
            Op::LogicalProduct => lay.logical_product(&tri!(t.tiler())),
            Op::ZippedProduct => lay.zipped_product(&tri!(t.tiler())),
            Op::TiledProduct => lay.tiled_product(&tri!(t.tiler())),
            Op::FlatProduct => lay.flat_product(&tri!(t.tiler())),
            Op::BlockedProduct => lay.blocked_product(&tri!(other.lay())),
            Op::RakedProduct => lay.raked_product(&tri!(other.lay())),
            Op::Left => Lay::left(&a.shape),
            Op::Right => Lay::right(&a.shape),
            Op::Identity => Lay::identity(&a.shape),
            Op::Ordered => Lay::ordered(&a.shape, &other.shape),
            Op::CompactLike => lay.compact_like(),
            Op::FragmentLike => lay.fragment_like(),
            Op::WithShape => lay.with_shape(&other.shape),
            Op::Filter => Ok(lay.filter()),
            Op::FilterZeros => Ok(lay.filter_zeros()),
            Op::CoalesceBy => lay.coalesce_by(&other.shape),
            Op::Upcast => lay.upcast(number.coefficient()),
            Op::Downcast => lay.downcast(number.coefficient()),
            Op::Recast => lay.recast(number.coefficient(), other.extent(1).coefficient()),
            Op::QuasiInverse => lay.quasi_inverse(),
            Op::Nullspace => lay.nullspace(),
            Op::MaxCommonLayout => lay.max_common_layout(&tri!(other.lay())),
            Op::MaxCommonVector => Lay::leaf(tri!(lay.max_common_vector(&tri!(other.lay()))), Stride::ZERO),
            Op::MaxAlignment => Lay::leaf(Int::fixed(tri!(lay.max_alignment())), Stride::ZERO),
            Op::DomainDistribute => Lay::domain_distribute(&a.shape, number.coefficient()),
            Op::TileToShape | Op::TileToShapeBy => match tri!(t.target()) {
                (target, Some(order)) => lay.tile_to_shape(&target.shape, Some(&order.shape)),
                (target, None) => lay.tile_to_shape(&target.shape, None),
            },
        }
    }

    /// The result by the rules that the types follow.
    pub(super) const fn ruled(self, a: &Tree, t: &Operand) -> Result<Tree, Error> {
        let other = t.one();
        let number = other.extent(0);
        match self {
            Op::Coalesce => coalesce(a),
            Op::Complement => complement(a, number),
            Op::RightInverse => right_inverse(a),
            Op::LeftInverse | Op::QuasiInverse => left_inverse(a),
            Op::Left => left(a),
            Op::Right => right(a),
            Op::Identity => Ok(Tree::of(&tri!(Lay::identity(&a.shape)))),
            Op::Ordered => ordered_by(a, other),
            Op::CompactLike => compact_like(a),
            Op::FragmentLike => fragment_like(a),
            Op::WithShape => Op::Composition.split(a, &Operand::One(tri!(left(other)))),
            Op::Filter => coalesce(&tri!(zeroless(a))),
            Op::FilterZeros => zeroless(a),
            Op::CoalesceBy => coalesce_by(a, other),
            Op::Upcast => upcast(a, number.coefficient()),
            Op::Downcast => downcast(a, number.coefficient()),
            Op::Recast => recast(a, number.coefficient(), other.extent(1).coefficient()),
            Op::Nullspace => nullspace(a),
            Op::MaxCommonLayout => max_common_layout(a, other),
            Op::DomainDistribute => domain_distribute(a, number),
            Op::TileToShape | Op::TileToShapeBy => match tri!(t.target()) {
                (target, Some(order)) => tile_to_shape(a, &target, Some(&order)),
                (target, None) => tile_to_shape(a, &target, None),
            },
            Op::BlockedProduct | Op::RakedProduct => paired(a, other, matches!(self, Op::BlockedProduct)),
            Op::Composition | Op::LogicalDivide | Op::LogicalProduct => self.split(a, t),
            _ => self.spread(&tri!(self.zip(a, t))),
        }
    }

    /// The zipped form with its modes side by side, for the tiled and flat operations; unchanged for all others.
    pub(super) const fn spread(self, zipped: &Tree) -> Result<Tree, Error> {
        let both = matches!(self, Op::FlatDivide | Op::FlatProduct);
        if !both && !matches!(self, Op::TiledDivide | Op::TiledProduct) {
            return Ok(*zipped);
        }
        let (mut out, mut k) = (Tree::EMPTY, 0);
        while k < zipped.rank() {
            let mode = tri!(zipped.mode(k));
            // A mode of one mode stays whole, as in CuTe.
            if mode.rank() < 2 || k == 0 && !both {
                out = tri!(out.append(&mode));
            } else {
                let mut i = 0;
                while i < mode.rank() {
                    out = tri!(out.append(&tri!(mode.mode(i))));
                    i += 1;
                }
            }
            k += 1;
        }
        Ok(out)
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
    const fn split(self, a: &Tree, t: &Operand) -> Result<Tree, Error> {
        let Operand::Tiles(tiles) = t else { return self.one(a, t.one()) };
        tri!(self.require_modes(a, tiles));
        let (mut out, mut k) = (Tree::EMPTY, 0);
        while k < a.rank() {
            let mode = tri!(a.mode(k));
            if let Some(tile) = tri!(tiles.tile(k)) {
                out = tri!(out.append(&tri!(self.one(&mode, &tile))));
            } else if k < tiles.len() || !matches!(self, Op::Composition) {
                out = tri!(out.append(&mode));
            }
            k += 1;
        }
        Ok(out)
    }

    /// The two modes of each mode with a tile, the first ones and the second ones together. A mode that stays as it is
    /// is a first one, and a mode past the tiles a second one.
    const fn zip(self, a: &Tree, t: &Operand) -> Result<Tree, Error> {
        let Operand::Tiles(tiles) = t else { return self.one(a, t.one()) };
        tri!(self.require_modes(a, tiles));
        let (mut first, mut second, mut k) = (Tree::EMPTY, Tree::EMPTY, 0);
        while k < a.rank() {
            let mode = tri!(a.mode(k));
            if let Some(tile) = tri!(tiles.tile(k)) {
                let [tile, rest] = tri!(self.pair(&mode, &tile));
                first = tri!(first.append(&tile));
                second = tri!(second.append(&rest));
            } else if k < tiles.len() {
                first = tri!(first.append(&mode));
                second = tri!(second.append(&Tree::UNIT));
            } else {
                second = tri!(second.append(&mode));
            }
            k += 1;
        }
        Tree::concat(&[first, second])
    }

    const fn require_modes(self, a: &Tree, tiles: &Tiles) -> Result<(), Error> {
        let (rank, other) = (a.rank(), tiles.len());
        if other > rank { Err(Error::RankMismatch { op: self.name(), rank, other }) } else { Ok(()) }
    }

    /// The operation with a single tile.
    const fn one(self, a: &Tree, tile: &Tree) -> Result<Tree, Error> {
        match self {
            Op::Composition => composed(&tri!(flat(a, true)), tile),
            _ => Tree::concat(&tri!(self.pair(a, tile))),
        }
    }

    /// The two modes that a divide or a product makes of a mode.
    const fn pair(self, a: &Tree, tile: &Tree) -> Result<[Tree; 2], Error> {
        match self {
            Op::LogicalDivide | Op::ZippedDivide | Op::TiledDivide | Op::FlatDivide => divide(a, tile),
            _ => product(a, tile),
        }
    }
}
