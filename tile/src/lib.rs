//! The tile language of girih: kernels over whole tiles.

mod compile;
pub mod dtype;
pub mod error;
pub mod explain;
pub mod facts;
pub mod hints;
pub mod ir;
#[cfg(feature = "launch")]
pub mod launch;
pub mod lower;
pub mod math;
pub mod ops;
pub mod pass;
pub mod place;
pub mod reference;

pub use compile::{Compiled, compile};
