//! The layout algebra: operations that make layouts of layouts.

mod analysis;
mod carry;
mod coalesce;
mod common;
mod complement;
pub(crate) mod compose_columns;
mod compose_coordinates;
mod compose_integers;
mod composition;
mod divide;
mod divide_coordinates;
mod divide_integers;
mod general;
mod inverse;
pub(crate) mod product;
mod recast;
pub(crate) mod residue;
