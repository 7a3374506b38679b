//! Iteration counts of loops, as functions of constants, extents and parameters.

use std::collections::BTreeMap;

use super::Sizes;
use crate::facts::arithmetic;
use crate::ir::table::Each;
use crate::ir::{Array, Func, Kind, OpId, RegionId, Value};

/// A number of a program: its value, where that is known, and how it is computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Number {
    pub(super) value: Option<i64>,
    pub(super) text: String,
}

impl Number {
    fn known(value: i64) -> Number {
        Number { value: Some(value), text: value.to_string() }
    }

    fn named(text: String, value: Option<i64>) -> Number {
        value.map_or(Number { value: None, text }, Number::known)
    }
}

/// An integer scalar, where arrays have these sizes.
fn number(func: &Func, value: Value, sizes: &Sizes) -> Number {
    let Some(op) = func.op_of(value) else { return Number::named(format!("%{}", value.0), None) };
    let operand = |at: usize| number(func, op.operands[at], sizes);
    match &op.kind {
        Kind::Full(_) => Number::named(format!("%{}", value.0), func.number(value)),
        Kind::Cast(_) | Kind::Convert => operand(0),
        Kind::Worker => Number::named("worker".into(), None),
        Kind::Workers => Number::named("workers".into(), None),
        Kind::Bid(axis) => Number::named(format!("bid({axis})"), None),
        Kind::NumBlocks(axis) => {
            let grid = sizes.grid.map(|grid| i64::from(grid[usize::from(*axis)]));
            Number::named(format!("num_blocks({axis})"), grid)
        }
        Kind::Param(at) => {
            let param = &func.scalars()[usize::from(*at)];
            Number::named(param.name.clone(), param.known.number())
        }
        Kind::Dim(array, axis) => match &func.arrays()[array.index()] {
            Array::Param(param) => {
                let axis = usize::from(*axis);
                let given = || sizes.extents.get(array.index())?.get(axis).copied();
                Number::named(
                    format!("{}.dim({axis})", param.name),
                    param.extents[axis].number().or_else(given),
                )
            }
            Array::Slice { axis: along, start, stop, .. } if along == axis => {
                difference(&number(func, *stop, sizes), &number(func, *start, sizes))
            }
            Array::Slice { .. } => {
                Number::named(format!("{}.slice().dim({axis})", func.param_of(*array).1.name), None)
            }
        },
        Kind::Each { op: each, .. } => {
            let all: Vec<Number> = (0..op.operands.len()).map(operand).collect();
            let texts: Vec<&str> = all.iter().map(|number| number.text.as_str()).collect();
            let text = match (each, &texts[..]) {
                (Each::Add, [a, b]) => format!("({a} + {b})"),
                (Each::Sub, [a, b]) => format!("({a} - {b})"),
                (Each::Mul, [a, b]) => format!("{a} * {b}"),
                _ => format!("{}({})", each.row().name, texts.join(", ")),
            };
            let values: Option<Vec<i64>> = all.iter().map(|number| number.value).collect();
            let value = values.and_then(|values| match values[..] {
                [a, b] => arithmetic(*each, a, b),
                _ => None,
            });
            Number::named(text, value)
        }
        _ => Number::named(format!("%{}", value.0), None),
    }
}

fn difference(stop: &Number, start: &Number) -> Number {
    match (stop.value, start.value) {
        (_, Some(0)) => stop.clone(),
        (Some(stop), Some(start)) => Number::known(stop.saturating_sub(start)),
        _ => Number { value: None, text: format!("({} - {})", stop.text, start.text) },
    }
}

/// How often a loop with a range runs, if this is one.
pub(super) fn iterations(func: &Func, id: OpId, sizes: &Sizes) -> Option<Number> {
    let op = func.op(id);
    if op.kind != Kind::For {
        return None;
    }
    let [start, stop, step] = [0, 1, 2].map(|at| number(func, op.operands[at], sizes));
    let all = difference(&stop, &start);
    Some(match (all.value, step.value) {
        (_, Some(1)) => Number { value: all.value.map(|all| all.max(0)), ..all },
        (Some(all), Some(step)) if step > 0 => {
            Number::known(all.max(0) / step + i64::from(all.max(0) % step != 0))
        }
        _ => Number { value: None, text: format!("cdiv({}, {})", all.text, step.text) },
    })
}

/// How often operations run in a block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Often {
    /// The product of the numbers of iterations that are known of the loops around.
    pub(super) times: u64,
    /// Whether a loop around runs nobody knows how often: it is counted once.
    pub(super) open: bool,
}

/// How often each operation runs, and the loops of which that is not known, as text.
pub(super) fn often(func: &Func, sizes: &Sizes) -> (BTreeMap<OpId, Often>, Vec<String>) {
    let (mut found, mut open) = (BTreeMap::new(), Vec::new());
    visit(func, func.body(), sizes, Often { times: 1, open: false }, &mut found, &mut open);
    (found, open)
}

fn visit(
    func: &Func,
    region: RegionId,
    sizes: &Sizes,
    around: Often,
    found: &mut BTreeMap<OpId, Often>,
    open: &mut Vec<String>,
) {
    for &id in &func.region(region).ops {
        found.insert(id, around);
        let op = func.op(id);
        let inside = match (&op.kind, iterations(func, id, sizes)) {
            // A loop over blocks of the grid runs its body once for each block.
            (Kind::For, _) if func.is_of_blocks(op) => around,
            (Kind::For, Some(Number { value: Some(count), .. })) => {
                Often { times: around.times.saturating_mul(count.max(0).cast_unsigned()), ..around }
            }
            (Kind::For | Kind::Loop, count) => {
                let text = count.map_or(String::from("a loop without a range"), |count| count.text);
                if !open.contains(&text) {
                    open.push(text);
                }
                Often { open: true, ..around }
            }
            _ => around,
        };
        op.regions.iter().for_each(|&region| visit(func, region, sizes, inside, found, open));
    }
}
