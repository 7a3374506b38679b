//! The report of `girih sim` on a launch.

use std::collections::BTreeMap;
use std::fmt;

use girih_notation::{FindingReport, LineReport};
use girih_sim::{Launch, Options, Profile, Report, Verdict};
use serde::Serialize;

use crate::counts::Counts;
use crate::run::line;

/// A launch, what the launch has executed, and what was found.
#[derive(Serialize)]
pub(crate) struct SimReport {
    kernel: String,
    grid: [u32; 3],
    block: [u32; 3],
    /// The cluster that the arguments ask for.
    cluster: Option<[u32; 3]>,
    dynamic_shared_bytes: u32,
    checks: Vec<&'static str>,
    /// The first seed; the counts are those of the execution with this seed.
    seed: u64,
    /// The seeds of all executions.
    seeds: Vec<u64>,
    #[serde(flatten)]
    counts: Counts,
    matrix_flops: u64,
    /// How many warp instructions of each kind were executed.
    classes: BTreeMap<&'static str, u64>,
    /// The counts of each instruction, if `--lines` requests them.
    lines: Option<Vec<LineReport>>,
    /// The findings, one for each kind and pair of source lines.
    findings: Vec<FindingReport>,
    /// How many more findings there are than `--limit` allows to report.
    untold_findings: u64,
    errors: usize,
    warnings: usize,
    /// Whether there was no error.
    passed: bool,
    #[serde(skip)]
    table: String,
}

impl SimReport {
    /// The report of a launch, with what each instruction has done if `told`.
    pub(crate) fn new(
        kernel: &str,
        launch: &Launch,
        options: &Options,
        verdict: &Verdict,
        (profile, told): (&Profile, bool),
    ) -> SimReport {
        let Verdict { report, findings, untold, seeds, .. } = verdict;
        let lines = profile.lines(kernel);
        let classes = profile.classes(kernel).into_iter().map(|(class, count)| (class.name(), count));
        let checks = [(options.races, "races"), (true, "bounds"), (options.uninitialised, "uninit")];
        SimReport {
            kernel: kernel.into(),
            grid: launch.grid,
            block: launch.block,
            cluster: launch.cluster,
            dynamic_shared_bytes: launch.dynamic_shared,
            checks: checks.into_iter().filter(|(on, _)| *on).map(|(_, name)| name).collect(),
            seed: options.seed,
            seeds: seeds.clone(),
            counts: Counts(*report),
            matrix_flops: lines.iter().map(|line| line.flops).sum(),
            classes: classes.collect(),
            lines: told.then(|| lines.iter().map(LineReport::from).collect()),
            findings: findings.iter().map(FindingReport::from).collect(),
            untold_findings: *untold,
            errors: verdict.errors().count(),
            warnings: verdict.warnings().count(),
            passed: verdict.passed(),
            table: if told { profile.to_string() } else { String::new() },
        }
    }
}

impl SimReport {
    pub(crate) fn passed(&self) -> bool {
        self.passed
    }

    /// The last line of the report.
    fn outcome(&self) -> String {
        let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        let warnings = (self.warnings > 0).then(|| count(self.warnings, "warning"));
        let untold = if self.untold_findings > 0 { ", and more that are not reported" } else { "" };
        match (self.passed, warnings) {
            (true, None) => "PASSED".into(),
            (true, Some(warnings)) => format!("PASSED with {warnings}{untold}"),
            (false, None) => format!("FAILED with {}{untold}", count(self.errors, "error")),
            (false, Some(warnings)) => {
                format!("FAILED with {}, {warnings}{untold}", count(self.errors, "error"))
            }
        }
    }
}

impl fmt::Display for SimReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let extents = |[x, y, z]: [u32; 3]| format!("{x} x {y} x {z}");
        line(f, "kernel", girih_sim::plain_name(&self.kernel))?;
        line(f, "grid", format_args!("{} blocks of {} threads", extents(self.grid), extents(self.block)))?;
        let seeds: Vec<_> = self.seeds.iter().map(u64::to_string).collect();
        let (checks, s) = (self.checks.join(", "), if seeds.len() == 1 { "" } else { "s" });
        line(f, "checks", format_args!("{checks}; seed{s} {}", seeds.join(", ")))?;
        let Counts(report) = &self.counts;
        let Report { instructions, global, shared, mma, barriers, waits, .. } = report;
        let text = format_args!(
            "{instructions} warp instructions: {global} on global memory, {shared} on shared memory, {mma} mma, \
             {barriers} barriers, {waits} waits"
        );
        line(f, "executed", text)?;
        let Report { wavefronts, least_wavefronts, sectors, least_sectors, .. } = report;
        let classes: Vec<_> = self.classes.iter().map(|(class, count)| format!("{count} {class}")).collect();
        if !classes.is_empty() {
            line(f, "", classes.join(", "))?;
        }
        let Report { shared_bytes, global_bytes, .. } = report;
        let text =
            format_args!("{shared_bytes} bytes in {wavefronts} wavefronts, at least {least_wavefronts}");
        line(f, "shared memory", text)?;
        line(
            f,
            "global memory",
            format_args!("{global_bytes} bytes in {sectors} sectors, at least {least_sectors}"),
        )?;
        if self.matrix_flops > 0 {
            line(f, "matrices", format_args!("{} multiplications and additions", self.matrix_flops))?;
        }
        f.write_str(&self.table)?;
        writeln!(f, "{}", self.outcome())
    }
}
