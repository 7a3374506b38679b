//! CuTe's algorithms on a kernel's tensors, written by the builder: what they do follows from the tensors' spaces and
//! the atom (CuTe guide, "Algorithms").

mod asynchronous;
mod copy;
mod data;
mod fill;
mod gemm;
mod predicates;
mod registers;
mod scalars;
mod transform;
mod vectors;
mod warp;

pub use copy::{CopyWith, copy, copy_if, prefetch};
pub use data::{Data, Site};
pub use fill::{clear, fill};
pub use gemm::{
    MmaOperand, MmaWith, fence_proxy_async, gemm, warpgroup_arrive, warpgroup_commit_batch, warpgroup_wait,
};
pub use predicates::Predicates;
pub use transform::{axpby, transform};

pub(crate) use registers::registers;

#[cfg(test)]
mod tests;
