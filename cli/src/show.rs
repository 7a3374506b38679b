//! `girih show`: draws atoms, tiled copies and MMAs, and what an access does to the banks of shared memory.

mod sheet;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Subcommand, ValueEnum};
use girih_codegen::atom::{CopyAtom, MmaAtom};
use girih_codegen::plan::{WarpAccess, warp_accesses};
use girih_codegen::{Operand, TiledCopy, TiledMma};
use girih_layout::{Composed, Lay, Tile, Tiler};
use girih_tensor::DType;

use crate::output::Output;
use crate::{CommandResult, Error, marked};
pub use sheet::colour;
use sheet::{Cell, Grid, Sheet, heat};

/// The most cells of a picture.
const CELLS: i64 = 1 << 16;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// How the picture is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Svg,
    Latex,
}

/// The arguments of `girih show`.
#[derive(clap::Args)]
#[command(after_help = "\
A cell names a thread (T) and a value (V) and has the colour of the thread; T* is what all threads share.

  girih show mma SM80_16x8x16_F32BF16BF16F32_TN
  girih show mma SM90_64x64x16_F32BF16BF16_RS --format svg -o mma.svg
  girih show copy SM75_U32x4_LDSM_N
  girih show tiled-mma SM80_16x8x16_F32F16F16F32_TN --atoms '(2,2,1)'
  girih show tiled-copy 'UniversalCopy<uint128_t>' --threads '(32,8):(8,1)' --values '(1,8):(8,1)' --dtype bf16
  girih show smem 'Sw<3,3,3> o 0 o (64,64):(64,1)' --dtype bf16 --access '(32,8):(1,64)' --vector 8")]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
    /// The format of the picture
    #[arg(long, global = true, default_value = "text")]
    format: Format,
    /// The file for the picture [default: standard output]
    #[arg(short, long, global = true, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Subcommand)]
enum What {
    /// Which thread holds which elements of A, B and C in an MMA atom
    Mma {
        /// CuTe's name of the atom
        name: String,
    },
    /// Which bits a copy atom moves from which thread to which thread, 16 bytes in a row of the picture
    Copy {
        /// CuTe's name of the atom
        name: String,
        /// Bits of a cell
        #[arg(long, default_value_t = 16)]
        unit: i64,
    },
    /// Which thread holds which elements of a block's tiles of A, B and C
    TiledMma {
        /// CuTe's name of the atom
        name: String,
        /// The layout of the atoms, (AtomM,AtomN,AtomK) -> number of the atom, or the layout's shape alone
        #[arg(long, value_parser = marked::layout)]
        atoms: Lay,
        /// The orders in which M, N and K are handed out to the atoms: <32,16,_>
        #[arg(long, value_parser = marked::tiler)]
        permutation: Option<Tiler>,
    },
    /// Which thread copies which elements of a tile
    TiledCopy {
        /// CuTe's name of the atom
        name: String,
        /// (ThrM,ThrN) -> thread
        #[arg(long, value_parser = marked::layout)]
        threads: Lay,
        /// (ValM,ValN) -> value
        #[arg(long, value_parser = marked::layout)]
        values: Lay,
        /// The type of the elements
        #[arg(long)]
        dtype: DType,
    },
    /// The banks of a tile in shared memory, and how many words an access takes from each bank at a time
    Smem {
        /// The layout of the tile in memory, coordinate -> element
        #[arg(value_name = "LAYOUT", allow_hyphen_values = true, value_parser = marked::composed)]
        memory: Composed,
        /// The type of the elements
        #[arg(long)]
        dtype: DType,
        /// The access, (Thr,Val) -> index in the tile [default: none, which draws the banks alone]
        #[arg(long, value_parser = marked::layout)]
        access: Option<Lay>,
        /// Elements that a thread accesses at a time
        #[arg(long, default_value_t = 1)]
        vector: i64,
    },
}

pub(crate) fn run(args: Args) -> CommandResult {
    let sheet = match args.what {
        What::Mma { name } => mma(&find_mma(&name)?)?,
        What::Copy { name, unit } => copy(&find_copy(&name)?, unit)?,
        What::TiledMma { name, atoms, permutation } => tiled_mma(find_mma(&name)?, atoms, permutation)?,
        What::TiledCopy { name, threads, values, dtype } => {
            tiled_copy(&TiledCopy::new(find_copy(&name)?, dtype.bits(), &threads, &values)?)?
        }
        What::Smem { memory, dtype, access, vector } => smem(&memory, dtype, access, vector)?,
    };
    let text = match args.format {
        Format::Text => sheet.text(),
        Format::Svg => sheet.svg(),
        Format::Latex => sheet.latex(),
    };
    match args.output {
        Some(path) => Output::new(&path)?.write(|to| to.write_all(text.as_bytes()))?,
        None => io::stdout().lock().write_all(text.as_bytes())?,
    }
    Ok(ExitCode::SUCCESS)
}

fn find_mma(name: &str) -> Result<MmaAtom> {
    let unknown = || unknown(name, MmaAtom::all().map(|atom| atom.name()));
    Ok(MmaAtom::find(name).ok_or_else(unknown)?)
}

fn find_copy(name: &str) -> Result<CopyAtom> {
    let unknown = || unknown(name, CopyAtom::all().iter().map(CopyAtom::name));
    Ok(CopyAtom::find(name).ok_or_else(unknown)?)
}

/// The error for a name that no atom has, with the names of atoms that begin like that name.
fn unknown(name: &str, all: impl Iterator<Item = String>) -> Error {
    let begin = |other: &str| {
        let pairs = name.bytes().zip(other.bytes());
        pairs.take_while(|(a, b)| a.eq_ignore_ascii_case(b)).count()
    };
    let mut near: Vec<String> = all.collect();
    near.sort_by_key(|other| (std::cmp::Reverse(begin(other)), other.len()));
    near.truncate(5);
    Error::UnknownAtom { name: name.into(), near }
}

fn size(layout: &Lay) -> Result<i64> {
    layout.size()?.get().ok_or_else(|| Error::Unknown { layout: layout.to_string() }.into())
}

/// The threads and values that own the elements of a tile of rows and columns, by the layout `(Thr,Val) -> index`; the leftmost mode of an
/// index varies fastest.
fn owners(title: String, tv: &Lay, [rows, columns]: [i64; 2]) -> Result<Grid> {
    let (threads, values) = (size(&tv.mode(0)?)?, size(&tv.mode(1)?)?);
    if threads.saturating_mul(values).max(rows.saturating_mul(columns)) > CELLS * 16 || rows * columns > CELLS
    {
        return Err(Error::TooLarge { rows, columns, most: CELLS }.into());
    }
    let mut owners: Vec<Vec<(i64, i64)>> = vec![Vec::new(); (rows * columns) as usize];
    for (thread, value) in (0..values).flat_map(|value| (0..threads).map(move |thread| (thread, value))) {
        let at = tv.at(thread + threads * value)?;
        let place = usize::try_from(at).ok().and_then(|at| owners.get_mut(at));
        place.ok_or(Error::OutsideTile { thread, value, at, rows, columns })?.push((thread, value));
    }
    let cell = |owners: &Vec<(i64, i64)>| match owners[..] {
        [] => Cell { lines: [String::new(), String::new()], fill: 0xff_ff_ff },
        [(thread, value)] => {
            Cell { lines: [format!("T{thread}"), format!("V{value}")], fill: colour(thread) }
        }
        [(_, value), ..] if owners.len() as i64 == threads => {
            Cell { lines: ["T*".into(), format!("V{value}")], fill: 0xee_ee_ee }
        }
        [(thread, value), ..] => {
            let others = owners.len() - 1;
            Cell { lines: [format!("T{thread}+{others}"), format!("V{value}")], fill: colour(thread) }
        }
    };
    let row = |row: i64| (0..columns).map(|column| cell(&owners[(row + rows * column) as usize])).collect();
    Ok(Grid { title, cells: (0..rows).map(row).collect() })
}

/// The grid with rows and columns exchanged.
fn transposed(grid: Grid) -> Grid {
    let columns = grid.cells.first().map_or(0, Vec::len);
    let column = |column: usize| grid.cells.iter().map(|row| row[column].clone()).collect();
    Grid { cells: (0..columns).map(column).collect(), title: grid.title }
}

/// Draws A at the lower left, B at the upper right, and C where the rows of A meet the columns of B, as CuTe does.
fn around(title: String, [m, n, k]: [i64; 3], [a, b, c]: [Lay; 3]) -> Result<Sheet> {
    Ok(Sheet {
        title,
        grids: vec![
            ((1, 0), owners(format!("A (M,K) {a}"), &a, [m, k])?),
            ((0, 1), transposed(owners(format!("B (K,N) of {b}"), &b, [n, k])?)),
            ((1, 1), owners(format!("C (M,N) {c}"), &c, [m, n])?),
        ],
    })
}

fn mma(atom: &MmaAtom) -> Result<Sheet> {
    around(atom.name(), atom.shape_mnk, [atom.a, atom.b, atom.c])
}

fn tiled_mma(atom: MmaAtom, atoms: Lay, permutation: Option<Tiler>) -> Result<Sheet> {
    let mut mma = TiledMma::new(atom, atoms)?;
    let mut title = format!("{} by {atoms}", mma.atom.name());
    if let Some(permutation) = permutation {
        let tiles = match &permutation {
            Tiler::Modes(tiles) if tiles.len() <= 3 => tiles,
            other => {
                let expected =
                    String::from("up to three orders, of M, N and K, in angle brackets, such as <32,16,_>");
                return Err(Error::Argument { text: other.to_string(), expected }.into());
            }
        };
        let tile = |i: usize| if i < tiles.len() { tiles.tile(i) } else { Ok(Tile::All) };
        mma = mma.with_permutation([tile(0)?, tile(1)?, tile(2)?]);
        title += &format!(" permuted by {permutation}");
    }
    let [a, b, c] = Operand::ALL.map(|operand| mma.layout_tv(operand));
    around(title, mma.tile_size_mnk()?, [a?, b?, c?])
}

/// Draws what a copy atom moves in rows of 16 bytes.
fn copy(atom: &CopyAtom, unit: i64) -> Result<Sheet> {
    let piece = size(&atom.reference.mode(1)?)?.min(128);
    if unit < 1 || piece % unit != 0 {
        let expected = format!("bits of a cell that divide the {piece} of a thread's row");
        return Err(Error::Argument { text: unit.to_string(), expected }.into());
    }
    let side = |title: &str, bits: &Lay| -> Result<Grid> {
        let units = bits.upcast(unit)?; // (Thr,Val) -> unit
        let count = units.cosize()?.get().unwrap_or(0);
        let columns = (128 / unit).clamp(1, count.max(1));
        let grid =
            owners(format!("{title} {bits} (bits), {unit} bits a cell"), &units, [columns, count / columns])?;
        Ok(transposed(grid))
    };
    Ok(Sheet {
        title: atom.name(),
        grids: vec![((0, 0), side("source", &atom.src)?), ((0, 1), side("destination", &atom.dst)?)],
    })
}

fn tiled_copy(copy: &TiledCopy) -> Result<Sheet> {
    let extents = copy.extents()?;
    let &[rows, columns] = &extents[..] else {
        return Err(Error::NoMatrix { extents }.into());
    };
    let (source, destination) = (copy.layout_s_tv(&extents)?, copy.layout_d_tv(&extents)?);
    let mut grids = vec![((0, 0), owners(format!("source {source}"), &source, [rows, columns])?)];
    if destination != source {
        grids.push(((0, 1), owners(format!("destination {destination}"), &destination, [rows, columns])?));
    }
    Ok(Sheet { title: format!("{} by {} threads", copy.atom.name(), copy.threads()?), grids })
}

fn smem(memory: &Composed, dtype: DType, access: Option<Lay>, vector: i64) -> Result<Sheet> {
    let bits = i64::from(dtype.bits());
    let shape = *memory.layout().shape();
    let (rows, columns) = match shape.rank() {
        1 => (1, size(memory.layout())?),
        _ => (size(&memory.layout().mode(0)?)?, size(memory.layout())? / size(&memory.layout().mode(0)?)?),
    };
    if rows.saturating_mul(columns) > CELLS {
        return Err(Error::TooLarge { rows, columns, most: CELLS }.into());
    }
    let bank = |index: i64| (index * bits).div_euclid(32).rem_euclid(32);
    // For each element, how many words the access of that element takes from the element's bank.
    let mut ways: Vec<Option<i64>> = vec![None; (rows * columns) as usize];
    let mut title = format!("banks of {memory}, {dtype}");
    if let Some(tv) = &access {
        let accesses = warp_accesses(memory, tv, bits, vector)?;
        let threads = size(&tv.mode(0)?)?;
        for one in &accesses {
            for (lane, count) in one.ways().into_iter().enumerate() {
                for value in one.value..one.value + vector {
                    let element = tv.at(one.warp * 32 + lane as i64 + threads * value)?;
                    if let Some(way) = usize::try_from(element).ok().and_then(|at| ways.get_mut(at)) {
                        *way = Some(way.unwrap_or(1).max(count));
                    }
                }
            }
        }
        let pieces: girih_codegen::plan::Pieces = accesses.iter().map(WarpAccess::wavefronts).sum();
        title += &format!(" under {tv} by {vector}: wavefronts {pieces}");
    }
    let most = ways.iter().flatten().copied().max().unwrap_or(1).max(2);
    let cell = |element: i64| -> Result<Cell> {
        let bank = bank(memory.at(element)?);
        Ok(match (access.is_some(), ways[element as usize]) {
            (false, _) => Cell { lines: [format!("b{bank}"), String::new()], fill: colour(bank / 4) },
            (true, None) => Cell { lines: [format!("b{bank}"), String::new()], fill: 0xee_ee_ee },
            (true, Some(ways)) => Cell {
                lines: [format!("b{bank}"), format!("x{ways}")],
                fill: heat((ways - 1) as f64 / (most - 1) as f64),
            },
        })
    };
    let row = |row: i64| (0..columns).map(|column| cell(row + rows * column)).collect::<Result<Vec<_>>>();
    let cells = (0..rows).map(row).collect::<Result<_>>()?;
    Ok(Sheet {
        title,
        grids: vec![(
            (0, 0),
            Grid { title: "bank, and words that an access takes from the bank at a time".into(), cells },
        )],
    })
}
