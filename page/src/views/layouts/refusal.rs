//! Expressions that have no value: where, why, and the coordinates that show why.

use std::collections::HashMap;

use girih_layout::Error;
use girih_notation::expr::{ExprError, ExprErrorKind};
use girih_notation::ops::OpError;
use serde::Serialize;

use super::Colours;
use super::panel::{Panel, arguments};
use crate::{Fault, Span};

/// The arguments of a call that is refused, and what of them shows why.
#[derive(Serialize)]
struct Shown {
    panels: Vec<Panel>,
    marks: Vec<Mark>,
    /// What the marks show.
    says: Option<String>,
}

/// Cells of a panel.
#[derive(Serialize)]
struct Mark {
    panel: usize,
    cells: Vec<i64>,
}

pub(super) fn fault(error: &ExprError, text: &str, colours: &Colours) -> Fault {
    let kind = match &error.kind {
        ExprErrorKind::Expected(_) => "parse",
        ExprErrorKind::UnknownOperation(_) => "unknown_operation",
        ExprErrorKind::Arguments(_) => "arguments",
        ExprErrorKind::Op(error) => error.kind(),
    };
    let blanks = text.len() - text.trim_start().len();
    let span = Span::of_bytes(text, blanks + error.at, blanks + error.end);
    let fault = Fault::new(kind, error.message()).in_field("expression").at(span);
    let Some(call) = &error.call else { return fault };
    let panels = arguments(call, text.trim(), colours);
    if panels.is_empty() {
        return fault;
    }
    let (marks, says) = match &error.kind {
        ExprErrorKind::Op(error) => marks(error, &panels).unwrap_or_default(),
        _ => Default::default(),
    };
    Fault { witness: serde_json::to_value(Shown { panels, marks, says }).ok(), ..fault }
}

/// The cells that show why an operation refuses its arguments.
fn marks(error: &OpError, panels: &[Panel]) -> Option<(Vec<Mark>, Option<String>)> {
    let OpError::Layout { source } = error else { return None };
    let (layout, table) = panels.first()?.drawn()?;
    match source {
        Error::Carry { witness: Some(witness), .. } | Error::NoLayout { witness: Some(witness), .. } => {
            let (inner, beside) = panels.get(1)?.drawn()?;
            let between = inner.at(witness.coord).ok()?;
            let mut marks = vec![Mark { panel: 1, cells: vec![beside.cell(witness.coord)] }];
            let mut says = format!("{} at coordinate {} is {between}", panels[1].name, witness.coord);
            if layout.at(between) == Ok(witness.expected) {
                marks.push(Mark { panel: 0, cells: vec![table.cell(between)] });
                says += &format!(
                    ", and {} there is {}; a layout that has the values before would have {}",
                    panels[0].name, witness.expected, witness.obtained
                );
            }
            Some((marks, Some(says)))
        }
        Error::Overlap { .. } => {
            let mut owners: HashMap<i64, i64> = HashMap::new();
            let size = layout.layout().size().ok()?.get()?;
            let shared = (0..size).find_map(|at| {
                let index = layout.at(at).ok()?;
                Some((index, owners.insert(index, at)?, at))
            });
            let (index, one, other) = shared?;
            let says = format!("coordinates {one} and {other} of {} share the index {index}", panels[0].name);
            Some((vec![Mark { panel: 0, cells: vec![table.cell(one), table.cell(other)] }], Some(says)))
        }
        _ => None,
    }
}
