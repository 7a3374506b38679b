//! `girih layout`: evaluates an expression and prints the layout and its table.

use std::fmt::Display;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use girih_layout::Lay;

use crate::facts::Facts;
use crate::{CommandResult, Error, expr, marked};

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
    /// Draw the layout with the index in each cell, as SVG
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Draw the layout as a LaTeX document (TikZ)
    #[arg(long, value_name = "FILE")]
    latex: Option<PathBuf>,
    /// Take the layout as (thread, value) -> place in a tile of this shape, and draw which thread owns which place
    #[arg(long, value_name = "SHAPE")]
    tile: Option<String>,
}

pub(crate) fn run(args: Args) -> CommandResult {
    let mut facts = Facts::default();
    for text in &args.facts {
        facts.add(text)?;
    }
    let (result, notes) = expr::evaluate_with(&args.expression, facts.symbols())?;
    for note in notes {
        eprintln!("note: {note}");
    }
    let mut text = format!("{result}\n");
    // Numbers and coordinates can be parsed as layouts too, but only a result with a stride is a layout.
    let layout = result.contains(':').then(|| Lay::parse(&result).ok()).flatten();
    if let (Some(layout), false) = (layout, args.plain)
        && let Ok(table) = layout.table()
    {
        if table.rows().saturating_mul(table.columns()) > CELLS || table.columns() > COLUMNS {
            text += &format!("(a table of {} x {} is too large to print)\n", table.rows(), table.columns());
        } else {
            text += &table.to_string();
        }
    }
    io::stdout().lock().write_all(text.as_bytes())?;
    if args.svg.is_some() || args.latex.is_some() {
        draw(&result, &args)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the pictures that the arguments ask for.
fn draw(result: &str, args: &Args) -> Result<(), Box<dyn std::error::Error>> {
    let composed = marked::composed(result)?;
    let picture = match &args.tile {
        Some(tile) => composed.layout().picture_tv(&marked::shape(tile)?)?,
        None => composed.picture()?,
    };
    let write = |path: &Option<PathBuf>, text: &dyn Display| match path {
        Some(path) => write_text(path, text),
        None => Ok(()),
    };
    write(&args.svg, &picture.svg())?;
    write(&args.latex, &picture.latex())?;
    Ok(())
}

fn write_text(path: &Path, text: &dyn Display) -> Result<(), Error> {
    fs::write(path, text.to_string()).map_err(|source| Error::Write { path: path.to_owned(), source })
}
