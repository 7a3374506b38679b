//! Products of matrices.

use crate::dtype::{Const, promote, sums};
use crate::error::{Fault, ensure};
use crate::ir::{Build, Dims, Kind, Rounding, Value};

/// The shape of the product of two matrices, or of batches of them.
struct Shape {
    /// None for matrices.
    batch: Option<u32>,
    m: u32,
    k: u32,
    n: u32,
}

impl Shape {
    fn new(operation: &'static str, a: Dims, b: Dims) -> Result<Shape, Fault> {
        let matrix = |dims: Dims| (2..=3).contains(&dims.rank());
        ensure!(matrix(a) && matrix(b), Fault::MmaRank { operation, a, b });
        let last = |dims: Dims, back: usize| dims[dims.rank() - back];
        let [m, k, n] = [last(a, 2), last(a, 1), last(b, 1)];
        let of = |dims: Dims| (dims.rank() == 3).then(|| dims[0]);
        let (x, y) = (of(a), of(b));
        let batches = x == y || [x, y].iter().any(|&batch| matches!(batch, None | Some(1)));
        ensure!(last(b, 2) == k && batches, Fault::MmaShape { operation, a, b });
        Ok(Shape { batch: x.max(y), m, k, n })
    }

    fn dims(&self, rows: u32, columns: u32) -> Dims {
        let all: Vec<u32> = self.batch.into_iter().chain([rows, columns]).collect();
        Dims::new(&all).unwrap_or_default()
    }
}

impl Build {
    /// `a * b + acc` of matrices `(M,K)`, `(K,N)` and `(M,N)`, or of batches of them, where a batch of 1 and a matrix are taken for all. The result has
    /// the accumulator's dtype: what a product is summed in says [`sums`]. Nothing is promoted.
    ///
    /// # Errors
    /// [`Fault::MmaRank`], [`Fault::MmaShape`], [`Fault::MmaAccShape`], [`Fault::MmaDtype`], [`Fault::MmaDtypeMismatch`], [`Fault::MmaAccDtype`].
    ///
    /// ```
    /// use girih_tensor::DType;
    /// use girih_tile::dtype::Const;
    /// use girih_tile::error::Fault;
    /// use girih_tile::ir::{Build, Dims};
    ///
    /// let mut b = Build::new("product");
    /// let mut tile = |dtype, shape: &[u32]| b.full(dtype, Dims::new(shape).unwrap_or_default(), Const::Int(1));
    /// let (x, y) = (tile(DType::F16, &[16, 8]), tile(DType::F16, &[8, 4]));
    /// let (sums, wrong) = (tile(DType::F32, &[16, 4]), tile(DType::F32, &[4, 16]));
    /// let product = b.mma(x, y, sums)?;
    /// assert_eq!(b.ty(product).to_string(), "f32[16, 4]");
    /// assert!(matches!(b.mma(x, y, wrong), Err(Fault::MmaAccShape { .. })));
    /// # Ok::<(), girih_tile::error::Fault>(())
    /// ```
    pub fn mma(&mut self, a: Value, b: Value, acc: Value) -> Result<Value, Fault> {
        let [x, y, z] = [a, b, acc].map(|value| self.ty(value));
        let shape = Shape::new("mma", x.dims, y.dims)?;
        let dims = shape.dims(shape.m, shape.n);
        ensure!(z.dims == dims, Fault::MmaAccShape { acc: z.dims, accepted: dims });
        let alone = |dtype| !sums(dtype, dtype).is_empty();
        if let Some(dtype) = [x.dtype, y.dtype].into_iter().find(|&dtype| !alone(dtype)) {
            return Err(Fault::MmaDtype { operation: "mma", dtype });
        }
        let (a_dtype, b_dtype, acc_dtype) = (x.dtype, y.dtype, z.dtype);
        let accepted = sums(a_dtype, b_dtype);
        ensure!(!accepted.is_empty(), Fault::MmaDtypeMismatch { a: a_dtype, b: b_dtype });
        let fault = Fault::MmaAccDtype { a: a_dtype, b: b_dtype, acc: acc_dtype, accepted };
        ensure!(accepted.contains(&acc_dtype), fault);
        let a = self.broadcast_to(a, shape.dims(shape.m, shape.k))?;
        let b = self.broadcast_to(b, shape.dims(shape.k, shape.n))?;
        Ok(self.push1(Kind::Mma, &[a, b, acc], z))
    }

    /// The product of two tiles as NumPy's `matmul`: of matrices and of batches of them as [`Build::mma`]; a tile of rank 1 is a row before a matrix
    /// and a column behind it, and has no axis in the result. Dtypes are promoted, and the result has the common dtype; sums are computed in the
    /// first of [`sums`].
    ///
    /// # Errors
    /// [`Fault::MmaRank`], [`Fault::MmaShape`], [`Fault::MmaDtype`], and those of [`promote`].
    pub fn matmul(&mut self, a: Value, b: Value) -> Result<Value, Fault> {
        let (x, y) = (self.ty(a), self.ty(b));
        let dtype = promote(x.dtype, y.dtype)?;
        let Some(&sum) = sums(dtype, dtype).first() else {
            return Err(Fault::MmaDtype { operation: "matmul", dtype });
        };
        let scalar = x.dims.rank() == 0 || y.dims.rank() == 0;
        ensure!(!scalar, Fault::MmaRank { operation: "matmul", a: x.dims, b: y.dims });
        let (row, column) = (x.dims.rank() == 1, y.dims.rank() == 1);
        let matrix = |dims: Dims, row: bool| {
            let n = dims[0];
            Dims::new(&if row { [1, n] } else { [n, 1] }).unwrap_or_default()
        };
        let left = if row { matrix(x.dims, true) } else { x.dims };
        let right = if column { matrix(y.dims, false) } else { y.dims };
        let shape = Shape::new("matmul", left, right)?;
        let [a, b] = [(a, left), (b, right)].map(|(value, dims)| self.reshaped(value, dims));
        let [a, b] = [self.cast(a, dtype, Rounding::Nearest)?, self.cast(b, dtype, Rounding::Nearest)?];
        let zeros = self.full(sum, shape.dims(shape.m, shape.n), Const::Int(0));
        let product = self.mma(a, b, zeros)?;
        let product = self.cast(product, dtype, Rounding::Nearest)?;
        let kept: Vec<u32> = shape
            .batch
            .into_iter()
            .chain((!row).then_some(shape.m))
            .chain((!column).then_some(shape.n))
            .collect();
        Ok(self.reshaped(product, Dims::new(&kept).unwrap_or_default()))
    }
}
