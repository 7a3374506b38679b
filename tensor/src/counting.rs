//! Coordinates as values.

use girih_layout::{Lay, Shape, Stride};

use crate::host::Values;
use crate::{Engine, Error, Index, Space, Tensor};

/// The coordinates themselves: what the tensor of an identity layout holds (CuTe's `make_identity_tensor`; CuTe guide,
/// "Predication"). Whatever is done to a tensor and to the coordinates of its shape alike tells where its values were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counting<I> {
    coordinate: Vec<I>,
}

impl<I: Index> Counting<I> {
    /// The coordinates of a tensor with `rank` modes, from the origin.
    pub fn new(rank: usize) -> Counting<I> {
        Counting { coordinate: vec![I::zero(); rank] }
    }

    /// The coordinate it stands at, an entry for each mode of the identity layout.
    pub fn coordinate(&self) -> &[I] {
        &self.coordinate
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
            match stride {
                Stride::Basis { scale, mode } if usize::from(*mode) < coordinate.len() => {
                    let mode = usize::from(*mode);
                    coordinate[mode] = coordinate[mode].advanced(digit, scale)?;
                }
                Stride::Int(zero) if zero.get() == Some(0) => {}
                _ => {
                    let layout = format!("a coordinate tensor of {} modes", coordinate.len());
                    return Err(Error::Stride { stride: stride.to_string(), layout });
                }
            }
        }
        Ok(Counting { coordinate })
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
    /// The coordinates of `shape`, each mode's leaves apart.
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
        Ok(Tensor::new(Counting::new(shape.rank()), Lay::identity(shape)?))
    }
}
