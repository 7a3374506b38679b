//! What is to be multiplied.

use girih_codegen::gemm::{MAX_EXTENT, Major, outputs};
use girih_tensor::DType;

use crate::Error;

/// Which modes of A and B are contiguous, as BLAS and CuTe name it: the first letter `t` means that A is K-contiguous,
/// `n` that it is M-contiguous; the second letter `n` means that B is K-contiguous, `t` that it is N-contiguous.
///
/// torch's `a @ b.T` on row-major tensors is `tn`, its `a @ b` is `tt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// A and B K-contiguous.
    Tn,
    /// A K-contiguous, B N-contiguous.
    Tt,
    /// A M-contiguous, B K-contiguous.
    Nn,
    /// A M-contiguous, B N-contiguous.
    Nt,
}

impl Layout {
    /// The four layouts.
    pub const ALL: [Layout; 4] = [Layout::Tn, Layout::Tt, Layout::Nn, Layout::Nt];

    /// The two letters of a layout.
    pub const fn name(self) -> &'static str {
        match self {
            Layout::Tn => "tn",
            Layout::Tt => "tt",
            Layout::Nn => "nn",
            Layout::Nt => "nt",
        }
    }

    /// The contiguous modes of A and B.
    pub const fn majors(self) -> [Major; 2] {
        match self {
            Layout::Tn => [Major::K, Major::K],
            Layout::Tt => [Major::K, Major::Mn],
            Layout::Nn => [Major::Mn, Major::K],
            Layout::Nt => [Major::Mn, Major::Mn],
        }
    }
}

impl std::fmt::Display for Layout {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Layout {
    type Err = Error;
    fn from_str(text: &str) -> Result<Layout, Error> {
        let unknown = || Error::Unknown {
            what: "layout",
            text: text.into(),
            accepted: "tn, tt, nn and nt are accepted",
        };
        Layout::ALL.into_iter().find(|l| l.name() == text).ok_or_else(unknown)
    }
}

/// Whether C's rows or columns are contiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// Rows: strides `(ldc,1)`.
    Row,
    /// Columns: strides `(1,ldc)`.
    Column,
}

impl std::str::FromStr for Order {
    type Err = Error;
    fn from_str(text: &str) -> Result<Order, Error> {
        match text {
            "row" => Ok(Order::Row),
            "column" => Ok(Order::Column),
            _ => Err(Error::Unknown {
                what: "order",
                text: text.into(),
                accepted: "row and column are accepted",
            }),
        }
    }
}

impl std::fmt::Display for Order {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if *self == Order::Row { "row" } else { "column" })
    }
}

/// One matrix of a problem: its extents, as in CuTe (A is M x K, B is N x K, C is M x N), and its strides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Matrix {
    extents: [i64; 2],
    /// 0 or 1.
    contiguous: usize,
    ld: i64,
}

impl Matrix {
    fn tight(extents: [i64; 2], contiguous: usize) -> Matrix {
        Matrix { extents, contiguous, ld: extents[contiguous].max(1) }
    }

    /// Elements in its two modes.
    pub fn extents(&self) -> [i64; 2] {
        self.extents
    }

    /// Which mode has stride 1: 0 or 1.
    pub fn contiguous(&self) -> usize {
        self.contiguous
    }

    /// Which mode that is, as kernels name it: [`Major::K`] for mode 1, also of C, and [`Major::Mn`] for mode 0.
    pub fn major(&self) -> Major {
        if self.contiguous == 1 { Major::K } else { Major::Mn }
    }

    /// The stride of the other mode in elements.
    pub fn ld(&self) -> i64 {
        self.ld
    }

    /// How many elements lie between the first and the last element of the matrix, both counted. It is 0 for an empty matrix.
    pub fn span(&self) -> i64 {
        let [x, y] = self.extents;
        if x == 0 || y == 0 {
            0
        } else {
            (self.extents[1 - self.contiguous] - 1) * self.ld + self.extents[self.contiguous]
        }
    }

    /// Checks that `len` elements hold the matrix.
    pub(crate) fn fits(&self, name: &'static str, len: usize) -> Result<(), Error> {
        if self.span() as u64 > len as u64 {
            return Err(Error::BufferTooSmall { matrix: name, needed: self.span(), len });
        }
        Ok(())
    }

    /// The strides of its two modes in elements.
    pub fn strides(&self) -> [i64; 2] {
        if self.contiguous == 1 { [self.ld, 1] } else { [1, self.ld] }
    }

    /// The offset in elements of `(x, y)`.
    pub fn offset(&self, x: i64, y: i64) -> i64 {
        let [dx, dy] = self.strides();
        x * dx + y * dy
    }
}

impl std::fmt::Display for Matrix {
    /// The matrix's layout as CuTe prints it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ([x, y], [dx, dy]) = (self.extents, self.strides());
        write!(f, "({x},{y}):({dx},{dy})")
    }
}

/// The dtypes that there are products of. For products of tf32, A and B are f32 in memory, and are rounded to the nearest tf32 on their
/// way to the tensor cores.
pub const INPUTS: [DType; 8] =
    [DType::F32, DType::Tf32, DType::F64, DType::F16, DType::Bf16, DType::E4m3, DType::E5m2, DType::S8];

/// The dtype of the sums of products of a dtype.
pub(super) const fn sums(dtype: DType) -> DType {
    match dtype {
        DType::F64 => DType::F64,
        DType::S8 => DType::S32,
        _ => DType::F32,
    }
}

/// A matrix product: extents, dtype and strides.
///
/// # Examples
/// ```
/// use girih_kernels::gemm::{Layout, Problem};
/// use girih_tensor::DType;
///
/// let p = Problem::new(DType::Bf16, [128, 256, 64], Layout::Tn)?;
/// assert_eq!((p.a().to_string().as_str(), p.c().to_string().as_str()), ("(128,64):(64,1)", "(128,256):(256,1)"));
/// assert!(p.with_pitches(Some(63), None, None).is_err());
/// # Ok::<(), girih_kernels::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Problem {
    dtype: DType,
    output: DType,
    a: Matrix,
    b: Matrix,
    c: Matrix,
}

impl Problem {
    /// `C[m,n] = sum_k A[m,k] * B[k,n]` with tight pitches and row-major C.
    ///
    /// # Errors
    /// [`Error::Kernel`] for another dtype than [`INPUTS`], [`Error::Extent`] unless each of M, N, K is in
    /// `0..=`[`MAX_EXTENT`].
    pub fn new(dtype: DType, mnk: [i64; 3], layout: Layout) -> Result<Problem, Error> {
        if !INPUTS.contains(&dtype) {
            let accepted = "f32, tf32, f64, f16, bf16, e4m3, e5m2 and s8 are accepted";
            return Err(Error::Kernel { kernel: "gemm", dtype: dtype.name(), accepted });
        }
        for (what, value) in ["M", "N", "K"].into_iter().zip(mnk) {
            check_extent(what, value, 0)?;
        }
        let [m, n, k] = mnk;
        let [a, b] = layout.majors().map(|major| usize::from(major == Major::K));
        Ok(Problem {
            dtype,
            output: match dtype {
                // Sums of numbers of 8 bits have no place in 8 bits.
                DType::E4m3 | DType::E5m2 => DType::Bf16,
                DType::Tf32 | DType::S8 => sums(dtype),
                same => same,
            },
            a: Matrix::tight([m, k], a),
            b: Matrix::tight([n, k], b),
            c: Matrix::tight([m, n], 1),
        })
    }

    /// The same with C in another order, its pitch tight.
    pub fn with_order(self, order: Order) -> Problem {
        Problem { c: Matrix::tight(self.c.extents, usize::from(order == Order::Row)), ..self }
    }

    /// The same with other leading strides, in elements.
    ///
    /// # Errors
    /// [`Error::LeadingStride`] for one shorter than a row, [`Error::Extent`] for one above [`MAX_EXTENT`].
    pub fn with_pitches(
        self,
        lda: Option<i64>,
        ldb: Option<i64>,
        ldc: Option<i64>,
    ) -> Result<Problem, Error> {
        let with = |matrix: Matrix, ld: Option<i64>, what: &'static str, name: &'static str| {
            let Some(ld) = ld else { return Ok(matrix) };
            let row = matrix.extents[matrix.contiguous];
            if ld < row {
                return Err(Error::LeadingStride { what, value: ld, matrix: name, row });
            }
            check_extent(what, ld, 1)?;
            Ok(Matrix { ld, ..matrix })
        };
        Ok(Problem {
            a: with(self.a, lda, "lda", "A")?,
            b: with(self.b, ldb, "ldb", "B")?,
            c: with(self.c, ldc, "ldc", "C")?,
            ..self
        })
    }

    /// The same with a C of another element type.
    ///
    /// # Errors
    /// [`Error::Kernel`] for another one than [`Problem::outputs`].
    pub fn with_output(self, dtype: DType) -> Result<Problem, Error> {
        if !self.outputs().contains(&dtype) {
            let accepted = match self.sums() {
                DType::F64 => "a C of f64 is accepted",
                DType::S32 => "a C of s32, f32, f16 or bf16 is accepted",
                _ => "a C of f32, f16 or bf16 is accepted",
            };
            return Err(Error::Kernel { kernel: "gemm", dtype: dtype.name(), accepted });
        }
        Ok(Problem { output: dtype, ..self })
    }

    /// The element types that C may have.
    pub fn outputs(&self) -> &'static [DType] {
        outputs(self.sums())
    }

    /// The type of the sums: f64 for f64, s32 for s8, else f32.
    pub fn sums(&self) -> DType {
        sums(self.dtype)
    }

    /// The type of the numbers that are multiplied.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Element type of A and B in memory: that of the numbers that are multiplied, but f32 for tf32.
    pub fn input(&self) -> DType {
        if self.dtype == DType::Tf32 { DType::F32 } else { self.dtype }
    }

    /// Element type of C: that of A and B, but bf16 for floats of 8 bits and s32 for s8, unless [`Problem::with_output`] says another one.
    pub fn output(&self) -> DType {
        self.output
    }

    /// M x K.
    pub fn a(&self) -> Matrix {
        self.a
    }

    /// N x K.
    pub fn b(&self) -> Matrix {
        self.b
    }

    /// M x N.
    pub fn c(&self) -> Matrix {
        self.c
    }

    /// M, N, K.
    pub fn mnk(&self) -> [i64; 3] {
        [self.a.extents[0], self.b.extents[0], self.a.extents[1]]
    }

    /// How many multiplications and additions the product takes together.
    pub fn flops(&self) -> f64 {
        self.mnk().into_iter().fold(2.0, |product, x| product * x as f64)
    }

    /// The same product with a C whose rows ([`Major::K`]) or columns ([`Major::Mn`]) are contiguous, as a kernel computes it
    /// ([`GemmConfig::c_major`](super::GemmConfig::c_major)), and whether A and B changed places for it: `C^T = B^T * A^T`.
    pub fn oriented(&self, c_major: Major) -> (Problem, bool) {
        if self.c.major() == c_major {
            return (*self, false);
        }
        let [m, n] = self.c.extents;
        (
            Problem {
                dtype: self.dtype,
                output: self.output,
                a: self.b,
                b: self.a,
                c: Matrix { extents: [n, m], contiguous: 1 - self.c.contiguous, ld: self.c.ld },
            },
            true,
        )
    }
}

fn check_extent(what: &'static str, value: i64, least: i64) -> Result<(), Error> {
    if (least..=MAX_EXTENT).contains(&value) {
        Ok(())
    } else {
        Err(Error::Extent { what, value, least, most: MAX_EXTENT })
    }
}
