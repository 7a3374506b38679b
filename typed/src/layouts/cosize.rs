//! Size and cosize: how many coordinates a layout has, and how many elements a buffer under it needs.

use girih_layout::Error;

use super::int::{Int, S};
use super::list::{Cons, List, Nil};
use super::modes::Modes;
use super::rules::{add, integer, pred};
use super::tree::Tree;

/// The size of a tree of modes, the product of its extents.
///
/// ```
/// use girih_typed::{Int, Mode, S, Size};
/// assert_eq!(<Size<(Mode<S<4>, S<1>>, Mode<S<8>, S<4>>)> as Int>::KNOWN, Some(32));
/// ```
pub type Size<M> = <<M as Modes>::Leaves<Nil> as List>::Size;

/// The cosize of a tree: 1 plus the sum of `(s-1)*d`, for strides of at least 0.
///
/// ```
/// use girih_typed::{Cosize, Int, Mode, S};
/// type Padded = (Mode<S<4>, S<1>>, Mode<S<3>, S<8>>);
/// assert_eq!(<Cosize<Padded> as Int>::KNOWN, Some(20));
/// ```
pub type Cosize<M> = <<M as Modes>::Leaves<Nil> as Reach>::After<S<1>>;

#[doc(hidden)]
pub trait Reach {
    /// The cosize, if the leaves on the left have the cosize `N`.
    type After<N: Int>: Int;
}

impl Reach for Nil {
    type After<N: Int> = N;
}

impl<S0: Int, D: Int, T: List> Reach for Cons<S0, D, T> {
    type After<N: Int> = T::After<<<S0::Pred as Int>::Mul<D> as Int>::Add<N>>;
}

/// The cosize on run-time integers, static where the type's cosize is.
pub(super) const fn cosize(of: &Tree) -> Result<girih_layout::Int, Error> {
    let (mut sum, mut i) = (girih_layout::Int::ONE, 0);
    while i < of.leaf_count() {
        let d = tri!(integer("cosize", of.step(i)));
        let reach = tri!(pred(of.extent(i)).mul(d));
        sum = tri!(add(reach, sum));
        i += 1;
    }
    Ok(sum)
}
