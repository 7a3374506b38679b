//! A block repeated to fill a shape, and coalescing by a profile: operations that go mode by mode along another tree.

use girih_layout::{Error, Stride};

use super::coalesce::coalesce;
use super::compact::{Compact, Leaves, OrderedBy, left, ordered_by};
use super::cosize::Size;
use super::divide::{BlockedProduct, paired};
use super::int::{Int, S};
use super::int_tuple::IntTuple;
use super::list::{Cons, List, Nil};
use super::modes::{Modes, Tuple};
use super::rules::ceil_div;
use super::tiler::{ModeList, NoModes, OneMode};
use super::tree::{LeafList, Tree};

/// The type of [`Layout::tile_to_shape`](super::Layout::tile_to_shape).
///
/// ```
/// use girih_typed::{Layout, Mode, S, TileToShape, int, layout};
/// let made: Layout<TileToShape<(Mode<S<4>, S<1>>, Mode<S<8>, S<4>>), (S<8>, S<16>)>> = layout!((4, 8) : (1, 4)).tile_to_shape((int!(8), int!(16)));
/// ```
pub type TileToShape<M, Sh> = BlockedProduct<M, <<Counts<M, Sh> as Compact>::Left<S<1>> as List>::AsTuple>;
/// The type of [`Layout::tile_to_shape_by`](super::Layout::tile_to_shape_by).
///
/// ```
/// use girih_typed::{Layout, Mode, S, TileToShapeBy, int, layout};
/// let made: Layout<TileToShapeBy<(Mode<S<4>, S<1>>, Mode<S<8>, S<4>>), (S<8>, S<16>), (S<1>, S<0>)>> = layout!((4, 8) : (1, 4)).tile_to_shape_by((int!(8), int!(16)), (int!(1), int!(0)));
/// ```
pub type TileToShapeBy<M, Sh, O> =
    BlockedProduct<M, <OrderedBy<Counts<M, Sh>, Leaves<<O as IntTuple>::Zeros>> as List>::AsTuple>;
/// The type of [`Layout::coalesce_by`](super::Layout::coalesce_by).
///
/// ```
/// use girih_typed::{CoalesceBy, Layout, Mode, S, int, layout};
/// let made: Layout<CoalesceBy<(Mode<S<4>, S<1>>, Mode<S<8>, S<4>>), (S<1>, S<1>)>> = layout!((4, 8) : (1, 4)).coalesce_by((int!(1), int!(1)));
/// ```
pub type CoalesceBy<M, P> = <<P as IntTuple>::Zeros as Modes>::CoalesceOf<M>;

/// How often the block goes into each mode of the shape.
type Counts<M, Sh> = <<<Sh as IntTuple>::Zeros as Modes>::Each as Along>::Counts<<M as Modes>::Each>;

/// A list of modes along another one.
#[doc(hidden)]
pub trait Along {
    /// The sizes of these modes, each divided by the size of the mode of `L` with the same number, rounded up.
    type Counts<L: ModeList>: List;
    /// The modes of `L`, coalesced by these modes as profiles.
    type CoalesceOf<L: ModeList>: Tuple;
    /// The extents of these modes as keys of the leaves of `L`'s modes, in front of `K`.
    type KeysOver<L: ModeList, K: List>: List;
}

impl Along for NoModes {
    type Counts<L: ModeList> = Nil;
    type CoalesceOf<L: ModeList> = L::AsTuple;
    type KeysOver<L: ModeList, K: List> = K;
}

impl<M: Modes, T: ModeList> Along for OneMode<M, T> {
    type Counts<L: ModeList> = Cons<<Size<M> as Int>::CDiv<Size<L::Head>>, S<0>, T::Counts<L::Tail>>;
    type CoalesceOf<L: ModeList> = <T::CoalesceOf<L::Tail> as Tuple>::Prepend<M::CoalesceOf<L::Head>>;
    type KeysOver<L: ModeList, K: List> = M::KeysOver<L::Head, T::KeysOver<L::Tail, K>>;
}

/// Repeats a block to fill a shape, in the order of keys where there are any.
pub(super) const fn tile_to_shape(block: &Tree, target: &Tree, order: Option<&Tree>) -> Result<Tree, Error> {
    let (mut counts, mut k) = (LeafList::EMPTY, 0);
    while k < target.rank() {
        let whole = tri!(tri!(target.mode(k)).shape.size());
        let part =
            if k < block.rank() { tri!(tri!(block.mode(k)).shape.size()) } else { girih_layout::Int::ONE };
        tri!(counts.push(tri!(ceil_div(whole, part)), Stride::ZERO));
        k += 1;
    }
    let counts = tri!(counts.tuple());
    let tiles = match order {
        Some(order) => tri!(ordered_by(&counts, order)),
        None => tri!(left(&counts)),
    };
    paired(block, &tiles, true)
}

pub(super) const fn coalesce_by(from: &Tree, profile: &Tree) -> Result<Tree, Error> {
    if profile.is_leaf() {
        return coalesce(from);
    }
    let (mut out, mut k) = (Tree::EMPTY, 0);
    while k < from.rank() {
        let mode = tri!(from.mode(k));
        let mode = if k < profile.rank() { tri!(coalesce_by(&mode, &tri!(profile.mode(k)))) } else { mode };
        out = tri!(out.append(&mode));
        k += 1;
    }
    Ok(out)
}
