//! Records of the layout algebra, as `testdata/layout-SCHEMA.md` has them.

use girih_notation::facts::Facts;
use girih_notation::ops::{self, Answer, OpError};
use serde_json::{Value, json};

/// Answers a line, which is a record as JSON: a line of JSON with `id` and `result`, `error` or `unsupported`.
///
/// ```
/// use serde_json::json;
/// let line = br#"{"id": 1, "op": "coalesce", "args": {"layout": "(4,8):(1,4)"}}"#;
/// assert_eq!(girih_conformance::layouts::answer(line), json!({ "id": 1, "result": "32:1" }));
/// ```
pub fn answer(line: &[u8]) -> Value {
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
