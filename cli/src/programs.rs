//! `girih tile`: tile programs, without a device.

use std::borrow::Cow;
use std::io;
use std::path::Path;

use girih_layout::{Int, Shape};
use girih_notation::names::near;
use girih_picture::Sheet;
use girih_programs::{ENTRIES, Entry};
use girih_tile::explain::{Sizes, explain_at};
use girih_tile::facts::Uses;
use girih_tile::ir::{Array, Func, OpId, parse, verify};
use girih_tile::place::Plan;
use serde_json::{Value, json};

use crate::drawing::{Drawing, Drawn, Printed};
use crate::{CommandResult, Error};

/// The arguments of `girih tile`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand)]
enum What {
    /// Say where a program's tiles are, how they move, and what limits the kernel
    #[command(after_help = AFTER)]
    Explain {
        /// A program's name, or a file with its text
        program: String,
        /// The extents of each array, as 4096x1000, row-major: the kernel, the iterations of its loops and what limits it are those of a launch with
        /// such arrays [default: what the program's text says]
        extents: Vec<String>,
        /// The compute capability
        #[arg(long, value_name = "SM", default_value_t = 90)]
        sm: u32,
        /// Draw instead which thread holds each element of the first tile of rank 1 or 2 that this line of the explanation defines
        #[arg(long, value_name = "LINE")]
        draw: Option<usize>,
        #[command(flatten)]
        drawing: Drawing,
    },
}

/// Which programs there are.
pub(crate) const AFTER: &str = "\
Programs by name: the kernels of `girih::programs`, each with its dtype and tile, such as softmax_bf16_16x1024; \
`girih list kernels tile` lists them. The text of a program is what an explanation begins with: notes in it are comments.";

pub(crate) fn run(args: Args) -> CommandResult {
    let What::Explain { program, extents, sm, draw, drawing } = args.what;
    supported(sm)?;
    let (func, extents) = with_extents(&program, &extents)?;
    let explanation = explain_at(&func, sm, Sizes { extents, grid: None })?;
    let text = explanation.to_string();
    match draw {
        Some(line) => drawing.finish(&picture(&explanation.plan, &text, line)?),
        None => drawing.finish(&Explained { program, sm, text }),
    }
}

/// Refuses an architecture that no kernel over tiles is written for.
pub(crate) fn supported(sm: u32) -> Result<(), Error> {
    if sm >= OLDEST {
        return Ok(());
    }
    Err(Error::Argument {
        text: format!("--sm {sm}"),
        expected: format!("{OLDEST} or newer, as 90 for sm_90"),
    })
}

/// The oldest architecture that kernels over tiles are written for.
const OLDEST: u32 = 80;

/// An explanation. It is no picture: that is one of its lines.
struct Explained {
    program: String,
    sm: u32,
    text: String,
}

impl Drawn for Explained {
    fn text(&self) -> Printed<String> {
        Ok(self.text.clone())
    }

    fn json(&self) -> Printed<Value> {
        let lines: Vec<&str> = self.text.lines().collect();
        Ok(json!({ "program": self.program, "sm": self.sm, "lines": lines }))
    }

    fn sheet(&self) -> Printed<Cow<'_, Sheet>> {
        let expected = String::from("--draw LINE beside it: a picture is that of the tile of one line");
        Err(Error::Argument { text: String::from("a picture"), expected }.into())
    }
}

/// The program of a name, with what it is launched with.
pub(crate) fn entry(name: &str) -> Result<&'static Entry, Error> {
    ENTRIES.iter().find(|entry| entry.name == name).ok_or_else(|| unknown(name, ""))
}

fn unknown(name: &str, or_file: &'static str) -> Error {
    Error::UnknownProgram {
        name: name.into(),
        or_file,
        near: near(name, ENTRIES.iter().map(|entry| entry.name)),
    }
}

/// The program of a name, or of a file.
pub(crate) fn find(program: &str) -> Result<Func, Box<dyn std::error::Error>> {
    let func = match entry(program) {
        Ok(entry) => entry.build()?,
        Err(_) => {
            let path = Path::new(program);
            match std::fs::read_to_string(path) {
                Ok(text) => parse(&text)
                    .map_err(|error| Error::Program { file: path.into(), message: error.to_string() })?,
                Err(source) if source.kind() == io::ErrorKind::NotFound => {
                    return Err(unknown(program, ", and no such file").into());
                }
                Err(source) => return Err(Error::read(path)(source).into()),
            }
        }
    };
    verify(&func)?;
    Ok(func)
}

/// A program, and the extents of its arrays.
type WithExtents = (Func, Vec<Vec<i64>>);

/// The program of a name or of a file for a launch with arrays of these extents, and the extents; without them, the program as it is.
pub(crate) fn with_extents(
    program: &str,
    extents: &[String],
) -> Result<WithExtents, Box<dyn std::error::Error>> {
    let func = find(program)?;
    if extents.is_empty() {
        return Ok((func, Vec::new()));
    }
    let ranks = func.arrays().iter().filter_map(|array| match array {
        Array::Param(param) => Some(param.extents.len()),
        Array::Slice { .. } => None,
    });
    let ranks: Vec<usize> = ranks.collect();
    let numbers = |text: &String| text.split('x').map(|n| n.parse().ok()).collect::<Option<Vec<usize>>>();
    let found: Option<Vec<Vec<usize>>> = extents.iter().map(numbers).collect();
    let found = found.filter(|all| all.iter().map(Vec::len).eq(ranks.iter().copied()));
    let found = found.ok_or_else(|| {
        let wanted: Vec<String> = ranks.iter().map(|&rank| vec!["n"; rank].join("x")).collect();
        format!("the arrays of {program} have the extents {}, each n a number", wanted.join(" "))
    })?;
    let func = func.with_facts(&Uses::of(&func).row_major(&found, func.scalars().len()));
    let signed = |extents: &Vec<usize>| extents.iter().map(|&n| i64::try_from(n)).collect::<Result<_, _>>();
    Ok((func, found.iter().map(signed).collect::<Result<_, _>>()?))
}

/// The picture of the tile that a line of an explanation defines.
fn picture(plan: &Plan, text: &str, line: usize) -> Printed<Sheet> {
    let named = text.lines().nth(line.saturating_sub(1)).unwrap_or_default().trim_start();
    let name = named.split_once(' ').map_or("", |(name, _)| name.trim_end_matches(','));
    // Values are numbered in the order of their definitions in the text.
    let mut order = Vec::new();
    let mut ops: Vec<OpId> = Vec::new();
    plan.func.walk(plan.func.body(), &mut |id, _| ops.push(id));
    for line in text.lines().map(str::trim_start).filter(|line| line.starts_with('%') && line.contains(" = "))
    {
        order.push(line.split_once(' ').map_or("", |(name, _)| name.trim_end_matches(',')));
    }
    let with_results = ops.iter().filter(|id| !plan.func.op(**id).results.is_empty());
    let found = order.iter().zip(with_results).find(|(other, _)| **other == name && !name.is_empty());
    let refused = || format!("line {line} defines no tile of rank 1 or 2");
    let (_, &id) = found.ok_or_else(refused)?;
    let value = plan.func.op(id).results[0];
    let (dims, dist) = (plan.func.ty(value).dims, plan.dist(value));
    let mut extents = dist.padded(dims.rank());
    extents.iter_mut().zip(dims.iter()).for_each(|(reach, &n)| *reach = (*reach).max(i64::from(n)));
    let lay = dist.lay(&extents)?;
    let extents: Vec<Int> = match extents[..] {
        [n] => vec![Int::fixed(1), Int::fixed(n)],
        [rows, columns] => vec![Int::fixed(rows), Int::fixed(columns)],
        _ => return Err(refused().into()),
    };
    Ok(Sheet::owners(&lay, &Shape::flat(&extents)?)?)
}
