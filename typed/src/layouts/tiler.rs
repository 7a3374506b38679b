//! Tilers: the operands that a layout is composed with, divided by or multiplied by.

use core::marker::PhantomData;

use girih_layout::Error;
use typenum::{B0, B1, UInt, UTerm};

use super::basis;
use super::composition::Composed;
use super::divide::Split;
use super::edit;
use super::int::S;
use super::layout::Layout;
use super::list::{List, Nil};
use super::modes::{Mode, Modes, Tuple, Unit};
use super::nat::Nat;
use super::operand::Operand;
use super::repeat;
use super::tree::Tree;

/// `_`: in a tiler the mode stays as it is, in a slice all of the mode stays.
///
/// ```
/// use girih_typed::{All, int, layout};
/// assert_eq!(layout!((4, 8) : (1, 4)).zipped_divide((int!(2), All)).to_string(), layout!((4, 8) : (1, 4)).zipped_divide((int!(2), int!(8))).to_string());
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Debug)]
pub struct All;

/// [`All`], as it is written: `layout.slice((__, 3))`.
pub const __: All = All;

/// A layout or an integer `n`, which is `n:1`, for the whole domain; or a tuple with one [`Tile`] for each of the first modes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no tiler",
    note = "a tiler is an integer, a layout, or a tuple of integers, layouts and `__`, one a mode, up to 12",
    note = "static integers are `int!(8)`, dynamic ones `usize`"
)]
///
/// ```
/// use girih_typed::{Layout, LogicalDivide, Modes, Tiler, int, layout};
/// fn tiles<M: Modes, X: Tiler>(l: Layout<M>, tiler: X) -> Layout<LogicalDivide<M, X>> {
///     l.logical_divide(tiler)
/// }
/// assert_eq!(tiles(layout!(8 : 1), int!(4)), layout!((4, 2) : (1, 4)));
/// ```
pub trait Tiler: Copy + Default + 'static {
    /// The tiler with 1 in the place of each dynamic integer.
    #[doc(hidden)]
    const SKELETON: Operand;
    /// Whether every integer is static.
    const STATIC: bool;

    /// The run-time tiler.
    ///
    /// # Errors
    /// [`Error::NonPositiveShape`], [`Error::Capacity`].
    fn erase(&self) -> Result<girih_layout::Tiler, Error> {
        self.operand()?.tiler()
    }

    #[doc(hidden)]
    fn operand(&self) -> Result<Operand, Error>;
    #[doc(hidden)]
    type Composed<M: Modes>: Modes;
    /// `(first, second)`, in each mode that has a tile.
    #[doc(hidden)]
    type Split<M: Modes, O: Split>: Modes;
    #[doc(hidden)]
    type First<M: Modes, O: Split>: Modes;
    #[doc(hidden)]
    type Second<M: Modes, O: Split>: Modes;
}

/// The tile of one mode: an integer `n`, which is `n:1`, a layout, or [`All`].
///
/// ```
/// use girih_typed::{Layout, LogicalDivide, Modes, Tile, int, layout};
/// let blocks = layout!((8, 8) : (1, 8)).zipped_divide((int!(4), layout!(2 : 4)));
/// assert_eq!(blocks, layout!(((4, 2), (2, 4)) : ((1, 32), (4, 8))));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no tile",
    note = "a tile is an integer (`int!(8)` or a `usize`), a layout, or `__`"
)]
pub trait Tile: Copy + Default + 'static {
    #[doc(hidden)]
    const SKELETON: Option<Tree>;
    #[doc(hidden)]
    const STATIC: bool;
    #[doc(hidden)]
    fn tree(&self) -> Result<Option<Tree>, Error>;
    #[doc(hidden)]
    type PushComposed<M: Modes, T: Tuple>: Tuple;
    #[doc(hidden)]
    type Split<M: Modes, O: Split>: Modes;
    #[doc(hidden)]
    type PushFirst<M: Modes, O: Split, T: Tuple>: Tuple;
    #[doc(hidden)]
    type Second<M: Modes, O: Split>: Modes;
}

/// The tiles of the first modes, then [`NoTile`] for every further mode.
#[doc(hidden)]
pub trait TileList {
    type Head: Tile;
    type Tail: TileList;
}

#[doc(hidden)]
#[derive(Clone, Copy, Default)]
pub struct NoTile;

#[doc(hidden)]
pub struct Tiles<X, T>(PhantomData<(X, T)>);

impl TileList for NoTile {
    type Head = NoTile;
    type Tail = NoTile;
}

impl<X: Tile, T: TileList> TileList for Tiles<X, T> {
    type Head = X;
    type Tail = T;
}

/// The modes of a tuple, one by one.
#[doc(hidden)]
pub trait ModeList: Copy + repeat::Along + basis::Places {
    type Head: Modes;
    type Tail: ModeList;
    type AsTuple: Tuple;
    type Composed<X: TileList>: Tuple;
    type Split<X: TileList, O: Split>: Tuple;
    type Firsts<X: TileList, O: Split>: Tuple;
    type Seconds<X: TileList, O: Split>: Tuple;
    /// These modes, filled up with `1:0` to at least as many as `L` has.
    type Padded<L: ModeList>: ModeList;
    type Filling: ModeList;
    /// `((A,B),...)`: each mode A of these paired with the mode B of `L` with the same number.
    type Paired<L: ModeList>: Tuple;
    /// These modes from the last to the first, then the modes of `L`.
    type Reversed<L: ModeList>: ModeList;
    /// Mode `I`, `1:0` where there is none.
    type Nth<I: Nat>: Modes;
    /// The modes from number `B` to before number `E`.
    type Take<B: Nat, E: Nat>: ModeList;
    /// These modes, then the modes of `L`.
    type Join<L: ModeList>: ModeList;
    /// The list `L` of the leaves of these modes; if there are several modes, the leaves of the first mode get strides
    /// that are ordered before all others.
    type Fragment<L: List>: List;
    type FragmentAfter<F: List, L: List>: List;
    fn split(self) -> (Self::Head, Self::Tail);
    fn tuple(self) -> Self::AsTuple;
    fn paired<L: ModeList>(self, with: L) -> Self::Paired<L>;
    fn reversed<L: ModeList>(self, then: L) -> Self::Reversed<L>;
    fn nth<I: Nat>(self) -> Self::Nth<I>;
    fn take<B: Nat, E: Nat>(self) -> Self::Take<B, E>;
    fn join<L: ModeList>(self, then: L) -> Self::Join<L>;
}

#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct NoModes;

#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct OneMode<M, T>(pub M, pub T);

impl ModeList for NoModes {
    type Head = Unit;
    type Tail = NoModes;
    type AsTuple = ();
    type Composed<X: TileList> = ();
    type Split<X: TileList, O: Split> = ();
    type Firsts<X: TileList, O: Split> = ();
    type Seconds<X: TileList, O: Split> = ();
    type Padded<L: ModeList> = L::Filling;
    type Filling = NoModes;
    type Paired<L: ModeList> = ();
    type Reversed<L: ModeList> = L;
    type Nth<I: Nat> = Unit;
    type Take<B: Nat, E: Nat> = NoModes;
    type Join<L: ModeList> = L;
    type Fragment<L: List> = L;
    type FragmentAfter<F: List, L: List> = L::Zeroless;
    fn split(self) -> (Unit, NoModes) {
        (Unit::default(), NoModes)
    }
    fn tuple(self) {}
    fn paired<L: ModeList>(self, _: L) {}
    fn reversed<L: ModeList>(self, then: L) -> L {
        then
    }
    fn nth<I: Nat>(self) -> Unit {
        Unit::default()
    }
    fn take<B: Nat, E: Nat>(self) -> NoModes {
        NoModes
    }
    fn join<L: ModeList>(self, then: L) -> L {
        then
    }
}

impl<M: Modes, T: ModeList> ModeList for OneMode<M, T> {
    type Head = M;
    type Tail = T;
    type AsTuple = <T::AsTuple as Tuple>::Prepend<M>;
    type Composed<X: TileList> = <X::Head as Tile>::PushComposed<M, T::Composed<X::Tail>>;
    type Split<X: TileList, O: Split> =
        <T::Split<X::Tail, O> as Tuple>::Prepend<<X::Head as Tile>::Split<M, O>>;
    type Firsts<X: TileList, O: Split> = <X::Head as Tile>::PushFirst<M, O, T::Firsts<X::Tail, O>>;
    type Seconds<X: TileList, O: Split> =
        <T::Seconds<X::Tail, O> as Tuple>::Prepend<<X::Head as Tile>::Second<M, O>>;
    type Padded<L: ModeList> = OneMode<M, T::Padded<L::Tail>>;
    type Filling = OneMode<Unit, T::Filling>;
    type Paired<L: ModeList> = <T::Paired<L::Tail> as Tuple>::Prepend<(M, L::Head)>;
    type Reversed<L: ModeList> = T::Reversed<OneMode<M, L>>;
    type Nth<I: Nat> = <I::Positive as edit::Decide>::Nth<M, T, I::Before>;
    type Take<B: Nat, E: Nat> = <E::Positive as edit::Decide>::Take<M, T, B, E::Before>;
    type Join<L: ModeList> = OneMode<M, T::Join<L>>;
    type Fragment<L: List> = T::FragmentAfter<M::Leaves<Nil>, L>;
    type FragmentAfter<F: List, L: List> = F::First<L>;
    fn split(self) -> (M, T) {
        (self.0, self.1)
    }
    fn tuple(self) -> Self::AsTuple {
        self.1.tuple().prepend(self.0)
    }
    fn paired<L: ModeList>(self, with: L) -> Self::Paired<L> {
        let (head, tail) = with.split();
        self.1.paired(tail).prepend((self.0, head))
    }
    fn reversed<L: ModeList>(self, then: L) -> Self::Reversed<L> {
        self.1.reversed(OneMode(self.0, then))
    }
    fn nth<I: Nat>(self) -> Self::Nth<I> {
        <I::Positive as edit::Decide>::nth::<M, T, I::Before>(self.0, self.1)
    }
    fn take<B: Nat, E: Nat>(self) -> Self::Take<B, E> {
        <E::Positive as edit::Decide>::take::<M, T, B, E::Before>(self.0, self.1)
    }
    fn join<L: ModeList>(self, then: L) -> Self::Join<L> {
        OneMode(self.0, self.1.join(then))
    }
}

impl Tile for All {
    const SKELETON: Option<Tree> = None;
    const STATIC: bool = true;
    fn tree(&self) -> Result<Option<Tree>, Error> {
        Ok(None)
    }
    type PushComposed<M: Modes, T: Tuple> = T::Prepend<M>;
    type Split<M: Modes, O: Split> = M;
    type PushFirst<M: Modes, O: Split, T: Tuple> = T::Prepend<M>;
    type Second<M: Modes, O: Split> = Unit;
}

impl Tile for NoTile {
    const SKELETON: Option<Tree> = None;
    const STATIC: bool = true;
    fn tree(&self) -> Result<Option<Tree>, Error> {
        Ok(None)
    }
    type PushComposed<M: Modes, T: Tuple> = T;
    type Split<M: Modes, O: Split> = M;
    type PushFirst<M: Modes, O: Split, T: Tuple> = T;
    type Second<M: Modes, O: Split> = M;
}

/// Layouts and integers are both tilers and tiles.
macro_rules! layouts {
    ($([$($g:tt)*] $t:ty = $m:ty, |$x:ident| $modes:expr;)*) => {$(
        impl<$($g)*> Tiler for $t {
            const SKELETON: Operand = Operand::One(<$m as Modes>::SKELETON);
            const STATIC: bool = <$m as Modes>::STATIC;
            fn operand(&self) -> Result<Operand, Error> {
                let $x = *self;
                Ok(Operand::One($modes.tree()?))
            }
            type Composed<M: Modes> = Composed<M, $m>;
            type Split<M: Modes, O: Split> = (O::First<M, $m>, O::Second<M, $m>);
            type First<M: Modes, O: Split> = O::First<M, $m>;
            type Second<M: Modes, O: Split> = O::Second<M, $m>;
        }

        impl<$($g)*> Tile for $t {
            const SKELETON: Option<Tree> = Some(<$m as Modes>::SKELETON);
            const STATIC: bool = <$m as Modes>::STATIC;
            fn tree(&self) -> Result<Option<Tree>, Error> {
                let $x = *self;
                Ok(Some($modes.tree()?))
            }
            type PushComposed<M: Modes, T: Tuple> = T::Prepend<Composed<M, $m>>;
            type Split<M: Modes, O: Split> = (O::First<M, $m>, O::Second<M, $m>);
            type PushFirst<M: Modes, O: Split, T: Tuple> = T::Prepend<O::First<M, $m>>;
            type Second<M: Modes, O: Split> = O::Second<M, $m>;
        }
    )*};
}

layouts! {
    [R: Modes] Layout<R> = R, |x| x.0;
    [] usize = Mode<usize, S<1>>, |x| Mode(x, S::<1>::new());
    [] UTerm = Mode<UTerm, S<1>>, |x| Mode(x, S::<1>::new());
    [U: Nat] UInt<U, B0> = Mode<UInt<U, B0>, S<1>>, |x| Mode(x, S::<1>::new());
    [U: Nat] UInt<U, B1> = Mode<UInt<U, B1>, S<1>>, |x| Mode(x, S::<1>::new());
}

macro_rules! tuples {
    ($(($($t:ident.$i:tt)+))*) => {$(
        impl<$($t: Tile),+> Tiler for ($($t,)+) {
            const SKELETON: Operand = Operand::skeleton(&[$(<$t as Tile>::SKELETON),+]);
            const STATIC: bool = $(<$t as Tile>::STATIC &&)+ true;
            fn operand(&self) -> Result<Operand, Error> {
                Operand::tiles(&[$(Tile::tree(&self.$i)?),+])
            }
            type Composed<MM: Modes> = <MM::Each as ModeList>::Composed<tuples!(@list $($t)+)>;
            type Split<MM: Modes, OO: Split> = <MM::Each as ModeList>::Split<tuples!(@list $($t)+), OO>;
            type First<MM: Modes, OO: Split> = <MM::Each as ModeList>::Firsts<tuples!(@list $($t)+), OO>;
            type Second<MM: Modes, OO: Split> = <MM::Each as ModeList>::Seconds<tuples!(@list $($t)+), OO>;
        }
    )*};
    (@list $t:ident $($rest:ident)*) => { Tiles<$t, tuples!(@list $($rest)*)> };
    (@list) => { NoTile };
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
