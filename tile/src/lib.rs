//! The tile language of girih: kernels over whole tiles.

pub mod dtype;
pub mod error;
pub mod hints;
pub mod ir;
pub mod lower;
pub mod math;
pub mod ops;
pub mod place;
