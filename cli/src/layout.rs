//! `girih layout`: evaluates an expression and prints the layout and its table.

use girih_layout::{Composed, Lay, Shape};
use serde_json::{Value, json};

use crate::drawing::{Drawing, Drawn};
use crate::facts::Facts;
use crate::picture::Sheet;
use crate::{CommandResult, expr, marked};

/// A table with more cells than this is not printed.
const CELLS: i64 = 4096;

/// A table of rank 2 that is wider than this is not printed, since it would wrap on any terminal.
const COLUMNS: i64 = 64;

/// The arguments of `girih layout`.
#[derive(clap::Args)]
#[command(after_help = "\
A layout is written shape:stride; a shape alone is a column-major layout. A tiler is written <128,32>, <4:2,_> or as a layout.

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
    /// Print the result alone, without a table
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
        notes.iter().for_each(|note| eprintln!("note: {note}"));
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

    fn composed(&self) -> Result<Composed, marked::Marked> {
        marked::composed(&self.result)
    }

    fn sheet(&self) -> Result<Sheet, Box<dyn std::error::Error>> {
        let composed = self.composed()?;
        Ok(match &self.tile {
            Some(tile) => Sheet::owners(composed.layout(), tile)?,
            None => Sheet::indices(&composed)?,
        })
    }
}

impl Drawn for Evaluated {
    fn text(&self) -> String {
        let mut text = format!("{}\n", self.result);
        let table = self.layout().filter(|_| !self.plain);
        if let Some(Ok(table)) = table.as_ref().map(Lay::table) {
            if table.rows().saturating_mul(table.columns()) > CELLS || table.columns() > COLUMNS {
                text +=
                    &format!("(a table of {} x {} is too large to print)\n", table.rows(), table.columns());
            } else {
                text += &table.to_string();
            }
        }
        text
    }

    /// The result, and its picture where it has one.
    fn json(&self) -> Value {
        let picture = self.sheet().ok().filter(|_| !self.plain);
        json!({ "result": self.result, "notes": self.notes, "picture": picture.map(|sheet| sheet.json()) })
    }

    fn svg(&self) -> Result<String, Box<dyn std::error::Error>> {
        Ok(self.sheet()?.svg())
    }

    fn latex(&self) -> Result<String, Box<dyn std::error::Error>> {
        let composed = self.composed()?;
        let picture = match &self.tile {
            Some(tile) => composed.layout().picture_tv(tile)?,
            None => composed.picture()?,
        };
        Ok(picture.latex().to_string())
    }
}
