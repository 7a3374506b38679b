//! Opening a device, and what it makes.

use std::{fmt, sync::Arc, time::Duration};

use girih_ptx as ptx;

use crate::{
    Buffer, Error, Limits, Module, Optimization, Pod, Select, Timer, backend::Backend, stream::Sequence,
};
#[cfg(feature = "sim")]
use crate::{SimOptions, sim::Simulator};

/// What kind of device runs the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// An NVIDIA GPU, through its driver.
    Cuda,
    /// The CPU simulator.
    Sim,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Cuda => "cuda",
            Kind::Sim => "sim",
        })
    }
}

/// A GPU or the simulator, and one sequence of operations there (on a GPU: one stream). Clones are handles of the same
/// sequence; [`new_stream`](Device::new_stream) makes another one.
///
/// Each call joins the sequence's end. Only reads on the host, [`synchronize`](Device::synchronize),
/// [`Event::synchronize`](crate::Event::synchronize) and [`Timer::stop`] wait.
#[derive(Clone)]
pub struct Device {
    pub(crate) sequence: Arc<Sequence>,
    /// Why `Auto` chose the simulator.
    pub(crate) fallback: Option<Arc<Error>>,
}

impl Device {
    /// Opens a device.
    ///
    /// [`Select::Auto`] follows the environment variable `GIRIH_DEVICE` (`auto`, `cuda`, `cuda:N`, `sim`); without it
    /// the first GPU, or the simulator where no GPU of sm_80 or newer can be used ([`Device::fallback`] says why). The
    /// simulator looks for races and for reads of what nothing has written; [`Device::open_sim`] with
    /// [`SimOptions::fast`](girih_sim::Options::fast) opens one that doesn't.
    ///
    /// # Errors
    /// [`Error::BadSelect`] when the variable names no device; for `Cuda` one line that says what is missing or too
    /// old: [`Error::NoDriver`], [`Error::NoGpu`], [`Error::NoSuchGpu`], [`Error::GpuTooOld`], [`Error::DriverTooOld`],
    /// [`Error::NoCudaFeature`]; [`Error::NoSimFeature`]. Without the feature `sim`, `Auto` fails as `Cuda` does.
    ///
    /// ```
    /// use girih_device::{Device, Kind, Select};
    /// let device = Device::open(Select::Sim)?;
    /// assert_eq!(device.kind(), Kind::Sim);
    /// assert_eq!(device.limits().sm, 90);
    /// # Ok::<(), girih_device::Error>(())
    /// ```
    pub fn open(select: Select) -> Result<Device, Error> {
        match select.resolve()? {
            Select::Sim => Self::open_checked(),
            Select::Cuda(index) => Self::open_cuda(index),
            Select::Auto => Self::open_cuda(0).or_else(|error| match Self::open_checked() {
                Err(Error::NoSimFeature) => Err(error),
                simulator => Ok(Device { fallback: Some(Arc::new(error)), ..simulator? }),
            }),
        }
    }

    #[cfg(feature = "sim")]
    fn open_checked() -> Result<Device, Error> {
        Self::open_sim(SimOptions::checked())
    }

    #[cfg(not(feature = "sim"))]
    fn open_checked() -> Result<Device, Error> {
        Err(Error::NoSimFeature)
    }

    /// Opens the simulator with chosen checks, threads and progress report.
    ///
    /// # Errors
    /// None today; the simulator may refuse options in the future.
    #[cfg(feature = "sim")]
    pub fn open_sim(options: SimOptions) -> Result<Device, Error> {
        Ok(Device::new(Box::new(Simulator::new(options))))
    }

    /// Opens on a context (`CUcontext`) and a stream (`CUstream`) of someone else, who may use any version of any interface to the
    /// driver. Neither is ever destroyed by girih. The stream 0 is the context's legacy default stream.
    ///
    /// The context may be a GPU's primary context or any other. It is made current on the calling thread during each call; what
    /// was current before is current again afterwards.
    ///
    /// # Errors
    /// [`Error::NoContext`], [`Error::WrongStream`], [`Error::PerThreadStream`]; [`Error::NoDriver`], [`Error::GpuTooOld`],
    /// [`Error::DriverTooOld`], [`Error::NoCudaFeature`]; the driver's.
    ///
    /// # Safety
    /// Both handles must be valid, and stay so as long as anything lives that was made by this device: buffers, modules,
    /// kernels, events, timers, graphs, streams and other handles of it.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), girih_device::Error> {
    /// # let (context, stream) = (0, 0);
    /// // SAFETY: the context and the stream outlive the device and all that it makes.
    /// let device = unsafe { girih_device::Device::from_raw(context, stream)? };
    /// assert_eq!((device.cuda_context(), device.cuda_stream()), (Some(context), Some(stream)));
    /// # Ok(())
    /// # }
    /// ```
    #[allow(unsafe_code, reason = "that the handles are valid is the caller's promise")]
    pub unsafe fn from_raw(context: u64, stream: u64) -> Result<Device, Error> {
        #[cfg(feature = "cuda")]
        // SAFETY: the caller's promise is passed on.
        return Ok(Device::new(Box::new(unsafe { crate::cuda::Gpu::from_raw(context, stream) }?)));
        #[cfg(not(feature = "cuda"))]
        {
            let _ = (context, stream);
            Err(Error::NoCudaFeature)
        }
    }

    #[cfg(feature = "cuda")]
    fn open_cuda(index: usize) -> Result<Device, Error> {
        Ok(Device::new(Box::new(crate::cuda::Gpu::open(index)?)))
    }

    #[cfg(not(feature = "cuda"))]
    fn open_cuda(_: usize) -> Result<Device, Error> {
        Err(Error::NoCudaFeature)
    }

    pub(crate) fn new(backend: Box<dyn Backend>) -> Device {
        Device { sequence: Arc::new(Sequence::new(backend)), fallback: None }
    }

    /// GPU or simulator?
    pub fn kind(&self) -> Kind {
        self.backend().kind()
    }

    /// The device's name, `NVIDIA H200` for instance.
    pub fn name(&self) -> &str {
        &self.limits().name
    }

    /// What the device has.
    pub fn limits(&self) -> &Limits {
        self.backend().limits()
    }

    /// Why [`Select::Auto`] chose the simulator; none when it chose a GPU or had no choice.
    pub fn fallback(&self) -> Option<&Error> {
        self.fallback.as_deref()
    }

    /// Are both handles of one GPU, through one context, or of one simulator? Then the buffers, modules and events of one are
    /// usable with the other, whether or not their sequence of operations is the same.
    pub fn is_same(&self, other: &Device) -> bool {
        self.kind() == other.kind() && self.backend().identity() == other.backend().identity()
    }

    /// Memory for `len` elements, contents unspecified.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::TooLong`]; [`Error::NotCaptured`] in a capture; the driver's.
    pub fn alloc<T: Pod>(&self, len: usize) -> Result<Buffer<T>, Error> {
        Buffer::new(self.clone(), len)
    }

    /// Memory for `len` elements, all zero.
    ///
    /// # Errors
    /// As [`alloc`](Device::alloc).
    pub fn zeros<T: Pod>(&self, len: usize) -> Result<Buffer<T>, Error> {
        let buffer = self.alloc(len)?;
        buffer.fill_bytes(0)?;
        Ok(buffer)
    }

    /// A copy of `host` on the device.
    ///
    /// # Errors
    /// As [`alloc`](Device::alloc).
    pub fn upload<T: Pod>(&self, host: &[T]) -> Result<Buffer<T>, Error> {
        let buffer = self.alloc(host.len())?;
        buffer.write(host)?;
        Ok(buffer)
    }

    /// Compiles a module, or a kernel of girih-codegen's, for the device: by the driver on a GPU, by the simulator's decoder
    /// otherwise.
    ///
    /// # Errors
    /// [`Error::NotCaptured`] in a capture;     /// [`Error::WrongTarget`] when the device can't run the module's `.target`; [`Error::Jit`] with the compiler's log
    /// and the PTX line it complains about; [`Error::Sim`] naming an instruction that the simulator doesn't know.
    pub fn load(&self, module: &impl AsRef<ptx::Module>) -> Result<Module, Error> {
        self.load_with(module, Optimization::Full)
    }

    /// As [`load`](Device::load), with a say in how far the driver's compiler goes.
    ///
    /// # Errors
    /// As [`load`](Device::load).
    pub fn load_with(
        &self,
        module: &impl AsRef<ptx::Module>,
        optimization: Optimization,
    ) -> Result<Module, Error> {
        Module::load(self, module.as_ref(), optimization)
    }

    /// Waits until everything called so far in this sequence has finished.
    ///
    /// # Errors
    /// [`Error::KernelFailed`] when a kernel failed; [`Error::NotCaptured`] in a capture; the driver's.
    pub fn synchronize(&self) -> Result<(), Error> {
        self.submit("Device::synchronize", &[], |backend| backend.mark())?.synchronize()
    }

    /// A timer on this device.
    ///
    /// # Errors
    /// The driver's.
    pub fn timer(&self) -> Result<Timer, Error> {
        Timer::new(self)
    }

    /// The time that the operations called by `work` take on the device.
    ///
    /// # Errors
    /// `work`'s own, or the timer's.
    ///
    /// ```
    /// # use girih_device::{Device, Error, Select};
    /// let device = Device::open(Select::Sim)?;
    /// let buffer = device.alloc::<u8>(1 << 16)?;
    /// let time = device.time(|| buffer.fill_bytes(1))?;
    /// assert!(time.as_secs() < 60);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn time<E: From<Error>>(&self, work: impl FnOnce() -> Result<(), E>) -> Result<Duration, E> {
        let mut timer = self.timer()?;
        timer.start()?;
        work()?;
        Ok(timer.stop()?)
    }

    /// The handle (`CUstream`) of the stream, for work of other libraries that must join the device's sequence;
    /// none on the simulator. Using it is as unsafe as those libraries are; it is valid while a handle of the device lives.
    pub fn cuda_stream(&self) -> Option<u64> {
        self.backend().stream()
    }

    /// The handle (`CUcontext`) of the GPU's context, for other libraries; none on the simulator. It is valid while a handle of the
    /// device lives.
    pub fn cuda_context(&self) -> Option<u64> {
        (self.kind() == Kind::Cuda).then(|| self.backend().identity())
    }

    /// What the simulator has found in its last launch, in the executions of [`SimOptions`]'s `seeds` (1 if it is 0). The launch
    /// fails with the first that is an error; here are all, warnings too. None on a GPU.
    #[cfg(feature = "sim")]
    pub fn sim_findings(&self) -> Vec<girih_sim::Finding> {
        self.backend().findings()
    }

    /// What the simulator saw in its last successful launch; none on a GPU or before a launch.
    #[cfg(feature = "sim")]
    pub fn sim_report(&self) -> Option<girih_sim::Report> {
        self.backend().report()
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({}: {})", self.kind(), self.name())
    }
}
