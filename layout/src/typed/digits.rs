//! Static integers from constants, by hexadecimal digits: a constant can't be taken apart into types otherwise.

use typenum::{B0, B1, UTerm};

use super::nat::{Bit, Nat};

/// The static integer with these hexadecimal digits, the lowest first.
#[doc(hidden)]
#[rustfmt::skip]
pub type FromDigits<
    const A: u8, const B: u8, const C: u8, const D: u8, const E: u8, const F: u8, const G: u8, const H: u8,
> = Onto<A, Onto<B, Onto<C, Onto<D, Onto<E, Onto<F, Onto<G, Onto<H, UTerm>>>>>>>>;

type Onto<const D: u8, N> = <Digit<D> as Hex>::Onto<N>;

/// Digit `k` of `n`.
#[doc(hidden)]
pub const fn digit(n: u64, k: u32) -> u8 {
    assert!(n < 1 << 32, "int! takes numbers below 2^32");
    (n >> (4 * k)) as u8 & 15
}

#[doc(hidden)]
pub struct Digit<const D: u8>;

#[doc(hidden)]
pub trait Hex {
    /// 16n + self
    type Onto<N: Nat>: Nat;
}

macro_rules! digits {
    ($($d:literal $a:ident $b:ident $c:ident $e:ident,)*) => {$(
        impl Hex for Digit<$d> {
            type Onto<N: Nat> =
                <$e as Bit>::Onto<<$c as Bit>::Onto<<$b as Bit>::Onto<<$a as Bit>::Onto<N>>>>;
        }
    )*};
}

digits! {
    0 B0 B0 B0 B0,
    1 B0 B0 B0 B1,
    2 B0 B0 B1 B0,
    3 B0 B0 B1 B1,
    4 B0 B1 B0 B0,
    5 B0 B1 B0 B1,
    6 B0 B1 B1 B0,
    7 B0 B1 B1 B1,
    8 B1 B0 B0 B0,
    9 B1 B0 B0 B1,
    10 B1 B0 B1 B0,
    11 B1 B0 B1 B1,
    12 B1 B1 B0 B0,
    13 B1 B1 B0 B1,
    14 B1 B1 B1 B0,
    15 B1 B1 B1 B1,
}
