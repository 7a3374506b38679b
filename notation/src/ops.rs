//! The layout operations by name, as the conformance records, `girih eval` and `girih layout` call them.
//!
//! # Examples
//! ```
//! use serde_json::{Map, Value, json};
//!
//! let Value::Object(args) = json!({ "layout": "(2,(1,6)):(1,(6,2))" }) else { unreachable!("an object") };
//! assert_eq!(girih_notation::ops::evaluate("coalesce", &args)?, json!("12:1"));
//! assert!(girih_notation::ops::evaluate("coalesce", &Map::new()).is_err());
//! assert!(girih_notation::ops::find("no_such_operation").is_none());
//! # Ok::<(), girih_notation::ops::OpError>(())
//! ```

use std::cell::RefCell;

use girih_layout::Symbol;
use serde_json::{Map, Value};

mod args;
mod error;
mod table;

pub use args::Args;
pub use error::OpError;
use table::OPS;

type Result<T = Value> = std::result::Result<T, OpError>;

/// An operation: its name and the names of its arguments, in the order in which an expression gives them.
#[derive(Debug)]
pub struct Op {
    /// The name.
    pub name: &'static str,
    /// The arguments; one that begins with `?` may be left out.
    pub params: &'static [&'static str],
    run: fn(&Args<'_>) -> Result,
}

/// The operation with this name.
pub fn find(name: &str) -> Option<&'static Op> {
    OPS.iter().copied().flatten().find(|op| op.name == name)
}

/// All operations.
pub fn all() -> impl Iterator<Item = &'static Op> {
    OPS.iter().copied().flatten()
}

/// The answer of an operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The text of a layout or a coordinate, a number, a list of numbers, or `"true"` or `"false"`.
    pub value: Value,
    /// Notes on what the caller may have meant instead.
    pub notes: Vec<String>,
}

/// Calls an operation with named arguments. The result is the text of a layout or a coordinate, a number, a list of numbers, or `"true"` or
/// `"false"`.
///
/// # Errors
/// [`OpError`].
pub fn evaluate(name: &str, args: &Map<String, Value>) -> Result {
    evaluate_with(name, args, &[])
}

/// [`evaluate`] with facts about the symbols in the operands.
///
/// # Errors
/// [`OpError`].
pub fn evaluate_with(name: &str, args: &Map<String, Value>, facts: &[Symbol]) -> Result {
    answer(name, args, facts).map(|answer| answer.value)
}

/// [`evaluate_with`], which also returns notes for the caller.
///
/// # Errors
/// [`OpError`].
pub fn answer(name: &str, values: &Map<String, Value>, facts: &[Symbol]) -> Result<Answer> {
    let op = find(name).ok_or(OpError::Unsupported)?;
    let args = Args { values, facts, notes: RefCell::default() };
    let value = (op.run)(&args)?;
    Ok(Answer { value, notes: args.notes.into_inner() })
}
