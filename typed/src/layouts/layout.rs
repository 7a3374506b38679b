//! The typed layout and its properties.

use core::fmt;

use girih_layout::{Error, Lay};

use super::check::{check_line, check_shape, check_static};
use super::congruent::Congruent;
use super::cosize::{Cosize, Size};
use super::int::Int;
use super::modes::Modes;
use super::storage::Storage;
use super::tree::Tree;

/// A layout whose structure and static integers are in its type.
///
/// Static integers take no room and no time: a static layout is a value of size 0, and its indices are constants, shifts and adds.
/// `M` is a [`Mode`](super::Mode) or a tuple of modes; mode `i` is `Layout(l.0.i)`, layouts side by side are `Layout((a.0, b.0))`.
///
/// `Display` prints `((2,2),4):((1,8),2)`, with `{:#}` static integers carry CuTe's mark.
///
/// ```
/// use girih_typed::{int, layout};
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

/// The layout of a shape and its strides: `Lt<(S<128>, S<64>), (S<64>, S<1>)>`, for which
/// [`layout_type!`](crate::layout_type) writes `layout_type!((128, 64) : (64, 1))`.
///
/// ```
/// use girih_typed::{Lt, S, layout};
/// let made: Lt<(S<4>, S<8>), (S<1>, S<4>)> = layout!((4, 8) : (1, 4));
/// ```
pub type Lt<Sh, St> = Layout<<Sh as Congruent<St>>::Modes>;

/// The type of [`Layout::array`]: room for every index of the layout.
///
/// ```
/// use girih_typed::{ArrayOf, Mode, S, layout};
/// let made: ArrayOf<f32, (Mode<S<4>, S<1>>, Mode<S<8>, S<4>>)> = layout!((4, 8) : (1, 4)).array(0.0);
/// ```
pub type ArrayOf<T, M> = <Cosize<M> as Int>::Array<T>;

/// A type of layouts, by which its modes are named: [`ModesOf`].
///
/// ```
/// use girih_typed::{Layout, Mode, S, Typed};
/// type Row = Layout<Mode<S<8>, S<1>>>;
/// let modes: <Row as Typed>::Modes = Row::default().0;
/// ```
pub trait Typed {
    /// The modes.
    type Modes: Modes;
}

impl<M: Modes> Typed for Layout<M> {
    type Modes = M;
}

/// The modes of a type of layouts, which the types of results are functions of.
///
/// ```
/// use girih_typed::{Check, Layout, ModesOf, S, Sw, Swizzled, ZippedDivide, layout_type};
/// type Tile = layout_type!((8, 64) : (64, 1));
/// type Parts = Layout<ZippedDivide<ModesOf<Tile>, (S<4>, S<16>)>>;
/// // A named result is not checked by itself.
/// const _: () = Check::<Tile>::zipped_divide::<(S<4>, S<16>)>();
/// assert_eq!(Parts::LAY.to_string(), "((4,16),(2,4)):((64,1),(256,16))");
/// assert_eq!(Swizzled::<Sw<3, 3, 3>, ModesOf<Tile>>::COSIZE, 512);
/// ```
pub type ModesOf<L> = <L as Typed>::Modes;

/// What is known of a static layout by its type alone, for constants and the lengths of arrays.
///
/// ```
/// use girih_layout::{Lay, lay};
/// use girih_typed::{layout, layout_type};
/// type Tile = layout_type!((4, 8) : (1, 16));
/// struct Shared {
///     tile: [f32; Tile::COSIZE],
/// }
/// static ROWS: [u8; Tile::SIZE] = [0; Tile::SIZE];
/// const TILE: Lay = Tile::LAY;
///
/// let mut shared = Shared { tile: [0.0; Tile::COSIZE] };
/// let tile = Tile::default(); // the only value of the type
/// shared.tile[tile.at((3, 7))] = 1.0;
/// assert_eq!((shared.tile.len(), ROWS.len(), TILE), (116, 32, lay!("(4,8):(1,16)")));
/// assert_eq!(tile, layout!((4, 8) : (1, 16)));
/// ```
///
/// Here the message is `cosize needs a static layout, this one is (4,?):(1,4)`:
/// ```compile_fail
/// # use girih_typed::layout_type;
/// let room = [0f32; <layout_type!((4, usize) : (1, 4))>::COSIZE];
/// ```
impl<M: Modes> Layout<M> {
    /// The number of modes, 1 for a leaf.
    ///
    /// ```
    /// use girih_typed::layout_type;
    /// assert_eq!(<layout_type!((4, usize) : (1, 4))>::RANK, 2);
    /// ```
    pub const RANK: usize = M::RANK;

    /// The number of coordinates. A layout that is not static does not compile.
    ///
    /// ```
    /// use girih_typed::layout_type;
    /// const SIZE: usize = <layout_type!((4, 8) : (1, 16))>::SIZE;
    /// assert_eq!(SIZE, 32);
    /// ```
    pub const SIZE: usize = {
        check_static("size", M::STATIC, &M::SKELETON);
        check_shape(&M::SKELETON);
        known::<Size<M>>()
    };

    /// The number of elements that a buffer needs. A layout that is not static, or whose indices are or may be negative
    /// or are coordinates, does not compile.
    ///
    /// ```
    /// use girih_typed::layout_type;
    /// const COSIZE: usize = <layout_type!((4, 8) : (1, 16))>::COSIZE;
    /// assert_eq!([0f32; COSIZE].len(), 116);
    /// ```
    pub const COSIZE: usize = {
        check_static("cosize", M::STATIC, &M::SKELETON);
        check_shape(&M::SKELETON);
        check_line("a buffer", M::SIGNED, M::COORDINATES, &M::SKELETON);
        known::<Cosize<M>>()
    };

    /// The run-time layout, whose operations are constant functions. A layout that is not static does not compile.
    ///
    /// ```
    /// use girih_typed::layout_type;
    /// const LAST: Option<i64> = match <layout_type!((4, 8) : (1, 16))>::LAY.max_index() {
    ///     Ok(index) => Some(index),
    ///     Err(_) => None,
    /// };
    /// assert_eq!(LAST, Some(115));
    /// ```
    pub const LAY: Lay = {
        check_static("lay", M::STATIC, &M::SKELETON);
        check_shape(&M::SKELETON);
        match M::SKELETON.lay() {
            Ok(layout) => layout,
            Err(_) => Lay::UNIT, // a shape that is refused does not compile
        }
    };

    /// `shape:stride`.
    ///
    /// ```
    /// use girih_typed::{Layout, S};
    /// let n: usize = 6;
    /// let l = Layout::new((S::<4>::new(), n), (S::<1>::new(), 2 * n));
    /// assert_eq!(l.to_string(), "(4,6):(1,12)");
    /// ```
    pub fn new<Sh: Congruent<St, Modes = M>, St>(shape: Sh, stride: St) -> Layout<M> {
        const { check_shape(&M::SKELETON) };
        Layout(shape.modes(stride))
    }

    /// The shape: nested tuples of integers.
    ///
    /// ```
    /// use girih_typed::layout;
    /// let n = 8usize;
    /// assert_eq!(layout!((4, n) : (1, 4)).shape().1, 8);
    /// ```
    pub fn shape(&self) -> M::Shape {
        self.0.shape()
    }

    /// The strides, congruent to the shape.
    ///
    /// ```
    /// use girih_typed::layout;
    /// let ld = 64usize;
    /// assert_eq!(layout!((4, 8) : (ld, 1)).stride().0, 64);
    /// ```
    pub fn stride(&self) -> M::Stride {
        self.0.stride()
    }

    /// The run-time layout, with its static marks.
    ///
    /// # Errors
    /// [`Error::NonPositiveShape`] for a dynamic extent of 0, [`Error::Capacity`].
    ///
    /// ```
    /// use girih_typed::layout;
    /// assert_eq!(layout!((4, 8) : (1, 4)).erase()?.to_string(), "(4,8):(1,4)");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub fn erase(&self) -> Result<Lay, Error> {
        self.0.tree()?.lay()
    }

    /// The run-time layout of a static layout.
    ///
    /// ```
    /// use girih_layout::lay;
    /// use girih_typed::layout;
    /// assert_eq!(layout!((4, 8) : (8, 1)).lay(), lay!("(4,8):(8,1)"));
    /// ```
    pub const fn lay(&self) -> Lay {
        Self::LAY
    }

    /// The number of coordinates of a static layout.
    ///
    /// ```
    /// use girih_typed::layout;
    /// assert_eq!(layout!((4, 8) : (1, 16)).size(), 32);
    /// ```
    pub const fn size(&self) -> usize {
        Self::SIZE
    }

    /// The number of elements that a buffer under a static layout needs.
    ///
    /// ```
    /// use girih_typed::layout;
    /// assert_eq!(layout!((4, 8) : (1, 16)).cosize(), 116);
    /// ```
    pub const fn cosize(&self) -> usize {
        Self::COSIZE
    }

    /// The number of coordinates.
    ///
    /// # Errors
    /// Those of [`Layout::erase`], [`Error::Overflow`].
    ///
    /// ```
    /// use girih_typed::layout;
    /// let n = 8usize;
    /// assert_eq!(layout!((4, n) : (1, 16)).try_size()?, 32);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub fn try_size(&self) -> Result<usize, Error> {
        unsigned(self.erase()?.size()?.get())
    }

    /// The number of elements that a buffer under the layout needs.
    ///
    /// # Errors
    /// Those of [`Layout::erase`] and [`Lay::cosize`].
    ///
    /// ```
    /// use girih_typed::layout;
    /// let n = 8usize;
    /// assert_eq!(layout!((4, n) : (1, 16)).try_cosize()?, 116);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub fn try_cosize(&self) -> Result<usize, Error> {
        unsigned(self.erase()?.cosize()?.get())
    }

    /// An array with room for every index of a static layout, each element `value`.
    ///
    /// ```
    /// use girih_typed::{Storage, layout};
    /// let l = layout!((4, 3) : (1, 8));
    /// let mut a = l.array(0f32);
    /// *a.get_mut(l.at((3, 2))).ok_or("outside")? = 1.0;
    /// assert_eq!(size_of_val(&a), 20 * 4);
    /// # Ok::<(), &str>(())
    /// ```
    pub fn array<T: Copy>(&self, value: T) -> ArrayOf<T, M> {
        const {
            check_static("an owning array", M::STATIC, &M::SKELETON);
            check_line("a buffer", M::SIGNED, M::COORDINATES, &M::SKELETON);
            assert!(size_of::<ArrayOf<T, M>>() == <ArrayOf<T, M>>::LEN * size_of::<T>());
        }
        ArrayOf::<T, M>::filled(value)
    }
}

pub(super) const fn known<N: Int>() -> usize {
    match N::KNOWN {
        Some(n @ 0..) => n as usize,
        _ => panic!("a static integer of at least 0"),
    }
}

pub(super) fn unsigned(n: Option<i64>) -> Result<usize, Error> {
    n.and_then(|n| n.try_into().ok()).ok_or(Error::Overflow { op: "a size" })
}

impl<M: Modes> fmt::Display for Layout<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tree { shape, stride } = self.0.tree().map_err(|_| fmt::Error)?;
        shape.fmt(f)?;
        f.write_str(":")?;
        stride.fmt(f)
    }
}

impl<M: Modes> fmt::Debug for Layout<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:#}")
    }
}
