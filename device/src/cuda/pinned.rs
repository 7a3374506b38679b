//! Page-locked host memory.

use std::{ptr::NonNull, slice, sync::Arc};

use cudarc::driver::{DriverError, result, sys};

use super::{context::Context, failed};
use crate::{Error, backend::HostMemory};

/// Page-locked host memory, which all contexts treat as page-locked.
pub(super) struct PageLocked {
    context: Arc<Context>,
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the memory is reached through this value alone, like the memory of a boxed slice.
unsafe impl Send for PageLocked {}
// SAFETY: as above.
unsafe impl Sync for PageLocked {}

impl PageLocked {
    /// Allocates `bytes` > 0 zeros.
    pub(super) fn new(context: &Arc<Context>, bytes: usize) -> Result<PageLocked, Error> {
        let _current = context.enter()?;
        // SAFETY: the memory is freed when the result is dropped.
        let start = unsafe { result::malloc_host(bytes, sys::CU_MEMHOSTALLOC_PORTABLE) };
        let start = start.map_err(failed("cuMemHostAlloc"))?;
        let none = || failed("cuMemHostAlloc")(DriverError(sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY));
        let start = NonNull::new(start.cast::<u8>()).ok_or_else(none)?;
        // SAFETY: `bytes` bytes were allocated.
        unsafe { start.as_ptr().write_bytes(0, bytes) };
        Ok(PageLocked { context: context.clone(), start, bytes })
    }
}

impl HostMemory for PageLocked {
    fn bytes(&self) -> &[u8] {
        // SAFETY: `self.bytes` bytes were allocated and zeroed.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.bytes) }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and `self` is borrowed mutably.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.bytes) }
    }
}

impl Drop for PageLocked {
    fn drop(&mut self) {
        let Ok(_current) = self.context.enter() else { return };
        // SAFETY: the memory was allocated by `new`, and no transfer uses it, since a transfer would own it.
        let _ = unsafe { result::free_host(self.start.as_ptr().cast()) };
    }
}
