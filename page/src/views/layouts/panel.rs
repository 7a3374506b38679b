//! The layouts of an expression, each with a name and a table.

use girih_layout::{Composed, Symbol};
use girih_notation::expr::Step;
use girih_notation::marked;
use girih_notation::ops::Op;
use girih_picture::without_identity;
use serde::Serialize;

use super::Colours;
use super::links::{Path, paths};
use super::table::Table;

/// More tables than these are not drawn, which are the last ones.
const MOST: usize = 8;

/// Arguments of operations that are layouts, even if they are written as shapes alone.
const OPERANDS: [&str; 7] = ["a", "b", "block", "by", "layout", "swizzled", "tiler"];

/// A layout of the expression.
#[derive(Serialize)]
pub(super) struct Panel {
    /// A letter.
    pub(super) name: String,
    /// The part of the expression, with the letters of arguments in place of these.
    part: String,
    /// The layout.
    value: String,
    table: Option<Table>,
    /// Why there is no table.
    why: Option<String>,
    /// How cells come from those of panels before.
    paths: Vec<Path>,
    #[serde(skip)]
    pub(super) layout: Composed,
}

impl Panel {
    /// The layout and its table, if there is one.
    pub(super) fn drawn(&self) -> Option<(&Composed, &Table)> {
        self.table.as_ref().map(|table| (&self.layout, table))
    }
}

/// The layouts among steps and their arguments, arguments first.
pub(super) fn panels(steps: &[&Step], source: &str, facts: &[Symbol], colours: &Colours) -> Vec<Panel> {
    let mut panels = Vec::new();
    for step in steps {
        add(step, source, facts, colours, &mut panels);
    }
    panels
}

/// The layouts among the arguments of a call that has no value.
pub(super) fn arguments(
    (op, args): &(&'static Op, Vec<Step>),
    source: &str,
    colours: &Colours,
) -> Vec<Panel> {
    let operands = op.params.iter().zip(args).filter(|(param, step)| is_operand(param, step));
    let operands: Vec<&Step> = operands.map(|(_, step)| step).collect();
    panels(&operands, source, &[], colours)
}

fn is_operand(param: &str, step: &Step) -> bool {
    step.call.is_some()
        || step.value.contains(':')
        || (OPERANDS.contains(&param) && step.value.starts_with('('))
}

/// Adds the panels of a step; the number of the step's own panel, if the step is a layout.
fn add(
    step: &Step,
    source: &str,
    facts: &[Symbol],
    colours: &Colours,
    panels: &mut Vec<Panel>,
) -> Option<usize> {
    let mut args = Vec::new();
    if let Some((op, steps)) = &step.call {
        for (param, argument) in op.params.iter().zip(steps) {
            let operand = is_operand(param.trim_start_matches('?'), argument);
            args.push(if operand { add(argument, source, facts, colours, panels) } else { None });
        }
    }
    // Numbers and coordinates can be parsed as layouts too, but only a result with a stride is a layout.
    let is_layout = step.call.is_none() || step.value.contains(':');
    let layout = is_layout.then(|| marked::composed(&step.value).ok()).flatten()?;
    if panels.len() == MOST {
        return None;
    }
    let part = match &step.call {
        None => source.get(step.span.clone()).unwrap_or(&step.value).to_owned(),
        Some((op, steps)) => {
            let texts =
                args.iter().zip(steps).map(|(panel, step)| match panel.and_then(|at| panels.get(at)) {
                    Some(panel) => panel.name.clone(),
                    None => step.value.clone(),
                });
            format!("{}({})", op.name, texts.collect::<Vec<_>>().join(", "))
        }
    };
    let (table, why) = match Table::new(&layout, colours) {
        Ok(table) => (Some(table), None),
        Err(why) => (None, Some(why)),
    };
    let paths = match (&step.call, &table) {
        (Some(call), Some(table)) => paths(call, &args, (&layout, table), facts, panels),
        _ => Vec::new(),
    };
    let name = char::from(b'A' + panels.len() as u8).to_string();
    panels.push(Panel { name, part, value: without_identity(&layout), table, why, paths, layout });
    Some(panels.len() - 1)
}
