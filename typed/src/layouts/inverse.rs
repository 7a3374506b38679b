//! Right and left inverse, by what is static: the modes sorted by stride, then one fold.

use core::marker::PhantomData;

use girih_layout::{Error, MAX_LEAVES, Stride};
use typenum::{B0, B1};

use super::coalesce::{Again, Flat, again, flat};
use super::int::{Int, S};
use super::list::{Cons, List, Nil, PushUnlessOne};
use super::nat::Bit;
use super::rules::{ceil_div, integer, is_one, is_zero, less, same};
use super::tree::{LeafList, Tree};

/// The type of [`Layout::right_inverse`](super::Layout::right_inverse).
///
/// ```
/// use girih_typed::{Layout, Mode, RightInverse, S, layout};
/// let made: Layout<RightInverse<(Mode<S<4>, S<1>>, Mode<S<8>, S<4>>)>> = layout!((4, 8) : (1, 4)).right_inverse();
/// ```
pub type RightInverse<M> = <InverseLeaves<M> as List>::Wrapped;

/// The type of [`Layout::left_inverse`](super::Layout::left_inverse) and of [`Layout::quasi_inverse`](super::Layout::quasi_inverse).
///
/// ```
/// use girih_typed::{Layout, LeftInverse, Mode, S, layout};
/// let made: Layout<LeftInverse<(Mode<S<4>, S<1>>, Mode<S<8>, S<4>>)>> = layout!((4, 8) : (1, 4)).left_inverse();
/// ```
pub type LeftInverse<M> =
    <Again<<<Flat<M, B0> as Steps>::ByStride<S<1>> as Sorted>::Back<S<1>, S<1>, S<0>>, B0> as List>::Wrapped;

/// The leaves of the right inverse.
pub(super) type InverseLeaves<M> = Again<<<Flat<M, B0> as Steps>::ByStride<S<1>> as Sorted>::Fold<S<1>>, B0>;

/// A list sorted by stride: every leaf whose extent is not 1 and whose stride is not 0, with its 1-D step.
#[doc(hidden)]
pub trait Steps {
    /// The sorted list, if the step of the first leaf is `P`.
    type ByStride<P: Int>: Sorted;
}

#[doc(hidden)]
pub trait Sorted {
    type Insert<S: Int, D: Int, P: Int>: Sorted;
    /// The modes of the right inverse for the indices from `End` on.
    type Fold<End: Int>: List;
    /// The modes of the left inverse for the indices from a mode of stride `Before`, extent `S` and step `P` on.
    type Back<Before: Int, S: Int, P: Int>: List;
    /// How many consecutive indices stay together, after a run of `Run` and strides of which `Rest` is the greatest common divisor.
    type Align<Run: Int, Rest: Int>: Int;
}

#[doc(hidden)]
/// Case distinctions: each type has its value for the named condition being false in [`B0`] and true in [`B1`].
pub trait Decide {
    /// If S is 1 or D is 0.
    type Insert<S: Int, D: Int, P: Int, T: Sorted>: Sorted;
    /// If the first of the list, `NS:ND`, comes before `S:D`.
    type After<S: Int, D: Int, P: Int, NS: Int, ND: Int, NP: Int, T: Sorted>: Sorted;
    /// If the two strides are the same and `S` is less than `NS`: the larger extent comes first.
    type Tied<S: Int, D: Int, P: Int, NS: Int, ND: Int, NP: Int, T: Sorted>: Sorted;
    /// If D is where the modes before end.
    type Fold<End: Int, S: Int, D: Int, P: Int, T: Sorted>: List;
    /// If D is less than `End`.
    type Skip<End: Int, T: Sorted>: List;
    /// If D is where the run ends.
    type Align<Run: Int, Rest: Int, S: Int, D: Int, T: Sorted>: Int;
}

/// A leaf `S:D` with the step `P`.
#[doc(hidden)]
pub struct Step<S, D, P, T>(PhantomData<(S, D, P, T)>);

impl Steps for Nil {
    type ByStride<P: Int> = Nil;
}

impl<S: Int, D: Int, T: List> Steps for Cons<S, D, T> {
    type ByStride<P: Int> =
        <<S::IsOne as Bit>::Or<D::IsZero> as Decide>::Insert<S, D, P, T::ByStride<P::Mul<S>>>;
}

impl Sorted for Nil {
    type Insert<S: Int, D: Int, P: Int> = Step<S, D, P, Nil>;
    type Fold<End: Int> = Nil;
    type Back<Before: Int, S: Int, P: Int> = Cons<S, P, Nil>;
    type Align<Run: Int, Rest: Int> = Run::Gcd<Rest>;
}

impl<NS: Int, ND: Int, NP: Int, T: Sorted> Sorted for Step<NS, ND, NP, T> {
    type Insert<S: Int, D: Int, P: Int> = <ND::Less<D> as Decide>::After<S, D, P, NS, ND, NP, T>;
    type Fold<End: Int> = <ND::Same<End> as Decide>::Fold<End, NS, ND, NP, T>;
    type Back<Before: Int, S: Int, P: Int> = PushUnlessOne<ND::CDiv<Before>, P, T::Back<ND, NS, NP>>;
    type Align<Run: Int, Rest: Int> = <ND::Same<Run> as Decide>::Align<Run, Rest, NS, ND, T>;
}

impl Decide for B0 {
    type Insert<S: Int, D: Int, P: Int, T: Sorted> = T::Insert<S, D, P>;
    type After<S: Int, D: Int, P: Int, NS: Int, ND: Int, NP: Int, T: Sorted> =
        <<ND::Same<D> as Bit>::And<S::Less<NS>> as Decide>::Tied<S, D, P, NS, ND, NP, T>;
    type Tied<S: Int, D: Int, P: Int, NS: Int, ND: Int, NP: Int, T: Sorted> =
        Step<S, D, P, Step<NS, ND, NP, T>>;
    type Fold<End: Int, S: Int, D: Int, P: Int, T: Sorted> = <D::Less<End> as Decide>::Skip<End, T>;
    type Skip<End: Int, T: Sorted> = Nil;
    type Align<Run: Int, Rest: Int, S: Int, D: Int, T: Sorted> = T::Align<Run, Rest::Gcd<D>>;
}

impl Decide for B1 {
    type Insert<S: Int, D: Int, P: Int, T: Sorted> = T;
    type After<S: Int, D: Int, P: Int, NS: Int, ND: Int, NP: Int, T: Sorted> =
        Step<NS, ND, NP, T::Insert<S, D, P>>;
    type Tied<S: Int, D: Int, P: Int, NS: Int, ND: Int, NP: Int, T: Sorted> =
        Step<NS, ND, NP, T::Insert<S, D, P>>;
    type Fold<End: Int, S: Int, D: Int, P: Int, T: Sorted> = Cons<S, P, T::Fold<D::Mul<S>>>;
    type Skip<End: Int, T: Sorted> = T::Fold<End>;
    type Align<Run: Int, Rest: Int, S: Int, D: Int, T: Sorted> = T::Align<Run::Mul<S>, Rest>;
}

pub(super) const fn right_inverse(from: &Tree) -> Result<Tree, Error> {
    tri!(inverse_leaves(from)).wrapped()
}

/// The right inverse on run-time integers: instead of sorting, it looks for the largest mode at each end.
pub(super) const fn inverse_leaves(from: &Tree) -> Result<LeafList, Error> {
    const OP: &str = "right_inverse";
    let flat = tri!(flat(from, false));
    let (mut out, mut end) = (LeafList::EMPTY, girih_layout::Int::ONE);
    loop {
        let (mut best, mut step) = (MAX_LEAVES, girih_layout::Int::ONE);
        let (mut i, mut p) = (0, girih_layout::Int::ONE);
        while i < flat.len() {
            let s = flat.extent(i);
            let here = !is_one(s) && same(tri!(integer(OP, flat.step(i))), end);
            if here && (best == MAX_LEAVES || less(flat.extent(best), s)) {
                (best, step) = (i, p);
            }
            p = tri!(p.mul(s));
            i += 1;
        }
        if best == MAX_LEAVES {
            return again(&out, false);
        }
        let taken = flat.extent(best);
        tri!(out.push(taken, Stride::Int(step)));
        end = tri!(end.mul(taken));
    }
}

/// The left inverse on run-time integers.
pub(super) const fn left_inverse(from: &Tree) -> Result<Tree, Error> {
    const OP: &str = "left_inverse";
    let flat = tri!(flat(from, false));
    let mut out = LeafList::EMPTY;
    let (mut before, mut s, mut p) =
        (girih_layout::Int::ONE, girih_layout::Int::ONE, girih_layout::Int::ZERO);
    let mut done = [false; MAX_LEAVES];
    let mut placed = 0;
    while placed < flat.len() {
        let (mut best, mut step) = (MAX_LEAVES, girih_layout::Int::ONE);
        let (mut i, mut here) = (0, girih_layout::Int::ONE);
        while i < flat.len() {
            let d = tri!(integer(OP, flat.step(i)));
            if !done[i] && (best == MAX_LEAVES || less(d, tri!(integer(OP, flat.step(best))))) {
                (best, step) = (i, here);
            }
            here = tri!(here.mul(flat.extent(i)));
            i += 1;
        }
        done[best] = true;
        placed += 1;
        let d = tri!(integer(OP, flat.step(best)));
        if is_one(flat.extent(best)) || is_zero(d) {
            continue;
        }
        let gap = tri!(ceil_div(d, before));
        if !is_one(gap) {
            tri!(out.push(gap, Stride::Int(p)));
        }
        (before, s, p) = (d, flat.extent(best), step);
    }
    tri!(out.push(s, Stride::Int(p)));
    tri!(again(&out, false)).wrapped()
}
