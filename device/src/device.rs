//! A device, and what it makes.

use std::{fmt, sync::Arc, time::Duration};

use girih_ptx as ptx;

use crate::{
    Buffer, Error, Limits, Module, Optimization, Pod, Timer, backend::Backend, cache::Cache, stream::Sequence,
};

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
    /// What all streams of the device have loaded.
    pub(crate) modules: Arc<Cache>,
}

impl Device {
    pub(crate) fn new(backend: Box<dyn Backend>) -> Device {
        Device { sequence: Arc::new(Sequence::new(backend)), fallback: None, modules: Arc::default() }
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

    /// Why [`Select::Auto`](crate::Select::Auto) chose the simulator; none when it chose a GPU or had no choice.
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

    /// Compiles a module, or a kernel of girih-codegen, for the device: with the driver's compiler on a GPU, with the
    /// simulator's decoder otherwise.
    ///
    /// A module with the same text is loaded once: while a module, a kernel, a launch or a graph of the first one is left, the
    /// second `load` returns the same code, which costs no more than to print and to compare the text (and what is known
    /// beside it, [`girih_ptx::Notes`]). This holds for all handles and streams of the device, on all threads; two
    /// threads that load the same text at a time compile it once. A device that is opened a second time loads anew, since what
    /// each of the two was opened on may end at another time.
    ///
    /// From one process to the next the driver itself keeps what its compiler made, on disk, unless the environment says
    /// otherwise (`CUDA_CACHE_PATH`, `CUDA_CACHE_MAXSIZE`, `CUDA_CACHE_DISABLE`; CUDA C++ Programming Guide, "Environment
    /// Variables").
    ///
    /// # Errors
    /// [`Error::NotCaptured`] in a capture; [`Error::WrongTarget`] when the device can't run the module's `.target`;
    /// [`Error::Jit`] with the compiler's log and the PTX line that the log names; [`Error::Sim`] naming an instruction that
    /// the simulator does not know.
    ///
    /// ```
    /// # use girih_device::{Device, Select};
    /// # let text = ".version 7.0 .target sm_80 .address_size 64 .visible .entry k() { ret; }";
    /// let module = girih_ptx::Module::parse(text)?;
    /// let device = Device::open(Select::Sim)?;
    /// let first = device.load(&module)?;
    /// let again = device.new_stream()?.load(&module)?; // the same code, for another stream
    /// # assert_eq!(first.kernels().len(), again.kernels().len());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn load(&self, module: &impl AsRef<ptx::Module>) -> Result<Module, Error> {
        self.load_with(module, Optimization::Full)
    }

    /// As [`load`](Device::load), with a choice of how far the driver's compiler optimises. Modules that are optimised
    /// differently are different code.
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

    /// What the simulator has found in its last launch, in the executions of [`SimOptions`](crate::SimOptions)'s `seeds` (1 if it is 0). The launch
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
