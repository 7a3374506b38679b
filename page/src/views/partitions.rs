//! Atoms, tiled copies and tiled MMAs by name, and what an access does to the banks of shared memory.

mod memory;

use girih_codegen::TiledCopy;
use girih_codegen::atom::{CopyAtom, MmaAtom};
use girih_codegen::plan::coalesced_copy;
use girih_layout::{Composed, Lay, Tiler};
use girih_notation::{find, marked};
use girih_picture::{CELLS, Cell, Sheet};
use girih_tensor::DType;
use serde::{Deserialize, Serialize};

use super::cells::{Picture, pictures};
use super::{Call, Nothing, calls};
use crate::Fault;

pub(super) const CALLS: &[Call] = calls! {
    "menus" => menus, "draw" => draw, "choose" => choose, "banks" => memory::banks, "plan_swizzle" => memory::plan_swizzle,
};

/// More owners of one cell are counted, not listed.
const LISTED: usize = 8;

/// What a person can choose among.
#[derive(Serialize)]
struct Menus {
    mmas: Vec<String>,
    copies: Vec<String>,
    dtypes: Vec<&'static str>,
}

fn menus(_: Nothing) -> Result<Menus, Fault> {
    Ok(Menus {
        mmas: MmaAtom::all().map(|atom| atom.name()).collect(),
        copies: CopyAtom::all().iter().map(CopyAtom::name).collect(),
        dtypes: DType::ALL.iter().map(|dtype| dtype.name()).collect(),
    })
}

/// A partition.
#[derive(Deserialize)]
#[serde(tag = "what", rename_all = "snake_case", deny_unknown_fields)]
enum Partition {
    /// An MMA atom, or several as `atoms` says, (AtomM,AtomN,AtomK) -> number, in the orders of a permutation.
    Mma {
        name: String,
        #[serde(default)]
        atoms: String,
        #[serde(default)]
        permutation: String,
    },
    /// A copy atom in cells of `unit` bits.
    Copy { name: String, unit: i64 },
    /// A copy atom for each thread of (ThrM,ThrN) -> thread with values (ValM,ValN) -> value.
    TiledCopy { name: String, threads: String, values: String, dtype: String },
    /// The coalesced copy of a tile by this many threads.
    Planned { memory: String, threads: i64, dtype: String },
}

/// A text of a request, parsed.
fn parsed<T>(
    text: &str,
    field: &'static str,
    parse: fn(&str) -> Result<T, marked::Marked>,
) -> Result<T, Fault> {
    parse(text).map_err(|error| Fault::marked(&error, field, text))
}

fn dtype(text: &str) -> Result<DType, Fault> {
    text.parse().map_err(|error: girih_tensor::Error| Fault::from(error).in_field("dtype"))
}

/// Refuses a layout of more places than pictures have owners, or whose places are so far apart that their bits are not counted in an i64.
fn bounded(layout: &Composed, field: &'static str) -> Result<(), Fault> {
    const APART: u64 = 1 << 48;
    let refuse = |error: girih_layout::Error| Fault::from(error).in_field(field);
    let lay = layout.layout();
    let large = |message: String| Err(Fault::new("large", message).in_field(field));
    if lay.size().map_err(refuse)?.get().is_some_and(|count| count > 16 * CELLS) {
        return large(format!("{lay} has more than {} places", 16 * CELLS));
    }
    // Of strides that are no numbers, whoever needs numbers says so.
    for end in [Ok(layout.offset()), lay.min_index(), lay.max_index()] {
        match end {
            Ok(end) if end.unsigned_abs() <= APART => {}
            Ok(_) => return large(format!("{lay} has places further than {APART} elements away")),
            Err(error @ girih_layout::Error::Overflow { .. }) => return Err(refuse(error)),
            Err(_) => {}
        }
    }
    Ok(())
}

/// A layout of a request that pictures can be made of.
fn layout(text: &str, field: &'static str) -> Result<Lay, Fault> {
    let layout = parsed(text, field, marked::layout)?;
    bounded(&Composed::from(layout), field)?;
    Ok(layout)
}

fn given(text: &str) -> Option<&str> {
    Some(text.trim()).filter(|text| !text.is_empty())
}

impl Partition {
    /// The picture, and the TV layout of a plan.
    fn sheet(&self) -> Result<(Sheet, Option<Lay>), Fault> {
        let named = |error: girih_notation::Error| Fault::from(error).in_field("name");
        let sheet = match self {
            Partition::Mma { name, atoms, permutation } => {
                let atom = find::mma(name).map_err(named)?;
                match (given(atoms), given(permutation)) {
                    (None, None) => Sheet::mma(&atom)?,
                    (atoms, permutation) => {
                        let atoms = layout(atoms.unwrap_or("(1,1,1)"), "atoms")?;
                        let permutation: Option<Tiler> =
                            permutation.map(|text| parsed(text, "permutation", marked::tiler)).transpose()?;
                        Sheet::mma_atoms(atom, atoms, permutation.as_ref())?
                    }
                }
            }
            Partition::Copy { name, unit } => Sheet::copy(&find::copy(name).map_err(named)?, *unit)?,
            Partition::TiledCopy { name, threads, values, dtype: text } => {
                let atom = find::copy(name).map_err(named)?;
                let threads = layout(threads, "threads")?;
                let values = layout(values, "values")?;
                Sheet::tiled_copy(&TiledCopy::new(atom, dtype(text)?.bits(), &threads, &values)?)?
            }
            Partition::Planned { memory, threads, dtype: text } => {
                let memory = layout(memory, "memory")?;
                if !(1..=CELLS).contains(threads) {
                    return Err(Fault::new("threads", format!("1 to {CELLS} threads are accepted"))
                        .in_field("threads"));
                }
                let copy = coalesced_copy(&memory, *threads, i64::from(dtype(text)?.bits()))?;
                return Ok((Sheet::tiled_copy(&copy)?, Some(copy.tv)));
            }
        };
        Ok((sheet, None))
    }
}

#[derive(Serialize)]
struct Drawn {
    title: String,
    notes: Vec<String>,
    pictures: Vec<Picture>,
    /// How many threads own cells.
    threads: i64,
    /// Of a plan, the layout (Thr,Val) -> place in the tile.
    tv: Option<String>,
}

fn draw(partition: Partition) -> Result<Drawn, Fault> {
    let (sheet, tv) = partition.sheet()?;
    let owners =
        sheet.grids.iter().flat_map(|grid| grid.cells.iter().flatten()).flat_map(|cell| &cell.owners);
    let threads = owners.map(|(thread, _)| thread + 1).max().unwrap_or(0);
    let pictures = pictures(&sheet);
    let tv = tv.map(|tv| tv.to_string());
    Ok(Drawn { title: sheet.title, notes: sheet.notes, pictures, threads, tv })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Choice {
    of: Partition,
    by: Chosen,
}

/// A thread, or the first owner of a cell.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Chosen {
    Thread(i64),
    Cell { grid: usize, cell: usize },
}

/// What a thread owns.
#[derive(Serialize)]
struct Owned {
    thread: i64,
    /// The owners of the cell that was chosen, as far as they are listed.
    owners: Vec<(i64, i64)>,
    /// How many own that cell.
    count: usize,
    /// For each grid the thread's values and their cells, in the order of values.
    cells: Vec<Vec<(i64, usize)>>,
}

fn choose(choice: Choice) -> Result<Owned, Fault> {
    let (sheet, _) = choice.of.sheet()?;
    let (thread, owners) = match choice.by {
        Chosen::Thread(thread) => (thread, Vec::new()),
        Chosen::Cell { grid, cell } => {
            let at = |cell: usize| -> Option<&Cell> {
                let grid = sheet.grids.get(grid)?;
                grid.cells.get(cell.checked_div(grid.columns())?)?.get(cell % grid.columns())
            };
            let chosen = at(cell).ok_or_else(|| Fault::new("cell", "there is no such cell"))?;
            let first =
                chosen.owners.first().ok_or_else(|| Fault::new("cell", "no thread owns this cell"))?;
            (first.0, chosen.owners.clone())
        }
    };
    let of_grid = |grid: &girih_picture::Grid| {
        let cells = grid.cells.iter().flatten().enumerate();
        let mut own: Vec<(i64, usize)> = cells
            .flat_map(|(at, cell)| {
                let own = cell.owners.iter().filter(|(owner, _)| *owner == thread);
                own.map(move |(_, value)| (*value, at))
            })
            .collect();
        own.sort_unstable();
        own
    };
    let cells: Vec<_> = sheet.grids.iter().map(of_grid).collect();
    if cells.iter().all(Vec::is_empty) {
        return Err(Fault::new("thread", format!("thread {thread} owns no cell")).in_field("thread"));
    }
    let count = owners.len();
    Ok(Owned { thread, owners: owners.into_iter().take(LISTED).collect(), count, cells })
}
