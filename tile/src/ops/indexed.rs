//! Elements of arrays by index tiles: gathers, scatters, rows, and atomic operations.
//!
//! # Examples
//! ```
//! use girih_tensor::DType;
//! use girih_tile::ir::Rmw;
//!
//! assert!(Rmw::Add.dtypes().contains(&DType::F32));
//! assert!(!Rmw::Xor.dtypes().contains(&DType::F32), "bits of integers alone");
//! ```

use girih_tensor::DType;

use super::memory::{Access, Tiles, check_order};
use super::table::Each;
use super::{Arg, Mode};
use crate::dtype::Const;
use crate::error::{Fault, ensure};
use crate::hints::Hint;
use crate::ir::{ArrayId, Build, Dims, Indexed, Kind, Order, Rmw, Scope, Type, Value};

/// Elements of an array, and how they are accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elements {
    /// The array.
    pub array: ArrayId,
    /// Whether indices are checked against the extents. An access without is a promise that all its elements are in the array.
    pub check: bool,
    /// Expected latency, 1 to 10.
    pub latency: Option<i64>,
    /// Order of the access; none is weak for gathers and scatters, and acquire and release for atomic operations.
    pub order: Option<Order>,
    /// Scope; none is the device for atomic operations.
    pub scope: Option<Scope>,
}

impl Elements {
    /// Elements with no options set.
    pub const fn new(array: ArrayId) -> Elements {
        Elements { array, check: true, latency: None, order: None, scope: None }
    }

    /// The elements of tiles, accessed as they are.
    pub(super) fn of(tiles: &Tiles) -> Elements {
        Elements {
            array: tiles.array,
            check: tiles.check,
            latency: tiles.latency,
            order: Some(tiles.order),
            scope: tiles.scope,
        }
    }
}

/// Which elements of an array along one of its axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Along {
    /// Those that a tile of rank 1, or a scalar, names.
    Rows(Arg),
    /// `count` elements from a first one.
    Span {
        /// The first element, an integer scalar.
        start: Arg,
        /// How many.
        count: u32,
    },
}

impl Rmw {
    /// The dtypes that the operation has.
    pub const fn dtypes(self) -> &'static [DType] {
        use DType::{Bf16, F16, F32, F64, S32, S64, U32, U64};
        match self {
            Rmw::Add => &[S32, U32, S64, U64, F16, Bf16, F32, F64],
            Rmw::Min | Rmw::Max | Rmw::And | Rmw::Or | Rmw::Xor => &[S32, U32, S64, U64],
            Rmw::Xchg | Rmw::Cas => &[S32, U32, S64, U64, F32, F64],
        }
    }
}

impl Build {
    /// Loads elements: an integer tile for each axis of the array, which broadcast to one shape. Elements outside of the array, of
    /// which negative indices are, and those where the mask is false get the padding, or zero.
    ///
    /// # Errors
    /// [`Fault::IndexRank`], [`Fault::IndexNonInteger`], [`Fault::Broadcast`], [`Fault::MaskDtype`], [`Fault::ImplicitCast`] for a
    /// padding of another dtype, [`Fault::HintValue`], [`Fault::MemoryOrderScope`].
    pub fn gather(
        &mut self,
        at: &Elements,
        indices: &[Arg],
        mask: Option<Arg>,
        padding: Option<Arg>,
    ) -> Result<Value, Fault> {
        let name = "gather";
        let (order, scope) = (at.order.unwrap_or_default(), at.scope);
        check_order(Access::Load, order, scope)?;
        let mut operands = self.indices(name, at, indices)?;
        operands.extend(mask.map(|mask| self.mask(name, mask)).transpose()?);
        let dims = self.common_dims(&operands)?;
        let dtype = self.array_dtype(at.array);
        let padding = match padding {
            Some(padding) => self.stored(name, padding, dtype)?,
            None => self.full(dtype, Dims::SCALAR, Const::Int(0)),
        };
        operands.push(padding);
        let operands = self.broadcast_all(&operands, dims)?;
        let indexed = Indexed { array: at.array, masked: mask.is_some(), check: at.check, order, scope };
        Ok(self.push1(Kind::Gather(indexed), &operands, Type { dtype, dims }))
    }

    /// Stores elements at index tiles, as [`Build::gather`] has them; elements outside of the array and those where the mask is false
    /// are left as they are. The value broadcasts to the shape of the indices. Where two indices are equal, one of the values stays.
    ///
    /// # Errors
    /// As [`Build::gather`]; [`Fault::ImplicitCast`] for a value whose dtype does not become the array's by promotion;
    /// [`Fault::ReadOnly`] for an array that is not `&mut`.
    pub fn scatter(
        &mut self,
        at: &Elements,
        indices: &[Arg],
        value: Arg,
        mask: Option<Arg>,
    ) -> Result<(), Fault> {
        let name = "scatter";
        let (order, scope) = (at.order.unwrap_or_default(), at.scope);
        check_order(Access::Store, order, scope)?;
        self.writable(name, at.array)?;
        let mut operands = self.indices(name, at, indices)?;
        operands.extend(mask.map(|mask| self.mask(name, mask)).transpose()?);
        let dims = self.common_dims(&operands)?;
        let value = self.stored(name, value, self.array_dtype(at.array))?;
        operands.insert(0, value);
        let operands = self.broadcast_all(&operands, dims)?;
        let indexed = Indexed { array: at.array, masked: mask.is_some(), check: at.check, order, scope };
        self.push(Kind::Scatter(indexed), &operands, &[]);
        Ok(())
    }

    /// Atomic operations on elements at index tiles, and what stood there before each. Indices, values and mask broadcast to one shape.
    /// Each element is updated atomically, in no particular order. Where an element is outside of the array, or masked out, nothing
    /// happens, and the result is the expected value of [`Rmw::Cas`] and 0 of others.
    ///
    /// # Errors
    /// As [`Build::scatter`]; [`Fault::AtomicDtype`] for an array whose dtype the operation does not have,
    /// [`Fault::AtomicBitwiseDtypeMismatch`], [`Fault::MemoryOrderScope`] for a weak order, [`Fault::Expected`] for an expected value
    /// of another operation than [`Rmw::Cas`].
    pub fn atomic(
        &mut self,
        rmw: Rmw,
        at: &Elements,
        indices: &[Arg],
        expected: Option<Arg>,
        update: Arg,
        mask: Option<Arg>,
    ) -> Result<Value, Fault> {
        let (kind, operands, ty) = self.atomic_parts(rmw, at, indices, expected, update, mask)?;
        Ok(self.push1(kind, &operands, ty))
    }

    /// [`Build::atomic`] on the tile at an index that counts tiles, without a result: what of the tile is outside of the array is dropped.
    /// A view's operations are relaxed unless it has an order.
    ///
    /// # Errors
    /// As [`Build::atomic`] and [`Build::load`]; [`Fault::StoreShape`].
    pub fn atomic_tile(&mut self, rmw: Rmw, tiles: &Tiles, index: &[Arg], update: Arg) -> Result<(), Fault> {
        let name = rmw.name();
        let order =
            if tiles.order == Order::Weak && tiles.scope.is_none() { Order::Relaxed } else { tiles.order };
        let at = Elements { order: Some(order), ..Elements::of(tiles) };
        let coordinates = self.coordinates(name, tiles, index)?;
        let update = self.value(update)?;
        let update = self.stretched(name, update, tiles.tile)?;
        let (kind, operands, _) = self.atomic_parts(rmw, &at, &coordinates, None, update.into(), None)?;
        self.push(kind, &operands, &[]);
        Ok(())
    }

    fn atomic_parts(
        &mut self,
        rmw: Rmw,
        at: &Elements,
        indices: &[Arg],
        expected: Option<Arg>,
        update: Arg,
        mask: Option<Arg>,
    ) -> Result<(Kind, Vec<Value>, Type), Fault> {
        let name = rmw.name();
        if at.order == Some(Order::Weak) {
            check_order(Access::Atomic, Order::Weak, None)?;
        }
        let (order, scope) = (at.order.unwrap_or(Order::AcqRel), Some(at.scope.unwrap_or(Scope::Device)));
        check_order(Access::Atomic, order, scope)?;
        if at.latency.is_some() {
            Hint::Latency.check_on(crate::hints::Construct::Atomic)?;
        }
        self.writable(name, at.array)?;
        let dtype = self.array_dtype(at.array);
        let accepted = rmw.dtypes();
        ensure!(accepted.contains(&dtype), Fault::AtomicDtype { operation: name, dtype, accepted });
        let given = usize::from(expected.is_some());
        ensure!(given == usize::from(rmw == Rmw::Cas), Fault::Expected { operation: name, given });
        let mut operands = Vec::new();
        for arg in expected.into_iter().chain([update]) {
            let value = self.atomic_value(rmw, arg, dtype)?;
            operands.push(value);
        }
        operands.extend(self.indices(name, at, indices)?);
        operands.extend(mask.map(|mask| self.mask(name, mask)).transpose()?);
        let dims = self.common_dims(&operands)?;
        let operands = self.broadcast_all(&operands, dims)?;
        let at = Indexed { array: at.array, masked: mask.is_some(), check: at.check, order, scope };
        Ok((Kind::Atomic { rmw, at }, operands, Type { dtype, dims }))
    }

    fn atomic_value(&mut self, rmw: Rmw, arg: Arg, dtype: DType) -> Result<Value, Fault> {
        if let (Rmw::And | Rmw::Or | Rmw::Xor, Arg::Value(value)) = (rmw, arg) {
            let (operation, own) = (rmw.name(), self.ty(value).dtype);
            let fault = Fault::AtomicBitwiseDtypeMismatch { operation, value: own, array: dtype };
            ensure!(own == dtype, fault);
        }
        self.stored(rmw.name(), arg, dtype)
    }

    /// Loads elements that rows and spans name along each axis: the result has an axis for each axis of the array. Elements outside of the
    /// array get the padding, or zero.
    ///
    /// # Errors
    /// As [`Build::gather`]; [`Fault::IndexShape`] for rows of rank 2 or more; [`Fault::Elements`] for an empty span.
    pub fn load_rows(
        &mut self,
        at: &Elements,
        along: &[Along],
        padding: Option<Arg>,
    ) -> Result<Value, Fault> {
        let indices = self.row_indices("load_rows", along)?;
        self.gather(at, &indices, None, padding)
    }

    /// Stores elements that rows and spans name along each axis.
    ///
    /// # Errors
    /// As [`Build::load_rows`] and [`Build::scatter`].
    pub fn store_rows(&mut self, at: &Elements, along: &[Along], value: Arg) -> Result<(), Fault> {
        let indices = self.row_indices("store_rows", along)?;
        self.scatter(at, &indices, value, None)
    }

    fn row_indices(&mut self, name: &'static str, along: &[Along]) -> Result<Vec<Arg>, Fault> {
        let rank = along.len();
        let mut indices = Vec::new();
        for (axis, part) in along.iter().enumerate() {
            let index = match *part {
                Along::Rows(rows) => {
                    let rows = self.index_value(name, rows)?;
                    let tile = self.ty(rows).dims;
                    let accepted = "scalars and tiles of rank 1";
                    ensure!(tile.rank() < 2, Fault::IndexShape { operation: name, tile, accepted });
                    let extent = tile.first().copied().unwrap_or(1);
                    self.reshaped(rows, Dims::ones(rank).with(axis, extent))
                }
                Along::Span { start, count } => {
                    ensure!(count != 0, Fault::Elements { operation: name, count, axis, most: None });
                    let start = self.index_value(name, start)?;
                    let offsets = self.along(self.ty(start).dtype, count, axis, rank);
                    self.each(Each::Add, &[start.into(), offsets.into()], Mode::default())?
                }
            };
            indices.push(index.into());
        }
        Ok(indices)
    }

    /// An index tile for each axis of the array.
    fn indices(&mut self, name: &'static str, at: &Elements, indices: &[Arg]) -> Result<Vec<Value>, Fault> {
        let rank = self.array_rank(at.array);
        ensure!(indices.len() == rank, Fault::IndexRank { operation: name, given: indices.len(), rank });
        let (dtype, accepted) = (self.array_dtype(at.array), "loads and stores of tiles");
        ensure!(dtype.bits() >= 8, Fault::PartOfByte { operation: name, dtype, accepted });
        if let Some(latency) = at.latency {
            Hint::Latency.check(latency, None)?;
        }
        let values = indices.iter().map(|&arg| self.index_value(name, arg)).collect::<Result<Vec<_>, _>>()?;
        debug_assert!(values.iter().all(|&value| self.ty(value).dtype.is_integer()));
        Ok(values)
    }
}
