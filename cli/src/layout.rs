//! `girih layout`: evaluate an expression, print the layout and its table.

use std::process::ExitCode;

use girih_layout::Lay;

use crate::{CommandResult, expr};

/// A table of more cells than this is not printed.
const CELLS: i64 = 4096;

/// Rank-2 tables wider than this are not printed: they would wrap on any terminal.
const COLUMNS: i64 = 64;

/// The arguments of `girih layout`.
#[derive(clap::Args)]
#[command(after_help = "\
Layouts are written shape:stride, a shape alone is column-major. Tilers are <128,32>, <4:2,_> or a layout.

  girih layout '(4,8):(8,1)'
  girih layout 'composition((10,2):(16,4), (5,4):(1,5))'
  girih layout 'complement((2,2):(1,6), 24)'
  girih layout 'zipped_divide((s0,s1):(s2,1), <128,32>)'
  girih layout 'coalesce(logical_divide((4,2,3):(2,1,8), 4:2))'")]
pub(crate) struct Args {
    /// A layout, or calls of operations on layouts
    #[arg(value_name = "EXPR", allow_hyphen_values = true)]
    expression: String,
    /// Print the result alone, without a table
    #[arg(long)]
    plain: bool,
}

pub(crate) fn run(args: Args) -> CommandResult {
    let result = expr::evaluate(&args.expression)?;
    println!("{result}");
    // Numbers and coordinates read as layouts too; only a stride makes one.
    let layout = result.contains(':').then(|| Lay::parse(&result).ok()).flatten();
    if let (Some(layout), false) = (layout, args.plain)
        && let Ok(table) = layout.table()
    {
        if table.rows().saturating_mul(table.columns()) > CELLS || table.columns() > COLUMNS {
            println!("(a table of {} x {} is too large to print)", table.rows(), table.columns());
        } else {
            print!("{table}");
        }
    }
    Ok(ExitCode::SUCCESS)
}
