//! Bytes of device memory, in stream order.

use cudarc::driver::{DriverError, result, sys::CUresult};

use super::{context::Stream, failed};
use crate::Error;

impl Stream {
    pub(super) fn alloc(&self, bytes: usize) -> Result<u64, Error> {
        let _current = self.context().enter()?;
        // SAFETY: the stream lives and its context is current; every pattern of bits is a value of the elements' types.
        let address = unsafe {
            if self.context().async_alloc() {
                result::malloc_async(self.raw(), bytes)
            } else {
                result::malloc_sync(bytes)
            }
        };
        address.map_err(|error| self.alloc_error(error, bytes))
    }

    fn alloc_error(&self, error: DriverError, bytes: usize) -> Error {
        match (error.0, result::mem_get_info()) {
            (CUresult::CUDA_ERROR_OUT_OF_MEMORY, Ok((available, total))) => {
                Error::OutOfMemory { bytes: bytes as u64, available: available as u64, total: total as u64 }
            }
            _ => failed("cuMemAlloc")(error),
        }
    }

    pub(super) fn free(&self, address: u64) -> Result<(), Error> {
        let _current = self.context().enter()?;
        if self.context().async_alloc() {
            // SAFETY: `address` came from `alloc` in this stream, and its only owner frees it.
            return unsafe { result::free_async(address, self.raw()) }.map_err(failed("cuMemFreeAsync"));
        }
        self.synchronize()?;
        // SAFETY: as above, and all operations in the stream have finished.
        unsafe { result::free_sync(address) }.map_err(failed("cuMemFree"))
    }

    /// # Safety
    /// As for [`Backend::write`](crate::backend::Backend::write).
    pub(super) unsafe fn write(&self, address: u64, bytes: &[u8]) -> Result<(), Error> {
        let _current = self.context().enter()?;
        // SAFETY: the range is in a live allocation, and the caller leaves `bytes` alone until the copy is done.
        unsafe { result::memcpy_htod_async(address, bytes, self.raw()) }.map_err(failed("cuMemcpyHtoDAsync"))
    }

    /// # Safety
    /// As for [`Backend::read`](crate::backend::Backend::read).
    pub(super) unsafe fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Error> {
        let _current = self.context().enter()?;
        // SAFETY: the range is in a live allocation, and the caller leaves `bytes` alone until the copy is done.
        unsafe { result::memcpy_dtoh_async(bytes, address, self.raw()) }.map_err(failed("cuMemcpyDtoHAsync"))
    }

    pub(super) fn fill(&self, address: u64, byte: u8, bytes: usize) -> Result<(), Error> {
        let _current = self.context().enter()?;
        // SAFETY: the range is in a live allocation.
        unsafe { result::memset_d8_async(address, byte, bytes, self.raw()) }
            .map_err(failed("cuMemsetD8Async"))
    }

    pub(super) fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<(), Error> {
        let _current = self.context().enter()?;
        // SAFETY: both ranges lie in live allocations of this context.
        unsafe { result::memcpy_dtod_async(to, from, bytes, self.raw()) }.map_err(failed("cuMemcpyDtoDAsync"))
    }
}
