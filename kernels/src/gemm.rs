//! `C = A * B`: the problem, the choice of a configuration, and the run.

mod choose;
mod config;
mod problem;
mod reference;
mod run;

pub use choose::{KernelKind, choose};
pub use config::{Config, Generated};
pub use problem::{Layout, Matrix, Order, Problem};
pub use reference::{Check, check};
pub use run::{Gemm, Gemms};
