//! Modes turned around, put in pairs, and picked by a coordinate.

use super::check::check_edit;
use super::coord::Slice;
use super::layout::Layout;
use super::modes::Modes;
use super::tiler::ModeList;

/// The type of [`Layout::reverse`].
///
/// ```
/// use girih_typed::{Layout, Mode, Reverse, S, layout};
/// let made: Layout<Reverse<(Mode<S<4>, S<1>>, Mode<S<8>, S<4>>)>> = layout!((4, 8) : (1, 4)).reverse();
/// ```
pub type Reverse<M> = <M as Modes>::Reversed;
/// The type of [`Layout::zip`].
///
/// ```
/// use girih_typed::{Layout, Mode, S, Zip, layout};
/// type Line = Mode<S<4>, S<1>>;
/// let made: Layout<Zip<(Line, Line), (Line, Line)>> = layout!((4, 4) : (1, 1)).zip(layout!((4, 4) : (1, 1)));
/// ```
pub type Zip<M, X> = <<M as Modes>::Each as ModeList>::Paired<<X as Modes>::Each>;

impl<M: Modes> Layout<M> {
    /// The modes from the last to the first, see [`Lay::reverse`](girih_layout::Lay::reverse); a leaf stays a leaf.
    ///
    /// ```
    /// use girih_typed::layout;
    /// let n: usize = 2;
    /// assert_eq!(layout!((8, (n, 3)) : (6, (1, 2))).reverse(), layout!(((n, 3), 8) : ((1, 2), 6)));
    /// ```
    pub fn reverse(self) -> Layout<Reverse<M>> {
        const { check_edit("reverse", &M::SKELETON, Ok(M::SKELETON.reverse()), &Reverse::<M>::SKELETON) };
        Layout(self.0.reversed())
    }

    /// Two layouts mode by mode, `((A0,B0),(A1,B1))`, see [`Lay::zip`](girih_layout::Lay::zip).
    ///
    /// ```
    /// use girih_typed::layout;
    /// let zipped = layout!((2, 3) : (1, 2)).zip(layout!((4, 5) : (6, 24)));
    /// assert_eq!(zipped, layout!(((2, 4), (3, 5)) : ((1, 6), (2, 24))));
    /// ```
    ///
    /// Here the message is `zip((2,3):(1,2)): rank mismatch: the layout has rank 2, the other operand rank 1`:
    /// ```compile_fail
    /// # use girih_typed::layout;
    /// layout!((2, 3) : (1, 2)).zip(layout!(4 : 6));
    /// ```
    pub fn zip<X: Modes>(self, other: Layout<X>) -> Layout<Zip<M, X>> {
        const { check_edit("zip", &M::SKELETON, M::SKELETON.zip(&X::SKELETON), &Zip::<M, X>::SKELETON) };
        Layout(self.0.each().paired(other.0.each()))
    }

    /// The modes that are not under [`__`](super::__), side by side, see [`Lay::dice`](girih_layout::Lay::dice): the modes
    /// that [`Layout::slice`] leaves out.
    ///
    /// ```
    /// use girih_typed::{__, layout};
    /// assert_eq!(layout!((8, (2, 3)) : (6, (1, 2))).dice((5, (__, 1))), layout!((8, 3) : (6, 2)));
    /// ```
    pub fn dice<C: Slice<M>>(self, coord: C) -> Layout<C::Diced> {
        Layout(coord.diced(&self.0))
    }
}
