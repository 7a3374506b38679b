//! Devices, and what they make.

use std::{fmt, sync::Arc, time::Duration};

use girih_ptx as ptx;

use crate::{
    Buffer, Error, Limits, Module, Optimization, Pod, Timer, backend::Backend, cache::Cache, stream::Sequence,
};

/// The kind of a device.
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

/// A GPU or the simulator, and one sequence of operations on it (on a GPU a stream). Clones are handles of the same
/// sequence; [`new_stream`](Device::new_stream) makes another sequence.
///
/// Each operation joins the end of the sequence. The host waits in copies between the device and memory of the host
/// that is not pinned, in [`synchronize`](Device::synchronize), [`Event::synchronize`](crate::Event::synchronize),
/// [`Transfer::wait`](crate::Transfer::wait) and [`Timer::stop`], and where the last kernel of a module is dropped.
#[derive(Clone)]
pub struct Device {
    pub(crate) sequence: Arc<Sequence>,
    /// The reason why `Auto` chose the simulator.
    pub(crate) fallback: Option<Arc<Error>>,
    /// The modules that all streams of the device have loaded.
    pub(crate) modules: Arc<Cache>,
}

impl Device {
    pub(crate) fn new(backend: Box<dyn Backend>) -> Device {
        Device { sequence: Arc::new(Sequence::new(backend)), fallback: None, modules: Arc::default() }
    }

    /// The kind of the device: a GPU or the simulator.
    pub fn kind(&self) -> Kind {
        self.backend().kind()
    }

    /// The device's name, `NVIDIA H200` for instance.
    pub fn name(&self) -> &str {
        &self.limits().name
    }

    /// The limits of the device: memory, threads, architecture.
    pub fn limits(&self) -> &Limits {
        self.backend().limits()
    }

    /// The reason why [`Select::Auto`](crate::Select::Auto) chose the simulator; none if it chose a GPU or if the device was named.
    pub fn fallback(&self) -> Option<&Error> {
        self.fallback.as_deref()
    }

    /// Whether both devices are the same context of a GPU, or the same simulator. Then the buffers, modules and events of one
    /// device can be used with the other, also if the two have different sequences of operations.
    pub fn is_same(&self, other: &Device) -> bool {
        self.kind() == other.kind() && self.backend().identity() == other.backend().identity()
    }

    /// Allocates memory for `len` elements. Their values are unspecified.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::TooLong`]; [`Error::NotCaptured`] in a capture; the driver's.
    pub fn alloc<T: Pod>(&self, len: usize) -> Result<Buffer<T>, Error> {
        Buffer::new(self.clone(), len)
    }

    /// Allocates memory for `len` elements, which are all zero.
    ///
    /// # Errors
    /// As [`alloc`](Device::alloc).
    pub fn zeros<T: Pod>(&self, len: usize) -> Result<Buffer<T>, Error> {
        let buffer = self.alloc(len)?;
        buffer.fill_bytes(0)?;
        Ok(buffer)
    }

    /// Copies `host` into a new buffer on the device.
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
    /// Modules with the same text and the same [notes](girih_ptx::Notes) are compiled once, and share their code: as long as a
    /// module, a kernel, a launch or a graph of the first one is left, to load a second one takes only the time to print and to
    /// compare the text. This is true of all clones and streams of the device and of all threads; threads that load the same
    /// module at the same time wait for one of them to compile it. A device that is opened again shares no code with the first,
    /// since the contexts that the two were opened on may be destroyed at different times.
    ///
    /// Between processes the driver keeps compiled code itself, in a cache on disk, which the environment variables
    /// `CUDA_CACHE_PATH`, `CUDA_CACHE_MAXSIZE` and `CUDA_CACHE_DISABLE` control (CUDA Programming Guide, "CUDA Environment
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

    /// Lets the host wait until all operations in this sequence have finished.
    ///
    /// # Errors
    /// [`Error::KernelFailed`] when a kernel failed; [`Error::NotCaptured`] in a capture; the driver's.
    pub fn synchronize(&self) -> Result<(), Error> {
        self.submit("Device::synchronize", &[], |backend| backend.mark())?.synchronize()
    }

    /// A timer of this device's sequence.
    ///
    /// # Errors
    /// The driver's.
    pub fn timer(&self) -> Result<Timer, Error> {
        Timer::new(self)
    }

    /// The time that the operations that `work` puts into the device's sequence take on the device.
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

    /// The handle (`CUstream`) of the stream, for operations of other libraries that must join the device's sequence; none on
    /// the simulator. The handle is valid while a handle of the device lives. What other libraries put into the stream is as
    /// unsafe as those libraries are.
    pub fn cuda_stream(&self) -> Option<u64> {
        self.backend().stream()
    }

    /// The handle (`CUcontext`) of the GPU's context, for other libraries; none on the simulator. The handle is valid while a
    /// handle of the device lives.
    pub fn cuda_context(&self) -> Option<u64> {
        (self.kind() == Kind::Cuda).then(|| self.backend().identity())
    }

    /// What the simulator has found in its last launch, in as many executions as `seeds` of [`SimOptions`](crate::SimOptions) says
    /// (at least one). The launch fails with the first finding that is an error; this list has all of them, and the warnings.
    /// It is empty on a GPU.
    #[cfg(feature = "sim")]
    pub fn sim_findings(&self) -> Vec<girih_sim::Finding> {
        self.backend().findings()
    }

    /// The simulator's report on its last successful launch; none on a GPU or before a launch.
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
