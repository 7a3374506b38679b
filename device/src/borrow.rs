//! Buffers of memory that another library has allocated.

use std::sync::Arc;

use crate::{
    Buffer, Device, Error, Pod,
    stream::{Allocation, Owner},
};

impl Device {
    /// A buffer of `len` elements in memory that another library has allocated. girih never frees this memory.
    ///
    /// The buffer's operations join this device's sequence. The address must be aligned for `T`, and all elements must be in one
    /// allocation that this device can use; both are checked, on a GPU by some calls of the driver. A program that uses the same memory
    /// again saves these calls by keeping the buffer, and [slices](Buffer::slice) of the buffer. Kernels ask for more than the alignment
    /// of `T`: those of `girih-kernels` for addresses that are multiples of 16 bytes, unless a problem says otherwise. On the simulator
    /// the allocation must be one of the same simulator.
    ///
    /// # Errors
    /// [`Error::Misaligned`], [`Error::NoMemory`], [`Error::WrongMemory`], [`Error::BeyondAllocation`], [`Error::TooLong`]; the driver's.
    ///
    /// # Safety
    /// The memory must stay allocated as long as the buffer, its slices, or tensor maps, prepared launches and graphs with any of
    /// these are used, and until the operations that they were used for have finished. The caller must order what other
    /// libraries do with the memory with this device's sequence.
    ///
    /// ```
    /// # use girih_device::{Device, Select};
    /// let device = Device::open(Select::Sim)?;
    /// let owner = device.upload(&[1.0f32, 2.0, 3.0])?;
    /// // SAFETY: the owner is dropped last.
    /// let last = unsafe { device.borrow::<f32>(owner.address() + 4, 2)? };
    /// assert_eq!(last.download()?, [2.0, 3.0]);
    /// // SAFETY: refused.
    /// let error = unsafe { device.borrow::<f32>(owner.address(), 4) }.unwrap_err();
    /// assert_eq!(error.to_string(), "16 bytes from 0x700000000 on reach beyond their allocation, which has 12 bytes from there on");
    /// # Ok::<(), girih_device::Error>(())
    /// ```
    #[allow(unsafe_code, reason = "that the memory stays allocated is the caller's promise")]
    pub unsafe fn borrow<T: Pod>(&self, address: u64, len: usize) -> Result<Buffer<T>, Error> {
        let buffer = self.buffer_of(address, len, Owner::Other)?;
        if !buffer.is_empty() {
            self.backend().check_range(address, buffer.bytes())?;
        }
        Ok(buffer)
    }

    /// A buffer of memory that girih has not allocated. Only the alignment of the address is checked.
    pub(crate) fn buffer_of<T: Pod>(
        &self,
        address: u64,
        len: usize,
        owner: Owner,
    ) -> Result<Buffer<T>, Error> {
        let bytes = Buffer::<T>::bytes_of(len)?;
        if bytes == 0 {
            return Ok(Buffer::from_parts(self, None, 0, 0));
        }
        if !address.is_multiple_of(align_of::<T>() as u64) {
            return Err(Error::Misaligned { address, element: T::PTX, align: align_of::<T>() });
        }
        let memory = Arc::new(Allocation::new(&self.sequence, address, owner));
        Ok(Buffer::from_parts(self, Some(memory), address, len))
    }
}
