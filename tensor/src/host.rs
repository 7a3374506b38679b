//! Tensors in the host's memory: references that kernels are checked against.

use girih_layout::{Coord, Lay, Stride};

use crate::{Element, Engine, Error, Slice, Space, Tensor};

/// An engine over a slice of values on the host.
#[derive(Clone, Copy, Debug)]
pub struct View<'a, T> {
    data: &'a [T],
    offset: i64,
}

impl<T: Copy> Engine for View<'_, T> {
    type Index = i64;

    fn space(&self) -> Space {
        Space::Host
    }

    fn advance(&self, steps: &[(i64, Stride)]) -> Result<Self, Error> {
        let mut offset = self.offset;
        for (digit, stride) in steps {
            let Stride::Int(by) = stride else {
                return Err(Error::Stride {
                    stride: stride.to_string(),
                    layout: String::from("a host tensor"),
                });
            };
            let by = by.get().ok_or_else(|| Error::Index(format!("{by} is no constant")))?;
            offset += digit * by;
        }
        Ok(View { offset, ..*self })
    }
}

impl<'a, T: Copy> Tensor<View<'a, T>> {
    /// `data` as `layout` arranges it.
    ///
    /// # Errors
    /// [`Error::OutOfBounds`] if the layout reaches outside `data`.
    ///
    /// # Examples
    /// ```
    /// use girih_layout::{Coord, Lay};
    /// use girih_tensor::{Slice, Tensor};
    ///
    /// let data = [0, 1, 2, 3, 4, 5];
    /// let rows = Tensor::host(&data, Lay::parse("(2,3):(3,1)")?)?;
    /// assert_eq!(rows.get(&Coord::parse("(1,2)")?)?, 5);
    /// let second = rows.slice(&Slice::tuple([Slice::at(1), Slice::All]))?;
    /// assert_eq!(second.at(0)?, 3);
    /// # Ok::<(), girih_tensor::Error>(())
    /// ```
    pub fn host(data: &'a [T], layout: Lay) -> Result<Self, Error> {
        let (min, max) = (layout.min_index()?, layout.max_index()?);
        if min < 0 || max >= data.len() as i64 {
            return Err(Error::OutOfBounds { layout: layout.to_string(), min, max, len: data.len() });
        }
        Ok(Tensor::new(View { data, offset: 0 }, layout))
    }

    /// The value at a 1-D coordinate.
    ///
    /// # Errors
    /// [`Error::OutOfRange`].
    pub fn at(&self, index: i64) -> Result<T, Error> {
        let offset = self.slice(&Slice::At(index))?.engine().offset;
        self.value(offset)
    }

    /// The value at a coordinate of any profile that the layout has.
    ///
    /// # Errors
    /// Those of [`Lay::crd2idx`].
    pub fn get(&self, coord: &Coord) -> Result<T, Error> {
        self.value(self.engine().offset + self.layout().crd2idx(coord)?)
    }

    fn value(&self, index: i64) -> Result<T, Error> {
        let data = self.engine().data;
        let value = usize::try_from(index).ok().and_then(|i| data.get(i).copied());
        let layout = || self.layout().to_string();
        value.ok_or_else(|| Error::OutOfBounds { layout: layout(), min: index, max: index, len: data.len() })
    }
}

/// The values of a tensor in colexicographic order, as f64.
///
/// # Errors
/// Those of [`Tensor::at`].
pub fn values<T: Element>(tensor: &Tensor<View<'_, T>>) -> Result<Vec<f64>, Error> {
    let size = tensor.layout().size()?.get().unwrap_or(0);
    (0..size).map(|i| tensor.at(i).map(T::to_f64)).collect()
}
