//! Tuples: profiles with leaves over them (shapes, strides, coordinates), and the order in which shapes count coordinates.

pub(crate) mod coord;
pub(crate) mod editing;
pub(crate) mod order;
pub(crate) mod profile;
pub(crate) mod reductions;
pub(crate) mod relations;
pub(crate) mod shape_div;
pub(crate) mod store;
pub(crate) mod sum;
pub(crate) mod tree;
