//! A vectorised copy between two matrices with contiguous rows, from copy atoms and a TV layout.

use girih_layout::{Int, Lay, Symbol};
use girih_ptx::Special;
use girih_tensor::{DType, Slice, Tensor};

use crate::atom::universal_copy;
use crate::builder::Builder;
use crate::engine::element_bytes;
use crate::error::narrow;
use crate::gemm::MAX_EXTENT;
use crate::sizes::shape_tiler;
use crate::tiled::copy::coalesced;
use crate::{Error, Expr, Gmem, Kernel, algorithm};

/// The numbers by which a copy module is specialised. A module serves every size and every pitch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyConfig {
    /// The kernel's name in the module.
    pub name: &'static str,
    /// Element type.
    pub dtype: DType,
    /// The elements that are moved at once: both pointers and both pitches must be multiples of the size of so many elements.
    pub vector: i64,
    /// Whether rows are whole vectors, so that no row ends within one.
    pub whole: bool,
    /// Threads of a block.
    pub threads: i64,
    /// Rows and columns of a block's tile in elements.
    pub tile: [i64; 2],
}

/// The kernel's parameters: two 64-bit pointers, then four 32-bit sizes and pitches in elements.
pub const PARAMETERS: [&str; 6] = ["dst", "src", "rows", "columns", "ld_dst", "ld_src"];

/// The most registers that a thread's part of a tile may take, since all of the part is in flight together.
const MAX_WORDS: i128 = 128;

/// A generated copy kernel.
#[derive(Clone, Debug)]
pub struct CopyKernel {
    /// The kernel [`CopyConfig::name`].
    pub kernel: Kernel,
    /// The layouts from which the kernel was derived, each with its name.
    pub partitions: Vec<(&'static str, String)>,
}

/// Generates the kernel of `config`: `dst(r, c) = src(r, c)` for all r < rows, c < columns.
///
/// # Errors
/// [`Error::Config`] or [`Error::Mismatch`] for a configuration that cannot be built.
pub fn generate(config: &CopyConfig) -> Result<CopyKernel, Error> {
    let element = element_bytes("dtype", config.dtype)?;
    if !matches!(element, 2 | 4) {
        return Err(Error::Config {
            what: "dtype",
            value: config.dtype.to_string(),
            accepted: String::from("elements of 2 or 4 bytes"),
        });
    }
    let bytes = config.vector.saturating_mul(element);
    let atom = u32::try_from(bytes).ok().and_then(universal_copy).ok_or_else(|| Error::Config {
        what: "vector",
        value: config.vector.to_string(),
        accepted: format!("2, 4, 8 or 16 bytes of {element}-byte elements"),
    })?;
    let copy = coalesced(*atom, config.threads, config.tile, 1, config.vector)?;
    let words = i128::from(config.tile[0]) * i128::from(config.tile[1]) * i128::from(element)
        / i128::from(4 * config.threads);
    if words > MAX_WORDS {
        return Err(Error::Config {
            what: "tile",
            value: format!("({},{})", config.tile[0], config.tile[1]),
            accepted: format!("at most {MAX_WORDS} words of 4 bytes for each of {} threads", config.threads),
        });
    }
    let threads = narrow("threads", copy.threads()?)?;
    let mut b = Builder::new(config.name, 80, threads);
    let pointers = [b.pointer(PARAMETERS[0], bytes), b.pointer(PARAMETERS[1], bytes)];
    let fact = if config.whole { config.vector } else { 1 };
    let mut symbol =
        |name, divisor| b.symbol(name, |symbol| symbol.at_least(1).at_most(MAX_EXTENT).divisible_by(divisor));
    let [_, _, rows, columns, ld_dst, ld_src] = PARAMETERS;
    let extents = [symbol(rows, 1)?, symbol(columns, fact)?];
    let pitches = [symbol(ld_dst, config.vector)?, symbol(ld_src, config.vector)?];
    let at = tile(&mut b, config, extents)?;
    let mine = copy.get_slice(&b.special(Special::TidX))?;
    let part = |i: usize| -> Result<Tensor<Gmem>, Error> {
        let matrix = Lay::strided(extents.map(Int::symbol), [Int::symbol(pitches[i]), Int::fixed(1)])?; // (Rows,Columns)
        let matrix = Gmem::bounded(pointers[i].clone(), config.dtype, &matrix)?;
        let tile = matrix.local_tile(&shape_tiler(&config.tile)?, &at)?; // (TileM,TileN)
        if i == 0 { mine.partition_d(&tile) } else { mine.partition_s(&tile) } // (Vec,RestM,RestN)
    };
    let (target, source) = (part(0)?, part(1)?);
    algorithm::copy(&mut b, &copy, &source, &target)?;
    let partitions = vec![
        ("tile (rows,columns)", format!("({},{})", config.tile[0], config.tile[1])),
        ("copy atom", copy.atom.name()),
        ("copy TV", copy.tv.to_string()),
    ];
    Ok(CopyKernel { kernel: b.finish()?, partitions })
}

/// The row and the column of the block's tile.
fn tile(b: &mut Builder, config: &CopyConfig, extents: [Symbol; 2]) -> Result<[Slice<Expr>; 2], Error> {
    let block = b.special(Special::CtaidX);
    let columns = Expr::from_int(&Int::symbol(extents[1]));
    let tiles = (&columns + (config.tile[1] - 1)).div(config.tile[1])?;
    let row = b.divide(&block, &tiles, MAX_EXTENT / config.tile[0])?;
    let column = b.bounded(&(&block - &(&row * &tiles)), MAX_EXTENT / config.tile[1])?;
    Ok([row, column].map(Slice::At))
}
