//! Launches of programs that are products of matrices.

mod blocks;
mod epilogues;
mod launched;
mod near;
mod parts;
mod programs;
mod weights;
