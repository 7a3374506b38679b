//! Order of elements, and how often numbers are in a tile.

use girih_tensor::DType;

use super::each::arithmetic;
use super::shape::axis;
use crate::error::{Fault, ensure};
use crate::fit;
use crate::ir::{Build, Dims, Kind, Type, Value};

impl Build {
    /// Tiles of one shape, sorted along an axis by the first. Equal elements keep their order, NaN comes last.
    ///
    /// # Errors
    /// [`Fault::AxisOutOfRange`], [`Fault::BroadcastTo`], [`Fault::NonArithmeticDtype`].
    pub fn sort(&mut self, values: &[Value], along: i64, descending: bool) -> Result<Vec<Value>, Fault> {
        let Some(&first) = values.first() else { return Err(Fault::NoTiles { operation: "sort" }) };
        let ty = self.ty(first);
        arithmetic("sort", ty.dtype)?;
        let at = axis("sort", along, ty.dims.rank())?;
        let operands = self.broadcast_all(values, ty.dims)?;
        let types: Vec<Type> = operands.iter().map(|&value| self.ty(value)).collect();
        Ok(self.push(Kind::Sort { axis: fit::axis(at), descending }, &operands, &types))
    }

    /// Positions along an axis, s32, in the order of the tile's elements.
    ///
    /// # Errors
    /// As [`Build::sort`].
    pub fn argsort(&mut self, value: Value, along: i64, descending: bool) -> Result<Value, Fault> {
        Ok(self.sorted_positions("argsort", value, along, descending)?.1)
    }

    fn sorted_positions(
        &mut self,
        name: &'static str,
        value: Value,
        along: i64,
        descending: bool,
    ) -> Result<(Value, Value), Fault> {
        let dims = self.ty(value).dims;
        let at = axis(name, along, dims.rank())?;
        let positions = self.along(DType::S32, dims[at], at, dims.rank());
        let sorted = self.sort(&[value, positions], along, descending)?;
        Ok((sorted[0], sorted[1]))
    }

    /// The `k` greatest elements along an axis, the greatest first, and their positions, s32. With `smallest` the least, the least
    /// first. Of equals the first ones; NaN comes last.
    ///
    /// # Errors
    /// As [`Build::sort`]; [`Fault::Elements`] for a `k` that is not 1 to the axis's extent.
    pub fn top_k(
        &mut self,
        value: Value,
        k: u32,
        along: i64,
        smallest: bool,
    ) -> Result<(Value, Value), Fault> {
        let dims = self.ty(value).dims;
        let operation = "top_k";
        let at = axis(operation, along, dims.rank())?;
        let fault = Fault::Elements { operation, count: k, axis: at, most: Some(dims[at]) };
        ensure!((1..=dims[at]).contains(&k), fault);
        let (values, positions) = self.sorted_positions(operation, value, along, !smallest)?;
        let part = dims.with(at, k);
        Ok((self.first(values, part), self.first(positions, part)))
    }

    /// The part of a tile that begins at its first element.
    fn first(&mut self, value: Value, dims: Dims) -> Value {
        let ty = self.ty(value);
        if ty.dims == dims {
            return value;
        }
        let start = Dims::new(&vec![0; dims.rank()]).unwrap_or_default();
        self.push1(Kind::Extract(start), &[value], Type { dims, ..ty })
    }

    /// How often each number of `0..bins` is in a tile of integers, an s32 tile of rank 1. Other numbers are not counted.
    ///
    /// # Errors
    /// [`Fault::FloatInputUnsupported`], [`Fault::BoolArithmetic`], [`Fault::Extents`] for no bins.
    pub fn histogram(&mut self, value: Value, bins: i64) -> Result<Value, Fault> {
        let (operation, dtype) = ("histogram", self.ty(value).dtype);
        ensure!(dtype != DType::Bool, Fault::BoolArithmetic { operation });
        ensure!(dtype.is_integer(), Fault::FloatInputUnsupported { operation, dtype });
        let dims = self.tile_dims(&[bins])?;
        Ok(self.push1(Kind::Histogram, &[value], Type { dtype: DType::S32, dims }))
    }
}
