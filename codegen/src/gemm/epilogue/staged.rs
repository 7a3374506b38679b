//! Stores the results of an epilogue from registers to shared memory, and from there by tensor copies to global memory, while the next
//! tile is loaded.

use girih_layout::{Composed, Lay, lay};
use girih_tensor::{DType, Slice, Tensor};

use super::AtTile;
use crate::algorithm::{CacheHint, copy, fence_proxy_async, tma_store_arrive, tma_store_wait};
use crate::atom::{
    GmmaLayout, Major, SM90_U16X8_STSM_T, SM90_U32X4_STSM_N, Transfer, UNIVERSAL_COPY_32, UNIVERSAL_COPY_64,
};
use crate::builder::{Builder, SHARED_ALIGN};
use crate::engine::element_bytes;
use crate::gemm::mainloop::{Consumer, ROWS, Sums, WARPGROUP};
use crate::gemm::schedule::Place;
use crate::gemm::{GemmConfig, WarpSpecialized};
use crate::sizes::{shape_tiler, static_size};
use crate::tiled::mma::Operand;
use crate::{Error, Expr, Smem, TiledCopy, TiledMma, TmaCopy};

/// The layout of rows of C in shared memory, and the copies to and from there.
#[derive(Clone, Debug)]
pub(in crate::gemm) struct Rows {
    /// BlockM and BlockN.
    tile: [i64; 2],
    dtype: DType,
    /// Rows of the tile that shared memory has room for.
    together: i64,
    /// How many warpgroups multiply.
    consumers: i64,
    /// The layout of a warpgroup's 64 rows, (64,BlockN), as a tensor copy takes them.
    layout: Composed,
    /// The copy of those rows from registers.
    store: TiledCopy,
}

/// C's way through shared memory in a kernel.
pub(in crate::gemm) struct Staged {
    rows: Rows,
    copy: TmaCopy,
    map: Expr,
    /// The address of the rows in shared memory, in bytes.
    base: Expr,
}

impl Rows {
    pub(in crate::gemm) fn new(
        config: &GemmConfig,
        parts: &WarpSpecialized,
        together: i64,
    ) -> Result<Rows, Error> {
        let ([m, n, _], dtype, major) = (config.tile, config.c_type, config.c_major);
        let layout = GmmaLayout::select(major, dtype, [ROWS, n]).tile(dtype, [ROWS, n])?;
        let bits = dtype.bits();
        // A thread has two neighbours of a row.
        let by = match (bits, major) {
            (16, Major::K) => SM90_U32X4_STSM_N,
            (16, Major::Mn) => SM90_U16X8_STSM_T,
            (_, Major::K) => UNIVERSAL_COPY_64,
            (_, Major::Mn) => UNIVERSAL_COPY_32,
        };
        let store =
            TiledCopy::of_mma(by, bits, &TiledMma::new(parts.atom, lay!("(1,1):(0,0)"))?, Operand::C)?;
        Ok(Rows { tile: [m, n], dtype, together, consumers: parts.consumers()?, layout, store })
    }

    /// The tensor copy to C, which lies in global memory as `global` says.
    pub(in crate::gemm) fn tma_copy(&self, global: &Lay) -> Result<TmaCopy, Error> {
        TmaCopy::new(Transfer::Store, self.dtype, global, self.layout.layout(), self.layout.swizzle())
    }

    /// The layouts from which the rows are derived, each with its name.
    pub(in crate::gemm) fn describe(&self, copy: &TmaCopy) -> [(&'static str, String); 3] {
        [
            ("C in shared memory", self.layout.to_string()),
            ("C: registers to shared", self.store.atom.to_string()),
            ("C: shared to global", copy.copy().atom.to_string()),
        ]
    }
}

/// The bytes of shared memory that `rows` rows of C take.
pub(in crate::gemm) fn shared_bytes(dtype: DType, rows: i64, tile_n: i64) -> Result<i64, Error> {
    Ok(rows * tile_n * element_bytes("c_type", dtype)?)
}

impl Staged {
    /// Allocates the shared memory.
    pub(in crate::gemm) fn new(
        b: &mut Builder,
        rows: Rows,
        copy: TmaCopy,
        map: &Expr,
    ) -> Result<Staged, Error> {
        let bytes = shared_bytes(rows.dtype, rows.together, rows.tile[1])?;
        let base = b.alloc_shared(bytes, SHARED_ALIGN)?;
        Ok(Staged { rows, copy, map: map.clone(), base })
    }

    /// Stores the results to shared memory, as many rows as there is room for, and from there by tensor copies of 64 rows.
    pub(in crate::gemm) fn store(
        &self,
        b: &mut Builder,
        consumer: &Consumer<'_>,
        epilogue: &AtTile<'_>,
        sums: &Sums,
        tile: &Place,
    ) -> Result<(), Error> {
        let rest_m = static_size("C", &sums.values.layout().mode(1)?)?;
        let together = self.rows.together / (ROWS * self.rows.consumers);
        let barrier = consumer.group() + &Expr::from(1);
        for first in (0..rest_m).step_by(together as usize) {
            let parts = first..first + together;
            // Before they are written again, the rows of the last turn must have been read.
            self.finish(b, consumer)?;
            b.named_barrier_sync(&barrier, WARPGROUP as u32)?;
            for part in parts.clone() {
                self.to_shared(b, consumer, epilogue, sums, part, part - first)?;
            }
            fence_proxy_async(b);
            b.named_barrier_sync(&barrier, WARPGROUP as u32)?;
            b.if_(consumer.leader(), |b| {
                for part in parts {
                    self.to_global(b, consumer, tile, part, part - first)?;
                }
                tma_store_arrive(b);
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Waits until tensor copies have read the rows in shared memory.
    pub(in crate::gemm) fn finish(&self, b: &mut Builder, consumer: &Consumer<'_>) -> Result<(), Error> {
        b.if_(consumer.leader(), |b| {
            tma_store_wait(b, 0);
            Ok(())
        })
    }

    /// Stores 64 rows of results at `place` among the warpgroup's rows in shared memory.
    fn to_shared(
        &self,
        b: &mut Builder,
        consumer: &Consumer<'_>,
        epilogue: &AtTile<'_>,
        sums: &Sums,
        part: i64,
        place: i64,
    ) -> Result<(), Error> {
        let rows = self.rows_at(consumer, place)?; // (64,BlockN)
        let rows = self.rows.store.get_slice(consumer.thread())?.partition_d(&rows)?; // (FrgV,1,RestN)
        epilogue.for_each_piece_of_row(b, &sums.values, part, |b, values, piece| {
            copy(b, &self.rows.store, values, &piece.of(&rows)?)
        })
    }

    /// Issues the copies of 64 rows to C.
    fn to_global(
        &self,
        b: &mut Builder,
        consumer: &Consumer<'_>,
        tile: &Place,
        part: i64,
        place: i64,
    ) -> Result<(), Error> {
        let [tile_m, tile_n] = self.rows.tile;
        let row =
            &(&tile.row * (tile_m / ROWS)) + &(consumer.group() + &Expr::from(part * self.rows.consumers));
        let at = [row, tile.column.clone()].map(Slice::At);
        let target = self.copy.tma_tensor()?.local_tile(&shape_tiler(&[ROWS, tile_n])?, &at)?; // (64,BlockN)
        let one = self.copy.copy().get_slice(&Expr::from(0))?;
        copy(
            b,
            // The cache is kept for A and B.
            self.copy.with(&self.map).cache_hint(CacheHint::EvictFirst),
            &one.partition_s(&self.rows_at(consumer, place)?)?, // (Box,1,RestN)
            &one.partition_d(&target)?,                         // (Box,1,RestN)
        )
    }

    /// The rows of C, (64,BlockN), at `place` among the warpgroup's rows in shared memory.
    fn rows_at(&self, consumer: &Consumer<'_>, place: i64) -> Result<Tensor<Smem>, Error> {
        let bytes = shared_bytes(self.rows.dtype, ROWS, self.rows.tile[1])?;
        let number = consumer.group() + &Expr::from(place * self.rows.consumers);
        let base = &self.base + &(&number * bytes);
        Ok(Tensor::new(
            Smem::new(base, self.rows.dtype, Some(self.rows.layout.swizzle())),
            *self.rows.layout.layout(),
        ))
    }
}
