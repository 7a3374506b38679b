//! Layout expressions: `logical_divide((4,2,3):(2,1,8), 4:2)`, with calls as arguments of calls.
//!
//! ```
//! let value = girih_notation::expr::evaluate("composition((10,2):(16,4), (5,4):(1,5))")?;
//! assert_eq!(value, "(5,(2,2)):(16,(80,4))");
//! # Ok::<(), girih_notation::expr::ExprError>(())
//! ```

use std::fmt;
use std::ops::Range;

use girih_layout::{Composed, Error, Lay, Symbol};
use serde_json::{Map, Value};

use crate::marked::{Marked, is_swizzled};
use crate::names::{did_you_mean_of, near};
use crate::ops::{self, Answer, Op, OpError};

/// An error in an expression, with its position.
#[derive(Debug)]
pub struct ExprError {
    text: String,
    /// The byte of the expression at which the error is, counted from 0.
    pub at: usize,
    /// The byte after the last one of what is wrong: of the call that is refused, or the one after `at`.
    pub end: usize,
    /// The kind of the error.
    pub kind: ExprErrorKind,
    /// The call that is refused, if it is the operation that refuses.
    pub call: Option<(&'static Op, Vec<Step>)>,
}

/// The kind of an error in an expression.
#[derive(Debug)]
pub enum ExprErrorKind {
    /// Something else is expected.
    Expected(&'static str),
    /// There is no operation of this name.
    UnknownOperation(String),
    /// The operation takes other arguments.
    Arguments(&'static Op),
    /// The operation refuses its operands, or the text of an argument is malformed.
    Op(Box<OpError>),
}

impl ExprError {
    /// The error and the accepted text, without the expression.
    pub fn message(&self) -> String {
        match &self.kind {
            ExprErrorKind::Expected(what) => format!("expected {what}"),
            ExprErrorKind::UnknownOperation(name) => {
                let known = ops::all().map(|op| op.name).filter(|name| !name.starts_with("swizzle"));
                let meant = did_you_mean_of(&near(name, known), "girih list operations");
                format!("there is no operation {name:?}{meant}")
            }
            ExprErrorKind::Arguments(op) => {
                let params: Vec<_> = op.params.iter().map(|p| p.trim_start_matches('?')).collect();
                format!("the call is {}({})", op.name, params.join(", "))
            }
            ExprErrorKind::Op(error) => match &**error {
                OpError::Text { source, .. } => match **source {
                    Error::Parse { expected, .. } => format!("expected {expected}"),
                    other => other.to_string(),
                },
                error => error.to_string(),
            },
        }
    }
}

impl fmt::Display for ExprError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Marked::new(self.message(), &self.text, self.at).fmt(f)
    }
}

impl std::error::Error for ExprError {}

/// A part of an expression with its value.
#[derive(Clone, Debug)]
pub struct Step {
    /// The bytes of the expression.
    pub span: Range<usize>,
    /// The operation and the arguments, if the part is a call.
    pub call: Option<(&'static Op, Vec<Step>)>,
    /// The text of a layout, a coordinate, a number or a truth value; an argument that is no call is as it is written.
    pub value: String,
}

/// Calls are within each other this deep at most, so that the stack of any thread is enough.
const DEPTH: usize = 64;

/// A call that was read from a text: each argument with its place in the text.
struct Call<'a> {
    name: &'a str,
    args: Vec<(usize, &'a str)>,
}

/// Evaluates an expression: a layout, or a call of an operation of [`ops`] by name with arguments in order. The result is the text of a
/// layout, a coordinate, a number or a truth value.
///
/// # Errors
/// [`ExprError`], which points at the place of the error.
pub fn evaluate(text: &str) -> Result<String, ExprError> {
    evaluate_with(text, &[]).map(|(value, _)| value)
}

/// [`evaluate`] with facts about the symbols in the expression. Besides the result, this returns notes on what the caller may have meant
/// instead.
///
/// # Errors
/// [`ExprError`].
pub fn evaluate_with(text: &str, facts: &[Symbol]) -> Result<(String, Vec<String>), ExprError> {
    steps(text, facts).map(|(step, notes)| (step.value, notes))
}

/// [`evaluate_with`] that also returns the values of all parts of the expression.
///
/// ```
/// let (step, _) = girih_notation::expr::steps("coalesce(logical_divide((4,2,3):(2,1,8), 4:2))", &[])?;
/// let (op, args) = step.call.as_ref().expect("a call");
/// assert_eq!((op.name, &*args[0].value, args[0].span.clone()), ("coalesce", "((2,2),(2,3)):((4,1),(2,8))", 9..45));
/// # Ok::<(), girih_notation::expr::ExprError>(())
/// ```
///
/// # Errors
/// [`ExprError`].
pub fn steps(text: &str, facts: &[Symbol]) -> Result<(Step, Vec<String>), ExprError> {
    let text = text.trim();
    let mut notes = Vec::new();
    let step = value(text, facts, &mut notes).map_err(|Misplaced { at, end, kind, call }| ExprError {
        text: text.to_owned(),
        at,
        end,
        kind,
        call,
    })?;
    Ok((step, notes))
}

/// An error, with the range of bytes.
struct Misplaced {
    at: usize,
    end: usize,
    kind: ExprErrorKind,
    call: Option<(&'static Op, Vec<Step>)>,
}

impl Misplaced {
    /// Something that is wrong at one byte.
    fn at(at: usize, kind: ExprErrorKind) -> Misplaced {
        Misplaced { at, end: at + 1, kind, call: None }
    }
}

type Located<T> = Result<T, Misplaced>;

fn value(text: &str, facts: &[Symbol], notes: &mut Vec<String>) -> Located<Step> {
    match read_call(text, 0)? {
        Some(call) => run(&call, (0, 0), text, facts, notes),
        None => {
            let parsed = if is_swizzled(text) {
                Composed::parse(text).map(|composed| composed.to_string())
            } else {
                Lay::parse(text).map(|layout| layout.to_string())
            };
            let value = parsed.map_err(|error| Misplaced::at(place(error, 0), layout_error(error, text)))?;
            Ok(Step { span: 0..text.len(), call: None, value })
        }
    }
}

/// Runs the call that is in `text` from byte `base` of the expression on, within `depth` other calls.
fn run(
    call: &Call<'_>,
    (base, depth): (usize, usize),
    text: &str,
    facts: &[Symbol],
    notes: &mut Vec<String>,
) -> Located<Step> {
    if depth >= DEPTH {
        return Err(Misplaced::at(base, ExprErrorKind::Expected("at most 64 calls within each other")));
    }
    let span = base..base + text.len();
    let name =
        if call.name == "complement" && call.args.len() == 1 { "complement_default" } else { call.name };
    let op = ops::find(name).ok_or_else(|| Misplaced {
        end: base + call.name.len(),
        ..Misplaced::at(base, ExprErrorKind::UnknownOperation(call.name.to_owned()))
    })?;
    let required = op.params.iter().filter(|param| !param.starts_with('?')).count();
    if call.args.len() < required || call.args.len() > op.params.len() {
        return Err(Misplaced { end: span.end, ..Misplaced::at(base, ExprErrorKind::Arguments(op)) });
    }
    let mut steps = Vec::new();
    for (at, text) in &call.args {
        steps.push(match read_call(text, *at)? {
            Some(inner) => run(&inner, (*at, depth + 1), text, facts, notes)?,
            None => Step { span: *at..*at + text.len(), call: None, value: (*text).to_owned() },
        });
    }
    let named =
        op.params.iter().zip(&steps).map(|(param, step)| {
            (param.trim_start_matches('?').to_owned(), Value::String(step.value.clone()))
        });
    match ops::answer(op.name, &named.collect::<Map<_, _>>(), facts) {
        Ok(Answer { value, notes: more }) => {
            notes.extend(more);
            let value = match value {
                Value::String(text) => text,
                other => other.to_string(),
            };
            Ok(Step { span, call: Some((op, steps)), value })
        }
        Err(error) => {
            let argument = match &error {
                OpError::Text { name, .. } | OpError::Args { name, .. } => {
                    op.params.iter().position(|param| param.trim_start_matches('?') == name)
                }
                _ => None,
            };
            let (at, end) = match (argument.and_then(|i| steps.get(i)), &error) {
                (Some(Step { span, call: None, .. }), OpError::Text { source, .. }) => {
                    let at = place(**source, span.start);
                    (at, at + 1)
                }
                (Some(step), _) => (step.span.start, step.span.end),
                (None, _) => (span.start, span.end),
            };
            Err(Misplaced { at, end, kind: ExprErrorKind::Op(Box::new(error)), call: Some((op, steps)) })
        }
    }
}

fn layout_error(source: Error, text: &str) -> ExprErrorKind {
    let (name, text) = (String::from("layout"), text.to_owned());
    ExprErrorKind::Op(Box::new(OpError::Text { name, text, source: Box::new(source) }))
}

/// The place of an error in a text that begins at `base`.
fn place(error: Error, base: usize) -> usize {
    match error {
        Error::Parse { at, .. } => base + at,
        _ => base,
    }
}

/// The name of the operation, if the text begins with a call of an operation. `ceil` and symbols belong to layouts.
fn operation(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let word = name.starts_with(|c: char| c.is_ascii_alphabetic()) && name != "ceil";
    (word && rest.trim_start().starts_with('(')).then_some(name)
}

fn read_call(text: &str, base: usize) -> Located<Option<Call<'_>>> {
    let Some(name) = operation(text) else { return Ok(None) };
    let open = text[name.len()..].find('(').map_or(name.len(), |gap| name.len() + gap);
    let (mut depth, mut begin, mut args) = (0usize, open + 1, Vec::new());
    for (i, c) in text.char_indices().skip_while(|(i, _)| *i < open) {
        match c {
            '(' | '<' => depth += 1,
            ')' | '>' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    push(&mut args, text, begin, i, base);
                    let rest = &text[i + 1..];
                    if rest.trim().is_empty() {
                        return Ok(Some(Call { name, args }));
                    }
                    let blanks = rest.len() - rest.trim_start().len();
                    let expected = ExprErrorKind::Expected("the end of the expression");
                    return Err(Misplaced::at(base + i + 1 + blanks, expected));
                }
            }
            ',' if depth == 1 => {
                push(&mut args, text, begin, i, base);
                begin = i + 1;
            }
            _ => {}
        }
    }
    Err(Misplaced::at(base + text.len(), ExprErrorKind::Expected("')'")))
}

fn push<'a>(args: &mut Vec<(usize, &'a str)>, text: &'a str, begin: usize, end: usize, base: usize) {
    let piece = &text[begin..end];
    let blanks = piece.len() - piece.trim_start().len();
    args.push((base + begin + blanks, piece.trim()));
}
