//! girih's kernels: problem -> configuration -> module -> run.
//!
//! ```text
//! gemm::Problem --choose (pure)--> gemm::GemmConfig --generate--> ptx::Module --load--> Gemm --run--> C
//! attention::Problem --choose--> attention::AttentionConfig and a table of tiles --generate, load--> Attention --run--> O
//! ```
//!
//! The wrappers here are safe. A launch checks the problem against the buffers. A kernel accesses
//! only elements of the problem, since its predicates and its accesses come from the same partitions.

#![cfg_attr(not(test), deny(clippy::cast_possible_truncation, clippy::cast_sign_loss))]

pub mod attention;
pub mod copy;
mod error;
mod family;
pub mod gemm;
mod launch;
mod overlap;

pub use error::{DTYPES, Error};
pub use girih_codegen::Roof;
