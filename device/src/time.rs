//! Measuring time on the device.

use std::{fmt, time::Duration};

use crate::{Device, Error, backend::Clock};

/// A timer that measures operations of a device's sequence, any number of times, by a mark before and a mark after the
/// operations.
///
/// On a GPU the marks are events on the device's stream, and the time is measured by the GPU. On the simulator, where every
/// operation has finished when its call returns, the time is that of the wall clock.
///
/// ```
/// # use girih_device::{Device, Select};
/// let device = Device::open(Select::Sim)?;
/// let mut timer = device.timer()?;
/// for _ in 0..3 {
///     timer.start()?;
///     device.zeros::<f32>(1000)?;
///     println!("{:?}", timer.stop()?);
/// }
/// # Ok::<(), girih_device::Error>(())
/// ```
pub struct Timer {
    device: Device,
    clock: Box<dyn Clock>,
}

impl Timer {
    pub(crate) fn new(device: &Device) -> Result<Timer, Error> {
        let clock = device.backend().clock()?;
        let mut timer = Timer { device: device.clone(), clock };
        timer.start()?; // so that a stop without a start returns a time
        Ok(timer)
    }

    /// Sets the first mark after all operations so far.
    ///
    /// # Errors
    /// [`Error::NotCaptured`] in a capture; the driver's.
    pub fn start(&mut self) -> Result<(), Error> {
        self.device.sequence.submit("Timer::start", &[], |_| self.clock.start())
    }

    /// Sets the second mark, lets the host wait for this mark, and returns the time between the two marks.
    ///
    /// # Errors
    /// [`Error::NotCaptured`] in a capture; [`Error::KernelFailed`] when a kernel failed; the driver's.
    pub fn stop(&mut self) -> Result<Duration, Error> {
        self.device.sequence.submit("Timer::stop", &[], |_| self.clock.stop())?;
        self.clock.elapsed()
    }
}

impl Device {
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
}

impl fmt::Debug for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Timer")
    }
}
