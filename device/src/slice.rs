//! Parts of buffers.

use std::ops::{Bound, RangeBounds};

use crate::{Buffer, Error, Pod};

impl<T: Pod> Buffer<T> {
    /// A buffer of some of the elements. The slice keeps the memory of the whole buffer allocated.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless the range is inside the buffer; [`Error::ScopedSlice`] for memory that is
    /// borrowed from `cudarc`.
    ///
    /// ```
    /// # use girih_device::{Device, Select};
    /// let x = Device::open(Select::Sim)?.upload(&[1u32, 2, 3, 4])?;
    /// let (head, tail) = (x.slice(..1)?, x.slice(2..)?);
    /// drop(x);
    /// tail.fill_bytes(0)?;
    /// assert_eq!((head.download()?, tail.download()?), (vec![1], vec![0, 0]));
    /// # Ok::<(), girih_device::Error>(())
    /// ```
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<Buffer<T>, Error> {
        match self.memory() {
            Some(memory) if !memory.is_shared() => Err(Error::ScopedSlice),
            _ => self.part(range),
        }
    }

    pub(crate) fn part(&self, range: impl RangeBounds<usize>) -> Result<Buffer<T>, Error> {
        let len = self.len();
        let start = match range.start_bound() {
            Bound::Included(&start) => start,
            Bound::Excluded(&before) => before.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(&last) => last.saturating_add(1),
            Bound::Excluded(&end) => end,
            Bound::Unbounded => len,
        };
        if start > end || end > len {
            return Err(Error::OutOfRange { start, end, len });
        }
        if start == end {
            return Ok(Self::from_parts(self.device(), None, 0, 0));
        }
        let address = self.address() + (start * size_of::<T>()) as u64;
        Ok(Self::from_parts(self.device(), self.memory().cloned(), address, end - start))
    }

    /// The same memory as bytes.
    ///
    /// ```
    /// # use girih_device::{Device, Select};
    /// let x = Device::open(Select::Sim)?.upload(&[1u32, 256])?;
    /// assert_eq!(x.into_bytes().download()?, [1, 0, 0, 0, 0, 1, 0, 0]);
    /// # Ok::<(), girih_device::Error>(())
    /// ```
    #[must_use]
    pub fn into_bytes(self) -> Buffer<u8> {
        Buffer::from_parts(self.device(), self.memory().cloned(), self.address(), self.bytes())
    }

    /// The number of bytes that two buffers have in common. Slices of one buffer, and buffers of borrowed memory, can overlap.
    ///
    /// ```
    /// # use girih_device::{Device, Select};
    /// let x = Device::open(Select::Sim)?.zeros::<u32>(10)?;
    /// assert_eq!(x.slice(..6)?.overlap(&x.slice(4..)?), 8);
    /// assert_eq!(x.slice(..6)?.overlap(&x.slice(6..)?), 0);
    /// # Ok::<(), girih_device::Error>(())
    /// ```
    pub fn overlap<U: Pod>(&self, other: &Buffer<U>) -> u64 {
        if !self.device().is_same(other.device()) {
            return 0;
        }
        let end = (self.address() + self.bytes() as u64).min(other.address() + other.bytes() as u64);
        end.saturating_sub(self.address().max(other.address()))
    }
}
