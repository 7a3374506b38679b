//! Arrays whose dtype and rank are known when a program runs.

use std::fmt;

use float8::{F8E4M3, F8E5M2};
use girih_device::Device;
use girih_tensor::{DType, Element as _, F4E2M1, F8E8M0, S4, Tf32, U4};
use half::{bf16, f16};

use super::passed::Passed;
use super::{DeviceArray, HostElement, LaunchError};
use crate::error::Result;

/// What is generic over the type of elements and the rank, for the type of a dtype and a number of extents.
macro_rules! by_type {
    (@ $dtype:expr, $rank:expr, $T:ident $R:ident => $call:expr, $($variant:ident $ty:ty),*) => {
        match $dtype {
            $(DType::$variant => {
                type $T = $ty;
                by_type!(# $dtype, $rank, $R => $call, 1, 2, 3, 4)
            })*
            dtype => Err(LaunchError::NoArray { dtype, rank: $rank }.into()),
        }
    };
    (# $dtype:expr, $rank:expr, $R:ident => $call:expr, $($n:literal),*) => {
        match $rank {
            $($n => {
                const $R: usize = $n;
                $call
            })*
            rank => Err(LaunchError::NoArray { dtype: $dtype, rank }.into()),
        }
    };
    ($dtype:expr, $rank:expr, $T:ident $R:ident => $call:expr) => {
        by_type!(@ $dtype, $rank, $T $R => $call, Bool bool, S8 i8, S16 i16, S32 i32, S64 i64, U8 u8, U16 u16, U32 u32, U64 u64,
            S4 S4, U4 U4, E4m3 F8E4M3, E5m2 F8E5M2, E2m1 F4E2M1, E8m0 F8E8M0, F16 f16, Bf16 bf16, Tf32 Tf32, F32 f32, F64 f64)
    };
}

/// As many extents or strides as an array has axes.
fn sized<const R: usize>(list: &[usize], dtype: DType) -> Result<[usize; R], LaunchError> {
    list.try_into().map_err(|_| LaunchError::NoArray { dtype, rank: list.len() })
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
    ) -> Result<AnyArray> {
        let numbers = (0..extents.iter().product()).map(number);
        by_type!(dtype, extents.len(), T R => {
            let elements: Vec<T> = numbers.map(T::from_f64).collect();
            Ok(DeviceArray::<T, R>::upload(device, &elements, sized(extents, dtype)?)?.into())
        })
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
        by_type!(dtype, extents.len(), T R => {
            Ok(DeviceArray::<T, R>::zeros(device, sized(extents, dtype)?)?.into())
        })
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
        by_type!(dtype, extents.len(), T R => {
            let (extents, strides) = (sized(extents, dtype)?, sized(strides, dtype)?);
            // SAFETY: the caller's promise is passed on.
            Ok(unsafe { DeviceArray::<T, R>::borrow(device, address, extents, strides) }?.into())
        })
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
    pub fn numbers(&self) -> Result<Vec<f64>> {
        self.0.copied()?.values()
    }

    pub(super) fn passed(&self) -> &dyn Passed {
        &*self.0
    }
}

impl fmt::Debug for AnyArray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AnyArray({} {:?})", self.dtype(), self.extents())
    }
}
