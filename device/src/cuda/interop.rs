//! Streams and slices of `cudarc`, kept alive or borrowed.

use std::{fmt, marker::PhantomData, mem, ops::Deref, sync::Arc};

use cudarc::driver::{CudaStream, DevicePtr, DevicePtrMut};

use super::gpu::Gpu;
use crate::{Arg, Buffer, Device, Error, Pod, memory::Owner};

/// A buffer of memory that belongs to `cudarc`, for as long as the slice or the view is borrowed.
///
/// Its own operations join the slice's stream, and streams that use it are ordered with that one as with that of any other
/// buffer ([`Device::new_stream`]). When it is dropped, `cudarc` is told of the use by its own events, unless the slice's
/// stream is being captured then.
pub struct Borrowed<'a, T: Pod> {
    buffer: Buffer<T>,
    /// Tells `cudarc`, unless the stream is being captured, as the argument says; none of a part.
    finish: Option<Box<dyn FnOnce(bool) + Send + 'a>>,
    slice: PhantomData<&'a ()>,
}

impl<T: Pod> Borrowed<'_, T> {
    /// Some of the elements, as [`Buffer::slice`] has them.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless the range lies inside of the buffer.
    pub fn slice(&self, range: impl std::ops::RangeBounds<usize>) -> Result<Borrowed<'_, T>, Error> {
        Ok(Borrowed { buffer: self.buffer.part(range)?, finish: None, slice: PhantomData })
    }

    /// The buffer, for functions that ask for one that can be written.
    ///
    /// # Safety
    /// The buffer must stay where it is: what swaps it for another one could use it when the slice is no longer borrowed.
    pub unsafe fn as_mut(&mut self) -> &mut Buffer<T> {
        &mut self.buffer
    }
}

impl<T: Pod> Deref for Borrowed<'_, T> {
    type Target = Buffer<T>;

    fn deref(&self) -> &Buffer<T> {
        &self.buffer
    }
}

impl<T: Pod> Drop for Borrowed<'_, T> {
    fn drop(&mut self) {
        if let Some(finish) = self.finish.take() {
            finish(self.buffer.device().backend().is_capturing());
        }
    }
}

impl<T: Pod> fmt::Debug for Borrowed<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Borrowed({:?})", self.buffer)
    }
}

impl<'a, T: Pod> From<&'a Borrowed<'_, T>> for Arg<'a> {
    fn from(borrowed: &'a Borrowed<'_, T>) -> Self {
        Arg::from(&borrowed.buffer)
    }
}

impl Device {
    /// Opens on a stream of `cudarc` and its context, which are kept alive. Work that `cudarc` puts into the stream and girih's
    /// join one sequence.
    ///
    /// # Errors
    /// [`Error::PerThreadStream`]; [`Error::GpuTooOld`], [`Error::DriverTooOld`]; the driver's.
    pub fn from_cudarc(stream: &Arc<CudaStream>) -> Result<Device, Error> {
        Ok(Device::new(Box::new(Gpu::from_cudarc(stream)?)))
    }

    /// A slice or view of `cudarc`, as a buffer to read.
    ///
    /// # Errors
    /// [`Error::WrongMemory`] for memory of another context than this device's; [`Error::CapturedByOther`] and
    /// [`Error::NotCaptured`] while the slice's stream is being captured; the driver's.
    pub fn borrow_cudarc<'a, T: Pod, S: DevicePtr<T>>(&self, slice: &'a S) -> Result<Borrowed<'a, T>, Error> {
        let stream = slice.stream();
        let home = self.home_of(stream)?;
        home.refuse_in_capture("Device::borrow_cudarc")?;
        let (address, record) = slice.device_ptr(stream);
        let buffer = home.scoped(self, address, slice.len())?;
        let finish =
            Box::new(move |captured: bool| if captured { mem::forget(record) } else { drop(record) });
        Ok(Borrowed { buffer, finish: Some(finish), slice: PhantomData })
    }

    /// A slice or view of `cudarc`, as a buffer to write and to read.
    ///
    /// # Errors
    /// [`Error::WrongMemory`] for memory of another context than this device's; [`Error::CapturedByOther`] and
    /// [`Error::NotCaptured`] while the slice's stream is being captured; the driver's.
    pub fn borrow_cudarc_mut<'a, T: Pod, S: DevicePtrMut<T> + Send>(
        &self,
        slice: &'a mut S,
    ) -> Result<Borrowed<'a, T>, Error> {
        let stream = slice.stream().clone();
        let home = self.home_of(&stream)?;
        home.refuse_in_capture("Device::borrow_cudarc_mut")?;
        let (address, record) = slice.device_ptr_mut(&stream);
        drop(record);
        let buffer = home.scoped(self, address, slice.len())?;
        // What is recorded now is behind all that the stream was told to wait for.
        let finish = Box::new(move |captured: bool| {
            if !captured {
                drop(slice.device_ptr_mut(&stream));
            }
        });
        Ok(Borrowed { buffer, finish: Some(finish), slice: PhantomData })
    }

    /// The device of a slice's stream: this one, if the stream is the same.
    fn home_of(&self, stream: &Arc<CudaStream>) -> Result<Device, Error> {
        let address = |handle: usize| Some(handle as u64);
        let handles = (address(stream.context().cu_ctx().addr()), address(stream.cu_stream().addr()));
        if (self.cuda_context(), self.cuda_stream()) == handles {
            return Ok(self.clone());
        }
        Device::from_cudarc(stream)
    }

    /// A buffer in the memory of a slice, whose own device this is, for the use with `device`.
    fn scoped<T: Pod>(&self, device: &Device, address: u64, len: usize) -> Result<Buffer<T>, Error> {
        if !self.is_same(device) {
            let name = |device: &Device| format!("the context {:#x}", device.cuda_context().unwrap_or(0));
            return Err(Error::WrongMemory { address, owner: name(self), device: name(device) });
        }
        self.buffer_of(address, len, Owner::Scope)
    }
}
