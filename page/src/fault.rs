//! Why a call has no answer, as the page shows it.

use std::error::Error;

use girih_notation::marked::Marked;
use serde::Serialize;
use serde_json::Value;

/// Why a call has no answer: a kind for programs, a message for people, and what the page can point at.
///
/// Any error is a fault of the kind `"refused"` with the error's message.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fault {
    /// A stable name, such as `"parse"`, `"carry"` or `"no_call"`.
    pub kind: &'static str,
    /// What is wrong, and what would be accepted.
    pub message: String,
    /// The field of the request that is wrong, if one field is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<&'static str>,
    /// The place in the text of that field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
    /// An example that refutes the request, in the view's own terms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness: Option<Value>,
}

/// A place in a text, in the units in which JavaScript counts (UTF-16).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Span {
    /// The first unit.
    pub at: usize,
    /// The unit after the last; more than `at`, and one more than the text's length where something is missing at the end.
    pub end: usize,
}

impl Span {
    /// The place of bytes `at..end` of a text, of at least one unit.
    pub(crate) fn of_bytes(text: &str, at: usize, end: usize) -> Span {
        let units = |byte: usize| {
            let before = (0..=byte.min(text.len())).rev().find_map(|byte| text.get(..byte));
            before.map_or(0, |before| before.encode_utf16().count())
        };
        let at = units(at);
        Span { at, end: units(end).max(at + 1) }
    }
}

impl Fault {
    /// A fault of a kind, about the request as a whole.
    pub(crate) fn new(kind: &'static str, message: impl Into<String>) -> Fault {
        Fault { kind, message: message.into(), field: None, span: None, witness: None }
    }

    /// The fault of a text that is a field of the request.
    pub(crate) fn marked(error: &Marked, field: &'static str, text: &str) -> Fault {
        let fault = Fault::new("parse", error.message()).in_field(field);
        match error.at() {
            Some(at) => fault.at(Span::of_bytes(text, at, at + 1)),
            None => fault,
        }
    }

    /// The fault, of a field of the request.
    pub(crate) fn in_field(self, field: &'static str) -> Fault {
        Fault { field: Some(field), ..self }
    }

    /// The fault, at a place of the field's text.
    pub(crate) fn at(self, span: Span) -> Fault {
        Fault { span: Some(span), ..self }
    }
}

impl<E: Error> From<E> for Fault {
    fn from(error: E) -> Fault {
        Fault::new("refused", error.to_string())
    }
}
