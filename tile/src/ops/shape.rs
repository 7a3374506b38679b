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

use crate::error::{Code, Fault, bail, ensure, fault};
use crate::fit;
use crate::ir::{Build, Dialect, Dims, Kind, Type, Value};

/// An axis counted from the front; negative ones count from the end.
///
/// # Errors
/// [`Code::AxisOutOfRange`].
pub fn axis(name: &str, axis: i64, rank: usize) -> Result<usize, Fault> {
    let at = if axis < 0 { axis + rank as i64 } else { axis };
    usize::try_from(at).ok().filter(|&at| at < rank).ok_or_else(|| {
        let accepted = match rank.checked_sub(1) {
            Some(last) => format!("-{rank} to {last} are accepted"),
            None => "a scalar has none".into(),
        };
        fault!(Code::AxisOutOfRange, "`{name}` along axis {axis} where the rank is {rank}: {accepted}")
    })
}

impl Build {
    /// Axis `i` of the result is axis `axes[i]` of the tile.
    ///
    /// # Errors
    /// [`Code::AxesRank`], [`Code::AxisOutOfRange`], [`Code::RepeatedAxis`].
    pub fn permute(&mut self, value: Value, axes: &[i64]) -> Result<Value, Fault> {
        let ty = self.ty(value);
        let rank = ty.dims.rank();
        ensure!(
            axes.len() == rank,
            Code::AxesRank,
            "`permute` of a tile {} by the {} axes {axes:?}; {rank} are accepted",
            ty.dims,
            axes.len()
        );
        let mut to = Vec::new();
        for &a in axes {
            let at = fit::item(axis("permute", a, rank)?);
            ensure!(!to.contains(&at), Code::RepeatedAxis, "`permute` by {axes:?} names axis {a} twice");
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
    /// [`Code::TransposeRank`], [`Code::TransposeAxesRequired`], [`Code::AxisOutOfRange`].
    pub fn transpose(&mut self, value: Value, axes: Option<(i64, i64)>) -> Result<Value, Fault> {
        let dims = self.ty(value).dims;
        let rank = dims.rank();
        ensure!(
            rank >= 2,
            Code::TransposeRank,
            "`transpose` of a tile {dims}; tiles of rank 2 or more are accepted"
        );
        let (a, b) = match axes {
            Some((a, b)) => (axis("transpose", a, rank)?, axis("transpose", b, rank)?),
            None if rank == 2 || self.dialect == Dialect::Cxx => (0, 1),
            None => {
                bail!(
                    Code::TransposeAxesRequired,
                    "`transpose` of a tile {dims} must name the two axes that it exchanges"
                );
            }
        };
        let mut order: Vec<i64> = (0..rank as i64).collect();
        order.swap(a, b);
        self.permute(value, &order)
    }

    /// An axis of extent 1 more, at `at` of the result.
    ///
    /// # Errors
    /// [`Code::AxisOutOfRange`]; [`Code::Shape`] for more than 8 axes.
    pub fn expand_dims(&mut self, value: Value, at: i64) -> Result<Value, Fault> {
        let dims = self.ty(value).dims;
        let at = axis("expand_dims", at, dims.rank() + 1)?;
        let mut extents = dims.to_vec();
        extents.insert(at, 1);
        let dims = Dims::new(&extents).ok_or_else(|| {
            fault!(Code::Shape, "`expand_dims` of a tile {dims}: at most 8 axes are accepted")
        })?;
        Ok(self.reshaped(value, dims))
    }

    /// The same elements, row-major, in another shape; one extent may be -1 and follows from the others.
    ///
    /// # Errors
    /// [`Code::ReshapeSize`], [`Code::ReshapeInfer`].
    pub fn reshape(&mut self, value: Value, shape: &[i64]) -> Result<Value, Fault> {
        let ty = self.ty(value);
        let size = ty.dims.size() as i64;
        let known: i64 = shape.iter().filter(|&&n| n != -1).product();
        let refused =
            |code, why: &str| Err(fault!(code, "`reshape` of a tile {} to {shape:?}: {why}", ty.dims));
        let infer = shape.iter().filter(|&&n| n == -1).count();
        if infer > 1 {
            return refused(Code::ReshapeInfer, "one extent of -1 is accepted");
        }
        if infer == 1 && (known <= 0 || size % known != 0) {
            return refused(Code::ReshapeInfer, "no extent in place of -1 gives the tile's size");
        }
        let extents = shape.iter().map(|&n| u32::try_from(if n == -1 { size / known } else { n }).ok());
        let dims = extents.collect::<Option<Vec<u32>>>().and_then(|extents| Dims::new(&extents));
        match dims {
            Some(dims) if dims.size() as i64 == size => Ok(self.reshaped(value, dims)),
            _ => refused(
                Code::ReshapeSize,
                &format!("a shape of {size} elements and at most 8 axes is accepted"),
            ),
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
    /// [`Code::CatRank`], [`Code::CatDtype`], [`Code::CatShape`], [`Code::AxisOutOfRange`].
    pub fn cat(&mut self, a: Value, b: Value, along: i64) -> Result<Value, Fault> {
        let (x, y) = (self.ty(a), self.ty(b));
        let refused = |code, why: &str| Err(fault!(code, "`cat` of {x} and {y} along axis {along}: {why}"));
        if x.dims.rank() != y.dims.rank() || x.dims.rank() == 0 {
            return refused(Code::CatRank, "tiles of one rank, 1 or more, are accepted");
        }
        if x.dtype != y.dtype {
            return refused(Code::CatDtype, "tiles of one dtype are accepted");
        }
        let at = axis("cat", along, x.dims.rank())?;
        if (0..x.dims.rank()).any(|i| i != at && x.dims[i] != y.dims[i]) {
            return refused(Code::CatShape, "tiles that are equal along the other axes are accepted");
        }
        let dims = x.dims.with(at, x.dims[at] + y.dims[at]);
        Ok(self.push1(Kind::Cat(fit::axis(at)), &[a, b], Type { dims, ..x }))
    }

    /// The other way round along an axis.
    ///
    /// # Errors
    /// [`Code::AxisOutOfRange`].
    pub fn flip(&mut self, value: Value, along: i64) -> Result<Value, Fault> {
        let ty = self.ty(value);
        let at = axis("flip", along, ty.dims.rank())?;
        Ok(self.push1(Kind::Flip(fit::axis(at)), &[value], ty))
    }

    /// The part of `shape` at `index`, which counts parts of that shape.
    ///
    /// # Errors
    /// [`Code::IndexRank`], [`Code::ExtractDivisible`], [`Code::ExtractIndex`].
    pub fn extract(&mut self, value: Value, index: &[i64], shape: Dims) -> Result<Value, Fault> {
        let ty = self.ty(value);
        let start = self.part("extract", ty.dims, index, shape)?;
        Ok(self.push1(Kind::Extract(start), &[value], Type { dims: shape, ..ty }))
    }

    /// The tile with `part` at `index`, which counts parts of that shape.
    ///
    /// # Errors
    /// As [`Build::extract`]; [`Code::CatDtype`] for a part of another dtype.
    pub fn insert(&mut self, value: Value, index: &[i64], part: Value) -> Result<Value, Fault> {
        let (ty, of) = (self.ty(value), self.ty(part));
        let start = self.part("insert", ty.dims, index, of.dims)?;
        ensure!(
            ty.dtype == of.dtype,
            Code::CatDtype,
            "`insert` of a {of} into a {ty}: one dtype is accepted"
        );
        Ok(self.push1(Kind::Insert(start), &[value, part], ty))
    }

    fn part(&self, name: &str, whole: Dims, index: &[i64], shape: Dims) -> Result<Dims, Fault> {
        let refused = |code, why: &str| {
            Err(fault!(code, "`{name}` of a part {shape} at {index:?} of a tile {whole}: {why}"))
        };
        if index.len() != whole.rank() || shape.rank() != whole.rank() {
            return refused(Code::IndexRank, "an index and an extent for each axis are accepted");
        }
        if whole.iter().zip(shape.iter()).any(|(n, part)| *part == 0 || n % part != 0) {
            return refused(Code::ExtractDivisible, "extents that divide the tile's are accepted");
        }
        let counts = whole.iter().zip(shape.iter()).map(|(n, part)| i64::from(n / part));
        if index.iter().zip(counts).any(|(i, n)| !(0..n).contains(i)) {
            return refused(Code::ExtractIndex, "indices of parts inside of the tile are accepted");
        }
        let start: Vec<u32> = index.iter().zip(shape.iter()).map(|(&i, &n)| fit::word(i) * n).collect();
        Ok(Dims::new(&start).unwrap_or_default())
    }
}
