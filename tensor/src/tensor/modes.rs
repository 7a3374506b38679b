//! A tensor's modes: the same values under another layout.

use girih_layout::Coord;

use super::{Engine, Tensor};
use crate::slice::Sliced;
use crate::{Error, Slice};

impl<E: Engine> Tensor<E> {
    /// The same values under the flattened layout, in which every leaf is a mode of its own.
    pub fn flatten(&self) -> Tensor<E> {
        self.with_layout(self.layout.flatten())
    }

    /// The fewest modes that name the same values in the same order.
    pub fn coalesce(&self) -> Tensor<E> {
        self.with_layout(self.layout.coalesce())
    }

    /// Without the modes of stride 0 or extent 1, and coalesced: the same values without the repetitions along modes of
    /// stride 0.
    pub fn filter(&self) -> Tensor<E> {
        self.with_layout(self.layout.filter())
    }

    /// With extent 1 for the modes of stride 0.
    pub fn filter_zeros(&self) -> Tensor<E> {
        self.with_layout(self.layout.filter_zeros())
    }

    /// With modes `begin..end` grouped into one mode (CuTe's `group_modes`).
    ///
    /// # Errors
    /// Those of [`girih_layout::Lay::group`].
    pub fn group_modes(&self, begin: usize, end: usize) -> Result<Tensor<E>, Error> {
        Ok(self.with_layout(self.layout.group(begin, end)?))
    }

    /// With modes `begin..end` alone; the coordinate in the other modes is 0.
    ///
    /// # Errors
    /// Those of [`girih_layout::Lay::take`].
    pub fn take(&self, begin: usize, end: usize) -> Result<Tensor<E>, Error> {
        Ok(self.with_layout(self.layout.take(begin, end)?))
    }

    /// The same layout from `origin` on (CuTe's `domain_offset`): the value at `c` is the value that was at `origin +
    /// c`, so that the last coordinates reach past the tensor's end. `origin` may itself be outside: `(0,-r)` puts the
    /// rest of an uneven division in front, where predicates are cheapest. Places outside are refused only when they
    /// are read. A position in a nested mode is counted colexicographically, the last leaf taking the rest.
    ///
    /// # Errors
    /// [`Error::SliceRank`]; [`Error::NoCoordinate`] if `origin` keeps modes.
    ///
    /// # Examples
    /// ```
    /// use girih_layout::lay;
    /// use girih_tensor::Tensor;
    ///
    /// let data: Vec<i32> = (0..40).collect();
    /// let a = Tensor::host(&data, lay!("(4,5):(1,8)"))?;
    /// let moved = a.domain_offset((1, 2))?;
    /// assert_eq!((moved.layout(), moved.at(0)?), (a.layout(), 1 + 2 * 8));
    /// # Ok::<(), girih_tensor::Error>(())
    /// ```
    pub fn domain_offset(&self, origin: impl Into<Slice<E::Index>>) -> Result<Tensor<E>, Error> {
        let origin = origin.into();
        if origin.keeps_modes() {
            return Err(Error::NoCoordinate { coord: origin.to_string() });
        }
        let steps = Sliced::to(&self.layout, &origin)?.steps;
        Ok(Tensor { engine: self.engine.advance(&steps)?, layout: self.layout })
    }

    /// How many values, in the order of this tensor and of `other`, are next to each other in both memories (CuTe's
    /// `max_common_vector`): the number that a copy between the tensors can move at a time, if both are aligned to that
    /// many values.
    ///
    /// ```
    /// use girih_layout::lay;
    /// use girih_tensor::Tensor;
    /// let data = [0u16; 64];
    /// let (a, b) = (Tensor::host(&data, lay!("(4,8):(1,4)"))?, Tensor::host(&data, lay!("(4,8):(1,8)"))?);
    /// assert_eq!((a.max_common_vector(&a)?, a.max_common_vector(&b)?), (32, 4));
    /// # Ok::<(), girih_tensor::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`girih_layout::Lay::max_common_vector`]; [`Error::NotStatic`] for a symbol.
    pub fn max_common_vector<F>(&self, other: &Tensor<F>) -> Result<i64, Error> {
        let width = self.layout.max_common_vector(&other.layout)?;
        width
            .get()
            .ok_or_else(|| Error::NotStatic { what: "max_common_vector", layout: self.layout.to_string() })
    }

    /// The coordinates, in colexicographic order, whose values are next to each other in both memories (CuTe's
    /// `max_common_layout`).
    ///
    /// # Errors
    /// Those of [`girih_layout::Lay::max_common_layout`].
    pub fn max_common_layout<F>(&self, other: &Tensor<F>) -> Result<girih_layout::Lay, Error> {
        Ok(self.layout.max_common_layout(&other.layout)?)
    }

    /// The greatest alignment, in values, that the layout guarantees (CuTe's `max_alignment`): the index of every
    /// coordinate that is a multiple of this number is a multiple of it too. The alignment of the engine itself is a
    /// separate matter.
    ///
    /// # Errors
    /// Those of [`girih_layout::Lay::max_alignment`].
    pub fn max_alignment(&self) -> Result<i64, Error> {
        Ok(self.layout.max_alignment()?)
    }
}

impl<I: From<i64>> From<&Coord> for Slice<I> {
    /// The coordinate's tree, `_` for `_`.
    fn from(coord: &Coord) -> Slice<I> {
        match (coord.is_leaf(), coord.get(0)) {
            (true, Some(girih_layout::Crd::At(at))) => Slice::At(I::from(at)),
            (true, _) => Slice::All,
            (false, _) => {
                let modes = (0..coord.rank()).filter_map(|i| coord.mode(i).ok());
                Slice::Tuple(modes.map(|mode| Slice::from(&mode)).collect())
            }
        }
    }
}
