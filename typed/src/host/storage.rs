//! The storage of host tensors: Rust slices, and bytes that hold several values each.

use std::cell::Cell;
use std::fmt::Debug;
use std::marker::PhantomData;

use girih_tensor::{DType, Error, F4E2M1};
pub use girih_tensor::{S4, U4};

/// A sequence of values, which have numbers from 0.
pub trait Storage: Copy {
    /// A value.
    type Value: Copy;

    /// The number of values.
    fn len(&self) -> usize;

    /// Whether there are no values.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Value `index`; `None` beyond the last.
    fn read(&self, index: usize) -> Option<Self::Value>;

    /// The name of the values' type: the dtype's name for packed values, Rust's name for others.
    fn value_name(&self) -> &'static str {
        // The last name of the type's path: `f16` of `half::binary16::f16`.
        let path = std::any::type_name::<Self::Value>();
        path.rsplit("::").next().unwrap_or(path)
    }
}

/// Values that can be replaced. Only a [`super::TensorMut`] replaces them.
pub trait StorageMut: Storage {
    /// Replaces value `index`.
    ///
    /// # Errors
    /// [`Error::Beyond`] if there is no value of this number, and those of [`StorageMut::check`].
    fn write(&self, index: usize, value: Self::Value) -> Result<(), Error>;

    /// Checks that an element can hold `value`.
    ///
    /// # Errors
    /// [`Error::OutOfType`] for a value that a packed type does not have.
    fn check(&self, _value: Self::Value) -> Result<(), Error> {
        Ok(())
    }
}

/// A Rust slice, to be read.
#[derive(Debug)]
pub struct Shared<'a, T>(pub(super) &'a [T]);

impl<T> Clone for Shared<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Shared<'_, T> {}

impl<T: Copy> Storage for Shared<'_, T> {
    type Value = T;
    fn len(&self) -> usize {
        self.0.len()
    }
    fn read(&self, index: usize) -> Option<T> {
        self.0.get(index).copied()
    }
}

/// A Rust slice that nobody else sees, since it is made from a `&mut [T]`. The values are in cells, so that several
/// parts of the slice can be written in turn.
pub struct Exclusive<'a, T>(&'a [Cell<T>]);

impl<T> Debug for Exclusive<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Exclusive({} values)", self.0.len())
    }
}

impl<'a, T> Exclusive<'a, T> {
    pub(super) fn new(data: &'a mut [T]) -> Exclusive<'a, T> {
        Exclusive(Cell::from_mut(data).as_slice_of_cells())
    }
}

impl<T> Clone for Exclusive<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Exclusive<'_, T> {}

impl<T: Copy> Storage for Exclusive<'_, T> {
    type Value = T;
    fn len(&self) -> usize {
        self.0.len()
    }
    fn read(&self, index: usize) -> Option<T> {
        self.0.get(index).map(Cell::get)
    }
}

impl<T: Copy> StorageMut for Exclusive<'_, T> {
    fn write(&self, index: usize, value: T) -> Result<(), Error> {
        let cell = self.0.get(index).ok_or(Error::Beyond { index: index as i64, len: self.0.len() })?;
        cell.set(value);
        Ok(())
    }
}

/// An element smaller than a byte: [`S4`], [`U4`], [`F4E2M1`], [`B1`].
pub trait SubByte: Copy + Debug + 'static {
    /// The dtype.
    const DTYPE: DType;
    /// The type of a value on the host.
    type Value: Copy + PartialEq + Debug;
    /// The value of the lowest bits of `bits`.
    fn of_bits(bits: u8) -> Self::Value;
    /// The bits of a value, which are the lowest bits of the result.
    ///
    /// # Errors
    /// [`Error::OutOfType`] for a value that the type does not have.
    fn to_bits(value: Self::Value) -> Result<u8, Error>;
}

/// [`DType::B1`]: a bit.
#[derive(Clone, Copy, Debug)]
pub enum B1 {}

impl SubByte for S4 {
    const DTYPE: DType = DType::S4;
    type Value = i8;
    fn of_bits(bits: u8) -> i8 {
        ((bits << 4) as i8) >> 4
    }
    fn to_bits(value: i8) -> Result<u8, Error> {
        match value {
            -8..=7 => Ok(value as u8 & 15),
            _ => Err(Error::OutOfType { value: value.to_string(), dtype: DType::S4, accepted: "-8 to 7" }),
        }
    }
}

impl SubByte for U4 {
    const DTYPE: DType = DType::U4;
    type Value = u8;
    fn of_bits(bits: u8) -> u8 {
        bits & 15
    }
    fn to_bits(value: u8) -> Result<u8, Error> {
        match value {
            0..=15 => Ok(value),
            _ => Err(Error::OutOfType { value: value.to_string(), dtype: DType::U4, accepted: "0 to 15" }),
        }
    }
}

impl SubByte for F4E2M1 {
    const DTYPE: DType = DType::E2m1;
    type Value = F4E2M1;
    fn of_bits(bits: u8) -> F4E2M1 {
        F4E2M1::from_bits(bits)
    }
    fn to_bits(value: F4E2M1) -> Result<u8, Error> {
        Ok(value.to_bits())
    }
}

impl SubByte for B1 {
    const DTYPE: DType = DType::B1;
    type Value = bool;
    fn of_bits(bits: u8) -> bool {
        bits & 1 == 1
    }
    fn to_bits(value: bool) -> Result<u8, Error> {
        Ok(u8::from(value))
    }
}

/// Bytes that hold several elements each, the first in the lowest bits.
#[derive(Debug)]
pub struct Packed<S, P> {
    bytes: S,
    of: PhantomData<P>,
}

impl<S, P> Packed<S, P> {
    pub(super) fn new(bytes: S) -> Packed<S, P> {
        Packed { bytes, of: PhantomData }
    }
}

impl<S: Copy, P> Clone for Packed<S, P> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<S: Copy, P> Copy for Packed<S, P> {}

/// The byte that holds an element, and the position of the element's lowest bit in that byte.
fn place<P: SubByte>(index: usize) -> (usize, u32) {
    let per_byte = (8 / P::DTYPE.bits()) as usize;
    (index / per_byte, (index % per_byte) as u32 * P::DTYPE.bits())
}

impl<S: Storage<Value = u8>, P: SubByte> Storage for Packed<S, P> {
    type Value = P::Value;
    fn len(&self) -> usize {
        self.bytes.len() * (8 / P::DTYPE.bits()) as usize
    }
    fn read(&self, index: usize) -> Option<P::Value> {
        let (byte, shift) = place::<P>(index);
        self.bytes.read(byte).map(|byte| P::of_bits(byte >> shift))
    }
    fn value_name(&self) -> &'static str {
        P::DTYPE.name()
    }
}

impl<S: StorageMut<Value = u8>, P: SubByte> StorageMut for Packed<S, P> {
    fn write(&self, index: usize, value: P::Value) -> Result<(), Error> {
        let (byte, shift) = place::<P>(index);
        let bits = P::to_bits(value)?;
        let beyond = Error::Beyond { index: index as i64, len: self.len() };
        let old = self.bytes.read(byte).ok_or(beyond)?;
        let mask = ((1u16 << P::DTYPE.bits()) - 1) as u8;
        self.bytes.write(byte, old & !(mask << shift) | bits << shift)
    }

    fn check(&self, value: P::Value) -> Result<(), Error> {
        P::to_bits(value).map(drop)
    }
}
