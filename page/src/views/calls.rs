//! The calls of the views, found by name.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{colours, kernels, layouts, partitions, tiles};
use crate::Fault;

/// A call of a view: its name, and the function of the body of a request.
pub(super) struct Call {
    pub(super) name: &'static str,
    pub(super) run: fn(&[u8]) -> Result<String, Fault>,
}

/// A list of calls: names, and functions from a request to an answer or a fault.
macro_rules! calls {
    ($($name:literal => $function:path),* $(,)?) => {
        &[$($crate::views::Call { name: $name, run: |body| $crate::views::answer(body, $function) }),*]
    };
}
pub(super) use calls;

/// A request without fields.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Nothing {}

/// Each view with its calls.
const VIEWS: &[(&str, &[Call])] = &[
    ("colours", colours::CALLS),
    ("kernels", kernels::calls::CALLS),
    ("layouts", layouts::CALLS),
    ("partitions", partitions::CALLS),
    ("tiles", tiles::CALLS),
];

/// The names of the views.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    VIEWS.iter().map(|known| known.0)
}

/// Answers a call of a view: JSON for JSON.
///
/// ```
/// let answer = girih_page::call("layouts", "evaluate", br#"{"expression": "coalesce((2,3):(1,2))"}"#)?;
/// assert!(answer.contains(r#""text":"6:1""#));
/// # Ok::<(), girih_page::Fault>(())
/// ```
///
/// # Errors
/// A [`Fault`] of the kind `"no_view"`, `"no_call"` or `"request"` where the request is malformed, and what the call refuses.
pub fn call(view: &str, call: &str, body: &[u8]) -> Result<String, Fault> {
    let join = |names: Vec<&str>| names.join(", ");
    let known = VIEWS.iter().find(|known| known.0 == view);
    let (_, calls) = known.ok_or_else(|| {
        let views = join(names().collect());
        Fault::new("no_view", format!("there is no view {view:?}; the views are {views}"))
    })?;
    let known = calls.iter().find(|known| known.name == call);
    let known = known.ok_or_else(|| {
        let calls = join(calls.iter().map(|known| known.name).collect());
        Fault::new("no_call", format!("{view} has no call {call:?}; its calls are {calls}"))
    })?;
    (known.run)(body)
}

pub(super) fn answer<Q: DeserializeOwned, A: Serialize>(
    body: &[u8],
    function: fn(Q) -> Result<A, Fault>,
) -> Result<String, Fault> {
    let request = serde_json::from_slice(body).map_err(|error| Fault::new("request", error.to_string()))?;
    Ok(serde_json::to_string(&function(request)?)?)
}
