//! Events: marks in a stream, for which the host and other streams can wait.

use std::fmt;

use crate::{Device, Error, backend::Mark};

/// A mark in a stream's sequence of operations.
///
/// On the simulator, where every operation has finished when its call returns, an event is always done.
///
/// ```
/// use girih_device::{Device, Select};
/// let device = Device::open(Select::Sim)?;
/// let stream = device.new_stream()?;
/// let x = device.zeros::<u32>(100)?;
/// let written = device.record()?;
/// stream.wait(&written)?; // operations that join `stream` from here on run after the zeros
/// written.synchronize()?;
/// assert!(written.is_done()?);
/// # Ok::<(), girih_device::Error>(())
/// ```
pub struct Event {
    device: Device,
    mark: Box<dyn Mark>,
}

impl Event {
    /// Lets the host wait until every operation before the mark has finished.
    ///
    /// # Errors
    /// [`Error::KernelFailed`] when a kernel failed; the driver's.
    pub fn synchronize(&self) -> Result<(), Error> {
        self.mark.synchronize()
    }

    /// Whether every operation before the mark has finished. The host does not wait.
    ///
    /// # Errors
    /// [`Error::KernelFailed`] when a kernel failed; the driver's.
    pub fn is_done(&self) -> Result<bool, Error> {
        self.mark.is_done()
    }

    /// The device that the event was recorded on.
    pub fn device(&self) -> &Device {
        &self.device
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Event(of {:?})", self.device)
    }
}

impl Device {
    /// Records an event: a mark after all operations that are in the device's sequence now.
    ///
    /// # Errors
    /// [`Error::NotCaptured`] in a capture; the driver's.
    pub fn record(&self) -> Result<Event, Error> {
        let mark = self.sequence.submit("Device::record", &[], |backend| backend.mark())?;
        Ok(Event { device: self.clone(), mark })
    }

    /// Lets the operations that join the device's sequence later wait for an event of another stream. The host does not wait.
    ///
    /// # Errors
    /// [`Error::ForeignEvent`] for an event of another GPU or simulator; [`Error::NotCaptured`] in a capture; the driver's.
    pub fn wait(&self, event: &Event) -> Result<(), Error> {
        if !event.device.is_same(self) {
            return Err(Error::ForeignEvent);
        }
        self.sequence.submit("Device::wait", &[], |backend| backend.wait(&*event.mark))
    }
}
