//! Tuples: profiles with leaves over them (shapes, strides, coordinates), and the order in which shapes count coordinates.

pub(crate) mod coord;
mod editing;
mod order;
pub(crate) mod profile;
mod reductions;
mod relations;
mod shape_div;
pub(crate) mod store;
pub(crate) mod sum;
pub(crate) mod tree;
