//! The reference evaluator, which defines the meaning of a tile program.
//!
//! It runs a [`Func`] block by block, in the order of the grid (axis 0 first), on the bits of the elements:
//!
//! * Integers wrap, and are undetermined where it was [promised](girih_tile::ir::Overflow) that they do not. A quotient or remainder by 0 is undetermined. A shift counts its amount as an unsigned number, and beyond the width
//!   as the width.
//! * Floats of all formats are computed exactly and rounded once, in the asked direction; the functions that have no exact value, such as
//!   the exponential, are computed in f64 and rounded. Full and approximate results are the nearest ones here.
//! * Minimum and maximum take -0 to be below 0.
//! * Reductions and scans combine in the order of indices. Sums and products of f16 and bf16 are computed in f32.
//! * Products of matrices are summed in f64, in the order of indices, from the accumulator's element on, and rounded to its dtype at the end;
//!   integers are summed exactly and wrap. What does not enter the sum of an element does not poison it.
//! * What is undetermined, such as the padding of a load that asks for none, is poison: it goes through operations to all that depends on
//!   it, and is an error where it is stored, indexes memory, or decides a branch.
//! * Accesses by tiles of indices take elements row-major.
//!
//! A kernel whose blocks depend on each other's order has no meaning here beyond this one order.
//!
//! # Examples
//! ```
//! use girih_tile::prelude::*;
//!
//! #[kernel]
//! fn double(x: &Array<f32, 1>, y: &mut Array<f32, 1>) {
//!     let block = bid(0);
//!     y.tiles_mut([4]).store((block,), x.tiles([4]).load((block,)) * 2.0);
//! }
//!
//! use girih_tensor::DType;
//! use girih_tile_reference::{ArrayData, run};
//!
//! let bits = |values: [f32; 4]| values.map(|x| u64::from(x.to_bits()));
//! let x = ArrayData::dense(DType::F32, &[4], &bits([0.0, 1.0, -2.0, 0.5]));
//! let y = ArrayData::dense(DType::F32, &[4], &[0; 4]);
//! let mut arrays = [x, y];
//! run(&double::ir()?, [1; 3], &mut arrays, &[])?;
//! assert_eq!(arrays[1].elements(), Some(bits([0.0, 2.0, -4.0, 1.0]).to_vec()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod control;
mod each;
mod gather;
mod memory;
mod print;
mod product;
mod reduce;
mod scan;
mod shape;
mod sort;
mod tile;

pub use girih_tile::exact::{apply, convert, float, integer, mask, number};
pub use memory::{ArrayData, row_major};
pub use tile::Tile;

use control::Left;

use girih_tile::ir::{Func, Kind, Op, Type, Value};

/// Why an evaluation has no meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(pub String);

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "evaluation: {}", self.0)
    }
}

impl std::error::Error for Error {}

type Result<T = ()> = std::result::Result<T, Error>;

/// The results of a run other than the arrays.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Outcome {
    /// What the kernel has printed.
    pub printed: String,
    /// Operations that were evaluated.
    pub steps: u64,
}

/// The most operations that a run evaluates before it is taken for one without an end.
const LIMIT: u64 = 1 << 32;

/// Runs a program: `arrays` are the kernel's array parameters, `scalars` the bits of its scalar parameters.
///
/// # Errors
/// [`Error`] for arguments that are not those of the program, and where the program has no meaning: undetermined values that are
/// used, elements outside of memory, an assertion that does not hold.
pub fn run(func: &Func, grid: [u32; 3], arrays: &mut [ArrayData], scalars: &[u64]) -> Result<Outcome> {
    let dtypes: Vec<_> = func.params().map(|(_, param)| param).collect();
    if dtypes.len() != arrays.len() || func.scalars().len() != scalars.len() {
        return failed(format!(
            "{} arrays and {} scalars for a kernel of {} and {}",
            arrays.len(),
            scalars.len(),
            dtypes.len(),
            func.scalars().len()
        ));
    }
    for (param, data) in dtypes.iter().zip(&*arrays) {
        if param.dtype != data.dtype || param.extents.len() != data.extents.len() {
            return failed(format!(
                "`{}` is an array of {} of rank {}, not of {} of rank {}",
                param.name,
                param.dtype,
                param.extents.len(),
                data.dtype,
                data.extents.len()
            ));
        }
    }
    let mut block = Block {
        func,
        arrays,
        scalars,
        grid,
        bid: [0; 3],
        values: vec![None; func.value_count()],
        printed: String::new(),
        steps: 0,
        limit: LIMIT,
    };
    for z in 0..grid[2] {
        for y in 0..grid[1] {
            for x in 0..grid[0] {
                block.bid = [x, y, z];
                block.values.iter_mut().for_each(|value| *value = None);
                if let Err(Error(message)) = block.region(func.body(), Vec::new()).map(|_| ()) {
                    return failed(format!("block ({x}, {y}, {z}): {message}"));
                }
            }
        }
    }
    Ok(Outcome { printed: block.printed, steps: block.steps })
}

fn failed<T>(message: String) -> Result<T> {
    Err(Error(message))
}

/// The bits of an element that decides something.
fn decided((bits, poison): (u64, bool), what: &str) -> Result<u64> {
    if poison { failed(format!("{what} is undetermined")) } else { Ok(bits) }
}

/// A block of a run.
struct Block<'a> {
    func: &'a Func,
    arrays: &'a mut [ArrayData],
    scalars: &'a [u64],
    grid: [u32; 3],
    bid: [u32; 3],
    values: Vec<Option<Tile>>,
    printed: String,
    steps: u64,
    limit: u64,
}

impl<'a> Block<'a> {
    fn get(&self, value: Value) -> Result<Tile> {
        self.values[value.index()]
            .clone()
            .map_or_else(|| failed(format!("value {} has no value yet", value.0)), Ok)
    }

    fn all(&self, values: &[Value]) -> Result<Vec<Tile>> {
        values.iter().map(|&value| self.get(value)).collect()
    }

    fn set(&mut self, value: Value, tile: Tile) {
        self.values[value.index()] = Some(tile);
    }

    /// Evaluates an operation. What leaves the region is returned.
    fn op(&mut self, op: &'a Op) -> Result<Option<Left>> {
        let results: Vec<Tile> = match &op.kind {
            Kind::If | Kind::For | Kind::Loop => return self.control(op),
            Kind::Load(view) => vec![self.load(view, op)?],
            Kind::Store(view) => self.store(view, op).map(|()| Vec::new())?,
            Kind::Gather(at) => vec![self.gather(at, op)?],
            Kind::Scatter(at) => self.scatter(at, op).map(|()| Vec::new())?,
            Kind::Atomic { rmw, at } => self.atomic(*rmw, at, op)?.into_iter().collect(),
            Kind::Print(format) => self.print(format, op).map(|()| Vec::new())?,
            Kind::Assert(message) => {
                match self.get(op.operands[0])?.elements().find(|element| *element != (1, false)) {
                    None => Vec::new(),
                    Some((_, true)) => return failed(format!("an assertion is undetermined: {message}")),
                    Some(_) => return failed(format!("an assertion does not hold: {message}")),
                }
            }
            Kind::Reduce { axis, combine, .. } => reduce::reduce(self, op, usize::from(*axis), *combine)?,
            Kind::Scan { .. } => scan::scan(self, op)?,
            _ => self.pure(op)?,
        };
        if results.len() != op.results.len() {
            return failed(format!(
                "{} values for {} results of {:?}",
                results.len(),
                op.results.len(),
                op.kind
            ));
        }
        for (&value, tile) in op.results.iter().zip(results) {
            let ty = self.func.ty(value);
            if tile.ty != ty || tile.bits.len() as u64 != ty.dims.size() {
                return failed(format!(
                    "a result {} of {} elements where {ty} is declared",
                    tile.ty,
                    tile.bits.len()
                ));
            }
            self.set(value, tile);
        }
        Ok(None)
    }

    /// Operations whose results depend on their operands and the block alone.
    fn pure(&mut self, op: &Op) -> Result<Vec<Tile>> {
        let owned = self.all(&op.operands)?;
        let operands: Vec<&Tile> = owned.iter().collect();
        if let Kind::Sort { axis, descending } = op.kind {
            return Ok(sort::sort(&operands, usize::from(axis), descending));
        }
        let [result] = op.results[..] else {
            return failed(format!("{:?} with {} results", op.kind, op.results.len()));
        };
        let result: Type = self.func.ty(result);
        let size = result.dims.size() as usize;
        let counted = |n: i64| Ok(vec![Tile::new(result, vec![n.cast_unsigned() & mask(result.dtype)])]);
        let tile = match &op.kind {
            Kind::Full(bits) => Some(Tile::new(result, vec![*bits; size])),
            Kind::Dense(bits) => Some(Tile::new(result, bits.to_vec())),
            Kind::Iota => Some(Tile::new(result, (0..size as u64).map(|i| i & mask(result.dtype)).collect())),
            Kind::Bid(_) if !operands.is_empty() => Some(operands[0].clone()),
            // Each block of the grid runs.
            Kind::Worker => {
                let [[x, y, z], [rows, columns, _]] = [self.bid, self.grid].map(|of| of.map(i64::from));
                return counted(x + rows * (y + columns * z));
            }
            Kind::Workers => return counted(self.grid.iter().map(|&n| i64::from(n)).product()),
            Kind::Bid(axis) => return counted(i64::from(self.bid[usize::from(*axis)])),
            Kind::NumBlocks(axis) => return counted(i64::from(self.grid[usize::from(*axis)])),
            Kind::Dim(array, axis) => return counted(self.part(*array)?.extents[usize::from(*axis)]),
            Kind::Param(i) => {
                Some(Tile::new(result, vec![self.scalars[usize::from(*i)] & mask(result.dtype)]))
            }
            Kind::Cast(rounding) => Some(each::cast(operands[0], *rounding, result)),
            Kind::Histogram => Some(sort::histogram(operands[0], result)),
            Kind::Mma => Some(product::mma(operands[0], operands[1], operands[2])),
            kind => {
                each::tiles(kind, &operands, result).or_else(|| shape::rearrange(kind, &operands, result))
            }
        };
        match tile {
            Some(tile) => Ok(vec![tile]),
            None => failed(format!("the reference has no {:?}", op.kind)),
        }
    }
}
