//! Opening a GPU: is there a driver, is it new enough, which GPU, is it new enough.

use std::{ffi::c_int, sync::Arc};

use cudarc::driver::{CudaContext, CudaStream, result, sys};
use girih_ptx as ptx;
use sys::CUdevice_attribute as Attribute;

use super::{OLDEST_DRIVER, describe, failed, module::Library, tensor, time::Events};
use crate::{
    DriverVersion, Error, Kind, Limits, Optimization,
    backend::{Backend, Clock, Code},
};

/// A GPU: its primary context and one stream that everything goes through.
pub(crate) struct Gpu {
    limits: Limits,
    pub(super) queue: Arc<Queue>,
}

/// The stream, shared by all that must outlive work on it.
pub(super) struct Queue {
    pub(super) context: Arc<CudaContext>,
    pub(super) stream: Arc<CudaStream>,
}

impl Queue {
    /// Makes the context current on the calling thread, as the driver's calls want it.
    pub(super) fn bind(&self) -> Result<(), Error> {
        self.context.bind_to_thread().map_err(failed("cuCtxSetCurrent"))
    }

    /// The raw stream, with the context current.
    pub(super) fn raw(&self) -> Result<sys::CUstream, Error> {
        self.bind()?;
        Ok(self.stream.cu_stream())
    }

    /// Waits for everything in the stream.
    pub(super) fn wait(&self) -> Result<(), Error> {
        self.bind()?;
        self.stream.synchronize().map_err(failed("cuStreamSynchronize"))
    }
}

impl Gpu {
    pub(crate) fn open(index: usize) -> Result<Gpu, Error> {
        let driver = driver_version()?;
        if driver < OLDEST_DRIVER {
            return Err(Error::DriverTooOld {
                driver,
                what: format!("girih, which needs CUDA {OLDEST_DRIVER}"),
            });
        }
        let no_gpu = |error| Error::NoGpu { reason: describe(error).0 };
        result::init().map_err(no_gpu)?;
        let count = usize::try_from(result::device::get_count().map_err(no_gpu)?).unwrap_or(0);
        if count == 0 {
            return Err(Error::NoGpu { reason: "it counts none".into() });
        }
        let ordinal = c_int::try_from(index).ok().filter(|_| index < count);
        let ordinal = ordinal.ok_or(Error::NoSuchGpu { index, count })?;
        let device = result::device::get(ordinal).map_err(failed("cuDeviceGet"))?;
        let limits = limits(device, driver)?;
        if limits.sm < Limits::OLDEST_SM {
            return Err(Error::GpuTooOld { name: limits.name, sm: limits.sm, needed: Limits::OLDEST_SM });
        }
        let context = CudaContext::new(index).map_err(failed("cuDevicePrimaryCtxRetain"))?;
        let stream = context.new_stream().map_err(failed("cuStreamCreate"))?;
        Ok(Gpu { limits, queue: Arc::new(Queue { context, stream }) })
    }
}

/// The CUDA version that the driver supports, if there is a driver.
fn driver_version() -> Result<DriverVersion, Error> {
    // SAFETY: loading libcuda runs nothing but its own initialisers.
    if !unsafe { sys::is_culib_present() } {
        return Err(Error::NoDriver);
    }
    let mut version = 0;
    // SAFETY: `version` outlives the call; this function may be called before cuInit.
    unsafe { sys::cuDriverGetVersion(&mut version) }.result().map_err(failed("cuDriverGetVersion"))?;
    let version = version.unsigned_abs();
    Ok(DriverVersion { major: version / 1000, minor: version % 1000 / 10 })
}

fn limits(device: sys::CUdevice, driver: DriverVersion) -> Result<Limits, Error> {
    let get = |attribute| {
        // SAFETY: `device` came from cuDeviceGet.
        let value = unsafe { result::device::get_attribute(device, attribute) };
        value.map(i32::unsigned_abs).map_err(failed("cuDeviceGetAttribute"))
    };
    // SAFETY: `device` came from cuDeviceGet.
    let memory_bytes =
        unsafe { result::device::total_mem(device) }.map_err(failed("cuDeviceTotalMem"))? as u64;
    let major = get(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
    let minor = get(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
    Ok(Limits {
        name: result::device::get_name(device).map_err(failed("cuDeviceGetName"))?,
        sm: 10 * major + minor,
        multiprocessors: get(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        shared_per_block_optin: get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
        shared_per_multiprocessor: get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)?,
        threads_per_block: get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
        threads_per_multiprocessor: get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)?,
        registers_per_block: get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK)?,
        grid: [
            get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)?,
            get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y)?,
            get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)?,
        ],
        block: [
            get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X)?,
            get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y)?,
            get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)?,
        ],
        l2_bytes: get(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?.into(),
        memory_bytes,
        clock_khz: get(Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE)?,
        driver_version: Some(driver),
    })
}

impl Backend for Gpu {
    fn kind(&self) -> Kind {
        Kind::Cuda
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }

    fn alloc(&self, bytes: usize) -> Result<u64, Error> {
        self.queue.alloc(bytes)
    }

    fn free(&self, address: u64) {
        // A drop has nobody to report to; a lost context shows at the next call.
        let _ = self.queue.free(address);
    }

    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), Error> {
        self.queue.write(address, bytes)
    }

    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Error> {
        self.queue.read(address, bytes)
    }

    fn fill(&self, address: u64, byte: u8, bytes: usize) -> Result<(), Error> {
        self.queue.fill(address, byte, bytes)
    }

    fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<(), Error> {
        self.queue.copy(to, from, bytes)
    }

    fn load(&self, module: &ptx::Module, optimization: Optimization) -> Result<Arc<dyn Code>, Error> {
        Ok(Arc::new(Library::compile(&self.queue, module, optimization, self.limits.driver_version)?))
    }

    fn encode(&self, map: &ptx::TensorMap) -> Result<[u8; ptx::TENSOR_MAP_BYTES], Error> {
        self.queue.bind()?;
        tensor::encode(map)
    }

    fn synchronize(&self) -> Result<(), Error> {
        self.queue.wait()
    }

    fn clock(&self) -> Result<Box<dyn Clock>, Error> {
        Ok(Box::new(Events::new(&self.queue)?))
    }

    fn stream(&self) -> Option<u64> {
        Some(self.queue.stream.cu_stream().addr() as u64)
    }

    fn report(&self) -> Option<girih_sim::Report> {
        None
    }

    fn findings(&self) -> Vec<girih_sim::Finding> {
        Vec::new()
    }
}
