//! Operands of functions: tiles, and constants that take a tile's dtype.

use super::Tile;
use crate::dtype::Const;
use crate::elem::{Elem, Loose, Promote};
use crate::stage::Item;

/// A tile, or a constant: an `i64` or an `f64`, which take the dtype of the other operand.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no operand of tile functions",
    note = "tiles, integer constants (`i64`) and float constants (`f64`) are; `strict(x)` is a tile of x's own type"
)]
pub trait IntoItem: Copy {
    #[doc(hidden)]
    fn item(self) -> Item;
}

impl<T> IntoItem for Tile<T> {
    fn item(self) -> Item {
        Item::Tile(self.raw())
    }
}

impl IntoItem for i64 {
    fn item(self) -> Item {
        Item::Loose(Const::Int(self.into()))
    }
}

impl IntoItem for f64 {
    fn item(self) -> Item {
        Item::Loose(Const::Float(self))
    }
}

/// Operands with a common type.
#[diagnostic::on_unimplemented(
    message = "no common type of `{Self}` and `{B}`",
    label = "these operands do not mix",
    note = "integers of mixed sign, f16 with bf16, and restricted floats with others have no common type: cast one by `.to::<T>()`"
)]
pub trait Pair<B>: IntoItem {
    /// The common type.
    type Out: Elem;
}

impl<A: Promote<B>, B: Elem> Pair<Tile<B>> for Tile<A> {
    type Out = A::Out;
}

macro_rules! loose {
    ($($constant:ty),*) => { $(
        impl<A: Loose<$constant>> Pair<$constant> for Tile<A> {
            type Out = <A as Loose<$constant>>::Out;
        }
        impl<A: Loose<$constant>> Pair<Tile<A>> for $constant {
            type Out = <A as Loose<$constant>>::Out;
        }
    )* };
}
loose!(i64, f64);

/// Constants alone have the dtypes that they have alone.
macro_rules! alone {
    ($($a:ty, $b:ty => $out:ty;)*) => { $(
        impl Pair<$b> for $a {
            type Out = $out;
        }
    )* };
}
alone! {
    i64, i64 => i32;
    i64, f64 => f32;
    f64, i64 => f32;
    f64, f64 => f32;
}
