//! Arithmetic on static integers: total functions from types to types.
//!
//! These functions use typenum's types, but not its operator traits, which need a where clause for every use and take
//! several times longer to check.

use typenum::{B0, B1, UInt, UTerm};

use super::int::Int;
use super::{coalesce, complement, composition, divide, edit, inverse, recast, share};

/// A bit, and a decision: only the branch that is taken is ever expanded.
#[doc(hidden)]
pub trait Bit:
    Copy
    + Default
    + 'static
    + coalesce::Decide
    + composition::Decide
    + complement::Decide
    + inverse::Decide
    + divide::Decide
    + edit::Decide
    + recast::Decide
    + share::Decide
{
    const ON: bool;
    /// 2n + self
    type Onto<N: Nat>: Nat;
    /// 2n + self + low bit of the left operand, for the sum of halves n
    type PlusEven<N: Nat>: Nat;
    type PlusOdd<N: Nat>: Nat;
    /// 2n + (left bit) - self, for the difference of halves n
    type MinusEven<N: Nat>: Nat;
    type MinusOdd<N: Nat>: Nat;
    type Versus<R: Bit>: Order;
    type VersusOn: Order;
    type VersusOff: Order;
    /// n or n + 1
    type RoundUp<N: Nat>: Nat;
    type Not: Bit;
    type And<R: Bit>: Bit;
    type Or<R: Bit>: Bit;
    /// The greatest common divisor of A and B; the bit says whether B is not 0.
    type Gcd<A: Nat, B: Nat>: Nat;
    type Pick<A: Int, B: Int>: Int;
}

impl Bit for B0 {
    const ON: bool = false;
    type Onto<N: Nat> = N::Double;
    type PlusEven<N: Nat> = N::Double;
    type PlusOdd<N: Nat> = UInt<N, B1>;
    type MinusEven<N: Nat> = N::Double;
    type MinusOdd<N: Nat> = UInt<N, B1>;
    type Versus<R: Bit> = R::VersusOff;
    type VersusOn = Greater;
    type VersusOff = Equal;
    type RoundUp<N: Nat> = N;
    type Not = B1;
    type And<R: Bit> = B0;
    type Or<R: Bit> = R;
    type Gcd<A: Nat, B: Nat> = A;
    type Pick<A: Int, B: Int> = B;
}

impl Bit for B1 {
    const ON: bool = true;
    type Onto<N: Nat> = UInt<N, B1>;
    type PlusEven<N: Nat> = UInt<N, B1>;
    type PlusOdd<N: Nat> = UInt<N::Succ, B0>;
    type MinusEven<N: Nat> = <N::Double as Nat>::Before;
    type MinusOdd<N: Nat> = N::Double;
    type Versus<R: Bit> = R::VersusOn;
    type VersusOn = Equal;
    type VersusOff = Less;
    type RoundUp<N: Nat> = N::Succ;
    type Not = B0;
    type And<R: Bit> = R;
    type Or<R: Bit> = B1;
    type Gcd<A: Nat, B: Nat> = Gcd<B, <B::Dividing<A> as Division>::Remainder>;
    type Pick<A: Int, B: Int> = A;
}

/// Less, equal or greater.
#[doc(hidden)]
pub trait Order {
    type IsLess: Bit;
    type IsEqual: Bit;
    type Then<L: Bit, R: Bit>: Order;
    type Min<L: Nat, R: Nat>: Nat;
    /// One step of a long division: quotient and remainder so far, against the divisor.
    type Digit<Q: Nat, R: Nat, D: Nat>: Division;
}

#[doc(hidden)]
pub struct Less;
#[doc(hidden)]
pub struct Equal;
#[doc(hidden)]
pub struct Greater;

impl Order for Less {
    type IsLess = B1;
    type IsEqual = B0;
    type Then<L: Bit, R: Bit> = Less;
    type Min<L: Nat, R: Nat> = L;
    type Digit<Q: Nat, R: Nat, D: Nat> = Divided<Q::Double, R>;
}

impl Order for Equal {
    type IsLess = B0;
    type IsEqual = B1;
    type Then<L: Bit, R: Bit> = L::Versus<R>;
    type Min<L: Nat, R: Nat> = L;
    type Digit<Q: Nat, R: Nat, D: Nat> = Divided<UInt<Q, B1>, UTerm>;
}

impl Order for Greater {
    type IsLess = B0;
    type IsEqual = B0;
    type Then<L: Bit, R: Bit> = Greater;
    type Min<L: Nat, R: Nat> = R;
    type Digit<Q: Nat, R: Nat, D: Nat> = Divided<UInt<Q, B1>, R::Minus<D>>;
}

/// A quotient and its remainder.
#[doc(hidden)]
pub trait Division {
    type Quotient: Nat;
    type Remainder: Nat;
    /// The division of 2n + b by 2d, if this is the division of n by d.
    type Shift<B: Bit>: Division;
    /// The division of 2n + b by d, if this is the division of n by d.
    type Next<B: Bit, D: Nat>: Division;
}

#[doc(hidden)]
pub struct Divided<Q, R>(core::marker::PhantomData<(Q, R)>);

impl<Q: Nat, R: Nat> Division for Divided<Q, R> {
    type Quotient = Q;
    type Remainder = R;
    type Shift<B: Bit> = Divided<Q, B::Onto<R>>;
    type Next<B: Bit, D: Nat> = <<B::Onto<R> as Nat>::Versus<D> as Order>::Digit<Q, B::Onto<R>, D>;
}

/// A static integer of at least 0: typenum's `UTerm` and `UInt`.
///
/// What `template <int N>` is in C++, `N: Nat` is here: a function whose types contain a number that the caller chooses
/// is generic over `N: Nat`. The caller gives `int!(2)` as a value or [`S<2>`](super::S) as a type, and `N::N` is the
/// number. (`const N: usize` can't be computed with in types.)
///
/// ```
/// use girih_typed::{Layout, Left, Nat, S};
/// // template <int M, int N> auto tile() { return make_layout(Shape<Int<M>, Int<N>>{}); }
/// fn tile<M: Nat, N: Nat>() -> Layout<Left<(M, N)>> {
///     Layout::left((M::default(), N::default()))
/// }
/// assert_eq!(tile::<S<4>, S<8>>().to_string(), "(4,8):(1,4)");
/// assert_eq!(<S<8> as Nat>::N, 8);
/// ```
///
/// ```
/// use girih_typed::{Downcast, Layout, Modes, Nat, int, layout};
/// fn halves<M: Modes, N: Nat>(l: Layout<M>, n: N) -> Layout<Downcast<M, N>> {
///     l.downcast(n)
/// }
/// assert_eq!(halves(layout!(4 : 1), int!(2)), layout!(8 : 1));
/// ```
pub trait Nat: Int + Default {
    /// The number.
    const N: u64;
    #[doc(hidden)]
    type Half: Nat;
    #[doc(hidden)]
    type Low: Bit;
    #[doc(hidden)]
    type Positive: Bit;
    #[doc(hidden)]
    type Double: Nat;
    #[doc(hidden)]
    type Succ: Nat;
    /// The number less 1; 0 for 0.
    #[doc(hidden)]
    type Before: Nat;
    #[doc(hidden)]
    type Plus<R: Nat>: Nat;
    /// The difference to a number that is not greater.
    #[doc(hidden)]
    type Minus<R: Nat>: Nat;
    #[doc(hidden)]
    type Times<R: Nat>: Nat;
    #[doc(hidden)]
    type Versus<R: Nat>: Order;
    #[doc(hidden)]
    type ZeroVersus: Order;
    /// `N` divided by this number.
    #[doc(hidden)]
    type Dividing<N: Nat>: Division;
    /// `N` divided by twice this number plus one.
    #[doc(hidden)]
    type OddDividing<N: Nat>: Division;
    /// This number divided by `D`, digit by digit.
    #[doc(hidden)]
    type Long<D: Nat>: Division;
    /// The negation of this number, where it is not 0.
    #[doc(hidden)]
    type Negative: Int;
    /// How many binary digits the number has.
    #[doc(hidden)]
    type Digits: Nat;
}

impl Nat for UTerm {
    const N: u64 = 0;
    type Half = UTerm;
    type Low = B0;
    type Positive = B0;
    type Double = UTerm;
    type Succ = UInt<UTerm, B1>;
    type Before = UTerm;
    type Plus<R: Nat> = R;
    type Minus<R: Nat> = UTerm;
    type Times<R: Nat> = UTerm;
    type Versus<R: Nat> = R::ZeroVersus;
    type ZeroVersus = Equal;
    type Dividing<N: Nat> = Divided<UTerm, N>;
    type OddDividing<N: Nat> = Divided<N, UTerm>;
    type Long<D: Nat> = Divided<UTerm, UTerm>;
    type Negative = UTerm;
    type Digits = UTerm;
}

macro_rules! nat {
    ($bit:ty, $n:expr, $plus:ident, $minus:ident, succ = $succ:ty, before = $before:ty, times<$r:ident> = $times:ty, dividing<$d:ident> = $dividing:ty) => {
        impl<U: Nat> Nat for UInt<U, $bit> {
            const N: u64 = match U::N.checked_mul(2) {
                Some(n) => n + $n,
                None => panic!("a static integer does not fit in 64 bits"),
            };
            type Half = U;
            type Low = $bit;
            type Positive = B1;
            type Double = UInt<Self, B0>;
            type Succ = $succ;
            type Before = $before;
            type Plus<R: Nat> = <R::Low as Bit>::$plus<U::Plus<R::Half>>;
            type Minus<R: Nat> = <R::Low as Bit>::$minus<U::Minus<R::Half>>;
            type Times<$r: Nat> = $times;
            type Versus<R: Nat> = <U::Versus<R::Half> as Order>::Then<$bit, R::Low>;
            type ZeroVersus = Less;
            type Dividing<$d: Nat> = $dividing;
            type OddDividing<N: Nat> = N::Long<UInt<Self, B1>>;
            type Long<D: Nat> = <U::Long<D> as Division>::Next<$bit, D>;
            type Negative = super::Neg<Self>;
            type Digits = <U::Digits as Nat>::Succ;
        }
    };
}

nat!(B0, 0, PlusEven, MinusEven,
    succ = UInt<U, B1>, before = UInt<U::Before, B1>,
    times<R> = <U::Times<R> as Nat>::Double,
    dividing<N> = <U::Dividing<N::Half> as Division>::Shift<N::Low>);
nat!(B1, 1, PlusOdd, MinusOdd,
    succ = UInt<U::Succ, B0>, before = U::Double,
    times<R> = <<U::Times<R> as Nat>::Double as Nat>::Plus<R>,
    dividing<N> = U::OddDividing<N>);

/// The greatest common divisor.
pub(super) type Gcd<A, B> = <<B as Nat>::Positive as Bit>::Gcd<A, B>;

/// `ceil(L/R)`, 0 where `R` is 0.
pub(super) type CeilQuotient<L, R> =
    <<<<R as Nat>::Dividing<L> as Division>::Remainder as Nat>::Positive as Bit>::RoundUp<
        <<R as Nat>::Dividing<L> as Division>::Quotient,
    >;
