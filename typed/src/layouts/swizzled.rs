//! A swizzle after a typed layout.

use core::fmt;
use core::marker::PhantomData;

use super::check::{check_recast, check_static};
use super::coord::{Coord, Slice};
use super::int::{Int, S};
use super::int_tuple::IntTuple;
use super::layout::Layout;
use super::modes::Modes;
use super::nat::Nat;
use super::recast::Reduced;
use super::tiler::Tiler;
use super::{
    BlockedProduct, CoalesceBy, Coalesced, Composition, FlatDivide, FlatProduct, Flatten, Group, Left,
    LogicalDivide, LogicalProduct, ModeAt, Picks, RakedProduct, Recast, Select, Take, TileToShape,
    TileToShapeBy, TiledDivide, TiledProduct, Unflatten, ZippedDivide, ZippedProduct,
};
use girih_layout::{Composed, Error, Swizzle};

/// The swizzle with these numbers as a type, see [`Swizzle::new`]; [`Sw`] is the same type written with plain numbers.
///
/// ```
/// use girih_typed::{S, Sw, SwizzleOf};
/// let same: Sw<3, 4, 3> = SwizzleOf::<S<3>, S<4>, S<3>>::default();
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct SwizzleOf<Bits, Base, Shift>(PhantomData<(Bits, Base, Shift)>);

/// The swizzle `Sw<BITS,BASE,SHIFT>` as a type. For a negative shift, write [`SwizzleOf`] with [`Neg`](super::Neg).
///
/// ```
/// use girih_layout::Swizzle;
/// use girih_typed::{Sw, Swizzled, layout};
/// assert_eq!(Swizzled::<Sw<1, 2, 3>, _>::new(layout!(64 : 1)).swizzle(), Swizzle::new(1, 2, 3)?);
/// # Ok::<(), girih_layout::Error>(())
/// ```
pub type Sw<const BITS: usize, const BASE: usize, const SHIFT: usize> = SwizzleOf<S<BITS>, S<BASE>, S<SHIFT>>;

/// A swizzle that is a type.
///
/// ```
/// use girih_typed::{Layout, Modes, S, Sw, Swizzled, Swizzling, layout};
/// fn first<W: Swizzling, M: Modes>(tile: Swizzled<W, M, S<0>>) -> usize {
///     tile.at(0usize)
/// }
/// assert_eq!(first(Swizzled::<Sw<3, 3, 3>, _>::new(layout!(512 : 1))), 0);
/// ```
#[diagnostic::on_unimplemented(message = "`{Self}` is no swizzle", note = "a swizzle is `Sw<3, 4, 3>`")]
pub trait Swizzling: Copy + Default + 'static {
    /// The swizzle.
    const SWIZZLE: Swizzle;
    /// The swizzle counted in units of `New` bits instead of `Old` bits.
    #[doc(hidden)]
    type Recast<Old: Nat, New: Nat>: Swizzling;
}

/// How often `N` must be halved to become 1.
type Halvings<N> = <<N as Nat>::Digits as Nat>::Before;
/// `Base` after a recast: a larger unit contains more of the low bits, so that `Base` shrinks.
type Rebased<Base, Old, New> =
    <<Base as Nat>::Plus<Halvings<Reduced<Old, New>>> as Nat>::Minus<Halvings<Reduced<New, Old>>>;

impl<Bits: Nat, Base: Nat, Shift: Int> Swizzling for SwizzleOf<Bits, Base, Shift> {
    const SWIZZLE: Swizzle = {
        let Some(shift @ -62..=62) = Shift::KNOWN else {
            panic!("no swizzle: a shift that is no static integer up to 62")
        };
        assert!(Bits::N <= 62 && Base::N <= 62, "no swizzle: bits + base + |shift| must be at most 62");
        match Swizzle::new(Bits::N as u32, Base::N as u32, shift as i32) {
            Ok(swizzle) => swizzle,
            Err(_) => {
                panic!("no swizzle: |shift| must be at least bits, and bits + base + |shift| at most 62")
            }
        }
    };
    type Recast<Old: Nat, New: Nat> = SwizzleOf<Bits, Rebased<Base, Old, New>, Shift>;
}

/// `x -> swizzle(offset + layout(x))` with the swizzle in the type, see [`Composed`].
///
/// The offset, in elements like the layout's indices, is an [`Int`] too: static 0 to begin with, an `i64` after a
/// slice. Operations that only the run-time form has, such as [`Composed::columns`], are reached through
/// [`Swizzled::erase`].
///
/// ```
/// use girih_typed::{Sw, Swizzled, int, int_tuple, layout};
/// let atom = Swizzled::<Sw<3, 3, 3>, _>::new(layout!((8, 64) : (64, 1)));
/// assert_eq!(atom.at((0, 1)), 1);
/// assert_eq!(atom.at((1, 0)), 64 + 8); // row 1: its first 8 elements changed places with the next 8
/// assert_eq!(size_of_val(&atom), 0);
/// let tile = atom.tile_to_shape(int_tuple!((128, 64)));
/// assert_eq!(tile.to_string(), "Sw<3,3,3> o 0 o ((8,16),(64,1)):((64,512),(1,0))");
/// // In 16-byte units instead of 2-byte elements.
/// assert_eq!(atom.recast(int!(16), int!(128)).to_string(), "Sw<3,0,3> o 0 o (8,8):(8,1)");
/// ```
///
/// Three numbers that [`Swizzle::new`] refuses do not compile, nor does a recast after which the swizzle would move
/// parts of a unit:
/// ```compile_fail
/// # use girih_typed::{Sw, Swizzled, layout};
/// let tile = Swizzled::<Sw<3, 3, 2>, _>::new(layout!((8, 64) : (64, 1)));
/// ```
/// ```compile_fail
/// # use girih_typed::{Sw, Swizzled, int, layout};
/// // upcast of a swizzle: not supported: units above the bits that it keeps
/// Swizzled::<Sw<3, 2, 3>, _>::new(layout!((8, 64) : (64, 1))).recast(int!(16), int!(128));
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Swizzled<W, M, O = S<0>> {
    offset: O,
    layout: Layout<M>,
    swizzle: PhantomData<W>,
}

impl<W: Swizzling, M: Modes> Swizzled<W, M> {
    /// The swizzle after a layout.
    ///
    /// ```
    /// use girih_typed::{Sw, Swizzled, layout};
    /// let tile = Swizzled::<Sw<3, 3, 3>, _>::new(layout!((8, 64) : (64, 1)));
    /// assert_eq!(tile.to_string(), "Sw<3,3,3> o 0 o (8,64):(64,1)");
    /// ```
    pub fn new(layout: Layout<M>) -> Self {
        let _ = const { W::SWIZZLE };
        Swizzled { offset: S::<0>::new(), layout, swizzle: PhantomData }
    }
}

impl<W: Swizzling, M: Modes, O: Int> Swizzled<W, M, O> {
    fn with<N: Modes>(self, layout: Layout<N>) -> Swizzled<W, N, O> {
        Swizzled { offset: self.offset, layout, swizzle: PhantomData }
    }

    /// The swizzle, applied last.
    ///
    /// ```
    /// use girih_typed::{Sw, Swizzled, layout};
    /// let tile = Swizzled::<Sw<3, 3, 3>, _>::new(layout!((8, 64) : (64, 1)));
    /// assert_eq!(tile.swizzle().to_string(), "Sw<3,3,3>");
    /// ```
    pub fn swizzle(&self) -> Swizzle {
        const { W::SWIZZLE }
    }

    /// The layout, applied first.
    ///
    /// ```
    /// use girih_typed::{Sw, Swizzled, layout};
    /// let tile = Swizzled::<Sw<3, 3, 3>, _>::new(layout!((8, 64) : (64, 1)));
    /// assert_eq!(tile.layout(), layout!((8, 64) : (64, 1)));
    /// ```
    pub fn layout(&self) -> Layout<M> {
        self.layout
    }

    /// The offset that is added to the layout's index before the swizzle, in elements.
    ///
    /// ```
    /// use girih_typed::{Int, Sw, Swizzled, layout};
    /// let tile = Swizzled::<Sw<3, 3, 3>, _>::new(layout!((8, 64) : (64, 1)));
    /// assert_eq!(tile.offset().get(), 0);
    /// ```
    pub fn offset(&self) -> O {
        self.offset
    }

    /// The run-time form.
    ///
    /// # Errors
    /// Those of [`Layout::erase`].
    ///
    /// ```
    /// use girih_typed::{Sw, Swizzled, layout};
    /// let tile = Swizzled::<Sw<3, 3, 3>, _>::new(layout!((8, 64) : (64, 1)));
    /// assert_eq!(tile.erase()?.to_string(), "Sw<3,3,3> o 0 o (8,64):(64,1)");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub fn erase(&self) -> Result<Composed, Error> {
        Ok(Composed::new(self.swizzle(), self.offset.get(), self.layout.erase()?))
    }

    /// The index of a coordinate, with positions as in [`Layout::at`], for layouts without negative indices.
    ///
    /// ```
    /// use girih_typed::{Sw, Swizzled, layout};
    /// let tile = Swizzled::<Sw<3, 3, 3>, _>::new(layout!((8, 64) : (64, 1)));
    /// assert_eq!(tile.at((1usize, 0usize)), 64 + 8);
    /// ```
    #[inline(always)]
    #[track_caller]
    pub fn at<C: Coord<M>>(&self, coord: C) -> usize {
        let index = self.layout.at_signed(coord).wrapping_add(self.offset.get());
        const { W::SWIZZLE }.apply(index) as usize
    }

    /// The index of a coordinate, checked.
    ///
    /// # Errors
    /// As [`Layout::try_at`].
    ///
    /// ```
    /// use girih_typed::{Sw, Swizzled, layout};
    /// let tile = Swizzled::<Sw<3, 3, 3>, _>::new(layout!((8, 64) : (64, 1)));
    /// assert_eq!(tile.try_at((1usize, 0usize))?, 64 + 8);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub fn try_at<C: Coord<M>>(&self, coord: C) -> Result<i64, Error> {
        self.erase()?.crd2idx(&coord.erase()?)
    }

    /// The modes under `__`; the positions in the other modes go into the offset, since a swizzle does not commute with
    /// adding.
    ///
    /// ```
    /// use girih_typed::{Sw, Swizzled, layout};
    /// let tile = Swizzled::<Sw<3, 3, 3>, _>::new(layout!((8, 64) : (64, 1)));
    /// use girih_typed::__;
    /// assert_eq!(tile.slice((3usize, __)).at(0usize), 192 + 24);
    /// ```
    #[track_caller]
    pub fn slice<C: Slice<M>>(&self, coord: C) -> Swizzled<W, C::Kept, i64> {
        let (layout, offset) = self.layout.slice(coord);
        Swizzled { offset: self.offset.get().wrapping_add(offset), layout, swizzle: PhantomData }
    }

    /// The same layout moved to begin at a coordinate of this one, see [`Composed::domain_offset`]; of a plain layout the offset is
    /// [`Layout::at_signed`].
    ///
    /// ```
    /// use girih_typed::{Sw, Swizzled, layout};
    /// let tile = Swizzled::<Sw<1, 0, 2>, _>::new(layout!((4, 4) : (1, 4)));
    /// assert_eq!(tile.domain_offset((1, 2)).to_string(), "Sw<1,0,2> o 9 o (4,4):(1,4)");
    /// ```
    pub fn domain_offset<C: Coord<M>>(self, coord: C) -> Swizzled<W, M, i64> {
        let offset = self.offset.get().wrapping_add(self.layout.at_signed(coord));
        Swizzled { offset, layout: self.layout, swizzle: PhantomData }
    }

    /// The layout of elements of `new` bits over the same memory as elements of `old` bits, see [`Composed::recast`].
    ///
    /// A layout or an offset that is not static does not compile, nor does a recast without a result.
    ///
    /// ```
    /// use girih_typed::{Sw, Swizzled, layout};
    /// let tile = Swizzled::<Sw<3, 3, 3>, _>::new(layout!((8, 64) : (64, 1)));
    /// use girih_typed::int;
    /// assert_eq!(tile.recast(int!(16), int!(128)).to_string(), "Sw<3,0,3> o 0 o (8,8):(8,1)");
    /// ```
    pub fn recast<Old: Nat, New: Nat>(self, old: Old, new: New) -> Recasted<W, M, O, Old, New> {
        const { check_recast(W::SWIZZLE, Old::N, New::N, &<W::Recast<Old, New>>::SWIZZLE) };
        const { check_static("recast", O::KNOWN.is_some(), &M::SKELETON) };
        let layout = self.layout.recast(old, new);
        Swizzled { offset: Default::default(), layout, swizzle: PhantomData }
    }

    /// [`Swizzled::recast`], judged when the program runs: for a layout or an offset that is dynamic.
    ///
    /// # Errors
    /// Those of [`Composed::recast`] and of [`Layout::try_recast`].
    ///
    /// ```
    /// use girih_typed::{Sw, Swizzled, layout};
    /// let tile = Swizzled::<Sw<3, 3, 3>, _>::new(layout!((8, 64) : (64, 1)));
    /// use girih_typed::int;
    /// assert_eq!(tile.try_recast(int!(16), int!(128))?.to_string(), "Sw<3,0,3> o 0 o (8,8):(8,1)");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub fn try_recast<Old: Nat, New: Nat>(
        self,
        old: Old,
        new: New,
    ) -> Result<Recasted<W, M, O, Old, New>, Error> {
        const { check_recast(W::SWIZZLE, Old::N, New::N, &<W::Recast<Old, New>>::SWIZZLE) };
        let judged = self.erase()?.recast(old.get(), new.get())?;
        let offset = Int::from_value(judged.offset()).ok_or(Error::Overflow { op: "an offset" })?;
        Ok(Swizzled { offset, layout: self.layout.try_recast(old, new)?, swizzle: PhantomData })
    }
}

/// The offset in units of `New` bits instead of `Old` bits.
pub(super) type Offset<O, Old, New> = <<O as Int>::Mul<Reduced<Old, New>> as Int>::Upcast<Reduced<New, Old>>;

/// The type of [`Swizzled::recast`].
///
/// ```
/// use girih_typed::{Sw, Swizzled, layout};
/// let tile = Swizzled::<Sw<3, 3, 3>, _>::new(layout!((8, 64) : (64, 1)));
/// use girih_typed::{Layout, Mode, Recasted, S, int};
/// type M = (Mode<S<8>, S<64>>, Mode<S<64>, S<1>>);
/// let wide: Recasted<Sw<3, 3, 3>, M, S<0>, S<16>, S<128>> = tile.recast(int!(16), int!(128));
/// ```
pub type Recasted<W, M, O, Old, New> =
    Swizzled<<W as Swizzling>::Recast<Old, New>, Recast<M, Old, New>, Offset<O, Old, New>>;

/// Operations on the domain: they change the layout inside and keep the swizzle and the offset.
macro_rules! inside {
    ($($name:ident $try:ident $(<$($g:ident: $bound:ident),+> ($($x:ident: $t:ty),+))? -> $r:ty;)*) => {
        impl<W: Swizzling, M: Modes, O: Int> Swizzled<W, M, O> {$(
            #[doc = concat!("[`Layout::", stringify!($name), "`] of the layout inside.")]
            pub fn $name$(<$($g: $bound),+>)?(self $($(, $x: $t)+)?) -> Swizzled<W, $r, O> {
                self.with(self.layout.$name($($($x),+)?))
            }

            #[doc = concat!("[`Layout::", stringify!($try), "`] of the layout inside.")]
            ///
            /// # Errors
            #[doc = concat!("As [`Layout::", stringify!($try), "`].")]
            pub fn $try$(<$($g: $bound),+>)?(self $($(, $x: $t)+)?) -> Result<Swizzled<W, $r, O>, Error> {
                Ok(self.with(self.layout.$try($($($x),+)?)?))
            }
        )*}
    };
    (@edit $($name:ident $(<$($g:ident: $bound:ident),+> ($($x:ident: $t:ty),+))? -> $r:ty;)*) => {
        impl<W: Swizzling, M: Modes, O: Int> Swizzled<W, M, O> {$(
            #[doc = concat!("[`Layout::", stringify!($name), "`] of the layout inside.")]
            pub fn $name$(<$($g: $bound),+>)?(self $($(, $x: $t)+)?) -> Swizzled<W, $r, O> {
                self.with(self.layout.$name($($($x),+)?))
            }
        )*}
    };
}

inside! {
    coalesce try_coalesce -> Coalesced<M>;
    coalesce_by try_coalesce_by <P: IntTuple> (profile: P) -> CoalesceBy<M, P>;
    with_shape try_with_shape <Sh: IntTuple> (shape: Sh) -> Composition<M, Layout<Left<Sh>>>;
    composition try_composition <X: Tiler> (right: X) -> Composition<M, X>;
    logical_divide try_logical_divide <X: Tiler> (tiler: X) -> LogicalDivide<M, X>;
    zipped_divide try_zipped_divide <X: Tiler> (tiler: X) -> ZippedDivide<M, X>;
    tiled_divide try_tiled_divide <X: Tiler> (tiler: X) -> TiledDivide<M, X>;
    flat_divide try_flat_divide <X: Tiler> (tiler: X) -> FlatDivide<M, X>;
    logical_product try_logical_product <X: Tiler> (tiler: X) -> LogicalProduct<M, X>;
    zipped_product try_zipped_product <X: Tiler> (tiler: X) -> ZippedProduct<M, X>;
    tiled_product try_tiled_product <X: Tiler> (tiler: X) -> TiledProduct<M, X>;
    flat_product try_flat_product <X: Tiler> (tiler: X) -> FlatProduct<M, X>;
    blocked_product try_blocked_product <T: Modes> (tile: Layout<T>) -> BlockedProduct<M, T>;
    raked_product try_raked_product <T: Modes> (tile: Layout<T>) -> RakedProduct<M, T>;
    tile_to_shape try_tile_to_shape <Sh: IntTuple> (target: Sh) -> TileToShape<M, Sh>;
    tile_to_shape_by try_tile_to_shape_by <Sh: IntTuple, K: IntTuple> (target: Sh, order: K) -> TileToShapeBy<M, Sh, K>;
}

inside! {
    @edit
    mode <I: Nat> (number: I) -> ModeAt<M, I>;
    select <P: Picks> (numbers: P) -> Select<M, P>;
    take <B: Nat, E: Nat> (begin: B, end: E) -> Take<M, B, E>;
    group <B: Nat, E: Nat> (begin: B, end: E) -> Group<M, B, E>;
    flatten -> Flatten<M>;
    unflatten <P: IntTuple> (profile: P) -> Unflatten<M, P>;
}

impl<W: Swizzling, M: Modes, O: Int> fmt::Display for Swizzled<W, M, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} o {} o ", self.swizzle(), self.offset.get())?;
        fmt::Display::fmt(&self.layout, f)
    }
}

impl<W: Swizzling, M: Modes, O: Int> fmt::Debug for Swizzled<W, M, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:#}")
    }
}
