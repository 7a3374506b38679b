//! Records of the tile language: each is built into a program, which a device or the reference evaluator runs.
//!
//! What the fields of a record and of an answer mean is written in `testdata/tile-SCHEMA.md`.
//!
//! # Examples
//! ```
//! use girih_conformance::tile::{Runner, answer};
//! use serde_json::json;
//!
//! let record = json!({
//!     "id": "r0", "group": "elementwise", "op": "add", "dialect": "python", "attrs": {},
//!     "inputs": [
//!         { "dtype": "i32", "shape": [2], "data": [1, 2] },
//!         { "dtype": "i32", "shape": [2], "data": [30, 40] },
//!     ],
//! });
//! assert_eq!(answer(&record, &Runner::Reference).line["result"]["data"], json!([31, 42]));
//! ```

mod array;
mod case;
mod device;
mod elements;
mod hints;
mod json;
mod memory;
mod over;
mod products;
mod programs;
mod record;
mod shapes;

use girih_device::ShortMemory;
use girih_tile::error::Fault;
use serde_json::{Value, json};

use case::Case;
pub use device::Runner;
pub use json::dtype;
use record::Record;

/// Why a record has no result.
enum Stop {
    /// It is refused, as it should be or not.
    Fault(Fault),
    /// The compiler refuses it, with this class, since no operation does what it asks for.
    Unwritten(&'static str),
    /// Its operation is not known.
    Unsupported,
    /// It is no record of the schema.
    Record(String),
    /// The program could not be run, or did what it must not.
    Run(String),
    /// The memory has no room for it.
    Memory(ShortMemory),
}

impl From<ShortMemory> for Stop {
    fn from(error: ShortMemory) -> Stop {
        Stop::Memory(error)
    }
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Stop {
        Stop::Fault(fault)
    }
}

/// What a record comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The line: `id`, and `result`, `error` or `unsupported`.
    pub line: Value,
    /// What atomic operations have returned, by element.
    pub returned: Option<Vec<Value>>,
}

/// Answers a record.
pub fn answer(record: &Value, runner: &Runner) -> Answer {
    let id = record.get("id").cloned().unwrap_or(Value::Null);
    let failure =
        |code: &str, message: &str| json!({ "id": id, "error": { "code": code, "message": message } });
    let line = match evaluate(record, runner) {
        Ok((result, returned)) => return Answer { line: json!({ "id": id, "result": result }), returned },
        Err(Stop::Fault(fault)) => failure(fault.code(), &fault.to_string()),
        Err(Stop::Unwritten(code)) => {
            failure(code, "no operation of the language does this: the compiler refuses the program")
        }
        Err(Stop::Unsupported) => json!({ "id": id, "unsupported": true }),
        Err(Stop::Record(message)) => failure("record", &message),
        Err(Stop::Run(message)) => failure("run", &message),
        Err(Stop::Memory(error)) => failure("memory", &error.to_string()),
    };
    Answer { line, returned: None }
}

fn evaluate(record: &Value, runner: &Runner) -> Result<(Value, Option<Vec<Value>>), Stop> {
    let record = Record::new(record)?;
    let mut case = Case::new(&record);
    let found = match record.group {
        "hint" | "staging" => hints::answer(&mut case, &record)?,
        "load" | "store" | "view" | "gather" | "scatter" | "atomic" => memory::answer(&mut case, &record)?,
        "program" => programs::answer(&mut case, &record)?,
        "reduce" | "scan" | "order" => over::answer(&mut case, &record)?,
        "shape" | "factory" | "bits" => shapes::answer(&mut case, &record)?,
        "mma" => products::answer(&mut case, &record)?,
        _ => elements::answer(&mut case, &record)?,
    };
    case.finish(found, runner)
}
