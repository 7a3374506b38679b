//! `girih eval --jsonl`: evaluates operations for other programs, one JSON object in each line: of layouts, or of tiles.

use std::io::{self, BufRead, Write};
use std::process::ExitCode;

use serde_json::{Value, json};

use crate::CommandResult;
use crate::facts::Facts;
use crate::ops::{self, Answer, OpError};
use crate::tile::{self, Runner};

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

/// What runs programs of the tile language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum On {
    /// The reference evaluator, which defines what programs mean
    Reference,
    /// The simulator, with all its checks
    Sim,
    /// The first GPU
    Cuda,
}

/// The architecture that the simulator is.
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
        answer_all(input, output, answer)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Answers every line as soon as the line is read.
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

fn answer(line: &[u8]) -> Value {
    let record: Value = match serde_json::from_slice(line) {
        Ok(record) => record,
        Err(error) => return failure(&Value::Null, "json", &error.to_string()),
    };
    let id = record.get("id").cloned().unwrap_or(Value::Null);
    let (Some(op), Some(args)) =
        (record.get("op").and_then(Value::as_str), record.get("args").and_then(Value::as_object))
    else {
        return failure(&id, "record", "a record has the fields \"id\", \"op\" (text) and \"args\" (object)");
    };
    let facts = match facts(record.get("facts")) {
        Ok(facts) => facts,
        Err(message) => return failure(&id, "facts", &message),
    };
    match ops::answer(op, args, facts.symbols()) {
        Ok(Answer { value, notes }) if notes.is_empty() => json!({ "id": id, "result": value }),
        Ok(Answer { value, notes }) => json!({ "id": id, "result": value, "notes": notes }),
        Err(OpError::Unsupported) => json!({ "id": id, "unsupported": true }),
        Err(error) => failure(&id, error.kind(), &error.to_string()),
    }
}

/// The facts of a record, whose field is one text or a list of texts.
fn facts(field: Option<&Value>) -> Result<Facts, String> {
    let texts = match field {
        None => return Ok(Facts::default()),
        Some(Value::Array(texts)) => texts.iter().map(Value::as_str).collect(),
        Some(other) => other.as_str().map(|text| vec![text]),
    };
    let mut facts = Facts::default();
    for text in texts.ok_or("\"facts\" must be text or a list of texts")? {
        facts.add(text).map_err(|error| error.to_string())?;
    }
    Ok(facts)
}

fn failure(id: &Value, kind: &str, message: &str) -> Value {
    json!({ "id": id, "error": { "kind": kind, "message": message } })
}
