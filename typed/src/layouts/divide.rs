//! Divides and products, by what is static: a mode split into a tile and its rest, or a block and its copies.

use girih_layout::Error;
use typenum::{B0, B1};

use super::coalesce::{Again, Flat, again, flat};
use super::complement::{Filled, Sorted, end_of, filled, sorted};
use super::composition::composed;
use super::cosize::{Cosize, cosize};
use super::int::Int;
use super::list::{Cons, List, Nil};
use super::modes::{Modes, Tuple};
use super::rules::{ceil_div, divides, less};
use super::tiler::{ModeList, Tiler};
use super::tree::{LeafList, Tree};

/// The type of [`Layout::logical_divide`](super::Layout::logical_divide).
///
/// ```
/// use girih_typed::{Layout, LogicalDivide, Mode, S, int, layout};
/// let made: Layout<LogicalDivide<(Mode<S<4>, S<1>>, Mode<S<8>, S<4>>), (S<2>, S<4>)>> = layout!((4, 8) : (1, 4)).logical_divide((int!(2), int!(4)));
/// ```
pub type LogicalDivide<M, X> = <X as Tiler>::Split<M, Divide>;
/// The type of [`Layout::zipped_divide`](super::Layout::zipped_divide).
///
/// ```
/// use girih_typed::{Layout, Mode, S, ZippedDivide, int, layout};
/// let made: Layout<ZippedDivide<(Mode<S<4>, S<1>>, Mode<S<8>, S<4>>), (S<2>, S<4>)>> = layout!((4, 8) : (1, 4)).zipped_divide((int!(2), int!(4)));
/// ```
pub type ZippedDivide<M, X> = (<X as Tiler>::First<M, Divide>, <X as Tiler>::Second<M, Divide>);
/// The type of [`Layout::tiled_divide`](super::Layout::tiled_divide).
///
/// ```
/// use girih_typed::{Layout, Mode, S, TiledDivide, int, layout};
/// let made: Layout<TiledDivide<(Mode<S<4>, S<1>>, Mode<S<8>, S<4>>), (S<2>, S<4>)>> = layout!((4, 8) : (1, 4)).tiled_divide((int!(2), int!(4)));
/// ```
pub type TiledDivide<M, X> = Tiled<M, X, Divide>;
/// The type of [`Layout::flat_divide`](super::Layout::flat_divide).
///
/// ```
/// use girih_typed::{FlatDivide, Layout, Mode, S, int, layout};
/// let made: Layout<FlatDivide<(Mode<S<4>, S<1>>, Mode<S<8>, S<4>>), (S<2>, S<4>)>> = layout!((4, 8) : (1, 4)).flat_divide((int!(2), int!(4)));
/// ```
pub type FlatDivide<M, X> = Flattened<M, X, Divide>;
/// The type of [`Layout::logical_product`](super::Layout::logical_product).
///
/// ```
/// use girih_typed::{Layout, LogicalProduct, Mode, S, int, layout};
/// let made: Layout<LogicalProduct<(Mode<S<4>, S<1>>, Mode<S<8>, S<4>>), (S<2>, S<4>)>> = layout!((4, 8) : (1, 4)).logical_product((int!(2), int!(4)));
/// ```
pub type LogicalProduct<M, X> = <X as Tiler>::Split<M, Product>;
/// The type of [`Layout::zipped_product`](super::Layout::zipped_product).
///
/// ```
/// use girih_typed::{Layout, Mode, S, ZippedProduct, int, layout};
/// let made: Layout<ZippedProduct<(Mode<S<4>, S<1>>, Mode<S<8>, S<4>>), (S<2>, S<4>)>> = layout!((4, 8) : (1, 4)).zipped_product((int!(2), int!(4)));
/// ```
pub type ZippedProduct<M, X> = (<X as Tiler>::First<M, Product>, <X as Tiler>::Second<M, Product>);
/// The type of [`Layout::tiled_product`](super::Layout::tiled_product).
///
/// ```
/// use girih_typed::{Layout, Mode, S, TiledProduct, int, layout};
/// let made: Layout<TiledProduct<(Mode<S<4>, S<1>>, Mode<S<8>, S<4>>), (S<2>, S<4>)>> = layout!((4, 8) : (1, 4)).tiled_product((int!(2), int!(4)));
/// ```
pub type TiledProduct<M, X> = Tiled<M, X, Product>;
/// The type of [`Layout::flat_product`](super::Layout::flat_product).
///
/// ```
/// use girih_typed::{FlatProduct, Layout, Mode, S, int, layout};
/// let made: Layout<FlatProduct<(Mode<S<4>, S<1>>, Mode<S<8>, S<4>>), (S<2>, S<4>)>> = layout!((4, 8) : (1, 4)).flat_product((int!(2), int!(4)));
/// ```
pub type FlatProduct<M, X> = Flattened<M, X, Product>;

/// The type of [`Layout::blocked_product`](super::Layout::blocked_product).
///
/// ```
/// use girih_typed::{BlockedProduct, Layout, Mode, S, layout};
/// let made: Layout<BlockedProduct<(Mode<S<4>, S<1>>, Mode<S<8>, S<4>>), (Mode<S<4>, S<1>>, Mode<S<8>, S<4>>)>> = layout!((4, 8) : (1, 4)).blocked_product(layout!((4, 8) : (1, 4)));
/// ```
pub type BlockedProduct<M, T> = <Padded<M, T> as ModeList>::Paired<Copies<M, T>>;
/// The type of [`Layout::raked_product`](super::Layout::raked_product).
///
/// ```
/// use girih_typed::{Layout, Mode, RakedProduct, S, layout};
/// let made: Layout<RakedProduct<(Mode<S<4>, S<1>>, Mode<S<8>, S<4>>), (Mode<S<4>, S<1>>, Mode<S<8>, S<4>>)>> = layout!((4, 8) : (1, 4)).raked_product(layout!((4, 8) : (1, 4)));
/// ```
pub type RakedProduct<M, T> = <Copies<M, T> as ModeList>::Paired<Padded<M, T>>;

type Padded<M, T> = <<M as Modes>::Each as ModeList>::Padded<<T as Modes>::Each>;
type PaddedTuple<M, T> = <Padded<M, T> as ModeList>::AsTuple;
type Copies<M, T> = <<Product as Split>::Second<PaddedTuple<M, T>, PaddedTuple<T, M>> as Modes>::Each;

type Spread<M> = <M as Modes>::Spread<()>;
type Tiled<M, X, O> = <Spread<<X as Tiler>::Second<M, O>> as Tuple>::Prepend<<X as Tiler>::First<M, O>>;
type Flattened<M, X, O> = <<X as Tiler>::First<M, O> as Modes>::Spread<Spread<<X as Tiler>::Second<M, O>>>;

/// An operation that makes two modes of a mode and a tile.
#[doc(hidden)]
pub trait Split {
    type First<M: Modes, T: Modes>: Modes;
    type Second<M: Modes, T: Modes>: Modes;
}

#[doc(hidden)]
pub struct Divide;

#[doc(hidden)]
pub struct Product;

impl Split for Divide {
    type First<M: Modes, T: Modes> = T::Over<Again<Domain<M, T>, B1>>;
    type Second<M: Modes, T: Modes> =
        <<Filled<Sorted<T>, <Domain<M, T> as List>::Size> as List>::Wrapped as Modes>::Over<
            Again<Domain<M, T>, B1>,
        >;
}

impl Split for Product {
    type First<M: Modes, T: Modes> = M;
    type Second<M: Modes, T: Modes> =
        T::Over<Again<Filled<Sorted<M>, <<M::Leaves<Nil> as List>::Size as Int>::Mul<Cosize<T>>>, B1>>;
}

/// The leaves of `M`, rounded up to whole tiles.
type Domain<M, T> =
    <Flat<M, B1> as RoundUp>::RoundUp<<Sorted<T> as super::complement::Holes>::End, super::int::S<1>>;

/// The list with the mode in which the tile ends rounded up to whole tiles, unless that is the last mode.
#[doc(hidden)]
pub trait RoundUp {
    type RoundUp<End: Int, Begin: Int>: List;
}

#[doc(hidden)]
/// Case distinctions: each type has its value for the named condition being false in [`B0`] and true in [`B1`].
pub trait Decide {
    /// If S:D is the last mode.
    type Last<End: Int, Begin: Int, S: Int, D: Int, T: List>: List;
    /// If `Begin` divides `End`.
    type Begins<End: Int, Begin: Int, S: Int, D: Int, T: List>: List;
    /// If `End` is inside S.
    type Ends<End: Int, Begin: Int, S: Int, D: Int, T: List>: List;
}

impl RoundUp for Nil {
    type RoundUp<End: Int, Begin: Int> = Nil;
}

impl<S: Int, D: Int, T: List> RoundUp for Cons<S, D, T> {
    type RoundUp<End: Int, Begin: Int> = <T::IsNil as Decide>::Last<End, Begin, S, D, T>;
}

impl Decide for B0 {
    type Last<End: Int, Begin: Int, S: Int, D: Int, T: List> =
        <Begin::Divides<End> as Decide>::Begins<End, Begin, S, D, T>;
    type Begins<End: Int, Begin: Int, S: Int, D: Int, T: List> = Cons<S, D, T>;
    type Ends<End: Int, Begin: Int, S: Int, D: Int, T: List> = Cons<S, D, T::RoundUp<End, Begin::Mul<S>>>;
}

impl Decide for B1 {
    type Last<End: Int, Begin: Int, S: Int, D: Int, T: List> = Cons<S, D, T>;
    type Begins<End: Int, Begin: Int, S: Int, D: Int, T: List> =
        <End::Less<Begin::Mul<S>> as Decide>::Ends<End, Begin, S, D, T>;
    type Ends<End: Int, Begin: Int, S: Int, D: Int, T: List> =
        Cons<<S::CDiv<End::CDiv<Begin>> as Int>::Mul<End::CDiv<Begin>>, D, T>;
}

const fn round_up(domain: &mut LeafList, end: girih_layout::Int) -> Result<(), Error> {
    let (mut begin, mut i) = (girih_layout::Int::ONE, 0);
    while i + 1 < domain.len() && divides(begin, end) {
        let extent = domain.extent(i);
        let next = tri!(begin.mul(extent));
        if less(end, next) {
            let step = tri!(ceil_div(end, begin));
            domain.set_extent(i, tri!(tri!(ceil_div(extent, step)).mul(step)));
            return Ok(());
        }
        begin = next;
        i += 1;
    }
    Ok(())
}

/// The tile and the rest of a mode.
pub(super) const fn divide(mode: &Tree, tile: &Tree) -> Result<[Tree; 2], Error> {
    let (modes, mut domain) = (tri!(sorted(tile)), tri!(flat(mode, true)));
    tri!(round_up(&mut domain, tri!(end_of(&modes))));
    let rest = tri!(tri!(filled(&modes, tri!(domain.size()))).wrapped());
    let domain = tri!(again(&domain, true));
    Ok([tri!(composed(&domain, tile)), tri!(composed(&domain, &rest))])
}

/// The block and its copies.
pub(super) const fn product(block: &Tree, tile: &Tree) -> Result<[Tree; 2], Error> {
    let cotarget = tri!(tri!(block.shape.size()).mul(tri!(cosize(tile))));
    let holes = tri!(filled(&tri!(sorted(block)), cotarget));
    Ok([*block, tri!(composed(&tri!(again(&holes, true)), tile))])
}

/// The product with the modes of block and tile in pairs, those of the block first where `blocked` says so.
pub(super) const fn paired(a: &Tree, t: &Tree, blocked: bool) -> Result<Tree, Error> {
    let rank = if a.rank() > t.rank() { a.rank() } else { t.rank() };
    let [blocks, tiles] = tri!(product(&tri!(padded(a, rank)), &tri!(padded(t, rank))));
    if blocked { blocks.zip(&tiles) } else { tiles.zip(&blocks) }
}

/// The tuple of a tree's modes, filled up with `1:0`.
const fn padded(tree: &Tree, rank: usize) -> Result<Tree, Error> {
    let (mut out, mut k) = (Tree::EMPTY, 0);
    while k < rank {
        out = tri!(out.append(&if k < tree.rank() { tri!(tree.mode(k)) } else { Tree::UNIT }));
        k += 1;
    }
    Ok(out)
}
