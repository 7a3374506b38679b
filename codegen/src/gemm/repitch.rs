//! The pass that aligns A or B before a GEMM: it copies rows to multiples of 16 bytes, as tensor maps need them.
//!
//! A source row may begin at any byte. A thread reads the two aligned vectors of 16 bytes that contain its 16 bytes, and shifts them in
//! registers. The other bytes of these vectors belong to the same matrix. At the ends of the matrix they would not, so bytes are copied one by
//! one there.

use girih_ptx::{Special, Type};
use girih_tensor::Space;

use super::{Batch, MAX_BATCHES, MAX_EXTENT, MAX_STRIDE};
use crate::builder::{Builder, Cond, Reg, Width};
use crate::error::{GemmError, narrow};
use crate::params::Params;
use crate::{Error, Expr, Generated};

/// The bytes of a vector, and its words of 4 bytes.
const VECTOR: i64 = 16;
const WORDS: usize = 4;
/// The warps of a block, each of which copies a part of a row.
const WARPS: i64 = 8;
const LANES: i64 = 32;
/// The vectors of a thread, which are in flight together.
const EACH: i64 = 4;
/// The vectors of a row that a block copies.
const ACROSS: i64 = LANES * EACH;
/// The most tiles of one matrix.
const MAX_TILES: i64 = i32::MAX as i64;
/// The most bytes of a row and of a pitch.
const MAX_BYTES: i64 = 8 * MAX_EXTENT;
/// More than all bytes of memory.
const ADDRESSES: i64 = 1 << 48;

/// The names of the two matrices in parameters.
const NAMES: [&str; 2] = ["a", "b"];

/// The configuration of the pass. A module accepts every size, pitch and alignment, and elements of any size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RepitchConfig {
    /// The kernel's name in the module.
    pub name: &'static str,
    /// Whether A is copied, and whether B is.
    pub copied: [bool; 2],
    /// Whether A and B are the matrices of a batch. The copies of these follow each other without a gap.
    pub batch: Batch,
    /// Whether the pass waits before it accesses memory, so that its launch may be a programmatic one, and lets the GEMM prepare itself
    /// meanwhile (programmatic dependent launch, sm_90).
    pub programmatic: bool,
}

/// A matrix that the pass copies, each row of its contiguous mode in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rows {
    /// The extent of its mode that is not contiguous.
    pub rows: i64,
    /// The bytes of a row, at most 2^33.
    pub bytes: i64,
    /// The bytes from a row to the next, at most 2^33.
    pub pitch: i64,
    /// The bytes from a row of the copy to the next, a multiple of 16. The bytes after a row are unspecified.
    pub new_pitch: i64,
    /// How many matrices there are.
    pub batches: i64,
    /// The bytes from one matrix to the next.
    pub stride: i64,
}

/// A generated pass for A (0) and B (1). Its memory is `a` and `b`, at any address, and `a_to` and `b_to`, where these are copied.
pub type Repitch = Generated<[Rows; 2]>;

impl Rows {
    /// How many blocks copy the matrices.
    ///
    /// # Errors
    /// [`GemmError::CopiedTiles`] for more blocks than a grid has, [`GemmError::CopiedRows`] for more than 2^30 rows of all matrices.
    pub fn blocks(&self) -> Result<u32, Error> {
        let Rows { rows, bytes, batches, .. } = *self;
        let all = rows.max(0).saturating_mul(batches.max(0));
        if all > MAX_EXTENT {
            return Err(GemmError::CopiedRows { rows: all, most: MAX_EXTENT }.into());
        }
        let tiles = |extent: i64, tile: i64| (extent.max(0) as u64).div_ceil(tile as u64);
        let of_one = tiles(rows, WARPS).saturating_mul(tiles(bytes, ACROSS * VECTOR));
        let blocks = of_one.saturating_mul(batches.max(0) as u64);
        if blocks > MAX_TILES as u64 {
            return Err(GemmError::CopiedTiles { tiles: blocks, most: MAX_TILES }.into());
        }
        Ok(blocks as u32)
    }
}

/// A matrix of the pass. Rows are contiguous, whichever mode of A or B they are.
struct Copied {
    from: Expr,
    to: Expr,
    rows: Expr,
    bytes: Expr,
    pitch: Expr,
    new_pitch: Expr,
    /// The bytes from a matrix to the next one.
    stride: Option<Expr>,
}

/// Generates the pass of `config`.
///
/// # Errors
/// [`GemmError::NothingCopied`] if nothing is copied.
///
/// # Examples
/// ```
/// use girih_codegen::gemm::{Batch, RepitchConfig, Rows, repitch};
///
/// // B alone is copied.
/// let copied = [false, true];
/// let pass = repitch(&RepitchConfig { name: "repitch", copied, batch: Batch::Single, programmatic: false })?;
/// assert_eq!(&*pass.kernel.params()[0].name, "b");
/// assert_eq!(Rows { rows: 4096, bytes: 254, batches: 1, ..Rows::default() }.blocks()?, 512);
/// # Ok::<(), girih_codegen::Error>(())
/// ```
pub fn repitch(config: &RepitchConfig) -> Result<Repitch, Error> {
    let sm = if config.programmatic { 90 } else { 80 };
    let mut b = Builder::new(config.name, sm, narrow("threads", WARPS * LANES)?);
    let mut params = Params::<[Rows; 2]>::default();
    let operands = [0, 1].into_iter().filter(|&operand| config.copied[operand]);
    let copied: Vec<Copied> =
        operands.map(|operand| Copied::new(&mut params, &mut b, operand, config.batch)).collect();
    if config.programmatic {
        b.launch_dependent_grids();
        b.wait_on_dependent_grids();
    }
    let block = b.special(Special::CtaidX);
    match &copied[..] {
        [] => return Err(GemmError::NothingCopied {}.into()),
        [one] => one.emit(&mut b, &block)?,
        [first, second, ..] => {
            let of_a = |matrices: &[Rows; 2]| matrices[0].blocks().map_or(i64::MAX, i64::from);
            let blocks = params.number(&mut b, "blocks", MAX_TILES, of_a);
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
    Ok(Generated { kernel: b.finish()?, params, partitions: Vec::new() })
}

impl Copied {
    /// Declares the parameters of matrix `operand`.
    fn new(params: &mut Params<[Rows; 2]>, b: &mut Builder, operand: usize, batch: Batch) -> Copied {
        let name = NAMES[operand];
        let from = params.pointer(b, name, 1);
        let to = params.pointer(b, &format!("{name}_to"), VECTOR);
        let rows = params.number(b, &format!("{name}_rows"), MAX_EXTENT, move |all| all[operand].rows);
        let mut bytes = |what: &str, multiple, value: fn(&Rows) -> i64| {
            let limits = (MAX_BYTES, multiple);
            params.wide(b, &format!("{name}_{what}"), limits, move |all| value(&all[operand]))
        };
        let (row, pitch) = (bytes("bytes", 1, |rows| rows.bytes), bytes("pitch", 1, |rows| rows.pitch));
        let new_pitch = bytes("new_pitch", VECTOR, |rows| rows.new_pitch);
        let limits = (8 * MAX_STRIDE, 1);
        let stride = (batch == Batch::Strided)
            .then(|| params.wide(b, &format!("{name}_stride"), limits, move |all| all[operand].stride));
        Copied { from, to, rows, bytes: row, pitch, new_pitch, stride }
    }

    /// Copies the tile of block `block`: as many rows as it has warps.
    fn emit(&self, b: &mut Builder, block: &Expr) -> Result<(), Error> {
        let vectors = (&self.bytes + (VECTOR - 1)).div(VECTOR)?;
        let across = (&vectors + (ACROSS - 1)).div(ACROSS)?.maximum(&Expr::from(1));
        let rows_of_all = if self.stride.is_some() { MAX_TILES } else { MAX_EXTENT / WARPS };
        let down = b.divide(block, &across, rows_of_all)?;
        let column = b.bounded(&(block - &(&down * &across)), MAX_BYTES / VECTOR / ACROSS)?;
        let (down, from, copied) = self.of_batch(b, down)?;
        let thread = b.special(Special::TidX);
        let warp = thread.div(LANES)?;
        let row = &(&down * WARPS) + &warp;
        let first = &(&column * ACROSS) + &(&thread - &(&warp * LANES));
        b.if_(&Cond::less(&row, &self.rows), |b| {
            let copied = b.value(&(&copied + &row), Width::W64)?;
            let to = b.var(&copied, 0, MAX_EXTENT - 1, 1);
            self.emit_row(b, [&row, &to], &from, [&first, &vectors])
        })
    }

    /// The row of tiles in its matrix, of all rows of tiles of a batch, where that matrix begins, and the rows of the matrices before it.
    fn of_batch(&self, b: &mut Builder, down: Expr) -> Result<(Expr, Expr, Expr), Error> {
        let Some(stride) = &self.stride else { return Ok((down, self.from.clone(), Expr::from(0))) };
        let of_one = (&self.rows + (WARPS - 1)).div(WARPS)?.maximum(&Expr::from(1));
        let batch = b.divide(&down, &of_one, MAX_BATCHES - 1)?;
        let down = b.bounded(&(&down - &(&batch * &of_one)), MAX_EXTENT / WARPS)?;
        Ok((down, &self.from + &(&batch * stride), &batch * &self.rows))
    }

    /// Copies the vectors of row `row` of the matrix at `from` to row `to` of all copies, as far as they are the thread's: `first`, and every
    /// this many lanes after it another one of `vectors`.
    fn emit_row(
        &self,
        b: &mut Builder,
        [row, to]: [&Expr; 2],
        from: &Expr,
        [first, vectors]: [&Expr; 2],
    ) -> Result<(), Error> {
        // No matrix has more bytes than there are addresses.
        let mut bounded = |bytes: Expr| -> Result<Expr, Error> {
            let bytes = b.value(&bytes, Width::W64)?;
            Ok(b.var(&bytes, 0, ADDRESSES, 1))
        };
        let end = bounded(&(&(&self.rows + -1) * &self.pitch) + &self.bytes)?;
        let before = bounded(row * &self.pitch)?;
        let (source, target) = (from + &before, &self.to + &(to * &self.new_pitch));
        let shift = Shift::new(b, &source)?;
        let mut read = Vec::new();
        for i in 0..EACH {
            let vector = first + i * LANES;
            let (at, inside) = (&vector * VECTOR, Cond::less(&vector, vectors));
            // Where both vectors that are read lie in the matrix.
            let begins = &(&before + &at) - &shift.bytes;
            let whole =
                [Cond::less(&Expr::from(-1), &begins), Cond::less(&(&begins + (2 * VECTOR - 1)), &end)];
            let words = b.regs(Type::B32, 2 * WORDS);
            let whole = Cond::all(whole.into_iter().chain([inside.clone()]));
            for (half, words) in words.chunks(WORDS).enumerate() {
                let address = &(&(&source + &at) - &shift.bytes) + half as i64 * VECTOR;
                b.load(Space::Gmem, words, &address, &whole)?;
            }
            read.push((at, words, whole, inside));
        }
        for (at, words, whole, inside) in read {
            b.if_(&whole, |b| {
                let words = shift.apply(b, &words)?;
                b.store(Space::Gmem, &(&target + &at), &words, &Cond::Always)
            })?;
            b.if_(&Cond::all([inside, Cond::not(whole)]), |b| {
                b.for_range(&Expr::from(VECTOR), |b, i| {
                    let at = &at + i;
                    b.if_(&Cond::less(&at, &self.bytes), |b| copy_byte(b, [&target + &at, &source + &at]))
                })
            })?;
        }
        Ok(())
    }
}

/// How far the bytes of a row are after a multiple of 16.
struct Shift {
    /// 0 to 15.
    bytes: Expr,
    /// Whether that is 8 or more, and whether the rest is 4 or more.
    words: [Reg; 2],
    /// The bits of what is left.
    bits: Reg,
}

impl Shift {
    fn new(b: &mut Builder, address: &Expr) -> Result<Shift, Error> {
        let address = b.value(address, Width::W64)?;
        let [low, bytes, bits] = [(); 3].map(|()| b.reg(Type::U32));
        b.ptx(
            "cvt.u32.u64 %0, %1; and.b32 %2, %0, 15; and.b32 %3, %0, 3; shl.b32 %3, %3, 3;",
            &[&low, &address, &bytes, &bits],
        )?;
        let words = [8, 4].map(|bit| {
            let (masked, word) = (b.reg(Type::U32), b.reg(Type::Pred));
            let text = format!("and.b32 %0, %1, {bit}; setp.ne.u32 %2, %0, 0;");
            b.ptx(&text, &[&masked, &low, &word]).map(|()| word)
        });
        let [eight, four] = words;
        Ok(Shift { bytes: b.var(&bytes, 0, VECTOR - 1, 1), words: [eight?, four?], bits })
    }

    /// The words of a vector that begins at this distance after the first of these.
    fn apply(&self, b: &mut Builder, words: &[Reg]) -> Result<Vec<Reg>, Error> {
        let mut words = words.to_vec();
        for (by, predicate) in [2, 1].into_iter().zip(&self.words) {
            let moved = b.regs(Type::B32, words.len() - by);
            for (i, to) in moved.iter().enumerate() {
                b.ptx("selp.b32 %0, %1, %2, %3;", &[to, &words[i + by], &words[i], predicate])?;
            }
            words = moved;
        }
        let shifted = b.regs(Type::B32, WORDS);
        for (i, to) in shifted.iter().enumerate() {
            b.ptx("shf.r.wrap.b32 %0, %1, %2, %3;", &[to, &words[i], &words[i + 1], &self.bits])?;
        }
        Ok(shifted)
    }
}

fn copy_byte(b: &mut Builder, [to, from]: [Expr; 2]) -> Result<(), Error> {
    let (to, from) = (b.value(&to, Width::W64)?, b.value(&from, Width::W64)?);
    let byte = b.reg(Type::U16);
    b.ptx("ld.global.u8 %0, [%1]; st.global.u8 [%2], %0;", &[&byte, &from, &to])
}
