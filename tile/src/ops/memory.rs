//! Arrays: their extents and parts, and loads and stores of tiles.

use girih_tensor::DType;

use super::table::Each;
use super::{Arg, Mode, broadcast};
use crate::dtype::{self, Category, Const, category};
use crate::error::{Fault, ensure};
use crate::fit;
use crate::hints::Hint;
use crate::ir::{
    Array, ArrayId, Build, Dims, Kind, Known, Order, Padding, Rounding, Scope, Type, Value, View,
};

/// Tiles of an array, by which it is loaded and stored. A tile's axis is an axis of the array; the index counts tiles.
///
/// # Examples
/// ```
/// use girih_tile::ir::{ArrayId, Dims, Padding};
/// use girih_tile::ops::memory::Tiles;
///
/// let tiles = Tiles { padding: Padding::Zero, ..Tiles::new(ArrayId(0), Dims::new(&[16, 64]).unwrap()) };
/// assert_eq!(tiles.latency, None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tiles {
    /// The array.
    pub array: ArrayId,
    /// Extents of a tile. A tile of rank 0 is one element of any array.
    pub tile: Dims,
    /// Axis `i` of tiles and of their index is axis `axes[i]` of the array; none is the same.
    pub axes: Option<Dims>,
    /// The distance of neighbouring tiles along each of their axes, in elements; none is the tile's extents.
    pub steps: Option<Dims>,
    /// What a load gives for elements outside of the array.
    pub padding: Padding,
    /// Whether bounds are checked. An access without is a promise that all its elements are in the array.
    pub check: bool,
    /// Expected latency, 1 to 10.
    pub latency: Option<i64>,
    /// Whether TMA copies may be taken.
    pub tma: bool,
    /// Order of the access.
    pub order: Order,
    /// Scope of an order other than weak.
    pub scope: Option<Scope>,
}

impl Tiles {
    /// Tiles that are one beside the other, with no options set.
    pub const fn new(array: ArrayId, tile: Dims) -> Tiles {
        Tiles {
            array,
            tile,
            axes: None,
            steps: None,
            padding: Padding::Undetermined,
            check: true,
            latency: None,
            tma: true,
            order: Order::Weak,
            scope: None,
        }
    }

    /// The axis of tiles that is this one of the array.
    fn mode(&self, axis: usize) -> usize {
        let found = self.axes.and_then(|axes| axes.iter().position(|&a| a as usize == axis));
        found.unwrap_or(axis)
    }
}

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

    /// The tile of an array's axes as a tile of the view's axes.
    fn axes_of_tile(&mut self, value: Value, tiles: &Tiles) -> Result<Value, Fault> {
        if tiles.tile.rank() == 0 {
            return Ok(self.reshaped(value, tiles.tile));
        }
        match tiles.axes {
            Some(axes) => self.permute(value, &axes.iter().map(|&axis| axis.into()).collect::<Vec<i64>>()),
            None => Ok(value),
        }
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

    /// The view of an array's axes that tiles are.
    fn view(&self, name: &'static str, tiles: &Tiles) -> Result<View, Fault> {
        let rank = self.array_rank(tiles.array);
        let (extents, dtype) = (tiles.tile, self.array_dtype(tiles.array));
        let own = [rank, 0].contains(&extents.rank()) && !extents.contains(&0);
        ensure!(own, Fault::TileRank { operation: name, tile: extents, rank });
        let pow2 = !self.strict_pow2 || extents.iter().all(|n| n.is_power_of_two());
        ensure!(pow2, Fault::ShapeNotPow2 { shape: extents.numbers() });
        let mut order: Vec<usize> = (0..rank).collect();
        if let Some(axes) = tiles.axes {
            let own = axes.modes();
            let mut sorted = own.clone();
            sorted.sort_unstable();
            let fault = || Fault::AxesRank { operation: name, tile: extents, axes: axes.numbers() };
            ensure!(sorted == order && extents.rank() > 0, fault());
            order = own;
        }
        let own = tiles.steps.unwrap_or(extents);
        let fault =
            Fault::Steps { operation: name, tile: extents, steps: own, accepted: "a step of 1 or more" };
        ensure!(own.rank() == extents.rank() && !own.contains(&0), fault);
        let (mut tile, mut steps) = (Dims::ones(rank), Dims::ones(rank));
        for (axis, &n) in extents.iter().enumerate() {
            tile = tile.with(order[axis], n);
            steps = steps.with(order[axis], own[axis]);
        }
        let even = |dims: &Dims| dims.last().is_some_and(|n| n % 2 == 0);
        let accepted = "tiles of an even extent at even steps along the array's last axis";
        let whole = dtype.bits() >= 8 || even(&tile) && even(&steps);
        ensure!(whole, Fault::PartOfByte { operation: name, dtype, accepted });
        let latency = tiles.latency.map(|value| Hint::Latency.check(value, None)).transpose()?;
        self.check_padding(name, tiles)?;
        Ok(View {
            array: tiles.array,
            tile,
            steps,
            padding: tiles.padding,
            check: tiles.check,
            latency: latency.and_then(|value| u8::try_from(value).ok()),
            tma: tiles.tma,
            order: tiles.order,
            scope: tiles.scope,
        })
    }

    fn check_padding(&self, name: &'static str, tiles: &Tiles) -> Result<(), Fault> {
        let dtype = self.array_dtype(tiles.array);
        let has = match tiles.padding {
            Padding::Undetermined | Padding::Zero => true,
            Padding::NegZero => dtype.float().is_some_and(|float| float.signed) && dtype.bits() >= 8,
            Padding::Nan => dtype.float().is_some_and(|float| float.nan),
            Padding::PosInf | Padding::NegInf => dtype.float().is_some_and(|float| float.inf),
        };
        ensure!(has, Fault::Padding { operation: name, dtype, padding: tiles.padding });
        Ok(())
    }

    /// The index by the array's axes.
    fn tile_index(&mut self, name: &'static str, tiles: &Tiles, index: &[Arg]) -> Result<Vec<Value>, Fault> {
        let rank = self.array_rank(tiles.array);
        ensure!(index.len() == rank, Fault::IndexRank { operation: name, given: index.len(), rank });
        let own = index.iter().map(|&arg| self.index_scalar(name, arg)).collect::<Result<Vec<_>, _>>()?;
        Ok((0..rank).map(|axis| own[tiles.mode(axis)]).collect())
    }

    fn index_scalar(&mut self, name: &'static str, arg: Arg) -> Result<Value, Fault> {
        let value = self.index_value(name, arg)?;
        let tile = self.ty(value).dims;
        ensure!(tile.rank() == 0, Fault::IndexShape { operation: name, tile, accepted: "scalars" });
        Ok(value)
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
