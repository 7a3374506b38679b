//! Partitions: the elements of a tile that are a thread's values.

use girih_layout::{Int, Lay, Shape};

use crate::slice::Sliced;
use crate::{Error, Index, Slice};

/// The thread-value layout of the tile that a partition's values come from (CuTe guide, "Thread-Value partitioning"). Value `v` of thread `t` is the
/// tile's element at the coordinate `threads(t) + values(v)`, relative to the origin of the tile or subtensor.
///
/// The coordinates are those of [`Part::coordinates`]: a number for each mode of the tile, whatever is nested in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part<I> {
    /// Whose part it is.
    pub thread: I,
    /// The thread's index -> coordinate.
    pub threads: Lay,
    /// The value's index -> coordinate.
    pub values: Lay,
    /// The value's index -> offset from where the engine is: the layout of the tensor that this is said of.
    pub offsets: Lay,
}

impl<I: Index> Part<I> {
    /// The coordinates of a tile that is laid out as `tile` says: what is partitioned like the tile itself to know whose elements are
    /// whose.
    ///
    /// # Errors
    /// Those of [`Lay::size`] and [`Lay::identity`].
    ///
    /// # Examples
    /// ```
    /// use girih_layout::lay;
    /// use girih_tensor::Part;
    ///
    /// let tile = lay!("((8,16),64):((64,1024),1)");
    /// assert_eq!(Part::<i64>::coordinates(&tile)?, lay!("(128,64):(1@0,1@1)"));
    /// # Ok::<(), girih_tensor::Error>(())
    /// ```
    pub fn coordinates(tile: &Lay) -> Result<Lay, Error> {
        if tile.is_leaf() {
            return Ok(Lay::identity(&Shape::flat(&[tile.size()?])?)?);
        }
        let sizes: Vec<Int> =
            (0..tile.rank()).map(|mode| tile.mode(mode)?.size()).collect::<Result<_, _>>()?;
        Ok(Lay::identity(&Shape::flat(&sizes)?)?)
    }

    /// The part of a subtensor of the partition, whose layout is `offsets`.
    ///
    /// # Errors
    /// As [`Tensor::slice`](crate::Tensor::slice).
    pub(crate) fn slice(&self, slice: &Slice<I>, offsets: Lay) -> Result<Part<I>, Error> {
        let kept = Sliced::of(&self.values, slice)?.kept;
        let values = if matches!(slice, Slice::All) { self.values } else { Lay::concat(&kept)? };
        Ok(Part { thread: self.thread.clone(), threads: self.threads, values, offsets })
    }
}
