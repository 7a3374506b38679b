//! Simulated global memory: allocations at addresses that no program guesses, with unmapped gaps between them.
//!
//! Bytes live in 32-bit atomic words, so that blocks running in parallel share them without locks; every access
//! but an atomic one is relaxed, as weak accesses of PTX are. Atomics of 64 bits take a lock among themselves.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use crate::{Access, Error};

/// Alignment of an allocation in bytes, as `cuMemAlloc` gives.
const ALIGN: u64 = 256;
/// Unmapped bytes after every allocation.
pub(crate) const GAP: u64 = 1 << 20;
/// Address of the first allocation: over 32 bits, so that a truncated address is caught.
const BASE: u64 = 0x7_0000_0000;
/// Addresses from here on are variables of modules, then windows of other state spaces (see [`crate::exec`]).
pub(crate) const END: u64 = 0x7000_0000_0000;

/// The allocation next to an address that hits none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nearest {
    /// There is no memory at all in this space.
    None,
    /// The memory of `bytes` bytes at `base`.
    Region {
        /// First address.
        base: u64,
        /// Size in bytes.
        bytes: u64,
        /// How many bytes the access begins before `base` (negative) or ends after the region's end (positive).
        beyond: i64,
    },
}

impl Nearest {
    /// The relation of `[address, address + bytes)` to the region.
    pub(crate) fn region(base: u64, len: u64, address: u64, bytes: u64) -> Self {
        let beyond = if address < base {
            -i64::try_from(base - address).unwrap_or(i64::MAX)
        } else {
            let past = u128::from(address) + u128::from(bytes)
                - (u128::from(base) + u128::from(len)).min(u128::from(address) + u128::from(bytes));
            i64::try_from(past).unwrap_or(i64::MAX)
        };
        Nearest::Region { base, bytes: len, beyond }
    }
}

impl fmt::Display for Nearest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Nearest::None => f.write_str("nothing is allocated there"),
            Nearest::Region { base, bytes, beyond } if beyond < 0 => {
                write!(f, "it begins {} bytes before the nearest memory, {bytes} bytes at {base:#x}", -beyond)
            }
            Nearest::Region { base, bytes, beyond } => {
                write!(f, "it ends {beyond} bytes after the nearest memory, {bytes} bytes at {base:#x}")
            }
        }
    }
}

/// One allocation.
#[derive(Debug)]
pub(crate) struct Allocation {
    pub(crate) base: u64,
    pub(crate) bytes: u64,
    words: Box<[AtomicU32]>,
    /// Held by atomics of two words.
    wide: Mutex<()>,
}

impl Allocation {
    /// Zeroed bytes at an address; `None` if the host has not that much.
    pub(crate) fn new(base: u64, bytes: u64) -> Option<Self> {
        let count = usize::try_from(bytes).ok()?.div_ceil(4);
        let mut words = Vec::new();
        words.try_reserve_exact(count).ok()?;
        words.resize_with(count, AtomicU32::default);
        Some(Allocation { base, bytes, words: words.into(), wide: Mutex::new(()) })
    }

    /// The offset of `[address, address + bytes)`, if it lies inside.
    #[inline]
    pub(crate) fn offset(&self, address: u64, bytes: u64) -> Option<usize> {
        let offset = address.wrapping_sub(self.base);
        (offset <= self.bytes && bytes <= self.bytes - offset).then_some(offset as usize)
    }

    /// Reads `out.len()` bytes from `offset`, which the caller has checked.
    #[inline]
    pub(crate) fn read(&self, offset: usize, out: &mut [u8]) {
        if offset.is_multiple_of(4) && out.len().is_multiple_of(4) {
            for (chunk, word) in out.chunks_exact_mut(4).zip(&self.words[offset / 4..]) {
                chunk.copy_from_slice(&word.load(Relaxed).to_le_bytes());
            }
            return;
        }
        for (i, byte) in out.iter_mut().enumerate() {
            let at = offset + i;
            *byte = self.words[at / 4].load(Relaxed).to_le_bytes()[at % 4];
        }
    }

    /// Writes `data` to `offset`, which the caller has checked.
    #[inline]
    pub(crate) fn write(&self, offset: usize, data: &[u8]) {
        if offset.is_multiple_of(4) && data.len().is_multiple_of(4) {
            for (chunk, word) in data.chunks_exact(4).zip(&self.words[offset / 4..]) {
                word.store(u32::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]), Relaxed);
            }
            return;
        }
        self.write_parts(offset, data);
    }

    /// Replaces `bytes` (2, 4 or 8, to which `offset` is aligned) bytes by a function of them, atomically among
    /// updates of the same size. Returns what was there.
    pub(crate) fn update(&self, offset: usize, bytes: u32, new: impl Fn(u64) -> u64) -> u64 {
        if bytes == 8 {
            let _held = self.wide.lock().unwrap_or_else(PoisonError::into_inner);
            let mut old = [0; 8];
            self.read(offset, &mut old);
            let old = u64::from_le_bytes(old);
            self.write(offset, &new(old).to_le_bytes());
            return old;
        }
        let shift = offset % 4 * 8;
        let keep = u32::MAX >> (32 - bytes * 8);
        let change = |word: u32| {
            let value = new((word >> shift & keep).into()) as u32 & keep;
            Some(word & !(keep << shift) | value << shift)
        };
        // Never fails: the closure always answers.
        let word = self.words[offset / 4].fetch_update(SeqCst, SeqCst, change).unwrap_or_default();
        (word >> shift & keep).into()
    }

    /// Writes parts of words, leaving the neighbours that another block may be writing alone.
    fn write_parts(&self, offset: usize, data: &[u8]) {
        let mut at = offset;
        let mut rest = data;
        while !rest.is_empty() {
            let lane = at % 4;
            let n = rest.len().min(4 - lane);
            let mut bytes = [0; 4];
            let mut keep = [0xff; 4];
            bytes[lane..lane + n].copy_from_slice(&rest[..n]);
            keep[lane..lane + n].fill(0);
            let (bytes, keep) = (u32::from_le_bytes(bytes), u32::from_le_bytes(keep));
            // `fetch_update` never fails with a closure that always answers.
            let _ = self.words[at / 4].fetch_update(Relaxed, Relaxed, |word| Some(word & keep | bytes));
            at += n;
            rest = &rest[n..];
        }
    }
}

#[derive(Debug, Default)]
struct State {
    allocations: BTreeMap<u64, Arc<Allocation>>,
    next: u64,
    used: u64,
}

/// Simulated global memory. Shared by reference between the host and running kernels.
///
/// Addresses are 256-byte aligned, never reused, and at least a mebibyte of unmapped addresses follows every
/// allocation, so overruns and uses after `free` are found.
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
    /// Memory of 64 GiB capacity; the host provides only what is allocated.
    pub fn new() -> Self {
        Self::with_capacity(64 << 30)
    }

    /// Memory that gives out at most `bytes` bytes at a time.
    pub fn with_capacity(bytes: u64) -> Self {
        Memory { state: RwLock::new(State { next: BASE, ..State::default() }), capacity: bytes }
    }

    /// The most bytes that can be allocated at a time.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Bytes allocated now.
    pub fn used(&self) -> u64 {
        self.state.read().unwrap_or_else(PoisonError::into_inner).used
    }

    /// Allocates `bytes` zeroed bytes and returns the address. Zero bytes have an address too.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] over the capacity, or if the host has not that much.
    pub fn alloc(&self, bytes: usize) -> Result<u64, Error> {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let size = bytes as u64;
        let full = Error::OutOfMemory { bytes: size, used: state.used, capacity: self.capacity };
        let base = state.next;
        let next = base.checked_add(size).and_then(|end| end.checked_next_multiple_of(ALIGN));
        let Some(next) = next.and_then(|end| end.checked_add(GAP)).filter(|&next| next <= END) else {
            return Err(full);
        };
        if size > self.capacity.saturating_sub(state.used) {
            return Err(full);
        }
        let allocation = Allocation::new(base, size).ok_or(full)?;
        state.next = next;
        state.used += size;
        state.allocations.insert(base, Arc::new(allocation));
        Ok(base)
    }

    /// Frees the allocation that begins at `address`.
    ///
    /// # Errors
    /// [`Error::BadFree`] if none does.
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
        Ok(())
    }

    /// Copies bytes from `address` to `out`.
    ///
    /// # Errors
    /// [`Error::HostAccess`] if the bytes are not all inside one allocation.
    pub fn read(&self, address: u64, out: &mut [u8]) -> Result<(), Error> {
        let (allocation, offset) = self.find(address, out.len() as u64, Access::Read)?;
        let head = out.len().min(offset.wrapping_neg() % 4);
        let body = head + (out.len() - head) / 4 * 4;
        allocation.read(offset, &mut out[..head]);
        allocation.read(offset + head, &mut out[head..body]);
        allocation.read(offset + body, &mut out[body..]);
        Ok(())
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
        Ok(())
    }

    fn find(&self, address: u64, bytes: u64, access: Access) -> Result<(Arc<Allocation>, usize), Error> {
        let view = self.view();
        match view.find(address, bytes) {
            Some((index, offset)) => Ok((view.allocations[index].clone(), offset)),
            None => Err(Error::HostAccess { access, address, bytes, nearest: view.nearest(address, bytes) }),
        }
    }

    /// The allocations of this moment, for a running kernel.
    pub(crate) fn view(&self) -> View {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        View { allocations: state.allocations.values().cloned().collect() }
    }
}

impl Allocation {
    /// A host write: whole words where it can.
    pub(crate) fn write_host(&self, offset: usize, data: &[u8]) {
        let head = data.len().min(offset.wrapping_neg() % 4);
        let body = head + (data.len() - head) / 4 * 4;
        self.write(offset, &data[..head]);
        self.write(offset + head, &data[head..body]);
        self.write(offset + body, &data[body..]);
    }
}

/// The allocations that a launch sees, sorted by address.
#[derive(Clone, Debug)]
pub(crate) struct View {
    pub(crate) allocations: Vec<Arc<Allocation>>,
}

impl View {
    /// The allocation that holds `[address, address + bytes)`, and the offset in it.
    pub(crate) fn find(&self, address: u64, bytes: u64) -> Option<(usize, usize)> {
        let after = self.allocations.partition_point(|a| a.base <= address);
        let index = after.checked_sub(1)?;
        self.allocations[index].offset(address, bytes).map(|offset| (index, offset))
    }

    /// The allocation nearest to an access that hits none.
    pub(crate) fn nearest(&self, address: u64, bytes: u64) -> Nearest {
        let after = self.allocations.partition_point(|a| a.base <= address);
        let before = after.checked_sub(1).map(|i| &self.allocations[i]);
        let distance_before = before.map(|a| address.saturating_sub(a.base + a.bytes));
        let next = self.allocations.get(after);
        let distance_next = next.map(|a| a.base - address);
        let choice = match (distance_before, distance_next) {
            (Some(b), Some(n)) if n < b => next,
            (Some(_), _) => before,
            (None, _) => next,
        };
        choice.map_or(Nearest::None, |a| Nearest::region(a.base, a.bytes, address, bytes))
    }
}
