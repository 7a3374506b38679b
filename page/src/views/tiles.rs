//! Programs over tiles: their text in Rust, their lowering, and which thread holds what of its tiles.

use std::collections::HashMap;

use girih_layout::{Int, Shape};
use girih_picture::{Cell, Sheet};
use girih_programs::{ENTRIES, Entry};
use girih_tile::explain::{Explanation, explain};
use girih_tile::ir::{Func, Kind, OpId, Value, parse, verify};
use serde::{Deserialize, Serialize};

use super::cells::{Picture, pictures};
use super::{Call, Nothing, calls};
use crate::Fault;

pub(super) const CALLS: &[Call] = calls! { "list" => list, "explain" => told, "layout" => layout };

#[derive(Serialize)]
struct Choice {
    name: &'static str,
    kernel: &'static str,
}

fn list(_: Nothing) -> Result<Vec<Choice>, Fault> {
    Ok(ENTRIES.iter().map(|entry| Choice { name: entry.name, kernel: entry.kernel }).collect())
}

/// A program by name, or its text.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    program: String,
    /// The text of a program, in place of that of the name.
    #[serde(default)]
    text: String,
    /// The compute capability, such as 90.
    sm: u32,
}

#[derive(Serialize)]
struct Answer {
    source: Option<Source>,
    lines: Vec<Line>,
    /// What limits the kernel, and what was proved.
    summary: Vec<String>,
    threads: u32,
    ptx: Option<String>,
    /// Why there is no PTX.
    refused: Option<String>,
}

#[derive(Serialize)]
struct Source {
    file: &'static str,
    line: usize,
    text: &'static str,
}

/// A line of a program.
#[derive(Serialize)]
struct Line {
    text: String,
    notes: Vec<String>,
    /// The tiles that the line defines and that are in registers, by number.
    tiles: Vec<Tile>,
    /// Whether the line brings a tile from one distribution to another.
    converts: bool,
}

#[derive(Serialize)]
struct Tile {
    value: usize,
    name: String,
}

fn entry(name: &str) -> Result<&'static Entry, Fault> {
    ENTRIES.iter().find(|entry| entry.name == name).ok_or_else(|| {
        let names: Vec<&str> = ENTRIES.iter().map(|entry| entry.name).collect();
        Fault::new("no_program", format!("no program {name:?}; the programs are {}", names.join(", ")))
            .in_field("program")
    })
}

/// The program of a request.
fn func(request: &Request) -> Result<Func, Fault> {
    let func = match request.text.trim() {
        "" => entry(&request.program)?.build()?,
        _ => parse(&request.text).map_err(|error| Fault::from(error).in_field("text"))?,
    };
    verify(&func).map_err(|error| Fault::from(error).in_field("text"))?;
    Ok(func)
}

fn explained(request: &Request) -> Result<Explanation, Fault> {
    Ok(explain(&func(request)?, request.sm)?)
}

fn told(request: Request) -> Result<Answer, Fault> {
    let source = match request.text.trim() {
        "" => entry(&request.program)?.source(),
        _ => None,
    };
    let explanation = explained(&request)?;
    let text = explanation.to_string();
    let (program, summary) = text.split_once("\n}\n").unwrap_or((&text, ""));
    let (ptx, refused) = match &explanation.lowered {
        Ok(lowered) => (Some(lowered.kernel.module().to_string()), None),
        Err(error) => (None, Some(error.to_string())),
    };
    Ok(Answer {
        source: source.map(|of| Source { file: of.file, line: of.line, text: of.text }),
        lines: lines(&explanation, program),
        summary: summary.lines().filter(|line| !line.is_empty()).map(String::from).collect(),
        threads: explanation.plan.threads,
        ptx,
        refused,
    })
}

/// The lines of a program's text, each with the notes that follow it.
fn lines(explanation: &Explanation, program: &str) -> Vec<Line> {
    let func = &explanation.plan.func;
    // Values are numbered in the order in which the text defines them.
    let mut ops: Vec<OpId> = Vec::new();
    func.walk(func.body(), &mut |id, op| ops.extend((!op.results.is_empty()).then_some(id)));
    let mut ops = ops.into_iter();
    let mut of: HashMap<usize, OpId> = HashMap::new();
    let mut lines: Vec<Line> = Vec::new();
    // The lines at which the regions begin that are open.
    let mut open = Vec::new();
    for line in program.lines().chain(["}"]) {
        let bare = line.trim_start();
        if let Some(note) = bare.strip_prefix("// ") {
            let at = lines.len().saturating_sub(1);
            if let Some(line) = lines.get_mut(at) {
                line.notes.push(note.into());
            }
            continue;
        }
        let at = lines.len();
        if bare.starts_with('%') && bare.contains(" = ") {
            of.extend(ops.next().map(|id| (at, id)));
        }
        // Notes on a loop are after its end.
        if bare.starts_with('}') {
            let begin: Option<usize> = open.pop();
            if let Some(id) = begin.and_then(|begin| of.remove(&begin)) {
                of.insert(at, id);
            }
        }
        if bare.ends_with('{') || bare.contains(" { (") {
            open.push(at);
        }
        lines.push(Line { text: line.into(), notes: Vec::new(), tiles: Vec::new(), converts: false });
    }
    for (at, line) in lines.iter_mut().enumerate() {
        let Some(op) = of.get(&at).map(|&id| func.op(id)) else { continue };
        line.converts = op.kind == Kind::Convert;
        if line.notes.iter().any(|note| note.starts_with("lanes[")) {
            let tiles = op.results.iter().filter(|&&value| func.ty(value).dims.rank() > 0);
            line.tiles =
                tiles.map(|value| Tile { value: value.index(), name: func.ty(*value).to_string() }).collect();
        }
    }
    lines
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Of {
    program: String,
    #[serde(default)]
    text: String,
    sm: u32,
    /// The tile, by the number that the explanation gives.
    value: usize,
}

/// Which thread holds each element of a tile; modes before the last one go down together.
#[derive(Serialize)]
struct Held {
    name: String,
    dist: String,
    picture: Picture,
    /// For each cell the first thread that holds the element, the number of the element among that thread's values, and how many threads hold
    /// the element; a tile is padded where threads hold more than there is.
    owners: Vec<(i64, i64, usize)>,
    /// The most threads that hold one element.
    most: usize,
}

fn layout(request: Of) -> Result<Held, Fault> {
    let Of { program, text, sm, value: number } = request;
    let plan = explained(&Request { program, text, sm })?.plan;
    let value = values(&plan.func).into_iter().find(|value| value.index() == number);
    let no_tile = || Fault::new("no_tile", format!("no tile {number} in the program")).in_field("value");
    let value = value.ok_or_else(no_tile)?;
    let (dims, dist) = (plan.func.ty(value).dims, plan.dist(value));
    let mut extents = dist.padded(dims.rank());
    extents.iter_mut().zip(dims.iter()).for_each(|(reach, &n)| *reach = (*reach).max(i64::from(n)));
    let Some((&columns, before)) = extents.split_last() else { return Err(no_tile()) };
    let rows = before.iter().copied().fold(1, i64::saturating_mul);
    let tile = Shape::flat(&[Int::fixed(rows), Int::fixed(columns)])?;
    let sheet =
        Sheet::owners(&dist.lay(&extents)?, &tile).map_err(|error| Fault::from(error).in_field("value"))?;
    let cells = sheet.grids.iter().flat_map(|grid| grid.cells.iter().flatten());
    // What is of no warp, all threads hold.
    let holders = |cell: &Cell| if cell.group < 0 { plan.threads as usize } else { cell.owners.len() };
    let owners = cells
        .map(|cell| cell.owners.first().map_or((-1, 0, 0), |&(thread, own)| (thread, own, holders(cell))));
    let owners: Vec<_> = owners.collect();
    let most = owners.iter().map(|(.., count)| *count).max().unwrap_or(0);
    let picture = pictures(&sheet).pop().ok_or_else(no_tile)?;
    Ok(Held { name: plan.func.ty(value).to_string(), dist: dist.to_string(), picture, owners, most })
}

/// All values that operations define.
fn values(func: &Func) -> Vec<Value> {
    let mut all = Vec::new();
    func.walk(func.body(), &mut |_, op| all.extend(op.results.iter().copied()));
    all
}
