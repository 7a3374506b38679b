//! From layouts to PTX.
//!
//! ```text
//! MmaAtom, CopyAtom (const data) -> TiledMma, TiledCopy -> partitions of symbolic tensors -> Builder -> ptx::Module
//! ```
//!
//! This crate builds kernels. Static leaves of layouts fold into addresses, and symbolic leaves become kernel parameters. The
//! vocabulary is CuTe's.

pub mod algorithm;
pub mod atom;
pub mod attention;
pub mod builder;
pub mod constant;
pub mod copy;

mod descriptor;
mod engine;
mod error;
mod expr;
pub mod gemm;
mod kernel;
mod misfit;
mod params;
pub mod plan;
mod quick;
mod roof;
pub mod scalar;
mod sizes;
pub mod sync;
mod tiled;
mod tma;

pub use builder::{Builder, Cond, Line, Reg, Width};
pub use descriptor::Descriptor;
pub use engine::{Counting, Gmem, Memory, Rmem, Smem};
pub use error::{
    AlgorithmError, AttentionError, BuilderError, CopyError, Error, GemmError, Incongruence, SyncError,
    WgmmaError,
};
pub use expr::{Expr, VarId};
pub use kernel::Kernel;
pub use params::{Generated, Params, Slot, Value};
pub use quick::QuickMap;
pub use roof::Roof;
pub use scalar::Scalar;
pub use sync::{MBARRIER_BYTES, Mbarrier, Pipeline, PipelineState, Stage};
pub use tiled::{Operand, ThrCopy, ThrMma, TiledCopy, TiledMma};
pub use tma::TmaCopy;
