//! What `girih sim` tells of a launch that passed.

use std::fmt;

use girih_sim::{Launch, Options, Report};
use serde::Serialize;

use crate::run::line;

/// The launch, and what it executed.
#[derive(Serialize)]
pub(crate) struct SimReport {
    kernel: String,
    grid: [u32; 3],
    block: [u32; 3],
    /// As asked for.
    cluster: Option<[u32; 3]>,
    dynamic_shared_bytes: u32,
    checks: Vec<&'static str>,
    seed: u64,
    blocks: u64,
    warp_instructions: u64,
    global: u64,
    shared: u64,
    mma: u64,
    barriers: u64,
    wavefronts: u64,
    least_wavefronts: u64,
    sectors: u64,
    least_sectors: u64,
    passed: bool,
}

impl SimReport {
    pub(crate) fn new(kernel: &str, launch: &Launch, options: &Options, report: &Report) -> SimReport {
        let checks = [(options.races, "races"), (true, "bounds"), (options.uninitialised, "uninit")];
        SimReport {
            kernel: kernel.into(),
            grid: launch.grid,
            block: launch.block,
            cluster: launch.cluster,
            dynamic_shared_bytes: launch.dynamic_shared,
            checks: checks.into_iter().filter(|(on, _)| *on).map(|(_, name)| name).collect(),
            seed: options.seed,
            blocks: report.blocks,
            warp_instructions: report.instructions,
            global: report.global,
            shared: report.shared,
            mma: report.mma,
            barriers: report.barriers,
            wavefronts: report.wavefronts,
            least_wavefronts: report.least_wavefronts,
            sectors: report.sectors,
            least_sectors: report.least_sectors,
            passed: true,
        }
    }
}

impl fmt::Display for SimReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let extents = |[x, y, z]: [u32; 3]| format!("{x} x {y} x {z}");
        line(f, "kernel", &self.kernel)?;
        line(f, "grid", format_args!("{} blocks of {} threads", extents(self.grid), extents(self.block)))?;
        line(f, "checks", format_args!("{}; seed {}", self.checks.join(", "), self.seed))?;
        let SimReport { warp_instructions, global, shared, mma, barriers, .. } = self;
        let text = format_args!(
            "{warp_instructions} warp instructions: {global} on global memory, {shared} on shared memory, {mma} mma, \
             {barriers} barriers"
        );
        line(f, "executed", text)?;
        let SimReport { wavefronts, least_wavefronts, sectors, least_sectors, .. } = self;
        line(f, "shared memory", format_args!("{wavefronts} wavefronts, at least {least_wavefronts}"))?;
        line(f, "global memory", format_args!("{sectors} sectors, at least {least_sectors}"))?;
        writeln!(f, "PASSED")
    }
}
