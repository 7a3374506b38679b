//! Loads the block's tiles of A and B from global to shared memory.

use girih_tensor::{Slice, Tensor};

use crate::algorithm::{CopyWith, copy};
use crate::builder::Builder;
use crate::sizes::shape_tiler;
use crate::tiled::copy::TiledCopy;
use crate::{Error, Expr, Gmem, Smem};

/// One thread's share of loading an operand's tiles.
pub(super) struct TileLoad {
    copy: TiledCopy,
    source: Tensor<Gmem>, // (Val,RestX,RestK,KTile)
    target: Tensor<Smem>, // (Val,RestX,RestK,Stage)
}

impl TileLoad {
    /// Partitions the tiles of `extents` that belong to block tile `block` of `whole`, (X,K), for `thread`; `shared` has the stages,
    /// (BlockX,BlockK,Stage).
    pub(super) fn new(
        copy: &TiledCopy,
        extents: [i64; 2],
        whole: &Tensor<Gmem>,
        shared: &Tensor<Smem>,
        block: &Expr,
        thread: &Expr,
    ) -> Result<TileLoad, Error> {
        let tiles = whole.local_tile(&shape_tiler(&extents)?, &[Slice::At(block.clone()), Slice::All])?; // (BlockX,BlockK,KTile)
        let mine = copy.get_slice(thread)?;
        Ok(TileLoad {
            copy: *copy,
            source: mine.partition_s(&tiles)?, // (Val,RestX,RestK,KTile)
            target: mine.partition_d(shared)?, // (Val,RestX,RestK,Stage)
        })
    }

    /// Writes the loads of k-tile `tile` into `stage`. Elements outside of the matrix become zero.
    pub(super) fn emit(&self, b: &mut Builder, tile: &Expr, stage: &Expr) -> Result<(), Error> {
        let at = |last: &Expr| {
            Slice::tuple([Slice::All, Slice::All, Slice::All].into_iter().chain([Slice::At(last.clone())]))
        };
        let (source, target) = (self.source.slice(at(tile))?, self.target.slice(at(stage))?); // (Val,RestX,RestK)
        copy(b, CopyWith::from(&self.copy).zero_fill(), &source, &target)
    }
}
