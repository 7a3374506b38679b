//! The tiles of keys and values in shared memory.
//!
//! K tiles and V tiles alternate in one ring of slots of the same size. Each step
//! of the mainloop uses one tile, and loads another one into the slot of the previous step, which all warps have left at the barrier.

use girih_ptx::{Opcode, Operand, Type};
use girih_tensor::{DType, Slice, Tensor};

use super::config::{Multistage, SharedTile};
use crate::algorithm::{CopyWith, copy, cp_async_fence, cp_async_wait};
use crate::attention::{AttentionConfig, MAX_LENGTH, Tensor4};
use crate::builder::{Builder, Cond, Reg, SHARED_ALIGN, Width};
use crate::engine::element_bytes;
use crate::sizes::{shape_tiler, static_size};
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
    /// A slot; its address is in `places`.
    slot: Slot,
    /// The addresses of the slots: first that of the item in use, then those of the items that follow, last that of the item before.
    places: Vec<Reg>,
    range: (i64, i64),
    is_asynchronous: bool,
    /// The keys and the values of the sequence, (Row,HeadDim) each.
    matrices: [&'a Tensor<Gmem>; 2],
    /// The number of tiles of keys. The last one comes first.
    tiles: &'a Expr,
}

impl<'a> Slots<'a> {
    /// This many slots from `first` on, of which the first one is for the first item.
    #[track_caller]
    pub(super) fn new(
        b: &mut Builder,
        (first, count): (&Slot, i64),
        ways: &'a [Way; 2],
        is_asynchronous: bool,
        matrices: [&'a Tensor<Gmem>; 2],
        tiles: &'a Expr,
    ) -> Result<Slots<'a>, Error> {
        let mut places = Vec::new();
        for number in 0..count {
            let place = b.reg(Type::U32);
            let address = b.operand(&(&first.address + number * first.bytes()?), Width::W32)?;
            b.inst(Opcode::Mov, &[Type::U32.into()], vec![Operand::from(&place), address]);
            places.push(place);
        }
        let range = (first.address.range().0, (&first.address + count * first.bytes()?).range().1);
        Ok(Slots { ways, slot: first.clone(), places, range, is_asynchronous, matrices, tiles })
    }

    /// The slot of the item that is `ahead` items behind that in use: of keys, whose `kind` is 0, or of values.
    pub(super) fn slot(&self, b: &mut Builder, ahead: usize, kind: usize) -> Slot {
        let ((lower, upper), [_, columns]) = (self.range, self.ways[kind].extents);
        let address = b.var(&self.places[ahead], lower, upper, SHARED_ALIGN);
        Slot { address, ..self.slot.of_columns(columns) }
    }

    /// The number of the tile of keys of a turn.
    pub(super) fn tile(&self, b: &mut Builder, turn: &Expr) -> Result<Expr, Error> {
        b.bounded(&(&(self.tiles - turn) + -1), MAX_LENGTH / self.ways[0].extents[0])
    }

    /// Loads item `2 turn + index`, if there is such an item, into the slot that is `ahead` slots further on.
    #[track_caller]
    fn load(&self, b: &mut Builder, turn: &Expr, index: usize, ahead: usize) -> Result<(), Error> {
        let of_turn = turn + (index / 2) as i64;
        b.if_(&Cond::less(&of_turn, self.tiles), |b| {
            let tile = self.tile(b, &of_turn)?;
            let slot = self.slot(b, ahead, index % 2);
            self.ways[index % 2].load(b, self.matrices[index % 2], &tile, &slot)
        })?;
        if self.is_asynchronous {
            cp_async_fence(b);
        }
        Ok(())
    }

    /// Loads the first items. What has been copied before belongs to the first one.
    #[track_caller]
    pub(super) fn begin(&self, b: &mut Builder) -> Result<(), Error> {
        (0..self.places.len() - 1).try_for_each(|item| self.load(b, &Expr::from(0), item, item))
    }

    /// Waits for item `2 turn + index`, and for all warps to have left the item before; loads another one into the slot that they left.
    #[track_caller]
    pub(super) fn wait(&self, b: &mut Builder, turn: &Expr, index: usize) -> Result<(), Error> {
        let last = self.places.len() - 1;
        if self.is_asynchronous {
            cp_async_wait(b, last as u32 - 1);
        }
        b.barrier();
        self.load(b, turn, index + last, last)
    }

    /// Goes on to the next item.
    #[track_caller]
    pub(super) fn advance(&self, b: &mut Builder) -> Result<(), Error> {
        let mut next = self.places.clone();
        next.rotate_left(1);
        b.move_all(&self.places, &next)
    }
}
