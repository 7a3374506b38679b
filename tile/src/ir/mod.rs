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
pub use func::{
    Array, ArrayId, ArrayParam, Def, End, Func, Known, Op, OpId, Pin, Region, RegionId, ScalarParam, Value,
    ValueData,
};
pub use kind::{Combine, DTYPES, Indexed, Kind, Nan, Order, Overflow, Padding, Rmw, Rounding, Scope, View};
pub use same::same_region;
pub use text::parse;
pub use types::{Dims, MAX_RANK, Type};
pub use verify::verify;

/// The range of an integer dtype as an index; of 64 bits what addresses reach.
pub(crate) fn range(dtype: girih_tensor::DType) -> (i64, i64) {
    let far = 1i64 << 60;
    match dtype {
        girih_tensor::DType::Bool => (0, 1),
        girih_tensor::DType::S64 => (-far, far),
        girih_tensor::DType::U64 => (0, far),
        _ if crate::dtype::is_signed(dtype) => (-(1 << (dtype.bits() - 1)), (1 << (dtype.bits() - 1)) - 1),
        _ => (0, (1 << dtype.bits()) - 1),
    }
}
