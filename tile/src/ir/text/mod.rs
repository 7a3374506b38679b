//! The text form of programs: a [`Func`](super::Func) displays as text, and [`parse()`] reads it back.
//!
//! ```
//! let text = "\
//! kernel scale(x: f32[?, ?8] strides [?8, 1] align 16, mut y: f32[?, ?8] strides [?8, 1] align 16, factor: f32) {
//!   %0 = param factor : f32
//!   %1 = bid 0 : s32
//!   %2 = full 0 : s32
//!   %3 = load x[4, 1000] at (%1, %2) pad -inf : f32[4, 1000]
//!   %4 = reshape %0 : f32[1, 1]
//!   %5 = broadcast %4 : f32[4, 1000]
//!   %6 = mul %3, %5 : f32[4, 1000]
//!   store %6 to y[4, 1000] at (%1, %2)
//! }
//! ";
//! let func = girih_tile::ir::parse(text)?;
//! assert_eq!(func.to_string(), text);
//! # Ok::<(), girih_tile::error::Error>(())
//! ```
//!
//! A statement is a line. Extents and strides that are not known are `?`, or `?8` where they are a multiple of 8. Constants are numbers of
//! their dtype, or bits as `0x7fc00001`. A part of an array is written where it is used, `x<1: %3..%4>`: the elements from `%3` to `%4`
//! along axis 1. Regions are in braces; their arguments follow the brace. A region that ends without a word yields nothing.

mod parse;
mod print;
mod token;

pub use parse::parse;
pub(in crate::ir) use print::op_text;

use girih_tensor::DType;

use super::{Combine, Nan};
use crate::dtype::Const;
use crate::dtype::number::encode;
use crate::fit;

const COMBINES: &[(&str, Combine)] = &[
    ("sum", Combine::Sum),
    ("prod", Combine::Prod),
    ("max", Combine::Max(Nan::Ignored)),
    ("max.nan", Combine::Max(Nan::Propagated)),
    ("min", Combine::Min(Nan::Ignored)),
    ("min.nan", Combine::Min(Nan::Propagated)),
    ("argmax", Combine::ArgMax(Nan::Ignored)),
    ("argmax.nan", Combine::ArgMax(Nan::Propagated)),
    ("argmin", Combine::ArgMin(Nan::Ignored)),
    ("argmin.nan", Combine::ArgMin(Nan::Propagated)),
    ("and", Combine::And),
    ("or", Combine::Or),
    ("xor", Combine::Xor),
    ("region", Combine::By(())),
];

/// The bits of a constant as text: a number, if it is read back as these bits.
fn constant_text(dtype: DType, bits: u64) -> String {
    let text = match dtype {
        DType::Bool => (bits != 0).to_string(),
        _ if dtype.is_signed() => fit::signed(bits, dtype.bits()).to_string(),
        _ if dtype.is_integer() => bits.to_string(),
        DType::F64 => format!("{:?}", f64::from_bits(bits)),
        DType::F32 | DType::Tf32 => format!("{:?}", f32::from_bits(fit::low(bits))),
        DType::F16 => format!("{:?}", half::f16::from_bits(fit::half(bits)).to_f32()),
        DType::Bf16 => format!("{:?}", half::bf16::from_bits(fit::half(bits)).to_f32()),
        _ => return format!("{bits:#x}"),
    };
    let text = text.to_lowercase();
    if constant_bits(dtype, &text) == Some(bits) { text } else { format!("{bits:#x}") }
}

/// The bits of a constant in text.
fn constant_bits(dtype: DType, text: &str) -> Option<u64> {
    if let Some(hex) = text.strip_prefix("0x") {
        let bits = u64::from_str_radix(hex, 16).ok()?;
        return (dtype.bits() == 64 || bits >> dtype.bits() == 0).then_some(bits);
    }
    match dtype {
        DType::Bool => text.parse::<bool>().ok().map(u64::from),
        _ if dtype.is_integer() => {
            let n: i128 = text.parse().ok()?;
            crate::dtype::holds(dtype, n).then(|| encode(dtype, Const::Int(n)))
        }
        _ => text.parse().ok().map(|x| encode(dtype, Const::Float(x))),
    }
}
