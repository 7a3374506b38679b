//! What kernels are written with, and what becomes of Rust's control flow around it.

pub mod handle;
pub mod stage;
