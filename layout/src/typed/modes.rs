//! Trees of modes: a leaf `Mode<S, D>`, or a tuple of trees. Congruent by construction.

use core::fmt;

use super::int::{Int, S};
use super::list::{Cons, List};
use super::tiler::{ModeList, NoModes, OneMode};
use crate::{Error, Lay, Stride};

/// The leaf `S:D`, extent and stride.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Mode<S, D>(pub S, pub D);

/// The mode of one element, `1:0`.
pub type Unit = Mode<S<1>, S<0>>;

/// A tree of modes: [`Mode`], or a tuple of trees, up to 12.
pub trait Modes: Copy + Default + 'static {
    /// The layout as a run-time one, 1 in place of what is dynamic.
    const SKELETON: Lay;
    /// Whether every integer is static: the value then has size 0.
    const STATIC: bool;
    /// Whether a stride is or may be negative.
    const SIGNED: bool;
    /// The number of modes, 1 for a leaf.
    const RANK: usize;
    /// The shape: nested tuples of integers.
    type Shape: Copy + Default + 'static;
    /// The strides, congruent to the shape.
    type Stride: Copy + Default + 'static;

    /// The leaves, in front of `T`.
    #[doc(hidden)]
    type Leaves<T: List>: List;
    /// `A` after this tree.
    #[doc(hidden)]
    type Over<A: List>: Modes;
    /// The modes, in front of `T`; a tuple of one stays whole.
    #[doc(hidden)]
    type Spread<T: Tuple>: Tuple;
    /// The modes as a list; a leaf is its own one.
    #[doc(hidden)]
    type Each: ModeList;

    /// The shape.
    fn shape(&self) -> Self::Shape;

    /// The strides.
    fn stride(&self) -> Self::Stride;

    #[doc(hidden)]
    fn erase_into(&self, out: &mut Lay) -> Result<(), Error>;

    /// Takes the dynamic integers from the leaves of `from`, the first of which is number `at`.
    #[doc(hidden)]
    fn read(from: &Lay, at: &mut usize) -> Option<Self>;

    /// The index of the digits that `rest` has in this tree; with `LAST`, the last digit is all that is left.
    #[doc(hidden)]
    fn index<const LAST: bool>(&self, rest: &mut usize) -> i64;
}

/// A tuple of modes.
#[doc(hidden)]
pub trait Tuple: Modes {
    type Prepend<M: Modes>: Tuple;
    fn prepend<M: Modes>(self, first: M) -> Self::Prepend<M>;
}

impl<S0: Int, D: Int> Modes for Mode<S0, D> {
    const SKELETON: Lay = Lay::raw_leaf(skeleton(S0::KNOWN), Stride::Int(skeleton(D::KNOWN)));
    const SIGNED: bool = D::SIGNED;
    const STATIC: bool = S0::KNOWN.is_some() && D::KNOWN.is_some();
    const RANK: usize = 1;
    type Shape = S0;
    type Stride = D;
    type Leaves<T: List> = Cons<S0, D, T>;
    type Over<A: List> = super::composition::Leaf<A, S0, D>;
    type Spread<T: Tuple> = T::Prepend<Self>;
    type Each = OneMode<Self, NoModes>;

    fn shape(&self) -> S0 {
        self.0
    }

    fn stride(&self) -> D {
        self.1
    }

    fn erase_into(&self, out: &mut Lay) -> Result<(), Error> {
        out.push(self.0.erase(), Stride::Int(self.1.erase()))
    }

    fn read(from: &Lay, at: &mut usize) -> Option<Self> {
        let (extent, stride) = from.flat_leaf(*at);
        *at += 1;
        Some(Mode(S0::from_value(extent.get()?)?, D::from_value(stride.int()?.get()?)?))
    }

    #[inline(always)]
    fn index<const LAST: bool>(&self, rest: &mut usize) -> i64 {
        let mut digit = *rest;
        if !LAST {
            let extent = self.0.get() as usize;
            digit = rest.checked_rem(extent).unwrap_or(0);
            *rest = rest.checked_div(extent).unwrap_or(0);
        }
        (digit as i64).wrapping_mul(self.1.get())
    }
}

const fn skeleton(known: Option<i64>) -> crate::Int {
    match known {
        Some(value) => crate::Int::fixed(value),
        None => crate::Int::value(1),
    }
}

impl<S0: Int, D: Int> fmt::Debug for Mode<S0, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#}:{:#}", self.0.erase(), self.1.erase())
    }
}

const fn appended(mut out: Lay, from: &Lay) -> Lay {
    match out.copy(from, from.root()) {
        Ok(()) => out,
        Err(_) => panic!("a typed layout of more than 24 leaves or 32 levels"),
    }
}

const fn opened() -> Lay {
    let mut out = Lay::EMPTY;
    match out.open() {
        Ok(()) => out,
        Err(_) => out,
    }
}

const fn closed(mut out: Lay) -> Lay {
    out.close();
    out
}

/// What would be a tuple of more than 12 modes.
#[doc(hidden)]
#[derive(Clone, Copy, Default)]
pub struct RankAbove12;

impl Modes for RankAbove12 {
    const SKELETON: Lay = panic!("a typed tuple of rank above 12; use the run-time layout, `Lay`");
    const STATIC: bool = true;
    const SIGNED: bool = false;
    const RANK: usize = 13;
    type Shape = ();
    type Stride = ();
    type Leaves<T: List> = T;
    type Over<A: List> = RankAbove12;
    type Spread<T: Tuple> = RankAbove12;
    type Each = NoModes;

    fn shape(&self) {}

    fn stride(&self) {}

    fn erase_into(&self, _: &mut Lay) -> Result<(), Error> {
        Err(Error::Capacity { op: "a typed tuple" })
    }

    fn read(_: &Lay, _: &mut usize) -> Option<Self> {
        None
    }

    fn index<const LAST: bool>(&self, _: &mut usize) -> i64 {
        0
    }
}

impl Tuple for RankAbove12 {
    type Prepend<M: Modes> = RankAbove12;

    fn prepend<M: Modes>(self, _: M) -> RankAbove12 {
        RankAbove12
    }
}

/// One impl a rank; the last mode apart, because it takes the last digit.
macro_rules! tuples {
    ($(($($t:ident.$i:tt)* ; $z:ident.$zi:tt ; $prepend:ident $($($p:ident.$pi:tt)+)?))*) => {$(
        impl<$($t: Modes,)* $z: Modes> Modes for ($($t,)* $z,) {
            const SKELETON: Lay = {
                let out = opened();
                $(let out = appended(out, &$t::SKELETON);)*
                closed(appended(out, &$z::SKELETON))
            };
            const STATIC: bool = $($t::STATIC &&)* $z::STATIC;
            const SIGNED: bool = $($t::SIGNED ||)* $z::SIGNED;
            const RANK: usize = $zi + 1;
            type Shape = ($($t::Shape,)* $z::Shape,);
            type Stride = ($($t::Stride,)* $z::Stride,);
            type Leaves<LL: List> = tuples!(@nest [LL] Leaves $($t)* $z);
            type Over<AA: List> = ($($t::Over<AA>,)* $z::Over<AA>,);
            type Spread<TT: Tuple> = tuples!(@spread $zi [TT] $($t)* $z);
            type Each = tuples!(@each $($t)* $z);

            fn shape(&self) -> Self::Shape {
                ($(self.$i.shape(),)* self.$zi.shape(),)
            }

            fn stride(&self) -> Self::Stride {
                ($(self.$i.stride(),)* self.$zi.stride(),)
            }

            fn erase_into(&self, out: &mut Lay) -> Result<(), Error> {
                out.open()?;
                $(self.$i.erase_into(out)?;)*
                self.$zi.erase_into(out)?;
                out.close();
                Ok(())
            }

            fn read(from: &Lay, at: &mut usize) -> Option<Self> {
                Some(($($t::read(from, at)?,)* $z::read(from, at)?,))
            }

            #[inline(always)]
            fn index<const LAST: bool>(&self, rest: &mut usize) -> i64 {
                let sum = 0i64;
                $(let sum = sum.wrapping_add(self.$i.index::<false>(rest));)*
                sum.wrapping_add(self.$zi.index::<LAST>(rest))
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
    const SKELETON: Lay = Lay::EMPTY;
    const STATIC: bool = true;
    const SIGNED: bool = false;
    const RANK: usize = 0;
    type Shape = ();
    type Stride = ();
    type Leaves<T: List> = T;
    type Over<A: List> = ();
    type Spread<T: Tuple> = T;
    type Each = NoModes;

    fn shape(&self) {}

    fn stride(&self) {}

    fn erase_into(&self, _: &mut Lay) -> Result<(), Error> {
        Ok(())
    }

    fn read(_: &Lay, _: &mut usize) -> Option<()> {
        Some(())
    }

    fn index<const LAST: bool>(&self, _: &mut usize) -> i64 {
        0
    }
}

impl Tuple for () {
    type Prepend<M: Modes> = (M,);

    fn prepend<M: Modes>(self, first: M) -> (M,) {
        (first,)
    }
}
