//! Tensors that own their values.

use girih_layout::Lay;

use super::{View, ViewMut, known_size};
use crate::{Error, Slice, Tensor};

/// Values and their layout, which must be known: a copy has values of its own (CuTe's owning `Tensor`, `make_tensor<T>(layout)`).
///
/// ```
/// use girih_layout::lay;
/// use girih_tensor::host::Array;
///
/// let mut a = Array::<f32>::new(lay!("((4,5),13):((12,1),64)"))?;
/// for (m0, m1, n) in (0..4).flat_map(|m0| (0..5).flat_map(move |m1| (0..13).map(move |n| (m0, m1, n)))) {
///     a.put(((m0, m1), n), (n + 2 * m0) as f32)?;
/// }
/// let before = a.clone();
/// a.set(0, 7.0)?;
/// assert_eq!((a.at(0)?, before.at(0)?, a.at(3)?), (7.0, 0.0, 6.0));
/// # Ok::<(), girih_tensor::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Array<T> {
    values: Vec<T>,
    layout: Lay,
}

impl<T: Copy + Default> Array<T> {
    /// Default values (zeros), as many as the layout's indices need.
    ///
    /// # Errors
    /// [`Error::NotStatic`] for a symbolic layout, [`Error::OutOfBounds`] for one with negative indices.
    pub fn new(layout: Lay) -> Result<Array<T>, Error> {
        let len = match layout.cosize()?.get().map(usize::try_from) {
            Some(Ok(len)) => len,
            _ => return Err(Error::NotStatic { what: "Array", layout: layout.to_string() }),
        };
        let (min, max) = (layout.min_index()?, layout.max_index()?);
        if min < 0 {
            return Err(Error::OutOfBounds { layout: layout.to_string(), min, max, len });
        }
        Ok(Array { values: vec![T::default(); len], layout })
    }

    /// A compact one of the tensor's shape, its modes in the order of the tensor's strides; modes of stride 0 have one value
    /// (CuTe's `make_tensor_like`).
    ///
    /// # Errors
    /// Those of [`Lay::compact_like`].
    ///
    /// # Examples
    /// ```
    /// use girih_layout::lay;
    /// use girih_tensor::{Slice, Tensor, host::Array};
    ///
    /// let data = [0.0; 128];
    /// let gmem = Tensor::host(&data, lay!("(8,16):(16,1)"))?;
    /// let rmem = Array::<f32>::like(&gmem.slice(&Slice::tuple([Slice::All, Slice::at(0)]))?)?;
    /// assert_eq!(rmem.layout().to_string(), "(8):(1)");
    /// # Ok::<(), girih_tensor::Error>(())
    /// ```
    pub fn like<E>(tensor: &Tensor<E>) -> Result<Array<T>, Error> {
        Array::new(tensor.layout().compact_like()?)
    }

    /// A fragment for a partition: the values of an atom (mode 0) next to each other, then the others (CuTe's
    /// `make_fragment_like`).
    ///
    /// # Errors
    /// Those of [`Lay::fragment_like`].
    pub fn fragment_like<E>(tensor: &Tensor<E>) -> Result<Array<T>, Error> {
        Array::new(tensor.layout().fragment_like()?)
    }
}

impl<T: Copy> Array<T> {
    /// How the values are arranged.
    pub fn layout(&self) -> &Lay {
        &self.layout
    }

    /// The values in the order of their indices (CuTe's `data()`).
    pub fn data(&self) -> &[T] {
        &self.values
    }

    /// How many coordinates there are.
    ///
    /// # Errors
    /// None for an array that [`Array::new`] made.
    pub fn size(&self) -> Result<i64, Error> {
        known_size("Array", &self.layout)
    }

    /// The tensor to read from, to slice and to partition.
    pub fn view(&self) -> Tensor<View<'_, T>> {
        Tensor::new(View { storage: super::Shared(&self.values), offset: 0 }, self.layout)
    }

    /// The tensor to write to, and to divide among owners.
    ///
    /// # Errors
    /// None for an array that [`Array::new`] made.
    pub fn view_mut(&mut self) -> Result<ViewMut<'_, T>, Error> {
        ViewMut::new(&mut self.values, self.layout)
    }

    /// The value at a 1-D coordinate.
    ///
    /// # Errors
    /// As [`Tensor::at`].
    pub fn at(&self, index: i64) -> Result<T, Error> {
        self.view().at(index)
    }

    /// The value at a coordinate.
    ///
    /// # Errors
    /// As [`Tensor::get`].
    pub fn get(&self, coord: impl Into<Slice<i64>>) -> Result<T, Error> {
        self.view().get(coord)
    }

    /// Replaces the value at a 1-D coordinate.
    ///
    /// # Errors
    /// As [`super::TensorMut::set`].
    pub fn set(&mut self, index: i64, value: T) -> Result<(), Error> {
        self.view_mut()?.set(index, value)
    }

    /// Replaces the value at a coordinate.
    ///
    /// # Errors
    /// As [`super::TensorMut::put`].
    pub fn put(&mut self, coord: impl Into<Slice<i64>>, value: T) -> Result<(), Error> {
        self.view_mut()?.put(coord, value)
    }
}
