//! Flat lists of leaves, as types: the algebra turns trees into lists, works on these, and makes trees of the results.

use typenum::{B0, B1};

use super::int::{Int, S};
use super::modes::{Mode, Modes, Tuple, Unit};
use super::nat::Bit;
use super::{coalesce, compact, complement, composition, cosize, divide, inverse, recast, share};

/// Leaves from left to right.
#[doc(hidden)]
pub trait List:
    coalesce::CoalesceLeaves
    + composition::Walk
    + complement::Holes
    + inverse::Steps
    + cosize::Reach
    + divide::RoundUp
    + compact::Compact
    + recast::Units
    + share::Shared
    + 'static
{
    /// The first leaf, `1:0` where there is none.
    type Head: Modes;
    type Extent: Int;
    type Stride: Int;
    /// The other leaves.
    type Tail: List;
    type IsNil: Bit;
    /// The tuple of the leaves.
    type AsTuple: Tuple;
    /// One node: a single leaf stays a leaf, several become a tuple, and none become `1:0`.
    type Wrapped: Modes;
    type WrappedAfter<S: Int, D: Int>: Modes;
    type Size: Int;
    fn split(self) -> (Self::Head, Self::Tail);
    fn tuple(self) -> Self::AsTuple;
}

#[doc(hidden)]
pub struct Nil;

#[doc(hidden)]
pub struct Cons<S, D, T>(pub S, pub D, pub T);

impl List for Nil {
    type Head = Unit;
    type Extent = S<1>;
    type Stride = S<0>;
    type Tail = Nil;
    type IsNil = B1;
    type AsTuple = ();
    type Wrapped = Unit;
    type WrappedAfter<S: Int, D: Int> = Mode<S, D>;
    type Size = S<1>;
    fn split(self) -> (Unit, Nil) {
        (Unit::default(), Nil)
    }
    fn tuple(self) {}
}

impl<S: Int, D: Int, T: List> List for Cons<S, D, T> {
    type Head = Mode<S, D>;
    type Extent = S;
    type Stride = D;
    type Tail = T;
    type IsNil = B0;
    type AsTuple = <T::AsTuple as Tuple>::Prepend<Mode<S, D>>;
    type Wrapped = T::WrappedAfter<S, D>;
    type WrappedAfter<S0: Int, D0: Int> = <<Self as List>::AsTuple as Tuple>::Prepend<Mode<S0, D0>>;
    type Size = S::Mul<T::Size>;
    fn split(self) -> (Mode<S, D>, T) {
        (Mode(self.0, self.1), self.2)
    }
    fn tuple(self) -> Self::AsTuple {
        self.2.tuple().prepend(Mode(self.0, self.1))
    }
}

/// `s:d` in front of `T`, unless `s` is static 1.
pub(super) type PushUnlessOne<S, D, T> = <<S as Int>::IsOne as complement::Decide>::Push<S, D, T>;
