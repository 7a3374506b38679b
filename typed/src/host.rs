//! Tensors in the host's memory that own their values, are written, or hold several values in a byte.
//!
//! | | read | written | copies |
//! |---|---|---|---|
//! | [`Tensor<View<T>>`](View) | yes | no | shallow |
//! | [`TensorMut<T>`](TensorMut) | yes | yes | none: its parts are handed out once their disjointness is proved |
//! | [`Array<T>`](Array) | yes | yes | deep; of constant length under a static layout |
//! | [`Tensor<PackedView<S4>>`](PackedView) | yes | by [`PackedMut`] | shallow; several elements a byte |
//!
//! They are tensors of [`girih_tensor`] with engines of this module, read like that library's
//! [`View`](girih_tensor::host::View).

mod array;
mod mutable;
mod storage;
mod zip;

use girih_layout::{Lay, Stride};
use girih_tensor::host::Values;
use girih_tensor::{Engine, Error, Index, Space, Tensor};

pub use array::{Array, Length, Owned};
pub use mutable::{PackedMut, Reading, TensorMut, ViewMut};
pub use storage::{B1, Exclusive, Packed, S4, Shared, Storage, StorageMut, SubByte, U4};
pub use zip::Zipped;

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

/// Elements smaller than a byte, the first of a byte in its lowest bits, as a tensor.
///
/// # Errors
/// [`Error::OutOfBounds`] if the layout reaches outside `bytes`.
///
/// # Examples
/// ```
/// use girih_layout::lay;
/// use girih_typed::host::{S4, packed};
///
/// let t = packed::<S4>(&[0x21, 0xf3], lay!("(2,2):(2,1)"))?;
/// assert_eq!([t.at(0)?, t.at(1)?, t.at(2)?, t.at(3)?], [1, 3, 2, -1]);
/// # Ok::<(), girih_tensor::Error>(())
/// ```
pub fn packed<P: SubByte>(bytes: &[u8], layout: Lay) -> Result<Tensor<PackedView<'_, P>>, Error> {
    Ok(Tensor::new(within(Packed::new(Shared(bytes)), &layout)?, layout))
}
