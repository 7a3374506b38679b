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
            // The legacy default stream answers this while another stream of the context is being captured; no operation is possible in
            // it then. Other errors, such as that of a kernel that failed before, are left to the operation that follows.
            Err(error) => error.0 == sys::cudaError_enum::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
        }
    }

    /// Begins a capture in the relaxed mode, in which calls on other streams do not spoil the capture. The typed layer refuses the
    /// calls on this stream that a graph can't hold.
    pub(super) fn begin_capture(&self) -> Result<(), Error> {
        let _current = self.context().enter()?;
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: the stream lives.
        unsafe { result::stream::begin_capture(self.raw(), mode) }.map_err(failed("cuStreamBeginCapture"))
    }

    /// Ends the capture, also when the capture has failed.
    pub(super) fn end_capture(self: &Arc<Stream>) -> Result<Replayed, Error> {
        let _current = self.context().enter()?;
        let mut graph = ptr::null_mut();
        // SAFETY: the stream lives; the result outlives the call.
        unsafe { sys::cuStreamEndCapture(self.raw(), &mut graph) }
            .result()
            .map_err(failed("cuStreamEndCapture"))?;
        // SAFETY: the graph came from the capture, nothing else uses it, and it is destroyed after its last use.
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

// SAFETY: the handle is only passed to the driver, which accepts it on every thread.
unsafe impl Send for Replayed {}
// SAFETY: the driver requires that calls with one graph are made one at a time; each is made in the turn of the graph's sequence.
unsafe impl Sync for Replayed {}

impl Executable for Replayed {
    fn launch(&self) -> Result<(), Error> {
        let _current = self.stream.context().enter()?;
        // SAFETY: the graph and the stream live; the caller of `Graph::launch` promises that the kernels may run.
        unsafe { result::graph::launch(self.executable, self.stream.raw()) }.map_err(failed("cuGraphLaunch"))
    }
}

impl Drop for Replayed {
    fn drop(&mut self) {
        let Ok(_current) = self.stream.context().enter() else { return };
        // SAFETY: the graph was made by `end_capture`, and this was its last handle; the driver finishes a replay that still runs.
        let _ = unsafe { result::graph::exec_destroy(self.executable) };
    }
}
