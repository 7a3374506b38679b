//! How `girih sim` judges a launch: its arguments, and what it tells of each finding.

use girih_sim::{Deny, Error as Found, Finding, Options, Site};
use serde::Serialize;

/// What is executed how often, and what counts as an error.
#[derive(clap::Args)]
pub(crate) struct VerdictArgs {
    /// The first seed: in which order warps run and when asynchronous operations take effect; with 0 warps run in turn
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How many seeds are tried, from --seed on, each on the memory that the first began with
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..))]
    seeds: u32,
    /// The most warp instructions that a cluster of blocks may execute
    #[arg(long, default_value_t = 1 << 30)]
    steps: u64,
    /// Warnings that count as errors: `warnings` for all, or their kinds
    #[arg(long, value_delimiter = ',', value_parser = denied)]
    deny: Vec<String>,
    /// How many errors, and how many warnings, are told at most
    #[arg(long, default_value_t = 100)]
    limit: usize,
    /// Multiprocessors of the GPU: they decide how many blocks are there at a time, and so can wait for one another
    #[arg(long, default_value_t = 132, value_parser = clap::value_parser!(u32).range(1..))]
    multiprocessors: u32,
}

/// What `--deny` takes for all warnings.
const WARNINGS: &str = "warnings";

fn denied(text: &str) -> Result<String, String> {
    if text == WARNINGS || Found::WARNINGS.contains(&text) {
        return Ok(text.into());
    }
    Err(format!("expected {WARNINGS}, or of these: {}", Found::WARNINGS.join(", ")))
}

impl VerdictArgs {
    /// These options, with what the arguments say.
    pub(crate) fn options(&self, options: Options) -> Options {
        let &VerdictArgs { seed, seeds, steps, limit, multiprocessors, .. } = self;
        let deny = match &self.deny[..] {
            [] => Deny::Nothing,
            all if all.iter().any(|kind| kind == WARNINGS) => Deny::Warnings,
            kinds => Deny::Kinds(kinds.into()),
        };
        let (steps, limit, multiprocessors) = (Some(steps), Some(limit), Some(multiprocessors));
        Options { seed, seeds, steps, limit, multiprocessors, deny, ..options }
    }
}

/// A finding.
#[derive(Serialize)]
pub(crate) struct FindingReport {
    /// A name that stays the same from version to version.
    kind: &'static str,
    severity: String,
    /// The seed of the execution that was the first to find it.
    seed: u64,
    message: String,
    /// In its state space.
    address: Option<u64>,
    /// The address by variable and index, or by argument.
    name: Option<String>,
    /// The instructions and threads, that which was found first.
    places: Vec<PlaceReport>,
}

#[derive(Serialize)]
struct PlaceReport {
    kernel: String,
    line: u32,
    /// The source line, and where it was inlined, if the text tells.
    source: Option<String>,
    instruction: String,
    block: [u32; 3],
    thread: [u32; 3],
}

impl From<&Site> for PlaceReport {
    fn from(site: &Site) -> Self {
        let Site { place, block, thread } = site;
        let (kernel, instruction) = (place.kernel.to_string(), place.instruction.to_string());
        let source = place.origin.as_ref().map(|origin| origin.to_string());
        PlaceReport { kernel, line: place.line, source, instruction, block: *block, thread: *thread }
    }
}

impl From<&Finding> for FindingReport {
    fn from(finding: &Finding) -> Self {
        let Finding { error, severity, seed, name } = finding;
        FindingReport {
            kind: error.kind(),
            severity: severity.to_string(),
            seed: *seed,
            message: error.to_string(),
            address: error.address(),
            name: name.as_ref().map(ToString::to_string),
            places: error.sites().map(PlaceReport::from).collect(),
        }
    }
}
