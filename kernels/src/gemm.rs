//! `C = epilogue(A * B)`: the problem, the choice of a configuration, and the run.

mod bind;
mod candidates;
pub mod choose;
mod problem;
mod reference;
mod run;

pub use bind::Given;
pub use candidates::{candidates, described};
pub use choose::{KernelKind, choose};
pub use girih_codegen::gemm::{Element, Epilogue, GemmConfig, Input, InputKind};
pub use problem::{INPUTS, Layout, Matrix, Order, Problem};
pub use reference::{Check, check};
pub use run::{Gemm, Gemms};
