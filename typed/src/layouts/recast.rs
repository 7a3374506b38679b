//! Recasts, by what is static: the same bytes as elements of another size.

use girih_layout::{Error, Stride};
use typenum::{B0, B1};

use super::compact::{Leaves, With};
use super::int::{Int, S};
use super::list::{Cons, List, Nil};
use super::nat::{Bit, CeilQuotient, Nat};
use super::rules::{ceil_div, gcd, integer, is_one};
use super::tree::{LeafList, Tree};

/// The type of [`Layout::upcast`](super::Layout::upcast).
///
/// ```
/// use girih_typed::{Layout, Mode, S, Upcast, int, layout};
/// let made: Layout<Upcast<(Mode<S<4>, S<1>>, Mode<S<8>, S<4>>), S<2>>> = layout!((4, 8) : (1, 4)).upcast(int!(2));
/// ```
pub type Upcast<M, N> = With<M, <Leaves<M> as Units>::Upcast<N>>;
/// The type of [`Layout::downcast`](super::Layout::downcast).
///
/// ```
/// use girih_typed::{Downcast, Layout, Mode, S, int, layout};
/// let made: Layout<Downcast<(Mode<S<4>, S<1>>, Mode<S<8>, S<4>>), S<2>>> = layout!((4, 8) : (1, 4)).downcast(int!(2));
/// ```
pub type Downcast<M, N> = With<M, <<Leaves<M> as Units>::HasUnit as Decide>::Downcast<Leaves<M>, N>>;
/// The type of [`Layout::recast`](super::Layout::recast).
///
/// ```
/// use girih_typed::{Layout, Mode, Recast, S, int, layout};
/// let made: Layout<Recast<(Mode<S<4>, S<1>>, Mode<S<8>, S<4>>), S<16>, S<32>>> = layout!((4, 8) : (1, 4)).recast(int!(16), int!(32));
/// ```
pub type Recast<M, Old, New> = Upcast<Downcast<M, Reduced<Old, New>>, Reduced<New, Old>>;

/// `A` divided by the greatest common divisor of `A` and `B`.
pub(super) type Reduced<A, B> = CeilQuotient<A, super::nat::Gcd<A, B>>;

#[doc(hidden)]
pub trait Units {
    type Upcast<N: Nat>: List;
    /// Whether a leaf has stride 1 and not extent 1.
    type HasUnit: Bit;
    /// The leaves with each leaf of stride 1 and extent other than 1 split into `N` parts an element, the other strides
    /// times `N`.
    type Parts<N: Nat>: List;
    /// The leaves with the first leaf of stride 1 split into `N` parts an element, the other strides times `N`.
    type FirstParts<N: Nat>: List;
    /// The leaves with all strides times `N`.
    type Scaled<N: Nat>: List;
}

#[doc(hidden)]
/// Case distinctions: each type has its value for the named condition being false in [`B0`] and true in [`B1`].
pub trait Decide {
    /// If a leaf has stride 1 and not extent 1.
    type Downcast<L: List, N: Nat>: List;
    /// If D is 1.
    type FirstParts<S: Int, D: Int, T: List, N: Nat>: List;
}

impl Units for Nil {
    type Upcast<N: Nat> = Nil;
    type HasUnit = B0;
    type Parts<N: Nat> = Nil;
    type FirstParts<N: Nat> = Nil;
    type Scaled<N: Nat> = Nil;
}

/// Whether `S:D` has stride 1 and not extent 1.
type IsUnit<S0, D> = <<<S0 as Int>::IsOne as Bit>::Not as Bit>::And<<D as Int>::IsOne>;

impl<S0: Int, D: Int, T: List> Units for Cons<S0, D, T> {
    type Upcast<N: Nat> = Cons<S0::CDiv<D::InUnit<N>>, D::Upcast<N>, T::Upcast<N>>;
    type HasUnit = <IsUnit<S0, D> as Bit>::Or<T::HasUnit>;
    type Parts<N: Nat> = Cons<
        <IsUnit<S0, D> as Bit>::Pick<S0::Mul<N>, S0>,
        <IsUnit<S0, D> as Bit>::Pick<S<1>, D::Mul<N>>,
        T::Parts<N>,
    >;
    type FirstParts<N: Nat> = <D::IsOne as Decide>::FirstParts<S0, D, T, N>;
    type Scaled<N: Nat> = Cons<S0, D::Mul<N>, T::Scaled<N>>;
}

impl Decide for B0 {
    type Downcast<L: List, N: Nat> = L::FirstParts<N>;
    type FirstParts<S0: Int, D: Int, T: List, N: Nat> = Cons<S0, D::Mul<N>, T::FirstParts<N>>;
}

impl Decide for B1 {
    type Downcast<L: List, N: Nat> = L::Parts<N>;
    type FirstParts<S0: Int, D: Int, T: List, N: Nat> = Cons<S0::Mul<N>, S<1>, T::Scaled<N>>;
}

/// The upcast; a dynamic stride is taken to be a multiple of `n`.
pub(super) const fn upcast(from: &Tree, n: i64) -> Result<Tree, Error> {
    let (mut out, mut i) = (LeafList::of(from), 0);
    while i < out.len() {
        let d = tri!(integer("upcast", out.step(i)));
        let (quotient, rest) = match (d.coefficient().checked_div(n), d.coefficient().checked_rem(n)) {
            (Some(quotient), Some(rest)) => (quotient, rest),
            _ => return Err(Error::Overflow { op: "upcast" }),
        };
        let step = match (d.is_static(), rest) {
            (false, _) => girih_layout::Int::value(quotient),
            (true, 0) => girih_layout::Int::fixed(quotient),
            (true, _) => girih_layout::Int::ONE,
        };
        out.set_step(i, Stride::Int(step));
        if d.is_static() && !d.is(0) {
            let by = girih_layout::Int::fixed(d.coefficient().saturating_abs());
            let inside = tri!(ceil_div(girih_layout::Int::fixed(n), by));
            out.set_extent(i, tri!(ceil_div(out.extent(i), inside)));
        }
        i += 1;
    }
    out.under(from.profile())
}

/// The downcast; the leaf that takes the parts has static stride 1.
pub(super) const fn downcast(from: &Tree, n: i64) -> Result<Tree, Error> {
    let (parts, mut out) = (girih_layout::Int::fixed(n), LeafList::of(from));
    let (mut has_unit, mut i) = (false, 0);
    while i < out.len() {
        let d = tri!(integer("downcast", out.step(i)));
        has_unit = has_unit || is_one(d) && !is_one(out.extent(i));
        i += 1;
    }
    let (mut first, mut i) = (true, 0);
    while i < out.len() {
        let (s, d) = (out.extent(i), tri!(integer("downcast", out.step(i))));
        let unit = is_one(d) && if has_unit { !is_one(s) } else { first };
        if unit {
            first = false;
            out.set_extent(i, tri!(s.mul(parts)));
            out.set_step(i, Stride::Int(girih_layout::Int::ONE));
        } else {
            out.set_step(i, Stride::Int(tri!(d.mul(parts))));
        }
        i += 1;
    }
    out.under(from.profile())
}

pub(super) const fn recast(from: &Tree, old: i64, new: i64) -> Result<Tree, Error> {
    let g = gcd(old, new);
    if g == 0 {
        return Err(Error::Unsupported { op: "recast", what: "elements of less than one bit" });
    }
    upcast(&tri!(downcast(from, old / g)), new / g)
}
