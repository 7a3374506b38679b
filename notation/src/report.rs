//! The counts and findings of the simulator, and the costs of accesses, for JSON.

use girih_codegen::plan::{Pieces, Traffic};
use girih_sim::{Finding, Line, Site};
use serde::Serialize;

/// The counts of an instruction, for JSON.
#[derive(Clone, Debug, Serialize)]
pub struct LineReport {
    line: u32,
    /// The source line of the instruction, and the lines into which the source line was inlined.
    source: Option<String>,
    instruction: String,
    class: &'static str,
    executed: u64,
    waits: u64,
    wavefronts: u64,
    least_wavefronts: u64,
    sectors: u64,
    least_sectors: u64,
    global_bytes: u64,
    shared_bytes: u64,
    flops: u64,
}

impl From<&Line> for LineReport {
    fn from(line: &Line) -> LineReport {
        let counts = line.counts;
        LineReport {
            line: line.line,
            source: line.origin.as_ref().map(|origin| origin.to_string()),
            instruction: line.instruction.to_string(),
            class: line.class.name(),
            executed: counts.instructions,
            waits: counts.waits,
            wavefronts: counts.wavefronts,
            least_wavefronts: counts.least_wavefronts,
            sectors: counts.sectors,
            least_sectors: counts.least_sectors,
            global_bytes: counts.global_bytes,
            shared_bytes: counts.shared_bytes,
            flops: line.flops,
        }
    }
}

/// A finding, for JSON.
#[derive(Clone, Debug, Serialize)]
pub struct FindingReport {
    /// The name of the kind, which stays the same from version to version.
    kind: &'static str,
    severity: String,
    /// Whether it is wrong by the ISA, and does no harm on any GPU.
    formal: bool,
    /// For how many pairs of instructions of the same source lines it is told.
    count: u64,
    /// The seed of the first execution that has the finding.
    seed: u64,
    message: String,
    /// The address in its state space.
    address: Option<u64>,
    /// The address as a variable and an index, or as an argument and an index.
    name: Option<String>,
    /// The instructions and threads that take part; the first is where the finding was made.
    places: Vec<PlaceReport>,
}

#[derive(Clone, Debug, Serialize)]
struct PlaceReport {
    kernel: String,
    line: u32,
    /// The source line, and the lines into which the source line was inlined, if `.loc`s of the PTX say so.
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
        let Finding { error, severity, seed, name, count } = finding;
        FindingReport {
            kind: error.kind(),
            severity: severity.to_string(),
            formal: error.is_formal(),
            count: *count,
            seed: *seed,
            message: error.to_string(),
            address: error.address(),
            name: name.as_ref().map(ToString::to_string),
            places: error.sites().map(PlaceReport::from).collect(),
        }
    }
}

/// The costs of a partition's accesses, for JSON.
#[derive(Clone, Debug, Serialize)]
pub struct TrafficReport {
    accesses: usize,
    vector: i64,
    widest: i64,
    limit: String,
    wavefronts: PiecesReport,
    sectors: PiecesReport,
    conflict: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
struct PiecesReport {
    taken: i64,
    least: i64,
}

impl From<Pieces> for PiecesReport {
    fn from(Pieces { taken, least }: Pieces) -> Self {
        PiecesReport { taken, least }
    }
}

impl From<&Traffic> for TrafficReport {
    fn from(traffic: &Traffic) -> Self {
        let Traffic { accesses, vector, widest: (widest, limit), wavefronts, sectors, conflict } = traffic;
        TrafficReport {
            accesses: *accesses,
            vector: *vector,
            widest: *widest,
            limit: limit.to_string(),
            wavefronts: (*wavefronts).into(),
            sectors: (*sectors).into(),
            conflict: conflict.clone(),
        }
    }
}
