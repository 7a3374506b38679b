//! What cuBLASLt is asked to multiply.

use std::ffi::c_void;
use std::ptr;

use cudarc::cublaslt::sys::{self, cublasComputeType_t as Compute, cudaDataType as Data};
use girih_kernels::gemm::{self, Layout};
use girih_tensor::DType;

use crate::rows::Product;

/// `C = A B`, column-major as in BLAS: element (i, j) of a matrix is at `i + j ld`, or `j + i ld` where it is transposed.
/// A row-major product is `C' = B' A'`: swap the operands, `m` with `n`, and the leading strides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Rows of A and C.
    pub m: u64,
    /// Columns of B and C.
    pub n: u64,
    /// Columns of A, rows of B.
    pub k: u64,
    /// A is stored transposed: k-contiguous.
    pub a_transposed: bool,
    /// B is stored transposed: n-contiguous.
    pub b_transposed: bool,
    /// Leading stride of A, elements.
    pub lda: u64,
    /// Leading stride of B, elements.
    pub ldb: u64,
    /// Leading stride of C, elements.
    pub ldc: u64,
    /// How many such products, whose matrices follow each other in memory.
    pub batch: u64,
    /// Of A and B.
    pub inputs: DType,
    /// Of C.
    pub output: DType,
    /// Whether sums of 8-bit floats may be kept in fewer bits.
    pub fast: bool,
}

/// A matrix in memory.
pub(super) struct Stored {
    pub(super) rows: u64,
    pub(super) cols: u64,
    pub(super) ld: u64,
}

impl Stored {
    /// Elements from one matrix of a batch to the next.
    pub(super) const fn span(&self) -> u64 {
        self.cols * self.ld
    }
}

impl Problem {
    /// girih's problem, whose C is row-major: `C' = B' A'`, and a K-contiguous operand is a transposed one for B'.
    pub fn of(problem: &gemm::Problem) -> Problem {
        let [m, n, k] = problem.mnk().map(|extent| extent as u64);
        Problem {
            m: n,
            n: m,
            k,
            a_transposed: problem.b().contiguous() == 1,
            b_transposed: problem.a().contiguous() == 0,
            lda: problem.b().ld() as u64,
            ldb: problem.a().ld() as u64,
            ldc: problem.c().ld() as u64,
            batch: 1,
            inputs: problem.dtype(),
            output: problem.output(),
            fast: false,
        }
    }

    /// The product of a row. Of groups it is a batch of as many products of equal sizes.
    pub fn of_row(row: &Product) -> Problem {
        let [m, n, k] = row.extents().map(|extent| extent as u64);
        let [lda, ldb, ldc] = row.pitches().map(|ld| ld as u64);
        Problem {
            m: n,
            n: m,
            k,
            a_transposed: matches!(row.layout, Layout::Tn | Layout::Nn),
            b_transposed: matches!(row.layout, Layout::Nn | Layout::Nt),
            lda: ldb,
            ldb: lda,
            ldc,
            batch: row.batch as u64,
            inputs: row.dtype,
            output: row.output,
            fast: row.fast,
        }
    }

    /// A, B and C as stored.
    pub(super) const fn stored(&self) -> [Stored; 3] {
        let (m, n, k) = (self.m, self.n, self.k);
        let (ar, ac) = if self.a_transposed { (k, m) } else { (m, k) };
        let (br, bc) = if self.b_transposed { (n, k) } else { (k, n) };
        [
            Stored { rows: ar, cols: ac, ld: self.lda },
            Stored { rows: br, cols: bc, ld: self.ldb },
            Stored { rows: m, cols: n, ld: self.ldc },
        ]
    }

    /// The bytes from the first to the last element of A, B and C.
    pub(super) fn bytes(&self) -> [u64; 3] {
        let elements = self.stored().map(|matrix| match matrix.rows * matrix.cols * self.batch {
            0 => 0,
            _ => self.batch * matrix.span() - matrix.ld + matrix.rows,
        });
        let bits = [self.inputs, self.inputs, self.output].map(|dtype| u64::from(dtype.bits()));
        [0, 1, 2].map(|i| elements[i] * bits[i] / 8)
    }
}

/// 1 in the type that the sums are scaled in.
#[derive(Clone, Copy)]
pub(super) enum One {
    F32(f32),
    F64(f64),
    S32(i32),
}

impl One {
    /// 0 in the same type.
    pub(super) fn zero(self) -> One {
        match self {
            One::F32(_) => One::F32(0.0),
            One::F64(_) => One::F64(0.0),
            One::S32(_) => One::S32(0),
        }
    }

    pub(super) fn pointer(&self) -> *const c_void {
        match self {
            One::F32(one) => ptr::from_ref(one).cast(),
            One::F64(one) => ptr::from_ref(one).cast(),
            One::S32(one) => ptr::from_ref(one).cast(),
        }
    }
}

/// cuBLAS's names of the types of a product.
pub(super) struct Types {
    /// Of A, B and C.
    pub(super) data: [Data; 3],
    pub(super) compute: sys::cublasComputeType_t,
    pub(super) scale: Data,
    pub(super) one: One,
}

impl Types {
    pub(super) fn of(problem: &Problem) -> Option<Types> {
        let (input, output) = (data_type(problem.inputs)?, data_type(problem.output)?);
        let f32 = (Data::CUDA_R_32F, One::F32(1.0));
        let (compute, (scale, one)) = match problem.inputs {
            DType::Tf32 => (Compute::CUBLAS_COMPUTE_32F_FAST_TF32, f32),
            DType::F64 => (Compute::CUBLAS_COMPUTE_64F, (Data::CUDA_R_64F, One::F64(1.0))),
            DType::S8 => (Compute::CUBLAS_COMPUTE_32I, (Data::CUDA_R_32I, One::S32(1))),
            _ => (Compute::CUBLAS_COMPUTE_32F, f32),
        };
        Some(Types { data: [input, input, output], compute, scale, one })
    }
}

const fn data_type(dtype: DType) -> Option<Data> {
    match dtype {
        DType::F64 => Some(Data::CUDA_R_64F),
        DType::F32 | DType::Tf32 => Some(Data::CUDA_R_32F),
        DType::F16 => Some(Data::CUDA_R_16F),
        DType::Bf16 => Some(Data::CUDA_R_16BF),
        DType::E4m3 => Some(Data::CUDA_R_8F_E4M3),
        DType::E5m2 => Some(Data::CUDA_R_8F_E5M2),
        DType::S8 => Some(Data::CUDA_R_8I),
        DType::S32 => Some(Data::CUDA_R_32I),
        _ => None,
    }
}
