//! Offsets, coordinates and slices that a typed layout has at a coordinate.

use girih_layout::Error;

use super::check::{check_coordinates, check_line};
use super::coord::{Coord, Slice};
use super::int::LINE;
use super::layout::Layout;
use super::modes::Modes;

impl<M: Modes> Layout<M> {
    /// The index of a coordinate: 1-D, with one position for each mode, or as nested as the shape. Positions are static
    /// or dynamic.
    ///
    /// A static position outside its extent does not compile. Dynamic positions are checked where debug assertions are
    /// on, and panic when they are outside; elsewhere the last leaf goes on past its extent, as in CuTe.
    /// [`Layout::try_at`] always checks positions.
    ///
    /// ```
    /// use girih_typed::{int, layout};
    /// let l = layout!(((2, 2), 4) : ((1, 8), 2));
    /// assert_eq!(l.at(((1, 1), 3)), 15);
    /// assert_eq!(l.at((3, int!(3))), 15);
    /// assert_eq!(l.at(15), 15);
    /// ```
    #[inline(always)]
    #[track_caller]
    pub fn at<C: Coord<M>>(&self, coord: C) -> usize {
        const { check_line("at", M::SIGNED, M::COORDINATES, &M::SKELETON) };
        debug_inside(|| coord.check(&self.0));
        coord.index(&self.0, LINE) as usize
    }

    /// [`Layout::at`] for layouts with strides that are or may be negative.
    ///
    /// ```
    /// use girih_typed::layout;
    /// let back = -1i64;
    /// assert_eq!(layout!(4 : back).at_signed(3usize), -3);
    /// ```
    #[inline(always)]
    #[track_caller]
    pub fn at_signed<C: Coord<M>>(&self, coord: C) -> i64 {
        const { check_line("at_signed", false, M::COORDINATES, &M::SKELETON) };
        debug_inside(|| coord.check(&self.0));
        coord.index(&self.0, LINE)
    }

    /// The index of a coordinate, checked.
    ///
    /// # Errors
    /// [`Error::CoordOutOfRange`], [`Error::Overflow`], and those of [`Layout::erase`].
    ///
    /// ```
    /// use girih_typed::layout;
    /// let l = layout!((4, 8) : (8, 1));
    /// assert_eq!(l.try_at((2usize, 3usize))?, 19);
    /// assert!(l.try_at((4usize, 0usize)).is_err());
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    #[inline(always)]
    pub fn try_at<C: Coord<M>>(&self, coord: C) -> Result<i64, Error> {
        if const { in_range::<M>() } {
            coord.check(&self.0)?;
            return Ok(coord.index(&self.0, LINE));
        }
        self.erase()?.crd2idx(&coord.erase()?)
    }

    /// The modes under [`__`](super::__), side by side, and the index of the fixed positions as an offset. Positions
    /// are as in [`Layout::at`].
    ///
    /// ```
    /// use girih_typed::{__, layout};
    /// let l = layout!((8, (2, 3)) : (6, (1, 2)));
    /// let (row, offset) = l.slice((5, (__, 1)));
    /// assert_eq!((row.to_string().as_str(), offset), ("(2):(1)", 32));
    /// ```
    #[track_caller]
    pub fn slice<C: Slice<M>>(&self, coord: C) -> (Layout<C::Kept>, i64) {
        const { check_line("slice", false, M::COORDINATES, &M::SKELETON) };
        debug_inside(|| coord.check(&self.0));
        let (kept, offset) = coord.kept(&self.0, LINE);
        (Layout(kept), offset)
    }

    /// [`Layout::slice`], checked.
    ///
    /// # Errors
    /// [`Error::CoordOutOfRange`] for a position outside its mode; those of [`Layout::erase`] and [`Lay::max_index`](girih_layout::Lay::max_index).
    ///
    /// ```
    /// use girih_typed::{__, layout};
    /// let l = layout!((8, (2, 3)) : (6, (1, 2)));
    /// assert_eq!(l.try_slice((5usize, (__, 1usize)))?.1, 32);
    /// assert!(l.try_slice((8usize, __)).is_err());
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub fn try_slice<C: Slice<M>>(&self, coord: C) -> Result<(Layout<C::Kept>, i64), Error> {
        const { check_line("try_slice", false, M::COORDINATES, &M::SKELETON) };
        coord.check(&self.0)?;
        if !const { in_range::<M>() } {
            let layout = self.erase()?;
            layout.min_index()?;
            layout.max_index()?;
        }
        let (kept, offset) = coord.kept(&self.0, LINE);
        Ok((Layout(kept), offset))
    }

    /// The coordinate, of rank `R`, that a layout along basis vectors has at a coordinate. Positions are as in
    /// [`Layout::at`].
    ///
    /// ```
    /// use girih_typed::{Layout, int_tuple};
    /// let tiles = Layout::identity(int_tuple!((128, 64))).zipped_divide(int_tuple!((32, 16)));
    /// let [i, j] = tiles.coord_at(((5, 3), (1, 2)));
    /// assert_eq!((i, j), (37, 35));
    /// ```
    ///
    /// Here the message is `coord_at: the indices of (4,8):(8,1) are no coordinates: call at`:
    /// ```compile_fail
    /// # use girih_typed::layout;
    /// let [i, j] = layout!((4, 8) : (8, 1)).coord_at((3, 5));
    /// ```
    #[inline(always)]
    #[track_caller]
    pub fn coord_at<C: Coord<M>, const R: usize>(&self, coord: C) -> [usize; R] {
        const { check_coordinates(R, M::SIGNED, &M::SKELETON) };
        debug_inside(|| coord.check(&self.0));
        core::array::from_fn(|axis| coord.index(&self.0, axis) as usize)
    }

    /// The coordinate, of rank `R`, that a layout along basis vectors has at a coordinate, checked.
    ///
    /// # Errors
    /// Those of [`Layout::try_at`] and [`Lay::coord_at`](girih_layout::Lay::coord_at); [`Error::CoordOutOfRange`] for a negative position.
    ///
    /// ```
    /// use girih_typed::{Layout, int_tuple};
    /// let id = Layout::identity(int_tuple!((128, 64)));
    /// assert_eq!(id.try_coord_at((5usize, 3usize))?, [5, 3]);
    /// assert!(id.try_coord_at::<_, 2>((128usize, 0usize)).is_err());
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub fn try_coord_at<C: Coord<M>, const R: usize>(&self, coord: C) -> Result<[usize; R], Error> {
        let layout = self.erase()?;
        let at = layout.coord_at(girih_layout::crd2idx(layout.shape(), &coord.erase()?)?, R)?;
        if at.depth() > 1 {
            let what = "nested coordinates, which the run-time layout has";
            return Err(Error::Unsupported { op: "a flat coordinate of a layout", what });
        }
        let mut out = [0; R];
        for (position, at) in out.iter_mut().zip(at.leaves()) {
            let girih_layout::Crd::At(at) = at else { continue };
            let outside =
                Error::CoordOutOfRange { coord: at, extent: girih_layout::Int::fixed(i64::MAX).into() };
            *position = at.try_into().map_err(|_| outside)?;
        }
        Ok(out)
    }

    /// [`Layout::slice`] of a layout along basis vectors: the offset is a coordinate of rank `R`.
    ///
    /// ```
    /// use girih_typed::{__, Layout, int_tuple};
    /// let (column, [i, j]) = Layout::identity(int_tuple!((128, 64))).slice_coord((__, 5));
    /// assert_eq!((column.to_string().as_str(), i, j), ("(128):(1@0)", 0, 5));
    /// ```
    #[track_caller]
    pub fn slice_coord<C: Slice<M>, const R: usize>(&self, coord: C) -> (Layout<C::Kept>, [usize; R]) {
        const { check_coordinates(R, M::SIGNED, &M::SKELETON) };
        debug_inside(|| coord.check(&self.0));
        let offset = core::array::from_fn(|axis| coord.kept(&self.0, axis).1 as usize);
        (Layout(coord.kept(&self.0, LINE).0), offset)
    }
}

/// Asserts that a coordinate is inside, where debug assertions are on.
#[inline(always)]
#[track_caller]
pub(super) fn debug_inside(check: impl FnOnce() -> Result<(), Error>) {
    if cfg!(debug_assertions)
        && let Err(error) = check()
    {
        debug_assert!(false, "{error}");
    }
}

/// Whether all indices of a layout are known to fit in 64 bits when the program is compiled.
const fn in_range<M: Modes>() -> bool {
    let numbers = M::STATIC && !M::COORDINATES;
    let Ok(layout) = M::SKELETON.lay() else { return false };
    numbers && matches!((layout.min_index(), layout.max_index()), (Ok(_), Ok(_)))
}
