//! Products of matrices.

use girih_tensor::DType;

use crate::dtype::{Const, promote, sums};
use crate::error::{Code, Fault, bail, fault};
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
    fn new(name: &str, a: Dims, b: Dims) -> Result<Shape, Fault> {
        let refused = |code, why: &str| Err(fault!(code, "`{name}` of {a} and {b}: {why}"));
        let matrix = |dims: Dims| (2..=3).contains(&dims.rank());
        if !matrix(a) || !matrix(b) {
            return refused(Code::MmaRank, "tiles of rank 2, and of rank 3 with a batch axis, are accepted");
        }
        let last = |dims: Dims, back: usize| dims[dims.rank() - back];
        let [m, k, n] = [last(a, 2), last(a, 1), last(b, 1)];
        if last(b, 2) != k {
            return refused(
                Code::MmaShape,
                &format!("(M,K) and (K,N) are accepted, such as [{k}, {n}] for the second"),
            );
        }
        let of = |dims: Dims| (dims.rank() == 3).then(|| dims[0]);
        let batch = match (of(a), of(b)) {
            (Some(x), Some(y)) if x != y && x != 1 && y != 1 => {
                return refused(Code::MmaShape, "equal batches, or one of 1, are accepted");
            }
            (x, y) => x.max(y),
        };
        Ok(Shape { batch, m, k, n })
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
    /// [`Code::MmaRank`], [`Code::MmaShape`], [`Code::MmaAccShape`], [`Code::MmaDtype`], [`Code::MmaDtypeMismatch`], [`Code::MmaAccDtype`].
    ///
    /// ```
    /// use girih_tensor::DType;
    /// use girih_tile::dtype::Const;
    /// use girih_tile::error::Code;
    /// use girih_tile::ir::{Build, Dims};
    ///
    /// let mut b = Build::new("product");
    /// let mut tile = |dtype, shape: &[u32]| b.full(dtype, Dims::new(shape).unwrap_or_default(), Const::Int(1));
    /// let (x, y) = (tile(DType::F16, &[16, 8]), tile(DType::F16, &[8, 4]));
    /// let (sums, wrong) = (tile(DType::F32, &[16, 4]), tile(DType::F32, &[4, 16]));
    /// let product = b.mma(x, y, sums)?;
    /// assert_eq!(b.ty(product).to_string(), "f32[16, 4]");
    /// assert_eq!(b.mma(x, y, wrong).map_err(|fault| fault.code), Err(Code::MmaAccShape));
    /// # Ok::<(), girih_tile::error::Fault>(())
    /// ```
    pub fn mma(&mut self, a: Value, b: Value, acc: Value) -> Result<Value, Fault> {
        let [x, y, z] = [a, b, acc].map(|value| self.ty(value));
        let refused = |code, why: String| Err(fault!(code, "`mma` of {x} and {y} into {z}: {why}"));
        let shape = Shape::new("mma", x.dims, y.dims)?;
        let dims = shape.dims(shape.m, shape.n);
        if z.dims != dims {
            return refused(Code::MmaAccShape, format!("an accumulator {dims} is accepted"));
        }
        let alone = |dtype| !sums(dtype, dtype).is_empty();
        if let Some(dtype) = [x.dtype, y.dtype].into_iter().find(|&dtype| !alone(dtype)) {
            return refused(Code::MmaDtype, format!("{dtype} has no product: {DTYPES} have"));
        }
        let sums = sums(x.dtype, y.dtype);
        if sums.is_empty() {
            return refused(
                Code::MmaDtypeMismatch,
                "equal dtypes, two 8-bit floats, or i8 and u8, are accepted: cast one by `.to::<T>()`".into(),
            );
        }
        if !sums.contains(&z.dtype) {
            let list: Vec<String> = sums.iter().map(DType::to_string).collect();
            return refused(
                Code::MmaAccDtype,
                format!("an accumulator of {} is accepted", list.join(" or ")),
            );
        }
        let a = self.broadcast_to(a, shape.dims(shape.m, shape.k))?;
        let b = self.broadcast_to(b, shape.dims(shape.k, shape.n))?;
        Ok(self.push1(Kind::Mma, &[a, b, acc], z))
    }

    /// The product of two tiles as NumPy's `matmul`: of matrices and of batches of them as [`Build::mma`]; a tile of rank 1 is a row before a matrix
    /// and a column behind it, and has no axis in the result. Dtypes are promoted, and the result has the common dtype; sums are computed in the
    /// first of [`sums`].
    ///
    /// # Errors
    /// [`Code::MmaRank`], [`Code::MmaShape`], [`Code::MmaDtype`], and those of [`promote`].
    pub fn matmul(&mut self, a: Value, b: Value) -> Result<Value, Fault> {
        let (x, y) = (self.ty(a), self.ty(b));
        let dtype = promote(x.dtype, y.dtype)?;
        let Some(&sum) = sums(dtype, dtype).first() else {
            bail!(Code::MmaDtype, "`matmul` of {x} and {y}: {dtype} has no product: {DTYPES} have");
        };
        if x.dims.rank() == 0 || y.dims.rank() == 0 {
            bail!(
                Code::MmaRank,
                "`matmul` of {x} and {y}: tiles of rank 1, 2 and 3 are accepted; `*` multiplies by a scalar"
            );
        }
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

/// What products are made of, for messages.
const DTYPES: &str = "f16, bf16, f32, tf32, f64, 8-bit floats, i8 and u8";
