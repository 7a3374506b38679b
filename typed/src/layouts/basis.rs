//! Strides along basis vectors: the codomain of identity layouts is coordinates.

use core::fmt;
use core::marker::PhantomData;

use girih_layout::{ModePath, Stride};
use typenum::{B0, B1, UTerm};

use super::compact::With;
use super::int::{Int, S};
use super::int_tuple::IntTuple;
use super::list::{List, Nil};
use super::modes::Modes;
use super::nat::{Bit, Nat, Order};
use super::storage::Nothing;
use super::tiler::{ModeList, NoModes, OneMode};

/// `D` steps along the entry `P` of a coordinate, printed `2@1` (CuTe's `ScaledBasis`): a stride. The only arithmetic
/// that makes sense for it is multiplication by an integer.
///
/// ```
/// use girih_typed::layout;
/// // Column first in a tile whose coordinates are (row, column).
/// let l = layout!((4, 8) : (1@1, 1@0));
/// let [i, j] = l.coord_at((3, 5));
/// assert_eq!((i, j), (5, 3));
/// assert_eq!(l.to_string(), "(4,8):(1@1,1@0)");
/// ```
///
/// The indices of such a layout are coordinates; here the message is `at: the indices of (4,8):(1@0,1@1) are
/// coordinates: call coord_at or slice_coord`:
/// ```compile_fail
/// # use girih_typed::layout;
/// layout!((4, 8) : (1@0, 1@1)).at((3, 5));
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Basis<D, P>(D, PhantomData<P>);

/// One step along coordinate `I`: CuTe's `E<I>`. `E<0,1>` is `Basis<S<1>, (S<0>, S<1>)>`.
///
/// ```
/// use girih_typed::{Basis, E, S};
/// let axis: E<1> = Basis::<S<1>, S<1>>::default();
/// ```
pub type E<const I: usize> = Basis<S<1>, S<I>>;

/// The type of [`Layout::identity`](super::Layout::identity).
///
/// ```
/// use girih_typed::{Identity, Layout, S, int};
/// let made: Layout<Identity<(S<4>, S<8>)>> = Layout::identity((int!(4), int!(8)));
/// ```
pub type Identity<Sh> = With<Zeros<Sh>, <<Zeros<Sh> as Modes>::Each as Places>::Placed<Root, UTerm, Nil>>;

type Zeros<Sh> = <Sh as IntTuple>::Zeros;

/// An entry of a coordinate: a mode ([`Nat`]), or in a nested coordinate a tuple of two or three modes, outermost
/// first, as in CuTe's `E<0,1>`.
///
/// ```
/// use girih_typed::{Basis, Path, S, int, layout};
/// fn strided<P: Path>(path: P) -> Basis<S<2>, P> {
///     Basis::new(int!(2), path)
/// }
/// assert_eq!(format!("{:?}", strided((int!(0), int!(1)))), "_2@1@0");
/// assert_eq!(layout!(4 : 2@1@0).stride(), strided((int!(0), int!(1))));
/// ```
pub trait Path: Begin + Copy + Default + 'static {
    #[doc(hidden)]
    const PATH: ModePath;
    #[doc(hidden)]
    type Same<P: Path>: Bit;
    #[doc(hidden)]
    type SameOne<I: Nat>: Bit;
    #[doc(hidden)]
    type SameTwo<I: Nat, J: Nat>: Bit;
    #[doc(hidden)]
    type SameThree<I: Nat, J: Nat, K: Nat>: Bit;
}

/// A path that one more mode can be appended to.
#[doc(hidden)]
pub trait Begin {
    type Then<I: Nat>: Path;
}

/// The path of no modes, which is the beginning of all paths.
#[doc(hidden)]
pub struct Root;

impl Begin for Root {
    type Then<I: Nat> = I;
}

impl<I: Nat> Begin for I {
    type Then<J: Nat> = (I, J);
}

impl<I: Nat, J: Nat> Begin for (I, J) {
    type Then<K: Nat> = (I, J, K);
}

// This result is never used: the run-time layer refuses a fourth mode first.
impl<I: Nat, J: Nat, K: Nat> Begin for (I, J, K) {
    type Then<L: Nat> = Self;
}

type Equal<I, J> = <<I as Nat>::Versus<J> as Order>::IsEqual;
type And<A, B> = <A as Bit>::And<B>;

impl<I: Nat> Path for I {
    const PATH: ModePath = path(&[I::N as usize]);
    type Same<P: Path> = P::SameOne<I>;
    type SameOne<I0: Nat> = Equal<I, I0>;
    type SameTwo<I0: Nat, J0: Nat> = B0;
    type SameThree<I0: Nat, J0: Nat, K0: Nat> = B0;
}

impl<I: Nat, J: Nat> Path for (I, J) {
    const PATH: ModePath = path(&[I::N as usize, J::N as usize]);
    type Same<P: Path> = P::SameTwo<I, J>;
    type SameOne<I0: Nat> = B0;
    type SameTwo<I0: Nat, J0: Nat> = And<Equal<I, I0>, Equal<J, J0>>;
    type SameThree<I0: Nat, J0: Nat, K0: Nat> = B0;
}

impl<I: Nat, J: Nat, K: Nat> Path for (I, J, K) {
    const PATH: ModePath = path(&[I::N as usize, J::N as usize, K::N as usize]);
    type Same<P: Path> = P::SameThree<I, J, K>;
    type SameOne<I0: Nat> = B0;
    type SameTwo<I0: Nat, J0: Nat> = B0;
    type SameThree<I0: Nat, J0: Nat, K0: Nat> = And<And<Equal<I, I0>, Equal<J, J0>>, Equal<K, K0>>;
}

const fn path(modes: &[usize]) -> ModePath {
    match ModePath::new(modes) {
        Ok(path) => path,
        Err(_) => panic!("a basis vector goes along a mode below 32"),
    }
}

impl<D: Int, P: Path> Basis<D, P> {
    /// `scale` steps along the entry `path` of a coordinate.
    ///
    /// ```
    /// use girih_typed::{Basis, int};
    /// assert_eq!(Basis::new(5usize, int!(1)).scale(), 5);
    /// ```
    pub fn new(scale: D, path: P) -> Basis<D, P> {
        let _ = path;
        Basis(scale, PhantomData)
    }

    /// The number of steps.
    ///
    /// ```
    /// use girih_typed::{E, Int};
    /// assert_eq!(E::<2>::default().scale().get(), 1);
    /// ```
    pub fn scale(self) -> D {
        self.0
    }
}

impl<D: Int, P: Path> fmt::Debug for Basis<D, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#}", self.erase_stride())
    }
}

// The results of operations that make no sense for a basis vector are never used: the run-time layer refuses these
// operations first.
impl<D: Int, P: Path> Int for Basis<D, P> {
    const KNOWN: Option<i64> = D::KNOWN;
    const SIGNED: bool = D::SIGNED;
    const STRIDE: Stride = Stride::Basis { scale: super::int::skeleton(D::KNOWN), mode: P::PATH };
    const BASIS: bool = true;
    type Mul<R: Int> = Basis<D::Mul<R>, P>;
    type Add<R: Int> = Self;
    type CDiv<R: Int> = Self;
    type Min<R: Int> = Self;
    type Same<R: Int> = R::SameBasis<D, P>;
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
        Stride::Basis { scale: self.0.erase(), mode: P::PATH }
    }

    fn from_stride(stride: Stride) -> Option<Self> {
        match stride {
            Stride::Basis { scale, mode } if mode == P::PATH => Self::from_value(scale.get()?),
            _ => None,
        }
    }

    #[inline(always)]
    fn along(self, axis: usize) -> i64 {
        if matches!(P::PATH.only(), Some(mode) if mode == axis) { self.0.get() } else { 0 }
    }

    type MulNat<L: Nat> = Basis<D::MulNat<L>, P>;
    type MulNeg<L: Nat> = Basis<D::MulNeg<L>, P>;
    type MulUsize = Basis<D::MulUsize, P>;
    type MulI64 = Basis<D::MulI64, P>;
    type AddNat<L: Nat> = L;
    type CDivNat<L: Nat> = L;
    type MinNat<L: Nat> = L;
    type SameNat<L: Nat> = B0;
    type SameNeg<L: Nat> = B0;
    type SameBasis<D0: Int, P0: Path> = And<D0::Same<D>, P0::Same<P>>;
    type LessNat<L: Nat> = B1;
    type LessNeg<L: Nat> = B1;
    type DividesNat<L: Nat> = B0;
    type GcdNat<L: Nat> = L;
    type IsNegative = B0;
}

/// The leaves of modes, each of which goes along the basis vector of its place.
#[doc(hidden)]
pub trait Places {
    /// The leaves of the modes from mode `I` on, of the tuple at `P`, in front of `L`.
    type Placed<P: Begin, I: Nat, L: List>: List;
}

impl Places for NoModes {
    type Placed<P: Begin, I: Nat, L: List> = L;
}

impl<M: Modes, T: ModeList> Places for OneMode<M, T> {
    type Placed<P: Begin, I: Nat, L: List> = M::Placed<P::Then<I>, T::Placed<P, I::Succ, L>>;
}
