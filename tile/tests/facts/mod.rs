//! What is proved of stores and bounds, against all blocks of small grids.

mod bounds;
mod brute;
mod disjoint;
pub(crate) mod kernels;
