//! Arrays in device memory that kernels are launched on.

use std::fmt;
use std::ops::Range;

use float8::{F8E4M3, F8E5M2};
use girih_device::{Buffer, Device, Pod};
use girih_tensor::{DType, Element, F4E2M1, F8E8M0, S4, Tf32, U4};
use half::{bf16, f16};

use super::LaunchError;
use super::passed::Passed;
use super::place::{bytes_from, bytes_of, check_place, known_reach, places, row_major};
use crate::error::Result;

/// A type of elements that arrays in device memory have.
pub trait HostElement: Element {
    /// What is in memory: the type itself, a byte of a truth value, the bits of a tf32, and of elements without a type of Rust the byte of
    /// one or two of them.
    type Stored: Pod;
    /// How many elements a stored value holds.
    const PER_STORED: usize = 1;
    /// The stored value of [`HostElement::PER_STORED`] elements.
    fn to_stored(elements: &[Self]) -> Self::Stored;
    /// An element of a stored value, by its position there.
    fn from_stored(stored: Self::Stored, at: usize) -> Self;
}

macro_rules! stored {
    ($($ty:ty as $stored:ty, |$x:ident| $to:expr, |$s:ident| $from:expr;)*) => {$(
        impl HostElement for $ty {
            type Stored = $stored;
            fn to_stored(elements: &[$ty]) -> $stored {
                let $x = elements[0];
                $to
            }
            fn from_stored($s: $stored, _at: usize) -> $ty {
                $from
            }
        }
    )*};
}
macro_rules! stored_as_is {
    ($($ty:ty),*) => { stored! { $($ty as $ty, |x| x, |stored| stored;)* } };
}
stored_as_is!(i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, F8E4M3, F8E5M2);
stored! {
    bool as u8, |x| x.into(), |stored| stored != 0;
    Tf32 as f32, |x| x.get(), |stored| Tf32::new(stored);
    F8E8M0 as u8, |x| x.to_bits(), |stored| F8E8M0::from_bits(stored);
}

macro_rules! two_in_a_byte {
    ($($ty:ty),*) => {$(
        impl HostElement for $ty {
            type Stored = u8;
            const PER_STORED: usize = 2;
            fn to_stored(elements: &[$ty]) -> u8 {
                elements.iter().rev().fold(0, |byte, element| byte << 4 | element.to_bits())
            }
            fn from_stored(stored: u8, at: usize) -> $ty {
                <$ty>::from_bits(stored >> (4 * at))
            }
        }
    )*};
}
two_in_a_byte!(S4, U4, F4E2M1);

/// An array of rank `R` in device memory: a buffer, the place of the first element in it, and extents and strides in elements.
///
/// A kernel reads it as `&DeviceArray` and writes it as `&mut DeviceArray`. Parts and permutations ([`DeviceArray::slice`],
/// [`DeviceArray::permute`]) are arrays on the same memory; a launch refuses arguments that overlap one that it writes.
///
/// # Examples
/// ```
/// use girih_device::{Device, Select};
/// use girih_tile::launch::DeviceArray;
///
/// let device = Device::open(Select::Sim)?;
/// let x = DeviceArray::upload(&device, &[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3])?;
/// assert_eq!(x.strides(), [3, 1]);
/// assert_eq!(x.permute([1, 0])?.download()?, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct DeviceArray<T: HostElement, const R: usize> {
    pub(super) buffer: Buffer<T::Stored>,
    pub(super) offset: usize,
    pub(super) extents: [usize; R],
    pub(super) strides: [usize; R],
}

impl<T: HostElement, const R: usize> DeviceArray<T, R> {
    /// An array on a buffer, from its element `offset` on. A stride of 0 repeats elements, which kernels may read and not write.
    ///
    /// # Errors
    /// [`LaunchError::Outside`] unless all elements are in the buffer; [`LaunchError::Extent`] for an extent beyond 2^31 - 1;
    /// [`LaunchError::Pairs`] for elements smaller than a byte that do not fill whole bytes along the last axis.
    pub fn new(
        buffer: Buffer<T::Stored>,
        offset: usize,
        extents: [usize; R],
        strides: [usize; R],
    ) -> Result<DeviceArray<T, R>> {
        check_place(T::DTYPE, buffer.len() * T::PER_STORED, offset, &extents, &strides)?;
        Ok(DeviceArray { buffer, offset, extents, strides })
    }

    /// Copies elements, row-major, into a new array.
    ///
    /// # Errors
    /// [`LaunchError::Elements`] unless there are as many elements as the extents say; the device's.
    pub fn upload(device: &Device, elements: &[T], extents: [usize; R]) -> Result<DeviceArray<T, R>> {
        let strides = sized(&row_major(&extents)?);
        let size: usize = extents.iter().product();
        if size != elements.len() {
            return Err(LaunchError::Elements { given: elements.len(), extents: extents.to_vec() }.into());
        }
        let stored: Vec<T::Stored> = elements.chunks(T::PER_STORED).map(T::to_stored).collect();
        DeviceArray::new(device.upload(&stored)?, 0, extents, strides)
    }

    /// A new array of zeros, row-major.
    ///
    /// # Errors
    /// The device's.
    pub fn zeros(device: &Device, extents: [usize; R]) -> Result<DeviceArray<T, R>> {
        let strides = sized(&row_major(&extents)?);
        let size = if extents.contains(&0) { 0 } else { extents.iter().product() };
        DeviceArray::new(device.zeros(size.div_ceil(T::PER_STORED))?, 0, extents, strides)
    }

    /// An array whose elements nobody has written, row-major. What a kernel leaves out of it is found by
    /// [`DeviceArray::first_unwritten`], and a kernel that reads such elements by a simulator with checks.
    ///
    /// # Errors
    /// The device's; [`LaunchError::Extent`] and [`LaunchError::Outside`] for extents beyond what kernels count.
    pub fn alloc(device: &Device, extents: [usize; R]) -> Result<DeviceArray<T, R>> {
        let strides = sized(&row_major(&extents)?);
        let size: usize = extents.iter().product();
        DeviceArray::new(device.alloc(size.div_ceil(T::PER_STORED))?, 0, extents, strides)
    }

    /// An array on memory that another library has allocated.
    ///
    /// # Errors
    /// As [`DeviceArray::new`] and [`Device::borrow`].
    ///
    /// # Safety
    /// As for [`Device::borrow`]: the memory must stay allocated as long as the array and launches with it are used, and the caller must
    /// order what other libraries do with it.
    #[allow(unsafe_code, reason = "that the memory stays allocated is the caller's promise")]
    pub unsafe fn borrow(
        device: &Device,
        address: u64,
        extents: [usize; R],
        strides: [usize; R],
    ) -> Result<DeviceArray<T, R>> {
        let reach = known_reach(&extents, &strides)?;
        // SAFETY: the caller's promise is passed on.
        let buffer = unsafe { device.borrow(address, reach.div_ceil(T::PER_STORED))? };
        DeviceArray::new(buffer, 0, extents, strides)
    }

    /// Extents, in elements.
    pub fn extents(&self) -> [usize; R] {
        self.extents
    }

    /// Strides, in elements.
    pub fn strides(&self) -> [usize; R] {
        self.strides
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.extents.iter().product()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.extents.contains(&0)
    }

    /// The dtype of the elements.
    pub fn dtype(&self) -> DType {
        T::DTYPE
    }

    /// The buffer that the elements are in.
    pub fn buffer(&self) -> &Buffer<T::Stored> {
        &self.buffer
    }

    /// The device that the memory belongs to.
    pub fn device(&self) -> &Device {
        self.buffer.device()
    }

    /// The address of the first element.
    pub fn address(&self) -> u64 {
        self.buffer.address() + bytes_of(T::DTYPE, self.offset) as u64
    }

    /// The addresses of the elements, from the first byte to behind the last one.
    pub fn bytes(&self) -> Range<u64> {
        bytes_from(self.address(), T::DTYPE, &self.extents, &self.strides)
    }

    /// Another array on the same memory.
    fn on_same(&self, offset: usize, extents: [usize; R], strides: [usize; R]) -> Result<Self> {
        DeviceArray::new(self.buffer.slice(..)?, offset, extents, strides)
    }

    /// The same elements, whose axis `i` is axis `axes[i]` of this array.
    ///
    /// # Errors
    /// [`LaunchError::Axes`] unless `axes` is a permutation; as [`Buffer::slice`].
    pub fn permute(&self, axes: [usize; R]) -> Result<DeviceArray<T, R>> {
        let mut sorted = axes;
        sorted.sort_unstable();
        if sorted.iter().enumerate().any(|(i, &axis)| i != axis) {
            return Err(LaunchError::Axes { axes: axes.to_vec() }.into());
        }
        self.on_same(self.offset, axes.map(|axis| self.extents[axis]), axes.map(|axis| self.strides[axis]))
    }

    /// The elements whose coordinate along an axis is in a range.
    ///
    /// # Errors
    /// [`LaunchError::Slice`] for an axis or a range that the array does not have; as [`Buffer::slice`].
    pub fn slice(&self, axis: usize, range: Range<usize>) -> Result<DeviceArray<T, R>> {
        let extent = self.extents.get(axis).copied().unwrap_or(0);
        if axis >= R || range.start > range.end || range.end > extent {
            return Err(LaunchError::Slice { axis, range, extents: self.extents.to_vec() }.into());
        }
        let mut extents = self.extents;
        extents[axis] = range.len();
        let offset = if range.is_empty() { 0 } else { range.start * self.strides[axis] };
        self.on_same(self.offset + offset, extents, self.strides)
    }

    /// Copies the elements to the host, row-major.
    ///
    /// # Errors
    /// The device's.
    pub fn download(&self) -> Result<Vec<T>> {
        let stored = self.buffer.download()?;
        let places = places(&self.extents, &self.strides).map(|place| self.offset + place);
        Ok(places.map(|at| T::from_stored(stored[at / T::PER_STORED], at % T::PER_STORED)).collect())
    }
}

impl<T: HostElement, const R: usize> DeviceArray<T, R> {
    /// The first element, row-major, that neither the host nor a kernel has written: an output that is partly missing. Only a simulator with
    /// checks keeps account, of arrays from [`DeviceArray::alloc`]; elsewhere it is `None`.
    ///
    /// # Examples
    /// ```
    /// use girih_device::{Device, Select};
    /// use girih_tile::launch::DeviceArray;
    /// use girih_tile::prelude::*;
    ///
    /// #[kernel]
    /// fn even_tiles(y: &mut Array<f32, 1>) {
    ///     if bid(0) % 2 == 0 {
    ///         y.tiles_mut([4]).store((bid(0),), ones::<f32>([4]));
    ///     }
    /// }
    ///
    /// let device = Device::open(Select::Sim)?;
    /// let mut y = DeviceArray::alloc(&device, [10])?;
    /// even_tiles(&mut y).run()?;
    /// assert_eq!(y.first_unwritten(), Some([4]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn first_unwritten(&self) -> Option<[usize; R]> {
        Some(sized(&first_unwritten(self)?))
    }
}

impl<T: HostElement, const R: usize> fmt::Debug for DeviceArray<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeviceArray<{}>{:?}:{:?} at {:#x}", T::DTYPE, self.extents, self.strides, self.address())
    }
}

// What follows takes a dtype and a rank at run time: it is compiled once, and not for every type of arrays.

/// As many numbers as an array has axes, of a list that has as many.
fn sized<const R: usize>(list: &[usize]) -> [usize; R] {
    std::array::from_fn(|axis| list[axis])
}

/// The coordinates of the first element, row-major, that nobody has written.
fn first_unwritten(array: &dyn Passed) -> Option<Vec<usize>> {
    let (dtype, bytes) = (array.dtype(), array.bytes());
    let known = |from: u64, bytes| array.device().first_unwritten(from, bytes);
    known(bytes.start, usize::try_from(bytes.end - bytes.start).ok()?)?;
    // Between the elements there may be others.
    let is_missing = |place| known(bytes.start + bytes_of(dtype, place) as u64, bytes_of(dtype, 1)).is_some();
    let mut at = places(array.extents(), array.strides()).position(is_missing)?;
    let mut coordinates = vec![0; array.extents().len()];
    for (coordinate, extent) in coordinates.iter_mut().zip(array.extents()).rev() {
        (*coordinate, at) = (at % extent, at / extent);
    }
    Some(coordinates)
}
