//! Complement, by what is static: strides that are known sort before those that are not.

use typenum::{B0, B1};

use super::int::{Int, S};
use super::list::{Cons, List, Nil, PushUnlessOne};
use super::modes::Modes;
use super::rules::{ceil_div, is_one, is_zero, less};
use crate::{Error, Lay, Stride};

/// The type of [`Layout::complement`](super::Layout::complement).
///
/// ```
/// use girih_layout::typed::{Complement, Layout, Mode, S};
/// use girih_layout::{int, layout};
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
pub(super) const fn sorted(from: &Lay) -> Result<Lay, Error> {
    let mut out = Lay::EMPTY;
    let mut i = 0;
    while i < from.leaf_count() {
        let (s, d) = (from.extent(i), tri!(from.step(i).require_int("complement")));
        i += 1;
        if is_one(s) || is_zero(d) {
            continue;
        }
        tri!(out.push(s, Stride::Int(d)));
        let mut k = out.leaf_count() - 1;
        while k > 0 && less(d, tri!(out.step(k - 1).require_int("complement"))) {
            out.copy_leaf(k, k - 1);
            k -= 1;
        }
        tri!(out.set_extent(k, s));
        tri!(out.set_step(k, Stride::Int(d)));
    }
    Ok(out)
}

/// Appends the holes of sorted modes to `out`, as one node.
pub(super) const fn holes_into(modes: &Lay, cotarget: crate::Int, out: &mut Lay) -> Result<(), Error> {
    let first = out.leaf_count();
    let (mut end, mut i) = (crate::Int::ONE, 0);
    while i <= modes.leaf_count() {
        let d = if i < modes.leaf_count() { tri!(modes.step(i).require_int("complement")) } else { cotarget };
        let gap = tri!(ceil_div(d, end));
        if !is_one(gap) {
            tri!(out.push(gap, Stride::Int(end)));
        }
        if i < modes.leaf_count() {
            end = tri!(d.mul(modes.extent(i)));
        }
        i += 1;
    }
    out.wrap_from(first)
}

pub(super) const fn complement(from: &Lay, cotarget: crate::Int) -> Result<Lay, Error> {
    let mut out = Lay::EMPTY;
    tri!(holes_into(&tri!(sorted(from)), cotarget, &mut out));
    Ok(out)
}

/// The end of sorted modes: extent times stride of the last mode, 1 if there is none.
pub(super) const fn end_of(modes: &Lay) -> Result<crate::Int, Error> {
    match modes.leaf_count() {
        0 => Ok(crate::Int::ONE),
        n => tri!(modes.step(n - 1).require_int("a divide")).mul(modes.extent(n - 1)),
    }
}
