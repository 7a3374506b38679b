//! Comparisons: of tiles, tiles of truth values; of anything else, Rust's own.

use super::{Item, apply};
use crate::dtype::Const;
use crate::elem::{Elem, Loose, Promote};
use crate::handle::Tile;
use crate::ir::table::Each;
use crate::ops::Mode;

#[track_caller]
fn tiles(op: Each, a: Item, b: Item) -> Tile<bool> {
    Tile::of(apply(op.row().name, &[a, b], |build, args| build.each(op, args, Mode::default())))
}

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

        impl<A: Promote<B>, B: Elem> $name<Tile<B>> for Tile<A> {
            type Out = Tile<bool>;
            #[track_caller]
            fn compare(&self, r: &Tile<B>) -> Tile<bool> {
                tiles(Each::$op, Item::Tile(self.raw()), Item::Tile(r.raw()))
            }
        }

        impl<A: Loose<i64>> $name<i64> for Tile<A> {
            type Out = Tile<bool>;
            #[track_caller]
            fn compare(&self, r: &i64) -> Tile<bool> {
                tiles(Each::$op, Item::Tile(self.raw()), Item::Loose(Const::Int((*r).into())))
            }
        }

        impl<A: Loose<f64>> $name<f64> for Tile<A> {
            type Out = Tile<bool>;
            #[track_caller]
            fn compare(&self, r: &f64) -> Tile<bool> {
                tiles(Each::$op, Item::Tile(self.raw()), Item::Loose(Const::Float(*r)))
            }
        }

        impl<A: Loose<i64>> $name<Tile<A>> for i64 {
            type Out = Tile<bool>;
            #[track_caller]
            fn compare(&self, r: &Tile<A>) -> Tile<bool> {
                tiles(Each::$op, Item::Loose(Const::Int((*self).into())), Item::Tile(r.raw()))
            }
        }

        impl<A: Loose<f64>> $name<Tile<A>> for f64 {
            type Out = Tile<bool>;
            #[track_caller]
            fn compare(&self, r: &Tile<A>) -> Tile<bool> {
                tiles(Each::$op, Item::Loose(Const::Float(*self)), Item::Tile(r.raw()))
            }
        }

        #[doc = concat!("`a ", $symbol, " b`.")]
        #[track_caller]
        pub fn $method<A: ?Sized + $name<B>, B: ?Sized>(a: &A, b: &B) -> A::Out {
            a.compare(b)
        }
    )* };
}
compare! {
    Lt lt Less PartialOrd "<" "no `<` of `{Self}` and `{R}`";
    Le le LessEqual PartialOrd "<=" "no `<=` of `{Self}` and `{R}`";
    Gt gt Greater PartialOrd ">" "no `>` of `{Self}` and `{R}`";
    Ge ge GreaterEqual PartialOrd ">=" "no `>=` of `{Self}` and `{R}`";
    Eq eq Equal PartialEq "==" "no `==` of `{Self}` and `{R}`";
    Ne ne NotEqual PartialEq "!=" "no `!=` of `{Self}` and `{R}`";
}
