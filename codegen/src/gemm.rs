//! `C = A * B^T` from layouts: one multistage mainloop for every atom.
//!
//! A is M x K, B is N x K, C is M x N with contiguous rows (a column-major C is the transposed problem). The block's
//! tiles come from `local_tile`, each thread's copies from a [`TiledCopy`](crate::TiledCopy), its fragments from a
//! [`TiledMma`](crate::TiledMma); an identity tensor partitioned the same way gives the predicates of ragged edges.
//! Sizes and pitches are kernel parameters: a [`GemmConfig`] holds nothing but tiles, atoms and facts.

mod config;
mod epilogue;
mod fragment;
mod load;
mod mainloop;
mod raster;
mod shared;
pub mod warp_specialized;

pub use crate::atom::Major;
pub use config::{GemmConfig, Source};
pub use mainloop::{GemmKernel, MAX_EXTENT, PARAMETERS, generate};
pub use shared::SharedTile;
