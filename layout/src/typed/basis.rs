//! Strides along basis vectors: the codomain of identity layouts is coordinates.

use core::fmt;
use core::marker::PhantomData;

use typenum::{B0, B1, UTerm};

use super::compact::{Leaves, With};
use super::int::{Int, S};
use super::int_tuple::IntTuple;
use super::list::{Cons, List, Nil};
use super::modes::Modes;
use super::nat::{Bit, Nat, Order};
use super::storage::Nothing;
use super::tiler::{ModeList, NoModes, OneMode};
use crate::Stride;

/// `D` steps along coordinate `I`, printed `2@1` (CuTe's `ScaledBasis`): a stride, and of the other integers only a multiple.
///
/// ```
/// use girih_layout::layout;
/// // Column first in a tile whose coordinates are (row, column).
/// let l = layout!((4, 8) : (1@1, 1@0));
/// let [i, j] = l.coord_at((3, 5));
/// assert_eq!((i, j), (5, 3));
/// assert_eq!(l.to_string(), "(4,8):(1@1,1@0)");
/// ```
///
/// Their indices are coordinates; here the message is `at: the indices of (4,8):(1@0,1@1) are coordinates: call coord_at or slice_coord`:
/// ```compile_fail
/// # use girih_layout::layout;
/// layout!((4, 8) : (1@0, 1@1)).at((3, 5));
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Basis<D, I>(D, PhantomData<I>);

/// One step along coordinate `I`: CuTe's `E<I>`.
///
/// ```
/// use girih_layout::typed::{Basis, E, S};
/// let axis: E<1> = Basis::<S<1>, S<1>>::default();
/// ```
pub type E<const I: usize> = Basis<S<1>, S<I>>;

/// The type of [`Layout::identity`](super::Layout::identity).
///
/// ```
/// use girih_layout::typed::{Identity, Layout, S};
/// use girih_layout::int;
/// let made: Layout<Identity<(S<4>, S<8>)>> = Layout::identity((int!(4), int!(8)));
/// ```
pub type Identity<Sh> = With<Zeros<Sh>, <<Zeros<Sh> as Modes>::Each as Axes>::Axes<UTerm>>;

type Zeros<Sh> = <Sh as IntTuple>::Zeros;

impl<D: Int, I: Nat> Basis<D, I> {
    /// `scale` steps along coordinate `axis`.
    ///
    /// ```
    /// use girih_layout::typed::Basis;
    /// use girih_layout::int;
    /// assert_eq!(Basis::new(5usize, int!(1)).scale(), 5);
    /// ```
    pub fn new(scale: D, axis: I) -> Basis<D, I> {
        let _ = axis;
        Basis(scale, PhantomData)
    }

    /// The number of steps.
    ///
    /// ```
    /// use girih_layout::typed::{E, Int};
    /// assert_eq!(E::<2>::default().scale().get(), 1);
    /// ```
    pub fn scale(self) -> D {
        self.0
    }
}

impl<D: Int, I: Nat> fmt::Debug for Basis<D, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#}", self.erase_stride())
    }
}

const fn axis<I: Nat>() -> u8 {
    assert!(I::N < 256, "a basis vector beyond 255");
    I::N as u8
}

// What makes no sense for a basis vector is refused by the run-time layer before anybody asks.
impl<D: Int, I: Nat> Int for Basis<D, I> {
    const KNOWN: Option<i64> = D::KNOWN;
    const SIGNED: bool = D::SIGNED;
    const STRIDE: Stride = Stride::Basis { scale: super::int::skeleton(D::KNOWN), mode: axis::<I>() };
    const BASIS: bool = true;
    type Mul<R: Int> = Basis<D::Mul<R>, I>;
    type Add<R: Int> = Self;
    type CDiv<R: Int> = Self;
    type Min<R: Int> = Self;
    type Same<R: Int> = R::SameBasis<D, I>;
    type Less<R: Int> = B0;
    type Divides<R: Int> = B0;
    type Pred = Self;
    type IsOne = B0;
    type IsZero = D::IsZero;
    type Array<T: Copy> = Nothing<T>;
    type Gcd<R: Int> = R;
    type Upcast<N: Nat> = Self;
    type InUnit<N: Nat> = S<1>;

    fn get(self) -> i64 {
        self.0.get()
    }

    fn from_value(value: i64) -> Option<Self> {
        D::from_value(value).map(|scale| Basis(scale, PhantomData))
    }

    fn erase_stride(self) -> Stride {
        Stride::Basis { scale: self.0.erase(), mode: const { axis::<I>() } }
    }

    fn from_stride(stride: Stride) -> Option<Self> {
        match stride {
            Stride::Basis { scale, mode } if mode == const { axis::<I>() } => Self::from_value(scale.get()?),
            _ => None,
        }
    }

    #[inline(always)]
    fn along(self, axis: usize) -> i64 {
        if axis == I::N as usize { self.0.get() } else { 0 }
    }

    type MulNat<L: Nat> = Basis<D::MulNat<L>, I>;
    type MulNeg<L: Nat> = Basis<D::MulNeg<L>, I>;
    type MulUsize = Basis<D::MulUsize, I>;
    type MulI64 = Basis<D::MulI64, I>;
    type AddNat<L: Nat> = L;
    type CDivNat<L: Nat> = L;
    type MinNat<L: Nat> = L;
    type SameNat<L: Nat> = B0;
    type SameNeg<L: Nat> = B0;
    type SameBasis<D0: Int, I0: Nat> = <D0::Same<D> as Bit>::And<<I0::Versus<I> as Order>::IsEqual>;
    type LessNat<L: Nat> = B1;
    type LessNeg<L: Nat> = B1;
    type DividesNat<L: Nat> = B0;
    type GcdNat<L: Nat> = L;
    type IsNegative = B0;
}

/// The leaves of modes, each of which goes along a basis vector of its own.
#[doc(hidden)]
pub trait Axes {
    /// From coordinate `I` on.
    type Axes<I: Nat>: List;
}

impl Axes for NoModes {
    type Axes<I: Nat> = Nil;
}

impl<M: Modes, T: ModeList> Axes for OneMode<M, T> {
    type Axes<I: Nat> = <Leaves<M> as Axis>::Axis<S<1>, I, T::Axes<I::Succ>>;
}

/// Leaves along one coordinate.
#[doc(hidden)]
pub trait Axis {
    /// Leftmost first from the step `P` on, in front of `L`.
    type Axis<P: Int, I: Nat, L: List>: List;
}

impl Axis for Nil {
    type Axis<P: Int, I: Nat, L: List> = L;
}

impl<S0: Int, D: Int, T: List> Axis for Cons<S0, D, T> {
    type Axis<P: Int, I: Nat, L: List> = Cons<S0, Basis<P, I>, T::Axis<P::Mul<S0>, I, L>>;
}
