//! The report of what was executed.

use std::fmt;

/// The struct of counts, from the one list of them.
macro_rules! counts {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// The counts of a launch. An instruction counts once for each warp in which at least one lane executes it.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Report {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl Report {
            /// The names of the counts.
            ///
            /// ```
            /// assert_eq!(girih_sim::Report::NAMES[..2], ["blocks", "instructions"]);
            /// ```
            pub const NAMES: &[&str] = &[$(stringify!($name)),*];

            /// The counts, each with its name.
            ///
            /// ```
            /// let counts = girih_sim::Report::default().counts();
            /// assert!(counts.map(|(name, _)| name).eq(girih_sim::Report::NAMES.iter().copied()));
            /// ```
            pub fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
                [$((stringify!($name), self.$name)),*].into_iter()
            }

            /// The report of counts in the order of [`Report::NAMES`]; those that are left out are 0.
            ///
            /// ```
            /// assert_eq!(girih_sim::Report::of_counts([2, 7]).instructions, 7);
            /// ```
            pub fn of_counts(counts: impl IntoIterator<Item = u64>) -> Report {
                let mut counts = counts.into_iter();
                Report { $($name: counts.next().unwrap_or(0)),* }
            }

            fn with(&self, other: &Report, f: fn(u64, u64) -> u64) -> Report {
                Report { $($name: f(self.$name, other.$name)),* }
            }
        }
    };
}

counts! {
    /// Blocks executed.
    blocks,
    /// Warp instructions executed.
    instructions,
    /// Warp instructions that read or wrote global memory, `cp.async` included.
    global,
    /// Warp instructions that read or wrote shared memory, `ldmatrix` and `cp.async` included.
    shared,
    /// `mma` warp instructions.
    mma,
    /// `wgmma` warp instructions, four for each product.
    wgmma,
    /// Arrivals of warps at barriers, and of threads at mbarriers.
    barriers,
    /// Times that a warp, or some of its lanes, came to a barrier or an mbarrier's phase and had to wait.
    waits,
    /// Wavefronts of shared memory, with [`Options::counts`](crate::Options::counts), bank conflicts included. An access takes one for each of
    /// its parts (the warp; halves or quarters of the warp for accesses of 8 and 16 bytes a lane; or a matrix of
    /// `ldmatrix`), and one more for every further word that it needs from its busiest bank.
    wavefronts,
    /// Wavefronts that the same accesses would take without bank conflicts.
    least_wavefronts,
    /// Sectors of 32 bytes of global memory that the accesses touch, with [`Options::counts`](crate::Options::counts).
    sectors,
    /// The least number of sectors that could hold the accessed bytes.
    least_sectors,
    /// Bytes of global memory that lanes and bulk copies access, with [`Options::counts`](crate::Options::counts).
    global_bytes,
    /// Bytes of shared memory that lanes access, with [`Options::counts`](crate::Options::counts). Those of bulk copies and of `wgmma`'s
    /// descriptors are not counted.
    shared_bytes,
    /// The number of warnings, where each kind and pair of source lines counts once.
    warnings,
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
}

/// In one line: `96 warp instructions by 4 blocks: 12 global, 0 shared, 0 mma, 0 wgmma, 0 barriers`.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { blocks, instructions, global, shared, mma, wgmma, barriers, .. } = self;
        write!(
            f,
            "{instructions} warp instructions by {blocks} blocks: {global} global, {shared} shared, {mma} mma, {wgmma} wgmma, \
             {barriers} barriers"
        )
    }
}
