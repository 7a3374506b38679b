//! Expressions of `girih layout`, as tables.

use girih_layout::{Composed, Lay, Swizzle};
use serde::{Deserialize, Serialize};

use super::{Call, calls};
use crate::{Fault, Span};

pub(super) const CALLS: &[Call] = calls! { "evaluate" => evaluate };

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    /// A layout, or a call of an operation.
    expression: String,
}

#[derive(Serialize)]
struct Answer {
    /// The result.
    text: String,
    /// What the caller may have meant instead.
    notes: Vec<String>,
    /// The result as a table, if it is a layout whose size is known.
    table: Option<Table>,
}

#[derive(Serialize)]
struct Table {
    rows: i64,
    columns: i64,
    /// The index of every cell, row by row.
    values: Vec<i64>,
}

fn evaluate(request: Request) -> Result<Answer, Fault> {
    let text = &request.expression;
    let (value, notes) = girih_cli::expr::evaluate_with(text, &[]).map_err(|error| {
        Fault::new("expression", error.to_string()).in_field("expression").at(Span::of_bytes(
            text,
            error.at,
            error.at + 1,
        ))
    })?;
    let layout = value.contains(':').then(|| Lay::parse(&value).ok()).flatten();
    let table = match layout {
        Some(layout) => Some(table(&Composed::new(Swizzle::NONE, 0, layout))?),
        None => None,
    };
    Ok(Answer { text: value, notes, table })
}

fn table(layout: &Composed) -> Result<Table, Fault> {
    let size = |lay: &Lay| lay.size().map_err(Fault::from).map(|size| size.get().unwrap_or(0));
    let all = size(layout.layout())?;
    let rows = if layout.layout().rank() > 1 { size(&layout.layout().mode(0)?)? } else { 1 };
    let columns = all / rows.max(1);
    let values = (0..rows).flat_map(|row| (0..columns).map(move |column| row + rows * column));
    let values = values.map(|at| layout.at(at)).collect::<Result<_, _>>()?;
    Ok(Table { rows, columns, values })
}
