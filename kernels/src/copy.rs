//! Copies between layouts: `dst(c) = src(c)` for every coordinate `c`, at the rate of the memory.
//!
//! ```text
//! Problem --choose (pure)--> CopyConfig --generate--> ptx::Module --load--> Copy --run--> dst
//! ```
//!
//! A transpose, a permutation of modes, a copy between pitches, a slice with strides, a broadcast: each is a pair of layouts.

mod choose;
mod modes;
mod pieces;
mod problem;
mod run;
mod sides;
mod tiles;

pub use girih_codegen::copy::Caching;

pub use choose::{Chosen, Tuning, choose, tuned};
pub use modes::{Mode, Pad};
pub use pieces::Piece;
pub use problem::{Gather, Problem};
pub use run::Copy;
