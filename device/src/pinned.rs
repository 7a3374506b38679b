//! Page-locked host memory, and copies from and to such memory for which the host does not wait.

use std::{
    fmt,
    marker::PhantomData,
    mem,
    ops::{Deref, DerefMut},
};

use crate::{
    Buffer, Device, Error, Pod,
    backend::{HostMemory, Mark},
};

/// Page-locked memory on the host, which a GPU reads and writes while the host goes on. On the simulator it is ordinary memory.
///
/// ```
/// use girih_device::{Device, Select};
/// let device = Device::open(Select::Sim)?;
/// let mut pinned = device.pinned::<f32>(3)?;
/// pinned.copy_from_slice(&[1.0, 2.0, 3.0]);
/// let x = device.zeros::<f32>(3)?;
/// let upload = x.write_async(pinned)?;
/// // The host can do something else here. Then `wait` gives the memory back.
/// let mut pinned = upload.wait()?;
/// pinned.fill(0.0);
/// let pinned = x.download_async(pinned)?.wait()?;
/// assert_eq!(*pinned, [1.0, 2.0, 3.0]);
/// # Ok::<(), girih_device::Error>(())
/// ```
pub struct Pinned<T: Pod> {
    /// The memory of the elements; `None` if there are no elements.
    memory: Option<Box<dyn HostMemory>>,
    element: PhantomData<T>,
}

impl<T: Pod> Deref for Pinned<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.memory.as_ref().map_or(&[], |memory| bytemuck::cast_slice(memory.bytes()))
    }
}

impl<T: Pod> DerefMut for Pinned<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        self.memory.as_mut().map_or(&mut [], |memory| bytemuck::cast_slice_mut(memory.bytes_mut()))
    }
}

impl<T: Pod> fmt::Debug for Pinned<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pinned<{}>[{}]", T::PTX, self.len())
    }
}

/// A copy between pinned memory and a buffer that may still be in flight. The transfer keeps the pinned memory until
/// [`wait`](Transfer::wait) gives the memory back. To drop a transfer waits for the copy as well.
#[must_use = "dropping a transfer waits for it"]
pub struct Transfer<T: Pod> {
    pinned: Option<Pinned<T>>,
    /// The mark after the copy; `None` if there are no elements.
    mark: Option<Box<dyn Mark>>,
}

impl<T: Pod> Transfer<T> {
    /// Lets the host wait for the copy, and gives the pinned memory back.
    ///
    /// # Errors
    /// [`Error::KernelFailed`] when a kernel before the copy failed; the driver's.
    pub fn wait(mut self) -> Result<Pinned<T>, Error> {
        if let Some(mark) = &self.mark {
            mark.synchronize()?;
        }
        self.mark = None;
        let none = Pinned { memory: None, element: PhantomData };
        Ok(self.pinned.take().unwrap_or(none))
    }

    /// Whether the copy has finished. The host does not wait.
    ///
    /// # Errors
    /// [`Error::KernelFailed`] when a kernel before the copy failed; the driver's.
    pub fn is_done(&self) -> Result<bool, Error> {
        self.mark.as_ref().map_or(Ok(true), |mark| mark.is_done())
    }
}

impl<T: Pod> Drop for Transfer<T> {
    fn drop(&mut self) {
        if self.mark.as_ref().is_some_and(|mark| mark.synchronize().is_err()) {
            // The GPU may still use the memory, so the memory stays allocated.
            mem::forget(self.pinned.take());
        }
    }
}

impl<T: Pod> fmt::Debug for Transfer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Transfer({:?})", self.pinned)
    }
}

impl Device {
    /// Allocates page-locked host memory for `len` elements, which are all zero. To allocate such memory takes long, and all
    /// programs of a machine share the amount that there is: use pinned memory again instead of allocating more.
    ///
    /// # Errors
    /// [`Error::TooLong`]; the driver's.
    pub fn pinned<T: Pod>(&self, len: usize) -> Result<Pinned<T>, Error> {
        let bytes = Buffer::<T>::bytes_of(len)?;
        let memory = if bytes == 0 { None } else { Some(self.backend().pinned(bytes)?) };
        Ok(Pinned { memory, element: PhantomData })
    }
}

impl<T: Pod> Buffer<T> {
    /// Overwrites all elements with those of pinned memory. The copy joins the buffer's sequence, and the host does not wait.
    ///
    /// # Errors
    /// [`Error::Length`] unless `source` has exactly [`len`](Buffer::len) elements; [`Error::NotCaptured`] in a capture; the
    /// driver's. When this fails, `source` is freed.
    #[allow(unsafe_code, reason = "the transfer keeps the pinned memory out of reach until the copy is done")]
    pub fn write_async(&self, source: Pinned<T>) -> Result<Transfer<T>, Error> {
        self.same_len("Buffer::write_async", source.len())?;
        if self.is_empty() {
            return Ok(Transfer { pinned: Some(source), mark: None });
        }
        // SAFETY: the transfer owns the memory and gives it back, or frees it, when the mark is reached.
        let mark = unsafe { self.start_write("Buffer::write_async", bytemuck::cast_slice(&source)) }?;
        Ok(Transfer { pinned: Some(source), mark: Some(mark) })
    }

    /// Copies the elements into pinned memory. The copy joins the buffer's sequence, and the host does not wait.
    ///
    /// # Errors
    /// [`Error::TargetLength`] unless `target` has exactly [`len`](Buffer::len) elements; [`Error::NotCaptured`] in a
    /// capture; the driver's. When this fails, `target` is freed.
    #[allow(unsafe_code, reason = "the transfer keeps the pinned memory out of reach until the copy is done")]
    pub fn download_async(&self, mut target: Pinned<T>) -> Result<Transfer<T>, Error> {
        if target.len() != self.len() {
            return Err(Error::TargetLength { buffer: self.len(), target: target.len() });
        }
        if self.is_empty() {
            return Ok(Transfer { pinned: Some(target), mark: None });
        }
        // SAFETY: the transfer owns the memory and gives it back, or frees it, when the mark is reached.
        let mark =
            unsafe { self.start_read("Buffer::download_async", bytemuck::cast_slice_mut(&mut target)) }?;
        Ok(Transfer { pinned: Some(target), mark: Some(mark) })
    }
}
