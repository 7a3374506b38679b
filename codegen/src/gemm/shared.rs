//! How a tile of A or B lies in shared memory.

use girih_layout::{Lay, Swizzle};
use girih_tensor::DType;

use super::{GemmConfig, Major};
use crate::Error;
use crate::engine::element_bytes;
use crate::tiled_mma::Operand;

/// Bytes that the 32 banks serve at once.
const LINE_BYTES: i64 = 128;
/// Bytes of the widest access: what a swizzle moves as one.
const CHUNK_BYTES: i64 = 16;

/// The layout `(BlockX,BlockK,Stage)` of an operand in shared memory and the swizzle of its element offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedTile {
    /// `(BlockX,BlockK,Stage)` -> element.
    pub layout: Lay,
    /// Applied to element offsets.
    pub swizzle: Option<Swizzle>,
    /// Bytes of all stages.
    pub bytes: i64,
}

impl std::fmt::Display for SharedTile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.swizzle {
            Some(swizzle) => write!(f, "{swizzle} o 0 o {}", self.layout),
            None => write!(f, "{}", self.layout),
        }
    }
}

impl SharedTile {
    /// The tile of `operand`: rows along its contiguous mode, swizzled where a warp reads a column of 16-byte chunks.
    ///
    /// # Errors
    /// [`Error::Layout`] if the sizes overflow.
    pub fn new(config: &GemmConfig, operand: Operand) -> Result<SharedTile, Error> {
        let [x, k] = config.extents(operand);
        let (stages, dtype) = (config.stages, config.atom.a_type);
        let (row, strides) = match config.source(operand).major {
            Major::K => (k, [k, 1]),
            Major::Mn => (x, [1, x]),
        };
        let layout = Lay::strided([x, k, stages], [strides[0], strides[1], x * k])?;
        let swizzle = if config.reads_columns(operand) {
            column_swizzle(row, dtype, config.row_step(operand))?
        } else {
            None
        };
        Ok(SharedTile { layout, swizzle, bytes: x * k * stages * config.element()? })
    }
}

impl GemmConfig {
    /// Whether eight neighbouring lanes read the same chunk of eight rows: `ldmatrix` always does, a single thread
    /// reads vectors along the contiguous mode, so only K-major tiles are read that way.
    fn reads_columns(&self, operand: Operand) -> bool {
        self.uses_ldmatrix() || self.source(operand).major == Major::K
    }

    /// Distance of the rows that neighbouring lanes read.
    fn row_step(&self, operand: Operand) -> i64 {
        let girih_layout::Tile::Lay(permutation) = self.permutation[operand.modes()[0]] else { return 1 };
        match permutation.flat_leaf(0).1 {
            girih_layout::Stride::Int(step) if !self.uses_ldmatrix() => step.get().unwrap_or(1),
            _ => 1,
        }
    }

    /// Warp-wide atoms on 16-bit elements take their fragments by `ldmatrix`.
    pub(crate) fn uses_ldmatrix(&self) -> bool {
        self.atom.a_type.bits() == 16 && self.atom.threads.size().is_ok_and(|n| n.is(32))
    }
}

/// The swizzle under which the chunks at one place of eight rows, `step` rows apart, fall into different banks.
///
/// Rows shorter than the 128 bytes that the banks span share a line, so the exchanged bits start above the line.
fn column_swizzle(row: i64, dtype: DType, step: i64) -> Result<Option<Swizzle>, Error> {
    let bytes = element_bytes("atom", dtype)?;
    let (chunk, line) = (CHUNK_BYTES / bytes, LINE_BYTES / bytes);
    let chunks = (row / chunk).min(LINE_BYTES / CHUNK_BYTES);
    if chunks < 2 || [row, chunk, step].iter().any(|n| n.count_ones() != 1) {
        return Ok(None);
    }
    let bits = chunks.trailing_zeros();
    let base = chunk.trailing_zeros();
    let source = row.max(line) * step;
    Ok(Some(Swizzle::new(bits, base, source.trailing_zeros() as i32 - base as i32)?))
}
