//! Opening a device.

use std::sync::Arc;

use crate::{Device, Error, Select};
#[cfg(feature = "sim")]
use crate::{SimOptions, sim::Simulator};

impl Device {
    /// Opens a device.
    ///
    /// [`Select::Auto`] opens what the environment variable `GIRIH_DEVICE` names (`auto`, `cuda`, `cuda:N`, `sim`). If the
    /// variable is not set or is `auto`, the first GPU is opened, or the simulator where no GPU of sm_80 or newer can be used;
    /// [`Device::fallback`] then says why. The simulator looks for races and for reads of memory that nothing has written;
    /// [`Device::open_sim`] with [`SimOptions::fast`](girih_sim::Options::fast) opens a simulator that does not.
    ///
    /// # Errors
    /// [`Error::BadSelect`] when the variable names no device. For a GPU one line that says what is missing or too old:
    /// [`Error::NoDriver`], [`Error::NoGpu`], [`Error::NoSuchGpu`], [`Error::GpuTooOld`], [`Error::DriverTooOld`],
    /// [`Error::NoCudaFeature`]. For the simulator [`Error::NoSimFeature`]; without the feature `sim`, `Auto` fails as `Cuda`
    /// does.
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

    /// Opens the simulator with the given options: its checks, its number of threads, its report of progress.
    ///
    /// # Errors
    /// None so far: a later version may refuse options.
    #[cfg(feature = "sim")]
    pub fn open_sim(options: SimOptions) -> Result<Device, Error> {
        Ok(Device::new(Box::new(Simulator::new(options))))
    }

    /// Opens a device on a context (`CUcontext`) and a stream (`CUstream`) that another library made, with whatever interface
    /// to the driver. girih destroys neither of the two. The stream 0 is the context's legacy default stream.
    ///
    /// The context may be a GPU's primary context or any other context. Each call makes the context current on the calling
    /// thread, and makes the context current again that was current before the call.
    ///
    /// # Errors
    /// [`Error::NoContext`], [`Error::WrongStream`], [`Error::PerThreadStream`]; [`Error::NoDriver`], [`Error::GpuTooOld`],
    /// [`Error::DriverTooOld`], [`Error::NoCudaFeature`]; the driver's.
    ///
    /// # Safety
    /// Both handles must be valid, and must stay valid as long as anything lives that was made by this device: buffers,
    /// modules, kernels, launches, events, timers, graphs, streams and clones of the device.
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
}
