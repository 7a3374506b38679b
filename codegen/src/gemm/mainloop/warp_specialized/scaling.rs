//! Scales of 8-bit floats in blocks, and how TMA copies bring them.

use girih_tensor::DType;

use crate::{Error, Expr};

/// Scales of 8-bit floats in blocks, in f32: of A for each `granularity[0]` rows and `granularity[2]` elements along K, of B for each
/// `granularity[1]` rows and as many along K (CUTLASS's blockwise scaling, whose names these are: `ScaleGranularityM`, `N` and `K`).
///
/// The accumulators of the products between two promotions are multiplied by both scales and added to the accumulators before with one rounding to f32. The
/// product of the scales is rounded too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlockScales {
    /// The rows of A and the rows of B that share a scale, each one of [`BlockScales::ROWS`], and the elements along K: a multiple of the
    /// tile's K.
    pub granularity: [i64; 3],
}

impl BlockScales {
    /// The dtype of the scales.
    pub const DTYPE: DType = DType::F32;
    /// How many rows may share a scale.
    pub const ROWS: [i64; 2] = [1, 128];
}

/// The scales of one operand: what shares a scale, and the scale's dtype.
#[derive(Clone, Copy, Debug)]
pub(in crate::gemm) struct Scaling {
    pub(in crate::gemm) dtype: DType,
    /// Rows of the operand.
    pub(in crate::gemm) rows: i64,
    /// Elements along K.
    pub(in crate::gemm) group: i64,
}

/// The bytes of which the extents of a TMA copy's boxes, and the addresses in shared memory, are multiples.
const BOX: i64 = 16;
const BOX_ALIGN: i64 = 128;

impl Scaling {
    pub(super) fn element(&self) -> i64 {
        self.dtype.bytes()
    }

    /// The scales of a tile of `x` rows.
    fn of_tile(&self, x: i64) -> i64 {
        (x / self.rows).max(1)
    }

    /// The scales that a TMA copy brings for a tile of `x` rows: those of the rows, and what is beside them where they are too few for a
    /// box, or do not begin where a box may begin.
    pub(super) fn boxed(&self, x: i64) -> i64 {
        let line = BOX / self.element();
        (self.of_tile(x) + line - 1) / line * line
    }

    /// From the scales of a stage to those of the next in shared memory.
    pub(super) fn pitch(&self, x: i64) -> i64 {
        let line = BOX_ALIGN / self.element();
        (self.boxed(x) + line - 1) / line * line
    }

    /// Where in a group the box begins that has the scales of tile `at` of `x` rows, and how many scales before those of the tile.
    pub(super) fn begin(&self, at: &Expr, x: i64) -> Result<[Expr; 2], Error> {
        let line = BOX / self.element();
        // Where a tile has fewer rows than share a scale, tiles have a scale in common.
        let first = if x >= self.rows { at * self.of_tile(x) } else { at.div(self.rows / x)? };
        Ok([&first.div(line)? * line, first.rem(line)?])
    }
}
