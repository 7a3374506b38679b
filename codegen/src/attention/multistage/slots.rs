//! The tiles of keys and values in shared memory.
//!
//! K tiles and V tiles alternate in one ring of slots of the same size. Each step
//! of the mainloop uses one tile, and loads another one into the slot of the previous step, which all warps have left at the barrier.

use girih_tensor::{DType, Slice, Tensor};

use super::config::{Multistage, SharedTile};
use crate::algorithm::{CopyWith, copy};
use crate::attention::{AttentionConfig, MAX_LENGTH, Tensor4};
use crate::builder::{Builder, Cond, SHARED_ALIGN};
use crate::engine::element_bytes;
use crate::sizes::{shape_tiler, static_size};
use crate::sync::{CpAsyncRing, RingState};
use crate::tiled::copy::TiledCopy;
use crate::{Error, Expr, Gmem, Rmem, Smem};

/// A tile in shared memory.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub(super) address: Expr,
    dtype: DType,
    extents: [i64; 2],
}

impl Slot {
    /// Memory for `count` tiles of `extents` rows and columns, one behind the other.
    #[track_caller]
    pub(super) fn alloc(b: &mut Builder, dtype: DType, extents: [i64; 2], count: i64) -> Result<Slot, Error> {
        let slot = Slot { address: Expr::from(0), dtype, extents };
        let address = b.alloc_shared(slot.bytes()? * count, SHARED_ALIGN)?;
        Ok(Slot { address, ..slot })
    }

    /// The same place for a tile of this many columns, not more than the slot has.
    pub(super) fn of_columns(&self, columns: i64) -> Slot {
        Slot { extents: [self.extents[0], columns], ..self.clone() }
    }

    fn bytes(&self) -> Result<i64, Error> {
        Ok(self.extents[0] * self.extents[1] * element_bytes("tile", self.dtype)?)
    }

    /// The tile, (Rows,Columns).
    pub(super) fn tensor(&self) -> Result<Tensor<Smem>, Error> {
        let SharedTile { layout, swizzle } = SharedTile::new(self.dtype, self.extents)?;
        Ok(Tensor::new(Smem::new(self.address.clone(), self.dtype, Some(swizzle)), layout))
    }
}

/// A tile's way between global and shared memory, by all threads of the block.
#[derive(Clone, Debug)]
pub(super) struct Way {
    /// To shared memory, and to global memory.
    copies: [TiledCopy; 2],
    thread: Expr,
    extents: [i64; 2],
}

impl Way {
    pub(super) fn new(
        multistage: &Multistage,
        config: &AttentionConfig,
        tensor: Tensor4,
        thread: &Expr,
    ) -> Result<Way, Error> {
        let rows = config.tile[usize::from(matches!(tensor, Tensor4::K | Tensor4::V))];
        let extents = [rows, config.columns(tensor)];
        let copies = multistage.copies(config.dtype, extents)?;
        Ok(Way { copies, thread: thread.clone(), extents })
    }

    fn tile(&self, matrix: &Tensor<Gmem>, number: &Expr) -> Result<Tensor<Gmem>, Error> {
        let at = [Slice::At(number.clone()), Slice::At(Expr::from(0))];
        Ok(matrix.local_tile(&shape_tiler(&self.extents)?, &at)?) // (Rows,Columns)
    }

    /// Loads tile `number` of the rows of `matrix`, (Row,HeadDim). What is outside of the matrix becomes zero.
    #[track_caller]
    pub(super) fn load(
        &self,
        b: &mut Builder,
        matrix: &Tensor<Gmem>,
        number: &Expr,
        slot: &Slot,
    ) -> Result<(), Error> {
        // As a variable of this scope: what follows from the thread is computed again in each turn, and takes no registers in between.
        let thread = b.bounded(&self.thread, self.thread.range().1)?;
        let copy_of = self.copies[0].get_slice(&thread)?;
        let source = copy_of.partition_s(&self.tile(matrix, number)?)?; // (Val,RestRow,RestColumn)
        let target = copy_of.partition_d(&slot.tensor()?)?; // (Val,RestRow,RestColumn)
        let with = CopyWith::from(&self.copies[0]).zero_fill();
        walk(b, &source, |b, row, source| copy(b, with.clone(), source, &target.slice(row_of(row))?))
    }

    /// Stores the tile to the first rows of `matrix`.
    #[track_caller]
    pub(super) fn store(&self, b: &mut Builder, slot: &Slot, matrix: &Tensor<Gmem>) -> Result<(), Error> {
        let copy_of = self.copies[1].get_slice(&self.thread)?;
        let source = copy_of.partition_s(&slot.tensor()?)?; // (Val,RestRow,RestColumn)
        let target = copy_of.partition_d(&self.tile(matrix, &Expr::from(0))?)?; // (Val,RestRow,RestColumn)
        walk(b, &target, |b, row, target| {
            let source = source.slice(row_of(row))?;
            // All of the tile is there, and registers that are loaded in any case keep nothing of the tile before.
            let values = Rmem::like(b, &source)?;
            copy(b, &self.copies[1], &source, &values)?;
            copy(b, &self.copies[1], &values, target)
        })
    }
}

/// The place `row` of the second of three modes.
fn row_of(row: i64) -> Slice<Expr> {
    Slice::tuple([Slice::All, Slice::At(Expr::from(row)), Slice::All])
}

/// Goes through the rows of a partition (Val,RestRow,RestColumn), each from the one before, so that one distance and no address is kept.
fn walk(
    b: &mut Builder,
    partition: &Tensor<Gmem>,
    mut body: impl FnMut(&mut Builder, i64, &Tensor<Gmem>) -> Result<(), Error>,
) -> Result<(), Error> {
    let rows = static_size("rows", &partition.layout().mode(1)?)?;
    let mut place = partition.clone();
    for row in 0..rows {
        place = Tensor::new(place.engine().anchored(b)?, *partition.layout());
        body(b, row, &place.slice(row_of(0))?)?;
        if row + 1 < rows {
            let next = place.slice(Slice::tuple([
                Slice::At(Expr::from(0)),
                Slice::At(Expr::from(1)),
                Slice::At(Expr::from(0)),
            ]))?;
            place = Tensor::new(next.into_engine(), *partition.layout());
        }
    }
    Ok(())
}

/// The ring of slots, for the keys and values of one tile of queries.
pub(super) struct Slots<'a> {
    /// The ways of keys and of values.
    ways: &'a [Way; 2],
    /// The first slot.
    first: Slot,
    ring: CpAsyncRing,
    state: RingState,
    /// The keys and the values of the sequence, (Row,HeadDim) each.
    matrices: [&'a Tensor<Gmem>; 2],
    /// The number of tiles of keys. The last one comes first.
    tiles: &'a Expr,
}

impl<'a> Slots<'a> {
    /// The slots of `ring` from `first` on, of which the first one is for the first item.
    #[track_caller]
    pub(super) fn new(
        b: &mut Builder,
        (first, ring): (&Slot, CpAsyncRing),
        ways: &'a [Way; 2],
        matrices: [&'a Tensor<Gmem>; 2],
        tiles: &'a Expr,
    ) -> Result<Slots<'a>, Error> {
        let state = ring.state(b, first.bytes()?);
        Ok(Slots { ways, first: first.clone(), ring, state, matrices, tiles })
    }

    /// The slot of the item in use: of keys, whose `kind` is 0, or of values.
    pub(super) fn slot(&self, b: &mut Builder, kind: usize) -> Slot {
        self.slot_at(&self.state.read(b), kind)
    }

    fn slot_at(&self, offset: &Expr, kind: usize) -> Slot {
        let slot = self.first.of_columns(self.ways[kind].extents[1]);
        Slot { address: &slot.address + offset, ..slot }
    }

    /// The number of the tile of keys of a turn.
    pub(super) fn tile(&self, b: &mut Builder, turn: &Expr) -> Result<Expr, Error> {
        b.bounded(&(&(self.tiles - turn) + -1), MAX_LENGTH / self.ways[0].extents[0])
    }

    /// Loads item `2 turn + index`, if there is such an item, into the slot at `offset`.
    #[track_caller]
    fn load(&self, b: &mut Builder, turn: &Expr, index: usize, offset: &Expr) -> Result<(), Error> {
        let of_turn = turn + (index / 2) as i64;
        b.if_(&Cond::less(&of_turn, self.tiles), |b| {
            let tile = self.tile(b, &of_turn)?;
            let slot = self.slot_at(offset, index % 2);
            self.ways[index % 2].load(b, self.matrices[index % 2], &tile, &slot)
        })?;
        self.ring.commit(b);
        Ok(())
    }

    /// Loads the first items. What has been copied before belongs to the first one.
    #[track_caller]
    pub(super) fn begin(&self, b: &mut Builder) -> Result<(), Error> {
        let bytes = self.first.bytes()?;
        (0..self.ring.ahead())
            .try_for_each(|item| self.load(b, &Expr::from(0), item as usize, &Expr::from(item * bytes)))
    }

    /// Waits for item `2 turn + index`, and for all warps to have left the item before; loads another one into the slot that they left.
    #[track_caller]
    pub(super) fn wait(&self, b: &mut Builder, turn: &Expr, index: usize) -> Result<(), Error> {
        self.ring.wait(b)?;
        b.barrier();
        let offset = self.state.write(b);
        self.load(b, turn, index + self.ring.ahead() as usize, &offset)
    }

    /// Goes on to the next item.
    #[track_caller]
    pub(super) fn advance(&self, b: &mut Builder) {
        self.state.advance(b);
    }
}
