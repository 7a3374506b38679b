//! Captured graphs.

use std::{ptr, sync::Arc};

use cudarc::driver::{result, sys};

use super::{context::Stream, failed};
use crate::{Error, backend::Executable};

impl Stream {
    pub(super) fn is_capturing(&self) -> bool {
        let Ok(_current) = self.context().enter() else { return false };
        // SAFETY: the stream lives.
        let status = unsafe { result::stream::is_capturing(self.raw()) };
        match status {
            Ok(status) => status != sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE,
            // That of the legacy default stream while another stream is being captured: nothing can be done in it. Other errors, as of a
            // kernel that has failed before, are for the operation that is asked for to tell.
            Err(error) => error.0 == sys::cudaError_enum::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
        }
    }

    /// Begins a capture in the relaxed mode: what a capture can't hold is refused above, and what other streams and libraries do
    /// on this thread meanwhile is their own, and must not spoil it.
    pub(super) fn begin_capture(&self) -> Result<(), Error> {
        let _current = self.context().enter()?;
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: the stream lives.
        unsafe { result::stream::begin_capture(self.raw(), mode) }.map_err(failed("cuStreamBeginCapture"))
    }

    /// Ends the capture, whatever came of it.
    pub(super) fn end_capture(self: &Arc<Stream>) -> Result<Replayed, Error> {
        let _current = self.context().enter()?;
        let mut graph = ptr::null_mut();
        // SAFETY: the stream lives; the result outlives the call.
        unsafe { sys::cuStreamEndCapture(self.raw(), &mut graph) }
            .result()
            .map_err(failed("cuStreamEndCapture"))?;
        // SAFETY: the graph came from the capture, is used by nothing else, and destroyed behind its last use.
        let executable = unsafe {
            let executable = result::graph::instantiate(graph, sys::CUgraphInstantiate_flags(0));
            let _ = result::graph::destroy(graph);
            executable
        };
        let executable = executable.map_err(failed("cuGraphInstantiateWithFlags"))?;
        Ok(Replayed { stream: self.clone(), executable })
    }
}

/// An executable graph and the stream that it was captured from.
pub(super) struct Replayed {
    stream: Arc<Stream>,
    executable: sys::CUgraphExec,
}

// SAFETY: the handle is only passed to the driver, which does not care about the thread.
unsafe impl Send for Replayed {}
// SAFETY: the driver wants one call at a time, and each is made in the turn of the graph's own sequence.
unsafe impl Sync for Replayed {}

impl Executable for Replayed {
    fn launch(&self) -> Result<(), Error> {
        let _current = self.stream.context().enter()?;
        // SAFETY: both live; what the graph does is the promise of the caller of `Graph::launch`.
        unsafe { result::graph::launch(self.executable, self.stream.raw()) }.map_err(failed("cuGraphLaunch"))
    }
}

impl Drop for Replayed {
    fn drop(&mut self) {
        let Ok(_current) = self.stream.context().enter() else { return };
        // SAFETY: instantiated by `end_capture`, and nothing of it is left; a replay that runs is finished by the driver.
        let _ = unsafe { result::graph::exec_destroy(self.executable) };
    }
}
