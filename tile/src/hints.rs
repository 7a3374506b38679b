//! What a user asks of placement and launch. Hints leave results as they are.

use std::collections::BTreeMap;

/// The hints of one target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct HintSet {
    /// Blocks in a cluster: 1, 2, 4, 8 or 16.
    pub num_ctas: Option<u32>,
    /// Blocks on a multiprocessor at a time: 1 to 32.
    pub occupancy: Option<u32>,
    /// Warps of a block: 4, 8, 16 or 32.
    pub num_worker_warps: Option<u32>,
    /// Optimisation level: 0 to 3.
    pub opt_level: Option<u32>,
}

/// Hints for all targets, and for architectures, which are asked first.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Hints {
    /// For targets that are not named.
    pub all: HintSet,
    /// By architecture, such as 90 for sm_90.
    pub by_arch: BTreeMap<u32, HintSet>,
}
