//! girih's kernels: problem -> configuration -> module -> run.
//!
//! ```text
//! gemm::Problem --choose (pure)--> gemm::Config --generate--> ptx::Module --load--> Gemm --run--> C
//! ```
//!
//! The wrappers here are safe: a problem is checked against the buffers before anything is launched, and the kernels
//! touch only what the problem names (their predicates come from the same partitions as their accesses).

pub mod copy;
mod error;
pub mod gemm;
mod launch;

pub use error::{DTYPES, Error};
