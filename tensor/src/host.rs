//! Tensors in the host's memory: references for kernels, and a place to try out partitions.
//!
//! | | read | written | copies |
//! |---|---|---|---|
//! | [`Tensor<View<T>>`](View) | yes | no | shallow |
//! | [`TensorMut<T>`](TensorMut) | yes | yes | none: its parts are handed out once their disjointness is proved |
//! | [`Array<T>`](Array) | yes | yes | deep; of constant length under a static layout |
//! | [`Tensor<PackedView<S4>>`](PackedView) | yes | by [`PackedMut`] | shallow; several elements a byte |
//! | [`Tensor<Counting>`](crate::Counting) | its coordinates | no | |
//! | [`Tensor<Transform>`](Transform) | a function of another's values | no | as that |

mod array;
mod mutable;
mod print;
mod storage;
mod transform;
mod zip;

use girih_layout::typed::{Coord, Layout, Modes};
use girih_layout::{Int, Lay, Stride};

use crate::{Arrangement, Element, Engine, Error, Index, Slice, Space, Tensor};

pub use array::{Array, Length, Owned};
pub use mutable::{PackedMut, Reading, TensorMut, ViewMut};
pub use storage::{B1, Exclusive, Packed, S4, Shared, Storage, StorageMut, SubByte, U4};
pub use transform::Transform;
pub use zip::Zipped;

/// An engine of the host, which is at one value.
pub trait Values: Engine<Index = i64> {
    /// A value.
    type Value;

    /// The value that the engine is at.
    ///
    /// # Errors
    /// [`Error::Beyond`] if the engine has no value there.
    fn value(&self) -> Result<Self::Value, Error>;

    /// The name of the values' type: the dtype's name for packed values, Rust's name for others.
    fn value_name(&self) -> &'static str {
        print::name_of::<Self::Value>()
    }
}

/// Values by their 1-D coordinates, as algorithms read them: a tensor, or two tensors that are [`Zipped`].
pub trait Source {
    /// A value.
    type Value;

    /// The layout whose coordinates name the values.
    fn layout(&self) -> &Lay;

    /// The value at a 1-D coordinate.
    ///
    /// # Errors
    /// Those of [`Tensor::at`].
    fn at(&self, index: i64) -> Result<Self::Value, Error>;
}

impl<E: Values> Source for Tensor<E> {
    type Value = E::Value;

    fn layout(&self) -> &Lay {
        Tensor::layout(self)
    }

    fn at(&self, index: i64) -> Result<E::Value, Error> {
        Tensor::at(self, index)
    }
}

/// An engine over stored values: the storage, and the offset of the value that the engine is at.
#[derive(Clone, Copy, Debug)]
pub struct Host<S> {
    storage: S,
    offset: i64,
}

/// An engine that reads a Rust slice.
pub type View<'a, T> = Host<Shared<'a, T>>;

/// An engine that reads packed elements smaller than a byte.
pub type PackedView<'a, P> = Host<Packed<Shared<'a, u8>, P>>;

impl<S: Storage> Engine for Host<S> {
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
            offset = offset.advanced(digit, by)?;
        }
        Ok(Host { offset, ..*self })
    }
}

impl<S: Storage> Values for Host<S> {
    type Value = S::Value;

    fn value(&self) -> Result<S::Value, Error> {
        let value = usize::try_from(self.offset).ok().and_then(|i| self.storage.read(i));
        value.ok_or(Error::Beyond { index: self.offset, len: self.storage.len() })
    }

    fn value_name(&self) -> &'static str {
        self.storage.value_name()
    }
}

/// An engine at the first value of `storage`, if `layout` stays inside the storage.
fn within<S: Storage>(storage: S, layout: &Lay) -> Result<Host<S>, Error> {
    let (min, max) = (layout.min_index()?, layout.max_index()?);
    if min < 0 || max >= storage.len() as i64 {
        return Err(Error::OutOfBounds { layout: layout.to_string(), min, max, len: storage.len() });
    }
    Ok(Host { storage, offset: 0 })
}

/// A layout's size, which must be known.
pub(crate) fn known_size(what: &'static str, layout: &Lay) -> Result<i64, Error> {
    layout.size()?.get().ok_or_else(|| Error::NotStatic { what, layout: layout.to_string() })
}

impl<'a, T: Copy, L: Arrangement> Tensor<View<'a, T>, L> {
    /// `data` as `layout`, run-time or typed, arranges it.
    ///
    /// # Errors
    /// [`Error::OutOfBounds`] if the layout reaches outside `data`.
    ///
    /// # Examples
    /// ```
    /// use girih_layout::Lay;
    /// use girih_tensor::{Slice, Tensor};
    ///
    /// let data = [0, 1, 2, 3, 4, 5];
    /// let rows = Tensor::host(&data, Lay::parse("(2,3):(3,1)")?)?;
    /// assert_eq!(rows.get((1, 2))?, 5);
    /// let second = rows.slice((1, Slice::All))?;
    /// assert_eq!(second.at(0)?, 3);
    /// # Ok::<(), girih_tensor::Error>(())
    /// ```
    pub fn host(data: &'a [T], layout: L) -> Result<Self, Error> {
        Ok(Tensor::new(within(Shared(data), &layout.erase()?)?, layout))
    }
}

impl<'a, T: Copy> Tensor<View<'a, T>> {
    /// The same memory as elements of another size: along the mode of stride 1, one `U` takes the place of as many `T`
    /// as fill it, or several `U` that of one `T` (CuTe's `recast`).
    ///
    /// # Errors
    /// [`Error::Recast`] if the memory is not aligned for `U`, or the tensor does not begin at a whole `U`; those of
    /// [`Lay::recast`].
    ///
    /// # Examples
    /// ```
    /// use girih_layout::lay;
    /// use girih_tensor::Tensor;
    ///
    /// let words = [0x0002_0001u32, 0x0004_0003];
    /// let halves = Tensor::host(&words, lay!("2:1"))?.recast::<u16>()?;
    /// assert_eq!((halves.layout().to_string().as_str(), halves.at(2)?), ("4:1", 3));
    /// # Ok::<(), girih_tensor::Error>(())
    /// ```
    pub fn recast<U: bytemuck::Pod>(&self) -> Result<Tensor<View<'a, U>>, Error>
    where
        T: bytemuck::Pod,
    {
        let (old, new) = (size_of::<T>(), size_of::<U>());
        let layout = self.layout().recast(8 * old as i64, 8 * new as i64)?;
        let refused = |why: String| Error::Recast { from: old, to: new, why };
        let Host { storage: Shared(data), offset } = *self.engine();
        let bytes = offset.checked_mul(old as i64).filter(|bytes| bytes % (new as i64).max(1) == 0);
        let bytes =
            bytes.ok_or_else(|| refused(format!("the tensor begins at byte {}", offset * old as i64)))?;
        let data = bytemuck::try_cast_slice(data).map_err(|error| refused(format!("the memory: {error}")))?;
        Ok(Tensor::new(Host { storage: Shared(data), offset: bytes / new as i64 }, layout))
    }
}

impl<'a, P: SubByte> Tensor<PackedView<'a, P>> {
    /// Elements smaller than a byte, the first of a byte in its lowest bits.
    ///
    /// # Errors
    /// [`Error::OutOfBounds`] if the layout reaches outside `bytes`.
    ///
    /// # Examples
    /// ```
    /// use girih_layout::lay;
    /// use girih_tensor::{Tensor, host::{PackedView, S4}};
    ///
    /// let t = Tensor::<PackedView<'_, S4>>::packed(&[0x21, 0xf3], lay!("(2,2):(2,1)"))?;
    /// assert_eq!([t.at(0)?, t.at(1)?, t.at(2)?, t.at(3)?], [1, 3, 2, -1]);
    /// # Ok::<(), girih_tensor::Error>(())
    /// ```
    pub fn packed(bytes: &'a [u8], layout: Lay) -> Result<Self, Error> {
        Ok(Tensor::new(within(Packed::new(Shared(bytes)), &layout)?, layout))
    }
}

impl<E: Values> Tensor<E> {
    /// The value at a 1-D coordinate.
    ///
    /// # Errors
    /// [`Error::OutOfRange`]; [`Error::Beyond`] where a ragged tile ends.
    pub fn at(&self, index: i64) -> Result<E::Value, Error> {
        self.slice(Slice::At(index))?.engine().value()
    }

    /// The value at a coordinate of any profile that the layout has: `t.get((1, 2))`, `t.get(((0, 1), 2))`, or a
    /// [`girih_layout::Coord`] by reference.
    ///
    /// # Errors
    /// Those of [`Tensor::slice`]; [`Error::NoCoordinate`] for a coordinate with `_`.
    pub fn get(&self, coord: impl Into<Slice<i64>>) -> Result<E::Value, Error> {
        self.slice(&position(coord)?)?.engine().value()
    }

    /// All values, in colexicographic order of their coordinates.
    ///
    /// # Errors
    /// [`Error::NotStatic`] for a symbolic size; those of [`Tensor::at`].
    pub fn to_vec(&self) -> Result<Vec<E::Value>, Error> {
        (0..known_size("to_vec", self.layout())?).map(|i| self.at(i)).collect()
    }
}

impl<E: Values, M: Modes> Tensor<E, Layout<M>> {
    /// The value at a coordinate, which is 1-D, has one position for each mode, or is as nested as the shape; positions
    /// may be static or dynamic. A static position outside its mode does not compile, nor does a coordinate of another
    /// rank.
    ///
    /// # Errors
    /// Those of [`Layout::try_at`]: a position outside its mode.
    ///
    /// ```
    /// use girih_layout::{int, layout};
    /// use girih_tensor::Tensor;
    /// let data: Vec<i32> = (0..48).collect();
    /// let t = Tensor::host(&data, layout!((8, (2, 3)) : (6, (1, 2))))?;
    /// assert_eq!((t.get((3, (1, int!(2))))?, t.get(11)?), (23, 19));
    /// assert!(t.get((8, 0)).is_err());
    /// # Ok::<(), girih_tensor::Error>(())
    /// ```
    pub fn get<C: Coord<M>>(&self, coord: C) -> Result<E::Value, Error> {
        let offset = self.layout().try_at(coord)?;
        self.engine().advance(&[(offset, Stride::Int(Int::fixed(1)))])?.value()
    }
}

/// The coordinate, if it names a single value.
fn position(coord: impl Into<Slice<i64>>) -> Result<Slice<i64>, Error> {
    let coord = coord.into();
    if coord.keeps_modes() {
        return Err(Error::NoCoordinate { coord: coord.to_string() });
    }
    Ok(coord)
}

/// The values of a tensor in colexicographic order, as f64.
///
/// # Errors
/// Those of [`Tensor::to_vec`].
pub fn values<E: Values<Value: Element>>(tensor: &Tensor<E>) -> Result<Vec<f64>, Error> {
    Ok(tensor.to_vec()?.into_iter().map(Element::to_f64).collect())
}
