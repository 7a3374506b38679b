//! Contexts and streams. Buffers, modules, events and graphs share them, so that they live as long as work in them may run.

use std::{ptr, sync::Arc};

use cudarc::driver::{result, sys};
use sys::CUdevice_attribute as Attribute;

use super::failed;
use crate::Error;
use crate::sizes::size;

/// The per-thread default stream (`CU_STREAM_PER_THREAD`).
const PER_THREAD: u64 = 2;

/// A context of a GPU.
pub(super) struct Context {
    raw: sys::CUcontext,
    device: sys::CUdevice,
    async_alloc: bool,
    owner: ContextOwner,
}

/// Who keeps a context alive.
pub(super) enum ContextOwner {
    /// girih: the context is the GPU's primary context, which is retained as long as the [`Context`] lives.
    Girih,
    /// Another library, whose user has promised that the context outlives the [`Context`].
    Other,
    /// `cudarc`, whose handle of the context is kept here.
    #[cfg(feature = "cudarc")]
    Cudarc(#[expect(dead_code, reason = "the handle is kept, not read")] Arc<cudarc::driver::CudaContext>),
}

// SAFETY: the handle is only passed to the driver, which is thread-safe.
unsafe impl Send for Context {}
// SAFETY: as above; nothing is mutated through the handle on the host.
unsafe impl Sync for Context {}

/// A guard that keeps a context current on the calling thread. When the guard is dropped, the context that was current before is
/// made current again. If no context was, a context that girih has retained stays current, so that the next call need not set
/// it; a context of another library does not stay, since that library may destroy it.
pub(super) struct Current {
    before: Option<sys::CUcontext>,
}

impl Context {
    /// Retains the primary context of a device that came from `cuDeviceGet`.
    pub(super) fn primary(device: sys::CUdevice) -> Result<Context, Error> {
        let async_alloc = async_alloc(device)?;
        // SAFETY: `device` came from cuDeviceGet; the context is released when the `Context` is dropped.
        let raw = unsafe { result::primary_ctx::retain(device) };
        let raw = raw.map_err(failed("cuDevicePrimaryCtxRetain"))?;
        Ok(Context { raw, device, async_alloc, owner: ContextOwner::Girih })
    }

    /// A context of another library.
    ///
    /// # Safety
    /// The handle is null, or the handle of a context that outlives the result.
    pub(super) unsafe fn of_other(raw: u64, owner: ContextOwner) -> Result<Context, Error> {
        if raw == 0 {
            return Err(Error::NoContext);
        }
        let raw = ptr::with_exposed_provenance_mut(size(raw));
        let mut context = Context { raw, device: 0, async_alloc: false, owner };
        let current = context.enter()?;
        let mut device = 0;
        // SAFETY: the result outlives the call.
        unsafe { sys::cuCtxGetDevice(&mut device) }.result().map_err(failed("cuCtxGetDevice"))?;
        drop(current);
        (context.device, context.async_alloc) = (device, async_alloc(device)?);
        Ok(context)
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

    /// Makes the context current on the calling thread, which most calls of the driver require.
    pub(super) fn enter(&self) -> Result<Current, Error> {
        let before = result::ctx::get_current().map_err(failed("cuCtxGetCurrent"))?;
        if before == Some(self.raw) {
            return Ok(Current { before: None });
        }
        // SAFETY: the context lives as long as `self`.
        unsafe { result::ctx::set_current(self.raw) }.map_err(failed("cuCtxSetCurrent"))?;
        let stays = before.is_none() && matches!(self.owner, ContextOwner::Girih);
        Ok(Current { before: (!stays).then_some(before.unwrap_or(ptr::null_mut())) })
    }
}

impl Drop for Current {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            // SAFETY: the context was current when `enter` was called, or the handle is null, after which no context is current. If
            // the context's owner has destroyed the context since, the driver returns an error.
            let _ = unsafe { result::ctx::set_current(before) };
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if matches!(self.owner, ContextOwner::Girih) {
            // SAFETY: the context was retained by `primary`, and everything made in the context holds this `Context`.
            let _ = unsafe { result::primary_ctx::release(self.device) };
        }
    }
}

fn async_alloc(device: sys::CUdevice) -> Result<bool, Error> {
    let attribute = Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED;
    // SAFETY: `device` came from the driver.
    let supported = unsafe { result::device::get_attribute(device, attribute) };
    Ok(supported.map_err(failed("cuDeviceGetAttribute"))? > 0)
}

/// A stream.
pub(super) struct Stream {
    context: Arc<Context>,
    raw: sys::CUstream,
    owner: StreamOwner,
}

/// Who keeps a stream alive.
pub(super) enum StreamOwner {
    /// girih: the stream is destroyed when the [`Stream`] is dropped. The driver finishes the operations in the stream first.
    Girih,
    /// Another library, whose user has promised that the stream outlives the [`Stream`].
    Other,
    /// `cudarc`, whose handle of the stream is kept here.
    #[cfg(feature = "cudarc")]
    Cudarc(#[expect(dead_code, reason = "the handle is kept, not read")] Arc<cudarc::driver::CudaStream>),
}

// SAFETY: the handle is only passed to the driver, which is thread-safe.
unsafe impl Send for Stream {}
// SAFETY: as above; nothing is mutated through the handle on the host.
unsafe impl Sync for Stream {}

impl Stream {
    /// Makes a stream that is not ordered with the legacy default stream.
    pub(super) fn new(context: &Arc<Context>) -> Result<Stream, Error> {
        let _current = context.enter()?;
        let raw = result::stream::create(result::stream::StreamKind::NonBlocking);
        let raw = raw.map_err(failed("cuStreamCreate"))?;
        Ok(Stream { context: context.clone(), raw, owner: StreamOwner::Girih })
    }

    /// A stream of another library, which must be a stream of this context.
    ///
    /// # Safety
    /// The handle is the handle of a default stream, or of a stream that outlives the result.
    pub(super) unsafe fn of_other(
        context: &Arc<Context>,
        raw: u64,
        owner: StreamOwner,
    ) -> Result<Stream, Error> {
        if raw == PER_THREAD {
            return Err(Error::PerThreadStream);
        }
        let _current = context.enter()?;
        let handle = ptr::with_exposed_provenance_mut(size(raw));
        let mut found = ptr::null_mut();
        // SAFETY: the stream lives, as the caller promises; the result outlives the call.
        unsafe { sys::cuStreamGetCtx(handle, &mut found) }.result().map_err(failed("cuStreamGetCtx"))?;
        if found != context.raw {
            let [owner, context] = [found, context.raw].map(|context| context.addr() as u64);
            return Err(Error::WrongStream { stream: raw, context, owner });
        }
        Ok(Stream { context: context.clone(), raw: handle, owner })
    }

    pub(super) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    pub(super) fn raw(&self) -> sys::CUstream {
        self.raw
    }

    /// Waits for all operations in the stream.
    pub(super) fn synchronize(&self) -> Result<(), Error> {
        let _current = self.context.enter()?;
        // SAFETY: the stream lives.
        unsafe { result::stream::synchronize(self.raw) }.map_err(failed("cuStreamSynchronize"))
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if !matches!(self.owner, StreamOwner::Girih) {
            return;
        }
        let Ok(_current) = self.context.enter() else { return };
        // SAFETY: the stream was made by `new`, and this was its last handle.
        let _ = unsafe { result::stream::destroy(self.raw) };
    }
}
