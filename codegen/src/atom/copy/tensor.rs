//! Elements and swizzles as a tensor map names them.

use girih_layout::Swizzle;
use girih_ptx::{TensorElement, TensorSwizzle};
use girih_tensor::DType;

/// Bytes that the swizzles of tensor maps move as one.
const UNIT: i64 = 16;

/// The swizzle of a tensor map that does what `swizzle` does with elements of `bytes` bytes, if there is one.
pub(crate) fn tensor_swizzle(swizzle: Swizzle, bytes: i64) -> Option<TensorSwizzle> {
    let unit =
        swizzle.base() + (bytes as u64).trailing_zeros() == UNIT.trailing_zeros() && swizzle.shift() == 3;
    match swizzle.bits() {
        0 => Some(TensorSwizzle::None),
        1 if unit => Some(TensorSwizzle::B32),
        2 if unit => Some(TensorSwizzle::B64),
        3 if unit => Some(TensorSwizzle::B128),
        _ => None,
    }
}

/// The element of a tensor map for values of `dtype`; `None` for a dtype that no tensor map has.
pub(crate) fn tensor_element(dtype: DType) -> Option<TensorElement> {
    Some(match dtype {
        DType::F64 => TensorElement::F64,
        DType::F32 => TensorElement::F32,
        DType::Tf32 => TensorElement::Tf32,
        DType::F16 => TensorElement::F16,
        DType::Bf16 => TensorElement::Bf16,
        DType::S64 => TensorElement::S64,
        DType::U64 => TensorElement::U64,
        DType::S32 => TensorElement::S32,
        DType::U32 => TensorElement::U32,
        _ => match dtype.bits() {
            16 => TensorElement::U16,
            8 => TensorElement::U8,
            _ => return None,
        },
    })
}
