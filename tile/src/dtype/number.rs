//! Constants as bits of a dtype.
//!
//! # Examples
//! ```
//! use girih_tensor::DType;
//! use girih_tile::dtype::{Const, number::encode};
//!
//! assert_eq!(encode(DType::F32, Const::Float(1.5)), u64::from(1.5f32.to_bits()));
//! // Integers wrap, and floats become the nearest integer that there is, toward zero.
//! assert_eq!(encode(DType::U8, Const::Int(-1)), 255);
//! assert_eq!(encode(DType::S8, Const::Float(-1000.7)), 0x80);
//! ```

use girih_codegen::algorithm::element::exact::saturated;
use girih_tensor::DType;

use crate::dtype::Const;
use crate::fit;

/// The bits of a constant in a dtype: floats to nearest, integers modulo 2^bits, floats to integers toward zero and within the dtype's
/// numbers, NaN to 0, bool by `!= 0`.
pub fn encode(dtype: DType, constant: Const) -> u64 {
    let mask = if dtype.bits() == 64 { u64::MAX } else { (1 << dtype.bits()) - 1 };
    match constant {
        _ if dtype == DType::Bool => match constant {
            Const::Bool(b) => u64::from(b),
            Const::Int(n) => u64::from(n != 0),
            Const::Float(x) => u64::from(x != 0.0),
        },
        Const::Bool(b) => encode(dtype, Const::Int(i128::from(b))),
        Const::Int(n) if dtype.is_integer() => fit::wrapped(n) & mask,
        Const::Float(x) if dtype.is_integer() => fit::wrapped(saturated(dtype, x)) & mask,
        Const::Int(n) => dtype.encode(n as f64),
        Const::Float(x) => dtype.encode(x),
    }
}
