//! Arrays as a launch sees them, of any dtype and rank.

use std::ops::Range;

use girih_device::{Buffer, BufferArg, Device};
use girih_tensor::DType;

use super::array::bytes_of;
use super::{AnyArray, DeviceArray, HostElement};
use crate::error::Result;

/// An array of any dtype and rank, as a launch sees it.
pub(crate) trait Passed {
    fn dtype(&self) -> DType;
    fn extents(&self) -> &[usize];
    fn strides(&self) -> &[usize];
    fn bytes(&self) -> Range<u64>;
    fn device(&self) -> &Device;
    /// The memory from the first element on.
    fn memory(&self) -> BufferArg<'_>;
    /// Another array on the same memory.
    fn any(&self) -> Result<AnyArray>;
}

/// An array that a launch writes, and what its memory held before.
pub(crate) struct Written {
    array: AnyArray,
    before: Buffer<u8>,
    /// Whether it holds results.
    pub(crate) is_result: bool,
}

impl Written {
    pub(crate) fn new(array: AnyArray, is_result: bool) -> Result<Written> {
        let before = array.device().alloc(array.buffer.len())?;
        before.copy_from(&array.buffer)?;
        Ok(Written { array, before, is_result })
    }

    /// Puts the memory back to what it held.
    pub(crate) fn restore(&self) -> Result {
        Ok(self.array.buffer.copy_from(&self.before)?)
    }

    /// The elements that the array has now.
    pub(crate) fn values(&self) -> Result<Vec<f64>> {
        self.array.numbers()
    }

    /// Whether two lists of elements are equal: of integers exactly, of floats to half of the digits of their magnitude.
    pub(crate) fn agree(&self, found: &[f64], wanted: &[f64]) -> bool {
        let dtype = self.array.dtype();
        let finite = || wanted.iter().map(|x| x.abs()).filter(|x| x.is_finite());
        let (most, count) = (finite().fold(f64::MIN_POSITIVE, f64::max), finite().count().max(1));
        // By shares of the greatest, whose squares are finite.
        let mean = most * (finite().map(|x| (x / most).powi(2)).sum::<f64>() / count as f64).sqrt();
        let bound = if dtype.is_integer() { 0.0 } else { dtype.epsilon().sqrt() };
        let equal = |(x, y): (&f64, &f64)| {
            x == y || x.is_nan() && y.is_nan() || y.is_finite() && (x - y).abs() <= bound * (y.abs() + mean)
        };
        found.iter().zip(wanted).all(equal)
    }
}

impl<T: HostElement, const R: usize> Passed for DeviceArray<T, R> {
    fn dtype(&self) -> DType {
        T::DTYPE
    }

    fn extents(&self) -> &[usize] {
        &self.extents
    }

    fn strides(&self) -> &[usize] {
        &self.strides
    }

    fn bytes(&self) -> Range<u64> {
        DeviceArray::bytes(self)
    }

    fn device(&self) -> &Device {
        self.buffer.device()
    }

    fn memory(&self) -> BufferArg<'_> {
        BufferArg::from(&self.buffer).from_byte(bytes_of(T::DTYPE, self.offset))
    }

    fn any(&self) -> Result<AnyArray> {
        Ok(AnyArray {
            dtype: T::DTYPE,
            buffer: self.buffer.slice(..)?.into_bytes(),
            offset: self.offset,
            extents: self.extents.to_vec(),
            strides: self.strides.to_vec(),
        })
    }
}

impl Passed for AnyArray {
    fn dtype(&self) -> DType {
        self.dtype
    }

    fn extents(&self) -> &[usize] {
        &self.extents
    }

    fn strides(&self) -> &[usize] {
        &self.strides
    }

    fn bytes(&self) -> Range<u64> {
        AnyArray::bytes(self)
    }

    fn device(&self) -> &Device {
        self.buffer.device()
    }

    fn memory(&self) -> BufferArg<'_> {
        BufferArg::from(&self.buffer).from_byte(bytes_of(self.dtype, self.offset))
    }

    fn any(&self) -> Result<AnyArray> {
        Ok(AnyArray {
            dtype: self.dtype,
            buffer: self.buffer.slice(..)?,
            offset: self.offset,
            extents: self.extents.clone(),
            strides: self.strides.clone(),
        })
    }
}
