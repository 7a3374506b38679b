//! Events in streams, and the time between two events.

use std::{ptr, sync::Arc, time::Duration};

use cudarc::driver::{DriverError, result, sys};

use super::{
    context::{Context, Stream},
    failed,
};
use crate::sizes::size;
use crate::{
    Error,
    backend::{Clock, Mark},
};

/// An event. An event that has not been reached may be destroyed: the driver keeps it until then.
pub(super) struct Event {
    context: Arc<Context>,
    raw: sys::CUevent,
}

// SAFETY: the handle is only passed to the driver, which is thread-safe.
unsafe impl Send for Event {}
// SAFETY: as above; an event is recorded once before it is shared, or it belongs to a clock, which has one owner.
unsafe impl Sync for Event {}

impl Event {
    pub(super) fn new(context: &Arc<Context>, flags: sys::CUevent_flags) -> Result<Event, Error> {
        let _current = context.enter()?;
        let raw = result::event::create(flags).map_err(failed("cuEventCreate"))?;
        Ok(Event { context: context.clone(), raw })
    }

    pub(super) fn record(&self, stream: &Stream) -> Result<(), Error> {
        let _current = self.context.enter()?;
        // SAFETY: the event and the stream live and belong to one context.
        unsafe { result::event::record(self.raw, stream.raw()) }.map_err(failed("cuEventRecord"))
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        let Ok(_current) = self.context.enter() else { return };
        // SAFETY: the event was made by `new`, and this was its last handle.
        let _ = unsafe { result::event::destroy(self.raw) };
    }
}

impl Mark for Event {
    fn raw(&self) -> u64 {
        self.raw.expose_provenance() as u64
    }

    fn synchronize(&self) -> Result<(), Error> {
        let _current = self.context.enter()?;
        // SAFETY: the event lives.
        unsafe { result::event::synchronize(self.raw) }.map_err(failed("cuEventSynchronize"))
    }

    fn is_done(&self) -> Result<bool, Error> {
        let _current = self.context.enter()?;
        // SAFETY: the event lives.
        match unsafe { result::event::query(self.raw) } {
            Ok(()) => Ok(true),
            Err(DriverError(sys::CUresult::CUDA_ERROR_NOT_READY)) => Ok(false),
            Err(error) => Err(failed("cuEventQuery")(error)),
        }
    }
}

impl Stream {
    /// Lets later operations wait for a mark of a stream of the same context.
    pub(super) fn wait(&self, mark: &dyn Mark) -> Result<(), Error> {
        let _current = self.context().enter()?;
        let event = ptr::with_exposed_provenance_mut(size(mark.raw()));
        let flags = sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
        // SAFETY: the caller keeps the mark, which is an event of this context, since the typed layer passes marks of the same
        // context only.
        unsafe { result::stream::wait_event(self.raw(), event, flags) }.map_err(failed("cuStreamWaitEvent"))
    }
}

/// Two events that record their times.
pub(super) struct Events {
    stream: Arc<Stream>,
    start: Event,
    stop: Event,
}

impl Events {
    pub(super) fn new(stream: &Arc<Stream>) -> Result<Events, Error> {
        let event = || Event::new(stream.context(), sys::CUevent_flags::CU_EVENT_DEFAULT);
        Ok(Events { stream: stream.clone(), start: event()?, stop: event()? })
    }
}

impl Clock for Events {
    fn start(&mut self) -> Result<(), Error> {
        self.start.record(&self.stream)
    }

    fn stop(&mut self) -> Result<(), Error> {
        self.stop.record(&self.stream)
    }

    fn elapsed(&mut self) -> Result<Duration, Error> {
        self.stop.synchronize()?;
        let _current = self.stream.context().enter()?;
        let milliseconds = elapsed(self.start.raw, self.stop.raw).map_err(failed("cuEventElapsedTime"))?;
        Ok(Duration::try_from_secs_f64(f64::from(milliseconds) / 1e3).unwrap_or_default())
    }
}

/// The milliseconds between two events. This calls the first version of the driver's function, which `cudarc` does not declare
/// any more, since drivers before 12.8 do not have its second version.
fn elapsed(start: sys::CUevent, stop: sys::CUevent) -> Result<f32, DriverError> {
    type Elapsed = unsafe extern "C" fn(*mut f32, sys::CUevent, sys::CUevent) -> sys::CUresult;
    let mut milliseconds = 0.0;
    // SAFETY: the library is loaded, since both events came from it, and the function has this type. Both events live, both were
    // recorded in one stream, and the later one has been reached.
    unsafe {
        let function = sys::culib().get::<Elapsed>(b"cuEventElapsedTime\0");
        let function = function.map_err(|_| DriverError(sys::CUresult::CUDA_ERROR_NOT_SUPPORTED))?;
        function(&mut milliseconds, start, stop).result()?;
    }
    Ok(milliseconds)
}
