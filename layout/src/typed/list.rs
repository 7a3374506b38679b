//! Flat lists of leaves, as types: what the algebra works on between two trees.

use core::marker::PhantomData;

use typenum::{B0, B1};

use super::int::{Int, S};
use super::modes::{Mode, Modes, Tuple, Unit};
use super::nat::Bit;
use super::{coalesce, complement, composition, cosize, divide, inverse};

/// Leaves from left to right.
#[doc(hidden)]
pub trait List:
    coalesce::CoalesceLeaves
    + composition::Walk
    + complement::Holes
    + inverse::Steps
    + cosize::Reach
    + divide::RoundUp
    + 'static
{
    type IsNil: Bit;
    /// The tuple of the leaves.
    type AsTuple: Tuple;
    /// One node: a leaf of one, a tuple of more, `1:0` of none.
    type Wrapped: Modes;
    type WrappedAfter<S: Int, D: Int>: Modes;
    type Size: Int;
}

#[doc(hidden)]
pub struct Nil;

#[doc(hidden)]
pub struct Cons<S, D, T>(PhantomData<(S, D, T)>);

impl List for Nil {
    type IsNil = B1;
    type AsTuple = ();
    type Wrapped = Unit;
    type WrappedAfter<S: Int, D: Int> = Mode<S, D>;
    type Size = S<1>;
}

impl<S: Int, D: Int, T: List> List for Cons<S, D, T> {
    type IsNil = B0;
    type AsTuple = <T::AsTuple as Tuple>::Prepend<Mode<S, D>>;
    type Wrapped = T::WrappedAfter<S, D>;
    type WrappedAfter<S0: Int, D0: Int> = <<Self as List>::AsTuple as Tuple>::Prepend<Mode<S0, D0>>;
    type Size = S::Mul<T::Size>;
}

/// `s:d` in front of `T`, unless `s` is static 1.
pub(super) type PushUnlessOne<S, D, T> = <<S as Int>::IsOne as complement::Decide>::Push<S, D, T>;
