//! `girih explain`: why a problem gets the kernel that it gets, and what limits it, without a device.

mod attention;
mod decode;
mod model;

use std::fmt;
use std::process::ExitCode;

use girih_codegen::gemm::Schedule;
use girih_device::{Device, Limits, Select};
use girih_kernels::Roof;
use girih_kernels::gemm::{
    GemmConfig, KernelKind, Problem, choose, choose::Hardware, choose::reasons, described, least_seconds,
};
use serde::Serialize;

use crate::run::{line, print};
use crate::{CommandResult, gemm};

/// The arguments of `girih explain`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    kernel: Kernel,
}

#[derive(clap::Subcommand)]
enum Kernel {
    /// The kernel that `girih attention` runs for the same arguments on an H200
    #[command(after_help = crate::attention::ORDERS, args_conflicts_with_subcommands = true)]
    Attention {
        #[command(subcommand)]
        other: Option<Other>,
        #[command(flatten)]
        problem: Box<crate::attention::ProblemArgs>,
        /// SMs of the GPU
        #[arg(long, value_name = "COUNT", default_value_t = MULTIPROCESSORS, value_parser = clap::value_parser!(u32).range(1..))]
        multiprocessors: u32,
        /// Print one JSON object and nothing else
        #[arg(long)]
        json: bool,
    },
    /// The kernel that `girih gemm` runs for the same arguments on an H200
    #[command(after_help = gemm::LAYOUTS)]
    Gemm {
        #[command(flatten)]
        problem: gemm::ProblemArgs,
        /// SMs of the GPU
        #[arg(long, value_name = "COUNT", default_value_t = MULTIPROCESSORS, value_parser = clap::value_parser!(u32).range(1..))]
        multiprocessors: u32,
        /// Print one JSON object and nothing else
        #[arg(long)]
        json: bool,
    },
}

/// Attention of another kind than of all queries to all keys.
#[derive(clap::Subcommand)]
enum Other {
    /// The kernels that `girih attention decode` runs for the same arguments on an H200
    #[command(after_help = crate::attention::decode::EXAMPLES)]
    Decode {
        #[command(flatten)]
        problem: Box<crate::attention::decode::ProblemArgs>,
        /// SMs of the GPU
        #[arg(long, value_name = "COUNT", default_value_t = MULTIPROCESSORS, value_parser = clap::value_parser!(u32).range(1..))]
        multiprocessors: u32,
        /// Print one JSON object and nothing else
        #[arg(long)]
        json: bool,
    },
}

/// The architecture, the shared memory of a block and the SMs of an H200.
const SM: u32 = 90;
const SHARED: u32 = 227 << 10;
const MULTIPROCESSORS: u32 = 132;
/// Seconds from a kernel's start to its end, if it does next to nothing: blocks start, and the first tiles arrive.
const START: f64 = 3e-6;

pub(crate) fn run(args: Args) -> CommandResult {
    let (problem, multiprocessors, json) = match args.kernel {
        Kernel::Attention { other: Some(Other::Decode { problem, multiprocessors, json }), .. } => {
            let own = Device::open(Select::Sim)?;
            let limits = Limits { multiprocessors, ..own.limits().clone() };
            print(&decode::Report::new(&problem, &limits)?, json)?;
            return Ok(ExitCode::SUCCESS);
        }
        Kernel::Attention { problem, multiprocessors, json, .. } => {
            print(&attention::Report::new(&problem.without_files(0, false)?, multiprocessors)?, json)?;
            return Ok(ExitCode::SUCCESS);
        }
        Kernel::Gemm { problem, multiprocessors, json } => (problem, multiprocessors, json),
    };
    let chosen = problem.without_files()?;
    let kind = chosen.kind.unwrap_or(KernelKind::for_problem(&chosen.problem, SM));
    print(&Report::new(&chosen, kind, multiprocessors)?, json)?;
    Ok(ExitCode::SUCCESS)
}

/// What is chosen, why, and what the hardware allows.
#[derive(Serialize)]
struct Report {
    m: i64,
    n: i64,
    k: i64,
    batch: i64,
    dtype: &'static str,
    output: &'static str,
    layout: &'static str,
    multiprocessors: u32,
    config: String,
    reasons: Vec<Reason>,
    /// What the formulas of the choice say, where there are some.
    model: Option<model::Model>,
    tiles: Tiles,
    /// Microseconds, at the rates that the vendor states.
    products_us: f64,
    memory_us: f64,
    limit: &'static str,
    expected_us: f64,
}

#[derive(Serialize)]
struct Reason {
    what: &'static str,
    why: String,
}

/// How the tiles of C go into the SMs.
#[derive(Serialize)]
struct Tiles {
    count: i64,
    /// Blocks that share the K of a tile.
    parts: i64,
    /// How many tiles, or parts of one, the busiest SM computes.
    turns: i64,
    /// The share of the SMs that is busy, over all turns: all of them, where tiles are cut along K so that each has as much to do.
    busy: f64,
}

impl Tiles {
    fn new(problem: &Problem, config: &GemmConfig, multiprocessors: u32) -> Tiles {
        let [m, n, _] = problem.oriented(config.c_major).0.mnk();
        let tiles = |extent: i64, tile: i64| (extent + tile - 1) / tile.max(1);
        let count = (tiles(m, config.tile[0]) * tiles(n, config.tile[1])).saturating_mul(problem.batches());
        let parts = if let Schedule::SplitK { parts, .. } = config.schedule { parts } else { 1 };
        let (blocks, slots) = (count.saturating_mul(parts), i64::from(multiprocessors));
        let turns = tiles(blocks, slots);
        let busy = match config.schedule {
            _ if turns == 0 => 0.0,
            Schedule::StreamK { .. } => 1.0,
            _ => blocks as f64 / (turns as f64 * slots as f64),
        };
        Tiles { count, parts, turns, busy }
    }
}

impl Report {
    fn new(
        chosen: &gemm::Chosen,
        kind: KernelKind,
        multiprocessors: u32,
    ) -> Result<Report, girih_kernels::Error> {
        let problem = &chosen.problem;
        let hardware = Hardware { multiprocessors, shared: SHARED };
        let config = choose(problem, kind, hardware)?;
        let reasons = reasons(problem, kind, hardware)?;
        let tiles = Tiles::new(problem, &config, multiprocessors);
        let [products, memory] = least_seconds(&Roof::H200, problem);
        // A multiprocessor has its share of the products, and all have the memory together.
        let computed = if tiles.busy > 0.0 { products / tiles.busy } else { 0.0 };
        let (limit, expected) = match computed.max(memory) {
            most if most < START => ("start", START),
            most if most > memory => ("products", most),
            most => ("memory", most),
        };
        let [m, n, k] = problem.mnk();
        Ok(Report {
            m,
            n,
            k,
            batch: problem.batches(),
            dtype: problem.dtype().name(),
            output: problem.output().name(),
            layout: chosen.layout.name(),
            multiprocessors,
            config: described(&config),
            reasons: reasons.into_iter().map(|(what, why)| Reason { what, why }).collect(),
            model: model::Model::new(problem, &config, multiprocessors),
            tiles,
            products_us: products * 1e6,
            memory_us: memory * 1e6,
            limit,
            expected_us: expected * 1e6,
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { m, n, k, batch, dtype, output, layout, multiprocessors, tiles, .. } = self;
        let products = if *batch == 1 { String::new() } else { format!(" L={batch}") };
        line(
            f,
            "problem",
            format_args!("C = A * B, M={m} N={n} K={k}{products}, {dtype} to {output}, {layout}"),
        )?;
        line(f, "for", format_args!("an H200 with {multiprocessors} SMs"))?;
        for Reason { what, why } in &self.reasons {
            line(f, what, why)?;
        }
        line(f, "configuration", &self.config)?;
        self.model.iter().try_for_each(|model| model.fmt(f))?;
        let Tiles { count, parts, turns, busy } = tiles;
        let told = if *turns == 1 { "1 wave that keeps".into() } else { format!("{turns} waves that keep") };
        let shared = if *parts == 1 { String::new() } else { format!(", each in {parts} parts") };
        line(f, "tiles", format_args!("{count}{shared}, in {told} {:.0} % of the SMs busy", 100.0 * busy))?;
        line(
            f,
            "roofline",
            format_args!(
                "{:.2} us for the products, {:.2} us to read A and B and to write C once",
                self.products_us, self.memory_us
            ),
        )?;
        let expected = self.expected_us;
        match self.limit {
            "products" => line(
                f,
                "expected limit",
                format_args!("{expected:.2} us: the products, on the SMs that have a tile"),
            ),
            "memory" => line(f, "expected limit", format_args!("{expected:.2} us: the memory")),
            _ => line(
                f,
                "expected limit",
                format_args!("{expected:.2} us: the start of a kernel and the arrival of its first tiles"),
            ),
        }
    }
}
