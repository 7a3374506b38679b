//! Passes: each makes another function of the same meaning.
//!
//! A pass rebuilds a function through [`Build`](crate::ir::Build), so that equal operations become one and scalars stand as far out as
//! their operands, whatever the pass does.

mod expand;
mod rebuild;

pub use expand::expand;
