//! A swizzle after a typed layout.

use core::fmt;

use super::coord::{Coord, Slice};
use super::int::{Int, S};
use super::layout::Layout;
use super::modes::Modes;
use super::tiler::Tiler;
use super::{Composition, LogicalDivide, ZippedDivide};
use crate::{Composed, Error, Swizzle};

/// `x -> swizzle(offset + layout(x))` with the swizzle `Sw<BITS,BASE,SHIFT>` in the type, see [`Composed`].
///
/// The offset, in elements like the layout's indices, is an [`Int`] too: static 0 to begin with, an `i64` after a slice.
///
/// ```
/// use girih_layout::layout;
/// use girih_layout::typed::Swizzled;
/// let tile = Swizzled::<3, 3, 3, _>::new(layout!((8, 64) : (64, 1)));
/// assert_eq!(tile.at((0, 1)), 1);
/// assert_eq!(tile.at((1, 0)), 64 + 8); // row 1: its first 8 elements changed places with the next 8
/// assert_eq!(size_of_val(&tile), 0);
/// ```
///
/// A swizzle that is none does not compile:
/// ```compile_fail
/// # use girih_layout::{layout, typed::Swizzled};
/// let tile = Swizzled::<3, 3, 2, _>::new(layout!((8, 64) : (64, 1)));
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Swizzled<const BITS: u32, const BASE: u32, const SHIFT: i32, M, O = S<0>> {
    offset: O,
    layout: Layout<M>,
}

impl<const BITS: u32, const BASE: u32, const SHIFT: i32, M: Modes> Swizzled<BITS, BASE, SHIFT, M> {
    /// The swizzle after a layout.
    pub fn new(layout: Layout<M>) -> Self {
        Swizzled { offset: S::<0>::new(), layout }.valid()
    }
}

impl<const BITS: u32, const BASE: u32, const SHIFT: i32, M: Modes, O: Int> Swizzled<BITS, BASE, SHIFT, M, O> {
    /// The swizzle, applied last.
    pub const SWIZZLE: Swizzle = match Swizzle::new(BITS, BASE, SHIFT) {
        Ok(swizzle) => swizzle,
        Err(_) => {
            panic!("no swizzle: |shift| must be at least bits, and bits + base + |shift| at most 62")
        }
    };

    fn valid(self) -> Self {
        let _ = const { Self::SWIZZLE };
        self
    }

    fn with<N: Modes>(self, layout: Layout<N>) -> Swizzled<BITS, BASE, SHIFT, N, O> {
        Swizzled { offset: self.offset, layout }
    }

    /// The layout, applied first.
    pub fn layout(&self) -> Layout<M> {
        self.layout
    }

    /// What is added before the swizzle, in elements.
    pub fn offset(&self) -> O {
        self.offset
    }

    /// The run-time form.
    ///
    /// # Errors
    /// Those of [`Layout::erase`].
    pub fn erase(&self) -> Result<Composed, Error> {
        Ok(Composed::new(Self::SWIZZLE, self.offset.get(), self.layout.erase()?))
    }

    /// The index of a coordinate, positions as in [`Layout::at`]. Of layouts without negative indices.
    #[inline(always)]
    pub fn at<C: Coord<M>>(&self, coord: C) -> usize {
        let index = self.layout.at_signed(coord).wrapping_add(self.offset.get());
        const { Self::SWIZZLE }.apply(index) as usize
    }

    /// The modes under `__`; the positions of the rest go into the offset, since a swizzle does not commute with adding.
    pub fn slice<C: Slice<M>>(&self, coord: C) -> Swizzled<BITS, BASE, SHIFT, C::Kept, i64> {
        let (layout, offset) = self.layout.slice(coord);
        Swizzled { offset: self.offset.get().wrapping_add(offset), layout }
    }

    /// The layout inside composed, see [`Layout::composition`].
    pub fn composition<X: Tiler>(self, right: X) -> Swizzled<BITS, BASE, SHIFT, Composition<M, X>, O> {
        self.with(self.layout.composition(right))
    }

    /// The layout inside divided, see [`Layout::logical_divide`].
    pub fn logical_divide<X: Tiler>(self, tiler: X) -> Swizzled<BITS, BASE, SHIFT, LogicalDivide<M, X>, O> {
        self.with(self.layout.logical_divide(tiler))
    }

    /// The layout inside divided and zipped, see [`Layout::zipped_divide`].
    pub fn zipped_divide<X: Tiler>(self, tiler: X) -> Swizzled<BITS, BASE, SHIFT, ZippedDivide<M, X>, O> {
        self.with(self.layout.zipped_divide(tiler))
    }
}

impl<const BITS: u32, const BASE: u32, const SHIFT: i32, M: Modes, O: Int> fmt::Display
    for Swizzled<BITS, BASE, SHIFT, M, O>
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} o {} o ", Self::SWIZZLE, self.offset.get())?;
        fmt::Display::fmt(&self.layout, f)
    }
}

impl<const BITS: u32, const BASE: u32, const SHIFT: i32, M: Modes, O: Int> fmt::Debug
    for Swizzled<BITS, BASE, SHIFT, M, O>
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:#}")
    }
}
