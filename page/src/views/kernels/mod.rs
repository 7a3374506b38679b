//! Kernels, instruction by instruction: a block of a launch is recorded, and what the page shows of a step comes from the record.

mod access;
mod arrays;
#[cfg(feature = "server")]
pub(super) mod calls;
mod class;
mod clock;
#[cfg(feature = "server")]
mod examples;
mod image;
mod links;
#[cfg(feature = "server")]
mod named;
mod record;
mod recorder;
pub(crate) mod recording;
#[cfg(feature = "server")]
mod run;
mod state;
mod timeline;

use girih_notation::{FindingReport, LineReport};
use girih_sim::Finding;
use serde::Serialize;

use class::Class;
use image::Image;
use links::Link;
use record::Record;

/// A launch that has ended, and what was recorded of it.
struct Run {
    id: String,
    text: String,
    record: Record,
    lines: Vec<LineReport>,
    findings: Vec<Finding>,
    /// The seeds of the executions.
    seeds: Vec<u64>,
}

/// A run.
#[derive(Serialize)]
struct Answer<'a> {
    /// The name by which steps of the run are asked for.
    run: &'a str,
    kernel: &'a str,
    grid: [u32; 3],
    threads: [u32; 3],
    block: [u32; 3],
    text: &'a str,
    /// What each instruction has done, in all blocks.
    lines: &'a [LineReport],
    /// How many steps each warp of the block has.
    warps: Vec<usize>,
    registers: Vec<[String; 2]>,
    /// Shared memory, then arrays in global memory.
    memory: &'a [Image],
    classes: Vec<[&'static str; 2]>,
    findings: Vec<Found>,
    seeds: &'a [u64],
    /// What the record leaves out.
    notice: Option<String>,
}

#[derive(Serialize)]
struct Found {
    #[serde(flatten)]
    report: FindingReport,
    /// Where the steps of its places are, place by place.
    links: Vec<Link>,
}

impl<'a> Answer<'a> {
    fn of(run: &'a Run) -> Self {
        let Run { id, text, record, lines, findings, seeds } = run;
        let cut = record.cut.then(|| {
            format!(
                "the record ends after {} instructions of the block's warps; the launch went on",
                record.steps.len()
            )
        });
        let large = (!record.left_out.is_empty())
            .then(|| format!("not recorded, as each has more than 1 MB: {}", record.left_out.join(", ")));
        let notice = [cut, large].into_iter().flatten().reduce(|one, other| format!("{one}; {other}"));
        let found =
            |finding| Found { report: FindingReport::from(finding), links: links::of(record, finding) };
        Answer {
            run: id,
            kernel: &record.kernel,
            grid: record.grid,
            threads: record.threads,
            block: record.block,
            text,
            lines,
            warps: record.warps.iter().map(Vec::len).collect(),
            registers: record.registers.iter().map(|(name, ty)| [name.to_string(), ty.to_string()]).collect(),
            memory: &record.memory,
            classes: Class::ALL.iter().map(|class| [class.name(), class.about()]).collect(),
            findings: findings.iter().map(found).collect(),
            seeds,
            notice,
        }
    }
}
