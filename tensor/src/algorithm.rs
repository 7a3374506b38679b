//! Algorithms on host tensors, right for every layout (CuTe guide, "Algorithms"). Kernels are checked against them; the
//! generator has those of the same names for its own tensors.
//!
//! Values correspond by their 1-D coordinates, colexicographically, whatever the shapes. What does not fit, sizes,
//! places past the end of a ragged tile and values that a packed type does not have, is refused before anything is written.

mod elementwise;
mod gemm;
mod reduce;

pub use elementwise::{axpby, clear, copy, copy_if, equal, fill, for_each, transform};
pub use gemm::{gemm, gemm_by};
pub use reduce::{batch_reduce, logical_reduce, reduce};
