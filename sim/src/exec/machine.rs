//! What all clusters of a launch share.

use std::collections::BTreeMap;
use std::sync::Mutex;

use crate::lanes::WARP;
use crate::ledger::Ledger;
use crate::memory::View;
use crate::residency::Residency;
use crate::shadow::Global;
use crate::{Kernel, Launch, Options};

/// What all clusters of a launch share.
pub(crate) struct Machine<'a> {
    pub(crate) kernel: &'a Kernel,
    pub(crate) view: View,
    /// The kernel's parameters as they are laid out in the parameter space.
    pub(crate) params: Vec<u8>,
    pub(crate) launch: &'a Launch,
    pub(crate) options: &'a Options,
    /// Bytes of shared memory of each block.
    pub(crate) shared: usize,
    /// Threads of each block.
    pub(crate) threads: u32,
    /// Blocks of each cluster in x, y and z.
    pub(crate) cluster: [u32; 3],
    /// Whether the launch or the kernel asked for clusters.
    pub(crate) explicit: bool,
    /// The text that each block has printed, by the number of the block.
    pub(crate) printed: Mutex<BTreeMap<u64, String>>,
    /// The shadow of global memory, if races are looked for.
    pub(crate) global: Option<Global>,
    pub(crate) findings: Mutex<Ledger>,
    /// How many blocks are resident at a time.
    pub(crate) residency: Residency,
}

impl Machine<'_> {
    /// Warps of each block.
    pub(super) fn warps(&self) -> u32 {
        self.threads.div_ceil(WARP as u32)
    }

    /// Whether clusters run in between one another: where blocks communicate and there is a seed.
    pub(crate) fn mixes(&self) -> bool {
        self.options.seed != 0 && self.communicates()
    }

    /// Whether there are blocks that can communicate through global memory.
    pub(super) fn communicates(&self) -> bool {
        self.kernel.code.communicates && self.launch.grid != [1; 3]
    }

    /// Warpgroups of each block; the last may have fewer than four warps.
    pub(super) fn warpgroups(&self) -> usize {
        self.warps().div_ceil(4) as usize
    }

    /// Blocks of each cluster, as a number of ranks.
    pub(super) fn ranks(&self) -> u32 {
        self.cluster.iter().product()
    }

    /// Blocks of each cluster, to compute with counts of blocks.
    pub(crate) fn blocks(&self) -> u64 {
        self.ranks().into()
    }

    /// Bytes from the begin of one block's shared memory to that of the next.
    pub(super) fn stride(&self) -> usize {
        self.shared.next_multiple_of(16)
    }
}
