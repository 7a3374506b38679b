//! Coordinates as values.

use girih_layout::{Lay, ModePath, Shape, Stride};

use crate::host::Values;
use crate::{Engine, Error, Index, Space, Tensor};

/// An engine whose values are coordinates: the engine of an identity tensor (CuTe's `make_identity_tensor`; CuTe guide,
/// "Predication"). If a tensor and the identity tensor of its shape are divided and sliced alike, the coordinates tell
/// where in the tensor its values are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counting<I> {
    coordinate: Vec<I>,
    /// The mode of each entry of `coordinate`, if the coordinates are nested; empty if they are flat.
    paths: Vec<ModePath>,
}

impl<I: Index> Counting<I> {
    /// The flat coordinates of a tensor with `rank` modes, from the origin.
    pub fn new(rank: usize) -> Counting<I> {
        Counting { coordinate: vec![I::zero(); rank], paths: Vec::new() }
    }

    /// The coordinates that are as nested as the identity layout of `shape`, from the origin.
    ///
    /// # Errors
    /// Those of [`Lay::identity`].
    pub fn of(shape: &Shape) -> Result<Counting<I>, Error> {
        let identity = Lay::identity(shape)?;
        let path = |leaf| match identity.flat_leaf(leaf).1 {
            Stride::Basis { mode, .. } => Some(mode),
            _ => None,
        };
        let paths: Vec<ModePath> = (0..identity.leaf_count()).filter_map(path).collect();
        let flat = paths.iter().all(|path| path.only().is_some());
        let coordinate = vec![I::zero(); paths.len()];
        Ok(Counting { coordinate, paths: if flat { Vec::new() } else { paths } })
    }

    /// The coordinate that the engine is at, with an entry for each leaf of the identity layout.
    pub fn coordinate(&self) -> &[I] {
        &self.coordinate
    }

    /// The index in [`Counting::coordinate`] of the entry that belongs to a basis vector.
    fn entry(&self, mode: ModePath) -> Option<usize> {
        if self.paths.is_empty() {
            return mode.only().filter(|mode| *mode < self.coordinate.len());
        }
        self.paths.iter().position(|path| *path == mode)
    }
}

impl<I: Index> Engine for Counting<I> {
    type Index = I;

    fn space(&self) -> Space {
        Space::Counting
    }

    fn advance(&self, steps: &[(I, Stride)]) -> Result<Counting<I>, Error> {
        let mut coordinate = self.coordinate.clone();
        for (digit, stride) in steps {
            if matches!(stride, Stride::Int(zero) if zero.get() == Some(0)) {
                continue;
            }
            let along = match stride {
                Stride::Basis { scale, mode } => self.entry(*mode).map(|entry| (entry, scale)),
                _ => None,
            };
            let Some((entry, scale)) = along else {
                let layout = format!("a coordinate tensor of {} entries", coordinate.len());
                return Err(Error::Stride { stride: stride.to_string(), layout });
            };
            coordinate[entry] = coordinate[entry].advanced(digit, scale)?;
        }
        Ok(Counting { coordinate, paths: self.paths.clone() })
    }
}

impl Values for Counting<i64> {
    type Value = Vec<i64>;

    /// The coordinate.
    fn value(&self) -> Result<Vec<i64>, Error> {
        Ok(self.coordinate.clone())
    }
}

impl<I: Index> Tensor<Counting<I>> {
    /// The coordinates of `shape`, as nested as the shape.
    ///
    /// # Errors
    /// Those of [`Lay::identity`].
    ///
    /// # Examples
    /// ```
    /// use girih_layout::{Shape, tiler};
    /// use girih_tensor::{Slice, Tensor};
    ///
    /// let at = Tensor::identity(&Shape::parse("(100,50)")?)?;
    /// let tile = at.local_tile(&tiler!("<32,16>"), &[Slice::at(3), Slice::at(1)])?;
    /// // The second value of the tile (3,1); its row 31 is past the end.
    /// assert_eq!((tile.at(1)?, tile.at(31)?), (vec![97, 16], vec![127, 16]));
    /// # Ok::<(), girih_tensor::Error>(())
    /// ```
    pub fn identity(shape: &Shape) -> Result<Self, Error> {
        Ok(Tensor::new(Counting::of(shape)?, Lay::identity(shape)?))
    }
}
