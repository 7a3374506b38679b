//! Kernels, instruction by instruction: a launch is recorded once, and every step is answered from the record.

mod class;
mod clock;
mod examples;
mod links;
mod named;
mod record;
mod recorder;
mod run;
mod shared;
mod state;
mod timeline;

use girih_notation::{FindingReport, LineReport};
use girih_programs::ENTRIES;
use serde::{Deserialize, Serialize};

use super::{Call, Nothing, calls};
use crate::Fault;
use class::Class;
use links::Link;
use run::{Request, Run};
use timeline::Stretch;

pub(super) const CALLS: &[Call] = calls! { "list" => list, "run" => run, "step" => state::step, "find" => state::find, "timeline" => timeline };

/// Why a kernel could not be run.
type Stop = Box<dyn std::error::Error + Send + Sync>;

/// What there is to run by name.
#[derive(Serialize)]
struct List {
    kernels: Vec<Choice>,
    /// Programs over tiles, with their small sizes.
    programs: Vec<Choice>,
    examples: &'static [examples::Example],
    /// How launches are written.
    help: [&'static str; 2],
}

#[derive(Serialize)]
struct Choice {
    name: &'static str,
    about: &'static str,
    sizes: Vec<(&'static str, i64)>,
}

fn list(_: Nothing) -> Result<List, Fault> {
    let small = |entry: &girih_programs::Entry| {
        entry.sizes().iter().map(|size| (size.name, size.small as i64)).collect()
    };
    Ok(List {
        kernels: named::KERNELS
            .iter()
            .map(|of| Choice { name: of.name, about: of.about, sizes: of.sizes.to_vec() })
            .collect(),
        programs: ENTRIES.iter().map(|of| Choice { name: of.name, about: "", sizes: small(of) }).collect(),
        examples: examples::EXAMPLES,
        help: [girih_notation::ARGUMENTS, girih_notation::LAUNCHES],
    })
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
    /// Bytes of shared memory.
    shared: usize,
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

fn run(request: Request) -> Result<serde_json::Value, Fault> {
    let run = run::get(&request)?;
    let Run { id, text, record, lines, findings, seeds } = &*run;
    let notice = record.cut.then(|| {
        format!(
            "the record ends after {} instructions of the block's warps; the launch went on",
            record.steps.len()
        )
    });
    let found = |finding| Found { report: FindingReport::from(finding), links: links::of(record, finding) };
    Ok(serde_json::to_value(Answer {
        run: id,
        kernel: &record.kernel,
        grid: record.grid,
        threads: record.threads,
        block: record.block,
        text,
        lines,
        warps: record.warps.iter().map(Vec::len).collect(),
        registers: record.registers.iter().map(|(name, ty)| [name.to_string(), ty.to_string()]).collect(),
        shared: record.shared.size(),
        classes: Class::ALL.iter().map(|class| [class.name(), class.about()]).collect(),
        findings: findings.iter().map(found).collect(),
        seeds,
        notice,
    })?)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Times {
    run: String,
    /// Whether the warps are shown beside each other, rather than in the simulator's order.
    beside: bool,
}

fn timeline(request: Times) -> Result<Vec<Vec<Stretch>>, Fault> {
    Ok(timeline::timeline(&known(&request.run)?.record, request.beside))
}

/// A run by its name.
fn known(id: &str) -> Result<std::sync::Arc<Run>, Fault> {
    run::find(id)
        .ok_or_else(|| Fault::new("no_run", format!("the run {id:?} is not kept any more: run it again")))
}
