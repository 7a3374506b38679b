//! `girih layout`: evaluates an expression and prints the layout and its table.

use std::borrow::Cow;

use girih_layout::{Composed, Lay, Shape};
use girih_notation::facts::Facts;
use girih_notation::{expr, marked};
use girih_picture::Sheet;
use serde_json::{Value, json};

use crate::drawing::{self, Drawing, Drawn, Printed};
use crate::output::tell;
use crate::{CommandResult, Error};

/// A table with more cells than this is not printed.
const CELLS: i64 = 4096;

/// A table that is wider than this is not printed, since it would wrap on any terminal.
const COLUMNS: i64 = 64;

/// The arguments of `girih layout`.
#[derive(clap::Args)]
#[command(after_help = "\
A layout is written shape:stride; a shape alone is a column-major layout. A tiler is written <128,32>, <4:2,_> or as a layout.

Examples:
  girih layout '(4,8):(8,1)'
  girih layout 'composition((10,2):(16,4), (5,4):(1,5))'
  girih layout 'complement((2,2):(1,6), 24)'
  girih layout 'zipped_divide((s0,s1):(s2,1), <128,32>)'
  girih layout 'max_common_vector(s0:1, 8:1)' --fact 's0=at_least(8),divisible_by(8)'
  girih layout 'coalesce(logical_divide((4,2,3):(2,1,8), 4:2))'
  girih layout 'Sw<2,0,3> o 0 o (8,8):(8,1)' --svg swizzled.svg
  girih layout 'Sw<2,0,3> o 0 o (8,8):(8,1)' --format svg > swizzled.svg
  girih layout '((4,8),(2,2)):((32,1),(16,8))' --tile '(16,8)' --svg mma-c.svg --latex mma-c.tex")]
pub(crate) struct Args {
    /// A layout, or calls of operations on layouts
    #[arg(value_name = "EXPR", allow_hyphen_values = true)]
    expression: String,
    /// What is known of a symbol, such as s0=at_least(1),divisible_by(8); may be given several times
    #[arg(long = "fact", value_name = "FACTS")]
    facts: Vec<String>,
    /// Print the result alone, without a table or a picture
    #[arg(long)]
    plain: bool,
    /// Take the layout as (thread, value) -> place in a tile of this shape, and draw which thread owns which place
    #[arg(long, value_name = "SHAPE")]
    tile: Option<String>,
    #[command(flatten)]
    drawing: Drawing,
}

pub(crate) fn run(args: Args) -> CommandResult {
    let mut facts = Facts::default();
    for text in &args.facts {
        facts.add(text)?;
    }
    let (result, notes) = expr::evaluate_with(&args.expression, facts.symbols())?;
    if !args.drawing.json {
        notes.iter().for_each(|note| tell(&format!("note: {note}")));
    }
    let tile = args.tile.as_deref().map(marked::shape).transpose()?;
    args.drawing.finish(&Evaluated { result, notes, plain: args.plain, tile })
}

/// The result of an expression.
struct Evaluated {
    result: String,
    notes: Vec<String>,
    /// Whether the result is printed without a table.
    plain: bool,
    /// The shape of the tile whose elements' owners are drawn.
    tile: Option<Shape>,
}

impl Evaluated {
    /// The layout, if the result is one that has no swizzle. Numbers and coordinates can be parsed as layouts too, but only a result with a
    /// stride is a layout.
    fn layout(&self) -> Option<Lay> {
        self.result.contains(':').then(|| Lay::parse(&self.result).ok()).flatten()
    }

    fn composed(&self) -> Result<Composed, Error> {
        let refused = || Error::Argument {
            text: self.result.clone(),
            expected: String::from("a layout: numbers and coordinates have no picture"),
        };
        if let Some(layout) = self.layout() {
            return Ok(Composed::from(layout));
        }
        if marked::is_swizzled(&self.result) {
            Composed::parse(&self.result).map_err(|_| refused())
        } else {
            Err(refused())
        }
    }

    /// Rows and columns of the table, if the result is a layout of a known size.
    fn extents(&self) -> Option<[i64; 2]> {
        let composed = self.composed().ok()?;
        let layout = composed.layout();
        let size = layout.size().ok()?.get()?;
        let rows = if layout.rank() < 2 { 1 } else { layout.mode(0).ok()?.size().ok()?.get()? };
        Some([rows, size / rows])
    }
}

impl Drawn for Evaluated {
    fn text(&self) -> Printed<String> {
        let text = format!("{}\n", self.result);
        if self.plain {
            return Ok(text);
        }
        if self.tile.is_some() {
            return Ok(text + &self.sheet()?.tables());
        }
        let Some([rows, columns]) = self.extents() else { return Ok(text) };
        if rows.saturating_mul(columns) > CELLS || columns > COLUMNS {
            return Ok(format!("{text}(a table of {rows} x {columns} is too large to print)\n"));
        }
        let table = match self.layout() {
            Some(layout) => layout.table().map(|table| table.to_string()).map_err(Into::into),
            None => self.sheet().map(|sheet| sheet.tables()),
        };
        Ok(text + &table.unwrap_or_else(|error| format!("(no table: {error})\n")))
    }

    /// The result, and its picture where it has one.
    fn json(&self) -> Printed<Value> {
        let picture = match self.sheet() {
            _ if self.plain => None,
            Ok(sheet) => Some(drawing::json(&sheet)),
            Err(error) if self.tile.is_some() => return Err(error),
            Err(_) => None,
        };
        Ok(json!({ "result": self.result, "notes": self.notes, "picture": picture }))
    }

    fn sheet(&self) -> Printed<Cow<'_, Sheet>> {
        let Some(tile) = &self.tile else { return Ok(Cow::Owned(Sheet::indices(&self.composed()?)?)) };
        let tv = self.layout().ok_or_else(|| Error::Argument {
            text: self.result.clone(),
            expected: String::from("a layout without a swizzle, (thread,value) to the place in the tile"),
        })?;
        Ok(Cow::Owned(Sheet::owners(&tv, tile)?))
    }
}
