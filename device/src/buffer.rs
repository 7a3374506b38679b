//! Typed device memory.

use std::{fmt, marker::PhantomData};

use crate::{Device, Error, Pod};

/// `len` elements of device memory.
///
/// All operations join the device's one sequence: a [`download`](Buffer::download) sees what every call before it wrote,
/// kernels included, and dropping a buffer frees it after the work that may still use it. Kernels write through shared
/// references, so [`write`](Buffer::write) and its kin take `&self` as well.
///
/// ```
/// use girih_device::{Device, Select};
/// let device = Device::open(Select::Sim)?;
/// let x = device.upload(&[1.0f32, 2.0, 3.0])?;
/// let y = device.alloc::<f32>(3)?;
/// y.copy_from(&x)?;
/// assert_eq!(y.download()?, [1.0, 2.0, 3.0]);
/// # Ok::<(), girih_device::Error>(())
/// ```
pub struct Buffer<T: Pod> {
    device: Device,
    address: u64,
    len: usize,
    element: PhantomData<T>,
}

impl<T: Pod> Buffer<T> {
    pub(crate) fn new(device: Device, len: usize) -> Result<Buffer<T>, Error> {
        let element_bytes = size_of::<T>();
        let bytes = len
            .checked_mul(element_bytes)
            .filter(|&bytes| bytes <= isize::MAX as usize)
            .ok_or(Error::TooLong { len, element_bytes })?;
        let address = if bytes == 0 { 0 } else { device.backend.alloc(bytes)? };
        Ok(Buffer { device, address, len, element: PhantomData })
    }

    /// Elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// No elements?
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes.
    pub fn bytes(&self) -> usize {
        self.len * size_of::<T>()
    }

    /// The device address of the first element, a multiple of 256; 0 for an empty buffer.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// The device that it lives on.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// A copy of the elements on the host, after everything called before has finished.
    ///
    /// # Errors
    /// The driver's, or that of a kernel that failed earlier.
    pub fn download(&self) -> Result<Vec<T>, Error> {
        let mut host = vec![T::zeroed(); self.len];
        if !self.is_empty() {
            self.device.backend.read(self.address, bytemuck::cast_slice_mut(&mut host))?;
        }
        Ok(host)
    }

    /// Overwrites all elements.
    ///
    /// # Errors
    /// [`Error::Length`] unless `source` has exactly [`len`](Buffer::len) elements; the driver's.
    pub fn write(&self, source: &[T]) -> Result<(), Error> {
        self.same_len("Buffer::write", source.len())?;
        if self.is_empty() {
            return Ok(());
        }
        self.device.backend.write(self.address, bytemuck::cast_slice(source))
    }

    /// Sets every byte to `byte`: 0 for zeros, 0xFF for NaNs of every floating-point type (poison).
    ///
    /// # Errors
    /// The driver's.
    pub fn fill_bytes(&self, byte: u8) -> Result<(), Error> {
        if self.is_empty() {
            return Ok(());
        }
        self.device.backend.fill(self.address, byte, self.bytes())
    }

    /// Copies the elements of another buffer of the same device and length, on the device.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::ForeignBuffer`]; the driver's.
    pub fn copy_from(&self, source: &Buffer<T>) -> Result<(), Error> {
        self.same_len("Buffer::copy_from", source.len())?;
        if !self.device.is_same(&source.device) {
            return Err(Error::ForeignBuffer { what: "Buffer::copy_from: the source".into() });
        }
        if self.is_empty() || self.address == source.address {
            return Ok(());
        }
        self.device.backend.copy(self.address, source.address, self.bytes())
    }

    fn same_len(&self, operation: &'static str, source_len: usize) -> Result<(), Error> {
        if source_len == self.len {
            Ok(())
        } else {
            Err(Error::Length { operation, buffer: self.len, source_len })
        }
    }
}

impl<T: Pod> Drop for Buffer<T> {
    fn drop(&mut self) {
        if self.address != 0 {
            self.device.backend.free(self.address);
        }
    }
}

impl<T: Pod> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer<{}>[{}] at {:#x}", T::PTX, self.len, self.address)
    }
}
