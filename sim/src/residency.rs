//! How many blocks are on the device at a time.
//!
//! A GPU begins a block when a multiprocessor has room for it, and does not take it away before it has ended. Blocks that
//! wait for one another must all be there at a time (CUDA C++ Programming Guide, "Cooperative Groups", "Grid
//! Synchronization"); the limits are those of sm_90 (there, "Compute Capabilities").

use std::fmt;

/// Multiprocessors of an H100 or H200 with SXM.
pub(crate) const MULTIPROCESSORS: u32 = 132;
/// Warps, blocks, bytes of shared memory and registers of a multiprocessor.
const WARPS: u64 = 64;
const BLOCKS: u64 = 32;
const SHARED: u64 = 228 << 10;
const REGISTERS: u64 = 64 << 10;
/// Bytes of shared memory that the system takes of each block.
const RESERVED: u64 = 1 << 10;
/// Registers and bytes of shared memory are given out in multiples of these.
const REGISTER_UNIT: u64 = 256;
const SHARED_UNIT: u64 = 128;

/// What a device has room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Residency {
    /// Multiprocessors of the device.
    pub multiprocessors: u32,
    /// Blocks that each has room for.
    pub each: u32,
    /// What there is too little of for more.
    pub limit: &'static str,
}

impl Residency {
    /// Of blocks with so many threads, bytes of shared memory, and registers a thread, if that is known.
    pub(crate) fn new(multiprocessors: u32, threads: u32, shared: u64, registers: Option<u32>) -> Residency {
        let warps = u64::from(threads.div_ceil(32)).max(1);
        let by_registers = registers.filter(|&n| n > 0).map(|n| {
            // A quarter of the registers belongs to a quarter of the warps.
            let warp = (u64::from(n) * 32).next_multiple_of(REGISTER_UNIT);
            (REGISTERS / 4 / warp * 4 / warps, "registers")
        });
        let limits = [
            (WARPS / warps, "threads"),
            (BLOCKS, "blocks"),
            (SHARED / (shared + RESERVED).next_multiple_of(SHARED_UNIT), "shared memory"),
        ];
        let least = limits.into_iter().chain(by_registers).min_by_key(|(blocks, _)| *blocks);
        let (each, limit) = least.unwrap_or((1, "blocks"));
        Residency { multiprocessors: multiprocessors.max(1), each: each.max(1) as u32, limit }
    }

    /// Blocks of the whole device.
    pub fn blocks(&self) -> u64 {
        u64::from(self.multiprocessors) * u64::from(self.each)
    }
}

impl fmt::Display for Residency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Residency { multiprocessors, each, limit } = self;
        write!(f, "{each} on each of {multiprocessors} multiprocessors, as its {limit} allow")
    }
}
