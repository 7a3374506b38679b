//! An allocation, whose bytes are stored in 32-bit atomic words.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};

/// Memory of someone else, which kernels read and write in place: what [`Memory::lend`](crate::Memory::lend) takes.
pub trait Lent: fmt::Debug + Send + Sync {
    /// The memory, in words whose bytes are in the order of little-endian numbers. It is the same at each call.
    fn words(&self) -> &[AtomicU32];
}

/// Whose words an allocation has.
#[derive(Debug)]
enum Words {
    Own(Box<[AtomicU32]>),
    Lent(Box<dyn Lent>),
}

/// One allocation.
#[derive(Debug)]
pub(crate) struct Allocation {
    pub(crate) base: u64,
    pub(crate) bytes: u64,
    words: Words,
    /// A bit for each byte that has been written, if the memory began without a value.
    written: Option<Box<[AtomicU32]>>,
    /// Whether all bytes have been written, as the host does for most memory, so that `written` need not be looked at.
    whole: AtomicBool,
    /// A lock that atomics of 64 bits hold, as these have two words.
    wide: Mutex<()>,
    /// Whether it is constant memory, which kernels do not write.
    pub(crate) constant: bool,
}

impl Allocation {
    /// Zeroed bytes at an address; `None` if the host does not have enough memory.
    pub(crate) fn new(base: u64, bytes: u64) -> Option<Self> {
        Some(Self::of(base, bytes, Words::Own(zeros(usize::try_from(bytes).ok()?.div_ceil(4))?)))
    }

    /// Memory of someone else at an address.
    pub(crate) fn lent(base: u64, bytes: u64, lent: Box<dyn Lent>) -> Self {
        Self::of(base, bytes, Words::Lent(lent))
    }

    fn of(base: u64, bytes: u64, words: Words) -> Self {
        let whole = AtomicBool::new(false);
        Allocation { base, bytes, words, written: None, whole, wide: Mutex::new(()), constant: false }
    }

    #[inline]
    fn words(&self) -> &[AtomicU32] {
        match &self.words {
            Words::Own(words) => words,
            Words::Lent(lent) => lent.words(),
        }
    }

    /// Zeroed bytes of constant memory at an address.
    pub(crate) fn constant(base: u64, bytes: u64) -> Option<Self> {
        Some(Allocation { constant: true, ..Self::new(base, bytes)? })
    }

    /// Bytes without a value at an address; they read as zeros.
    pub(crate) fn unwritten(base: u64, bytes: u64) -> Option<Self> {
        Self::new(base, bytes)?.forgotten()
    }

    /// The same bytes, none of which counts as written.
    pub(crate) fn forgotten(self) -> Option<Self> {
        let written = zeros(usize::try_from(self.bytes).ok()?.div_ceil(32))?;
        Some(Allocation { written: Some(written), ..self })
    }

    /// Whether all of `bytes` bytes from `offset` on have a value.
    #[inline]
    pub(crate) fn has_value(&self, offset: usize, bytes: usize) -> bool {
        let Some(written) = &self.written else { return true };
        self.whole.load(Relaxed)
            || parts(offset, bytes).all(|(word, mask)| written[word].load(Relaxed) & mask == mask)
    }

    /// Which of the first 16 of these bytes have no value, a bit for each.
    #[inline]
    pub(crate) fn missing(&self, offset: usize, bytes: usize) -> u16 {
        if self.written.is_none() || self.has_value(offset, bytes) {
            return 0;
        }
        (0..bytes.min(16)).fold(0, |missing, i| missing | u16::from(!self.has_value(offset + i, 1)) << i)
    }

    /// Marks bytes to which undefined values have been written as bytes without a value, if the allocation keeps
    /// account.
    pub(crate) fn unmark(&self, offset: usize, missing: u16) {
        let Some(written) = &self.written else { return };
        self.whole.store(false, Relaxed);
        for at in (0..16).filter(|i| missing >> i & 1 == 1).map(|i| offset + i) {
            written[at / 32].fetch_and(!(1 << (at % 32)), Relaxed);
        }
    }

    /// Marks the bytes from `offset` on as bytes with a value.
    #[inline]
    fn mark(&self, offset: usize, bytes: usize) {
        let Some(written) = self.written.as_ref().filter(|_| !self.whole.load(Relaxed)) else { return };
        for (word, mask) in parts(offset, bytes) {
            written[word].fetch_or(mask, Relaxed);
        }
    }

    /// Which bytes have a value, for a later [`Allocation::forget`].
    pub(crate) fn marks(&self) -> Vec<u32> {
        self.written.iter().flatten().map(|word| word.load(Relaxed)).collect()
    }

    /// Restores which bytes have a value.
    pub(crate) fn forget(&self, marks: &[u32]) {
        self.whole.store(false, Relaxed);
        for (word, mark) in self.written.iter().flatten().zip(marks) {
            word.store(*mark, Relaxed);
        }
    }

    /// The size in bytes.
    #[expect(clippy::cast_possible_truncation, reason = "the bytes are in the host's memory")]
    pub(crate) fn len(&self) -> usize {
        self.bytes as usize
    }

    /// The offset of `[address, address + bytes)`, if it is inside.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "an offset in the host's memory")]
    pub(crate) fn offset(&self, address: u64, bytes: u64) -> Option<usize> {
        let offset = address.wrapping_sub(self.base);
        (offset <= self.bytes && bytes <= self.bytes - offset).then_some(offset as usize)
    }

    /// Reads `out.len()` bytes from `offset`, which the caller has checked.
    #[inline]
    pub(crate) fn read(&self, offset: usize, out: &mut [u8]) {
        if offset.is_multiple_of(4) && out.len().is_multiple_of(4) {
            for (chunk, word) in out.chunks_exact_mut(4).zip(&self.words()[offset / 4..]) {
                chunk.copy_from_slice(&word.load(Relaxed).to_le_bytes());
            }
            return;
        }
        for (i, byte) in out.iter_mut().enumerate() {
            let at = offset + i;
            *byte = self.words()[at / 4].load(Relaxed).to_le_bytes()[at % 4];
        }
    }

    /// Writes `data` to `offset`, which the caller has checked.
    #[inline]
    pub(crate) fn write(&self, offset: usize, data: &[u8]) {
        self.mark(offset, data.len());
        if offset.is_multiple_of(4) && data.len().is_multiple_of(4) {
            for (chunk, word) in data.chunks_exact(4).zip(&self.words()[offset / 4..]) {
                word.store(u32::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]), Relaxed);
            }
            return;
        }
        self.write_parts(offset, data);
    }

    /// Replaces the value of 2, 4 or 8 bytes by a function of it, atomically among updates of the same size; returns
    /// the old value. `offset` is a multiple of `bytes`.
    #[expect(clippy::cast_possible_truncation, reason = "the value has as many bits as the bytes")]
    pub(crate) fn update(&self, offset: usize, bytes: u32, new: impl Fn(u64) -> u64) -> u64 {
        if bytes == 8 {
            let _held = self.wide.lock().unwrap_or_else(PoisonError::into_inner);
            let mut old = [0; 8];
            self.read(offset, &mut old);
            let old = u64::from_le_bytes(old);
            self.write(offset, &new(old).to_le_bytes());
            return old;
        }
        self.mark(offset, bytes as usize);
        let shift = offset % 4 * 8;
        let keep = u32::MAX >> (32 - bytes * 8);
        let change = |word: u32| {
            let value = new((word >> shift & keep).into()) as u32 & keep;
            Some(word & !(keep << shift) | value << shift)
        };
        // The update never fails, as the closure always returns a value.
        let word = self.words()[offset / 4].fetch_update(SeqCst, SeqCst, change).unwrap_or_default();
        (word >> shift & keep).into()
    }

    /// Writes parts of words, without touching the neighbouring bytes, which another block may be writing.
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
            // The update never fails, as the closure always returns a value.
            let _ = self.words()[at / 4].fetch_update(Relaxed, Relaxed, |word| Some(word & keep | bytes));
            at += n;
            rest = &rest[n..];
        }
    }

    /// A host read, in whole words as far as possible.
    pub(crate) fn read_host(&self, offset: usize, out: &mut [u8]) {
        let head = out.len().min(offset.wrapping_neg() % 4);
        let body = head + (out.len() - head) / 4 * 4;
        self.read(offset, &mut out[..head]);
        self.read(offset + head, &mut out[head..body]);
        self.read(offset + body, &mut out[body..]);
    }

    /// The host has written these bytes.
    pub(crate) fn wrote(&self, offset: usize, bytes: usize) {
        if self.written.is_some() && offset == 0 && bytes as u64 == self.bytes {
            self.whole.store(true, Relaxed);
        }
    }

    /// A host write, in whole words as far as possible.
    pub(crate) fn write_host(&self, offset: usize, data: &[u8]) {
        let head = data.len().min(offset.wrapping_neg() % 4);
        let body = head + (data.len() - head) / 4 * 4;
        self.write(offset, &data[..head]);
        self.write(offset + head, &data[head..body]);
        self.write(offset + body, &data[body..]);
    }
}

/// Words whose pages the host has only once they are used; `None` if it does not have enough memory.
fn zeros(count: usize) -> Option<Box<[AtomicU32]>> {
    bytemuck::try_zeroed_slice_box(count).ok()
}

/// The 32-bit words that contain the bits from `first` on, and for each the mask of these bits.
fn parts(first: usize, count: usize) -> impl Iterator<Item = (usize, u32)> {
    let end = first + count;
    (first / 32..end.div_ceil(32)).map(move |word| {
        let (low, high) = (first.max(word * 32) % 32, end.min(word * 32 + 32) - word * 32);
        (word, u32::MAX << low & u32::MAX >> (32 - high))
    })
}
