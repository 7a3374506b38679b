//! Devices: the simulator, and GPUs on streams of Python's libraries; kernels of PTX on a GPU.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use girih::device::{self, Arg, Buffer, Kernel, LaunchConfig, Select, SimOptions};
use girih::kernels::attention::Attentions;
use girih::kernels::gemm::{Gemms, Untyped};
use girih::ptx::Module;
use girih::tensor::DType;
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;

use crate::error::Result;
use crate::sim::value;

/// A device with the kernels that were loaded on it.
#[pyclass(frozen, module = "girih")]
pub(crate) struct Device {
    pub(crate) device: device::Device,
    pub(crate) gemms: Gemms,
    pub(crate) attentions: Attentions,
    /// Kernels of PTX by text and name.
    kernels: Mutex<HashMap<(String, String), Kernel>>,
    /// What keeps the context that a stream of someone else's belongs to.
    _primary: Option<device::Device>,
}

impl Device {
    fn of(device: device::Device, primary: Option<device::Device>) -> Device {
        let (gemms, attentions) = (Gemms::new(&device), Attentions::new(&device));
        Device { device, gemms, attentions, kernels: Mutex::default(), _primary: primary }
    }

    fn kernel(&self, ptx: &str, name: &str) -> Result<Kernel> {
        let key = (ptx.to_string(), name.to_string());
        let mut kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kernel) = kernels.get(&key) {
            return Ok(kernel.clone());
        }
        let kernel = self.device.load(&Module::parse(ptx)?)?.kernel(name)?;
        kernels.insert(key, kernel.clone());
        Ok(kernel)
    }
}

#[pymethods]
impl Device {
    /// The simulator, with its checks or without.
    #[staticmethod]
    fn simulator(checks: bool, seeds: u32) -> Result<Self> {
        let options = if checks { SimOptions::checked() } else { SimOptions::fast() };
        Ok(Device::of(device::Device::open_sim(SimOptions { seeds, ..options })?, None))
    }

    /// The GPU of a number, on a stream (`CUstream`) of its primary context that another library has made, and that must exist as long as this
    /// object is used.
    #[staticmethod]
    #[allow(unsafe_code, reason = "the stream is of another library")]
    fn cuda(index: usize, stream: u64) -> Result<Self> {
        let primary = device::Device::open(Select::Cuda(index))?;
        let context = primary.cuda_context().unwrap_or(0);
        // SAFETY: the context is retained by `primary`, which is kept. That the stream is one of this context's and stays is what docs/python.md
        // asks of who passes one; girih.cuda takes torch's and cupy's current streams, which they keep.
        let device = unsafe { device::Device::from_raw(context, stream)? };
        Ok(Device::of(device, Some(primary)))
    }

    #[getter]
    fn name(&self) -> &str {
        self.device.name()
    }

    /// Lets the host wait until all that was launched has finished.
    fn synchronize(&self, py: Python<'_>) -> Result<()> {
        Ok(py.detach(|| self.device.synchronize())?)
    }

    /// Launches a kernel of PTX text on the stream. An argument is an int or a float for what its parameter's type says, or bytes.
    #[pyo3(signature = (ptx, kernel, grid, block, args, shared, cluster, cooperative))]
    #[allow(unsafe_code, reason = "PTX can write anywhere")]
    #[allow(clippy::too_many_arguments, reason = "girih.cuda calls it, by position")]
    fn launch(
        &self,
        py: Python<'_>,
        ptx: &str,
        kernel: &str,
        grid: [u32; 3],
        block: [u32; 3],
        args: Vec<Bound<'_, PyAny>>,
        shared: u32,
        cluster: Option<[u32; 3]>,
        cooperative: bool,
    ) -> Result<()> {
        let kernel = py.detach(|| self.kernel(ptx, kernel))?;
        let params = &kernel.info().params;
        let values = args.iter().enumerate().map(|(i, arg)| value(arg, i, params.get(i)));
        let values = values.collect::<Result<Vec<_>>>()?;
        let mut config = LaunchConfig::new(grid, block).with_dynamic_shared(shared);
        if let Some(cluster) = cluster {
            config = config.with_cluster(cluster);
        }
        if cooperative {
            config = config.cooperative();
        }
        let args: Vec<Arg<'_>> = values.iter().map(|bytes| Arg::Bytes(bytes)).collect();
        // SAFETY: what the kernel does with the addresses is what the caller of girih.cuda.launch answers for, as docs/python.md says.
        py.detach(|| unsafe { kernel.launch(&config, &args) })?;
        Ok(())
    }
}

/// An array that a kernel is given, as girih._memory describes it.
#[derive(FromPyObject)]
pub(crate) struct Described<'py> {
    pub(crate) dtype: String,
    pub(crate) shape: Vec<i64>,
    pub(crate) strides: Vec<i64>,
    address: u64,
    nbytes: usize,
    /// The bytes of an array of the host, which the simulator copies.
    host: Option<Bound<'py, PyAny>>,
}

/// An array in the memory of a device.
pub(crate) struct OnDevice {
    pub(crate) buffer: Buffer<u8>,
    pub(crate) dtype: DType,
    pub(crate) shape: Vec<i64>,
    pub(crate) strides: Vec<i64>,
    host: Option<PyBuffer<u8>>,
}

impl OnDevice {
    /// Borrows memory of a GPU; copies memory of the host to the simulator.
    #[allow(unsafe_code, reason = "the memory is of another library")]
    pub(crate) fn new(device: &Device, given: Described<'_>) -> Result<OnDevice> {
        let py = given.host.as_ref().map(|host| host.py());
        let host = given.host.map(|host| PyBuffer::<u8>::get(&host)).transpose()?;
        let buffer = match (&host, py) {
            (Some(host), Some(py)) => device.device.upload(&host.to_vec(py)?)?,
            // SAFETY: girih._memory keeps the array until the call returns, and its library frees memory behind what stands in the stream.
            _ => unsafe { device.device.borrow::<u8>(given.address, given.nbytes)? },
        };
        let dtype = given.dtype.parse().map_err(girih::kernels::Error::from)?;
        Ok(OnDevice { buffer, dtype, shape: given.shape, strides: given.strides, host })
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

    /// Copies what a kernel of the simulator has written to the host's array.
    pub(crate) fn back(&self, py: Python<'_>) -> Result<()> {
        if let Some(host) = &self.host {
            host.copy_from_slice(py, &py.detach(|| self.buffer.download())?)?;
        }
        Ok(())
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Device>()
}
