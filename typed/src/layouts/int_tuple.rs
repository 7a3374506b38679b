//! Trees of integers: shapes, orders, profiles.

use super::int::{Int, S};
use super::modes::{Mode, Modes};

/// A tree of integers: an [`Int`], or a tuple of trees, up to 12.
///
/// ```
/// use girih_typed::{Layout, int};
/// assert_eq!(Layout::left((int!(4), (int!(2), int!(3)))).to_string(), "(4,(2,3)):(1,(4,8))");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no tree of integers",
    note = "a tree of integers is `int!(8)`, a `usize`, or a tuple of up to 12 such trees"
)]
///
/// ```
/// use girih_typed::{IntTuple, Layout, Left, int, layout};
/// fn compact<Sh: IntTuple>(shape: Sh) -> Layout<Left<Sh>> {
///     Layout::left(shape)
/// }
/// assert_eq!(compact((int!(4), int!(8))), layout!((4, 8) : (1, 4)));
/// ```
pub trait IntTuple: Copy + Default + 'static {
    /// The layout of this shape in which every stride is 0.
    #[doc(hidden)]
    type Zeros: Modes;
    #[doc(hidden)]
    fn zeros(self) -> Self::Zeros;
}

impl<N: Int> IntTuple for N {
    type Zeros = Mode<N, S<0>>;
    fn zeros(self) -> Self::Zeros {
        Mode(self, S::<0>::new())
    }
}

impl IntTuple for () {
    type Zeros = ();
    fn zeros(self) {}
}

macro_rules! tuples {
    ($(($($t:ident.$i:tt)+))*) => {$(
        impl<$($t: IntTuple),+> IntTuple for ($($t,)+) {
            type Zeros = ($($t::Zeros,)+);
            fn zeros(self) -> Self::Zeros {
                ($(self.$i.zeros(),)+)
            }
        }
    )*};
}

tuples! {
    (A.0)
    (A.0 B.1)
    (A.0 B.1 C.2)
    (A.0 B.1 C.2 D.3)
    (A.0 B.1 C.2 D.3 E.4)
    (A.0 B.1 C.2 D.3 E.4 F.5)
    (A.0 B.1 C.2 D.3 E.4 F.5 G.6)
    (A.0 B.1 C.2 D.3 E.4 F.5 G.6 H.7)
    (A.0 B.1 C.2 D.3 E.4 F.5 G.6 H.7 I.8)
    (A.0 B.1 C.2 D.3 E.4 F.5 G.6 H.7 I.8 J.9)
    (A.0 B.1 C.2 D.3 E.4 F.5 G.6 H.7 I.8 J.9 K.10)
    (A.0 B.1 C.2 D.3 E.4 F.5 G.6 H.7 I.8 J.9 K.10 L.11)
}
