//! Comparisons: of tiles they give tiles of bool, of other types they are Rust's own.

use super::each;
use crate::elem::{Elem, Loose, Promote};
use crate::handle::{IntoItem, Tile};
use crate::ir::table::Each;
use crate::ops::Mode;

macro_rules! compare {
    ($($name:ident $method:ident $op:ident $bound:ident $symbol:literal $message:literal;)*) => { $(
        #[doc = concat!("`a ", $symbol, " b`, which is a `bool` of what is known while building, and a tile of tiles.")]
        #[diagnostic::on_unimplemented(message = $message)]
        pub trait $name<R: ?Sized> {
            /// `bool` or a tile.
            type Out;
            /// The comparison.
            fn compare(&self, r: &R) -> Self::Out;
        }

        impl<A: ?Sized + $bound<B>, B: ?Sized> $name<B> for A {
            type Out = bool;
            fn compare(&self, r: &B) -> bool {
                $bound::$method(self, r)
            }
        }

        compare!(@ $name $op [A: Promote<B>, B: Elem] Tile<A>, Tile<B>);
        compare!(@ $name $op [A: Loose<i64>] Tile<A>, i64);
        compare!(@ $name $op [A: Loose<f64>] Tile<A>, f64);
        compare!(@ $name $op [A: Loose<i64>] i64, Tile<A>);
        compare!(@ $name $op [A: Loose<f64>] f64, Tile<A>);

        #[doc = concat!("`a ", $symbol, " b`.")]
        #[track_caller]
        pub fn $method<A: ?Sized + $name<B>, B: ?Sized>(a: &A, b: &B) -> A::Out {
            a.compare(b)
        }
    )* };
    (@ $name:ident $op:ident [$($of:tt)*] $a:ty, $b:ty) => {
        impl<$($of)*> $name<$b> for $a {
            type Out = Tile<bool>;
            #[track_caller]
            fn compare(&self, r: &$b) -> Tile<bool> {
                Tile::of(each(Each::$op, &[self.item(), r.item()], Mode::default()))
            }
        }
    };
}
compare! {
    Lt lt Less PartialOrd "<" "no `<` of `{Self}` and `{R}`";
    Le le LessEqual PartialOrd "<=" "no `<=` of `{Self}` and `{R}`";
    Gt gt Greater PartialOrd ">" "no `>` of `{Self}` and `{R}`";
    Ge ge GreaterEqual PartialOrd ">=" "no `>=` of `{Self}` and `{R}`";
    Eq eq Equal PartialEq "==" "no `==` of `{Self}` and `{R}`";
    Ne ne NotEqual PartialEq "!=" "no `!=` of `{Self}` and `{R}`";
}
