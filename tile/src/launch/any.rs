//! Arrays whose dtype and rank are known when a program runs.

use std::fmt;
use std::ops::Range;

use girih_device::{Buffer, Device};
use girih_tensor::DType;

use super::place::{bytes_from, bytes_of, check_place, known_reach, places, row_major};
use super::{DeviceArray, HostElement, LaunchError};
use crate::error::Result;

/// Checks that there are such arrays.
fn check_type(dtype: DType, rank: usize) -> Result<(), LaunchError> {
    let none = dtype == DType::B1 || !(1..=4).contains(&rank);
    if none { Err(LaunchError::NoArray { dtype, rank }) } else { Ok(()) }
}

/// A [`DeviceArray`] of any dtype and of rank 1 to 4, for launches of kernels that are found by name ([`Launch::any`](super::Launch::any)).
///
/// # Examples
/// ```
/// use girih_device::{Device, Select};
/// use girih_tensor::DType;
/// use girih_tile::launch::{AnyArray, DeviceArray};
///
/// let device = Device::open(Select::Sim)?;
/// let squares = AnyArray::filled(&device, DType::Bf16, &[2, 3], |i| (i * i) as f64)?;
/// assert_eq!(squares.extents(), [2, 3]);
/// assert_eq!(AnyArray::from(DeviceArray::<f32, 1>::zeros(&device, [7])?).dtype(), DType::F32);
/// # Ok::<(), girih_tile::error::Error>(())
/// ```
pub struct AnyArray {
    pub(super) dtype: DType,
    pub(super) buffer: Buffer<u8>,
    /// The place of the first element in the buffer, and extents and strides, in elements.
    pub(super) offset: usize,
    pub(super) extents: Vec<usize>,
    pub(super) strides: Vec<usize>,
}

impl<T: HostElement, const R: usize> From<DeviceArray<T, R>> for AnyArray {
    fn from(array: DeviceArray<T, R>) -> AnyArray {
        let DeviceArray { buffer, offset, extents, strides } = array;
        let (extents, strides) = (extents.to_vec(), strides.to_vec());
        AnyArray { dtype: T::DTYPE, buffer: buffer.into_bytes(), offset, extents, strides }
    }
}

impl AnyArray {
    /// A new row-major array whose elements are the numbers that a function has for their places, rounded to the dtype.
    ///
    /// # Errors
    /// [`LaunchError::NoArray`] for a rank beyond 4, or a dtype that does not fill bytes; the device's.
    pub fn filled(
        device: &Device,
        dtype: DType,
        extents: &[usize],
        mut number: impl FnMut(usize) -> f64,
    ) -> Result<AnyArray> {
        check_type(dtype, extents.len())?;
        let strides = row_major(extents)?;
        let size = extents.iter().product();
        let (bits, mut bytes) = (dtype.bits() as usize, vec![0; bytes_of(dtype, size)]);
        for at in 0..size {
            let element = dtype.encode(number(at)).to_le_bytes();
            match bits {
                4 => bytes[at / 2] |= element[0] << (4 * (at % 2)),
                _ => bytes[at * bits / 8..][..bits / 8].copy_from_slice(&element[..bits / 8]),
            }
        }
        AnyArray::new(dtype, device.upload(&bytes)?, extents, strides)
    }

    fn new(dtype: DType, buffer: Buffer<u8>, extents: &[usize], strides: Vec<usize>) -> Result<AnyArray> {
        check_place(dtype, buffer.len() * 8 / dtype.bits() as usize, 0, extents, &strides)?;
        Ok(AnyArray { dtype, buffer, offset: 0, extents: extents.to_vec(), strides })
    }

    /// A new row-major array of zeros. The host does not wait.
    ///
    /// # Errors
    /// As [`AnyArray::filled`].
    ///
    /// # Examples
    /// ```
    /// use girih_device::{Device, Select};
    /// use girih_tensor::DType;
    /// use girih_tile::launch::AnyArray;
    ///
    /// let device = Device::open(Select::Sim)?;
    /// assert_eq!(AnyArray::zeros(&device, DType::F16, &[2, 2])?.numbers()?, [0.0; 4]);
    /// # Ok::<(), girih_tile::error::Error>(())
    /// ```
    pub fn zeros(device: &Device, dtype: DType, extents: &[usize]) -> Result<AnyArray> {
        check_type(dtype, extents.len())?;
        let strides = row_major(extents)?;
        let size = if extents.contains(&0) { 0 } else { extents.iter().product() };
        AnyArray::new(dtype, device.zeros(bytes_of(dtype, size))?, extents, strides)
    }

    /// An array on memory that another library has allocated, with strides in elements.
    ///
    /// # Errors
    /// [`LaunchError::NoArray`] for a rank beyond 4, for another number of strides than of extents, or a dtype that does not fill bytes; as
    /// [`DeviceArray::borrow`].
    ///
    /// # Safety
    /// As for [`DeviceArray::borrow`].
    ///
    /// # Examples
    /// ```
    /// use girih_device::{Device, Select};
    /// use girih_tensor::DType;
    /// use girih_tile::launch::AnyArray;
    ///
    /// let device = Device::open(Select::Sim)?;
    /// let owner = device.upload(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    /// // SAFETY: the owner is dropped last.
    /// let turned = unsafe { AnyArray::borrow(&device, DType::F32, owner.address(), &[3, 2], &[1, 3])? };
    /// assert_eq!(turned.numbers()?, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    /// # Ok::<(), girih_tile::error::Error>(())
    /// ```
    #[allow(unsafe_code, reason = "that the memory stays allocated is the caller's promise")]
    pub unsafe fn borrow(
        device: &Device,
        dtype: DType,
        address: u64,
        extents: &[usize],
        strides: &[usize],
    ) -> Result<AnyArray> {
        check_type(dtype, extents.len())?;
        if strides.len() != extents.len() {
            return Err(LaunchError::NoArray { dtype, rank: strides.len() }.into());
        }
        let (bytes, align) = (bytes_of(dtype, known_reach(extents, strides)?), bytes_of(dtype, 1));
        if bytes > 0 && !address.is_multiple_of(align as u64) {
            let element = dtype.format().ptx;
            return Err(girih_device::Error::Misaligned { address, element, align }.into());
        }
        // SAFETY: the caller's promise is passed on.
        let buffer = unsafe { device.borrow(address, bytes)? };
        AnyArray::new(dtype, buffer, extents, strides.to_vec())
    }

    /// The dtype of the elements.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The extents.
    pub fn extents(&self) -> &[usize] {
        &self.extents
    }

    /// The elements as they are now, by their coordinates, row-major.
    ///
    /// # Errors
    /// The device's.
    pub fn numbers(&self) -> Result<Vec<f64>> {
        let (bits, bytes) = (self.dtype.bits() as usize, self.buffer.download()?);
        let number = |place| {
            let at = self.offset + place;
            let mut element = [0; 8];
            match bits {
                4 => element[0] = bytes[at / 2] >> (4 * (at % 2)),
                _ => element[..bits / 8].copy_from_slice(&bytes[at * bits / 8..][..bits / 8]),
            }
            self.dtype.decode(u64::from_le_bytes(element))
        };
        Ok(places(&self.extents, &self.strides).map(number).collect())
    }

    pub(super) fn bytes(&self) -> Range<u64> {
        let first = self.buffer.address() + bytes_of(self.dtype, self.offset) as u64;
        bytes_from(first, self.dtype, &self.extents, &self.strides)
    }
}

impl fmt::Debug for AnyArray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AnyArray({} {:?})", self.dtype(), self.extents())
    }
}
