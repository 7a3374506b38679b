//! The pass before a product: A or B that tensor maps cannot describe, or both, are copied to rows that begin at multiples of 16 bytes.

use girih_layout::{Int, Lay, Symbol};
use girih_ptx::Special;
use girih_tensor::{DType, Slice, Tensor};

use super::{Batch, MAX_BATCHES, MAX_EXTENT, MAX_STRIDE};
use crate::algorithm::{CopyWith, copy};
use crate::atom::{AUTO_VECTORIZING_COPY, CopyAtom, universal_copy};
use crate::builder::{Builder, Cond};
use crate::error::narrow;
use crate::sizes::shape_tiler;
use crate::{Error, Expr, Gmem, Kernel, Rmem, TiledCopy};

/// The bytes of which the new pitch is a multiple.
const LINE: i64 = 16;
/// The warps of a block, each of which copies a part of a row.
const WARPS: i64 = 8;
const LANES: i64 = 32;
/// The bytes that a thread writes at once, unless it reads more at once.
const WORD: i64 = 4;
/// How often a thread does so: enough for memory not to wait.
const WORDS: i64 = 8;
/// The most tiles of one matrix.
const MAX_TILES: i64 = i32::MAX as i64;

/// The names of the two matrices in parameters.
const NAMES: [&str; 2] = ["a", "b"];

/// What the pass is specialised by. A module serves every size and every pitch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepitchConfig {
    /// The kernel's name in the module.
    pub name: &'static str,
    /// Bits of an element: 8, 16, 32 or 64.
    pub bits: u32,
    /// Of A and of B, if it is copied, how many elements are read at once: they divide its contiguous extent, its pitch and its stride in a
    /// batch, and their bytes divide its address. These are at most 8 bytes.
    pub vectors: [Option<i64>; 2],
    /// Whether A and B are the matrices of a batch. The copies of these follow each other without a gap.
    pub batch: Batch,
    /// Whether the pass waits before it accesses memory, so that its launch may be a programmatic one, and lets the product prepare itself
    /// meanwhile (programmatic dependent launch, sm_90).
    pub programmatic: bool,
}

/// A parameter of the pass: what it says of A (0) or B (1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RepitchParam {
    /// The 64-bit address of the matrix as it is.
    From(usize),
    /// The 64-bit address that it is copied to.
    To(usize),
    /// The extent of its mode that is not contiguous, 32 bits.
    Rows(usize),
    /// The extent of its contiguous mode, 32 bits.
    Columns(usize),
    /// Its pitch in elements, 32 bits.
    Pitch(usize),
    /// The pitch of the copy, which is filled up with zeros, 32 bits.
    NewPitch(usize),
    /// How many elements a matrix of a batch is behind the one before, 64 bits.
    Stride(usize),
    /// How many blocks copy A, 32 bits; the others copy B. Only a pass that copies both has this.
    Blocks,
}

/// A generated pass.
#[derive(Clone, Debug)]
pub struct Repitch {
    /// The kernel [`RepitchConfig::name`].
    pub kernel: Kernel,
    /// What each of the kernel's parameters is, in their order.
    pub params: Vec<RepitchParam>,
    /// Rows and columns of a block's tile of A and of B.
    tiles: [[i64; 2]; 2],
}

impl Repitch {
    /// How many blocks copy A (0) or B (1), or as many as `batches` matrices, whose rows are `pitch` elements apart in the copy.
    ///
    /// # Errors
    /// [`Error::Config`] for more blocks than a grid has.
    pub fn blocks(&self, operand: usize, [rows, pitch, batches]: [i64; 3]) -> Result<u32, Error> {
        let tile = self.tiles[operand.min(1)];
        let tiles = |extent: i64, tile: i64| (extent.max(0) as u64).div_ceil(tile as u64);
        let blocks = (tiles(rows, tile[0]) * tiles(pitch, tile[1])).saturating_mul(batches.max(0) as u64);
        if blocks > MAX_TILES as u64 {
            let (value, accepted) = (blocks.to_string(), format!("at most {MAX_TILES}"));
            return Err(Error::Config { what: "tiles of a matrix that is copied", value, accepted });
        }
        Ok(blocks as u32)
    }
}

/// A matrix of the pass. Columns are its contiguous mode, whichever mode of A or B that is.
struct Copied {
    pointers: [Expr; 2],
    layouts: [Lay; 2], // (Rows,Columns) and (Rows,NewPitch)
    /// The elements from a matrix to the next one.
    stride: Option<Expr>,
    dtype: DType,
    copy: TiledCopy,
    tile: [i64; 2],
}

/// Generates the pass of `config`.
///
/// # Errors
/// [`Error::Config`] if nothing is copied, or for elements or vectors that do not exist.
///
/// # Examples
/// ```
/// use girih_codegen::gemm::{Batch, RepitchConfig, RepitchParam, repitch};
///
/// // B alone is copied, from rows that begin at any element of 2 bytes to rows of 128 elements.
/// let pass = repitch(&RepitchConfig { name: "repitch", bits: 16, vectors: [None, Some(1)], batch: Batch::Single, programmatic: false })?;
/// assert_eq!(pass.params[0], RepitchParam::From(1));
/// assert_eq!(pass.blocks(1, [4096, 128, 1])?, 512);
/// # Ok::<(), girih_codegen::Error>(())
/// ```
pub fn repitch(config: &RepitchConfig) -> Result<Repitch, Error> {
    let refuse =
        |what, value: String, accepted: &str| Err(Error::Config { what, value, accepted: accepted.into() });
    let dtype = match config.bits {
        8 => DType::U8,
        16 => DType::U16,
        32 => DType::U32,
        64 => DType::U64,
        bits => return refuse("bits of an element", bits.to_string(), "8, 16, 32 or 64"),
    };
    let element = i64::from(config.bits / 8);
    for vector in config.vectors.into_iter().flatten() {
        if vector < 1 || vector.count_ones() != 1 || vector.saturating_mul(element) > 8 {
            return refuse("vector", vector.to_string(), &format!("powers of two up to {}", 8 / element));
        }
    }
    let sm = if config.programmatic { 90 } else { 80 };
    let mut b = Builder::new(config.name, sm, narrow("threads", WARPS * LANES)?);
    let (mut params, mut tiles, mut copied) = (Vec::new(), [[0; 2]; 2], Vec::new());
    for (operand, vector) in config.vectors.into_iter().enumerate() {
        if let Some(vector) = vector {
            let one = Copied::new(&mut b, operand, dtype, vector, config.batch, &mut params)?;
            tiles[operand] = one.tile;
            copied.push(one);
        }
    }
    if config.programmatic {
        b.launch_dependent_grids();
        b.wait_on_dependent_grids();
    }
    let block = b.special(Special::CtaidX);
    match &copied[..] {
        [] => return refuse("matrices that are copied", String::from("none"), "A or B or both"),
        [one] => one.emit(&mut b, &block)?,
        [first, second, ..] => {
            params.push(RepitchParam::Blocks);
            let blocks = b.number("blocks", MAX_TILES);
            let of_second = &block - &blocks;
            b.if_else(
                &Cond::less(&block, &blocks),
                |b| first.emit(b, &block),
                |b| {
                    let block = b.bounded(&of_second, MAX_TILES)?;
                    second.emit(b, &block)
                },
            )?;
        }
    }
    Ok(Repitch { kernel: b.finish()?, params, tiles })
}

impl Copied {
    /// Declares the parameters of matrix `operand`.
    fn new(
        b: &mut Builder,
        operand: usize,
        dtype: DType,
        vector: i64,
        batch: Batch,
        params: &mut Vec<RepitchParam>,
    ) -> Result<Copied, Error> {
        let element = i64::from(dtype.bits() / 8);
        let (name, line) = (NAMES[operand], LINE / element);
        let from = b.pointer(name, vector * element);
        let to = b.pointer(&format!("{name}_to"), LINE);
        let mut number = |what: &str, divisor: i64| -> Result<Symbol, Error> {
            let facts = |symbol: Symbol| symbol.at_least(1).at_most(MAX_EXTENT).divisible_by(divisor);
            b.symbol(&format!("{name}_{what}"), facts)
        };
        let (rows, columns) = (number("rows", 1)?, number("columns", vector)?);
        let (pitch, new_pitch) = (number("pitch", vector)?, number("new_pitch", line)?);
        params.extend([
            RepitchParam::From(operand),
            RepitchParam::To(operand),
            RepitchParam::Rows(operand),
            RepitchParam::Columns(operand),
            RepitchParam::Pitch(operand),
            RepitchParam::NewPitch(operand),
        ]);
        let stride = (batch == Batch::Strided).then(|| {
            params.push(RepitchParam::Stride(operand));
            b.wide_number(&format!("{name}_stride"), MAX_STRIDE, vector)
        });
        let [rows, columns, pitch, new_pitch] = [rows, columns, pitch, new_pitch].map(Int::symbol);
        let layout = |columns, pitch| Lay::strided([rows, columns], [pitch, Int::fixed(1)]);
        // A warp has a row, and writes whole lines of the cache.
        let together = vector.max(WORD / element);
        let bits = narrow("bits that a thread writes", together * i64::from(dtype.bits()))?;
        let by_thread = Lay::strided([WARPS, LANES], [LANES, 1])?; // (ThrM,ThrN) -> thread
        let by_value = Lay::strided([1, together], [together, 1])?; // (ValM,ValN) -> value
        Ok(Copied {
            pointers: [from, to],
            layouts: [layout(columns, pitch)?, layout(new_pitch, new_pitch)?],
            stride,
            dtype,
            copy: TiledCopy::new(universal(bits)?, dtype.bits(), &by_thread, &by_value)?,
            tile: [WARPS, LANES * together * WORDS],
        })
    }

    /// Copies the tile of block `block`.
    fn emit(&self, b: &mut Builder, block: &Expr) -> Result<(), Error> {
        let ([rows, columns], [_, width]) = (extents(&self.layouts[0]), extents(&self.layouts[1]));
        let [tile_m, tile_n] = self.tile;
        let across = (&width + (tile_n - 1)).div(tile_n)?;
        let rows_of_all = if self.stride.is_some() { MAX_TILES } else { MAX_EXTENT / tile_m };
        let row = b.divide(block, &across, rows_of_all)?;
        let column = b.bounded(&(block - &(&row * &across)), MAX_EXTENT / tile_n)?;
        let (row, pointers) = self.of_batch(b, row, [&rows, &width])?;
        let inside = |at: &Expr, tile: i64, extent: &Expr| Cond::less(&(&(at + 1) * tile), &(extent + 1));
        b.if_else(
            &Cond::all([inside(&row, tile_m, &rows), inside(&column, tile_n, &columns)]),
            // No predicates are in the way of the loads.
            |b| {
                self.emit_tile(b, [&row, &column], &pointers, |pointer, layout| {
                    Ok(Tensor::new(Gmem::new(pointer, self.dtype), layout))
                })
            },
            |b| {
                // As variables of this branch, so that the predicates are computed here and not before.
                let (row, column) = (b.bounded(&row, row.range().1)?, b.bounded(&column, column.range().1)?);
                self.emit_tile(b, [&row, &column], &pointers, |pointer, layout| {
                    Gmem::bounded(pointer, self.dtype, &layout)
                })
            },
        )
    }

    /// The row of tiles in its matrix, of all rows of tiles of a batch, and where that matrix and its copy begin.
    fn of_batch(
        &self,
        b: &mut Builder,
        row: Expr,
        [rows, width]: [&Expr; 2],
    ) -> Result<(Expr, [Expr; 2]), Error> {
        let Some(stride) = &self.stride else { return Ok((row, self.pointers.clone())) };
        let down = (rows + (self.tile[0] - 1)).div(self.tile[0])?;
        let batch = b.divide(&row, &down, MAX_BATCHES - 1)?;
        let row = b.bounded(&(&row - &(&batch * &down)), MAX_EXTENT / self.tile[0])?;
        let element = i64::from(self.dtype.bits() / 8);
        let further = [&batch * stride, &(&batch * rows) * width];
        let pointers = [0, 1].map(|i| &self.pointers[i] + &(&further[i] * element));
        Ok((row, pointers))
    }

    fn emit_tile(
        &self,
        b: &mut Builder,
        at: [&Expr; 2],
        pointers: &[Expr; 2],
        tensor: impl Fn(Expr, Lay) -> Result<Tensor<Gmem>, Error>,
    ) -> Result<(), Error> {
        let mine = self.copy.get_slice(&b.special(Special::TidX))?;
        let at = at.map(|at| Slice::At(at.clone()));
        let tile = |i: usize| -> Result<Tensor<Gmem>, Error> {
            Ok(tensor(pointers[i].clone(), self.layouts[i])?.local_tile(&shape_tiler(&self.tile)?, &at)?)
        };
        let from = mine.partition_s(&tile(0)?)?; // (Word,1,Words)
        let to = mine.partition_d(&tile(1)?)?; // (Word,1,Words)
        let values = Rmem::like(b, &from)?;
        copy(b, CopyWith::from(AUTO_VECTORIZING_COPY).zero_fill(), &from, &values)?;
        copy(b, AUTO_VECTORIZING_COPY, &values, &to)
    }
}

/// The extents of a matrix.
fn extents(matrix: &Lay) -> [Expr; 2] {
    [0, 1].map(|leaf| Expr::from_int(&matrix.flat_leaf(leaf).0))
}

/// The copy of `bits` bits.
fn universal(bits: u32) -> Result<CopyAtom, Error> {
    universal_copy(bits / 8).copied().ok_or_else(|| Error::Config {
        what: "bits that a thread writes",
        value: bits.to_string(),
        accepted: String::from("32 or 64"),
    })
}
