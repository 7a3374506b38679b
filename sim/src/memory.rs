//! Simulated global memory: allocations at addresses that a program can't guess, with unmapped gaps between them.
//!
//! The bytes are stored in 32-bit atomic words, so that blocks that run in parallel share them without locks. All
//! accesses but atomics are relaxed, as weak accesses of PTX are. Atomics of 64 bits exclude one another by a lock.
#![deny(clippy::cast_possible_truncation, clippy::cast_sign_loss)]

mod allocation;
mod view;

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use crate::{Access, Error};

pub(crate) use allocation::Allocation;
pub use allocation::Lent;
pub(crate) use view::View;

/// Alignment of an allocation in bytes, the same as that of `cuMemAlloc`.
const ALIGN: u64 = 256;
/// Unmapped bytes after every allocation.
pub(crate) const GAP: u64 = 1 << 20;
/// Address of the first allocation. It needs more than 32 bits, so that a truncated address is found.
const BASE: u64 = 0x7_0000_0000;
/// The end of the addresses of allocations. The variables of modules come after it, then the windows of other state
/// spaces (see [`crate::space`]).
pub(crate) const END: u64 = 0x7000_0000_0000;
/// Address of the memory by which the blocks of a cooperative launch wait for one another; allocations don't reach as
/// far.
pub(crate) const WORKSPACE: u64 = END - GAP;
const WORKSPACE_BYTES: u64 = 64;

#[derive(Debug, Default)]
struct State {
    allocations: BTreeMap<u64, Arc<Allocation>>,
    next: u64,
    used: u64,
}

/// Simulated global memory, which the host and running kernels share by reference.
///
/// Addresses are multiples of 256 bytes and are never used again, and every allocation is followed by at least a
/// mebibyte of unmapped addresses. So overruns and uses after `free` are found.
///
/// ```
/// let memory = girih_sim::Memory::new();
/// let p = memory.alloc(16)?;
/// memory.write(p + 4, &[1, 2, 3, 4])?;
/// let mut back = [0; 4];
/// memory.read(p + 4, &mut back)?;
/// assert_eq!(back, [1, 2, 3, 4]);
/// assert!(memory.write(p + 13, &[0; 4]).is_err());
/// # Ok::<(), girih_sim::Error>(())
/// ```
#[derive(Debug)]
pub struct Memory {
    state: RwLock<State>,
    capacity: u64,
}

impl Default for Memory {
    fn default() -> Self {
        Self::new()
    }
}

impl Memory {
    /// Memory with a capacity of 64 GiB. The host needs only the memory that is allocated.
    pub fn new() -> Self {
        Self::with_capacity(64 << 30)
    }

    /// Memory of which at most `bytes` bytes can be allocated at a time.
    pub fn with_capacity(bytes: u64) -> Self {
        Memory { state: RwLock::new(State { next: BASE, ..State::default() }), capacity: bytes }
    }

    /// The most bytes that can be allocated at a time.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Bytes that are allocated now.
    pub fn used(&self) -> u64 {
        self.state.read().unwrap_or_else(PoisonError::into_inner).used
    }

    /// Allocates `bytes` zeroed bytes and returns the address. An allocation of zero bytes has an address, too.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] if the capacity or the memory of the host does not suffice.
    pub fn alloc(&self, bytes: usize) -> Result<u64, Error> {
        self.place(bytes, |base| Allocation::new(base, bytes as u64))
    }

    /// Allocates `bytes` bytes without a value. With [`Options::uninitialised`](crate::Options::uninitialised) a kernel
    /// that uses a byte before the host or a kernel has written it is reported. The host may read such bytes, as zeros.
    ///
    /// # Errors
    /// As [`Memory::alloc`].
    pub fn alloc_uninitialised(&self, bytes: usize) -> Result<u64, Error> {
        self.place(bytes, |base| Allocation::unwritten(base, bytes as u64))
    }

    /// Takes memory of someone else as an allocation, without a copy, and returns the address. Kernels and the host read and write it in place;
    /// [`Memory::free`] drops `lent`. While a launch runs, its end drops `lent`.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
    ///
    /// #[derive(Debug)]
    /// struct Shared(Arc<[AtomicU32]>);
    /// impl girih_sim::Lent for Shared {
    ///     fn words(&self) -> &[AtomicU32] {
    ///         &self.0
    ///     }
    /// }
    ///
    /// let words: Arc<[AtomicU32]> = (0..4).map(AtomicU32::new).collect();
    /// let memory = girih_sim::Memory::new();
    /// let p = memory.lend(Box::new(Shared(words.clone())))?;
    /// memory.write(p + 4, &7u32.to_le_bytes())?;
    /// assert_eq!(words[1].load(Relaxed), 7);
    /// memory.free(p)?;
    /// assert_eq!(Arc::strong_count(&words), 1);
    /// # Ok::<(), girih_sim::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Memory::alloc`].
    pub fn lend(&self, lent: Box<dyn Lent>) -> Result<u64, Error> {
        let bytes = size_of_val(lent.words());
        self.place(bytes, |base| Some(Allocation::lent(base, bytes as u64, lent)))
    }

    /// As [`Memory::lend`], but none of the bytes counts as written, as in [`Memory::alloc_uninitialised`].
    ///
    /// # Errors
    /// As [`Memory::alloc`].
    pub fn lend_uninitialised(&self, lent: Box<dyn Lent>) -> Result<u64, Error> {
        let bytes = size_of_val(lent.words());
        self.place(bytes, |base| Allocation::lent(base, bytes as u64, lent).forgotten())
    }

    fn place(&self, bytes: usize, new: impl FnOnce(u64) -> Option<Allocation>) -> Result<u64, Error> {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let size = bytes as u64;
        let full = Error::OutOfMemory { bytes: size, used: state.used, capacity: self.capacity };
        let base = state.next;
        let next = base.checked_add(size).and_then(|end| end.checked_next_multiple_of(ALIGN));
        let Some(next) = next.and_then(|end| end.checked_add(GAP)).filter(|&next| next <= WORKSPACE) else {
            return Err(full);
        };
        if size > self.capacity.saturating_sub(state.used) {
            return Err(full);
        }
        let allocation = new(base).ok_or(full)?;
        state.next = next;
        state.used += size;
        state.allocations.insert(base, Arc::new(allocation));
        Ok(base)
    }

    /// Frees the allocation that begins at `address`.
    ///
    /// # Errors
    /// [`Error::BadFree`] if no allocation begins there.
    pub fn free(&self, address: u64) -> Result<(), Error> {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        match state.allocations.remove(&address) {
            Some(allocation) => {
                state.used -= allocation.bytes;
                Ok(())
            }
            None => {
                drop(state);
                Err(Error::BadFree { address, nearest: self.view().nearest(address, 0) })
            }
        }
    }

    /// Copies `data` to `address`.
    ///
    /// # Errors
    /// [`Error::HostAccess`] if the bytes are not all inside one allocation.
    pub fn write(&self, address: u64, data: &[u8]) -> Result<(), Error> {
        let (allocation, offset) = self.find(address, data.len() as u64, Access::Write)?;
        allocation.write_host(offset, data);
        allocation.wrote(offset, data.len());
        Ok(())
    }

    /// Copies bytes from `address` to `out`.
    ///
    /// # Errors
    /// [`Error::HostAccess`] if the bytes are not all inside one allocation.
    pub fn read(&self, address: u64, out: &mut [u8]) -> Result<(), Error> {
        let (allocation, offset) = self.find(address, out.len() as u64, Access::Read)?;
        allocation.read_host(offset, out);
        Ok(())
    }

    /// The address of the first of these bytes that has no value, in an allocation that keeps account of that
    /// ([`Memory::alloc_uninitialised`]).
    ///
    /// ```
    /// let memory = girih_sim::Memory::new();
    /// let p = memory.alloc_uninitialised(8)?;
    /// memory.write(p, &[1, 2, 3])?;
    /// assert_eq!(memory.unwritten(p, 3), None);
    /// assert_eq!(memory.unwritten(p, 8), Some(p + 3));
    /// # Ok::<(), girih_sim::Error>(())
    /// ```
    pub fn unwritten(&self, address: u64, bytes: usize) -> Option<u64> {
        let (allocation, offset) = self.find(address, bytes as u64, Access::Read).ok()?;
        let at = (!allocation.has_value(offset, bytes))
            .then(|| (0..bytes).find(|&at| !allocation.has_value(offset + at, 1)))?;
        at.map(|at| address + at as u64)
    }

    /// Sets `bytes` bytes from `address` on to `value`.
    ///
    /// # Errors
    /// [`Error::HostAccess`] if the bytes are not all inside one allocation.
    pub fn fill(&self, address: u64, value: u8, bytes: usize) -> Result<(), Error> {
        let (allocation, offset) = self.find(address, bytes as u64, Access::Write)?;
        let chunk = [value; 4096];
        let mut done = 0;
        while done < bytes {
            let n = chunk.len().min(bytes - done);
            allocation.write_host(offset + done, &chunk[..n]);
            done += n;
        }
        allocation.wrote(offset, bytes);
        Ok(())
    }

    fn find(&self, address: u64, bytes: u64, access: Access) -> Result<(Arc<Allocation>, usize), Error> {
        let view = self.view();
        match view.find(address, bytes) {
            Some((index, offset)) => Ok((view.allocations[index].clone(), offset)),
            None => Err(Error::HostAccess { access, address, bytes, nearest: view.nearest(address, bytes) }),
        }
    }

    /// The allocations at this moment, for a kernel that is going to run.
    pub(crate) fn view(&self) -> View {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        View { allocations: state.allocations.values().cloned().collect() }
    }

    /// As [`Memory::view`], with the memory by which the blocks of a cooperative launch wait.
    pub(crate) fn cooperative_view(&self) -> View {
        let mut view = self.view();
        view.allocations.extend(Allocation::new(WORKSPACE, WORKSPACE_BYTES).map(Arc::new));
        view
    }
}
