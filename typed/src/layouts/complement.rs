//! Complement, by what is static: strides that are known sort before those that are not.

use girih_layout::{Error, Stride};
use typenum::{B0, B1};

use super::int::{Int, S};
use super::list::{Cons, List, Nil, PushUnlessOne};
use super::modes::Modes;
use super::rules::{ceil_div, integer, is_one, is_zero, less};
use super::tree::{LeafList, Tree};

/// The type of [`Layout::complement`](super::Layout::complement).
///
/// ```
/// use girih_typed::{Complement, Layout, Mode, S, int, layout};
/// let made: Layout<Complement<Mode<S<4>, S<2>>, S<24>>> = layout!(4 : 2).complement(int!(24));
/// ```
pub type Complement<M, C> = <Filled<Sorted<M>, C> as List>::Wrapped;

/// The modes whose extent is not 1 and whose stride is not 0, by increasing stride.
pub(super) type Sorted<M> = <<M as Modes>::Leaves<Nil> as Holes>::Sorted;

/// The holes of sorted modes up to a cotarget.
pub(super) type Filled<L, C> = <L as Holes>::Fill<S<1>, C>;

#[doc(hidden)]
pub trait Holes {
    type Sorted: List;
    type Insert<S: Int, D: Int>: List;
    type Fill<End: Int, C: Int>: List;
    /// The end of sorted modes: extent times stride of the last mode, 1 if there is none.
    type End: Int;
    type EndAfter<S: Int, D: Int>: Int;
}

#[doc(hidden)]
/// Case distinctions: each type has its value for the named condition being false in [`B0`] and true in [`B1`].
pub trait Decide {
    /// If S is 1.
    type Push<S: Int, D: Int, T: List>: List;
    /// If S is 1.
    type SortExtent<S: Int, D: Int, T: List>: List;
    /// If D is 0.
    type SortStride<S: Int, D: Int, T: List>: List;
    /// If the first of the list, `NS:ND`, comes before `S:D`.
    type Insert<S: Int, D: Int, NS: Int, ND: Int, T: List>: List;
}

impl Holes for Nil {
    type Sorted = Nil;
    type Insert<S: Int, D: Int> = Cons<S, D, Nil>;
    type Fill<End: Int, C: Int> = PushUnlessOne<C::CDiv<End>, End, Nil>;
    type End = S<1>;
    type EndAfter<S: Int, D: Int> = D::Mul<S>;
}

impl<NS: Int, ND: Int, T: List> Holes for Cons<NS, ND, T> {
    type Sorted = <NS::IsOne as Decide>::SortExtent<NS, ND, T>;
    type Insert<S: Int, D: Int> = <ND::Less<D> as Decide>::Insert<S, D, NS, ND, T>;
    type Fill<End: Int, C: Int> = PushUnlessOne<ND::CDiv<End>, End, T::Fill<ND::Mul<NS>, C>>;
    type End = T::EndAfter<NS, ND>;
    type EndAfter<S: Int, D: Int> = T::EndAfter<NS, ND>;
}

impl Decide for B0 {
    type Push<S: Int, D: Int, T: List> = Cons<S, D, T>;
    type SortExtent<S: Int, D: Int, T: List> = <D::IsZero as Decide>::SortStride<S, D, T>;
    type SortStride<S: Int, D: Int, T: List> = <T::Sorted as Holes>::Insert<S, D>;
    type Insert<S: Int, D: Int, NS: Int, ND: Int, T: List> = Cons<S, D, Cons<NS, ND, T>>;
}

impl Decide for B1 {
    type Push<S: Int, D: Int, T: List> = T;
    type SortExtent<S: Int, D: Int, T: List> = T::Sorted;
    type SortStride<S: Int, D: Int, T: List> = T::Sorted;
    type Insert<S: Int, D: Int, NS: Int, ND: Int, T: List> = Cons<NS, ND, T::Insert<S, D>>;
}

/// The modes whose extent is not 1 and whose stride is not 0, by increasing stride; modes of equal stride stay in
/// order.
pub(super) const fn sorted(from: &Tree) -> Result<LeafList, Error> {
    let mut out = LeafList::EMPTY;
    let mut i = 0;
    while i < from.leaf_count() {
        let (s, d) = (from.extent(i), tri!(integer("complement", from.step(i))));
        i += 1;
        if is_one(s) || is_zero(d) {
            continue;
        }
        tri!(out.push(s, Stride::Int(d)));
        let mut k = out.len() - 1;
        while k > 0 && less(d, tri!(integer("complement", out.step(k - 1)))) {
            out.set_extent(k, out.extent(k - 1));
            out.set_step(k, out.step(k - 1));
            k -= 1;
        }
        out.set_extent(k, s);
        out.set_step(k, Stride::Int(d));
    }
    Ok(out)
}

/// The holes of sorted modes up to a cotarget.
pub(super) const fn filled(modes: &LeafList, cotarget: girih_layout::Int) -> Result<LeafList, Error> {
    let mut out = LeafList::EMPTY;
    let (mut end, mut i) = (girih_layout::Int::ONE, 0);
    while i <= modes.len() {
        let d = if i < modes.len() { tri!(integer("complement", modes.step(i))) } else { cotarget };
        let gap = tri!(ceil_div(d, end));
        if !is_one(gap) {
            tri!(out.push(gap, Stride::Int(end)));
        }
        if i < modes.len() {
            end = tri!(d.mul(modes.extent(i)));
        }
        i += 1;
    }
    Ok(out)
}

pub(super) const fn complement(from: &Tree, cotarget: girih_layout::Int) -> Result<Tree, Error> {
    tri!(filled(&tri!(sorted(from)), cotarget)).wrapped()
}

/// The end of sorted modes: extent times stride of the last mode, 1 if there is none.
pub(super) const fn end_of(modes: &LeafList) -> Result<girih_layout::Int, Error> {
    match modes.len() {
        0 => Ok(girih_layout::Int::ONE),
        n => tri!(integer("a divide", modes.step(n - 1))).mul(modes.extent(n - 1)),
    }
}
