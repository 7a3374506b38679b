//! Tensors that own their values.

use generic_array::sequence::GenericSequence;
use generic_array::typenum::{UInt, UTerm};
use generic_array::{ArrayLength, GenericArray};
use girih_layout::Lay;
use girih_tensor::{Error, Slice, Tensor};

use super::{Shared, View, ViewMut, known_size};
use crate::{Coord, Cosize, Layout, Modes, tensor};

/// A layout that an [`Array`] can have: a run-time layout, or a typed layout that is static.
pub trait Owned: Copy {
    /// Storage for as many values as the layout's indices need.
    type Values<T: Copy>: AsRef<[T]> + AsMut<[T]> + Clone;

    /// The run-time layout.
    ///
    /// # Errors
    /// Those of [`Layout::erase`].
    fn erase(&self) -> Result<Lay, Error>;
}

/// The values are on the heap.
impl Owned for Lay {
    type Values<T: Copy> = Vec<T>;

    fn erase(&self) -> Result<Lay, Error> {
        Ok(*self)
    }
}

/// The values are inside the array, whose length is a constant of its type.
impl<M: Modes> Owned for Layout<M>
where
    Cosize<M>: Length,
{
    type Values<T: Copy> = <Cosize<M> as Length>::Values<T>;

    fn erase(&self) -> Result<Lay, Error> {
        Ok(Layout::erase(self)?)
    }
}

/// A static number of values.
#[diagnostic::on_unimplemented(
    message = "the length of an owning array must be static, that of this layout is a `{Self}`",
    note = "every extent and stride must be static, as in `layout!((4, 8) : (1, 4))`; `Array::new` takes any `Lay`"
)]
pub trait Length {
    /// Storage for this number of values, one after another in memory without anything else.
    type Values<T: Copy>: AsRef<[T]> + AsMut<[T]> + Clone;

    /// Storage with the same value everywhere.
    fn filled<T: Copy>(value: T) -> Self::Values<T>;
}

macro_rules! lengths {
    ($([$($g:ident),*] $n:ty;)*) => {$(
        impl<$($g),*> Length for $n
        where
            $n: ArrayLength,
        {
            type Values<T: Copy> = GenericArray<T, $n>;

            fn filled<T: Copy>(value: T) -> GenericArray<T, $n> {
                GenericArray::repeat(value)
            }
        }
    )*};
}

lengths! {
    [] UTerm;
    [U, B] UInt<U, B>;
}

/// Values and their layout, whose size must be known. A copy of an array has values of its own (CuTe's owning `Tensor`,
/// `make_tensor<T>(layout)`).
///
/// Under a run-time layout the values are on the heap ([`Array::new`]). Under a static layout the number of values is a
/// constant of the type, and the values are inside the array ([`Array::filled`]).
///
/// ```
/// use girih_layout::lay;
/// use girih_typed::host::Array;
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
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Array<T: Copy, L: Owned = Lay> {
    values: L::Values<T>,
    layout: L,
}

impl<T: Copy, M: Modes> Array<T, Layout<M>>
where
    Cosize<M>: Length,
{
    /// An array of constant length with `value` everywhere. A layout that is not static, or has negative strides, does
    /// not compile.
    ///
    /// ```
    /// use girih_typed::{__, layout};
    /// use girih_typed::host::Array;
    ///
    /// let mut a = Array::filled(layout!((4, (2, 3)) : (1, (16, 4))), 0f32);
    /// assert_eq!(size_of_val(&a), 28 * 4);
    /// a.put((3, (1, 2)), 1.0)?;
    /// assert_eq!((a.get((3, (1, 2)))?, a.data()[3 + 16 + 8]), (1.0, 1.0));
    /// assert!(a.get((4, 0)).is_err());
    /// // A compact one for a row of it.
    /// let row = Array::filled(a.view().slice((3, __))?.layout().compact_like(), 0f32);
    /// assert_eq!(size_of_val(&row), 6 * 4);
    /// # Ok::<(), girih_tensor::Error>(())
    /// ```
    ///
    /// ```compile_fail
    /// # use girih_typed::layout;
    /// # use girih_typed::host::Array;
    /// let n: usize = 8;
    /// Array::filled(layout!((4, n) : (1, 4)), 0f32);
    /// ```
    pub fn filled(layout: Layout<M>, value: T) -> Array<T, Layout<M>> {
        // `cosize` refuses negative strides, at compile time.
        let _len = layout.cosize();
        Array { values: <Cosize<M> as Length>::filled(value), layout }
    }

    /// A tensor of the values, to read, slice and partition.
    pub fn view(&self) -> tensor::Tensor<View<'_, T>, Layout<M>> {
        tensor::Tensor::new(self.engine(), self.layout)
    }

    /// The value at a coordinate: positions as in [`tensor::Tensor::get`].
    ///
    /// # Errors
    /// Those of that function.
    pub fn get<C: Coord<M>>(&self, coord: C) -> Result<T, Error> {
        self.view().get(coord)
    }

    /// Replaces the value at a coordinate.
    ///
    /// # Errors
    /// [`Error::Layout`] for a position outside its mode.
    pub fn put<C: Coord<M>>(&mut self, coord: C, value: T) -> Result<(), Error> {
        let (index, len) = (self.layout.try_at(coord)?, self.data().len());
        let place = usize::try_from(index).ok().and_then(|i| self.values.as_mut().get_mut(i));
        *place.ok_or(Error::Beyond { index, len })? = value;
        Ok(())
    }
}

impl<T: Copy + Default> Array<T> {
    /// An array of default values (zeros), as many as the layout's indices need.
    ///
    /// # Errors
    /// [`Error::NotStatic`] for a symbolic layout, [`Error::OutOfBounds`] for a layout with negative indices.
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

    /// An array with a compact layout of the tensor's shape, whose modes are in the order of the tensor's strides; the
    /// values along a mode of stride 0 are one value (CuTe's `make_tensor_like`).
    ///
    /// # Errors
    /// Those of [`Lay::compact_like`].
    ///
    /// # Examples
    /// ```
    /// use girih_layout::lay;
    /// use girih_tensor::{Slice, Tensor};
    /// use girih_typed::host::Array;
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

    /// An array with the layout of a fragment for a partition: the values of an atom (mode 0) next to each other, then
    /// the other modes (CuTe's `make_fragment_like`).
    ///
    /// # Errors
    /// Those of [`Lay::fragment_like`].
    pub fn fragment_like<E>(tensor: &Tensor<E>) -> Result<Array<T>, Error> {
        Array::new(tensor.layout().fragment_like()?)
    }
}

impl<T: Copy, L: Owned> Array<T, L> {
    /// The layout of the values.
    pub fn layout(&self) -> &L {
        &self.layout
    }

    /// The values in the order of their indices (CuTe's `data()`).
    pub fn data(&self) -> &[T] {
        self.values.as_ref()
    }

    /// The number of the layout's coordinates.
    ///
    /// # Errors
    /// None for an array that [`Array::new`] or [`Array::filled`] made.
    pub fn size(&self) -> Result<i64, Error> {
        known_size("Array", &self.layout.erase()?)
    }

    fn engine(&self) -> View<'_, T> {
        View { storage: Shared(self.data()), offset: 0 }
    }

    /// A tensor of the values that can be written, and divided among owners.
    ///
    /// # Errors
    /// None for an array that [`Array::new`] or [`Array::filled`] made.
    pub fn view_mut(&mut self) -> Result<ViewMut<'_, T>, Error> {
        ViewMut::new(self.values.as_mut(), self.layout.erase()?)
    }
}

impl<T: Copy> Array<T> {
    /// A tensor of the values, to read, slice and partition.
    pub fn view(&self) -> Tensor<View<'_, T>> {
        Tensor::new(self.engine(), self.layout)
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
