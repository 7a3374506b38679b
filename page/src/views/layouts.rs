//! Expressions of `girih layout`: the operands and the result as tables, and how the result's cells come from those of the operands.

mod links;
mod panel;
mod refusal;
mod table;

use girih_layout::Composed;
use girih_notation::facts::Facts;
use girih_notation::{expr, marked, ops};
use girih_picture::Sheet;
use girih_tensor::DType;
use serde::{Deserialize, Serialize};

use super::cells::{Picture, pictures};
use super::{Call, Nothing, calls};
use crate::Fault;
use panel::{Panel, panels};

pub(super) const CALLS: &[Call] = calls! { "evaluate" => evaluate, "menus" => menus };

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    /// A layout, or a call of an operation.
    expression: String,
    /// What is known of symbols: `s0=at_least(8), s1=divisible_by(4)`.
    #[serde(default)]
    facts: String,
    /// The shape of a tile, if the result is (thread, value) -> place in such a tile.
    #[serde(default)]
    tile: String,
    /// What cells are coloured by.
    #[serde(default)]
    by: By,
    /// Of `mode`: how many of a mode's leaves are inside a block that has one colour.
    #[serde(default = "one")]
    level: usize,
    /// Of `bank` and `sector`: the type of the elements.
    #[serde(default = "f32")]
    dtype: String,
}

/// What cells are coloured by.
#[derive(Clone, Copy)]
struct Colours {
    by: By,
    /// How many of a mode's leaves are inside a block that has one colour.
    level: usize,
    /// The bits of an element.
    bits: i64,
}

/// What cells are coloured by.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum By {
    /// The index.
    #[default]
    Value,
    /// The index modulo 8, in greys, as CuTe's pictures have it.
    Grey,
    /// The coordinate of mode 0, as a thread.
    Thread,
    /// The block of the hierarchy.
    Mode,
    /// The bank of shared memory.
    Bank,
    /// The sector of global memory.
    Sector,
}

fn one() -> usize {
    1
}

fn f32() -> String {
    String::from("f32")
}

#[derive(Serialize)]
struct Answer {
    /// The result.
    text: String,
    /// What the caller may have meant instead.
    notes: Vec<String>,
    /// The layouts of the expression, arguments before their calls; the result is the last one, if it is a layout.
    panels: Vec<Panel>,
    /// Who owns the places of the tile.
    tile: Option<Picture>,
}

fn evaluate(request: Request) -> Result<Answer, Fault> {
    let Request { expression, facts: known, tile, by, level, dtype } = &request;
    let dtype: DType = dtype.parse().map_err(|error| Fault::from(error).in_field("dtype"))?;
    let colours = &Colours { by: *by, level: *level, bits: i64::from(dtype.bits()) };
    let mut facts = Facts::default();
    if !known.trim().is_empty() {
        facts.add(known).map_err(|error| Fault::marked(&error, "facts", known))?;
    }
    let facts = facts.symbols();
    let (step, notes) =
        expr::steps(expression, facts).map_err(|error| refusal::fault(&error, expression, colours))?;
    let panels = panels(&[&step], expression.trim(), facts, colours);
    let tile = if tile.trim().is_empty() { None } else { Some(owners(&step.value, tile)?) };
    Ok(Answer { text: step.value, notes, panels, tile })
}

/// The owners of a tile's places.
fn owners(layout: &str, tile: &str) -> Result<Picture, Fault> {
    let layout: Composed = marked::composed(layout).map_err(|error| {
        Fault::new("tile", format!("the result is no layout of threads and values: {}", error.message()))
            .in_field("tile")
    })?;
    let shape = marked::shape(tile).map_err(|error| Fault::marked(&error, "tile", tile))?;
    let sheet =
        Sheet::owners(layout.layout(), &shape).map_err(|error| Fault::from(error).in_field("tile"))?;
    pictures(&sheet).pop().ok_or_else(|| Fault::new("tile", "the tile has no places").in_field("tile"))
}

#[derive(Serialize)]
struct Example {
    title: &'static str,
    expression: &'static str,
    by: &'static str,
    tile: &'static str,
}

const EXAMPLES: [(&str, &str, &str, &str); 11] = [
    ("row-major", "(4,8):(8,1)", "value", ""),
    ("a composition", "composition((10,2):(16,4), (5,4):(1,5))", "value", ""),
    ("a refused composition", "composition((4,2):(1,10), (2,2):(2,3))", "value", ""),
    ("tiles of a matrix", "zipped_divide((8,12):(12,1), <4,3>)", "mode", ""),
    ("a divide, then coalesced", "coalesce(logical_divide((4,2,3):(2,1,8), 4:2))", "value", ""),
    ("a tile repeated", "blocked_product((2,5):(5,1), (3,4):(1,3))", "mode", ""),
    ("a tile, its rows interleaved", "raked_product((2,5):(5,1), (3,4):(1,3))", "mode", ""),
    ("a complement", "complement((2,2):(1,6), 24)", "value", ""),
    ("a right inverse", "right_inverse((2,4,3):(12,3,1))", "value", ""),
    ("a swizzle and its banks", "Sw<3,0,3> o 0 o (8,8):(8,1)", "bank", ""),
    ("accumulators of mma.m16n8k16", "((4,8),(2,2)):((32,1),(16,8))", "thread", "(16,8)"),
];

#[derive(Serialize)]
struct Operation {
    name: &'static str,
    /// The arguments; one that begins with `?` may be left out.
    params: &'static [&'static str],
}

/// What a person can choose among.
#[derive(Serialize)]
struct Menus {
    examples: Vec<Example>,
    operations: Vec<Operation>,
    dtypes: Vec<&'static str>,
}

fn menus(_: Nothing) -> Result<Menus, Fault> {
    let example = |(title, expression, by, tile)| Example { title, expression, by, tile };
    let operation = |op: &'static ops::Op| Operation { name: op.name, params: op.params };
    Ok(Menus {
        examples: EXAMPLES.into_iter().map(example).collect(),
        operations: ops::all().map(operation).collect(),
        dtypes: DType::ALL.iter().map(|dtype| dtype.name()).collect(),
    })
}
