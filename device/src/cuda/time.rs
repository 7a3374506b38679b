//! Time between two events of the stream.

use std::{sync::Arc, time::Duration};

use cudarc::driver::{CudaEvent, DriverError, sys};

use super::{context::Queue, failed};
use crate::{Error, backend::Clock};

/// Two timed events.
pub(super) struct Events {
    queue: Arc<Queue>,
    start: CudaEvent,
    stop: CudaEvent,
}

impl Events {
    pub(super) fn new(queue: &Arc<Queue>) -> Result<Events, Error> {
        let event = || {
            let flags = Some(sys::CUevent_flags::CU_EVENT_DEFAULT);
            queue.context.new_event(flags).map_err(failed("cuEventCreate"))
        };
        Ok(Events { queue: queue.clone(), start: event()?, stop: event()? })
    }
}

impl Clock for Events {
    fn start(&mut self) -> Result<(), Error> {
        self.start.record(&self.queue.stream).map_err(failed("cuEventRecord"))
    }

    fn stop(&mut self) -> Result<(), Error> {
        self.stop.record(&self.queue.stream).map_err(failed("cuEventRecord"))
    }

    fn elapsed(&mut self) -> Result<Duration, Error> {
        self.stop.synchronize().map_err(failed("cuEventSynchronize"))?;
        let milliseconds = elapsed(&self.start, &self.stop).map_err(failed("cuEventElapsedTime"))?;
        Ok(Duration::try_from_secs_f64(f64::from(milliseconds) / 1e3).unwrap_or_default())
    }
}

/// Calls the function's first version, which `cudarc` no longer declares: its successor is missing from drivers before
/// 12.8.
fn elapsed(start: &CudaEvent, stop: &CudaEvent) -> Result<f32, DriverError> {
    type Elapsed = unsafe extern "C" fn(*mut f32, sys::CUevent, sys::CUevent) -> sys::CUresult;
    let mut milliseconds = 0.0;
    // SAFETY: the library is loaded (both events came from it) and the type is the function's; both events live, were
    // recorded in one stream, and the later one has been reached.
    unsafe {
        let function = sys::culib().get::<Elapsed>(b"cuEventElapsedTime\0");
        let function = function.map_err(|_| DriverError(sys::CUresult::CUDA_ERROR_NOT_SUPPORTED))?;
        function(&mut milliseconds, start.cu_event(), stop.cu_event()).result()?;
    }
    Ok(milliseconds)
}
