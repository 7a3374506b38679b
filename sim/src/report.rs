//! The report of what was executed.

/// What a launch executed. An instruction counts once for each warp in which at least one lane executes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Blocks executed.
    pub blocks: u64,
    /// Warp instructions executed.
    pub instructions: u64,
    /// Warp instructions that read or wrote global memory, `cp.async` included.
    pub global: u64,
    /// Warp instructions that read or wrote shared memory, `ldmatrix` and `cp.async` included.
    pub shared: u64,
    /// `mma` warp instructions.
    pub mma: u64,
    /// `wgmma` warp instructions, four for each product.
    pub wgmma: u64,
    /// Arrivals of warps at barriers, and of threads at mbarriers.
    pub barriers: u64,
    /// Times that a warp, or some of its lanes, came to a barrier or an mbarrier's phase and had to wait.
    pub waits: u64,
    /// Wavefronts of shared memory, with [`Options::counts`](crate::Options::counts), bank conflicts included. An access takes one for each of
    /// its parts (the warp; halves or quarters of the warp for accesses of 8 and 16 bytes a lane; or a matrix of
    /// `ldmatrix`), and one more for every further word that it needs from its busiest bank.
    pub wavefronts: u64,
    /// Wavefronts that the same accesses would take without bank conflicts.
    pub least_wavefronts: u64,
    /// Sectors of 32 bytes of global memory that the accesses touch, with [`Options::counts`](crate::Options::counts).
    pub sectors: u64,
    /// The least number of sectors that could hold the accessed bytes.
    pub least_sectors: u64,
    /// Bytes of global memory that lanes and bulk copies access, with [`Options::counts`](crate::Options::counts).
    pub global_bytes: u64,
    /// Bytes of shared memory that lanes access, with [`Options::counts`](crate::Options::counts). Those of bulk copies and of `wgmma`'s
    /// descriptors are not counted.
    pub shared_bytes: u64,
    /// The number of warnings, where each kind and pair of instructions counts once.
    pub warnings: u64,
}

impl Report {
    /// Adds the counts of another report.
    pub(crate) fn add(&mut self, other: &Report) {
        *self = self.with(other, u64::wrapping_add);
    }

    /// The difference to the counts of an earlier report.
    pub(crate) fn since(&self, before: &Report) -> Report {
        self.with(before, u64::wrapping_sub)
    }

    fn with(&self, other: &Report, f: fn(u64, u64) -> u64) -> Report {
        Report {
            blocks: f(self.blocks, other.blocks),
            instructions: f(self.instructions, other.instructions),
            global: f(self.global, other.global),
            shared: f(self.shared, other.shared),
            mma: f(self.mma, other.mma),
            wgmma: f(self.wgmma, other.wgmma),
            barriers: f(self.barriers, other.barriers),
            waits: f(self.waits, other.waits),
            wavefronts: f(self.wavefronts, other.wavefronts),
            least_wavefronts: f(self.least_wavefronts, other.least_wavefronts),
            sectors: f(self.sectors, other.sectors),
            least_sectors: f(self.least_sectors, other.least_sectors),
            global_bytes: f(self.global_bytes, other.global_bytes),
            shared_bytes: f(self.shared_bytes, other.shared_bytes),
            warnings: f(self.warnings, other.warnings),
        }
    }
}
