//! Integers that are types, integers that are values, and one arithmetic for both.
//!
//! A result of static integers is static. A result of a dynamic integer is dynamic, except where the result is the same
//! whatever the integer's value: `0 * n` is static 0, `min(1, n)` of extents static 1.

use core::fmt;
use core::marker::PhantomData;

use super::basis::Path;
use super::nat::{Bit, Nat};
use super::storage::Storage;
use girih_layout::Stride;

/// An extent or a stride: a static integer (typenum's `U8`, [`Neg`] of one) or a dynamic one (`usize`, `i64`).
///
/// The associated types are the arithmetic: total functions, so generic code needs no where clauses.
///
/// ```
/// use girih_typed::{Int, S};
/// fn area<M: Int, N: Int>() -> Option<i64> {
///     <M::Mul<N> as Int>::KNOWN
/// }
/// assert_eq!(area::<S<8>, S<6>>(), Some(48));
/// assert_eq!(area::<S<8>, usize>(), None);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no integer of a layout",
    note = "static integers are `int!(8)`, dynamic ones `usize`, or `i64` for strides that may be negative"
)]
///
/// ```
/// use girih_typed::{Int, Layout, Mode, int, layout};
/// fn row<N: Int>(n: N) -> Layout<Mode<N, girih_typed::S<1>>> {
///     Layout(Mode(n, int!(1)))
/// }
/// assert_eq!(row(int!(8)), layout!(8 : 1));
/// assert_eq!(row(8usize).try_size(), Ok(8));
/// ```
pub trait Int: Copy + Default + fmt::Debug + 'static {
    /// The number, if it is static.
    const KNOWN: Option<i64>;
    /// Whether the integer is or may be negative.
    const SIGNED: bool = false;

    /// The product.
    type Mul<R: Int>: Int;
    /// The sum.
    type Add<R: Int>: Int;
    /// The quotient, rounded up, of extents and strides of at least 0.
    type CDiv<R: Int>: Int;
    /// The least of two extents.
    type Min<R: Int>: Int;
    /// Whether both are static and the same.
    type Same<R: Int>: Bit;
    /// Whether this integer comes first in a sort: it is known to be less, or it is static and the other integer is
    /// not.
    type Less<R: Int>: Bit;
    /// Whether both are static and this one divides the other.
    type Divides<R: Int>: Bit;
    /// The integer less 1.
    type Pred: Int;
    /// Whether the integer is static 1.
    type IsOne: Bit;
    /// Whether the integer is static 0.
    type IsZero: Bit;
    /// Storage for this number of `T`s, see [`Storage`]. The storage is empty for an integer that is not static.
    type Array<T: Copy>: Storage<T>;

    /// The number. A dynamic integer above `i64::MAX` counts as `i64::MAX`: no layout has such an index.
    fn get(self) -> i64;

    /// The integer of this type with the value, if there is one.
    fn from_value(value: i64) -> Option<Self>;

    /// The integer as a stride of a run-time layout, with 1 in the place of a dynamic integer.
    #[doc(hidden)]
    const STRIDE: Stride = Stride::Int(skeleton(Self::KNOWN));
    /// Whether the stride goes along a basis vector.
    #[doc(hidden)]
    const BASIS: bool = false;

    /// The integer as a stride of a run-time layout.
    #[doc(hidden)]
    fn erase_stride(self) -> Stride {
        Stride::Int(self.erase())
    }

    /// The stride of this type with the value, if there is one.
    #[doc(hidden)]
    fn from_stride(stride: Stride) -> Option<Self> {
        Self::from_value(stride.int()?.get()?)
    }

    /// How far the stride goes along entry `axis` of a coordinate, or for [`LINE`] in a line of indices.
    #[doc(hidden)]
    #[inline(always)]
    fn along(self, axis: usize) -> i64 {
        if axis == LINE { self.get() } else { 0 }
    }

    /// The run-time integer, with its static mark.
    fn erase(self) -> girih_layout::Int {
        match Self::KNOWN {
            Some(value) => girih_layout::Int::fixed(value),
            None => girih_layout::Int::value(self.get()),
        }
    }

    /// The greatest common divisor.
    #[doc(hidden)]
    type Gcd<R: Int>: Int;
    /// The stride in units of `N` elements, 1 where the stride is known to be no multiple of `N`.
    #[doc(hidden)]
    type Upcast<N: Nat>: Int;
    /// How many elements with this stride are in a unit of `N`, if that is known; at least 1.
    #[doc(hidden)]
    type InUnit<N: Nat>: Int;

    // The same operations as methods of the right-hand operand, each for one kind of left-hand operand.
    #[doc(hidden)]
    type MulNat<L: Nat>: Int;
    #[doc(hidden)]
    type MulNeg<L: Nat>: Int;
    #[doc(hidden)]
    type MulUsize: Int;
    #[doc(hidden)]
    type MulI64: Int;
    #[doc(hidden)]
    type AddNat<L: Nat>: Int;
    #[doc(hidden)]
    type CDivNat<L: Nat>: Int;
    #[doc(hidden)]
    type MinNat<L: Nat>: Int;
    #[doc(hidden)]
    type SameNat<L: Nat>: Bit;
    #[doc(hidden)]
    type SameNeg<L: Nat>: Bit;
    #[doc(hidden)]
    type SameBasis<D: Int, P: Path>: Bit;
    #[doc(hidden)]
    type LessNat<L: Nat>: Bit;
    #[doc(hidden)]
    type LessNeg<L: Nat>: Bit;
    #[doc(hidden)]
    type DividesNat<L: Nat>: Bit;
    #[doc(hidden)]
    type GcdNat<L: Nat>: Int;
    #[doc(hidden)]
    type IsNegative: Bit;
}

/// Takes the place of a coordinate's entry for the line of indices.
pub(super) const LINE: usize = usize::MAX;

/// The integer that stands for another one when the program is compiled: 1 for a dynamic integer.
pub(super) const fn skeleton(known: Option<i64>) -> girih_layout::Int {
    match known {
        Some(value) => girih_layout::Int::fixed(value),
        None => girih_layout::Int::value(1),
    }
}

/// The static integer `N`: `S<8>`. For numbers up to 1024 and powers of two and ten; [`int!`](macro@crate::int) has the
/// others.
///
/// ```
/// use girih_typed::{Int, S};
/// assert_eq!(S::<42>::KNOWN, Some(42));
/// ```
pub type S<const N: usize> = typenum::U<N>;

/// The static integer `-N`: `int!(-4)`. As a stride, typenum's `N4` may be written for it; the layout has `Neg` then.
///
/// ```
/// use girih_typed::{Layout, Lt, S, layout};
/// use typenum::{N1, P4};
/// let back: Lt<(S<4>, S<8>), (N1, P4)> = layout!((4, 8) : (-1, 4));
/// assert_eq!(Layout::new((S::<4>::new(), S::<8>::new()), (N1::new(), P4::new())), back);
/// assert_eq!(back.at_signed((3, 1)), 1);
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Neg<N>(PhantomData<N>);

impl<N: Nat> fmt::Debug for Neg<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "_-{}", N::N)
    }
}
