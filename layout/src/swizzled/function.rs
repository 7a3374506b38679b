//! Any function after an offset after a layout: gather, scatter, and other functions that strides cannot express.

use crate::{Coord, Error, Int, Lay, Swizzle, Tiler};

/// A function that is applied to a layout's indices: the left part of a [`Composition`].
///
/// ```
/// use girih_layout::{Composition, Error, IndexFn, lay};
/// struct Blocked; // 4 elements, then 12 of padding
/// impl IndexFn for Blocked {
///     fn index(&self, index: i64) -> Result<i64, Error> {
///         Ok(index / 4 * 16 + index % 4)
///     }
/// }
/// assert_eq!(Composition::new(Blocked, 0, lay!("8:1")).at(5)?, 17);
/// # Ok::<(), Error>(())
/// ```
pub trait IndexFn {
    /// The value at an index.
    ///
    /// # Errors
    /// The reason why the function has no value there.
    fn index(&self, index: i64) -> Result<i64, Error>;
}

/// A layout without an end, see [`Lay::at_extended`].
impl IndexFn for Lay {
    fn index(&self, index: i64) -> Result<i64, Error> {
        self.at_extended(index)
    }
}

impl IndexFn for Swizzle {
    fn index(&self, index: i64) -> Result<i64, Error> {
        Ok(self.apply(index))
    }
}

/// A list of indices: the rows of a gather, the targets of a scatter.
impl IndexFn for &[i64] {
    fn index(&self, index: i64) -> Result<i64, Error> {
        let value = usize::try_from(index).ok().and_then(|at| self.get(at));
        let extent = Int::from(self.len() as i64);
        value.copied().ok_or(Error::CoordOutOfRange { coord: index, extent: extent.quoted() })
    }
}

impl<F: Fn(i64) -> Result<i64, Error>> IndexFn for F {
    fn index(&self, index: i64) -> Result<i64, Error> {
        self(index)
    }
}

/// `x -> function(offset + layout(x))` for any function on indices (CuTe's `ComposedLayout` and `make_composed_layout`; its examples gather
/// and scatter with custom strides). The algebra acts on the layout, which is the domain; the function is applied last. For swizzles
/// [`Composed`](crate::Composed) knows more.
///
/// ```
/// use girih_layout::{Composition, Coord, Error, lay, tiler};
/// // Rows 7, 2, 5 and 0 of a matrix with 16 elements a row.
/// let rows = [7, 2, 5, 0];
/// let gather = |index: i64| -> Result<i64, Error> { Ok(rows[(index / 16) as usize] * 16 + index % 16) };
/// let a = Composition::new(gather, 0, lay!("(4,16):(16,1)"));
/// assert_eq!(a.crd2idx(&Coord::parse("(2,3)")?)?, 5 * 16 + 3);
/// let tiles = a.map(|layout| layout.zipped_divide(&tiler!("<2,8>")))?;
/// assert_eq!(tiles.crd2idx(&Coord::parse("((1,0),(1,1))")?)?, 8); // row 3 of the list, column 8
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Composition<A> {
    function: A,
    offset: i64,
    layout: Lay,
}

impl<A: IndexFn> Composition<A> {
    /// `function o offset o layout`.
    ///
    /// ```
    /// use girih_layout::{Composition, lay};
    /// assert_eq!(Composition::new([3i64, 1, 4, 1, 5].as_slice(), 2, lay!("3:1")).at(2)?, 5);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn new(function: A, offset: i64, layout: Lay) -> Composition<A> {
        Composition { function, offset, layout }
    }

    /// The function, applied last.
    ///
    /// ```
    /// use girih_layout::{Composition, lay};
    /// assert_eq!(Composition::new(lay!("(2,2):(2,1)"), 0, lay!("4:1")).function(), &lay!("(2,2):(2,1)"));
    /// ```
    pub const fn function(&self) -> &A {
        &self.function
    }

    /// The offset that is added before the function, in elements.
    ///
    /// ```
    /// use girih_layout::{Composition, lay};
    /// assert_eq!(Composition::new(lay!("8:2"), 4, lay!("4:1")).offset(), 4);
    /// ```
    pub const fn offset(&self) -> i64 {
        self.offset
    }

    /// The layout, applied first.
    ///
    /// ```
    /// use girih_layout::{Composition, lay};
    /// assert_eq!(Composition::new(lay!("8:2"), 4, lay!("4:1")).layout(), &lay!("4:1"));
    /// ```
    pub const fn layout(&self) -> &Lay {
        &self.layout
    }

    /// The value at a 1-D coordinate.
    ///
    /// ```
    /// use girih_layout::{Composition, lay};
    /// assert_eq!(Composition::new(lay!("8:2"), 4, lay!("4:1")).at(1)?, 10);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Lay::at`] and of the function; [`Error::Overflow`].
    pub fn at(&self, position: i64) -> Result<i64, Error> {
        self.value(self.layout.at(position)?)
    }

    /// The value at a coordinate.
    ///
    /// ```
    /// use girih_layout::{Composition, Coord, lay};
    /// assert_eq!(Composition::new(lay!("8:2"), 4, lay!("(2,2):(2,1)")).crd2idx(&Coord::parse("(1,1)")?)?, 14);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Lay::crd2idx`] and of the function; [`Error::Overflow`].
    pub fn crd2idx(&self, coord: &Coord) -> Result<i64, Error> {
        self.value(self.layout.crd2idx(coord)?)
    }

    fn value(&self, index: i64) -> Result<i64, Error> {
        self.function.index(index.checked_add(self.offset).ok_or(Error::Overflow { op: "an index" })?)
    }

    /// The modes under `_`; the positions of the rest go into the offset (CuTe's `slice_and_offset` of a composed layout).
    ///
    /// ```
    /// use girih_layout::{Composition, Coord, lay};
    /// let row = Composition::new(lay!("8:2"), 0, lay!("(2,4):(4,1)")).slice(&Coord::parse("(1,_)")?)?;
    /// assert_eq!((row.offset(), row.at(3)?), (4, 14));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Lay::slice`]; [`Error::NotKnown`] for a symbolic offset.
    pub fn slice(&self, coord: &Coord) -> Result<Composition<A>, Error>
    where
        A: Clone,
    {
        let (layout, offset) = self.layout.slice(coord)?;
        let offset = offset.require_known("a slice of a composed layout")?;
        let offset = self.offset.checked_add(offset).ok_or(Error::Overflow { op: "an offset" })?;
        Ok(Composition { function: self.function.clone(), offset, layout })
    }

    /// `(function o offset o layout) o right`, with a layout or with one tile for each mode.
    ///
    /// ```
    /// use girih_layout::{Composition, lay, tiler};
    /// let every_other = Composition::new(lay!("8:2"), 0, lay!("8:1")).compose(&tiler!("4:2"))?;
    /// assert_eq!(every_other.at(3)?, 12);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Lay::compose`].
    pub fn compose(&self, right: &Tiler) -> Result<Composition<A>, Error>
    where
        A: Clone,
    {
        self.map(|layout| layout.compose(right))
    }

    /// The composition with another layout inside, `change(layout)`: for divides, products and edits of the domain.
    ///
    /// ```
    /// use girih_layout::{Composition, lay, tiler};
    /// let tiles = Composition::new(lay!("8:2"), 0, lay!("8:1")).map(|layout| layout.logical_divide(&tiler!("4:1")))?;
    /// assert_eq!(tiles.layout(), &lay!("(4,2):(1,4)"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of `change`.
    pub fn map(&self, change: impl FnOnce(&Lay) -> Result<Lay, Error>) -> Result<Composition<A>, Error>
    where
        A: Clone,
    {
        let layout = change(&self.layout)?;
        Ok(Composition { function: self.function.clone(), offset: self.offset, layout })
    }
}
