//! Devices: a GPU or the simulator, with a sequence of operations on it.

use std::{fmt, sync::Arc};

use crate::{Error, Kind, Limits, backend::Backend, cache::Cache, stream::Sequence};

/// A GPU or the simulator, and one sequence of operations on it (on a GPU a stream). Clones are handles of the same
/// sequence; [`new_stream`](Device::new_stream) makes another sequence.
///
/// Each operation joins the end of the sequence. The host waits in copies between the device and memory of the host
/// that is not pinned, in [`synchronize`](Device::synchronize), [`Event::synchronize`](crate::Event::synchronize),
/// [`Transfer::wait`](crate::Transfer::wait) and [`Timer::stop`](crate::Timer::stop), and where the last kernel of a module is dropped.
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

    pub(crate) fn backend(&self) -> &dyn Backend {
        self.sequence.backend()
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

    /// The reason why [`Select::Auto`](crate::Select::Auto) chose the simulator; `None` if it chose a GPU or if the device was named.
    pub fn fallback(&self) -> Option<&Error> {
        self.fallback.as_deref()
    }

    /// Whether both devices are the same context of a GPU, or the same simulator. Then the buffers, modules and events of one
    /// device can be used with the other, also if the two have different sequences of operations.
    pub fn is_same(&self, other: &Device) -> bool {
        self.kind() == other.kind() && self.backend().identity() == other.backend().identity()
    }

    /// The id of the device's sequence of operations, unique in the process. Two handles with equal ids are handles of one sequence.
    pub fn sequence_number(&self) -> u64 {
        self.sequence.number()
    }

    /// Makes a stream: another sequence of operations on the same GPU or simulator.
    ///
    /// The memory, the modules and the events of all streams of a device can be used in all its streams ([`is_same`](Device::is_same) is true of
    /// them). Operations of different streams may run at the same time; [`record`](Device::record) and [`wait`](Device::wait) order them where an
    /// order is needed. Operations on buffers need no such call: an operation that uses a buffer of another stream runs after the operations that are
    /// in the buffer's stream when it is called, and before the operations that join the buffer's stream later. So all operations on a buffer happen
    /// in the order of their calls, and streams that use only their own buffers run at the same time.
    ///
    /// # Errors
    /// The driver's.
    ///
    /// ```
    /// # use girih_device::{Device, Select};
    /// let device = Device::open(Select::Sim)?;
    /// let stream = device.new_stream()?;
    /// let (x, y) = (device.upload(&[1.0f32, 2.0])?, stream.alloc::<f32>(2)?);
    /// y.copy_from(&x)?; // an operation of `stream`, ordered with those of `device`
    /// assert_eq!(y.download()?, [1.0, 2.0]);
    /// assert!(stream.is_same(&device));
    /// # Ok::<(), girih_device::Error>(())
    /// ```
    pub fn new_stream(&self) -> Result<Device, Error> {
        let sequence = Arc::new(Sequence::new(self.backend().new_stream()?));
        Ok(Device { sequence, ..self.clone() })
    }

    /// Lets the host wait until all operations in this sequence have finished.
    ///
    /// # Errors
    /// [`Error::KernelFailed`] when a kernel failed; [`Error::NotCaptured`] in a capture; the driver's.
    pub fn synchronize(&self) -> Result<(), Error> {
        self.sequence.submit("Device::synchronize", &[], |backend| backend.mark())?.synchronize()
    }

    /// The handle (`CUstream`) of the stream, for operations of other libraries that must join the device's sequence; `None` on the simulator. The
    /// handle is valid while a handle of the device lives. Operations that other libraries put into the stream are as unsafe as those libraries are.
    pub fn cuda_stream(&self) -> Option<u64> {
        self.backend().stream()
    }

    /// The handle (`CUcontext`) of the GPU's context, for other libraries; `None` on the simulator. The handle is valid while a handle of the device
    /// lives.
    pub fn cuda_context(&self) -> Option<u64> {
        (self.kind() == Kind::Cuda).then(|| self.backend().identity())
    }

    /// The cost of the simulator's last successful launch, which is the same in each run: `instructions + 4 * max(global instructions, sectors) +
    /// max(shared instructions, wavefronts)`, where instructions are those of warps. `None` on a GPU or before a launch.
    pub fn simulated_cost(&self) -> Option<u64> {
        #[cfg(feature = "sim")]
        let cost = self.backend().report().map(|report| {
            let [global, shared] = [report.sectors.max(report.global), report.wavefronts.max(report.shared)];
            report.instructions + 4 * global + shared
        });
        #[cfg(not(feature = "sim"))]
        let cost = None;
        cost
    }

    /// The address of the first of these bytes that neither the host nor a kernel has written. `None` if all are written or if writes are not
    /// tracked. They are tracked by a simulator that checks for undefined values, for memory of [`Device::alloc`].
    ///
    /// # Examples
    /// ```
    /// use girih_device::{Device, Select};
    ///
    /// let device = Device::open(Select::Sim)?;
    /// let mut buffer = device.alloc::<f32>(4)?;
    /// assert_eq!(device.first_unwritten(buffer.address(), 16), Some(buffer.address()));
    /// buffer.write(&[1.0; 4])?;
    /// assert_eq!(device.first_unwritten(buffer.address(), 16), None);
    /// # Ok::<(), girih_device::Error>(())
    /// ```
    pub fn first_unwritten(&self, address: u64, bytes: usize) -> Option<u64> {
        self.backend().unwritten(address, bytes)
    }

    /// All findings of the simulator's last launch, errors and warnings, of as many executions as `seeds` of [`SimOptions`](crate::SimOptions)
    /// requests (at least one). The launch itself fails with the first error. The list is empty on a GPU.
    #[cfg(feature = "sim")]
    pub fn sim_findings(&self) -> Vec<girih_sim::Finding> {
        self.backend().findings()
    }

    /// The simulator's report on its last successful launch; `None` on a GPU or before a launch.
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
