//! Page-locked host memory.

use std::{ptr::NonNull, slice, sync::Arc};

use cudarc::driver::{DriverError, result, sys};

use super::{context::Context, failed};
use crate::{Error, backend::HostMemory};

/// Host memory that every context takes for page-locked.
pub(super) struct PageLocked {
    context: Arc<Context>,
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the memory is reached through this alone, as that of a boxed slice.
unsafe impl Send for PageLocked {}
// SAFETY: as above.
unsafe impl Sync for PageLocked {}

impl PageLocked {
    /// `bytes` > 0 zeros.
    pub(super) fn new(context: &Arc<Context>, bytes: usize) -> Result<PageLocked, Error> {
        let _current = context.enter()?;
        // SAFETY: what is allocated is freed when this is dropped.
        let start = unsafe { result::malloc_host(bytes, sys::CU_MEMHOSTALLOC_PORTABLE) };
        let start = start.map_err(failed("cuMemHostAlloc"))?;
        let none = || failed("cuMemHostAlloc")(DriverError(sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY));
        let start = NonNull::new(start.cast::<u8>()).ok_or_else(none)?;
        // SAFETY: as many bytes were allocated.
        unsafe { start.as_ptr().write_bytes(0, bytes) };
        Ok(PageLocked { context: context.clone(), start, bytes })
    }
}

impl HostMemory for PageLocked {
    fn bytes(&self) -> &[u8] {
        // SAFETY: as many bytes were allocated, and zeroed.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.bytes) }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and this is borrowed as a whole.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.bytes) }
    }
}

impl Drop for PageLocked {
    fn drop(&mut self) {
        let Ok(_current) = self.context.enter() else { return };
        // SAFETY: allocated by `new`; a transfer that uses it would own it.
        let _ = unsafe { result::free_host(self.start.as_ptr().cast()) };
    }
}
