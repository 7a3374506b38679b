//! Devices on streams of `cudarc`, and buffers in slices of `cudarc`.

use std::{fmt, marker::PhantomData, mem, ops::Deref, sync::Arc};

use cudarc::driver::{CudaStream, DevicePtr, DevicePtrMut};

use super::gpu::Gpu;
use crate::{Arg, Buffer, Device, Error, Pod, stream::Owner};

/// A buffer in memory of `cudarc`, which borrows a slice or a view of `cudarc` as long as the buffer lives.
///
/// The buffer's operations join the slice's stream. Operations of other streams that use the buffer are ordered with the slice's
/// stream, as with the stream of any buffer ([`Device::new_stream`]). When the buffer is dropped, the use is recorded in the
/// events by which `cudarc` orders its own streams, unless the slice's stream is being captured at that time.
pub struct Borrowed<'a, T: Pod> {
    buffer: Buffer<T>,
    /// Records the use in the events of `cudarc`, unless the stream is being captured, which the argument says. `None` in a slice
    /// of another `Borrowed`.
    finish: Option<Box<dyn FnOnce(bool) + Send + 'a>>,
    slice: PhantomData<&'a ()>,
}

impl<T: Pod> Borrowed<'_, T> {
    /// A buffer of some of the elements, as [`Buffer::slice`] returns it.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless the range is inside the buffer.
    pub fn slice(&self, range: impl std::ops::RangeBounds<usize>) -> Result<Borrowed<'_, T>, Error> {
        Ok(Borrowed { buffer: self.buffer.part(range)?, finish: None, slice: PhantomData })
    }

    /// The buffer, for functions that take `&mut Buffer`.
    ///
    /// # Safety
    /// The buffer must not be moved out of the `Borrowed`: it could then be used when the slice is no longer borrowed.
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
    /// Opens a device on a stream of `cudarc` and the stream's context. The device keeps both alive. The operations of `cudarc` in
    /// the stream and the operations of the device are one sequence.
    ///
    /// # Errors
    /// [`Error::PerThreadStream`]; [`Error::GpuTooOld`], [`Error::DriverTooOld`]; the driver's.
    pub fn from_cudarc(stream: &Arc<CudaStream>) -> Result<Device, Error> {
        Ok(Device::new(Box::new(Gpu::from_cudarc(stream)?)))
    }

    /// A buffer in a slice or a view of `cudarc`, to be read.
    ///
    /// # Errors
    /// [`Error::WrongMemory`] for memory of another context than this device's; [`Error::CapturedByOther`] and
    /// [`Error::NotCaptured`] while the slice's stream is being captured; the driver's.
    pub fn borrow_cudarc<'a, T: Pod, S: DevicePtr<T>>(&self, slice: &'a S) -> Result<Borrowed<'a, T>, Error> {
        let stream = slice.stream();
        let home = self.home_of(stream)?;
        home.sequence.refuse_in_capture("Device::borrow_cudarc")?;
        let (address, record) = slice.device_ptr(stream);
        let buffer = home.scoped(self, address, slice.len())?;
        let finish =
            Box::new(move |captured: bool| if captured { mem::forget(record) } else { drop(record) });
        Ok(Borrowed { buffer, finish: Some(finish), slice: PhantomData })
    }

    /// A buffer in a slice or a view of `cudarc`, to be read and written.
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
        home.sequence.refuse_in_capture("Device::borrow_cudarc_mut")?;
        let (address, record) = slice.device_ptr_mut(&stream);
        drop(record);
        let buffer = home.scoped(self, address, slice.len())?;
        // The stream has been told to wait for all operations of other streams with the buffer, so an event that is recorded at
        // the end comes after those operations.
        let finish = Box::new(move |captured: bool| {
            if !captured {
                drop(slice.device_ptr_mut(&stream));
            }
        });
        Ok(Borrowed { buffer, finish: Some(finish), slice: PhantomData })
    }

    /// The device of a slice's stream; this device if the stream is its stream.
    fn home_of(&self, stream: &Arc<CudaStream>) -> Result<Device, Error> {
        let address = |handle: usize| Some(handle as u64);
        let handles = (address(stream.context().cu_ctx().addr()), address(stream.cu_stream().addr()));
        if (self.cuda_context(), self.cuda_stream()) == handles {
            return Ok(self.clone());
        }
        Device::from_cudarc(stream)
    }

    /// A buffer in a slice whose stream is this device's. The buffer is to be used with `device`, which must have the same context.
    fn scoped<T: Pod>(&self, device: &Device, address: u64, len: usize) -> Result<Buffer<T>, Error> {
        if !self.is_same(device) {
            let name = |device: &Device| format!("the context {:#x}", device.cuda_context().unwrap_or(0));
            return Err(Error::WrongMemory { address, owner: name(self), device: name(device) });
        }
        self.buffer_of(address, len, Owner::Scope)
    }
}
