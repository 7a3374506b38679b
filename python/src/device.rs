//! Devices: the simulator, and GPUs on streams of Python's libraries; kernels of PTX on a GPU.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use girih::device::{self, Arg, Kernel, Kind, LaunchConfig, Select, SimOptions};
use girih::ptx::Module;
use pyo3::prelude::*;

use crate::error::Result;
use crate::kept::Products;
use crate::sim::value;
use crate::threads::simulate;

/// The most texts of PTX whose kernels are kept.
const MOST_TEXTS: usize = 256;

/// A device with the kernels that were loaded on it.
#[pyclass(frozen, module = "girih")]
pub(crate) struct Device {
    pub(crate) device: device::Device,
    pub(crate) products: Products,
    /// Kernels of PTX by text, then by name.
    kernels: Mutex<HashMap<String, HashMap<String, Kernel>>>,
    /// Ends what runs on the simulator.
    stop: Arc<AtomicBool>,
    /// What keeps the context that a stream of someone else's belongs to.
    _primary: Option<device::Device>,
}

impl Device {
    fn of(device: device::Device, stop: Arc<AtomicBool>, primary: Option<device::Device>) -> Device {
        let products = Products::new(&device);
        Device { device, products, kernels: Mutex::default(), stop, _primary: primary }
    }

    fn kernel(&self, ptx: &str, name: &str) -> Result<Kernel> {
        let mut kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kernel) = kernels.get(ptx).and_then(|of_text| of_text.get(name)) {
            return Ok(kernel.clone());
        }
        let kernel = self.device.load(&Module::parse(ptx)?)?.kernel(name)?;
        if kernels.len() == MOST_TEXTS {
            kernels.clear();
        }
        kernels.entry(ptx.into()).or_default().insert(name.into(), kernel.clone());
        Ok(kernel)
    }

    /// Runs what launches kernels on this device, without the GIL.
    pub(crate) fn work<R: Send>(&self, py: Python<'_>, f: impl FnOnce() -> Result<R> + Send) -> Result<R> {
        match self.device.kind() {
            Kind::Sim => simulate(py, &self.stop, f),
            Kind::Cuda => py.detach(f),
        }
    }
}

#[pymethods]
impl Device {
    /// The simulator, with its checks or without.
    #[staticmethod]
    fn simulator(checks: bool, seeds: u32) -> Result<Self> {
        let options = if checks { SimOptions::checked() } else { SimOptions::fast() };
        let stop = Arc::new(AtomicBool::new(false));
        let options = SimOptions { seeds, stop: Some(stop.clone()), ..options };
        Ok(Device::of(device::Device::open_sim(options)?, stop, None))
    }

    /// The GPU of a number, on a stream (`CUstream`) of its primary context that another library has made, and that must exist as long as this
    /// object is used.
    #[staticmethod]
    #[allow(unsafe_code, reason = "the stream is of another library")]
    fn cuda(py: Python<'_>, index: usize, stream: u64) -> Result<Self> {
        py.detach(|| {
            let primary = device::Device::open(Select::Cuda(index))?;
            let context = primary.cuda_context().unwrap_or(0);
            // SAFETY: the context is retained by `primary`, which is kept. That the stream is one of this context's and stays is what
            // docs/python.md asks of who passes one; girih.cuda takes torch's and cupy's current streams, which they keep.
            let device = unsafe { device::Device::from_raw(context, stream)? };
            Ok(Device::of(device, Arc::default(), Some(primary)))
        })
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

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Device>()
}
