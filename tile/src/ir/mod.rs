//! The intermediate representation of tile programs.

mod build;
mod func;
mod kind;
mod same;
mod text;
mod verify;

pub use girih_codegen::algorithm::element::{Nan, Rounding};

pub use build::{Build, Dialect};
pub(crate) use func::follow;
pub use func::{
    Array, ArrayId, ArrayParam, Def, End, Func, Known, Op, OpId, Pin, Region, RegionId, ScalarParam, Value,
    ValueData,
};
pub use kind::{Combine, DTYPES, Indexed, Kind, Overflow, Rmw, View};
/// The table of functions that work element by element.
pub mod table {
    pub use girih_codegen::algorithm::element::{Each, Gives, How, Rounds, Row, TABLE, Takes};
}

pub(crate) use same::difference;
pub use same::same_region;
pub use text::parse;
pub use verify::verify;

pub use crate::types::{Dims, MAX_RANK, Order, Padding, Scope, Type};
