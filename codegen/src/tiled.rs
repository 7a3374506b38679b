//! Atoms spread over the threads and values of a tile: copies and matrix products (CuTe guide, "TiledCopy", "TiledMMA").

pub(crate) mod copy;
pub(crate) mod mma;

pub use copy::{ThrCopy, TiledCopy};
pub use mma::{Operand, ThrMma, TiledMma};
