//! What the benches share: a GPU or a line that says there is none, criterion timed by the GPU's own clock, and the
//! peers that girih is measured beside.

pub mod cublas;
mod gpu;

pub use gpu::{gpu, measure};
