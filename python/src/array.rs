//! Arrays that kernels are given: what `girih._memory` says of them, in the memory of a device.

use std::ops::Range;

use girih::device::Buffer;
use girih::kernels::gemm::Untyped;
use girih::tensor::DType;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;

use crate::device::Device;
use crate::error::{KernelError, Result};

/// A `girih._memory.Array`. Of an array of the host, the owner is its bytes.
#[derive(FromPyObject)]
pub(crate) struct Described<'py> {
    #[pyo3(item(0))]
    address: u64,
    #[pyo3(item(1))]
    shape: Vec<i64>,
    #[pyo3(item(2))]
    strides: Vec<i64>,
    #[pyo3(item(3))]
    dtype: PyBackedStr,
    #[pyo3(item(5))]
    gpu: Option<u32>,
    #[pyo3(item(6))]
    readonly: bool,
    #[pyo3(item(7))]
    owner: Bound<'py, PyAny>,
}

/// An array in the memory of a device.
pub(crate) struct OnDevice {
    pub(crate) buffer: Buffer<u8>,
    pub(crate) dtype: DType,
    pub(crate) shape: Vec<i64>,
    pub(crate) strides: Vec<i64>,
    /// What the caller calls it.
    pub(crate) name: String,
    readonly: bool,
    host: Option<PyBuffer<u8>>,
}

impl OnDevice {
    /// Borrows memory of a GPU; copies memory of the host to the simulator.
    #[allow(unsafe_code, reason = "the memory is of another library")]
    pub(crate) fn new(device: &Device, name: impl Into<String>, given: Described<'_>) -> Result<OnDevice> {
        let name = name.into();
        let Described { address, shape, strides, dtype, gpu, readonly, owner } = given;
        let dtype: DType = dtype.parse().map_err(|error| KernelError::new_err(format!("{name}: {error}")))?;
        if shape.iter().zip(&strides).any(|(&extent, &stride)| extent > 1 && stride < 0) {
            let refused = format!("{name} has the strides {strides:?}: none may be negative");
            return Err(PyValueError::new_err(refused).into());
        }
        let py = owner.py();
        let (buffer, host) = match gpu {
            None => {
                let host = PyBuffer::<u8>::get(&owner)?;
                (device.device.upload(&host.to_vec(py)?)?, Some(host))
            }
            Some(_) => {
                let bytes = bytes(&shape, &strides, dtype).ok_or_else(|| {
                    let what = format!("{name} of {shape:?} with the strides {strides:?} has more bytes than there are addresses");
                    PyValueError::new_err(what)
                })?;
                // SAFETY: the caller keeps the array until the call returns, and its library frees memory after the work in the stream.
                (unsafe { device.device.borrow::<u8>(address, bytes)? }, None)
            }
        };
        Ok(OnDevice { buffer, dtype, shape, strides, name, readonly, host })
    }

    pub(crate) fn untyped(&self) -> Untyped<'_> {
        Untyped {
            arg: (&self.buffer).into(),
            device: self.buffer.device(),
            dtype: self.dtype,
            address: self.buffer.address(),
            len: self.buffer.len() / (self.dtype.bits() as usize / 8).max(1),
        }
    }

    /// The greatest power of two that divides the address, up to 16.
    pub(crate) fn alignment(&self) -> i64 {
        1 << self.buffer.address().trailing_zeros().min(4)
    }

    /// Refuses a kernel that writes this array, if it can't be written, or if it shares memory of the host with another one. The memory
    /// that arrays share on a GPU, the kernel's own checks find.
    pub(crate) fn is_written<'a>(&self, others: impl IntoIterator<Item = &'a OnDevice>) -> Result<()> {
        let name = &self.name;
        if self.readonly {
            return Err(PyValueError::new_err(format!("{name} is read-only, and would be written")).into());
        }
        for other in others {
            let (own, of_other) = (self.addresses(), other.addresses());
            let common = own.end.min(of_other.end).saturating_sub(own.start.max(of_other.start));
            if common > 0 {
                let other = &other.name;
                let refused = format!("{name}, which is written, and {other} have {common} bytes in common");
                return Err(PyValueError::new_err(refused).into());
            }
        }
        Ok(())
    }

    /// Where an array of the host is.
    fn addresses(&self) -> Range<usize> {
        let start = self.host.as_ref().map_or(0, |host| host.buf_ptr() as usize);
        start..start + self.host.as_ref().map_or(0, |host| host.len_bytes())
    }

    /// Copies what a kernel of the simulator has written to the host's array.
    pub(crate) fn back(&self, py: Python<'_>) -> Result<()> {
        if let Some(host) = &self.host {
            host.copy_from_slice(py, &py.detach(|| self.buffer.download())?)?;
        }
        Ok(())
    }
}

/// The bytes from the first element to the last one, both included. No stride is negative.
fn bytes(shape: &[i64], strides: &[i64], dtype: DType) -> Option<usize> {
    if shape.contains(&0) {
        return Some(0);
    }
    let steps = shape.iter().zip(strides).map(|(&extent, &stride)| (extent - 1).checked_mul(stride));
    let last = steps.sum::<Option<i64>>()?;
    let bytes = last.checked_add(1)?.checked_mul(i64::from(dtype.bits()) / 8)?;
    usize::try_from(bytes).ok()
}
