//! Arrays as a launch sees them, of any dtype and rank.

use std::ops::Range;

use girih_device::{Buffer, BufferArg, Device};
use girih_tensor::{DType, Element};

use super::{DeviceArray, HostElement};
use crate::dtype::is_integer;
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
    /// The array as it is now.
    fn copied(&self) -> Result<Box<dyn Copied>>;
}

/// An array, and what its memory held at a time.
pub(crate) trait Copied {
    /// Puts the memory back to what it held.
    fn restore(&self) -> Result;
    /// The elements that it has now.
    fn values(&self) -> Result<Vec<f64>>;
    /// Whether two lists of elements are equal: of integers exactly, of floats to half of the digits of their magnitude.
    fn agree(&self, found: &[f64], wanted: &[f64]) -> bool;
}

/// An array that a launch writes, and what it held before.
pub(crate) struct Written {
    pub(crate) array: Box<dyn Copied>,
    /// Whether it holds results.
    pub(crate) is_result: bool,
}

struct Copy<T: HostElement, const R: usize> {
    array: DeviceArray<T, R>,
    before: Buffer<T::Stored>,
}

impl<T: HostElement, const R: usize> Copied for Copy<T, R> {
    fn restore(&self) -> Result {
        Ok(self.array.buffer.copy_from(&self.before)?)
    }

    fn values(&self) -> Result<Vec<f64>> {
        Ok(self.array.download()?.into_iter().map(Element::to_f64).collect())
    }

    fn agree(&self, found: &[f64], wanted: &[f64]) -> bool {
        let finite = || wanted.iter().map(|x| x.abs()).filter(|x| x.is_finite());
        let (most, count) = (finite().fold(f64::MIN_POSITIVE, f64::max), finite().count().max(1));
        // By shares of the greatest, whose squares are finite.
        let mean = most * (finite().map(|x| (x / most).powi(2)).sum::<f64>() / count as f64).sqrt();
        let bound = if is_integer(T::DTYPE) { 0.0 } else { T::DTYPE.epsilon().sqrt() };
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
        BufferArg::from(&self.buffer).from_byte(self.bytes_of(self.offset))
    }

    fn copied(&self) -> Result<Box<dyn Copied>> {
        let before = self.device().alloc(self.buffer.len())?;
        before.copy_from(&self.buffer)?;
        Ok(Box::new(Copy { array: self.on_same(self.offset, self.extents, self.strides)?, before }))
    }
}
