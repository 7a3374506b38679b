//! Reductions over axes.
//!
//! # Examples
//! ```
//! use girih_tensor::DType;
//! use girih_tile::dtype::Const;
//! use girih_tile::ir::Build;
//! use girih_tile::ops::{Axes, Reduce, Reduction};
//!
//! let mut b = Build::new("sums");
//! let x = b.filled(DType::F32, &[8, 4], Const::Float(1.0))?;
//! let sums = b.reduce(Reduction::Sum, x, &Axes::One(-1), Reduce::default())?;
//! assert_eq!(&b.ty(sums).dims[..], [8]);
//! assert!(b.reduce(Reduction::Sum, x, &Axes::Many(vec![2]), Reduce::default()).is_err());
//! # Ok::<(), girih_tile::error::Fault>(())
//! ```

use girih_tensor::DType;

use super::each::arithmetic;
use super::number::encode;
use super::shape::axis;
use crate::dtype::Const;
use crate::error::{Fault, ensure};
use crate::fit;
use crate::ir::{Build, Combine, Dialect, Dims, End, Kind, Nan, RegionId, Rounding, Type, Value};
use crate::types::named;

/// Which axes are reduced; negative ones count from the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Axes {
    /// All.
    All,
    /// One.
    One(i64),
    /// These.
    Many(Vec<i64>),
}

named! {
    /// What elements are reduced to.
    Reduction {
        Sum "sum" "Sum. Integers wrap and keep their dtype, bool is counted in s32; f16 and bf16 are summed in f32 and rounded once.",
        Prod "prod" "Product, as [`Reduction::Sum`].",
        Max "max" "Greatest.",
        Min "min" "Least.",
        ArgMax "argmax" "Index of the greatest, an s32; the smallest index of equals. Over all axes it counts elements in row-major order.",
        ArgMin "argmin" "Index of the least, as [`Reduction::ArgMax`].",
        Any "any" "Whether any element is not 0.",
        All "all" "Whether all elements are not 0.",
    }
}

impl Reduction {
    fn combine(self, nan: Nan) -> Combine {
        match self {
            Reduction::Sum => Combine::Sum,
            Reduction::Prod => Combine::Prod,
            Reduction::Max => Combine::Max(nan),
            Reduction::Min => Combine::Min(nan),
            Reduction::ArgMax => Combine::ArgMax(nan),
            Reduction::ArgMin => Combine::ArgMin(nan),
            Reduction::Any => Combine::Or,
            Reduction::All => Combine::And,
        }
    }
}

/// How a reduction is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Reduce {
    /// Whether reduced axes stay with extent 1. In the dialect of C++ they always do.
    pub keepdims: bool,
    /// NaN in minimum and maximum.
    pub nan: Nan,
}

impl Build {
    /// Reduces a tile over axes.
    ///
    /// # Errors
    /// [`Fault::AxisOutOfRange`], [`Fault::RepeatedAxis`], [`Fault::AxisTupleUnsupported`] for an index over several axes,
    /// [`Fault::NonArithmeticDtype`].
    pub fn reduce(&mut self, op: Reduction, value: Value, axes: &Axes, how: Reduce) -> Result<Value, Fault> {
        let ty = self.ty(value);
        let index = matches!(op, Reduction::ArgMax | Reduction::ArgMin);
        arithmetic(op.name(), ty.dtype)?;
        let reduced = self.axes(op.name(), axes, ty.dims)?;
        let fault =
            Fault::AxisTupleUnsupported { operation: op.name(), accepted: "one axis, or all of them," };
        ensure!(!index || !matches!(axes, Axes::Many(_)), fault);
        let kept = reduced.iter().fold(ty.dims, |dims, &at| dims.with(at, 1));
        let dropped: Vec<u32> =
            (0..ty.dims.rank()).filter(|at| !reduced.contains(at)).map(|at| ty.dims[at]).collect();
        let keep = how.keepdims || self.dialect == Dialect::Cxx;
        let dims = if keep { kept } else { Dims::new(&dropped).unwrap_or_default() };
        let prepared = match op {
            Reduction::Any | Reduction::All => self.cast(value, DType::Bool, Rounding::Nearest)?,
            _ if ty.dtype == DType::Bool => self.cast(value, DType::S32, Rounding::Nearest)?,
            // Several axes go one after the other, and are rounded once.
            Reduction::Sum | Reduction::Prod
                if reduced.len() > 1 && matches!(ty.dtype, DType::F16 | DType::Bf16) =>
            {
                self.cast(value, DType::F32, Rounding::Nearest)?
            }
            _ => value,
        };
        let mut value = prepared;
        let mut over = reduced;
        if index && over.len() != 1 {
            let size = fit::low(ty.dims.size());
            value = self.reshaped(value, Dims::new(&[size]).unwrap_or_default());
            over = vec![0];
        }
        for at in over {
            let from = self.ty(value);
            let dtype = if index { DType::S32 } else { from.dtype };
            let kind =
                Kind::Reduce { axis: fit::axis(at), combine: op.combine(how.nan), identity: [].into() };
            value = self.push1(kind, &[value], Type { dtype, dims: from.dims.with(at, 1) });
        }
        if matches!(ty.dtype, DType::F16 | DType::Bf16)
            && !index
            && !matches!(op, Reduction::Any | Reduction::All)
        {
            value = self.cast(value, ty.dtype, Rounding::Nearest)?;
        }
        Ok(self.reshaped(value, dims))
    }

    fn axes(&self, name: &'static str, axes: &Axes, dims: Dims) -> Result<Vec<usize>, Fault> {
        let list = match axes {
            Axes::All => return Ok((0..dims.rank()).collect()),
            Axes::One(at) => std::slice::from_ref(at),
            Axes::Many(list) => list,
        };
        let mut found = Vec::new();
        for &at in list {
            let here = axis(name, at, dims.rank())?;
            ensure!(!found.contains(&here), Fault::RepeatedAxis { operation: name, axes: list.to_vec() });
            found.push(here);
        }
        found.sort_unstable();
        Ok(found)
    }

    /// Opens the region of a combination of one's own, which [`Build::close_combine`] closes. Returns the left and the right scalars
    /// that it combines, of the dtypes of `values`.
    pub fn open_combine(&mut self, values: &[Value]) -> (Vec<Value>, Vec<Value>) {
        let types: Vec<Type> = values.iter().map(|&value| Type::scalar(self.ty(value).dtype)).collect();
        let (_, mut left) = self.open(&[types.clone(), types].concat());
        let right = left.split_off(values.len());
        (left, right)
    }

    /// Closes the region of a combination of `values` with what it yields. The region is closed in any case.
    ///
    /// # Errors
    /// [`Fault::Combination`] where the results are not scalars of the dtypes of `values`.
    pub fn close_combine(&mut self, values: &[Value], results: &[Value]) -> Result<RegionId, Fault> {
        let want: Vec<Type> = values.iter().map(|&value| Type::scalar(self.ty(value).dtype)).collect();
        let got: Vec<Type> = results.iter().map(|&value| self.ty(value)).collect();
        let region = self.close(End::Yield(results.to_vec()));
        if want == got {
            return Ok(region);
        }
        Err(Fault::Combination { given: got, accepted: want })
    }

    /// What an operation with a combination of its own takes: its operands broadcast to one shape, the axis, and the identity.
    pub(super) fn combined(
        &mut self,
        name: &'static str,
        values: &[Value],
        along: i64,
        identity: &[Const],
    ) -> Result<(Vec<Value>, usize, Vec<u64>), Fault> {
        let (tiles, identities) = (values.len(), identity.len());
        ensure!(tiles > 0 && tiles == identities, Fault::Identities { operation: name, tiles, identities });
        let all = values.iter().map(|&value| self.ty(value).dims);
        let dims = all.into_iter().try_fold(Dims::SCALAR, super::broadcast)?;
        let at = axis(name, along, dims.rank())?;
        let stretched = self.broadcast_all(values, dims)?;
        let bits =
            values.iter().zip(identity).map(|(&value, &one)| encode(self.ty(value).dtype, one)).collect();
        Ok((stretched, at, bits))
    }

    /// Reduces tiles along an axis by a combination of one's own, which [`Build::open_combine`] and [`Build::close_combine`] have made,
    /// and which leaves `identity` combined with anything as it is. Tiles are broadcast to each other.
    ///
    /// # Errors
    /// [`Fault::AxisOutOfRange`], [`Fault::Broadcast`], [`Fault::Identities`].
    pub fn reduce_by(
        &mut self,
        values: &[Value],
        along: i64,
        identity: &[Const],
        region: RegionId,
        how: Reduce,
    ) -> Result<Vec<Value>, Fault> {
        let (operands, at, bits) = self.combined("reduce", values, along, identity)?;
        let dims = self.ty(operands[0]).dims;
        let types: Vec<Type> =
            operands.iter().map(|&value| Type { dims: dims.with(at, 1), ..self.ty(value) }).collect();
        let kind = Kind::Reduce { axis: fit::axis(at), combine: Combine::By(()), identity: bits.into() };
        let results = self.push_regions(kind, &operands, &types, vec![region]);
        if how.keepdims || self.dialect == Dialect::Cxx {
            return Ok(results);
        }
        let rest: Vec<u32> = (0..dims.rank()).filter(|&i| i != at).map(|i| dims[i]).collect();
        let rest = Dims::new(&rest).unwrap_or_default();
        Ok(results.into_iter().map(|value| self.reshaped(value, rest)).collect())
    }
}
