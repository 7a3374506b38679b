//! Arrays: their extents and parts, and loads and stores of tiles.

use girih_tensor::DType;

use super::table::Each;
use super::{Arg, Mode, broadcast};
use crate::dtype::{self, Category, Const, category};
use crate::error::{Code, Fault, bail, ensure, fault};
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
/// [`Code::MemoryOrderScope`].
pub fn check_order(access: Access, order: Order, scope: Option<Scope>) -> Result<(), Fault> {
    let (name, orders): (&str, &[Order]) = match access {
        Access::Load => ("a load", &[Order::Weak, Order::Relaxed, Order::Acquire]),
        Access::Store => ("a store", &[Order::Weak, Order::Relaxed, Order::Release]),
        Access::Atomic => {
            ("an atomic operation", &[Order::Relaxed, Order::Acquire, Order::Release, Order::AcqRel])
        }
    };
    let refused = |why: String| Err(fault!(Code::MemoryOrderScope, "{name} {why}"));
    if !orders.contains(&order) {
        let names: Vec<&str> = orders.iter().map(|order| order.name()).collect();
        return refused(format!("is not {}: {} are accepted", order.name(), names.join(", ")));
    }
    match (order, scope) {
        (Order::Weak, Some(scope)) => {
            refused(format!("that is weak has no scope, and not {}: leave the scope out", scope.name()))
        }
        (Order::Weak, None) | (_, Some(_)) => Ok(()),
        (order, None) => {
            refused(format!("that is {} has a scope: block, device or system is accepted", order.name()))
        }
    }
}

impl Build {
    /// The block's number along an axis of the grid, an s32 scalar.
    ///
    /// # Errors
    /// [`Code::BidAxis3`].
    pub fn bid(&mut self, axis: i64) -> Result<Value, Fault> {
        let axis = grid_axis("bid", axis)?;
        Ok(self.push1(Kind::Bid(axis), &[], Type::scalar(DType::S32)))
    }

    /// The grid's extent along an axis, an s32 scalar.
    ///
    /// # Errors
    /// [`Code::BidAxis3`].
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
    /// [`Code::AxisOutOfRange`].
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
    /// [`Code::AxisOutOfRange`]; those of a load that the tiles do not fit.
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
    /// [`Code::AxisOutOfRange`]; [`Code::IndexNonInteger`]; [`Code::Shape`] for a bound that is no scalar.
    pub fn array_slice(&mut self, of: ArrayId, axis: i64, start: Arg, stop: Arg) -> Result<ArrayId, Fault> {
        let at = super::shape::axis("slice", axis, self.array_rank(of))?;
        let dtype = self.array_dtype(of);
        ensure!(
            dtype.bits() >= 8 || at + 1 != self.array_rank(of),
            Code::Shape,
            "`slice` of {dtype} along the last axis, two elements in a byte: other axes are accepted"
        );
        let start = self.index_scalar("slice", start)?;
        let start = self.cast(start, DType::S32, Rounding::Nearest)?;
        let stop = self.index_scalar("slice", stop)?;
        let stop = self.cast(stop, DType::S32, Rounding::Nearest)?;
        Ok(self.slice(of, fit::axis(at), start, stop))
    }

    /// Loads the tile at an index, an integer scalar for each axis of the tiles.
    ///
    /// # Errors
    /// [`Code::IndexRank`], [`Code::IndexNonInteger`], [`Code::ShapeNotPow2`], [`Code::HintValue`], [`Code::MemoryOrderScope`],
    /// [`Code::Shape`], and [`Code::IntegerInputUnsupported`] for a padding that the dtype does not have.
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
    /// As [`Build::load`]; [`Code::MaskDtype`], [`Code::Broadcast`], [`Code::ImplicitCast`] for another dtype of `other`.
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
    /// As [`Build::load`]; [`Code::ImplicitCast`] for a value whose dtype does not become the array's by promotion;
    /// [`Code::StoreShape`]; [`Code::Shape`] for tiles that overlap; [`Code::Unsupported`] for an array that is not `&mut`.
    pub fn store(&mut self, tiles: &Tiles, index: &[Arg], value: Arg) -> Result<(), Fault> {
        let view = self.view("store", tiles)?;
        check_order(Access::Store, view.order, view.scope)?;
        self.writable("store", view.array)?;
        ensure!(
            !view.steps.iter().zip(view.tile.iter()).any(|(step, extent)| step < extent),
            Code::Shape,
            "`store` of tiles {} at steps of {}: they overlap; steps of the extents or more are accepted",
            view.tile,
            view.steps
        );
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
        let dims = self.ty(value).dims;
        let value = self.broadcast_to(value, tiles.tile).map_err(|_| {
            fault!(
                Code::StoreShape,
                "`store` of a tile {dims} where tiles are {}: a tile of that shape, or one that broadcasts to it, is accepted",
                tiles.tile
            )
        })?;
        if tiles.tile.rank() == 0 {
            let rank = self.array_rank(tiles.array);
            return Ok(self.reshaped(value, Dims::ones(rank)));
        }
        self.permute(value, &(0..tiles.tile.rank()).map(|axis| tiles.mode(axis) as i64).collect::<Vec<_>>())
    }

    /// Stores a tile at an index where a mask of its shape holds.
    ///
    /// # Errors
    /// As [`Build::store`]; [`Code::MaskDtype`], [`Code::Broadcast`].
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
        name: &str,
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
    fn view(&self, name: &str, tiles: &Tiles) -> Result<View, Fault> {
        let rank = self.array_rank(tiles.array);
        let (extents, dtype) = (tiles.tile, self.array_dtype(tiles.array));
        ensure!(
            extents.rank() == rank || extents.rank() == 0,
            Code::Shape,
            "`{name}` by tiles {extents} of an array of rank {rank}: an extent for each axis is accepted"
        );
        ensure!(
            !extents.contains(&0),
            Code::Shape,
            "`{name}` by tiles {extents} has no elements: extents of 1 or more are accepted"
        );
        ensure!(
            !self.strict_pow2 || extents.iter().all(|n| n.is_power_of_two()),
            Code::ShapeNotPow2,
            "`{name}` by tiles {extents} is refused: powers of two are accepted here"
        );
        let mut order: Vec<usize> = (0..rank).collect();
        if let Some(axes) = tiles.axes {
            let own = axes.modes();
            let mut sorted = own.clone();
            sorted.sort_unstable();
            ensure!(
                sorted == order && extents.rank() > 0,
                Code::AxesRank,
                "`{name}` by tiles {extents} in the order {axes}: a permutation of the {rank} axes is accepted"
            );
            order = own;
        }
        let own = tiles.steps.unwrap_or(extents);
        ensure!(
            own.rank() == extents.rank() && !own.contains(&0),
            Code::Shape,
            "`{name}` by tiles {extents} at steps of {own}: a step of 1 or more for each axis is accepted"
        );
        let (mut tile, mut steps) = (Dims::ones(rank), Dims::ones(rank));
        for (axis, &n) in extents.iter().enumerate() {
            tile = tile.with(order[axis], n);
            steps = steps.with(order[axis], own[axis]);
        }
        let even = |dims: &Dims| dims.last().is_some_and(|n| n % 2 == 0);
        ensure!(
            dtype.bits() >= 8 || even(&tile) && even(&steps),
            Code::Shape,
            "`{name}` by tiles {extents} of {dtype}, two elements in a byte: an even extent and even steps along the array's last axis are accepted"
        );
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

    fn check_padding(&self, name: &str, tiles: &Tiles) -> Result<(), Fault> {
        let dtype = self.array_dtype(tiles.array);
        let has = match tiles.padding {
            Padding::Undetermined | Padding::Zero => true,
            Padding::NegZero => dtype.float().is_some_and(|float| float.signed) && dtype.bits() >= 8,
            Padding::Nan => dtype.float().is_some_and(|float| float.nan),
            Padding::PosInf | Padding::NegInf => dtype.float().is_some_and(|float| float.inf),
        };
        ensure!(
            has,
            Code::IntegerInputUnsupported,
            "`{name}` of {dtype} with {:?} outside: {dtype} does not have it; zero is accepted",
            tiles.padding
        );
        Ok(())
    }

    /// The index by the array's axes.
    fn tile_index(&mut self, name: &str, tiles: &Tiles, index: &[Arg]) -> Result<Vec<Value>, Fault> {
        let rank = self.array_rank(tiles.array);
        ensure!(
            index.len() == rank,
            Code::IndexRank,
            "`{name}` at {} indices from an array of rank {rank}: {rank} are accepted",
            index.len()
        );
        let own = index.iter().map(|&arg| self.index_scalar(name, arg)).collect::<Result<Vec<_>, _>>()?;
        Ok((0..rank).map(|axis| own[tiles.mode(axis)]).collect())
    }

    fn index_scalar(&mut self, name: &str, arg: Arg) -> Result<Value, Fault> {
        let value = self.index_value(name, arg)?;
        let dims = self.ty(value).dims;
        ensure!(
            dims.rank() == 0,
            Code::Shape,
            "`{name}` at an index that is a tile {dims}: scalars are accepted; tiles of indices are gathered by"
        );
        Ok(value)
    }

    /// An index as an s32 or s64 tile.
    pub(super) fn index_value(&mut self, name: &str, arg: Arg) -> Result<Value, Fault> {
        let value = self.value(arg)?;
        let dtype = self.ty(value).dtype;
        ensure!(
            dtype.is_integer(),
            Code::IndexNonInteger,
            "`{name}` at an index of {dtype}: integers are accepted"
        );
        let wide = dtype.bits() == 64 || dtype == DType::U32;
        self.cast(value, if wide { DType::S64 } else { DType::S32 }, Rounding::Nearest)
    }

    /// A mask of truth values.
    pub(super) fn mask(&mut self, name: &str, arg: Arg) -> Result<Value, Fault> {
        let value = self.value(arg)?;
        let dtype = self.ty(value).dtype;
        ensure!(dtype == DType::Bool, Code::MaskDtype, "`{name}` under a mask of {dtype}: bool is accepted");
        Ok(value)
    }

    /// A value to be stored in an array of `dtype`, which may be cast to it only if promotion gives it.
    pub(super) fn stored(&mut self, name: &str, arg: Arg, dtype: DType) -> Result<Value, Fault> {
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
                format!("the constant {constant:?}")
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
        bail!(
            Code::ImplicitCast,
            "`{name}` of {from} in an array of {dtype}: it may lose something, so cast it by `.to::<T>()`"
        )
    }

    pub(super) fn writable(&self, name: &str, array: ArrayId) -> Result<(), Fault> {
        let param = self.func().param_of(array).1;
        ensure!(
            param.mutable,
            Code::Unsupported,
            "`{name}` in the array `{}`, which is `&Array`: `&mut Array` is accepted",
            param.name
        );
        Ok(())
    }

    /// The shape that all tiles broadcast to.
    pub(super) fn common_dims(&self, name: &str, values: &[Value]) -> Result<Dims, Fault> {
        values.iter().try_fold(Dims::SCALAR, |dims, &value| {
            broadcast(dims, self.ty(value).dims).map_err(|fault| fault!(fault.code, "`{name}`: {fault}"))
        })
    }
}

fn grid_axis(name: &str, axis: i64) -> Result<u8, Fault> {
    u8::try_from(axis)
        .ok()
        .filter(|&axis| axis < 3)
        .ok_or_else(|| fault!(Code::BidAxis3, "`{name}` along axis {axis}: grids have the axes 0, 1 and 2"))
}
