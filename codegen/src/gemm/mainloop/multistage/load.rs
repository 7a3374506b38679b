//! Loads the block's tiles of A and B from global to shared memory.

use girih_tensor::{Slice, Tensor};

use crate::algorithm::{CopyWith, copy};
use crate::builder::Builder;
use crate::sizes::shape_tiler;
use crate::tiled::copy::TiledCopy;
use crate::{Error, Expr, Gmem, Rmem, Smem};

/// The copies of an operand's tile: from global memory to shared memory, or, where vectors are transposed, to registers and from there.
#[derive(Clone, Copy, Debug)]
pub(super) struct TileCopies {
    pub(super) load: TiledCopy,
    pub(super) store: Option<TiledCopy>,
}

/// One thread's share of loading an operand's tiles.
pub(super) struct TileLoad {
    copies: TileCopies,
    source: Tensor<Gmem>, // (Val,RestX,RestK,KTile)
    target: Tensor<Smem>, // (Val,RestX,RestK,Stage)
    /// Where vectors are transposed, the tile on its way.
    registers: Option<Tensor<Rmem>>, // (Val,RestX,RestK)
}

impl TileLoad {
    /// Partitions the tiles of `extents` that belong to block tile `block` of `whole`, (X,K), for `thread`; `shared` has the stages,
    /// (BlockX,BlockK,Stage).
    pub(super) fn new(
        b: &mut Builder,
        copies: TileCopies,
        extents: [i64; 2],
        (whole, shared): (&Tensor<Gmem>, &Tensor<Smem>),
        block: &Expr,
        thread: &Expr,
    ) -> Result<TileLoad, Error> {
        let tiles = whole.local_tile(&shape_tiler(&extents)?, &[Slice::At(block.clone()), Slice::All])?; // (BlockX,BlockK,KTile)
        let source = copies.load.get_slice(thread)?.partition_s(&tiles)?; // (Val,RestX,RestK,KTile)
        let target = copies.store.unwrap_or(copies.load).get_slice(thread)?.partition_d(shared)?; // (Val,RestX,RestK,Stage)
        let registers = match copies.store {
            Some(_) => Some(Rmem::like(b, &source.slice(of(&Expr::from(0)))?)?),
            None => None,
        };
        Ok(TileLoad { copies, source, target, registers })
    }

    /// Writes the loads of k-tile `tile`, into `stage` or into registers. Elements outside of the matrix become zero.
    pub(super) fn emit(&self, b: &mut Builder, tile: &Expr, stage: &Expr) -> Result<(), Error> {
        let (source, with) = (self.source.slice(of(tile))?, CopyWith::from(&self.copies.load).zero_fill()); // (Val,RestX,RestK)
        match &self.registers {
            Some(registers) => copy(b, with, &source, registers),
            None => copy(b, with, &source, &self.target.slice(of(stage))?),
        }
    }

    /// Whether the copies may be in flight after their instructions: those through registers are not.
    pub(super) fn is_asynchronous(&self) -> bool {
        self.registers.is_none()
    }

    /// Writes what is in registers into `stage`.
    pub(super) fn store(&self, b: &mut Builder, stage: &Expr) -> Result<(), Error> {
        match (&self.copies.store, &self.registers) {
            (Some(store), Some(registers)) => copy(b, store, registers, &self.target.slice(of(stage))?),
            _ => Ok(()),
        }
    }
}

/// The tile at `last` of a partition.
fn of(last: &Expr) -> Slice<Expr> {
    Slice::tuple([Slice::All, Slice::All, Slice::All].into_iter().chain([Slice::At(last.clone())]))
}
