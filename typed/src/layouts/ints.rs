//! The integers of layouts: the static numbers from 0 up, their negations, and the dynamic integers.

use typenum::{B0, B1, UInt, UTerm};

use super::basis::Path;
use super::int::{Int, Neg, S};
use super::nat::{Bit, CeilQuotient, Gcd, Nat, Order};
use super::storage::{Even, Nothing, Odd};

/// A static number as `i64`; a number that does not fit does not compile.
const fn signed(n: u64) -> i64 {
    assert!(n <= i64::MAX as u64, "a static integer does not fit in 63 bits");
    n as i64
}

impl Int for UTerm {
    const KNOWN: Option<i64> = Some(0);
    type Mul<R: Int> = UTerm;
    type Add<R: Int> = R;
    type CDiv<R: Int> = UTerm;
    type Min<R: Int> = UTerm;
    type Same<R: Int> = R::IsZero;
    type Less<R: Int> = R::LessNat<UTerm>;
    type Divides<R: Int> = B0;
    type Pred = UTerm;
    type IsOne = B0;
    type IsZero = B1;
    type Array<T: Copy> = Nothing<T>;
    #[inline]
    fn get(self) -> i64 {
        0
    }
    #[inline]
    fn from_value(value: i64) -> Option<UTerm> {
        (value == 0).then_some(UTerm)
    }
    type MulNat<L: Nat> = UTerm;
    type MulNeg<L: Nat> = UTerm;
    type MulUsize = UTerm;
    type MulI64 = UTerm;
    type AddNat<L: Nat> = L;
    type CDivNat<L: Nat> = UTerm;
    type MinNat<L: Nat> = UTerm;
    type SameNat<L: Nat> = B0;
    type SameNeg<L: Nat> = B0;
    type SameBasis<D: Int, P: Path> = B0;
    type LessNat<L: Nat> = B0;
    type LessNeg<L: Nat> = B1;
    type DividesNat<L: Nat> = B1;
    type Gcd<R: Int> = R::GcdNat<UTerm>;
    type Upcast<N: Nat> = UTerm;
    type InUnit<N: Nat> = S<1>;
    type GcdNat<L: Nat> = L;
    type IsNegative = B0;
}

macro_rules! positive {
    ($bit:ty, $is_one:ty, $storage:ident) => {
        impl<U: Nat> Int for UInt<U, $bit> {
            const KNOWN: Option<i64> = Some(signed(<Self as Nat>::N));
            type Mul<R: Int> = R::MulNat<Self>;
            type Add<R: Int> = R::AddNat<Self>;
            type CDiv<R: Int> = R::CDivNat<Self>;
            type Min<R: Int> = R::MinNat<Self>;
            type Same<R: Int> = R::SameNat<Self>;
            type Less<R: Int> = R::LessNat<Self>;
            type Divides<R: Int> = R::DividesNat<Self>;
            type Pred = <Self as Nat>::Before;
            type IsOne = $is_one;
            type IsZero = B0;
            type Array<T: Copy> = $storage<T, U::Array<T>>;
            #[inline]
            fn get(self) -> i64 {
                const { signed(<Self as Nat>::N) }
            }
            #[inline]
            fn from_value(value: i64) -> Option<Self> {
                (value == const { signed(<Self as Nat>::N) }).then(Self::default)
            }
            type MulNat<L: Nat> = L::Times<Self>;
            type MulNeg<L: Nat> = Neg<L::Times<Self>>;
            type MulUsize = usize;
            type MulI64 = i64;
            type AddNat<L: Nat> = L::Plus<Self>;
            type CDivNat<L: Nat> = CeilQuotient<L, Self>;
            type MinNat<L: Nat> = <L::Versus<Self> as Order>::Min<L, Self>;
            type SameNat<L: Nat> = <L::Versus<Self> as Order>::IsEqual;
            type SameNeg<L: Nat> = B0;
            type SameBasis<D: Int, P: Path> = B0;
            type LessNat<L: Nat> = <L::Versus<Self> as Order>::IsLess;
            type LessNeg<L: Nat> = B1;
            type DividesNat<L: Nat> =
                <<<L::Dividing<Self> as super::nat::Division>::Remainder as Nat>::Positive as Bit>::Not;
            type Gcd<R: Int> = R::GcdNat<Self>;
            type Upcast<N: Nat> = <N::Divides<Self> as Bit>::Pick<CeilQuotient<Self, N>, S<1>>;
            type InUnit<N: Nat> = CeilQuotient<N, Self>;
            type GcdNat<L: Nat> = Gcd<L, Self>;
            type IsNegative = B0;
        }
    };
}
positive!(B0, B0, Even);
positive!(B1, <U::Positive as Bit>::Not, Odd);

impl<N: Nat> Int for Neg<N> {
    const KNOWN: Option<i64> = Some(-signed(N::N));
    const SIGNED: bool = true;
    type Mul<R: Int> = R::MulNeg<N>;
    type Add<R: Int> = R;
    type CDiv<R: Int> = UTerm;
    type Min<R: Int> = Self;
    type Same<R: Int> = R::SameNeg<N>;
    type Less<R: Int> = R::LessNeg<N>;
    type Divides<R: Int> = B0;
    type Pred = Self;
    type IsOne = B0;
    type IsZero = B0;
    type Array<T: Copy> = Nothing<T>;
    #[inline]
    fn get(self) -> i64 {
        const { -signed(N::N) }
    }
    #[inline]
    fn from_value(value: i64) -> Option<Self> {
        (value == const { -signed(N::N) }).then(Self::default)
    }
    type MulNat<L: Nat> = Neg<L::Times<N>>;
    type MulNeg<L: Nat> = L::Times<N>;
    type MulUsize = i64;
    type MulI64 = i64;
    type AddNat<L: Nat> = L;
    type CDivNat<L: Nat> = UTerm;
    type MinNat<L: Nat> = Self;
    type SameNat<L: Nat> = B0;
    type SameNeg<L: Nat> = <L::Versus<N> as Order>::IsEqual;
    type SameBasis<D: Int, P: Path> = B0;
    type LessNat<L: Nat> = B0;
    type LessNeg<L: Nat> = <N::Versus<L> as Order>::IsLess;
    type DividesNat<L: Nat> = N::DividesNat<L>;
    type Gcd<R: Int> = R::GcdNat<N>;
    type Upcast<K: Nat> = <K::Divides<N> as Bit>::Pick<<CeilQuotient<N, K> as Nat>::Negative, S<1>>;
    type InUnit<K: Nat> = CeilQuotient<K, N>;
    type GcdNat<L: Nat> = Gcd<L, N>;
    type IsNegative = B1;
}

macro_rules! dynamic {
    ($t:ty, mul<$r:ident> = $mul:ty, neg = $neg:ty, usize = $usize:ty) => {
        impl Int for $t {
            const KNOWN: Option<i64> = None;
            const SIGNED: bool = <$t>::MIN != 0;
            type Mul<$r: Int> = $mul;
            type Add<R: Int> = $t;
            type CDiv<R: Int> = usize;
            type Min<R: Int> = usize;
            type Same<R: Int> = B0;
            type Less<R: Int> = B0;
            type Divides<R: Int> = B0;
            type Pred = $t;
            type IsOne = B0;
            type IsZero = B0;
            type Array<T: Copy> = Nothing<T>;
            #[inline]
            fn get(self) -> i64 {
                self.try_into().unwrap_or(i64::MAX)
            }
            #[inline]
            fn from_value(value: i64) -> Option<$t> {
                value.try_into().ok()
            }
            type MulNat<L: Nat> = $t;
            type MulNeg<L: Nat> = $neg;
            type MulUsize = $usize;
            type MulI64 = i64;
            type AddNat<L: Nat> = $t;
            type CDivNat<L: Nat> = usize;
            type MinNat<L: Nat> = <L::IsOne as Bit>::Pick<L, usize>;
            type SameNat<L: Nat> = B0;
            type SameNeg<L: Nat> = B0;
            type SameBasis<D: Int, P: Path> = B0;
            type LessNat<L: Nat> = B1;
            type LessNeg<L: Nat> = B1;
            type DividesNat<L: Nat> = B0;
            type Gcd<R: Int> = usize;
            type Upcast<N: Nat> = $t;
            type InUnit<N: Nat> = S<1>;
            type GcdNat<L: Nat> = usize;
            type IsNegative = B0;
        }
    };
}
dynamic!(usize, mul<R> = R::MulUsize, neg = i64, usize = usize);
dynamic!(i64, mul<R> = R::MulI64, neg = i64, usize = i64);
