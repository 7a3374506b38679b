//! Time on the device.

use std::{fmt, time::Duration};

use crate::{Device, Error, backend::Clock};

/// A pair of marks in a device's sequence of operations, to be used any number of times.
///
/// On a GPU the marks are events on the device's stream and the time is the GPU's own; on the simulator, where a
/// launch returns when it is done, it is the wall clock's.
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
        timer.start()?; // so that a stop without a start has an answer
        Ok(timer)
    }

    /// Sets the first mark behind everything called so far.
    ///
    /// # Errors
    /// [`Error::NotCaptured`] in a capture; the driver's.
    pub fn start(&mut self) -> Result<(), Error> {
        self.device.submit("Timer::start", &[], |_| self.clock.start())
    }

    /// Sets the second mark, waits for it and returns the time since the first.
    ///
    /// # Errors
    /// [`Error::NotCaptured`] in a capture; the driver's, or that of a kernel that failed in between.
    pub fn stop(&mut self) -> Result<Duration, Error> {
        self.device.submit("Timer::stop", &[], |_| self.clock.stop())?;
        self.clock.elapsed()
    }
}

impl fmt::Debug for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Timer")
    }
}
