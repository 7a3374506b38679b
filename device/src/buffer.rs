//! Typed device memory.

use std::{fmt, marker::PhantomData, sync::Arc};

use crate::{
    Device, Error, Pod,
    backend::{Backend, Mark},
    stream::{Allocation, Owner},
};

/// `len` elements of type `T` in device memory.
///
/// All operations on a buffer join the sequence of the device that made the buffer: a [`download`](Buffer::download) returns what
/// all operations before it wrote, kernels included, and a dropped buffer is freed after the operations that may still use it.
/// An operation of another stream that uses the buffer is ordered with the buffer's stream ([`Device::new_stream`]). Kernels
/// write to buffers that are borrowed as `&Buffer`, so the methods that write take `&self` as well.
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
    /// The memory of the elements; `None` of an empty buffer.
    memory: Option<Arc<Allocation>>,
    address: u64,
    len: usize,
    element: PhantomData<T>,
}

impl<T: Pod> Buffer<T> {
    pub(crate) fn new(device: Device, len: usize) -> Result<Buffer<T>, Error> {
        let bytes = Self::bytes_of(len)?;
        if bytes == 0 {
            return Ok(Self::from_parts(&device, None, 0, 0));
        }
        let (memory, address) = allocate(&device, bytes)?;
        Ok(Self::from_parts(&device, Some(memory), address, len))
    }

    pub(crate) fn from_parts(
        device: &Device,
        memory: Option<Arc<Allocation>>,
        address: u64,
        len: usize,
    ) -> Buffer<T> {
        Buffer { device: device.clone(), memory, address, len, element: PhantomData }
    }

    /// The bytes of `len` elements.
    pub(crate) fn bytes_of(len: usize) -> Result<usize, Error> {
        let element_bytes = size_of::<T>();
        let bytes = len.checked_mul(element_bytes).filter(|&bytes| bytes <= isize::MAX as usize);
        bytes.ok_or(Error::TooLong { len, element_bytes })
    }

    pub(crate) fn memory(&self) -> Option<&Arc<Allocation>> {
        self.memory.as_ref()
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the buffer has no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The number of bytes.
    pub fn bytes(&self) -> usize {
        self.len * size_of::<T>()
    }

    /// The device address of the first element; 0 for an empty buffer. The address of a buffer that girih allocated is a multiple
    /// of 256; the address of a slice or of borrowed memory is a multiple of the element's alignment.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// The device that the buffer was made by, whose sequence the buffer's operations join.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Copies the elements to the host, after all operations so far, and lets the host wait for the copy.
    ///
    /// # Errors
    /// [`Error::KernelFailed`] when a kernel failed; [`Error::NotCaptured`] in a capture; the driver's.
    #[allow(unsafe_code, reason = "the driver reads and writes host memory while the host waits")]
    pub fn download(&self) -> Result<Vec<T>, Error> {
        let mut host = vec![T::zeroed(); self.len];
        if !self.is_empty() {
            // SAFETY: nothing else can reach `host` before the mark is reached.
            unsafe { self.start_read("Buffer::download", bytemuck::cast_slice_mut(&mut host)) }?
                .synchronize()?;
        }
        Ok(host)
    }

    /// Overwrites all elements, and lets the host wait for the copy.
    ///
    /// # Errors
    /// [`Error::Length`] unless `source` has exactly [`len`](Buffer::len) elements; [`Error::NotCaptured`] in a capture; the
    /// driver's.
    #[allow(unsafe_code, reason = "the driver reads and writes host memory while the host waits")]
    pub fn write(&self, source: &[T]) -> Result<(), Error> {
        self.same_len("Buffer::write", source.len())?;
        if self.is_empty() {
            return Ok(());
        }
        // SAFETY: `source` stays borrowed until the mark is reached.
        unsafe { self.start_write("Buffer::write", bytemuck::cast_slice(source)) }?.synchronize()
    }

    /// Starts a copy from the host to the buffer, which must not be empty, and sets a mark after the copy.
    ///
    /// # Safety
    /// Nothing may write or free `bytes` before the mark is reached. When this fails, no copy is in flight.
    #[allow(unsafe_code, reason = "the copy goes on after the call")]
    pub(crate) unsafe fn start_write(
        &self,
        operation: &'static str,
        bytes: &[u8],
    ) -> Result<Box<dyn Mark>, Error> {
        // SAFETY: the caller's promise is passed on.
        unsafe { start_write(&self.device, operation, self.address, bytes) }
    }

    /// Starts a copy of the buffer, which must not be empty, to the host, and sets a mark after the copy.
    ///
    /// # Safety
    /// Nothing may read, write or free `bytes` before the mark is reached. When this fails, no copy is in flight.
    #[allow(unsafe_code, reason = "the copy goes on after the call")]
    pub(crate) unsafe fn start_read(
        &self,
        operation: &'static str,
        bytes: &mut [u8],
    ) -> Result<Box<dyn Mark>, Error> {
        // SAFETY: the caller's promise is passed on.
        unsafe { start_read(&self.device, operation, self.address, bytes) }
    }

    /// Sets every byte to `byte`: 0 makes zeros, 0xFF makes NaNs of every floating-point type. The host does not wait.
    ///
    /// # Errors
    /// [`Error::CapturedByOther`] and [`Error::CapturedApart`] while a stream is being captured; the driver's.
    pub fn fill_bytes(&self, byte: u8) -> Result<(), Error> {
        let Some(memory) = self.memory() else { return Ok(()) };
        fill(&self.device, memory, self.address, byte, self.bytes())
    }

    /// Copies the elements of another buffer of the same device and length, on the device. The host does not wait.
    ///
    /// # Errors
    /// [`Error::Length`] for a buffer of another length, [`Error::ForeignBuffer`] for a buffer of another device,
    /// [`Error::Overlap`] for slices that have some elements in common; [`Error::CapturedByOther`] and
    /// [`Error::CapturedApart`] while a stream is being captured; the driver's.
    pub fn copy_from(&self, source: &Buffer<T>) -> Result<(), Error> {
        self.same_len("Buffer::copy_from", source.len())?;
        if !self.device.is_same(&source.device) {
            return Err(Error::ForeignBuffer { what: "Buffer::copy_from: the source".into() });
        }
        let (to, from, bytes) = (self.address, source.address, self.bytes());
        let (Some(own), Some(memory)) = (self.memory(), source.memory().filter(|_| to != from)) else {
            return Ok(());
        };
        let overlap = self.overlap(source);
        if overlap > 0 {
            return Err(Error::Overlap { bytes: overlap });
        }
        copy(&self.device, [own, memory], to, from, bytes)
    }

    pub(crate) fn same_len(&self, operation: &'static str, source_len: usize) -> Result<(), Error> {
        if source_len == self.len {
            Ok(())
        } else {
            Err(Error::Length { operation, buffer: self.len, source_len })
        }
    }
}

// The functions below work on bytes: they are compiled once, and not for each element type in each program.

fn allocate(device: &Device, bytes: usize) -> Result<(Arc<Allocation>, u64), Error> {
    let address = device.sequence.submit("Device::alloc", &[], |backend| backend.alloc(bytes))?;
    Ok((Arc::new(Allocation::new(&device.sequence, address, Owner::Buffers)), address))
}

/// # Safety
/// As [`Buffer::start_write`].
#[allow(unsafe_code, reason = "the copy goes on after the call")]
unsafe fn start_write(
    device: &Device,
    operation: &'static str,
    address: u64,
    bytes: &[u8],
) -> Result<Box<dyn Mark>, Error> {
    device.sequence.submit(operation, &[], |backend| {
        // SAFETY: the caller's promise is passed on; if no mark can be set, the host waits for the copy.
        unsafe { backend.write(address, bytes) }?;
        backend.mark().or_else(|error| backend.synchronize().and(Err(error)))
    })
}

/// # Safety
/// As [`Buffer::start_read`].
#[allow(unsafe_code, reason = "the copy goes on after the call")]
unsafe fn start_read(
    device: &Device,
    operation: &'static str,
    address: u64,
    bytes: &mut [u8],
) -> Result<Box<dyn Mark>, Error> {
    device.sequence.submit(operation, &[], |backend| {
        // SAFETY: the caller's promise is passed on; if no mark can be set, the host waits for the copy.
        unsafe { backend.read(address, bytes) }?;
        backend.mark().or_else(|error| backend.synchronize().and(Err(error)))
    })
}

fn fill(
    device: &Device,
    memory: &Arc<Allocation>,
    address: u64,
    byte: u8,
    bytes: usize,
) -> Result<(), Error> {
    let fill = move |backend: &dyn Backend| backend.fill(address, byte, bytes);
    device.sequence.submit_or_capture("Buffer::fill_bytes", &[memory], fill)
}

fn copy(
    device: &Device,
    memory: [&Arc<Allocation>; 2],
    to: u64,
    from: u64,
    bytes: usize,
) -> Result<(), Error> {
    let copy = move |backend: &dyn Backend| backend.copy(to, from, bytes);
    device.sequence.submit_or_capture("Buffer::copy_from", &memory, copy)
}

impl<T: Pod> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer<{}>[{}] at {:#x}", T::PTX, self.len, self.address)
    }
}

impl Device {
    /// Allocates memory for `len` elements. Their values are unspecified.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::TooLong`]; [`Error::NotCaptured`] in a capture; the driver's.
    pub fn alloc<T: Pod>(&self, len: usize) -> Result<Buffer<T>, Error> {
        Buffer::new(self.clone(), len)
    }

    /// Allocates memory for `len` elements, which are all zero.
    ///
    /// # Errors
    /// As [`alloc`](Device::alloc).
    pub fn zeros<T: Pod>(&self, len: usize) -> Result<Buffer<T>, Error> {
        let buffer = self.alloc(len)?;
        buffer.fill_bytes(0)?;
        Ok(buffer)
    }

    /// Copies `host` into a new buffer on the device.
    ///
    /// # Errors
    /// As [`alloc`](Device::alloc).
    pub fn upload<T: Pod>(&self, host: &[T]) -> Result<Buffer<T>, Error> {
        let buffer = self.alloc(host.len())?;
        buffer.write(host)?;
        Ok(buffer)
    }
}

/// A buffer as an argument. It borrows the buffer until the call that takes the argument returns.
#[derive(Clone, Copy)]
pub struct BufferArg<'a> {
    pub(crate) address: u64,
    pub(crate) bytes: usize,
    pub(crate) device: &'a Device,
    pub(crate) memory: Option<&'a Arc<Allocation>>,
    /// The buffers whose addresses are in this one.
    pub(crate) named: &'a [BufferArg<'a>],
}

impl BufferArg<'_> {
    /// The device address of the buffer's first element; 0 for an empty buffer.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// The number of the buffer's bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The buffer from the byte `offset` on, as [`Buffer::slice`] names a part of one; after the buffer's end there is nothing.
    pub fn from_byte(self, offset: usize) -> Self {
        let offset = offset.min(self.bytes);
        BufferArg { address: self.address + offset as u64, bytes: self.bytes - offset, ..self }
    }
}

impl fmt::Debug for BufferArg<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.address)
    }
}

impl<'a, T: Pod> From<&'a Buffer<T>> for BufferArg<'a> {
    fn from(buffer: &'a Buffer<T>) -> Self {
        BufferArg {
            address: buffer.address(),
            bytes: buffer.bytes(),
            device: buffer.device(),
            memory: buffer.memory(),
            named: &[],
        }
    }
}
