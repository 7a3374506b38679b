//! Trees of modes: a leaf `Mode<S, D>`, or a tuple of trees. Shape and strides are congruent by construction.

use core::fmt;

use girih_layout::Error;

use super::basis::{Basis, Path};
use super::int::{Int, S, skeleton};
use super::int_tuple::IntTuple;
use super::list::{Cons, List};
use super::tiler::{ModeList, NoModes, OneMode};
use super::tree::Tree;

/// The leaf `S:D`, extent and stride.
///
/// ```
/// use girih_typed::{Layout, Mode, int, layout};
/// assert_eq!(Layout(Mode(int!(4), int!(2))), layout!(4 : 2));
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Mode<S, D>(pub S, pub D);

/// The mode of one element, `1:0`.
///
/// ```
/// use girih_typed::{Layout, Unit, layout};
/// let made: Layout<Unit> = layout!(1 : 0);
/// ```
pub type Unit = Mode<S<1>, S<0>>;

/// A tree of modes: [`Mode`], or a tuple of trees, up to 12.
///
/// ```
/// use girih_typed::{Coalesced, Layout, Modes, layout};
/// fn plain<M: Modes>(l: Layout<M>) -> Layout<Coalesced<M>> {
///     l.coalesce()
/// }
/// assert_eq!(plain(layout!((4, 8) : (1, 4))), layout!(32 : 1));
/// ```
pub trait Modes: Copy + Default + 'static {
    /// The modes with 1 in the place of each dynamic integer.
    #[doc(hidden)]
    const SKELETON: Tree;
    /// Whether every integer is static: the value then has size 0.
    const STATIC: bool;
    /// Whether a stride is or may be negative.
    const SIGNED: bool;
    /// Whether a stride goes along a basis vector: the indices are coordinates.
    const COORDINATES: bool;
    /// The number of modes, 1 for a leaf.
    const RANK: usize;
    /// The shape: nested tuples of integers.
    type Shape: IntTuple;
    /// The strides, congruent to the shape.
    type Stride: IntTuple;

    /// The leaves, in front of `T`.
    #[doc(hidden)]
    type Leaves<T: List>: List;
    /// The composition of `A` and this tree, `A o self`.
    #[doc(hidden)]
    type Over<A: List>: Modes;
    /// The modes, in front of `T`; a tuple of one stays whole.
    #[doc(hidden)]
    type Spread<T: Tuple>: Tuple;
    /// The modes as a list; a leaf is its own only mode.
    #[doc(hidden)]
    type Each: ModeList;
    /// All leaves in one tuple; a leaf stays a leaf.
    #[doc(hidden)]
    type Flat: Modes;
    /// The modes from the last to the first; a leaf stays a leaf.
    #[doc(hidden)]
    type Reversed: Modes;
    /// This tree with the leaves of `L` in the place of its own.
    #[doc(hidden)]
    type With<L: List>: Modes;
    /// `L` without its first leaves, as many as this tree has.
    #[doc(hidden)]
    type Past<L: List>: List;
    /// `M` coalesced by this profile.
    #[doc(hidden)]
    type CoalesceOf<M: Modes>: Modes;
    /// The extents of this tree as keys of the leaves of `M`, each the key of all leaves in its place, in front of `T`.
    #[doc(hidden)]
    type KeysOver<M: Modes, T: List>: List;
    /// The extents, each along the basis vector of its place in this tree, which is at `P`, in front of `T`.
    #[doc(hidden)]
    type Placed<P: Path, T: List>: List;

    #[doc(hidden)]
    fn leaves<T: List>(self, rest: T) -> Self::Leaves<T>;

    #[doc(hidden)]
    fn each(self) -> Self::Each;

    #[doc(hidden)]
    fn flat(self) -> Self::Flat;

    #[doc(hidden)]
    fn reversed(self) -> Self::Reversed;

    #[doc(hidden)]
    fn with<L: List>(leaves: L) -> (Self::With<L>, Self::Past<L>);

    /// The shape.
    fn shape(&self) -> Self::Shape;

    /// The strides.
    fn stride(&self) -> Self::Stride;

    #[doc(hidden)]
    fn tree(&self) -> Result<Tree, Error>;

    /// Takes the dynamic integers from the leaves of `from`, the first of which is number `at`.
    #[doc(hidden)]
    fn read(from: &Tree, at: &mut usize) -> Option<Self>;

    /// The index of the digits that `rest` has in this tree, along coordinate `axis`; with `LAST`, the last digit is all that is left.
    #[doc(hidden)]
    fn index<const LAST: bool>(&self, rest: &mut usize, axis: usize) -> i64;
}

/// A tuple of modes.
#[doc(hidden)]
pub trait Tuple: Modes {
    type Prepend<M: Modes>: Tuple;
    fn prepend<M: Modes>(self, first: M) -> Self::Prepend<M>;
}

impl<S0: Int, D: Int> Modes for Mode<S0, D> {
    const SKELETON: Tree = Tree::leaf(skeleton(S0::KNOWN), D::STRIDE);
    const SIGNED: bool = D::SIGNED;
    const COORDINATES: bool = D::BASIS;
    const STATIC: bool = S0::KNOWN.is_some() && D::KNOWN.is_some();
    const RANK: usize = 1;
    type Shape = S0;
    type Stride = D;
    type Leaves<T: List> = Cons<S0, D, T>;
    type Over<A: List> = super::composition::Leaf<A, S0, D>;
    type Spread<T: Tuple> = T::Prepend<Self>;
    type Each = OneMode<Self, NoModes>;
    type Flat = Self;
    type Reversed = Self;
    type With<L: List> = L::Head;
    type Past<L: List> = L::Tail;
    type CoalesceOf<M: Modes> = super::Coalesced<M>;
    type KeysOver<M: Modes, T: List> =
        <M::Leaves<super::list::Nil> as super::compact::Compact>::KeyedBy<S0, T>;
    type Placed<P: Path, T: List> = Cons<S0, Basis<S<1>, P>, T>;

    fn leaves<T: List>(self, rest: T) -> Cons<S0, D, T> {
        Cons(self.0, self.1, rest)
    }

    fn each(self) -> Self::Each {
        OneMode(self, NoModes)
    }

    fn flat(self) -> Self {
        self
    }

    fn reversed(self) -> Self {
        self
    }

    fn with<L: List>(leaves: L) -> (L::Head, L::Tail) {
        leaves.split()
    }

    fn shape(&self) -> S0 {
        self.0
    }

    fn stride(&self) -> D {
        self.1
    }

    fn tree(&self) -> Result<Tree, Error> {
        Ok(Tree::leaf(self.0.erase(), self.1.erase_stride()))
    }

    fn read(from: &Tree, at: &mut usize) -> Option<Self> {
        let (extent, stride) = (from.extent(*at), from.step(*at));
        *at += 1;
        Some(Mode(S0::from_value(extent.get()?)?, D::from_stride(stride)?))
    }

    #[inline(always)]
    fn index<const LAST: bool>(&self, rest: &mut usize, axis: usize) -> i64 {
        let mut digit = *rest;
        if !LAST {
            let extent = self.0.get() as usize;
            digit = rest.checked_rem(extent).unwrap_or(0);
            *rest = rest.checked_div(extent).unwrap_or(0);
        }
        (digit as i64).wrapping_mul(self.1.along(axis))
    }
}

impl<S0: Int, D: Int> fmt::Debug for Mode<S0, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#}:{:#}", self.0.erase(), self.1.erase_stride())
    }
}
