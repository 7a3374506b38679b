//! Static integers from constants, byte by byte: a constant can't be taken apart into types otherwise, and every further digit costs the
//! compiler a constant of its own.

use typenum::{B0, B1, UTerm};

use super::nat::{Bit, Nat};

/// The static integer with these bytes, the lowest first.
#[doc(hidden)]
pub type FromBytes<const A: u8, const B: u8, const C: u8, const D: u8> =
    Onto<A, Onto<B, Onto<C, Onto<D, UTerm>>>>;

type Onto<const B: u8, N> = <Byte<B> as Digit>::Onto<N>;

/// Byte `k` of `n`.
#[doc(hidden)]
pub const fn byte(n: u64, k: u32) -> u8 {
    assert!(n < 1 << 32, "int! takes numbers below 2^32");
    (n >> (8 * k)) as u8
}

#[doc(hidden)]
pub struct Byte<const B: u8>;

#[doc(hidden)]
pub trait Digit {
    /// 256n + self
    type Onto<N: Nat>: Nat;
}

type Four<A, B, C, D, N> = <D as Bit>::Onto<<C as Bit>::Onto<<B as Bit>::Onto<<A as Bit>::Onto<N>>>>;

macro_rules! bytes {
    (@row ($h:literal $a:ident $b:ident $c:ident $d:ident) $(($l:literal $e:ident $f:ident $g:ident $i:ident))*) => {$(
        impl Digit for Byte<{ 16 * $h + $l }> {
            type Onto<N: Nat> = Four<$e, $f, $g, $i, Four<$a, $b, $c, $d, N>>;
        }
    )*};
    // Every high digit with every low digit.
    ($($high:tt)*) => { $(bytes!(@row $high
        (0 B0 B0 B0 B0) (1 B0 B0 B0 B1) (2 B0 B0 B1 B0) (3 B0 B0 B1 B1) (4 B0 B1 B0 B0) (5 B0 B1 B0 B1) (6 B0 B1 B1 B0) (7 B0 B1 B1 B1)
        (8 B1 B0 B0 B0) (9 B1 B0 B0 B1) (10 B1 B0 B1 B0) (11 B1 B0 B1 B1) (12 B1 B1 B0 B0) (13 B1 B1 B0 B1) (14 B1 B1 B1 B0) (15 B1 B1 B1 B1)
    );)* };
}

bytes! {
    (0 B0 B0 B0 B0) (1 B0 B0 B0 B1) (2 B0 B0 B1 B0) (3 B0 B0 B1 B1) (4 B0 B1 B0 B0) (5 B0 B1 B0 B1) (6 B0 B1 B1 B0) (7 B0 B1 B1 B1)
    (8 B1 B0 B0 B0) (9 B1 B0 B0 B1) (10 B1 B0 B1 B0) (11 B1 B0 B1 B1) (12 B1 B1 B0 B0) (13 B1 B1 B0 B1) (14 B1 B1 B1 B0) (15 B1 B1 B1 B1)
}
