//! Algorithms on host tensors, right for every layout (CuTe guide, "Algorithms"). Tests compare kernels with these
//! algorithms; the code generator has algorithms of the same names for its own tensors.
//!
//! Two tensors' values correspond by their 1-D coordinates, colexicographically, whatever the shapes. Sizes that do not
//! fit, places past the end of a ragged tile and values that a packed type does not have are refused before anything is
//! written.

mod elementwise;
mod gemm;
mod reduce;

pub use elementwise::{axpby, clear, copy, copy_if, equal, fill, for_each, transform};
pub use gemm::{gemm, gemm_by};
pub use reduce::{batch_reduce, logical_reduce, reduce};
