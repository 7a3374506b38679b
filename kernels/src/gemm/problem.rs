//! The problem of a GEMM: extents, dtypes, strides, options.

mod batch;
mod layout;
mod options;
mod scales;

use girih_codegen::Operand;
use girih_codegen::gemm::{MAX_EXTENT, Major, MixedInput};
use girih_tensor::DType;

use super::matrix::{ALIGNMENT, Matrix};
use crate::Error;

pub use layout::{Layout, Order};

/// The dtypes of GEMMs. For tf32, A and B are f32 in memory, and are rounded to the nearest tf32 on their
/// way to the tensor cores.
pub const INPUTS: [DType; 8] =
    [DType::F32, DType::Tf32, DType::F64, DType::F16, DType::Bf16, DType::E4m3, DType::E5m2, DType::S8];

/// The dtype of the accumulators of a dtype.
pub(super) const fn sums(dtype: DType) -> DType {
    match dtype {
        DType::F64 => DType::F64,
        DType::S8 => DType::S32,
        _ => DType::F32,
    }
}

/// The elements of K that share a scale.
pub(super) const GROUP: i64 = 128;

/// The rows of A and of B that share a scale, where blocks have scales.
pub(super) const BLOCKS: [i64; 2] = [1, 128];

/// Whether accumulators of the dtype can be promoted: `wgmma` keeps few bits of accumulators of 8-bit floats.
pub(super) const fn is_promoted(dtype: DType) -> bool {
    dtype.is_narrow_float()
}

/// A GEMM: extents, dtype and strides.
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
    sums: DType,
    fast: bool,
    fused: bool,
    reduces: bool,
    gated: bool,
    invariant: bool,
    /// How an operand, A or B, is in memory, if it has scales.
    mixed: Option<(Operand, MixedInput)>,
    /// The rows of A and of B that share a scale, if blocks have scales.
    blocks: Option<[i64; 2]>,
    /// The mode of C along which groups follow each other.
    grouped: Option<usize>,
    a: Matrix,
    b: Matrix,
    c: Matrix,
}

impl Problem {
    /// `C[m,n] = sum_k A[m,k] * B[k,n]` with tight pitches and row-major C.
    ///
    /// # Errors
    /// [`Error::Kernel`] for another dtype than [`INPUTS`], [`Error::Extent`] unless each of M, N, K is in
    /// `0..=`[`MAX_EXTENT`], [`Error::Wraps`] for a K of s8 above [`MAX_K_OF_S8`], with which an s32 may not hold the sum.
    pub fn new(dtype: DType, mnk: [i64; 3], layout: Layout) -> Result<Problem, Error> {
        if !INPUTS.contains(&dtype) {
            let accepted = "f32, tf32, f64, f16, bf16, e4m3, e5m2 and s8 are accepted";
            return Err(Error::Kernel { kernel: "gemm", dtype: dtype.name(), accepted });
        }
        check_extents(dtype, mnk)?;
        let [m, n, k] = mnk;
        let [a, b] = layout.majors().map(|major| usize::from(major == Major::K));
        Ok(Problem {
            dtype,
            output: match dtype {
                // Sums of numbers of 8 bits have no place in 8 bits.
                _ if dtype.is_narrow_float() => DType::Bf16,
                DType::Tf32 | DType::S8 => sums(dtype),
                same => same,
            },
            sums: sums(dtype),
            fast: false,
            fused: false,
            reduces: false,
            gated: false,
            invariant: false,
            mixed: None,
            blocks: None,
            grouped: None,
            a: Matrix::tight([m, k], a),
            b: Matrix::tight([n, k], b),
            c: Matrix::tight([m, n], 1),
        })
    }

    /// The same with C in another order, its pitch tight.
    pub fn with_order(self, order: Order) -> Problem {
        let tight = Matrix::tight(self.c.extents, usize::from(order == Order::Row));
        let Matrix { extents, contiguous, ld, .. } = tight;
        Problem { c: Matrix { extents, contiguous, ld, ..self.c }, ..self }
    }

    /// The same with other leading strides, in elements. The stride of a mode of one element has no effect: for a matrix of one row (column, if
    /// columns are contiguous), or without elements, any number is accepted, and the matrix is the one without gaps.
    ///
    /// # Errors
    /// [`Error::LeadingStride`] for one shorter than a row, [`Error::Extent`] for one above [`MAX_EXTENT`]; [`Error::BatchStride`] for
    /// matrices of C in a batch that have elements in common.
    pub fn with_pitches(
        self,
        lda: Option<i64>,
        ldb: Option<i64>,
        ldc: Option<i64>,
    ) -> Result<Problem, Error> {
        let a = self.a.pitched(lda, "lda", "A")?;
        let (b, c) = (self.b.pitched(ldb, "ldb", "B")?, self.c.pitched(ldc, "ldc", "C")?);
        Problem { a, b, c, ..self }.checked_batch()
    }

    /// The same with matrices that begin at multiples of this many bytes, where that is not 16: a slice of a buffer may begin at any
    /// element, and a matrix of someone else's anywhere. A kernel that is chosen for such a problem takes such addresses, and takes them
    /// for no other problem if wider loads need more.
    ///
    /// # Errors
    /// [`Error::Alignment`] for what is no power of two, or less than an element.
    ///
    /// # Examples
    /// ```
    /// use girih_device::{Device, Select};
    /// use girih_kernels::gemm::{Gemms, KernelKind, Layout, Problem};
    /// use girih_tensor::DType;
    ///
    /// let device = Device::open(Select::Sim)?;
    /// let (a, b) = (device.upload(&[1f32; 17])?.slice(1..)?, device.upload(&[2f32; 16])?);
    /// let c = device.zeros::<f32>(16)?;
    /// let problem = Problem::new(DType::F32, [4, 4, 4], Layout::Nt)?;
    /// let refused = Gemms::new(&device).get(&problem, KernelKind::Simt)?.run(&a, &b, &c);
    /// assert!(refused.is_err_and(|error| error.to_string().contains("A begins at")));
    /// let problem = problem.with_alignments(Some(4), None, None)?;
    /// Gemms::new(&device).get(&problem, KernelKind::Simt)?.run(&a, &b, &c)?;
    /// assert_eq!(c.download()?, [8.0; 16]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_alignments(self, a: Option<i64>, b: Option<i64>, c: Option<i64>) -> Result<Problem, Error> {
        let with = |matrix: Matrix, bytes: Option<i64>, name: &'static str, dtype: DType| {
            let Some(bytes) = bytes else { return Ok(matrix) };
            let least = i64::from(dtype.bits() / 8);
            if bytes < least || bytes.count_ones() != 1 {
                return Err(Error::Alignment { matrix: name, bytes, least });
            }
            Ok(Matrix { alignment: bytes.min(ALIGNMENT), ..matrix })
        };
        Ok(Problem {
            a: with(self.a, a, "A", self.dtype_of(Operand::A))?,
            b: with(self.b, b, "B", self.dtype_of(Operand::B))?,
            c: with(self.c, c, "C", self.output)?,
            ..self
        })
    }

    /// The type of the numbers that are multiplied.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Element type of A and B in memory: that of the numbers that are multiplied, but f32 for tf32.
    pub fn input(&self) -> DType {
        if self.dtype == DType::Tf32 { DType::F32 } else { self.dtype }
    }

    /// Element type of A, B or C in memory.
    pub fn dtype_of(&self, operand: Operand) -> DType {
        match (operand, &self.mixed) {
            (Operand::C, _) => self.output,
            (_, Some((scaled, mixed))) if *scaled == operand => mixed.dtype,
            _ => self.input(),
        }
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

    /// The number of multiplications and additions of all GEMMs.
    pub fn flops(&self) -> f64 {
        self.mnk().into_iter().fold(2.0 * self.batches() as f64, |product, x| product * x as f64)
    }

    /// The same for one GEMM of other extents M, N and K, with tight pitches: dtypes, contiguous modes and alignments stay.
    ///
    /// # Errors
    /// [`Error::Extent`] as of [`Problem::new`].
    pub fn sized(&self, mnk: [i64; 3]) -> Result<Problem, Error> {
        check_extents(self.dtype, mnk)?;
        let [m, n, k] = mnk;
        let with = |matrix: Matrix, extents| Matrix {
            alignment: matrix.alignment,
            ..Matrix::tight(extents, matrix.contiguous)
        };
        let (a, b, c) = (with(self.a, [m, k]), with(self.b, [n, k]), with(self.c, [m, n]));
        Ok(Problem { a, b, c, ..*self })
    }

    /// The same GEMM with an A and a B that are elsewhere, or have another K.
    pub(super) fn with_operands(self, [a, b]: [Matrix; 2]) -> Problem {
        Problem { a, b, ..self }
    }

    /// The same GEMM with a C whose rows ([`Major::K`]) or columns ([`Major::Mn`]) are contiguous, as a kernel computes it
    /// ([`GemmConfig::c_major`](super::GemmConfig::c_major)), and whether A and B changed places for it: `C^T = B^T * A^T`.
    pub fn oriented(&self, c_major: Major) -> (Problem, bool) {
        if self.c.major() == c_major {
            return (*self, false);
        }
        let [m, n] = self.c.extents;
        (
            Problem {
                a: self.b,
                b: self.a,
                mixed: self.mixed.map(|(operand, mixed)| {
                    (if operand == Operand::A { Operand::B } else { Operand::A }, mixed)
                }),
                blocks: self.blocks.map(|[a, b]| [b, a]),
                grouped: self.grouped.map(|mode| 1 - mode),
                c: Matrix { extents: [n, m], contiguous: 1 - self.c.contiguous, ..self.c },
                ..*self
            },
            true,
        )
    }
}

/// The largest K of GEMMs of s8, whose accumulators are s32: a product of two s8 is 2^14 at the most.
pub const MAX_K_OF_S8: i64 = (i32::MAX as i64) >> 14;

/// Checks M, N and K for a dtype.
fn check_extents(dtype: DType, mnk: [i64; 3]) -> Result<(), Error> {
    for (what, value) in ["M", "N", "K"].into_iter().zip(mnk) {
        check_extent(what, value, 0)?;
    }
    if dtype == DType::S8 && mnk[2] > MAX_K_OF_S8 {
        return Err(Error::Wraps { k: mnk[2], most: MAX_K_OF_S8 });
    }
    Ok(())
}

pub(super) fn check_extent(what: &'static str, value: i64, least: i64) -> Result<(), Error> {
    check_within(what, value, least, MAX_EXTENT)
}

fn check_within(what: &'static str, value: i64, least: i64, most: i64) -> Result<(), Error> {
    if (least..=most).contains(&value) { Ok(()) } else { Err(Error::Extent { what, value, least, most }) }
}
