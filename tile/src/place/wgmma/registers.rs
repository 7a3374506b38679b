//! How many registers the threads of a block have, and those of a producer and of its consumers.

use super::WARPGROUP;

/// Registers of an SM, and those that the assembler wants for an instruction beside its accumulators.
pub(crate) const REGISTERS: i64 = 65536;
pub(crate) const OF_INSTRUCTION: i64 = 26;

/// The registers that threads begin with in blocks of this many warpgroups, of which an SM has some at a time.
pub(crate) fn begin(warpgroups: i64, blocks: i64) -> i64 {
    (REGISTERS / (i64::from(WARPGROUP) * warpgroups * blocks.max(1)) / 8 * 8).min(255)
}

/// Registers that a producer's threads keep of which one issues TMA copies.
pub(crate) const KEPT: i64 = 24;
/// The most registers of a thread that are asked for.
const MOST: i64 = 240;

/// The registers of a consumer's thread (`setmaxnreg`), where a producer's keeps this many.
pub(crate) fn registers_of_consumers(warpgroups: i64, blocks: i64, kept: i64) -> i64 {
    let each = begin(warpgroups + 1, blocks);
    ((each * (warpgroups + 1) - kept.min(each)) / warpgroups.max(1) / 8 * 8).min(MOST)
}
