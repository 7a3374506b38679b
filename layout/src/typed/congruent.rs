//! A shape and a congruent tree of strides, as the modes of a layout.

use typenum::{B0, B1, UInt, UTerm};

use super::int::Int;
use super::modes::{Mode, Modes};
use super::nat::Nat;

/// A shape and the strides that go with it: what [`Layout::new`](super::Layout::new) takes.
#[diagnostic::on_unimplemented(
    message = "shape `{Self}` and stride `{D}` are not congruent",
    note = "every shape tuple needs a stride tuple of the same rank, every integer an integer"
)]
pub trait Congruent<D> {
    /// The modes of shape and stride.
    type Modes: Modes;
    #[doc(hidden)]
    fn modes(self, stride: D) -> Self::Modes;
}

// One impl a kind of extent: a blanket impl would make rustc complain that a tuple is no integer.
macro_rules! leaves {
    ($([$($g:tt)*] $t:ty;)*) => {$(
        impl<D: Int, $($g)*> Congruent<D> for $t {
            type Modes = Mode<$t, D>;
            fn modes(self, stride: D) -> Mode<$t, D> {
                Mode(self, stride)
            }
        }
    )*};
}

leaves! {
    [] usize;
    [] UTerm;
    [U: Nat] UInt<U, B0>;
    [U: Nat] UInt<U, B1>;
}

macro_rules! congruent {
    ($(($($s:ident $d:ident $i:tt)+))*) => {$(
        impl<$($d,)+ $($s: Congruent<$d>),+> Congruent<($($d,)+)> for ($($s,)+) {
            type Modes = ($($s::Modes,)+);
            fn modes(self, stride: ($($d,)+)) -> Self::Modes {
                ($(self.$i.modes(stride.$i),)+)
            }
        }
    )*};
}

congruent! {
    (A AA 0)
    (A AA 0 B BB 1)
    (A AA 0 B BB 1 C CC 2)
    (A AA 0 B BB 1 C CC 2 D DD 3)
    (A AA 0 B BB 1 C CC 2 D DD 3 E EE 4)
    (A AA 0 B BB 1 C CC 2 D DD 3 E EE 4 F FF 5)
    (A AA 0 B BB 1 C CC 2 D DD 3 E EE 4 F FF 5 G GG 6)
    (A AA 0 B BB 1 C CC 2 D DD 3 E EE 4 F FF 5 G GG 6 H HH 7)
    (A AA 0 B BB 1 C CC 2 D DD 3 E EE 4 F FF 5 G GG 6 H HH 7 I II 8)
    (A AA 0 B BB 1 C CC 2 D DD 3 E EE 4 F FF 5 G GG 6 H HH 7 I II 8 J JJ 9)
    (A AA 0 B BB 1 C CC 2 D DD 3 E EE 4 F FF 5 G GG 6 H HH 7 I II 8 J JJ 9 K KK 10)
    (A AA 0 B BB 1 C CC 2 D DD 3 E EE 4 F FF 5 G GG 6 H HH 7 I II 8 J JJ 9 K KK 10 L LL 11)
}
