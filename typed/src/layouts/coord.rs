//! Coordinates of typed layouts, and slices.

use girih_layout::{Crd, Error};
use typenum::{B0, B1, UInt, UTerm};

use super::check::check_position;
use super::cosize::Size;
use super::int::Int;
use super::modes::{Modes, Tuple};
use super::nat::Nat;
use super::tiler::All;

/// A coordinate of `M`: a position (`usize`, or a static integer), which counts through a whole subtree, or a tuple with a coordinate for
/// each mode.
#[diagnostic::on_unimplemented(
    message = "coordinate `{Self}` does not fit the layout's modes",
    note = "the layout's modes are `{M}`",
    note = "a position stands for a whole mode, a tuple needs one coordinate for each mode, up to 12",
    note = "positions are `usize`, or static: `int!(3)`"
)]
///
/// ```
/// use girih_typed::{Coord, Layout, Modes, layout};
/// fn twice<M: Modes, C: Coord<M>>(l: Layout<M>, c: C) -> usize {
///     2 * l.at(c)
/// }
/// assert_eq!(twice(layout!((4, 8) : (1, 4)), (3usize, 2usize)), 22);
/// ```
pub trait Coord<M: Modes>: Copy {
    #[doc(hidden)]
    fn index(self, modes: &M, axis: usize) -> i64;
    /// Refuses a position outside the mode that it stands for.
    #[doc(hidden)]
    fn check(self, modes: &M) -> Result<(), Error>;

    /// The run-time coordinate.
    ///
    /// # Errors
    /// [`Error::Capacity`].
    fn erase(self) -> Result<girih_layout::Coord, Error>;
}

/// A coordinate with [`All`] (`__`) in the place of the modes that stay.
#[diagnostic::on_unimplemented(
    message = "slice `{Self}` does not fit the layout's modes",
    note = "the layout's modes are `{M}`",
    note = "a position or `__` stands for a whole mode, a tuple needs one coordinate for each mode, up to 12",
    note = "positions are `usize`, or static: `int!(3)`"
)]
///
/// ```
/// use girih_typed::{__, layout};
/// let (column, begin) = layout!((4, 8) : (1, 4)).slice((__, 3usize));
/// assert_eq!((column.to_string().as_str(), begin), ("(4):(1)", 12));
/// ```
pub trait Slice<M: Modes>: Copy {
    /// The modes that stay.
    type Kept: Modes;
    #[doc(hidden)]
    fn kept(self, modes: &M, axis: usize) -> (Self::Kept, i64);
    /// Refuses a position outside the mode that it stands for.
    #[doc(hidden)]
    fn check(self, modes: &M) -> Result<(), Error>;
    #[doc(hidden)]
    type Onto<T: Tuple>: Tuple;
    #[doc(hidden)]
    fn onto<T: Tuple>(self, modes: &M, rest: T, offset: &mut i64, axis: usize) -> Self::Onto<T>;
    /// The modes that have a position.
    type Diced: Modes;
    #[doc(hidden)]
    fn diced(self, modes: &M) -> Self::Diced;
    #[doc(hidden)]
    type DicedOnto<T: Tuple>: Tuple;
    #[doc(hidden)]
    fn diced_onto<T: Tuple>(self, modes: &M, rest: T) -> Self::DicedOnto<T>;
}

impl<M: Modes> Slice<M> for All {
    type Kept = M;
    fn kept(self, modes: &M, _: usize) -> (M, i64) {
        (*modes, 0)
    }
    fn check(self, _: &M) -> Result<(), Error> {
        Ok(())
    }
    type Onto<T: Tuple> = T::Prepend<M>;
    fn onto<T: Tuple>(self, modes: &M, rest: T, _: &mut i64, _: usize) -> T::Prepend<M> {
        rest.prepend(*modes)
    }
    type Diced = ();
    fn diced(self, _: &M) {}
    type DicedOnto<T: Tuple> = T;
    fn diced_onto<T: Tuple>(self, _: &M, rest: T) -> T {
        rest
    }
}

macro_rules! positions {
    ($([$($g:tt)*] $t:ty, $x:ident => $n:expr;)*) => {$(
        impl<M: Modes $($g)*> Coord<M> for $t {
            #[inline(always)]
            fn index(self, modes: &M, axis: usize) -> i64 {
                let $x = self;
                let mut rest: usize = $n;
                modes.index::<true>(&mut rest, axis)
            }
            fn erase(self) -> Result<girih_layout::Coord, Error> {
                let $x = self;
                let n: usize = $n;
                Ok(girih_layout::Coord::leaf(Crd::At(n.try_into().unwrap_or(i64::MAX))))
            }
            #[inline(always)]
            fn check(self, modes: &M) -> Result<(), Error> {
                let $x = self;
                inside($n, modes)
            }
        }

        impl<M: Modes $($g)*> Slice<M> for $t {
            type Kept = ();
            fn kept(self, modes: &M, axis: usize) -> ((), i64) {
                ((), Coord::index(self, modes, axis))
            }
            #[inline(always)]
            fn check(self, modes: &M) -> Result<(), Error> {
                Coord::check(self, modes)
            }
            type Onto<T: Tuple> = T;
            fn onto<T: Tuple>(self, modes: &M, rest: T, offset: &mut i64, axis: usize) -> T {
                *offset = offset.wrapping_add(Coord::index(self, modes, axis));
                rest
            }
            type Diced = M;
            fn diced(self, modes: &M) -> M {
                *modes
            }
            type DicedOnto<T: Tuple> = T::Prepend<M>;
            fn diced_onto<T: Tuple>(self, modes: &M, rest: T) -> T::Prepend<M> {
                rest.prepend(*modes)
            }
        }
    )*};
}

positions! {
    [] usize, x => x;
    [] UTerm, _x => 0;
    [, U: Nat] UInt<U, B0>, _x => const { position::<UInt<U, B0>, M>() };
    [, U: Nat] UInt<U, B1>, _x => const { position::<UInt<U, B1>, M>() };
}

const fn position<N: Nat, M: Modes>() -> usize {
    check_position(N::N, &M::SKELETON);
    N::N as usize
}

/// Refuses a position outside `modes`; where the size of the modes is static, this computes nothing else.
#[inline(always)]
fn inside<M: Modes>(position: usize, modes: &M) -> Result<(), Error> {
    let extent = match <Size<M> as Int>::KNOWN {
        Some(size) => girih_layout::Int::fixed(size),
        None => modes.tree()?.lay()?.size()?,
    };
    let coord = i64::try_from(position).unwrap_or(i64::MAX);
    match extent.get() {
        Some(size) if coord < size => Ok(()),
        _ => Err(Error::CoordOutOfRange { coord, extent: extent.into() }),
    }
}

macro_rules! tuples {
    ($(($($m:ident $x:ident $i:tt)+))*) => {$(
        impl<$($m: Modes,)+ $($x: Coord<$m>),+> Coord<($($m,)+)> for ($($x,)+) {
            #[inline(always)]
            fn index(self, modes: &($($m,)+), axis: usize) -> i64 {
                let sum = 0i64;
                $(let sum = sum.wrapping_add(self.$i.index(&modes.$i, axis));)+
                sum
            }
            fn erase(self) -> Result<girih_layout::Coord, Error> {
                girih_layout::Coord::concat(&[$(self.$i.erase()?),+])
            }
            #[inline(always)]
            fn check(self, modes: &($($m,)+)) -> Result<(), Error> {
                $(self.$i.check(&modes.$i)?;)+
                Ok(())
            }
        }

        impl<$($m: Modes,)+ $($x: Slice<$m>),+> Slice<($($m,)+)> for ($($x,)+) {
            type Kept = Self::Onto<()>;
            fn kept(self, modes: &($($m,)+), axis: usize) -> (Self::Kept, i64) {
                let mut offset = 0;
                let kept = self.onto(modes, (), &mut offset, axis);
                (kept, offset)
            }
            #[inline(always)]
            fn check(self, modes: &($($m,)+)) -> Result<(), Error> {
                $(self.$i.check(&modes.$i)?;)+
                Ok(())
            }
            type Onto<TT: Tuple> = tuples!(@onto Onto [TT] $($m $x)+);
            fn onto<TT: Tuple>(self, modes: &($($m,)+), rest: TT, offset: &mut i64, axis: usize) -> Self::Onto<TT> {
                tuples!(@keep self modes rest [onto offset, axis] [] $($x $i)+)
            }
            type Diced = Self::DicedOnto<()>;
            fn diced(self, modes: &($($m,)+)) -> Self::Diced {
                self.diced_onto(modes, ())
            }
            type DicedOnto<TT: Tuple> = tuples!(@onto DicedOnto [TT] $($m $x)+);
            fn diced_onto<TT: Tuple>(self, modes: &($($m,)+), rest: TT) -> Self::DicedOnto<TT> {
                tuples!(@keep self modes rest [diced_onto] [] $($x $i)+)
            }
        }
    )*};
    (@onto $f:ident [$t:ty] $m:ident $x:ident $($rest:tt)*) => {
        <$x as Slice<$m>>::$f<tuples!(@onto $f [$t] $($rest)*)>
    };
    (@onto $f:ident [$t:ty]) => { $t };
    // The modes are taken backwards, the last one first.
    (@keep $s:ident $m:ident $r:ident $f:tt [$($done:tt)*] $x:ident $i:tt $($rest:tt)*) => {
        tuples!(@keep $s $m $r $f [$i $($done)*] $($rest)*)
    };
    (@keep $s:ident $m:ident $r:ident [$f:ident $($o:tt)*] [$($i:tt)*]) => {{
        tuples!(@each $s $m $r $f ($($o)*) $($i)*);
        $r
    }};
    (@each $s:ident $m:ident $r:ident $f:ident ($($o:tt)*) $i:tt $($rest:tt)*) => {
        let $r = $s.$i.$f(&$m.$i, $r, $($o)*);
        tuples!(@each $s $m $r $f ($($o)*) $($rest)*);
    };
    (@each $s:ident $m:ident $r:ident $f:ident $o:tt) => {};
}

tuples! {
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
