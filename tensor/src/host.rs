//! Tensors that read the host's memory: a place to try out partitions.
//!
//! | | values |
//! |---|---|
//! | [`Tensor<View<T>>`](View) | those of a slice |
//! | [`Tensor<Counting>`](crate::Counting) | its coordinates |
//! | [`Tensor<Transform>`](Transform) | a function of another's values |

mod print;
mod transform;

use girih_layout::{Lay, Stride};

use crate::{Element, Engine, Error, Index, Slice, Space, Tensor};

pub use transform::Transform;

/// An engine of the host, which is at one value.
pub trait Values: Engine<Index = i64> {
    /// A value.
    type Value;

    /// The value that the engine is at.
    ///
    /// # Errors
    /// [`Error::Beyond`] if the engine has no value there.
    fn value(&self) -> Result<Self::Value, Error>;

    /// The name of the values' type: Rust's name, unless the engine knows a dtype's.
    fn value_name(&self) -> &'static str {
        print::name_of::<Self::Value>()
    }
}

/// An engine that reads a Rust slice: the data, and the offset of the value that the engine is at.
#[derive(Debug)]
pub struct View<'a, T> {
    data: &'a [T],
    offset: i64,
}

impl<T> Clone for View<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for View<'_, T> {}

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
            offset = offset.advanced(digit, by)?;
        }
        Ok(View { offset, ..*self })
    }
}

impl<T: Copy> Values for View<'_, T> {
    type Value = T;

    fn value(&self) -> Result<T, Error> {
        let value = usize::try_from(self.offset).ok().and_then(|i| self.data.get(i)).copied();
        value.ok_or(Error::Beyond { index: self.offset, len: self.data.len() })
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
    pub fn host(data: &'a [T], layout: Lay) -> Result<Self, Error> {
        let (min, max) = (layout.min_index()?, layout.max_index()?);
        if min < 0 || max >= data.len() as i64 {
            return Err(Error::OutOfBounds { layout: layout.to_string(), min, max, len: data.len() });
        }
        Ok(Tensor::new(View { data, offset: 0 }, layout))
    }

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
        let View { data, offset } = *self.engine();
        let bytes = offset.checked_mul(old as i64).filter(|bytes| bytes % (new as i64).max(1) == 0);
        let bytes =
            bytes.ok_or_else(|| refused(format!("the tensor begins at byte {}", offset * old as i64)))?;
        let data = bytemuck::try_cast_slice(data).map_err(|error| refused(format!("the memory: {error}")))?;
        Ok(Tensor::new(View { data, offset: bytes / new as i64 }, layout))
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
        let size = self.layout().size()?.get();
        let size =
            size.ok_or_else(|| Error::NotStatic { what: "to_vec", layout: self.layout().to_string() })?;
        (0..size).map(|i| self.at(i)).collect()
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
