//! Elements on the host whose dtype is known at run time, so that code for them is compiled once and not for each pair of dtypes of A and C.

use girih_device::sizes::size;
use girih_device::{Buffer, Device, Pod};
use girih_kernels::gemm::Untyped;
use girih_tensor::{DType, Element};

/// Calls an expression with a name for the type of a dtype's elements. The dtypes are those that products have.
macro_rules! of_dtype {
    ($dtype:expr, $of:ident => $call:expr, $other:ident => $refusal:expr) => {
        match $dtype {
            girih_tensor::DType::F32 => {
                type $of = f32;
                $call
            }
            girih_tensor::DType::F64 => {
                type $of = f64;
                $call
            }
            girih_tensor::DType::F16 => {
                type $of = half::f16;
                $call
            }
            girih_tensor::DType::Bf16 => {
                type $of = half::bf16;
                $call
            }
            girih_tensor::DType::E4m3 => {
                type $of = float8::F8E4M3;
                $call
            }
            girih_tensor::DType::E5m2 => {
                type $of = float8::F8E5M2;
                $call
            }
            girih_tensor::DType::S8 => {
                type $of = i8;
                $call
            }
            girih_tensor::DType::S32 => {
                type $of = i32;
                $call
            }
            $other => $refusal,
        }
    };
}
pub(crate) use of_dtype;

/// Elements of one dtype.
pub(crate) struct Elements {
    data: Box<dyn Data>,
    pub(crate) dtype: DType,
}

/// A vector of elements. Its bytes are where its elements are.
trait Data {
    fn bytes(&self) -> &[u8];
}

impl<T: Pod> Data for Vec<T> {
    fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(self)
    }
}

impl<T: Element + Pod> From<Vec<T>> for Elements {
    fn from(data: Vec<T>) -> Elements {
        Elements { data: Box::new(data), dtype: T::DTYPE }
    }
}

impl Elements {
    /// The bytes of the elements.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.data.bytes()
    }

    /// The elements, whose type must be that of the dtype.
    pub(crate) fn of<T: Element + Pod>(&self) -> &[T] {
        debug_assert_eq!(self.dtype, T::DTYPE);
        bytemuck::cast_slice(self.bytes())
    }

    /// A copy of the elements on a device.
    pub(crate) fn upload(&self, device: &Device) -> Result<Buffer<u8>, girih_device::Error> {
        device.upload(self.bytes())
    }

    /// The elements of a buffer.
    pub(crate) fn download(dtype: DType, buffer: &Buffer<u8>) -> Result<Elements, girih_kernels::Error> {
        let bytes = buffer.download()?;
        of_dtype!(dtype, T => Ok(aligned::<T>(&bytes).into()), other => Err(girih_kernels::Error::unsupported("gemm", other)))
    }
}

/// The elements that the bytes are, where elements of their type may be.
fn aligned<T: Element + Pod>(bytes: &[u8]) -> Vec<T> {
    let mut elements = vec![T::from_f64(0.0); bytes.len() / size_of::<T>()];
    bytemuck::cast_slice_mut(&mut elements).copy_from_slice(bytes);
    elements
}

/// The bytes of `len` elements.
pub(crate) fn bytes_of(dtype: DType, len: i64) -> usize {
    size(len) * dtype.bits() as usize / 8
}

/// A buffer of bytes as what it holds.
pub(crate) fn untyped(buffer: &Buffer<u8>, dtype: DType) -> Untyped<'_> {
    let len = buffer.len() / (dtype.bits() as usize / 8).max(1);
    Untyped { arg: buffer.into(), device: buffer.device(), dtype, address: buffer.address(), len }
}
