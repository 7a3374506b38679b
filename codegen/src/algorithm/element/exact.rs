//! Element functions on bits. Constant folding and the reference evaluator compute with them.
//!
//! Integers wrap. Floats of all formats are computed exactly and rounded once, in the asked direction; the functions that have no exact
//! value, such as the exponential, are computed in f64 and rounded. Full and approximate results are the nearest ones here. Minimum and
//! maximum take -0 to be below 0.
//!
//! # Examples
//! ```
//! use girih_tensor::DType;
//! use girih_codegen::algorithm::element::exact::apply;
//! use girih_codegen::algorithm::element::{Each, How};
//!
//! assert_eq!(apply(Each::Add, How::default(), DType::U8, [200, 100, 0]), Some(44));
//! // A quotient of integers by 0 is undetermined.
//! assert_eq!(apply(Each::FloorDiv, How::default(), DType::S32, [1, 0, 0]), None);
//! ```

pub mod float;
mod function;

pub use function::apply;
use girih_tensor::DType;

use self::float::Exact;
use super::Rounding;

/// The bits of an element in another dtype: floats are rounded, floats become integers toward zero and within what the dtype has (NaN
/// becomes 0), integers wrap, bool is `!= 0`.
pub fn convert(from: DType, to: DType, rounding: Rounding, bits: u64) -> u64 {
    let whole = from.is_integer() || from == DType::Bool;
    if to == DType::Bool {
        return u64::from(if whole { integer(from, bits) != 0 } else { float::decode(from, bits) != 0.0 });
    }
    match (whole, to.is_integer()) {
        (true, true) => integer(from, bits) as u64 & mask(to),
        (true, false) => Exact::integer(integer(from, bits)).round(to, rounding),
        (false, true) => saturated(to, float::decode(from, bits)) as u64 & mask(to),
        (false, false) => float::encode(to, float::decode(from, bits), rounding),
    }
}

/// All that a dtype's bits can be.
pub fn mask(dtype: DType) -> u64 {
    u64::MAX >> (64 - dtype.bits())
}

/// The integer that bits of an integer dtype, or of bool, stand for.
pub fn integer(dtype: DType, bits: u64) -> i128 {
    let shift = 64 - dtype.bits();
    if dtype.is_signed() {
        i128::from((bits << shift) as i64 >> shift)
    } else {
        i128::from(bits & mask(dtype))
    }
}

/// The number that bits stand for, rounded to f64 if it is an integer beyond 2^53.
pub fn number(dtype: DType, bits: u64) -> f64 {
    if dtype.is_integer() || dtype == DType::Bool {
        integer(dtype, bits) as f64
    } else {
        float::decode(dtype, bits)
    }
}

/// The integer of a dtype that is next to a number, toward zero; 0 for NaN.
pub fn saturated(dtype: DType, x: f64) -> i128 {
    let (least, greatest) = dtype.range().unwrap_or((0, 1));
    (x as i128).clamp(least, greatest)
}
