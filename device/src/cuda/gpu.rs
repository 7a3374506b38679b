//! Opening a GPU, with the checks that there is a driver and a GPU and that both are new enough; and the GPU as a backend.

use std::{ffi::c_int, sync::Arc};

use cudarc::driver::{result, sys};
use girih_ptx as ptx;
use sys::CUdevice_attribute as Attribute;

use super::{
    OLDEST_DRIVER,
    context::{Context, ContextOwner, Stream, StreamOwner},
    describe,
    event::{Event, Events},
    failed,
    module::Library,
    pinned::PageLocked,
    tensor,
};
use crate::{
    Assembled, DriverVersion, Error, Kind, Limits, Optimization,
    backend::{Backend, Clock, Code, Executable, HostMemory, Mark},
};

/// A context of a GPU and one stream of it.
pub(crate) struct Gpu {
    limits: Limits,
    stream: Arc<Stream>,
}

impl Gpu {
    /// Opens a GPU by its index, on its primary context and a new stream.
    pub(crate) fn open(index: usize) -> Result<Gpu, Error> {
        let driver = driver()?;
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
        let context = Arc::new(Context::primary(device)?);
        Ok(Gpu { limits, stream: Arc::new(Stream::new(&context)?) })
    }

    /// Opens a GPU on a context and a stream of another library.
    ///
    /// # Safety
    /// As for [`Device::from_raw`](crate::Device::from_raw).
    pub(crate) unsafe fn from_raw(context: u64, stream: u64) -> Result<Gpu, Error> {
        let driver = driver()?;
        result::init().map_err(|error| Error::NoGpu { reason: describe(error).0 })?;
        // SAFETY: the caller's promise is passed on.
        unsafe {
            let context = Arc::new(Context::of_other(context, ContextOwner::Other)?);
            let limits = limits(context.device(), driver)?;
            Ok(Gpu { limits, stream: Arc::new(Stream::of_other(&context, stream, StreamOwner::Other)?) })
        }
    }

    /// Opens a GPU on a stream of `cudarc` and the stream's context.
    #[cfg(feature = "cudarc")]
    pub(super) fn from_cudarc(stream: &Arc<cudarc::driver::CudaStream>) -> Result<Gpu, Error> {
        let driver = driver()?;
        let context = stream.context().cu_ctx().expose_provenance() as u64;
        let raw = stream.cu_stream().expose_provenance() as u64;
        let (of_context, of_stream) =
            (ContextOwner::Cudarc(stream.context().clone()), StreamOwner::Cudarc(stream.clone()));
        // SAFETY: the owners are kept, and they keep the context and the stream that the handles stand for.
        unsafe {
            let context = Arc::new(Context::of_other(context, of_context)?);
            let limits = limits(context.device(), driver)?;
            Ok(Gpu { limits, stream: Arc::new(Stream::of_other(&context, raw, of_stream)?) })
        }
    }
}

/// The CUDA version that the driver supports, if there is a driver and it is new enough.
fn driver() -> Result<DriverVersion, Error> {
    let driver = driver_version()?;
    if driver < OLDEST_DRIVER {
        return Err(Error::DriverTooOld { driver, what: format!("girih, which needs CUDA {OLDEST_DRIVER}") });
    }
    Ok(driver)
}

/// The CUDA version that the driver supports, if there is a driver.
fn driver_version() -> Result<DriverVersion, Error> {
    // SAFETY: to load libcuda runs only the library's own initialisers.
    if !unsafe { sys::is_culib_present() } {
        return Err(Error::NoDriver);
    }
    let mut version = 0;
    // SAFETY: `version` outlives the call; the driver allows this call before cuInit.
    unsafe { sys::cuDriverGetVersion(&mut version) }.result().map_err(failed("cuDriverGetVersion"))?;
    let version = version.unsigned_abs();
    Ok(DriverVersion { major: version / 1000, minor: version % 1000 / 10 })
}

/// The limits of a device, if the device is new enough.
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
    let (name, sm) =
        (result::device::get_name(device).map_err(failed("cuDeviceGetName"))?, 10 * major + minor);
    if sm < Limits::OLDEST_SM {
        return Err(Error::GpuTooOld { name, sm, needed: Limits::OLDEST_SM });
    }
    Ok(Limits {
        name,
        sm,
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

    fn identity(&self) -> u64 {
        self.stream.context().raw().expose_provenance() as u64
    }

    fn new_stream(&self) -> Result<Box<dyn Backend>, Error> {
        let stream = Arc::new(Stream::new(self.stream.context())?);
        Ok(Box::new(Gpu { limits: self.limits.clone(), stream }))
    }

    fn alloc(&self, bytes: usize) -> Result<u64, Error> {
        self.stream.alloc(bytes)
    }

    fn free(&self, address: u64) {
        // An error could not be reported, since this is called in drops; the next call reports a context that has failed.
        let _ = self.stream.free(address);
    }

    fn check_range(&self, address: u64, bytes: usize) -> Result<(), Error> {
        self.stream.context().check_range(address, bytes)
    }

    unsafe fn write(&self, address: u64, bytes: &[u8]) -> Result<(), Error> {
        // SAFETY: the caller's promise is passed on.
        unsafe { self.stream.write(address, bytes) }
    }

    unsafe fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Error> {
        // SAFETY: the caller's promise is passed on.
        unsafe { self.stream.read(address, bytes) }
    }

    fn pinned(&self, bytes: usize) -> Result<Box<dyn HostMemory>, Error> {
        Ok(Box::new(PageLocked::new(self.stream.context(), bytes)?))
    }

    fn fill(&self, address: u64, byte: u8, bytes: usize) -> Result<(), Error> {
        self.stream.fill(address, byte, bytes)
    }

    fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<(), Error> {
        self.stream.copy(to, from, bytes)
    }

    fn load(
        &self,
        module: &ptx::Module,
        optimization: Optimization,
        built: Option<&Assembled>,
    ) -> Result<Arc<dyn Code>, Error> {
        let context = self.stream.context();
        Ok(Arc::new(match built {
            Some(built) => Library::built(context, built)?,
            None => Library::compile(context, module, optimization, &self.limits)?,
        }))
    }

    fn encode(&self, map: &ptx::TensorMap) -> Result<[u8; ptx::TENSOR_MAP_BYTES], Error> {
        let _current = self.stream.context().enter()?;
        tensor::encode(map)
    }

    fn readdress(&self, map: &ptx::TensorMap, bytes: &mut [u8; ptx::TENSOR_MAP_BYTES]) -> Result<(), Error> {
        let _current = self.stream.context().enter()?;
        tensor::replace_address(bytes, map.address())
    }

    fn synchronize(&self) -> Result<(), Error> {
        self.stream.synchronize()
    }

    fn mark(&self) -> Result<Box<dyn Mark>, Error> {
        let event = Event::new(self.stream.context(), sys::CUevent_flags::CU_EVENT_DISABLE_TIMING)?;
        event.record(&self.stream)?;
        Ok(Box::new(event))
    }

    fn wait(&self, mark: &dyn Mark) -> Result<(), Error> {
        self.stream.wait(mark)
    }

    fn is_capturing(&self) -> bool {
        self.stream.is_capturing()
    }

    fn begin_capture(&self) -> Result<bool, Error> {
        self.stream.begin_capture().map(|()| true)
    }

    fn end_capture(&self) -> Result<Box<dyn Executable>, Error> {
        Ok(Box::new(self.stream.end_capture()?))
    }

    fn clock(&self) -> Result<Box<dyn Clock>, Error> {
        Ok(Box::new(Events::new(&self.stream)?))
    }

    fn stream(&self) -> Option<u64> {
        Some(self.stream.raw().expose_provenance() as u64)
    }

    #[cfg(feature = "sim")]
    fn report(&self) -> Option<girih_sim::Report> {
        None
    }

    #[cfg(feature = "sim")]
    fn findings(&self) -> Vec<girih_sim::Finding> {
        Vec::new()
    }
}
