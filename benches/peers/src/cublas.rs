//! cuBLASLt, the peer: one matrix product, planned once and enqueued into the device's own stream, so that the same
//! timer measures both sides in turns.
#![allow(unsafe_code, reason = "the peer's interface is C; each block says why it holds")]

use std::mem::MaybeUninit;
use std::ptr;

use cudarc::cublaslt::{
    result::{self, CublasError},
    sys,
};
use girih_device::{Buffer, Device, Pod};
use girih_kernels::gemm;
use girih_tensor::{DType, Element};

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
    /// An algorithm that the heuristic did not list.
    #[error("algorithm {index} was asked for, the heuristic lists {listed}")]
    NoAlgorithm {
        /// Which.
        index: usize,
        /// How many there are.
        listed: usize,
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
        }
    }

    /// Rows, columns and leading stride of A, B and C as stored.
    const fn stored(&self) -> [(u64, u64, u64); 3] {
        let (m, n, k) = (self.m, self.n, self.k);
        let (ar, ac) = if self.a_transposed { (k, m) } else { (m, k) };
        let (br, bc) = if self.b_transposed { (n, k) } else { (k, n) };
        [(ar, ac, self.lda), (br, bc, self.ldb), (m, n, self.ldc)]
    }
}

/// cuBLAS's name of a dtype; it multiplies them with f32 accumulation, f32 without TF32.
const fn data_type(dtype: DType) -> Option<sys::cudaDataType> {
    match dtype {
        DType::F32 => Some(sys::cudaDataType::CUDA_R_32F),
        DType::F16 => Some(sys::cudaDataType::CUDA_R_16F),
        DType::Bf16 => Some(sys::cudaDataType::CUDA_R_16BF),
        _ => None,
    }
}

/// A product planned by cuBLASLt's own heuristic, with its operands.
pub struct Gemm<T: Element + Pod> {
    device: Device,
    handle: sys::cublasLtHandle_t,
    descriptor: sys::cublasLtMatmulDesc_t,
    layouts: [sys::cublasLtMatrixLayout_t; 3],
    /// The heuristic's list, its favourite first.
    algorithms: Vec<sys::cublasLtMatmulAlgo_t>,
    workspace: Buffer<u8>,
    /// A, B and C; public so that a check can read them.
    pub operands: [Buffer<T>; 3],
}

/// The size that NVIDIA recommends for Hopper.
const WORKSPACE: usize = 32 << 20;

/// Algorithms asked for: the heuristic has never listed more than eight.
const LISTED: usize = 16;

impl<T: Element + Pod> Gemm<T> {
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
            algorithms: Vec::new(),
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
        // What has no name here it refuses as not supported.
        let Some(data_type) = data_type(T::DTYPE) else {
            return Err(CublasError(sys::cublasStatus_t::CUBLAS_STATUS_NOT_SUPPORTED));
        };
        for (layout, (rows, cols, ld)) in self.layouts.iter_mut().zip(problem.stored()) {
            *layout = result::create_matrix_layout(data_type, rows, cols, ld as i64)?;
        }
        Ok(())
    }

    fn choose(&mut self) -> Result<(), CublasError> {
        let preference = result::create_matmul_pref()?;
        let attribute = sys::cublasLtMatmulPreferenceAttributes_t::CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES;
        let [a, b, c] = self.layouts;
        let mut found = [MaybeUninit::<sys::cublasLtMatmulHeuristicResult_t>::uninit(); LISTED];
        let mut count = 0;
        // SAFETY: everything passed was made by this plan and lives; the value has the size given; the list has room for
        // as many results as are asked for.
        let listed = unsafe {
            let bytes = ptr::from_ref(&WORKSPACE).cast();
            result::set_matmul_pref_attribute(preference, attribute, bytes, size_of::<usize>()).and_then(
                |()| {
                    let first = found.as_mut_ptr().cast();
                    let (handle, descriptor, asked) = (self.handle, self.descriptor, LISTED as i32);
                    sys::cublasLtMatmulAlgoGetHeuristic(
                        handle, descriptor, a, b, c, c, preference, asked, first, &mut count,
                    )
                    .result()
                },
            )
        };
        // SAFETY: made above, used by nothing any more.
        unsafe { result::destroy_matmul_pref(preference)? };
        listed?;
        for result in found.iter().take(usize::try_from(count).unwrap_or(0)) {
            // SAFETY: the library wrote the first `count` results.
            let result = unsafe { result.assume_init_ref() };
            if result.state == sys::cublasStatus_t::CUBLAS_STATUS_SUCCESS {
                self.algorithms.push(result.algo);
            }
        }
        if self.algorithms.is_empty() {
            return Err(CublasError(sys::cublasStatus_t::CUBLAS_STATUS_NOT_SUPPORTED));
        }
        Ok(())
    }

    /// How many algorithms the heuristic lists, its favourite first.
    pub fn algorithms(&self) -> usize {
        self.algorithms.len()
    }

    /// Enqueues the product into the device's stream, by the heuristic's favourite.
    ///
    /// # Errors
    /// cuBLASLt's.
    pub fn run(&self) -> Result<(), Error> {
        self.run_algorithm(0)
    }

    /// Enqueues the product by one algorithm of the heuristic's list.
    ///
    /// # Errors
    /// [`Error::NoAlgorithm`] past the list's end; cuBLASLt's.
    pub fn run_algorithm(&self, index: usize) -> Result<(), Error> {
        let listed = self.algorithms.len();
        let algorithm = self.algorithms.get(index).ok_or(Error::NoAlgorithm { index, listed })?;
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
                algorithm,
                address(self.workspace.address()),
                WORKSPACE,
                stream.cast(),
            )?;
        }
        Ok(())
    }
}

impl<T: Element + Pod> Drop for Gemm<T> {
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
