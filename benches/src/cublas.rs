//! cuBLASLt, the peer: one matrix product, planned once and enqueued into the device's own stream, so that the same
//! timer measures both sides in turns.
#![allow(unsafe_code, reason = "the peer's interface is C; each block says why it holds")]

use std::ptr;

use cudarc::cublaslt::{
    result::{self, CublasError},
    sys,
};
use girih_device::{Buffer, Device, Pod};
use half::{bf16, f16};

/// Why the peer can't be measured.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The library is not installed.
    #[error("cuBLASLt is not installed on this machine (libcublasLt is missing)")]
    Missing,
    /// The device is no GPU.
    #[error("cuBLASLt runs on a GPU, the device is {0}")]
    NoGpu(String),
    /// A matrix that a buffer is too small for.
    #[error("matrix {matrix} needs {needed} elements, its buffer has {len}")]
    TooSmall {
        /// `A`, `B` or `C`.
        matrix: char,
        /// Elements that the problem spans.
        needed: u64,
        /// Elements of the buffer.
        len: usize,
    },
    /// A call failed.
    #[error("cuBLASLt: {0:?}")]
    Cublas(CublasError),
    /// The device failed.
    #[error(transparent)]
    Device(#[from] girih_device::Error),
}

impl From<CublasError> for Error {
    fn from(error: CublasError) -> Error {
        Error::Cublas(error)
    }
}

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
}

impl Problem {
    /// Both operands k-contiguous (`tn`), no padding.
    pub const fn tn(m: u64, n: u64, k: u64) -> Problem {
        Problem { m, n, k, a_transposed: true, b_transposed: false, lda: k, ldb: k, ldc: m }
    }

    /// Floating-point operations, a multiplication and an addition for each product.
    pub const fn flops(&self) -> u64 {
        2 * self.m * self.n * self.k
    }

    /// Rows, columns and leading stride of A, B and C as stored.
    const fn stored(&self) -> [(u64, u64, u64); 3] {
        let (m, n, k) = (self.m, self.n, self.k);
        let (ar, ac) = if self.a_transposed { (k, m) } else { (m, k) };
        let (br, bc) = if self.b_transposed { (n, k) } else { (k, n) };
        [(ar, ac, self.lda), (br, bc, self.ldb), (m, n, self.ldc)]
    }
}

/// A type of element that the peer multiplies, with f32 accumulation; f32 without TF32.
pub trait Element: Pod {
    /// cuBLAS's name for it.
    const TYPE: sys::cudaDataType;
    /// The nearest value.
    fn from_f32(value: f32) -> Self;
}
impl Element for f32 {
    const TYPE: sys::cudaDataType = sys::cudaDataType::CUDA_R_32F;
    fn from_f32(value: f32) -> f32 {
        value
    }
}
impl Element for bf16 {
    const TYPE: sys::cudaDataType = sys::cudaDataType::CUDA_R_16BF;
    fn from_f32(value: f32) -> bf16 {
        bf16::from_f32(value)
    }
}
impl Element for f16 {
    const TYPE: sys::cudaDataType = sys::cudaDataType::CUDA_R_16F;
    fn from_f32(value: f32) -> f16 {
        f16::from_f32(value)
    }
}

/// A product planned by cuBLASLt's own heuristic, with its operands.
pub struct Gemm<T: Element> {
    device: Device,
    handle: sys::cublasLtHandle_t,
    descriptor: sys::cublasLtMatmulDesc_t,
    layouts: [sys::cublasLtMatrixLayout_t; 3],
    algorithm: sys::cublasLtMatmulAlgo_t,
    workspace: Buffer<u8>,
    /// A, B and C; public so that a check can read them.
    pub operands: [Buffer<T>; 3],
}

/// The size that NVIDIA recommends for Hopper.
const WORKSPACE: usize = 32 << 20;

impl<T: Element> Gemm<T> {
    /// Plans a product of the given buffers (A, B, C).
    ///
    /// # Errors
    /// [`Error::Missing`], [`Error::NoGpu`], [`Error::TooSmall`]; cuBLASLt's.
    pub fn plan(device: &Device, problem: Problem, operands: [Buffer<T>; 3]) -> Result<Gemm<T>, Error> {
        if device.cuda_stream().is_none() {
            return Err(Error::NoGpu(device.name().into()));
        }
        for ((matrix, (rows, cols, ld)), buffer) in "ABC".chars().zip(problem.stored()).zip(&operands) {
            let needed = if rows * cols == 0 { 0 } else { (cols - 1) * ld + rows };
            if needed > buffer.len() as u64 {
                return Err(Error::TooSmall { matrix, needed, len: buffer.len() });
            }
        }
        // SAFETY: loading the library runs nothing but its own initialisers.
        if !unsafe { sys::is_culib_present() } {
            return Err(Error::Missing);
        }
        device.synchronize()?; // makes the device's context current on this thread
        let mut gemm = Gemm {
            device: device.clone(),
            handle: result::create_handle()?,
            descriptor: ptr::null_mut(),
            layouts: [ptr::null_mut(); 3],
            algorithm: sys::cublasLtMatmulAlgo_t { data: [0; 8] },
            workspace: device.alloc(WORKSPACE)?,
            operands,
        };
        gemm.describe(problem)?;
        gemm.choose()?;
        Ok(gemm)
    }

    fn describe(&mut self, problem: Problem) -> Result<(), CublasError> {
        use sys::cublasLtMatmulDescAttributes_t as Attribute;
        let compute = sys::cublasComputeType_t::CUBLAS_COMPUTE_32F;
        self.descriptor = result::create_matmul_desc(compute, sys::cudaDataType::CUDA_R_32F)?;
        for (attribute, transposed) in [
            (Attribute::CUBLASLT_MATMUL_DESC_TRANSA, problem.a_transposed),
            (Attribute::CUBLASLT_MATMUL_DESC_TRANSB, problem.b_transposed),
        ] {
            let operation = i32::from(transposed); // CUBLAS_OP_N = 0, CUBLAS_OP_T = 1
            let value = ptr::from_ref(&operation).cast();
            // SAFETY: the descriptor was made above; the value is copied during the call and has the size given.
            unsafe {
                result::set_matmul_desc_attribute(self.descriptor, attribute, value, size_of::<i32>())?
            };
        }
        for (layout, (rows, cols, ld)) in self.layouts.iter_mut().zip(problem.stored()) {
            *layout = result::create_matrix_layout(T::TYPE, rows, cols, ld as i64)?;
        }
        Ok(())
    }

    fn choose(&mut self) -> Result<(), CublasError> {
        let preference = result::create_matmul_pref()?;
        let attribute = sys::cublasLtMatmulPreferenceAttributes_t::CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES;
        let [a, b, c] = self.layouts;
        // SAFETY: everything passed was made by this plan and lives; the value has the size given.
        let chosen = unsafe {
            let bytes = ptr::from_ref(&WORKSPACE).cast();
            result::set_matmul_pref_attribute(preference, attribute, bytes, size_of::<usize>()).and_then(
                |()| result::get_matmul_algo_heuristic(self.handle, self.descriptor, a, b, c, c, preference),
            )
        };
        // SAFETY: made above, used by nothing any more.
        unsafe { result::destroy_matmul_pref(preference)? };
        self.algorithm = chosen?.algo;
        Ok(())
    }

    /// Enqueues the product into the device's stream.
    ///
    /// # Errors
    /// cuBLASLt's.
    pub fn run(&self) -> Result<(), Error> {
        let (one, zero) = (1.0f32, 0.0f32);
        let [a, b, c] = self.operands.each_ref().map(|buffer| address(buffer.address()));
        let [a_layout, b_layout, c_layout] = self.layouts;
        let stream = address(self.device.cuda_stream().unwrap_or_default());
        // SAFETY: `plan` checked that the buffers hold the matrices; descriptors, buffers and stream live as long as this
        // plan, and buffers are freed behind the work of their stream; the scalars are read during the call.
        unsafe {
            result::matmul(
                self.handle,
                self.descriptor,
                ptr::from_ref(&one).cast(),
                ptr::from_ref(&zero).cast(),
                a,
                a_layout,
                b,
                b_layout,
                c,
                c_layout,
                c,
                c_layout,
                &self.algorithm,
                address(self.workspace.address()),
                WORKSPACE,
                stream.cast(),
            )?;
        }
        Ok(())
    }
}

impl<T: Element> Drop for Gemm<T> {
    fn drop(&mut self) {
        // SAFETY: made by `plan`, null where it stopped early, used by nothing any more.
        unsafe {
            for layout in self.layouts.into_iter().filter(|layout| !layout.is_null()) {
                let _ = result::destroy_matrix_layout(layout);
            }
            if !self.descriptor.is_null() {
                let _ = result::destroy_matmul_desc(self.descriptor);
            }
            let _ = result::destroy_handle(self.handle);
        }
    }
}

fn address(device: u64) -> *mut std::ffi::c_void {
    ptr::without_provenance_mut(device as usize)
}
