//! Compact layouts, by what is static: leftmost first, rightmost first, in the order of keys.

use girih_layout::{Error, Shape, Stride};

use super::int::{Int, S};
use super::int_tuple::IntTuple;
use super::list::{Cons, List, Nil};
use super::modes::Modes;
use super::nat::Bit;
use super::rules::{integer, is_one, is_zero_stride, less};
use super::tiler::ModeList;
use super::tree::{LeafList, Tree};

/// The type of [`Layout::left`](super::Layout::left).
///
/// ```
/// use girih_typed::{Layout, Left, S, int};
/// let made: Layout<Left<(S<4>, S<8>)>> = Layout::left((int!(4), int!(8)));
/// ```
pub type Left<Sh> = With<Zeros<Sh>, <Leaves<Zeros<Sh>> as Compact>::Left<S<1>>>;
/// The type of [`Layout::right`](super::Layout::right).
///
/// ```
/// use girih_typed::{Layout, Right, S, int};
/// let made: Layout<Right<(S<4>, S<8>)>> = Layout::right((int!(4), int!(8)));
/// ```
pub type Right<Sh> = With<Zeros<Sh>, <Leaves<Zeros<Sh>> as Compact>::Right>;
/// The type of [`Layout::ordered`](super::Layout::ordered).
///
/// ```
/// use girih_typed::{Layout, Ordered, S, int};
/// let made: Layout<Ordered<(S<4>, S<8>), (S<1>, S<0>)>> = Layout::ordered((int!(4), int!(8)), (int!(1), int!(0)));
/// ```
pub type Ordered<Sh, O> =
    With<Zeros<Sh>, OrderedBy<Leaves<Zeros<Sh>>, <Zeros<O> as Modes>::KeysOver<Zeros<Sh>, Nil>>>;
/// The type of [`Layout::compact_like`](super::Layout::compact_like).
///
/// ```
/// use girih_typed::{CompactLike, Layout, Mode, S, layout};
/// let made: Layout<CompactLike<(Mode<S<4>, S<1>>, Mode<S<8>, S<4>>)>> = layout!((4, 8) : (1, 4)).compact_like();
/// ```
pub type CompactLike<M> =
    With<M, Restrided<Leaves<M>, <<Leaves<M> as Compact>::Zeroless as Compact>::Ordered<Nil>>>;
/// The type of [`Layout::fragment_like`](super::Layout::fragment_like).
///
/// ```
/// use girih_typed::{FragmentLike, Layout, Mode, S, layout};
/// let made: Layout<FragmentLike<(Mode<S<4>, S<1>>, Mode<S<8>, S<4>>)>> = layout!((4, 8) : (1, 4)).fragment_like();
/// ```
pub type FragmentLike<M> = With<
    M,
    Restrided<Leaves<M>, <<<M as Modes>::Each as ModeList>::Fragment<Leaves<M>> as Compact>::Ordered<Nil>>,
>;
/// The type of [`Layout::filter_zeros`](super::Layout::filter_zeros).
///
/// ```
/// use girih_typed::{FilterZeros, Layout, Mode, S, layout};
/// let made: Layout<FilterZeros<(Mode<S<4>, S<1>>, Mode<S<8>, S<4>>)>> = layout!((4, 8) : (1, 4)).filter_zeros();
/// ```
pub type FilterZeros<M> = With<M, <Leaves<M> as Compact>::Zeroless>;
/// The type of [`Layout::filter`](super::Layout::filter).
///
/// ```
/// use girih_typed::{Filter, Layout, Mode, S, layout};
/// let made: Layout<Filter<(Mode<S<4>, S<1>>, Mode<S<8>, S<4>>)>> = layout!((4, 8) : (1, 4)).filter();
/// ```
pub type Filter<M> = super::Coalesced<FilterZeros<M>>;

type Zeros<T> = <T as IntTuple>::Zeros;
pub(super) type Leaves<M> = <M as Modes>::Leaves<Nil>;
pub(super) type With<M, L> = <M as Modes>::With<L>;
type Restrided<L, D> = <L as Compact>::Restrided<D>;
/// The extents of `L`, compact in the order of the extents of `K`.
pub(super) type OrderedBy<L, K> = <<L as Compact>::Keyed<K> as Compact>::Ordered<Nil>;
/// The stride of a leaf of extent `S0`: 0 for extent 1, otherwise `P`.
type Stepped<S0, P> = <<S0 as Int>::IsOne as Bit>::Pick<S<0>, P>;

#[doc(hidden)]
pub trait Compact {
    /// The leaves with compact strides, leftmost first, of which the first stride is `P`.
    type Left<P: Int>: List;
    /// The leaves with compact strides, rightmost first.
    type Right: List;
    /// The leaves with compact strides in the order of their old strides, equal strides from left to right; `Before`
    /// are the leaves on the left.
    type Ordered<Before: List>: List;
    /// The product of the extents whose stride is less than `K`.
    type Below<K: Int>: Int;
    /// The product of the extents whose stride is not greater than `K`.
    type UpTo<K: Int>: Int;
    /// The leaves with the strides of `L`.
    type Restrided<L: List>: List;
    /// The leaves with the extents of `L` for strides.
    type Keyed<L: List>: List;
    /// As many leaves of extent `K`, in front of `T`.
    type KeyedBy<K: Int, T: List>: List;
    /// The leaves with extent 1 wherever the stride is 0.
    type Zeroless: List;
    /// [`Compact::Zeroless`] with strides that are ordered before all others, in front of the rest of `L`.
    type First<L: List>: List;
}

impl Compact for Nil {
    type Left<P: Int> = Nil;
    type Right = Nil;
    type Ordered<Before: List> = Nil;
    type Below<K: Int> = S<1>;
    type UpTo<K: Int> = S<1>;
    type Restrided<L: List> = Nil;
    type Keyed<L: List> = Nil;
    type KeyedBy<K: Int, T: List> = T;
    type Zeroless = Nil;
    type First<L: List> = L;
}

impl<S0: Int, D: Int, T: List> Compact for Cons<S0, D, T> {
    type Left<P: Int> = Cons<S0, Stepped<S0, P>, T::Left<P::Mul<S0>>>;
    type Right = Cons<S0, Stepped<S0, T::Size>, T::Right>;
    type Ordered<Before: List> =
        Cons<S0, Stepped<S0, <Before::UpTo<D> as Int>::Mul<T::Below<D>>>, T::Ordered<Cons<S0, D, Before>>>;
    type Below<K: Int> = <<D::Less<K> as Bit>::Pick<S0, S<1>> as Int>::Mul<T::Below<K>>;
    type UpTo<K: Int> = <<K::Less<D> as Bit>::Pick<S<1>, S0> as Int>::Mul<T::UpTo<K>>;
    type Restrided<L: List> = Cons<S0, L::Stride, T::Restrided<L::Tail>>;
    type Keyed<L: List> = Cons<S0, L::Extent, T::Keyed<L::Tail>>;
    type KeyedBy<K: Int, L: List> = Cons<K, S<0>, T::KeyedBy<K, L>>;
    type Zeroless = Cons<<D::IsZero as Bit>::Pick<S<1>, S0>, D, T::Zeroless>;
    type First<L: List> = Cons<<D::IsZero as Bit>::Pick<S<1>, S0>, super::Neg<S<1>>, T::First<L::Tail>>;
}

/// The compact layout of a shape, leftmost first.
pub(super) const fn left(shape: &Tree) -> Result<Tree, Error> {
    let (mut out, mut step, mut i) = (LeafList::of(shape), girih_layout::Int::ONE, 0);
    while i < out.len() {
        out.set_step(i, stepped(out.extent(i), step));
        i += 1;
        if i < out.len() {
            step = tri!(step.mul(out.extent(i - 1)));
        }
    }
    out.under(shape.profile())
}

/// The compact layout of a shape, rightmost first.
pub(super) const fn right(shape: &Tree) -> Result<Tree, Error> {
    let mut out = LeafList::of(shape);
    let (mut step, mut i) = (girih_layout::Int::ONE, out.len());
    while i > 0 {
        i -= 1;
        out.set_step(i, stepped(out.extent(i), step));
        if i > 0 {
            step = tri!(step.mul(out.extent(i)));
        }
    }
    out.under(shape.profile())
}

const fn stepped(extent: girih_layout::Int, step: girih_layout::Int) -> Stride {
    if is_one(extent) { Stride::ZERO } else { Stride::Int(step) }
}

/// The compact layout of a shape in the order of the extents of `keys`, each of which is the key of all leaves in its
/// place.
pub(super) const fn ordered_by(shape: &Tree, keys: &Tree) -> Result<Tree, Error> {
    let mut keyed = LeafList::EMPTY;
    tri!(key_leaves(&shape.shape, &keys.shape, &mut keyed));
    tri!(ordered(&keyed)).under(shape.profile())
}

/// Appends the leaves of a shape with their keys for strides; a mode without a key has the key 1.
const fn key_leaves(shape: &Shape, keys: &Shape, out: &mut LeafList) -> Result<(), Error> {
    if let (true, Some(key)) = (keys.is_leaf(), keys.get(0)) {
        let mut i = 0;
        while let Some(extent) = shape.get(i) {
            tri!(out.push(extent, Stride::Int(key)));
            i += 1;
        }
        return Ok(());
    }
    let mut k = 0;
    while k < shape.rank() {
        let key = if k < keys.rank() { tri!(keys.mode(k)) } else { Shape::leaf(girih_layout::Int::ONE) };
        tri!(key_leaves(&tri!(shape.mode(k)), &key, out));
        k += 1;
    }
    Ok(())
}

/// The leaves with compact strides in the order of their strides.
const fn ordered(keyed: &LeafList) -> Result<LeafList, Error> {
    const OP: &str = "a compact layout";
    let (mut out, mut i) = (*keyed, 0);
    while i < keyed.len() {
        let key = tri!(integer(OP, keyed.step(i)));
        let (mut step, mut j) = (girih_layout::Int::ONE, 0);
        while j < keyed.len() {
            let other = tri!(integer(OP, keyed.step(j)));
            let first = if j < i { !less(key, other) } else { less(other, key) };
            if first {
                step = tri!(step.mul(keyed.extent(j)));
            }
            j += 1;
        }
        out.set_step(i, stepped(keyed.extent(i), step));
        i += 1;
    }
    Ok(out)
}

/// The compact layout in the order of the strides; strides of static 0 stay as they are.
pub(super) const fn compact_like(from: &Tree) -> Result<Tree, Error> {
    restrided(from, &tri!(ordered(&zeroless_leaves(from))))
}

/// The compact layout with mode 0 first, from left to right without leaves of static stride 0, then the rest in the
/// order of the strides.
pub(super) const fn fragment_like(from: &Tree) -> Result<Tree, Error> {
    if from.rank() < 2 {
        return compact_like(from);
    }
    let (first, filtered) = (tri!(from.mode(0)).leaf_count(), zeroless_leaves(from));
    let (mut keyed, mut i) = (LeafList::of(from), 0);
    while i < first {
        keyed.set_extent(i, filtered.extent(i));
        keyed.set_step(i, Stride::Int(girih_layout::Int::fixed(-1)));
        i += 1;
    }
    restrided(from, &tri!(ordered(&keyed)))
}

/// The tree with the strides of other leaves.
const fn restrided(from: &Tree, by: &LeafList) -> Result<Tree, Error> {
    let (mut out, mut i) = (LeafList::of(from), 0);
    while i < out.len() {
        out.set_step(i, by.step(i));
        i += 1;
    }
    out.under(from.profile())
}

/// The layout with extent 1 wherever the stride is static 0.
pub(super) const fn zeroless(from: &Tree) -> Result<Tree, Error> {
    zeroless_leaves(from).under(from.profile())
}

const fn zeroless_leaves(from: &Tree) -> LeafList {
    let (mut out, mut i) = (LeafList::of(from), 0);
    while i < out.len() {
        if is_zero_stride(out.step(i)) {
            out.set_extent(i, girih_layout::Int::ONE);
        }
        i += 1;
    }
    out
}
