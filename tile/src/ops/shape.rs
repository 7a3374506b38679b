//! Shapes: permutation, reshape, parts, concatenation, order along an axis.
//!
//! # Examples
//! ```
//! use girih_tensor::DType;
//! use girih_tile::dtype::Const;
//! use girih_tile::ir::Build;
//!
//! let mut b = Build::new("shapes");
//! let x = b.filled(DType::F32, &[8, 4], Const::Float(1.0))?;
//! let turned = b.transpose(x, None)?;
//! let flat = b.reshape(turned, &[-1])?;
//! assert_eq!((&b.ty(turned).dims[..], &b.ty(flat).dims[..]), (&[4, 8][..], &[32][..]));
//! assert!(b.reshape(x, &[5, 5]).is_err());
//! # Ok::<(), girih_tile::error::Fault>(())
//! ```

use crate::error::{Fault, ensure};
use crate::fit;
use crate::ir::{Build, Dialect, Dims, Kind, Type, Value};

/// An axis counted from the front; negative ones count from the end.
///
/// # Errors
/// [`Fault::AxisOutOfRange`].
pub fn axis(operation: &'static str, axis: i64, rank: usize) -> Result<usize, Fault> {
    let at = if axis < 0 { axis + rank as i64 } else { axis };
    let found = usize::try_from(at).ok().filter(|&at| at < rank);
    found.ok_or(Fault::AxisOutOfRange { operation, axis, rank })
}

impl Build {
    /// Axis `i` of the result is axis `axes[i]` of the tile.
    ///
    /// # Errors
    /// [`Fault::AxesRank`], [`Fault::AxisOutOfRange`], [`Fault::RepeatedAxis`].
    pub fn permute(&mut self, value: Value, axes: &[i64]) -> Result<Value, Fault> {
        let ty = self.ty(value);
        let rank = ty.dims.rank();
        let operation = "permute";
        ensure!(axes.len() == rank, Fault::AxesRank { operation, tile: ty.dims, axes: axes.to_vec() });
        let mut to = Vec::new();
        for &a in axes {
            let at = fit::item(axis(operation, a, rank)?);
            ensure!(!to.contains(&at), Fault::RepeatedAxis { operation, axes: axes.to_vec() });
            to.push(at);
        }
        if to.iter().enumerate().all(|(i, &a)| fit::item(i) == a) {
            return Ok(value);
        }
        let extents: Vec<u32> = to.iter().map(|&a| ty.dims[a as usize]).collect();
        let dims = Dims::new(&extents).unwrap_or_default();
        Ok(self.push1(Kind::Permute(Dims::new(&to).unwrap_or_default()), &[value], Type { dims, ..ty }))
    }

    /// Two axes exchanged. Without `axes`, the two of a tile of rank 2; in the dialect of C++ the first two of any.
    ///
    /// # Errors
    /// [`Fault::TransposeRank`], [`Fault::TransposeAxesRequired`], [`Fault::AxisOutOfRange`].
    pub fn transpose(&mut self, value: Value, axes: Option<(i64, i64)>) -> Result<Value, Fault> {
        let dims = self.ty(value).dims;
        let rank = dims.rank();
        ensure!(rank >= 2, Fault::TransposeRank { tile: dims });
        let (a, b) = match axes {
            Some((a, b)) => (axis("transpose", a, rank)?, axis("transpose", b, rank)?),
            None if rank == 2 || self.dialect == Dialect::Cxx => (0, 1),
            None => return Err(Fault::TransposeAxesRequired { tile: dims }),
        };
        let mut order: Vec<i64> = (0..rank as i64).collect();
        order.swap(a, b);
        self.permute(value, &order)
    }

    /// An axis of extent 1 more, at `at` of the result.
    ///
    /// # Errors
    /// [`Fault::AxisOutOfRange`]; [`Fault::Extents`] for more than 8 axes.
    pub fn expand_dims(&mut self, value: Value, at: i64) -> Result<Value, Fault> {
        let dims = self.ty(value).dims;
        let at = axis("expand_dims", at, dims.rank() + 1)?;
        let mut extents = dims.to_vec();
        extents.insert(at, 1);
        let shape = || extents.iter().map(|&n| n.into()).collect();
        let dims = Dims::new(&extents).ok_or_else(|| Fault::Extents { shape: shape() })?;
        Ok(self.reshaped(value, dims))
    }

    /// The same elements, row-major, in another shape; one extent may be -1 and follows from the others.
    ///
    /// # Errors
    /// [`Fault::ReshapeSize`], [`Fault::ReshapeInfer`].
    pub fn reshape(&mut self, value: Value, shape: &[i64]) -> Result<Value, Fault> {
        let tile = self.ty(value).dims;
        let size = tile.size() as i64;
        let known: i64 = shape.iter().filter(|&&n| n != -1).product();
        let infer = shape.iter().filter(|&&n| n == -1).count();
        let inferred = infer == 0 || infer == 1 && known > 0 && size % known == 0;
        ensure!(inferred, Fault::ReshapeInfer { tile, shape: shape.to_vec() });
        let extents = shape.iter().map(|&n| u32::try_from(if n == -1 { size / known } else { n }).ok());
        let dims = extents.collect::<Option<Vec<u32>>>().and_then(|extents| Dims::new(&extents));
        match dims {
            Some(dims) if dims.size() as i64 == size => Ok(self.reshaped(value, dims)),
            _ => Err(Fault::ReshapeSize { tile, shape: shape.to_vec() }),
        }
    }

    /// The same elements in a shape of the same size.
    pub(crate) fn reshaped(&mut self, value: Value, dims: Dims) -> Value {
        let ty = self.ty(value);
        if ty.dims == dims { value } else { self.push1(Kind::Reshape, &[value], Type { dims, ..ty }) }
    }

    /// Two tiles, one after the other along an axis.
    ///
    /// # Errors
    /// [`Fault::CatRank`], [`Fault::CatDtype`], [`Fault::CatShape`], [`Fault::AxisOutOfRange`].
    pub fn cat(&mut self, a: Value, b: Value, along: i64) -> Result<Value, Fault> {
        let (x, y) = (self.ty(a), self.ty(b));
        let rank = x.dims.rank();
        ensure!(rank == y.dims.rank() && rank > 0, Fault::CatRank { a: x, b: y });
        ensure!(x.dtype == y.dtype, Fault::CatDtype { operation: "cat", a: x, b: y });
        let at = axis("cat", along, rank)?;
        let fits = (0..rank).all(|i| i == at || x.dims[i] == y.dims[i]);
        ensure!(fits, Fault::CatShape { a: x, b: y, axis: at });
        let dims = x.dims.with(at, x.dims[at] + y.dims[at]);
        Ok(self.push1(Kind::Cat(fit::axis(at)), &[a, b], Type { dims, ..x }))
    }

    /// The other way round along an axis.
    ///
    /// # Errors
    /// [`Fault::AxisOutOfRange`].
    pub fn flip(&mut self, value: Value, along: i64) -> Result<Value, Fault> {
        let ty = self.ty(value);
        let at = axis("flip", along, ty.dims.rank())?;
        Ok(self.push1(Kind::Flip(fit::axis(at)), &[value], ty))
    }

    /// The part of `shape` at `index`, which counts parts of that shape.
    ///
    /// # Errors
    /// [`Fault::IndexRank`], [`Fault::ExtractDivisible`], [`Fault::ExtractIndex`].
    pub fn extract(&mut self, value: Value, index: &[i64], shape: Dims) -> Result<Value, Fault> {
        let ty = self.ty(value);
        let start = self.part("extract", ty.dims, index, shape)?;
        Ok(self.push1(Kind::Extract(start), &[value], Type { dims: shape, ..ty }))
    }

    /// The tile with `part` at `index`, which counts parts of that shape.
    ///
    /// # Errors
    /// As [`Build::extract`]; [`Fault::CatDtype`] for a part of another dtype.
    pub fn insert(&mut self, value: Value, index: &[i64], part: Value) -> Result<Value, Fault> {
        let (ty, of) = (self.ty(value), self.ty(part));
        let start = self.part("insert", ty.dims, index, of.dims)?;
        ensure!(ty.dtype == of.dtype, Fault::CatDtype { operation: "insert", a: of, b: ty });
        Ok(self.push1(Kind::Insert(start), &[value, part], ty))
    }

    fn part(&self, operation: &'static str, tile: Dims, index: &[i64], part: Dims) -> Result<Dims, Fault> {
        let rank = tile.rank();
        for given in [index.len(), part.rank()] {
            ensure!(given == rank, Fault::IndexRank { operation, given, rank });
        }
        let divides = tile.iter().zip(part.iter()).all(|(n, part)| *part != 0 && n % part == 0);
        ensure!(divides, Fault::ExtractDivisible { operation, part, tile });
        let parts = (0..rank).fold(tile, |parts, at| parts.with(at, tile[at] / part[at]));
        let inside = index.iter().zip(parts.iter()).all(|(i, &n)| (0..n.into()).contains(i));
        ensure!(inside, Fault::ExtractIndex { operation, index: index.to_vec(), parts });
        let start: Vec<u32> = index.iter().zip(part.iter()).map(|(&i, &n)| fit::word(i) * n).collect();
        Ok(Dims::new(&start).unwrap_or_default())
    }
}
