//! The typed layout and its operations.

use core::fmt;

use typenum::{B0, B1, UInt, UTerm};

use super::check::{check, check_shape, check_static, check_structure, check_unsigned, run};
use super::coord::{Coord, Slice};
use super::cosize::Cosize;
use super::int::{Int, S};
use super::list::{List, Nil};
use super::modes::{Mode, Modes};
use super::nat::Nat;
use super::op::{NONE, Op};
use super::storage::Storage;
use super::tiler::Tiler;
use super::{
    BlockedProduct, Coalesced, Complement, Composition, FlatDivide, FlatProduct, LeftInverse, LogicalDivide,
    LogicalProduct, RakedProduct, RightInverse, TiledDivide, TiledProduct, ZippedDivide, ZippedProduct,
};
use crate::{Error, Lay};

/// A layout whose structure, and whatever of its integers is static, is in its type.
///
/// Static integers take no room and no time: a static layout is a value of size 0, and its indices are constants, shifts and adds.
/// `M` is a [`Mode`] or a tuple of modes; mode `i` is `Layout(l.0.i)`, layouts side by side are `Layout((a.0, b.0))`.
///
/// `Display` prints `((2,2),4):((1,8),2)`, with `{:#}` static integers carry CuTe's mark.
///
/// ```
/// use girih_layout::{int, layout};
/// let ld: usize = 70;
/// let a = layout!((128, 64) : (ld, 1));
/// assert_eq!(format!("{a:#}"), "(_128,_64):(70,_1)");
/// assert_eq!(a.at((3, 5)), 215);
/// let tiles = a.try_zipped_divide((int!(32), int!(16)))?;
/// assert_eq!(format!("{tiles:#}"), "((_32,_16),(_4,_4)):((70,_1),(2240,_16))");
/// # Ok::<(), girih_layout::Error>(())
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Layout<M>(pub M);

/// A shape and the strides that go with it: what [`Layout::new`] takes.
#[diagnostic::on_unimplemented(
    message = "shape `{Self}` and stride `{D}` are not congruent",
    note = "every shape tuple needs a stride tuple of the same rank, every integer an integer"
)]
pub trait Congruent<D> {
    /// The modes of shape and stride.
    type Modes: Modes;
    #[doc(hidden)]
    fn modes(self, stride: D) -> Self::Modes;
}

// One impl a kind of extent: a blanket impl would make rustc complain that a tuple is no integer.
macro_rules! leaves {
    ($([$($g:tt)*] $t:ty;)*) => {$(
        impl<D: Int, $($g)*> Congruent<D> for $t {
            type Modes = Mode<$t, D>;
            fn modes(self, stride: D) -> Mode<$t, D> {
                Mode(self, stride)
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

/// The layout of a shape and its strides: `Lt<(S<128>, S<64>), (S<64>, S<1>)>`.
pub type Lt<Sh, St> = Layout<<Sh as Congruent<St>>::Modes>;

/// The size of a tree of modes, the product of its extents.
pub type Size<M> = <<M as Modes>::Leaves<Nil> as List>::Size;

/// The type of [`Layout::array`]: room for every index of the layout.
pub type ArrayOf<T, M> = <Cosize<M> as Int>::Array<T>;

impl<M: Modes> Layout<M> {
    /// `shape:stride`.
    ///
    /// ```
    /// use girih_layout::typed::{Layout, S};
    /// let n: usize = 6;
    /// let l = Layout::new((S::<4>::new(), n), (S::<1>::new(), 2 * n));
    /// assert_eq!(l.to_string(), "(4,6):(1,12)");
    /// ```
    pub fn new<Sh: Congruent<St, Modes = M>, St>(shape: Sh, stride: St) -> Layout<M> {
        const { check_shape(&M::SKELETON) };
        Layout(shape.modes(stride))
    }

    /// The shape: nested tuples of integers.
    pub fn shape(&self) -> M::Shape {
        self.0.shape()
    }

    /// The strides, congruent to the shape.
    pub fn stride(&self) -> M::Stride {
        self.0.stride()
    }

    /// The run-time layout, with its static marks.
    ///
    /// # Errors
    /// [`Error::NonPositiveShape`] for a dynamic extent of 0, [`Error::Capacity`].
    pub fn erase(&self) -> Result<Lay, Error> {
        let mut out = Lay::EMPTY;
        self.0.erase_into(&mut out)?;
        out.shape.checked()?;
        Ok(out)
    }

    /// The run-time layout of a static one.
    ///
    /// ```
    /// use girih_layout::{lay, layout};
    /// assert_eq!(layout!((4, 8) : (8, 1)).lay(), lay!("(4,8):(8,1)"));
    /// ```
    pub const fn lay(&self) -> Lay {
        const {
            check_static("lay", M::STATIC, &M::SKELETON);
            check_shape(&M::SKELETON);
            M::SKELETON
        }
    }

    /// The number of coordinates of a static layout.
    pub const fn size(&self) -> usize {
        const {
            check_static("size", M::STATIC, &M::SKELETON);
            known::<Size<M>>()
        }
    }

    /// The number of elements that a buffer under a static layout needs.
    pub const fn cosize(&self) -> usize {
        const {
            check_static("cosize", M::STATIC, &M::SKELETON);
            check_unsigned(M::SIGNED, &M::SKELETON);
            known::<Cosize<M>>()
        }
    }

    /// The number of coordinates.
    ///
    /// # Errors
    /// Those of [`Layout::erase`], [`Error::Overflow`].
    pub fn try_size(&self) -> Result<usize, Error> {
        unsigned(self.erase()?.size()?)
    }

    /// The number of elements that a buffer under the layout needs.
    ///
    /// # Errors
    /// Those of [`Layout::erase`] and [`Lay::cosize`].
    pub fn try_cosize(&self) -> Result<usize, Error> {
        unsigned(self.erase()?.cosize()?)
    }

    /// An array with room for every index of a static layout, each element `value`.
    ///
    /// ```
    /// use girih_layout::layout;
    /// use girih_layout::typed::Storage;
    /// let l = layout!((4, 3) : (1, 8));
    /// let mut a = l.array(0f32);
    /// *a.get_mut(l.at((3, 2))).ok_or("outside")? = 1.0;
    /// assert_eq!(size_of_val(&a), 20 * 4);
    /// # Ok::<(), &str>(())
    /// ```
    pub fn array<T: Copy>(&self, value: T) -> ArrayOf<T, M> {
        const {
            check_static("an owning array", M::STATIC, &M::SKELETON);
            check_unsigned(M::SIGNED, &M::SKELETON);
            assert!(size_of::<ArrayOf<T, M>>() == <ArrayOf<T, M>>::LEN * size_of::<T>());
        }
        ArrayOf::<T, M>::filled(value)
    }

    /// The index of a coordinate: 1-D, one position a mode, or as nested as the shape; static positions and dynamic ones.
    ///
    /// A static position outside its extent does not compile. Dynamic ones are not checked: past its extent the last leaf goes on, as in
    /// CuTe; see [`Layout::try_at`].
    ///
    /// ```
    /// use girih_layout::{int, layout};
    /// let l = layout!(((2, 2), 4) : ((1, 8), 2));
    /// assert_eq!(l.at(((1, 1), 3)), 15);
    /// assert_eq!(l.at((3, int!(3))), 15);
    /// assert_eq!(l.at(15), 15);
    /// ```
    #[inline(always)]
    pub fn at<C: Coord<M>>(&self, coord: C) -> usize {
        const { check_unsigned(M::SIGNED, &M::SKELETON) };
        coord.index(&self.0) as usize
    }

    /// [`Layout::at`] for layouts with strides that are or may be negative.
    #[inline(always)]
    pub fn at_signed<C: Coord<M>>(&self, coord: C) -> i64 {
        coord.index(&self.0)
    }

    /// The index of a coordinate, checked.
    ///
    /// # Errors
    /// [`Error::CoordOutOfRange`], [`Error::Overflow`], and those of [`Layout::erase`].
    pub fn try_at<C: Coord<M>>(&self, coord: C) -> Result<i64, Error> {
        self.erase()?.crd2idx(&coord.erase()?)
    }

    /// The modes under [`__`](super::__), side by side, and the index of the rest. Positions as in [`Layout::at`].
    ///
    /// ```
    /// use girih_layout::layout;
    /// use girih_layout::typed::__;
    /// let l = layout!((8, (2, 3)) : (6, (1, 2)));
    /// let (row, offset) = l.slice((5, (__, 1)));
    /// assert_eq!((row.to_string().as_str(), offset), ("(2):(1)", 32));
    /// ```
    pub fn slice<C: Slice<M>>(&self, coord: C) -> (Layout<C::Kept>, i64) {
        let (kept, offset) = coord.kept(&self.0);
        (Layout(kept), offset)
    }
}

/// Each operation for static operands, judged when the program is compiled, and for any, judged when it runs.
macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident $try:ident $op:ident $([$g:ident: $bound:ident, $x:ident = $skeleton:expr, $erased:expr])? -> $r:ty;)*) => {
        impl<M: Modes> Layout<M> {$(
            $(#[$doc])*
            ///
            /// Operands that are not static, or that have no result, do not compile.
            pub fn $name$(<$g: $bound>)?(self $(, $x: $g)?) -> Layout<$r> {
                const {
                    check(Op::$op, M::STATIC $(&& <$g as $bound>::STATIC)?, &M::SKELETON,
                        &operations!(@skeleton $($skeleton)?), &<$r as Modes>::SKELETON)
                };
                $(let _ = $x;)?
                Layout(Default::default())
            }

            #[doc = concat!("[`Layout::", stringify!($name), "`], judged when the program runs: for operands with something dynamic.")]
            ///
            /// # Errors
            #[doc = concat!("Those of [`Layout::erase`] and of the operation of [`Lay`]; [`Error::Unsupported`] where the values ")]
            #[doc = "make a result of another structure than the static integers let expect."]
            pub fn $try$(<$g: $bound>)?(self $(, $x: $g)?) -> Result<Layout<$r>, Error> {
                const {
                    check_structure(Op::$op, &M::SKELETON, &operations!(@skeleton $($skeleton)?),
                        &<$r as Modes>::SKELETON)
                };
                run(Op::$op, &self.erase()?, &operations!(@erased $($erased)?))
            }
        )*}
    };
    (@skeleton $e:expr) => { $e };
    (@skeleton) => { NONE };
    (@erased $e:expr) => { $e };
    (@erased) => { NONE };
}

operations! {
    /// The same function with as few modes as possible, see [`Lay::coalesce`]. Modes merge where that is right whatever the dynamic integers.
    ///
    /// ```
    /// use girih_layout::layout;
    /// assert_eq!(layout!((2, (1, 6)) : (1, (6, 2))).coalesce(), layout!(12 : 1));
    /// ```
    coalesce try_coalesce Coalesce -> Coalesced<M>;

    /// The layout that maps the indices 0, 1, 2 ... back, see [`Lay::right_inverse`]: as far as modes provably follow on from one another.
    ///
    /// ```
    /// use girih_layout::layout;
    /// assert_eq!(layout!((2, 4, 6) : (4, 1, 8)).right_inverse(), layout!((4, 2, 6) : (2, 1, 8)));
    /// ```
    right_inverse try_right_inverse RightInverse -> RightInverse<M>;

    /// The layout `L` with `L(self(i)) = i` for every `i` of the domain, see [`Lay::left_inverse`].
    ///
    /// ```
    /// use girih_layout::layout;
    /// assert_eq!(layout!(4 : 2).left_inverse(), layout!((2, 4) : (0, 1)));
    /// ```
    left_inverse try_left_inverse LeftInverse -> LeftInverse<M>;

    /// `R(c) = self(right(c))`, or mode by mode with a tuple of tiles, see [`Lay::composition`] and [`Lay::composition_by`].
    ///
    /// ```
    /// use girih_layout::layout;
    /// let r = layout!((10, 2) : (16, 4)).composition(layout!((5, 4) : (1, 5)));
    /// assert_eq!(r, layout!((5, (2, 2)) : (16, (80, 4))));
    /// ```
    ///
    /// ```compile_fail
    /// # use girih_layout::layout;
    /// // stride 4 and extent 6 do not divide one another
    /// layout!((6, 2) : (8, 2)).composition(layout!(6 : 4));
    /// ```
    composition try_composition Composition [X: Tiler, right = X::SKELETON, right.erase()?] -> Composition<M, X>;

    /// Mode 0 the tile, mode 1 where the tiles are, in each mode that has a tile, see [`Lay::logical_divide`].
    logical_divide try_logical_divide LogicalDivide [X: Tiler, tiler = X::SKELETON, tiler.erase()?] -> LogicalDivide<M, X>;

    /// `((TileM,TileN),(RestM,RestN))`, see [`Lay::zipped_divide`].
    ///
    /// ```
    /// use girih_layout::{int, layout};
    /// let tiles = layout!((256, 64) : (64, 1)).zipped_divide((int!(128), int!(32)));
    /// assert_eq!(tiles, layout!(((128, 32), (2, 2)) : ((64, 1), (8192, 32))));
    /// ```
    ///
    /// ```compile_fail
    /// # use girih_layout::{int, layout};
    /// // more tiles than modes
    /// layout!((256, 64) : (64, 1)).zipped_divide((int!(128), int!(32), int!(4)));
    /// ```
    zipped_divide try_zipped_divide ZippedDivide [X: Tiler, tiler = X::SKELETON, tiler.erase()?] -> ZippedDivide<M, X>;

    /// `((TileM,TileN),RestM,RestN)`, see [`Lay::tiled_divide`].
    tiled_divide try_tiled_divide TiledDivide [X: Tiler, tiler = X::SKELETON, tiler.erase()?] -> TiledDivide<M, X>;

    /// `(TileM,TileN,RestM,RestN)`, see [`Lay::flat_divide`].
    flat_divide try_flat_divide FlatDivide [X: Tiler, tiler = X::SKELETON, tiler.erase()?] -> FlatDivide<M, X>;

    /// Mode 0 the block, mode 1 its copies, in each mode that has a tile, see [`Lay::logical_product`].
    ///
    /// ```
    /// use girih_layout::{int, layout};
    /// assert_eq!(layout!((2, 2) : (4, 1)).logical_product(int!(6)), layout!(((2, 2), (2, 3)) : ((4, 1), (2, 8))));
    /// ```
    logical_product try_logical_product LogicalProduct [X: Tiler, tiler = X::SKELETON, tiler.erase()?] -> LogicalProduct<M, X>;

    /// The blocks' modes in mode 0, the tiles' in mode 1, see [`Lay::zipped_product`].
    zipped_product try_zipped_product ZippedProduct [X: Tiler, tiler = X::SKELETON, tiler.erase()?] -> ZippedProduct<M, X>;

    /// The blocks' modes in mode 0, then the tiles', see [`Lay::tiled_product`].
    tiled_product try_tiled_product TiledProduct [X: Tiler, tiler = X::SKELETON, tiler.erase()?] -> TiledProduct<M, X>;

    /// All modes side by side, see [`Lay::flat_product`].
    flat_product try_flat_product FlatProduct [X: Tiler, tiler = X::SKELETON, tiler.erase()?] -> FlatProduct<M, X>;
}

impl<M: Modes> Layout<M> {
    /// What this layout leaves out of `0..cotarget`, see [`Lay::complement`].
    ///
    /// Operands that are not static, or that have no result, do not compile.
    ///
    /// ```
    /// use girih_layout::{int, layout};
    /// assert_eq!(layout!((2, 2) : (1, 6)).complement(int!(24)), layout!((3, 2) : (2, 12)));
    /// ```
    pub fn complement<C: Int>(self, cotarget: C) -> Layout<Complement<M, C>> {
        const {
            check(
                Op::Complement,
                M::STATIC && C::KNOWN.is_some(),
                &M::SKELETON,
                &crate::Tiler::Lay(Mode::<C, S<1>>::SKELETON),
                &<Complement<M, C> as Modes>::SKELETON,
            )
        };
        let _ = cotarget;
        Layout(Default::default())
    }

    /// [`Layout::complement`], judged when the program runs.
    ///
    /// # Errors
    /// As [`Layout::try_coalesce`].
    pub fn try_complement<C: Int>(self, cotarget: C) -> Result<Layout<Complement<M, C>>, Error> {
        const {
            check_structure(
                Op::Complement,
                &M::SKELETON,
                &crate::Tiler::Lay(Mode::<C, S<1>>::SKELETON),
                &<Complement<M, C> as Modes>::SKELETON,
            )
        };
        run(
            Op::Complement,
            &self.erase()?,
            &crate::Tiler::Lay(Lay::raw_leaf(cotarget.erase(), crate::Stride::ZERO)),
        )
    }
}

macro_rules! pairings {
    ($($(#[$doc:meta])* $name:ident $try:ident $op:ident -> $r:ident;)*) => {
        impl<M: Modes> Layout<M> {$(
            $(#[$doc])*
            ///
            /// Operands that are not static, or that have no result, do not compile.
            pub fn $name<T: Modes>(self, tile: Layout<T>) -> Layout<$r<M, T>> {
                const {
                    check(Op::$op, M::STATIC && T::STATIC, &M::SKELETON, &crate::Tiler::Lay(T::SKELETON),
                        &<$r<M, T> as Modes>::SKELETON)
                };
                let _ = tile;
                Layout(Default::default())
            }

            #[doc = concat!("[`Layout::", stringify!($name), "`], judged when the program runs.")]
            ///
            /// # Errors
            /// As [`Layout::try_logical_product`].
            pub fn $try<T: Modes>(self, tile: Layout<T>) -> Result<Layout<$r<M, T>>, Error> {
                const {
                    check_structure(Op::$op, &M::SKELETON, &crate::Tiler::Lay(T::SKELETON),
                        &<$r<M, T> as Modes>::SKELETON)
                };
                run(Op::$op, &self.erase()?, &crate::Tiler::Lay(tile.erase()?))
            }
        )*}
    };
}

pairings! {
    /// Copies of this block side by side, `((BlockM,TileM),(BlockN,TileN))`, see [`Lay::blocked_product`].
    ///
    /// ```
    /// use girih_layout::layout;
    /// let r = layout!((2, 5) : (5, 1)).blocked_product(layout!((3, 4) : (1, 3)));
    /// assert_eq!(r, layout!(((2, 3), (5, 4)) : ((5, 10), (1, 30))));
    /// ```
    blocked_product try_blocked_product BlockedProduct -> BlockedProduct;

    /// Copies of this block interleaved, `((TileM,BlockM),(TileN,BlockN))`, see [`Lay::raked_product`].
    raked_product try_raked_product RakedProduct -> RakedProduct;
}

const fn known<N: Int>() -> usize {
    match N::KNOWN {
        Some(n @ 0..) => n as usize,
        _ => panic!("a static integer of at least 0"),
    }
}

fn unsigned(n: crate::Int) -> Result<usize, Error> {
    n.get().and_then(|n| n.try_into().ok()).ok_or(Error::Overflow { op: "a size" })
}

impl<M: Modes> fmt::Display for Layout<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = Lay::EMPTY;
        self.0.erase_into(&mut out).map_err(|_| fmt::Error)?;
        out.fmt(f)
    }
}

impl<M: Modes> fmt::Debug for Layout<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:#}")
    }
}
