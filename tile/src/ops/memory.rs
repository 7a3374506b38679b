//! Arrays: their extents and parts, and loads and stores of tiles.

mod tiles;

use girih_tensor::DType;

use super::table::Each;
use super::{Arg, Mode, broadcast};
use crate::dtype::{self, Category, Const, category};
use crate::error::{Fault, ensure};
use crate::fit;
use crate::ir::{Array, ArrayId, Build, Dims, Kind, Known, Order, Rounding, Scope, Type, Value};
pub use tiles::Tiles;

/// A kind of access, for the orders that it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Load or gather.
    Load,
    /// Store or scatter.
    Store,
    /// Atomic operation.
    Atomic,
}

/// Checks that an access has an order, and that the order has a scope.
///
/// # Errors
/// [`Fault::MemoryOrderScope`].
pub fn check_order(access: Access, order: Order, scope: Option<Scope>) -> Result<(), Fault> {
    let (name, orders): (&'static str, &[Order]) = match access {
        Access::Load => ("a load", &[Order::Weak, Order::Relaxed, Order::Acquire]),
        Access::Store => ("a store", &[Order::Weak, Order::Relaxed, Order::Release]),
        Access::Atomic => {
            ("an atomic operation", &[Order::Relaxed, Order::Acquire, Order::Release, Order::AcqRel])
        }
    };
    let names = || orders.iter().map(|order| order.name()).collect::<Vec<_>>().join(" or ");
    let accepted = match (orders.contains(&order), order, scope) {
        (false, ..) => names(),
        (true, Order::Weak, Some(_)) => "no scope".into(),
        (true, Order::Weak, None) | (true, _, Some(_)) => return Ok(()),
        (true, _, None) => "a scope, block, device or system,".into(),
    };
    Err(Fault::MemoryOrderScope { access: name, order, scope, accepted })
}

impl Build {
    /// The block's number along an axis of the grid, an s32 scalar.
    ///
    /// # Errors
    /// [`Fault::BidAxis3`].
    pub fn bid(&mut self, axis: i64) -> Result<Value, Fault> {
        let axis = grid_axis("bid", axis)?;
        Ok(self.push1(Kind::Bid(axis), &[], Type::scalar(DType::S32)))
    }

    /// The grid's extent along an axis, an s32 scalar.
    ///
    /// # Errors
    /// [`Fault::BidAxis3`].
    pub fn num_blocks(&mut self, axis: i64) -> Result<Value, Fault> {
        let axis = grid_axis("num_blocks", axis)?;
        Ok(self.push1(Kind::NumBlocks(axis), &[], Type::scalar(DType::S32)))
    }

    /// The dtype of an array.
    pub fn array_dtype(&self, array: ArrayId) -> DType {
        self.func().param_of(array).1.dtype
    }

    /// The number of axes of an array.
    pub fn array_rank(&self, array: ArrayId) -> usize {
        self.func().param_of(array).1.extents.len()
    }

    /// The extent of an array along an axis, an s32 scalar. Of a part it is `stop - start`, or 0 where `stop` is less: elements of the part
    /// that its array does not have count too.
    ///
    /// # Errors
    /// [`Fault::AxisOutOfRange`].
    pub fn dim(&mut self, array: ArrayId, axis: i64) -> Result<Value, Fault> {
        let axis = super::shape::axis("dim", axis, self.array_rank(array))?;
        let mut at = array;
        loop {
            match &self.func().arrays()[at.index()] {
                &Array::Slice { axis: sliced, start, stop, .. } if usize::from(sliced) == axis => {
                    let length = self.each(Each::Sub, &[stop.into(), start.into()], Mode::default())?;
                    let zero = Arg::Loose(Const::Int(0));
                    return self.each(Each::Max, &[length.into(), zero], Mode::default());
                }
                Array::Slice { of, .. } => at = *of,
                Array::Param(param) => {
                    return Ok(match param.extents[axis] {
                        Known::Is(n) => self.full(DType::S32, Dims::SCALAR, Const::Int(n.into())),
                        Known::MultipleOf(_) => {
                            self.push1(Kind::Dim(at, fit::axis(axis)), &[], Type::scalar(DType::S32))
                        }
                    });
                }
            }
        }
    }

    /// The number of tiles along an axis of theirs, the last of which may reach beyond the array: the extent over the step, rounded up.
    ///
    /// # Errors
    /// [`Fault::AxisOutOfRange`]; those of a load that the tiles do not fit.
    pub fn num_tiles(&mut self, tiles: &Tiles, axis: i64) -> Result<Value, Fault> {
        let view = self.view("num_tiles", tiles)?;
        let axis = super::shape::axis("num_tiles", axis, view.tile.rank())?;
        let axis = tiles.axes.map_or(axis, |axes| axes[axis] as usize);
        let dim = self.dim(tiles.array, axis as i64)?;
        let step = Arg::Loose(Const::Int(view.steps[axis].into()));
        self.each(Each::CeilDiv, &[dim.into(), step], Mode::default())
    }

    /// The elements `start..stop` of an array along an axis, as an array: element `i` of the part is element `start + i` of the array. What of
    /// them is outside of the array is outside of the part too.
    ///
    /// # Errors
    /// [`Fault::AxisOutOfRange`]; [`Fault::IndexNonInteger`]; [`Fault::IndexShape`] for a bound that is no scalar; [`Fault::PartOfByte`].
    pub fn array_slice(&mut self, of: ArrayId, axis: i64, start: Arg, stop: Arg) -> Result<ArrayId, Fault> {
        let at = super::shape::axis("slice", axis, self.array_rank(of))?;
        let dtype = self.array_dtype(of);
        let accepted = "axes but the last";
        let whole = dtype.bits() >= 8 || at + 1 != self.array_rank(of);
        ensure!(whole, Fault::PartOfByte { operation: "slice", dtype, accepted });
        let start = self.index_scalar("slice", start)?;
        let start = self.cast(start, DType::S32, Rounding::Nearest)?;
        let stop = self.index_scalar("slice", stop)?;
        let stop = self.cast(stop, DType::S32, Rounding::Nearest)?;
        Ok(self.slice(of, fit::axis(at), start, stop))
    }

    /// Loads the tile at an index, an integer scalar for each axis of the tiles.
    ///
    /// # Errors
    /// [`Fault::IndexRank`], [`Fault::IndexNonInteger`], [`Fault::ShapeNotPow2`], [`Fault::HintValue`], [`Fault::MemoryOrderScope`],
    /// [`Fault::TileRank`], [`Fault::Steps`], [`Fault::IndexShape`], [`Fault::PartOfByte`], and [`Fault::Padding`].
    pub fn load(&mut self, tiles: &Tiles, index: &[Arg]) -> Result<Value, Fault> {
        let view = self.view("load", tiles)?;
        check_order(Access::Load, view.order, view.scope)?;
        let index = self.tile_index("load", tiles, index)?;
        let dtype = self.array_dtype(view.array);
        let value = self.push1(Kind::Load(view), &index, Type { dtype, dims: view.tile });
        self.axes_of_tile(value, tiles)
    }

    /// Loads the tile at an index where a mask of its shape holds, and gives `other` elsewhere.
    ///
    /// # Errors
    /// As [`Build::load`]; [`Fault::MaskDtype`], [`Fault::BroadcastTo`], [`Fault::ImplicitCast`] for another dtype of `other`.
    pub fn load_masked(
        &mut self,
        tiles: &Tiles,
        index: &[Arg],
        mask: Arg,
        other: Arg,
    ) -> Result<Value, Fault> {
        let dtype = self.array_dtype(tiles.array);
        let mask = self.mask("load", mask)?;
        let mask = self.broadcast_to(mask, tiles.tile)?;
        let other = self.stored("load", other, dtype)?;
        if self.func().param_of(tiles.array).1.mutable {
            // Another block may be writing what the mask leaves out.
            let coordinates = self.coordinates("load", tiles, index)?;
            let at = super::indexed::Elements::of(tiles);
            return self.gather(&at, &coordinates, Some(mask.into()), Some(other.into()));
        }
        let loaded = self.load(tiles, index)?;
        self.each(Each::Select, &[mask.into(), loaded.into(), other.into()], Mode::default())
    }

    /// Stores a tile at an index, an integer scalar for each axis of the tiles. The value is broadcast to a tile's shape.
    ///
    /// # Errors
    /// As [`Build::load`]; [`Fault::ImplicitCast`] for a value whose dtype does not become the array's by promotion;
    /// [`Fault::StoreShape`]; [`Fault::Steps`] for tiles that overlap; [`Fault::ReadOnly`] for an array that is not `&mut`.
    pub fn store(&mut self, tiles: &Tiles, index: &[Arg], value: Arg) -> Result<(), Fault> {
        let view = self.view("store", tiles)?;
        check_order(Access::Store, view.order, view.scope)?;
        self.writable("store", view.array)?;
        let (tile, steps, accepted) =
            (view.tile, view.steps, "a step of the extent or more, so that tiles do not overlap,");
        let overlap = steps.iter().zip(tile.iter()).any(|(step, extent)| step < extent);
        ensure!(!overlap, Fault::Steps { operation: "store", tile, steps, accepted });
        let value = self.store_value(tiles, value)?;
        let mut operands = vec![value];
        operands.extend(self.tile_index("store", tiles, index)?);
        self.push(Kind::Store(view), &operands, &[]);
        Ok(())
    }

    /// The stored value, with the array's dtype and axes.
    fn store_value(&mut self, tiles: &Tiles, value: Arg) -> Result<Value, Fault> {
        let dtype = self.array_dtype(tiles.array);
        let value = self.stored("store", value, dtype)?;
        let value = self.stretched("store", value, tiles.tile)?;
        if tiles.tile.rank() == 0 {
            let rank = self.array_rank(tiles.array);
            return Ok(self.reshaped(value, Dims::ones(rank)));
        }
        self.permute(value, &(0..tiles.tile.rank()).map(|axis| tiles.mode(axis) as i64).collect::<Vec<_>>())
    }

    /// A value stretched to the tiles that it is stored in.
    pub(super) fn stretched(
        &mut self,
        operation: &'static str,
        value: Value,
        tile: Dims,
    ) -> Result<Value, Fault> {
        let fault = Fault::StoreShape { operation, value: self.ty(value).dims, tile };
        self.broadcast_to(value, tile).map_err(|_| fault)
    }

    /// Stores a tile at an index where a mask of its shape holds.
    ///
    /// # Errors
    /// As [`Build::store`]; [`Fault::MaskDtype`], [`Fault::BroadcastTo`].
    pub fn store_masked(&mut self, tiles: &Tiles, index: &[Arg], value: Arg, mask: Arg) -> Result<(), Fault> {
        check_order(Access::Store, tiles.order, tiles.scope)?;
        let dtype = self.array_dtype(tiles.array);
        let value = self.stored("store", value, dtype)?;
        let value = self.broadcast_to(value, tiles.tile)?;
        let coordinates = self.coordinates("store", tiles, index)?;
        self.scatter(&super::indexed::Elements::of(tiles), &coordinates, value.into(), Some(mask))
    }

    /// The elements of the tile at an index as index tiles, one for each axis of the array.
    pub(super) fn coordinates(
        &mut self,
        name: &'static str,
        tiles: &Tiles,
        index: &[Arg],
    ) -> Result<Vec<Arg>, Fault> {
        let view = self.view(name, tiles)?;
        let index = self.tile_index(name, tiles, index)?;
        let rank = tiles.tile.rank();
        let mut coordinates = Vec::new();
        for (axis, &at) in index.iter().enumerate() {
            let step = Arg::Loose(Const::Int(view.steps[axis].into()));
            let first = self.each(Each::Mul, &[at.into(), step], Mode::default())?;
            let along = tiles.mode(axis);
            let coordinate = if rank == 0 {
                first
            } else {
                let dtype = self.ty(first).dtype;
                let offsets = self.along(dtype, tiles.tile[along], along, rank);
                self.each(Each::Add, &[first.into(), offsets.into()], Mode::default())?
            };
            coordinates.push(coordinate.into());
        }
        Ok(coordinates)
    }

    /// 0, 1, 2, ... along an axis of a tile that has an extent of 1 along the others.
    pub(super) fn along(&mut self, dtype: DType, extent: u32, axis: usize, rank: usize) -> Value {
        let dims = Dims::ones(1).with(0, extent);
        let iota = self.push1(Kind::Iota, &[], Type { dtype, dims });
        self.reshaped(iota, Dims::ones(rank).with(axis, extent))
    }

    /// An index as an s32 or s64 tile.
    pub(super) fn index_value(&mut self, name: &'static str, arg: Arg) -> Result<Value, Fault> {
        let value = self.value(arg)?;
        let dtype = self.ty(value).dtype;
        ensure!(dtype.is_integer(), Fault::IndexNonInteger { operation: name, dtype });
        let wide = dtype.bits() == 64 || dtype == DType::U32;
        self.cast(value, if wide { DType::S64 } else { DType::S32 }, Rounding::Nearest)
    }

    /// A mask of truth values.
    pub(super) fn mask(&mut self, name: &'static str, arg: Arg) -> Result<Value, Fault> {
        let value = self.value(arg)?;
        let dtype = self.ty(value).dtype;
        ensure!(dtype == DType::Bool, Fault::MaskDtype { operation: name, dtype });
        Ok(value)
    }

    /// A value to be stored in an array of `dtype`, which may be cast to it only if promotion gives it.
    pub(super) fn stored(&mut self, name: &'static str, arg: Arg, dtype: DType) -> Result<Value, Fault> {
        let from = match arg {
            Arg::Loose(constant) => {
                let fits = match constant {
                    Const::Bool(_) => true,
                    Const::Int(n) if dtype == DType::Bool => matches!(n, 0 | 1),
                    Const::Int(n) => !dtype.is_integer() || dtype::holds(dtype, n),
                    Const::Float(_) => category(dtype) == Category::Float,
                };
                if fits {
                    return Ok(self.full(dtype, Dims::SCALAR, constant));
                }
                format!("the constant {constant}")
            }
            arg => {
                let value = self.value(arg)?;
                let from = self.ty(value).dtype;
                if dtype::promote(from, dtype).is_ok_and(|to| to == dtype) {
                    return self.cast(value, dtype, Rounding::Nearest);
                }
                from.to_string()
            }
        };
        Err(Fault::ImplicitCast { operation: name, value: from, array: dtype })
    }

    pub(super) fn writable(&self, name: &'static str, array: ArrayId) -> Result<(), Fault> {
        let param = self.func().param_of(array).1;
        ensure!(param.mutable, Fault::ReadOnly { operation: name, array: param.name.clone() });
        Ok(())
    }

    /// The shape that all tiles broadcast to.
    pub(super) fn common_dims(&self, values: &[Value]) -> Result<Dims, Fault> {
        values.iter().try_fold(Dims::SCALAR, |dims, &value| broadcast(dims, self.ty(value).dims))
    }
}

fn grid_axis(name: &'static str, axis: i64) -> Result<u8, Fault> {
    let known = u8::try_from(axis).ok().filter(|&axis| axis < 3);
    known.ok_or(Fault::BidAxis3 { operation: name, axis })
}
