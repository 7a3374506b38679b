//! How many blocks are resident on the device at a time.
//!
//! A GPU begins a block when an SM has room for it, and the block stays there until it has ended. Blocks
//! that wait for one another must all be resident at a time (CUDA C++ Programming Guide, "Cooperative Groups", "Grid
//! Synchronization"). The limits are those of sm_90 (in that guide, "Compute Capabilities").
#![deny(clippy::cast_possible_truncation, clippy::cast_sign_loss)]

use std::fmt;

/// SMs of an H100 or H200 with SXM.
pub(crate) const MULTIPROCESSORS: u32 = 132;
/// The warps, blocks, bytes of shared memory and registers that an SM has room for.
const WARPS: u64 = 64;
const BLOCKS: u64 = 32;
const SHARED: u64 = 228 << 10;
const REGISTERS: u64 = 64 << 10;
/// Bytes of shared memory that the system reserves in each block.
const RESERVED: u64 = 1 << 10;
/// The units in which registers and bytes of shared memory are allocated.
const REGISTER_UNIT: u64 = 256;
const SHARED_UNIT: u64 = 128;

/// The number of blocks for which a device has room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Residency {
    /// SMs of the device.
    pub multiprocessors: u32,
    /// Blocks for which each SM has room.
    pub each: u32,
    /// The resource of which there is too little for more blocks.
    pub limit: &'static str,
}

impl Residency {
    /// The residency of blocks with this many threads, bytes of shared memory, and, if known, registers of each thread.
    pub(crate) fn new(multiprocessors: u32, threads: u32, shared: u64, registers: Option<u32>) -> Residency {
        let warps = u64::from(threads.div_ceil(32)).max(1);
        let by_registers = registers.filter(|&n| n > 0).map(|n| {
            // Each quarter of an SM has a quarter of the registers, for a quarter of the warps.
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
        let each = u32::try_from(each.max(1)).unwrap_or(u32::MAX);
        Residency { multiprocessors: multiprocessors.max(1), each, limit }
    }

    /// Blocks for which the whole device has room.
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
