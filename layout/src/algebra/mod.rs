//! The layout algebra: operations that make layouts of layouts.

pub(crate) mod analysis;
pub(crate) mod carry;
pub(crate) mod coalesce;
pub(crate) mod common;
pub(crate) mod complement;
pub(crate) mod compose_columns;
pub(crate) mod compose_integers;
pub(crate) mod composition;
pub(crate) mod divide;
pub(crate) mod general;
pub(crate) mod inverse;
pub(crate) mod product;
pub(crate) mod recast;
pub(crate) mod residue;
