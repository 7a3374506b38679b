//! The intermediate representation of tile programs.

mod build;
mod func;
mod kind;
mod same;
pub mod table;
mod text;
mod types;
mod verify;

pub use build::{Build, Dialect};
pub(crate) use func::follow;
pub use func::{
    Array, ArrayId, ArrayParam, Def, End, Func, Known, Op, OpId, Pin, Region, RegionId, ScalarParam, Value,
    ValueData,
};
pub use kind::{Combine, DTYPES, Indexed, Kind, Nan, Order, Overflow, Padding, Rmw, Rounding, Scope, View};
pub(crate) use same::difference;
pub use same::same_region;
pub use text::parse;
pub use types::{Dims, MAX_RANK, Type};
pub use verify::verify;
