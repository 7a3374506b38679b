//! A block repeated to fill a shape, and coalescing by a profile: operations that go mode by mode along another tree.

use super::coalesce::coalesce_into;
use super::compact::{Compact, Leaves, OrderedBy, left, ordered_by};
use super::cosize::Size;
use super::divide::{BlockedProduct, paired};
use super::int::{Int, S};
use super::int_tuple::IntTuple;
use super::list::{Cons, List, Nil};
use super::modes::{Modes, Tuple};
use super::rules::ceil_div;
use super::tiler::{ModeList, NoModes, OneMode};
use crate::tuple::profile::Node;
use crate::{Error, Lay, Stride, Tiler};

/// The type of [`Layout::tile_to_shape`](super::Layout::tile_to_shape).
///
/// ```
/// use girih_layout::typed::{Layout, Mode, S, TileToShape};
/// use girih_layout::{int, layout};
/// let made: Layout<TileToShape<(Mode<S<4>, S<1>>, Mode<S<8>, S<4>>), (S<8>, S<16>)>> = layout!((4, 8) : (1, 4)).tile_to_shape((int!(8), int!(16)));
/// ```
pub type TileToShape<M, Sh> = BlockedProduct<M, <<Counts<M, Sh> as Compact>::Left<S<1>> as List>::AsTuple>;
/// The type of [`Layout::tile_to_shape_by`](super::Layout::tile_to_shape_by).
///
/// ```
/// use girih_layout::typed::{Layout, Mode, S, TileToShapeBy};
/// use girih_layout::{int, layout};
/// let made: Layout<TileToShapeBy<(Mode<S<4>, S<1>>, Mode<S<8>, S<4>>), (S<8>, S<16>), (S<1>, S<0>)>> = layout!((4, 8) : (1, 4)).tile_to_shape_by((int!(8), int!(16)), (int!(1), int!(0)));
/// ```
pub type TileToShapeBy<M, Sh, O> =
    BlockedProduct<M, <OrderedBy<Counts<M, Sh>, Leaves<<O as IntTuple>::Zeros>> as List>::AsTuple>;
/// The type of [`Layout::coalesce_by`](super::Layout::coalesce_by).
///
/// ```
/// use girih_layout::typed::{CoalesceBy, Layout, Mode, S};
/// use girih_layout::{int, layout};
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

/// Repeats a block to fill a shape. The second tile, if there is one, is the order.
pub(super) const fn tile_to_shape(block: &Lay, to: &Tiler) -> Result<Lay, Error> {
    let (target, order) = tri!(operands(to));
    let (mut counts, mut k) = (Lay::EMPTY, 0);
    tri!(counts.open());
    while k < target.rank() {
        let whole = tri!(target.shape.size_of(tri!(target.node(k))));
        let part =
            if k < block.rank() { tri!(block.shape.size_of(tri!(block.node(k)))) } else { crate::Int::ONE };
        tri!(counts.push(tri!(ceil_div(whole, part)), Stride::ZERO));
        k += 1;
    }
    counts.close();
    let tiles = match &order {
        Some(order) => tri!(ordered_by(&counts, order)),
        None => tri!(left(&counts)),
    };
    paired(block, &tiles, true)
}

/// The shape, and the order if there is one.
pub(super) const fn operands(to: &Tiler) -> Result<(Lay, Option<Lay>), Error> {
    const MISSING: Error = Error::Unsupported { op: "tile_to_shape", what: "tiles" };
    let Tiler::Modes(tiles) = to else { return Err(MISSING) };
    let crate::Tile::Lay(target) = tri!(tiles.tile(0)) else { return Err(MISSING) };
    if tiles.len() == 1 {
        return Ok((target, None));
    }
    match tri!(tiles.tile(1)) {
        crate::Tile::Lay(order) => Ok((target, Some(order))),
        crate::Tile::All | crate::Tile::Modes(_) => Err(MISSING),
    }
}

/// A shape, and an order where there is one, as one operand.
pub(super) const fn operand(target: &Lay, order: Option<&Lay>) -> Result<Tiler, Error> {
    let mut tiles = crate::Tiles::EMPTY;
    tri!(tiles.push(&crate::Tile::Lay(*target)));
    if let Some(order) = order {
        tri!(tiles.push(&crate::Tile::Lay(*order)));
    }
    Ok(Tiler::Modes(tiles))
}

/// [`operand`] of skeletons, when the program is compiled.
pub(super) const fn skeleton(target: &Lay, order: Option<&Lay>) -> Tiler {
    match operand(target, order) {
        Ok(operand) => operand,
        Err(_) => panic!("a typed shape and order of more than 24 leaves"),
    }
}

pub(super) const fn coalesce_by(from: &Lay, profile: &Lay) -> Result<Lay, Error> {
    let mut out = Lay::EMPTY;
    tri!(coalesce_by_into(from, from.root(), profile, profile.root(), &mut out));
    Ok(out)
}

const fn coalesce_by_into(from: &Lay, n: Node, by: &Lay, p: Node, out: &mut Lay) -> Result<(), Error> {
    if p.is_leaf() {
        let first = out.leaf_count();
        tri!(coalesce_into(from, n, false, out));
        return out.wrap_from(first);
    }
    tri!(out.open());
    let (mut i, mut j) = (n.begin, p.begin);
    while i < n.end {
        let child = from.shape.profile.child(n, i);
        if j < p.end {
            let wanted = by.shape.profile.child(p, j);
            tri!(coalesce_by_into(from, child, by, wanted, out));
            j = wanted.end;
        } else {
            tri!(out.copy(from, child));
        }
        i = child.end;
    }
    out.close();
    Ok(())
}
