//! `girih eval --jsonl`: evaluates layout operations or tile operations for other programs, one JSON object in each line.

use std::io::{self, BufRead, Write};
use std::process::ExitCode;

use girih_conformance::layouts;
use girih_conformance::tile::{self, Runner};
use serde_json::{Value, json};

use crate::CommandResult;

/// The arguments of `girih eval`.
#[derive(clap::Args)]
#[command(after_help = "\
Each line of standard input is {\"id\": ..., \"op\": \"coalesce\", \"args\": {\"layout\": \"(4,8):(1,4)\"}}; the field \
\"facts\" may say what is known of symbols: \"s0=at_least(1),divisible_by(8)\" or a list of such texts. Other fields are ignored.

The answer to a line is one line: {\"id\", \"result\"}, {\"id\", \"error\": {\"kind\", \"message\"}} or {\"id\", \"unsupported\": true}. \
Beside a result, the field \"notes\" says what may have been meant instead.

With --tile, each line is a record of the tile language, as testdata/tile-SCHEMA.md has them; the answer is {\"id\", \"result\"} with a \
result in the form of the schema's \"expect\", {\"id\", \"error\": {\"code\", \"message\"}} or {\"id\", \"unsupported\": true}.")]
pub(crate) struct Args {
    /// Evaluate records of the tile language instead of layout operations
    #[arg(long)]
    tile: bool,
    /// What runs the programs that records of the tile language become
    #[arg(long, requires = "tile", value_enum, default_value_t = On::Reference)]
    on: On,
    /// Read and write JSON, one record in each line (the only form)
    #[arg(long, visible_alias = "json", required = true)]
    jsonl: bool,
}

/// The device that runs programs of the tile language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum On {
    /// The reference evaluator, which defines what programs mean
    Reference,
    /// The simulator, with all its checks
    Sim,
    /// The first GPU
    Cuda,
}

/// The simulator's architecture, sm_90.
const SIM: u32 = 90;

pub(crate) fn run(args: Args) -> CommandResult {
    debug_assert!(args.jsonl, "clap requires it");
    let (input, output) = (io::stdin().lock(), io::stdout().lock());
    if args.tile {
        let runner = match args.on {
            On::Reference => Runner::Reference,
            On::Sim => Runner::Sim(SIM),
            On::Cuda => Runner::gpu()?,
        };
        answer_all(input, output, |line| match serde_json::from_slice(line) {
            Ok(record) => tile::answer(&record, &runner).line,
            Err(error) => json!({ "id": null, "error": { "code": "json", "message": error.to_string() } }),
        })?;
    } else {
        answer_all(input, output, layouts::answer)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Answers every line when it is read.
fn answer_all(
    mut input: impl BufRead,
    mut output: impl Write,
    answer: impl Fn(&[u8]) -> Value,
) -> io::Result<()> {
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        writeln!(output, "{}", answer(&line))?;
        output.flush()?;
        line.clear();
    }
    Ok(())
}
