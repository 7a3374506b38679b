//! How the cells of a result come from those of its operands. What is said of names of operations is not trusted: a path is one if the
//! values say so at every coordinate.

use girih_layout::{Composed, Lay, Symbol};
use girih_notation::expr::Step;
use girih_notation::marked;
use girih_notation::ops::{self, Op};
use serde::Serialize;
use serde_json::{Map, Value};

use super::panel::Panel;
use super::table::Table;

/// How the cells of a panel come from those of another panel.
#[derive(Serialize)]
pub(super) struct Path {
    /// The number of the other panel.
    panel: usize,
    kind: Kind,
    /// For each cell of the panel, the cell of the other one.
    cells: Vec<i64>,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    /// The other panel has the same index at the cell, which is the one that the operation takes the index from.
    Argument,
    /// The index of the other panel's cell is the coordinate in the argument.
    Inner,
    /// The other panel takes this panel's index back to this panel's coordinate.
    Inverse,
}

/// The paths from the result of a call to the panels of its arguments.
pub(super) fn paths(
    (op, steps): &(&'static Op, Vec<Step>),
    args: &[Option<usize>],
    (result, own): (&Composed, &Table),
    facts: &[Symbol],
    panels: &[Panel],
) -> Vec<Path> {
    let panel =
        |at: usize| args.get(at).copied().flatten().and_then(|at| Some((at, panels.get(at)?.drawn()?)));
    let Some((first, (layout, table))) = panel(0) else { return Vec::new() };
    let Some(count) = size(result.layout()) else { return Vec::new() };
    let cells = |of: &dyn Fn(i64) -> i64| own.coordinates().map(of).collect();
    let mut paths = Vec::new();
    if let Some(inner) = inner(op, steps, layout.layout(), facts) {
        let found = coordinates(&inner, count, size(layout.layout()).unwrap_or(0)).filter(|found| {
            let same = |(at, own): (&i64, i64)| layout.at(*at).is_ok_and(|value| result.at(own) == Ok(value));
            found.iter().zip(0..).all(same)
        });
        if let Some(found) = found {
            if let Some((second, (other, beside))) = panel(1)
                && size(other.layout()) == Some(count)
                && found.iter().zip(0..).all(|(at, own)| other.at(own) == Ok(*at))
            {
                paths.push(Path { panel: second, kind: Kind::Inner, cells: cells(&|at| beside.cell(at)) });
            }
            let cells = cells(&|at| table.cell(found[at as usize]));
            paths.push(Path { panel: first, kind: Kind::Argument, cells });
            return paths;
        }
    }
    if let Some(found) = coordinates(result, count, size(layout.layout()).unwrap_or(0))
        && found.iter().zip(0..).all(|(at, own)| layout.at(*at) == Ok(own))
    {
        let cells = cells(&|at| table.cell(found[at as usize]));
        paths.push(Path { panel: first, kind: Kind::Inverse, cells });
    }
    paths
}

/// What the operation makes of the coordinates of its first argument: an operation that composes its argument with something gives that
/// something.
fn inner(op: &Op, steps: &[Step], argument: &Lay, facts: &[Symbol]) -> Option<Composed> {
    let mut args: Map<String, Value> = op
        .params
        .iter()
        .zip(steps)
        .map(|(param, step)| (param.trim_start_matches('?').to_owned(), Value::String(step.value.clone())))
        .collect();
    let first = op.params.first()?.trim_start_matches('?').to_owned();
    args.insert(first, Value::String(Lay::left(argument.shape()).ok()?.to_string()));
    let answer = ops::answer(op.name, &args, facts).ok()?;
    marked::composed(answer.value.as_str()?).ok()
}

fn size(layout: &Lay) -> Option<i64> {
    layout.size().ok()?.get()
}

/// The indices of a layout of `count` coordinates, if all are coordinates of a layout of a size.
fn coordinates(layout: &Composed, count: i64, size: i64) -> Option<Vec<i64>> {
    let at = |at: i64| layout.at(at).ok().filter(|index| (0..size).contains(index));
    (0..count).map(at).collect()
}
