//! The steps after an operation, some of which are applied to the sources too: `.ftz`, `.sat`, `.relu`.

use girih_ptx::Type;

use super::packed::{Packed, packed_lanes};
use crate::float::{Bfloat, Half, Pair};
use crate::lanes::{LaneFn, by_type, lanes};

/// `.ftz` of f32: subnormal numbers become zeros of the same sign.
pub(in crate::decode) fn flush() -> LaneFn {
    lanes!(f32: |a: f32| if a.is_subnormal() { 0f32.copysign(a) } else { a })
}

/// `.ftz` of any type that has it.
pub(in crate::decode) fn flush_of(ty: Type) -> Option<LaneFn> {
    fn zero(a: Half) -> Half {
        Half(if a.0 & 0x7c00 == 0 { a.0 & 0x8000 } else { a.0 })
    }
    fn small(a: Bfloat) -> Bfloat {
        Bfloat(if a.0 & 0x7f80 == 0 { a.0 & 0x8000 } else { a.0 })
    }
    Some(match ty {
        Type::F32 => flush(),
        Type::F16 => lanes!(Half: |a: Half| zero(a)),
        Type::F16x2 => lanes!(Pair<Half>: |a: Pair<Half>| Pair(zero(a.0), zero(a.1))),
        Type::Bf16 => lanes!(Bfloat: |a: Bfloat| small(a)),
        Type::Bf16x2 => lanes!(Pair<Bfloat>: |a: Pair<Bfloat>| Pair(small(a.0), small(a.1))),
        _ => return None,
    })
}

/// `.sat`: clamps to [0, 1], where NaN becomes 0.
pub(super) fn saturate_of(ty: Type) -> Option<LaneFn> {
    match ty {
        Type::F32 => Some(lanes!(f32: |a: f32| if a > 0.0 { a.min(1.0) } else { 0.0 })),
        Type::F16 | Type::F16x2 => packed_lanes!(ty, |a| if a > 0.0 { a.min(1.0) } else { 0.0 }),
        _ => None,
    }
}

/// `.relu`: negative numbers become 0; NaN stays NaN.
pub(super) fn relu_of(ty: Type) -> Option<LaneFn> {
    packed_lanes!(ty, |a| if a <= 0.0 { 0.0 } else { a })
}
