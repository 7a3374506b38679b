//! What functions of elements give, on the bits of the elements: constants are folded by them, and the reference evaluator computes with
//! them.
//!
//! Integers wrap. Floats of all formats are computed exactly and rounded once, in the asked direction; the functions that have no exact
//! value, such as the exponential, are computed in f64 and rounded. Full and approximate results are the nearest ones here. Minimum and
//! maximum take -0 to be below 0.
//!
//! # Examples
//! ```
//! use girih_tensor::DType;
//! use girih_tile::exact::apply;
//! use girih_tile::ir::table::{Each, How};
//!
//! assert_eq!(apply(Each::Add, How::default(), DType::U8, [200, 100, 0]), Some(44));
//! // A quotient of integers by 0 is undetermined.
//! assert_eq!(apply(Each::FloorDiv, How::default(), DType::S32, [1, 0, 0]), None);
//! ```

mod each;
pub mod float;

pub use each::apply;
use girih_tensor::DType;

use self::float::Exact;
use crate::dtype::number::saturated;
use crate::dtype::{is_integer, is_signed};
use crate::fit;
use crate::ir::Rounding;

/// The bits of an element in another dtype: floats are rounded, floats become integers toward zero and within what the dtype has (NaN
/// becomes 0), integers wrap, bool is `!= 0`.
pub fn convert(from: DType, to: DType, rounding: Rounding, bits: u64) -> u64 {
    let whole = is_integer(from) || from == DType::Bool;
    if to == DType::Bool {
        return u64::from(if whole { integer(from, bits) != 0 } else { float::decode(from, bits) != 0.0 });
    }
    match (whole, is_integer(to)) {
        (true, true) => fit::wrapped(integer(from, bits)) & mask(to),
        (true, false) => Exact::integer(integer(from, bits)).round(to, rounding),
        (false, true) => fit::wrapped(saturated(to, float::decode(from, bits))) & mask(to),
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
    if is_signed(dtype) {
        i128::from((bits << shift) as i64 >> shift)
    } else {
        i128::from(bits & mask(dtype))
    }
}

/// The number that bits stand for, rounded to f64 if it is an integer beyond 2^53.
pub fn number(dtype: DType, bits: u64) -> f64 {
    if is_integer(dtype) || dtype == DType::Bool {
        integer(dtype, bits) as f64
    } else {
        float::decode(dtype, bits)
    }
}
