//! What is proved of stores and bounds, against all blocks of small grids.

mod bounds;
mod brute;
mod disjoint;
mod kernels;
