//! girih's kernels: problem -> configuration -> module -> run.
//!
//! ```text
//! gemm::Problem --choose (pure)--> gemm::GemmConfig --generate--> ptx::Module --load--> Gemm --run--> C
//! attention::Problem --choose--> attention::AttentionConfig and a table of tiles --generate, load--> Attention --run--> O
//! ```
//!
//! The wrappers here are safe. A problem is checked against the buffers before anything is launched, and a kernel accesses
//! only the elements that the problem names, since its predicates come from the same partitions as its accesses.

#![cfg_attr(not(test), deny(clippy::cast_possible_truncation, clippy::cast_sign_loss))]

pub mod attention;
pub mod copy;
mod error;
mod family;
pub mod gemm;
mod launch;
mod overlap;
mod roof;

pub use error::{DTYPES, Error};
pub use roof::Roof;
