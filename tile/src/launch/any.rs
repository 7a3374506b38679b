//! Arrays whose dtype and rank are known when a program runs.

use std::fmt;

use float8::{F8E4M3, F8E5M2};
use girih_device::Device;
use girih_tensor::{DType, Tf32};
use half::{bf16, f16};

use super::passed::Passed;
use super::{DeviceArray, HostElement, LaunchError};
use crate::error::Error;

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
pub struct AnyArray(Box<dyn Passed>);

impl<T: HostElement, const R: usize> From<DeviceArray<T, R>> for AnyArray {
    fn from(array: DeviceArray<T, R>) -> AnyArray {
        AnyArray(Box::new(array))
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
        number: impl FnMut(usize) -> f64,
    ) -> Result<AnyArray, Error> {
        match dtype {
            DType::Bool => of::<bool>(device, extents, number),
            DType::S8 => of::<i8>(device, extents, number),
            DType::S16 => of::<i16>(device, extents, number),
            DType::S32 => of::<i32>(device, extents, number),
            DType::S64 => of::<i64>(device, extents, number),
            DType::U8 => of::<u8>(device, extents, number),
            DType::U16 => of::<u16>(device, extents, number),
            DType::U32 => of::<u32>(device, extents, number),
            DType::U64 => of::<u64>(device, extents, number),
            DType::E4m3 => of::<F8E4M3>(device, extents, number),
            DType::E5m2 => of::<F8E5M2>(device, extents, number),
            DType::F16 => of::<f16>(device, extents, number),
            DType::Bf16 => of::<bf16>(device, extents, number),
            DType::Tf32 => of::<Tf32>(device, extents, number),
            DType::F32 => of::<f32>(device, extents, number),
            DType::F64 => of::<f64>(device, extents, number),
            _ => Err(LaunchError::NoArray { dtype, rank: extents.len() }.into()),
        }
    }

    /// The dtype of the elements.
    pub fn dtype(&self) -> DType {
        self.0.dtype()
    }

    /// The extents.
    pub fn extents(&self) -> &[usize] {
        self.0.extents()
    }

    /// The elements as they are now, by their coordinates, row-major.
    ///
    /// # Errors
    /// The device's.
    pub fn numbers(&self) -> Result<Vec<f64>, Error> {
        self.0.copied()?.values()
    }

    pub(super) fn passed(&self) -> &dyn Passed {
        &*self.0
    }
}

fn of<T: HostElement>(
    device: &Device,
    extents: &[usize],
    number: impl FnMut(usize) -> f64,
) -> Result<AnyArray, Error> {
    let count = extents.iter().product();
    let elements: Vec<T> = (0..count).map(number).map(T::from_f64).collect();
    Ok(match *extents {
        [a] => DeviceArray::upload(device, &elements, [a])?.into(),
        [a, b] => DeviceArray::upload(device, &elements, [a, b])?.into(),
        [a, b, c] => DeviceArray::upload(device, &elements, [a, b, c])?.into(),
        [a, b, c, d] => DeviceArray::upload(device, &elements, [a, b, c, d])?.into(),
        _ => return Err(LaunchError::NoArray { dtype: T::DTYPE, rank: extents.len() }.into()),
    })
}

impl fmt::Debug for AnyArray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AnyArray({} {:?})", self.dtype(), self.extents())
    }
}
