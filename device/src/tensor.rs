//! Tensor maps of buffers, for kernels that copy boxes of tensors.

use std::{fmt, sync::Arc};

use girih_ptx::{self as ptx, TENSOR_MAP_BYTES, Tiled};

use crate::{Buffer, BufferArg, Device, Error, Pod, stream::Allocation};

/// The oldest architecture with tensor maps.
const OLDEST_SM: u32 = 90;

/// A tensor map of a buffer: what a kernel needs to copy boxes of it with `cp.async.bulk.tensor`.
///
/// A tensor map borrows its buffer. As an argument it fits `.param .align 64 .b8 map[128]`; its [`bytes`](TensorMap::bytes) may
/// also be uploaded into a buffer, for kernels that take the address of maps in global memory. To make a map takes about a
/// microsecond, so make it once and not for every launch.
///
/// ```
/// use girih_device::{Device, Select, TensorMap};
/// use girih_ptx::{TensorElement, TensorSwizzle, Tiled};
/// let device = Device::open(Select::Sim)?;
/// // A row-major 100 x 72 matrix in boxes of 16 rows of 64.
/// let matrix = device.zeros::<half::bf16>(100 * 72)?;
/// let tiled = Tiled::new(TensorElement::Bf16, &[72, 100], &[64, 16]).with_swizzle(TensorSwizzle::B128);
/// let map = TensorMap::new(&matrix, &tiled)?;
/// assert_eq!(map.description().box_bytes(), 2048);
/// # Ok::<(), girih_device::Error>(())
/// ```
#[derive(Clone)]
pub struct TensorMap<'a> {
    description: ptx::TensorMap,
    bytes: [u8; TENSOR_MAP_BYTES],
    device: &'a Device,
    memory: Option<&'a Arc<Allocation>>,
}

impl<'a> TensorMap<'a> {
    /// The map of the tensor that starts at the buffer's first element. The elements of the tensor need not have the type of
    /// the buffer's elements.
    ///
    /// # Errors
    /// As [`at`](TensorMap::at).
    pub fn new(buffer: impl Into<BufferArg<'a>>, tiled: &Tiled) -> Result<TensorMap<'a>, Error> {
        Self::behind(buffer.into(), 0, tiled)
    }

    /// The map of the tensor that starts `offset` elements into the buffer.
    ///
    /// # Errors
    /// [`Error::TensorMap`] for a field that the hardware does not take, the address included; [`Error::TensorOutside`]
    /// if the tensor does not end inside the buffer; [`Error::NoTensorMaps`] on architectures before sm_90; the
    /// driver's.
    pub fn at<T: Pod>(buffer: &'a Buffer<T>, offset: usize, tiled: &Tiled) -> Result<TensorMap<'a>, Error> {
        Self::behind(buffer.into(), offset.saturating_mul(size_of::<T>()), tiled)
    }

    fn behind(buffer: BufferArg<'a>, start: usize, tiled: &Tiled) -> Result<TensorMap<'a>, Error> {
        let BufferArg { device, memory, .. } = buffer;
        let sm = device.limits().sm;
        if sm < OLDEST_SM {
            return Err(Error::NoTensorMaps { sm, needed: OLDEST_SM });
        }
        let description = describe(tiled, &buffer, start)?;
        let bytes = device.backend().encode(&description)?;
        Ok(TensorMap { description, bytes, device, memory })
    }

    /// The map of the same tensor in another buffer, which starts with the tensor's first element
    /// ([`Buffer::slice`] gives a buffer that starts further on). Only the address is encoded anew
    /// (`cuTensorMapReplaceAddress` on a GPU), which takes less time than [`TensorMap::new`].
    ///
    /// # Errors
    /// [`Error::ForeignBuffer`] for a buffer of another device; [`Error::TensorMap`] for an address that is no multiple of
    /// 16; [`Error::TensorOutside`] if the tensor does not end inside the buffer; the driver's.
    ///
    /// ```
    /// # use girih_device::{Device, Select, TensorMap};
    /// # use girih_ptx::{TensorElement, Tiled};
    /// # let device = Device::open(Select::Sim)?;
    /// # let tiled = Tiled::new(TensorElement::F32, &[64, 8], &[64, 8]);
    /// let (x, y) = (device.zeros::<f32>(512)?, device.zeros::<f32>(1024)?);
    /// let map = TensorMap::new(&x, &tiled)?;
    /// let second_half = y.slice(512..)?;
    /// assert_eq!(map.with_buffer(&second_half)?.bytes(), TensorMap::new(&second_half, &tiled)?.bytes());
    /// # Ok::<(), girih_device::Error>(())
    /// ```
    pub fn with_buffer<'b, T: Pod>(&self, buffer: &'b Buffer<T>) -> Result<TensorMap<'b>, Error> {
        if !buffer.device().is_same(self.device) {
            return Err(Error::ForeignBuffer { what: "TensorMap::with_buffer: the buffer".into() });
        }
        let (mut bytes, mut description) = (self.bytes, self.description.clone());
        readdress(self.device, &mut description, &mut bytes, &buffer.into())?;
        Ok(TensorMap { description, bytes, device: buffer.device(), memory: buffer.memory() })
    }

    /// The description of the tensor and of its boxes, with the tensor's address.
    pub fn description(&self) -> &ptx::TensorMap {
        &self.description
    }

    /// The encoding of the map for its device. In global memory its address must be a multiple of 64, as the address of every
    /// buffer is that girih allocated.
    pub fn bytes(&self) -> &[u8; TENSOR_MAP_BYTES] {
        &self.bytes
    }

    pub(crate) fn device(&self) -> &Device {
        self.device
    }

    pub(crate) fn memory(&self) -> Option<&'a Arc<Allocation>> {
        self.memory
    }
}

/// The map of a tensor that starts `start` bytes into a buffer and ends inside the buffer.
fn describe(tiled: &Tiled, buffer: &BufferArg<'_>, start: usize) -> Result<ptx::TensorMap, Error> {
    let map = tiled.at(buffer.address.saturating_add(start as u64)).map_err(Error::TensorMap)?;
    ends_inside(tiled, buffer, start)?;
    Ok(map)
}

/// Refuses a tensor that starts `start` bytes into a buffer and does not end inside the buffer.
fn ends_inside(tiled: &Tiled, buffer: &BufferArg<'_>, start: usize) -> Result<(), Error> {
    let end = tiled.tensor_bytes().and_then(|bytes| bytes.checked_add(start as u64));
    if end.is_none_or(|end| end > buffer.bytes as u64) {
        return Err(Error::TensorOutside { start, tensor: tiled.tensor_bytes(), buffer: buffer.bytes });
    }
    Ok(())
}

/// Changes a map of a tensor, and its encoding, into the map of the same tensor at the start of another buffer of the device. When this
/// fails, both stay as they were.
pub(crate) fn readdress(
    device: &Device,
    map: &mut ptx::TensorMap,
    encoded: &mut [u8; TENSOR_MAP_BYTES],
    buffer: &BufferArg<'_>,
) -> Result<(), Error> {
    let before = map.address();
    map.set_address(buffer.address).map_err(Error::TensorMap)?;
    let moved = ends_inside(map.tiled(), buffer, 0).and_then(|()| match before == buffer.address {
        true => Ok(()),
        false => device.backend().readdress(map, encoded),
    });
    if moved.is_err() {
        map.set_address(before).map_err(Error::TensorMap)?;
    }
    moved
}

impl fmt::Debug for TensorMap<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TensorMap({:?} on {:?})", self.description, self.device)
    }
}
