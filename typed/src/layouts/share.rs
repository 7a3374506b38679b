//! Nullspace, alignment, distribution of a domain, and the indices that two layouts share, by what is static.

use girih_layout::{Error, Stride};
use typenum::{B0, B1};

use super::coalesce::{Flat, again, flat};
use super::compact::Leaves;
use super::int::{Int, S};
use super::int_tuple::IntTuple;
use super::inverse::{InverseLeaves, Sorted, Steps, inverse_leaves};
use super::list::{Cons, List, Nil, PushUnlessOne};
use super::nat::Bit;
use super::rules::{ceil_div, gcd, integer, is_one, is_zero, least, less, same};
use super::tree::{LeafList, Tree};

/// The type of [`Layout::nullspace`](super::Layout::nullspace).
///
/// ```
/// use girih_typed::{Layout, Mode, Nullspace, S, layout};
/// let made: Layout<Nullspace<(Mode<S<4>, S<1>>, Mode<S<8>, S<4>>)>> = layout!((4, 8) : (1, 4)).nullspace();
/// ```
pub type Nullspace<M> = <super::coalesce::Again<<Leaves<M> as Shared>::Null<S<1>>, B0> as List>::Wrapped;
/// The type of [`Layout::max_common_layout`](super::Layout::max_common_layout).
///
/// ```
/// use girih_typed::{Layout, MaxCommonLayout, Mode, S, layout};
/// let made: Layout<MaxCommonLayout<(Mode<S<4>, S<1>>, Mode<S<8>, S<4>>), (Mode<S<4>, S<1>>, Mode<S<8>, S<4>>)>> = layout!((4, 8) : (1, 4)).max_common_layout(layout!((4, 8) : (1, 4)));
/// ```
pub type MaxCommonLayout<M, T> = <<InverseLeaves<T> as Shared>::Common<Flat<M, B0>, S<1>> as List>::Wrapped;
/// The static integer of [`Layout::max_common_vector`](super::Layout::max_common_vector).
///
/// ```
/// use girih_typed::{Int, MaxCommonVector, Mode, S};
/// assert_eq!(<MaxCommonVector<(Mode<S<4>, S<1>>, Mode<S<8>, S<4>>), (Mode<S<4>, S<1>>, Mode<S<8>, S<4>>)> as Int>::KNOWN, Some(32));
/// ```
pub type MaxCommonVector<M, T> = Length<Flat<MaxCommonLayout<M, T>, B0>>;
/// The static integer of [`Layout::max_alignment`](super::Layout::max_alignment).
///
/// ```
/// use girih_typed::{Int, MaxAlignment, Mode, S};
/// assert_eq!(<MaxAlignment<(Mode<S<4>, S<1>>, Mode<S<8>, S<4>>)> as Int>::KNOWN, Some(32));
/// ```
pub type MaxAlignment<M> = <<Leaves<M> as Steps>::ByStride<S<1>> as Sorted>::Align<S<1>, S<0>>;
/// The type of [`Layout::domain_distribute`](super::Layout::domain_distribute).
///
/// ```
/// use girih_typed::{DomainDistribute, Layout, S, int};
/// let made: Layout<DomainDistribute<(S<4>, S<8>), S<8>>> = Layout::domain_distribute((int!(4), int!(8)), int!(8));
/// ```
pub type DomainDistribute<Sh, N> = <super::coalesce::Again<
    <Leaves<<Sh as IntTuple>::Zeros> as Shared>::Distribute<N, S<1>>,
    B0,
> as List>::Wrapped;
/// The extent of the first leaf if the leaf's stride is 1, otherwise 1.
type Length<L> = <<<L as List>::Stride as Int>::IsOne as Bit>::Pick<<L as List>::Extent, S<1>>;
#[doc(hidden)]
pub trait Shared {
    /// The leaves of stride 0, each with its 1-D step as stride; the 1-D step of the first leaf is `P`.
    type Null<P: Int>: List;
    /// These leaves, which lead to 1-D coordinates, as far as the modes `A` have the indices `0, I, 2*I ...` there.
    type Common<A: List, I: Int>: List;
    /// How many of the indices `0, I, 2*I ...` these modes have at the 1-D coordinates `0, D, 2*D ...`; at most `N`.
    type Run<N: Int, D: Int, I: Int>: Int;
    /// The greatest common divisor of each extent with what remains of `N`, with the leaf's 1-D step as stride; the 1-D
    /// step of the first leaf is `P`.
    type Distribute<N: Int, P: Int>: List;
}

#[doc(hidden)]
/// Case distinctions: each type has its value for the named condition being false in [`B0`] and true in [`B1`].
pub trait Decide {
    /// If D is 0.
    type Null<S: Int, P: Int, T: List>: List;
    /// If `L`, the number of common indices, is the whole extent `N`.
    type Common<A: List, I: Int, N: Int, D: Int, L: Int, T: List>: List;
    /// If a step of `D` stays in the mode `M:E`.
    type Run<M: Int, E: Int, N: Int, D: Int, I: Int, T: List>: Int;
}

impl Shared for Nil {
    type Null<P: Int> = Nil;
    type Common<A: List, I: Int> = Nil;
    type Run<N: Int, D: Int, I: Int> = S<1>;
    type Distribute<N: Int, P: Int> = Nil;
}

impl<S0: Int, D: Int, T: List> Shared for Cons<S0, D, T> {
    type Null<P: Int> = <D::IsZero as Decide>::Null<S0, P, T::Null<P::Mul<S0>>>;
    type Common<A: List, I: Int> =
        <S0::Same<A::Run<S0, D, I>> as Decide>::Common<A, I, S0, D, A::Run<S0, D, I>, T>;
    type Run<N: Int, D0: Int, I: Int> = <D0::Less<S0> as Decide>::Run<S0, D, N, D0, I, T>;
    type Distribute<N: Int, P: Int> =
        PushUnlessOne<S0::Gcd<N>, P, T::Distribute<N::CDiv<S0::Gcd<N>>, P::Mul<S0>>>;
}

impl Decide for B0 {
    type Null<S0: Int, P: Int, T: List> = T;
    type Common<A: List, I: Int, N: Int, D: Int, L: Int, T: List> = PushUnlessOne<L, D, Nil>;
    type Run<M: Int, E: Int, N: Int, D: Int, I: Int, T: List> = T::Run<N, D::CDiv<M>, I>;
}

impl Decide for B1 {
    type Null<S0: Int, P: Int, T: List> = Cons<S0, P, T>;
    type Common<A: List, I: Int, N: Int, D: Int, L: Int, T: List> = Cons<N, D, T::Common<A, I::Mul<N>>>;
    type Run<M: Int, E: Int, N: Int, D: Int, I: Int, T: List> =
        <<E::Mul<D> as Int>::Same<I> as Bit>::Pick<<M::CDiv<D> as Int>::Min<N>, S<1>>;
}

pub(super) const fn nullspace(from: &Tree) -> Result<Tree, Error> {
    let (mut out, mut step, mut i) = (LeafList::EMPTY, girih_layout::Int::ONE, 0);
    while i < from.leaf_count() {
        if is_zero(tri!(integer("nullspace", from.step(i)))) {
            tri!(out.push(from.extent(i), Stride::Int(step)));
        }
        i += 1;
        if i < from.leaf_count() {
            step = tri!(step.mul(from.extent(i - 1)));
        }
    }
    tri!(again(&out, false)).wrapped()
}

/// The 1-D coordinates at which layout `b` has the indices 0, 1, 2 ..., as far as layout `a` has the same indices
/// there.
pub(super) const fn max_common_layout(a: &Tree, b: &Tree) -> Result<Tree, Error> {
    let (places, modes) = (tri!(inverse_leaves(b)), tri!(flat(a, false)));
    let (mut out, mut index, mut i) = (LeafList::EMPTY, girih_layout::Int::ONE, 0);
    while i < places.len() {
        let (n, stride) = (places.extent(i), places.step(i));
        let run = tri!(run(&modes, n, tri!(integer(COMMON, stride)), index));
        if !same(n, run) {
            if !is_one(run) {
                tri!(out.push(run, stride));
            }
            break;
        }
        tri!(out.push(n, stride));
        index = tri!(index.mul(n));
        i += 1;
    }
    out.wrapped()
}

const COMMON: &str = "max_common_layout";

/// How many of the indices `0, step, 2*step ...` the modes have at the 1-D coordinates `0, d, 2*d ...`; at most `n`.
const fn run(
    modes: &LeafList,
    n: girih_layout::Int,
    d: girih_layout::Int,
    step: girih_layout::Int,
) -> Result<girih_layout::Int, Error> {
    let (mut d, mut i) = (d, 0);
    while i < modes.len() {
        let (m, stride) = (modes.extent(i), modes.step(i));
        if less(d, m) {
            let here = tri!(tri!(integer(COMMON, stride)).mul(d));
            return Ok(if same(here, step) {
                least(tri!(ceil_div(m, d)), n)
            } else {
                girih_layout::Int::ONE
            });
        }
        d = tri!(ceil_div(d, m));
        i += 1;
    }
    Ok(girih_layout::Int::ONE)
}

pub(super) const fn domain_distribute(shape: &Tree, n: girih_layout::Int) -> Result<Tree, Error> {
    let (mut out, mut rest, mut step, mut i) = (LeafList::EMPTY, n, girih_layout::Int::ONE, 0);
    while i < shape.leaf_count() {
        let s = shape.extent(i);
        let g = gcd(s.coefficient(), rest.coefficient());
        let fixed = s.is_static() && rest.is_static();
        let g = if fixed { girih_layout::Int::fixed(g) } else { girih_layout::Int::value(g) };
        if !is_one(g) {
            tri!(out.push(g, Stride::Int(step)));
        }
        rest = tri!(ceil_div(rest, g));
        step = tri!(step.mul(s));
        i += 1;
    }
    tri!(again(&out, false)).wrapped()
}
