//! `C = epilogue(A * B)`: the problem, the choice of a configuration, and the run.

mod bind;
mod candidates;
pub mod choose;
mod fits;
mod loading;
mod matrix;
mod passes;
mod problem;
mod records;
mod reference;
mod repitch;
mod roof;
mod run;
mod workspace;

pub use bind::Given;
pub use candidates::{candidates, configurations, described, portable};
pub use choose::{KernelKind, choose};
pub use fits::fits;
pub use girih_codegen::gemm::{
    Activation, BlockScales, Element, Epilogue, GemmConfig, Input, InputKind, MixedInput, Output, Reduction,
};
pub use loading::{Gemms, generated, kernels};
pub use matrix::Matrix;
pub use problem::{INPUTS, Layout, MAX_K_OF_S8, Order, Problem};
pub use records::{Records, record, record_key, record_mnk};
pub(crate) use reference::half_of_least;
pub use reference::{Check, check, check_gated, check_groups, dequantized, reference_bytes};
pub use repitch::{passes, repitched};
pub use roof::least_seconds;
pub use run::Gemm;

pub use crate::family::{Prepared, Untyped};
