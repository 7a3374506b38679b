//! Coalescing, by what is static: the type of the result and, by the same rule, its values.

use girih_layout::{Error, Stride};
use typenum::{B0, B1};

use super::int::{Int, S};
use super::list::{Cons, List, Nil};
use super::modes::Modes;
use super::nat::Bit;
use super::rules::{is_one, same_stride};
use super::tree::{LeafList, Tree};

/// The type of [`Layout::coalesce`](super::Layout::coalesce).
///
/// ```
/// use girih_typed::{Coalesced, Layout, Mode, S, layout};
/// let made: Layout<Coalesced<(Mode<S<4>, S<1>>, Mode<S<8>, S<4>>)>> = layout!((4, 8) : (1, 4)).coalesce();
/// ```
pub type Coalesced<M> = <Flat<M, B0> as List>::Wrapped;

/// The coalesced leaves of a tree; with `Keep`, the last leaf stays whatever its extent.
pub(super) type Flat<M, Keep> = Again<<M as Modes>::Leaves<Nil>, Keep>;

/// A list coalesced.
pub(super) type Again<L, Keep> = <L as CoalesceLeaves>::Coalesce<S<1>, S<0>, Keep>;

/// A list of leaves, coalesced after the mode `S:D`.
#[doc(hidden)]
pub trait CoalesceLeaves {
    type Coalesce<S: Int, D: Int, Keep: Bit>: List;
    /// `Keep` for the empty list, false for another.
    type KeptLast<Keep: Bit>: Bit;
}

#[doc(hidden)]
/// Case distinctions: each type has its value for the named condition being false in [`B0`] and true in [`B1`].
pub trait Decide {
    /// If S is 1.
    type End<S: Int, D: Int, Keep: Bit>: List;
    /// If the last leaf is kept.
    type EndOne<S: Int, D: Int>: List;
    /// If the next extent is 1.
    type Next<S: Int, D: Int, NS: Int, ND: Int, T: List, Keep: Bit>: List;
    /// If the next leaf is to stay although its extent is 1.
    type NextOne<S: Int, D: Int, NS: Int, ND: Int, T: List, Keep: Bit>: List;
    /// If S is 1, with a next mode.
    type Take<S: Int, D: Int, NS: Int, ND: Int, T: List, Keep: Bit>: List;
    /// If the next mode goes on where `S:D` ends.
    type Join<S: Int, D: Int, NS: Int, ND: Int, T: List, Keep: Bit>: List;
}

impl CoalesceLeaves for Nil {
    type Coalesce<S: Int, D: Int, Keep: Bit> = <S::IsOne as Decide>::End<S, D, Keep>;
    type KeptLast<Keep: Bit> = Keep;
}

impl<NS: Int, ND: Int, T: List> CoalesceLeaves for Cons<NS, ND, T> {
    type Coalesce<S: Int, D: Int, Keep: Bit> = <NS::IsOne as Decide>::Next<S, D, NS, ND, T, Keep>;
    type KeptLast<Keep: Bit> = B0;
}

impl Decide for B0 {
    type End<S: Int, D: Int, Keep: Bit> = Cons<S, D, Nil>;
    type EndOne<S: Int, D: Int> = Nil;
    type Next<S: Int, D: Int, NS: Int, ND: Int, T: List, Keep: Bit> =
        <S::IsOne as Decide>::Take<S, D, NS, ND, T, Keep>;
    type NextOne<S: Int, D: Int, NS: Int, ND: Int, T: List, Keep: Bit> = T::Coalesce<S, D, Keep>;
    type Take<S: Int, D: Int, NS: Int, ND: Int, T: List, Keep: Bit> =
        <<S::Mul<D> as Int>::Same<ND> as Decide>::Join<S, D, NS, ND, T, Keep>;
    type Join<S: Int, D: Int, NS: Int, ND: Int, T: List, Keep: Bit> = Cons<S, D, T::Coalesce<NS, ND, Keep>>;
}

impl Decide for B1 {
    type End<S: Int, D: Int, Keep: Bit> = <Keep as Decide>::EndOne<S, D>;
    type EndOne<S: Int, D: Int> = Cons<S, D, Nil>;
    type Next<S: Int, D: Int, NS: Int, ND: Int, T: List, Keep: Bit> =
        <T::KeptLast<Keep> as Decide>::NextOne<S, D, NS, ND, T, Keep>;
    type NextOne<S: Int, D: Int, NS: Int, ND: Int, T: List, Keep: Bit> =
        <S::IsOne as Decide>::Take<S, D, NS, ND, T, Keep>;
    type Take<S: Int, D: Int, NS: Int, ND: Int, T: List, Keep: Bit> = T::Coalesce<NS, ND, Keep>;
    type Join<S: Int, D: Int, NS: Int, ND: Int, T: List, Keep: Bit> = T::Coalesce<S::Mul<NS>, D, Keep>;
}

/// The coalesced leaves of a tree; with `keep`, the last leaf stays whatever its extent.
pub(super) const fn flat(from: &Tree, keep: bool) -> Result<LeafList, Error> {
    again(&LeafList::of(from), keep)
}

/// Leaves coalesced.
pub(super) const fn again(from: &LeafList, keep: bool) -> Result<LeafList, Error> {
    let (mut out, mut s, mut d) = (LeafList::EMPTY, girih_layout::Int::ONE, Stride::ZERO);
    let mut i = 0;
    while i < from.len() {
        let (next_s, next_d) = (from.extent(i), from.step(i));
        i += 1;
        if is_one(next_s) && !(keep && i == from.len()) {
            continue;
        }
        if is_one(s) {
            (s, d) = (next_s, next_d);
        } else if same_stride(tri!(d.scaled(s)), next_d) {
            s = tri!(s.mul(next_s));
        } else {
            tri!(out.push(s, d));
            (s, d) = (next_s, next_d);
        }
    }
    if !is_one(s) || keep {
        tri!(out.push(s, d));
    }
    Ok(out)
}

pub(super) const fn coalesce(from: &Tree) -> Result<Tree, Error> {
    tri!(flat(from, false)).wrapped()
}
