//! A shape and a congruent tree of strides, as the modes of a layout.

use typenum::{B0, B1, NInt, NonZero, PInt, UInt, UTerm, Unsigned, Z0};

use super::int::{Int, Neg};
use super::modes::{Mode, Modes};
use super::nat::Nat;

/// A shape that is congruent to the strides `D`: the two operands of [`Layout::new`](super::Layout::new).
#[diagnostic::on_unimplemented(
    message = "shape `{Self}` and stride `{D}` are not congruent",
    note = "every shape tuple needs a stride tuple of the same rank, every integer an integer; a tuple has up to 12 modes",
    note = "static integers are `int!(8)`, dynamic ones `usize`, or `i64` for strides that may be negative"
)]
///
/// ```
/// use girih_typed::{Congruent, Int, Layout, int, layout};
/// fn pair<Sh: Congruent<St>, St>(shape: Sh, stride: St) -> Layout<Sh::Modes> {
///     Layout::new(shape, stride)
/// }
/// assert_eq!(pair((int!(4), int!(8)), (int!(1), int!(4))), layout!((4, 8) : (1, 4)));
/// ```
pub trait Congruent<D> {
    /// The modes of shape and stride.
    type Modes: Modes;
    #[doc(hidden)]
    fn modes(self, stride: D) -> Self::Modes;
}

/// A type that may be written for the stride of a leaf: an [`Int`], or one of typenum's signed integers, `N1`, `P64`,
/// `Z0`.
///
/// The latter become [`Neg`] and the unsigned integers, so that equal layouts have one type. Typenum's signed integers
/// are not used further, since `NInt<N>` asks for a proof that `N` is not 0, which a product of generic integers
/// doesn't have.
///
/// ```
/// use girih_typed::{Layout, int, layout};
/// assert_eq!(Layout::new(int!(4), int!(-2)).at_signed(3usize), -6);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no stride",
    note = "static strides are `int!(8)`, `int!(-8)` or typenum's `N8`, dynamic ones `usize` or `i64`"
)]
pub trait Step {
    /// The integer that the written type stands for.
    type Int: Int;
    #[doc(hidden)]
    fn int(self) -> Self::Int;
}

impl<D: Int> Step for D {
    type Int = D;
    fn int(self) -> D {
        self
    }
}

impl<N: Nat + Unsigned + NonZero> Step for NInt<N> {
    type Int = Neg<N>;
    fn int(self) -> Neg<N> {
        Neg::default()
    }
}

impl<N: Nat + Unsigned + NonZero> Step for PInt<N> {
    type Int = N;
    fn int(self) -> N {
        N::default()
    }
}

impl Step for Z0 {
    type Int = UTerm;
    fn int(self) -> UTerm {
        UTerm
    }
}

// One impl for each kind of extent: a blanket impl would make rustc complain that a tuple is no integer.
macro_rules! leaves {
    ($([$($g:tt)*] $t:ty;)*) => {$(
        impl<D: Step, $($g)*> Congruent<D> for $t {
            type Modes = Mode<$t, D::Int>;
            fn modes(self, stride: D) -> Mode<$t, D::Int> {
                Mode(self, stride.int())
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
