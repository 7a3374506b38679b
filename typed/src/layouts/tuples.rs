//! Tuples of modes, up to 12.

use girih_layout::Error;
use typenum::UTerm;

use super::basis::{Path, Places};
use super::list::{List, Nil};
use super::modes::{Modes, Tuple};
use super::repeat::Along;
use super::tiler::{ModeList, NoModes, OneMode};
use super::tree::Tree;

/// Stands for a tuple of more than 12 modes, which does not compile.
#[doc(hidden)]
#[derive(Clone, Copy, Default)]
pub struct RankAbove12;

impl Modes for RankAbove12 {
    const SKELETON: Tree = panic!("a typed tuple of rank above 12; use the run-time layout, `Lay`");
    const STATIC: bool = true;
    const SIGNED: bool = false;
    const COORDINATES: bool = false;
    const RANK: usize = 13;
    type Shape = ();
    type Stride = ();
    type Leaves<T: List> = T;
    type Over<A: List> = RankAbove12;
    type Spread<T: Tuple> = RankAbove12;
    type Each = NoModes;
    type Flat = Self;
    type Reversed = Self;
    type With<L: List> = Self;
    type Past<L: List> = L;
    type CoalesceOf<M: Modes> = M;
    type KeysOver<M: Modes, T: List> = T;
    type Placed<P: Path, T: List> = T;

    fn leaves<T: List>(self, rest: T) -> T {
        rest
    }

    fn each(self) -> NoModes {
        NoModes
    }

    fn flat(self) -> Self {
        self
    }

    fn reversed(self) -> Self {
        self
    }

    fn with<L: List>(leaves: L) -> (Self, L) {
        (RankAbove12, leaves)
    }

    fn shape(&self) {}

    fn stride(&self) {}

    fn tree(&self) -> Result<Tree, Error> {
        Err(Error::Capacity { op: "a typed tuple" })
    }

    fn read(_: &Tree, _: &mut usize) -> Option<Self> {
        None
    }

    fn index<const LAST: bool>(&self, _: &mut usize, _: usize) -> i64 {
        0
    }
}

impl Tuple for RankAbove12 {
    type Prepend<M: Modes> = RankAbove12;

    fn prepend<M: Modes>(self, _: M) -> RankAbove12 {
        RankAbove12
    }
}

/// One impl for each rank; the last mode is separate, because it takes the last digit.
macro_rules! tuples {
    ($(($($t:ident.$i:tt)* ; $z:ident.$zi:tt ; $prepend:ident $($($p:ident.$pi:tt)+)?))*) => {$(
        impl<$($t: Modes,)* $z: Modes> Modes for ($($t,)* $z,) {
            const SKELETON: Tree = match Tree::concat(&[$($t::SKELETON,)* $z::SKELETON]) {
                Ok(tree) => tree,
                Err(_) => panic!("a typed layout of more than 24 leaves or 32 levels"),
            };
            const STATIC: bool = $($t::STATIC &&)* $z::STATIC;
            const SIGNED: bool = $($t::SIGNED ||)* $z::SIGNED;
            const COORDINATES: bool = $($t::COORDINATES ||)* $z::COORDINATES;
            const RANK: usize = $zi + 1;
            type Shape = ($($t::Shape,)* $z::Shape,);
            type Stride = ($($t::Stride,)* $z::Stride,);
            type Leaves<LL: List> = tuples!(@nest [LL] Leaves $($t)* $z);
            type Over<AA: List> = ($($t::Over<AA>,)* $z::Over<AA>,);
            type Spread<TT: Tuple> = tuples!(@spread $zi [TT] $($t)* $z);
            type Each = tuples!(@each $($t)* $z);
            type Flat = <Self::Leaves<Nil> as List>::AsTuple;
            type Reversed = <<Self::Each as ModeList>::Reversed<NoModes> as ModeList>::AsTuple;
            type With<LL: List> = tuples!(@with [] [LL] $($t)* $z);
            type Past<LL: List> = tuples!(@past [LL] $($t)* $z);
            type CoalesceOf<MM: Modes> = <Self::Each as Along>::CoalesceOf<MM::Each>;
            type KeysOver<MM: Modes, TT: List> = <Self::Each as Along>::KeysOver<MM::Each, TT>;
            type Placed<PP: Path, TT: List> = <Self::Each as Places>::Placed<PP, UTerm, TT>;

            fn leaves<LL: List>(self, rest: LL) -> Self::Leaves<LL> {
                let rest = self.$zi.leaves(rest);
                tuples!(@leaves self rest [] $($t.$i)*)
            }

            fn each(self) -> Self::Each {
                tuples!(@modes self $($i)* $zi)
            }

            fn flat(self) -> Self::Flat {
                self.leaves(Nil).tuple()
            }

            fn reversed(self) -> Self::Reversed {
                self.each().reversed(NoModes).tuple()
            }

            #[allow(non_snake_case, reason = "a mode is named as its type")]
            fn with<LL: List>(leaves: LL) -> (Self::With<LL>, Self::Past<LL>) {
                $(let ($t, leaves) = $t::with(leaves);)*
                let ($z, leaves) = $z::with(leaves);
                (($($t,)* $z,), leaves)
            }

            fn shape(&self) -> Self::Shape {
                ($(self.$i.shape(),)* self.$zi.shape(),)
            }

            fn stride(&self) -> Self::Stride {
                ($(self.$i.stride(),)* self.$zi.stride(),)
            }

            fn tree(&self) -> Result<Tree, Error> {
                Tree::concat(&[$(self.$i.tree()?,)* self.$zi.tree()?])
            }

            fn read(from: &Tree, at: &mut usize) -> Option<Self> {
                Some(($($t::read(from, at)?,)* $z::read(from, at)?,))
            }

            #[inline(always)]
            fn index<const LAST: bool>(&self, rest: &mut usize, axis: usize) -> i64 {
                let sum = 0i64;
                $(let sum = sum.wrapping_add(self.$i.index::<false>(rest, axis));)*
                sum.wrapping_add(self.$zi.index::<LAST>(rest, axis))
            }
        }

        impl<$($t: Modes,)* $z: Modes> Tuple for ($($t,)* $z,) {
            tuples!(@prepend $prepend [$($t.$i)* $z.$zi]);
        }
    )*};
    (@nest [$l:ty] $f:ident $t:ident $($rest:ident)+) => { $t::$f<tuples!(@nest [$l] $f $($rest)+)> };
    (@nest [$l:ty] $f:ident $t:ident) => { $t::$f<$l> };
    (@spread 0 [$l:ty] $($t:ident)+) => { <$l as Tuple>::Prepend<Self> };
    (@spread $n:tt [$l:ty] $($t:ident)+) => { tuples!(@chain [$l] $($t)+) };
    (@chain [$l:ty] $t:ident $($rest:ident)*) => { <tuples!(@chain [$l] $($rest)*) as Tuple>::Prepend<$t> };
    (@chain [$l:ty]) => { $l };
    (@with [$($done:ty,)*] [$l:ty] $t:ident $($rest:ident)*) => {
        tuples!(@with [$($done,)* $t::With<$l>,] [$t::Past<$l>] $($rest)*)
    };
    (@with [$($done:ty,)*] [$l:ty]) => { ($($done,)*) };
    (@past [$l:ty] $t:ident $($rest:ident)*) => { tuples!(@past [$t::Past<$l>] $($rest)*) };
    (@past [$l:ty]) => { $l };
    // The modes are taken backwards, the last one first.
    (@leaves $s:ident $l:ident [$($done:tt)*] $t:ident.$i:tt $($rest:tt)*) => { tuples!(@leaves $s $l [$i $($done)*] $($rest)*) };
    (@leaves $s:ident $l:ident [$($i:tt)*]) => {{
        $(let $l = $s.$i.leaves($l);)*
        $l
    }};
    (@modes $s:ident $i:tt $($rest:tt)*) => { OneMode($s.$i, tuples!(@modes $s $($rest)*)) };
    (@modes $s:ident) => { NoModes };
    (@each $t:ident $($rest:ident)*) => { OneMode<$t, tuples!(@each $($rest)*)> };
    (@each) => { NoModes };
    (@prepend fits [$($t:ident.$i:tt)*]) => {
        type Prepend<MM: Modes> = (MM, $($t,)*);

        fn prepend<MM: Modes>(self, first: MM) -> Self::Prepend<MM> {
            (first, $(self.$i,)*)
        }
    };
    (@prepend full [$($t:ident.$i:tt)*]) => {
        type Prepend<MM: Modes> = RankAbove12;

        fn prepend<MM: Modes>(self, _: MM) -> RankAbove12 {
            RankAbove12
        }
    };
}

tuples! {
    (; A.0; fits)
    (A.0; B.1; fits)
    (A.0 B.1; C.2; fits)
    (A.0 B.1 C.2; D.3; fits)
    (A.0 B.1 C.2 D.3; E.4; fits)
    (A.0 B.1 C.2 D.3 E.4; F.5; fits)
    (A.0 B.1 C.2 D.3 E.4 F.5; G.6; fits)
    (A.0 B.1 C.2 D.3 E.4 F.5 G.6; H.7; fits)
    (A.0 B.1 C.2 D.3 E.4 F.5 G.6 H.7; I.8; fits)
    (A.0 B.1 C.2 D.3 E.4 F.5 G.6 H.7 I.8; J.9; fits)
    (A.0 B.1 C.2 D.3 E.4 F.5 G.6 H.7 I.8 J.9; K.10; fits)
    (A.0 B.1 C.2 D.3 E.4 F.5 G.6 H.7 I.8 J.9 K.10; L.11; full)
}

impl Modes for () {
    const SKELETON: Tree = Tree::EMPTY;
    const STATIC: bool = true;
    const SIGNED: bool = false;
    const COORDINATES: bool = false;
    const RANK: usize = 0;
    type Shape = ();
    type Stride = ();
    type Leaves<T: List> = T;
    type Over<A: List> = ();
    type Spread<T: Tuple> = T;
    type Each = NoModes;
    type Flat = Self;
    type Reversed = Self;
    type With<L: List> = Self;
    type Past<L: List> = L;
    type CoalesceOf<M: Modes> = M;
    type KeysOver<M: Modes, T: List> = T;
    type Placed<P: Path, T: List> = T;

    fn leaves<T: List>(self, rest: T) -> T {
        rest
    }

    fn each(self) -> NoModes {
        NoModes
    }

    fn flat(self) -> Self {
        self
    }

    fn reversed(self) -> Self {
        self
    }

    fn with<L: List>(leaves: L) -> (Self, L) {
        (Self::default(), leaves)
    }

    fn shape(&self) {}

    fn stride(&self) {}

    fn tree(&self) -> Result<Tree, Error> {
        Ok(Tree::EMPTY)
    }

    fn read(_: &Tree, _: &mut usize) -> Option<()> {
        Some(())
    }

    fn index<const LAST: bool>(&self, _: &mut usize, _: usize) -> i64 {
        0
    }
}

impl Tuple for () {
    type Prepend<M: Modes> = (M,);

    fn prepend<M: Modes>(self, first: M) -> (M,) {
        (first,)
    }
}
