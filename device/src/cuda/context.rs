//! A context and a stream of it, shared by all that must outlive work in them.

use std::sync::Arc;

use cudarc::driver::{result, sys};
use sys::CUdevice_attribute as Attribute;

use super::failed;
use crate::Error;

/// The primary context of a GPU, retained as long as this lives.
pub(super) struct Context {
    raw: sys::CUcontext,
    device: sys::CUdevice,
    async_alloc: bool,
}

// SAFETY: the handle is only passed to the driver, which is thread-safe.
unsafe impl Send for Context {}
// SAFETY: as above; nothing is mutated through the handle on the host.
unsafe impl Sync for Context {}

/// The calling thread with a context current, until it is dropped: then a context of someone else that was current is
/// current again. Where there was none, girih's stays, since nobody can miss another.
pub(super) struct Current {
    before: Option<sys::CUcontext>,
}

impl Context {
    /// Retains the primary context of a device that came from `cuDeviceGet`.
    pub(super) fn primary(device: sys::CUdevice) -> Result<Context, Error> {
        let async_alloc = async_alloc(device)?;
        // SAFETY: `device` came from cuDeviceGet; what is retained is released when this is dropped.
        let raw = unsafe { result::primary_ctx::retain(device) };
        Ok(Context { raw: raw.map_err(failed("cuDevicePrimaryCtxRetain"))?, device, async_alloc })
    }

    pub(super) fn raw(&self) -> sys::CUcontext {
        self.raw
    }

    pub(super) fn device(&self) -> sys::CUdevice {
        self.device
    }

    /// Whether memory can be allocated and freed in stream order.
    pub(super) fn async_alloc(&self) -> bool {
        self.async_alloc
    }

    /// Makes the context current on the calling thread, as the driver's calls want it.
    pub(super) fn enter(&self) -> Result<Current, Error> {
        let before = result::ctx::get_current().map_err(failed("cuCtxGetCurrent"))?;
        if before == Some(self.raw) {
            return Ok(Current { before: None });
        }
        // SAFETY: the context lives as long as this.
        unsafe { result::ctx::set_current(self.raw) }.map_err(failed("cuCtxSetCurrent"))?;
        Ok(Current { before })
    }
}

impl Drop for Current {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            // SAFETY: it was current when `enter` asked, and whoever destroys a context that is current on a running thread
            // only gets an error here.
            let _ = unsafe { result::ctx::set_current(before) };
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: retained by `primary`, and nothing of it is left.
        let _ = unsafe { result::primary_ctx::release(self.device) };
    }
}

fn async_alloc(device: sys::CUdevice) -> Result<bool, Error> {
    let attribute = Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED;
    // SAFETY: `device` came from the driver.
    let supported = unsafe { result::device::get_attribute(device, attribute) };
    Ok(supported.map_err(failed("cuDeviceGetAttribute"))? > 0)
}

/// A stream, destroyed when nothing of it is left; the driver finishes what is in it.
pub(super) struct Stream {
    context: Arc<Context>,
    raw: sys::CUstream,
}

// SAFETY: the handle is only passed to the driver, which is thread-safe.
unsafe impl Send for Stream {}
// SAFETY: as above; nothing is mutated through the handle on the host.
unsafe impl Sync for Stream {}

impl Stream {
    /// A stream that the legacy default stream does not wait for.
    pub(super) fn new(context: &Arc<Context>) -> Result<Stream, Error> {
        let _current = context.enter()?;
        let raw = result::stream::create(result::stream::StreamKind::NonBlocking);
        Ok(Stream { context: context.clone(), raw: raw.map_err(failed("cuStreamCreate"))? })
    }

    pub(super) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    pub(super) fn raw(&self) -> sys::CUstream {
        self.raw
    }

    /// Waits for everything in the stream.
    pub(super) fn synchronize(&self) -> Result<(), Error> {
        let _current = self.context.enter()?;
        // SAFETY: the stream lives.
        unsafe { result::stream::synchronize(self.raw) }.map_err(failed("cuStreamSynchronize"))
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let Ok(_current) = self.context.enter() else { return };
        // SAFETY: made by `new`, and nothing of it is left.
        let _ = unsafe { result::stream::destroy(self.raw) };
    }
}
