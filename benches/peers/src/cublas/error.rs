//! What can go wrong with the peer.

use cudarc::cublaslt::result::CublasError;
use girih_tensor::DType;

/// Why the peer can't be measured.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The library is not installed.
    #[error("cuBLASLt is not installed on this machine (libcublasLt is missing)")]
    Missing,
    /// The device is no GPU.
    #[error("cuBLASLt runs on a GPU, the device is {0}")]
    NoGpu(String),
    /// Types that it does not multiply.
    #[error("cuBLASLt multiplies no {inputs} to {output}")]
    NoTypes {
        /// Of A and B.
        inputs: DType,
        /// Of C.
        output: DType,
    },
    /// A matrix that a buffer is too small for, or whose elements are of another size.
    #[error("matrix {matrix} needs {needed} bytes, its buffer has {bytes}")]
    TooSmall {
        /// `A`, `B` or `C`.
        matrix: char,
        /// Bytes that the problem spans.
        needed: u64,
        /// Bytes of the buffer.
        bytes: u64,
    },
    /// The heuristic lists no algorithm.
    #[error("cuBLASLt lists no algorithm: {0:?}")]
    NoAnswer(CublasError),
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
