//! Numbers of each dtype, and their rounding in exact integer arithmetic.

use girih_tensor::DType;

/// A number, or what is none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    /// `mantissa * 2^exponent` in this sign.
    Finite {
        negative: bool,
        mantissa: u128,
        exponent: i32,
    },
    Infinite {
        negative: bool,
    },
    Nan,
}

/// The bits of exponent and fraction of a float.
pub(super) fn format(dtype: DType) -> Option<(u32, u32)> {
    Some(match dtype {
        DType::F64 => (11, 52),
        DType::F32 => (8, 23),
        DType::Tf32 => (8, 10),
        DType::F16 => (5, 10),
        DType::Bf16 => (8, 7),
        DType::E4m3 => (4, 3),
        DType::E5m2 => (5, 2),
        DType::E2m1 => (2, 1),
        _ => return None,
    })
}

fn is_signed(dtype: DType) -> bool {
    matches!(dtype, DType::S64 | DType::S32 | DType::S16 | DType::S8 | DType::S4)
}

/// The bits of a tf32 are those of an f32.
pub(super) fn stored(dtype: DType, bits: u64) -> u64 {
    if dtype == DType::Tf32 { bits << 13 } else { bits }
}

pub(super) fn decode(dtype: DType, bits: u64) -> Number {
    let finite = |negative, mantissa, exponent| Number::Finite { negative, mantissa, exponent };
    let Some((exponents, fractions)) = format(dtype) else {
        return match dtype {
            DType::Bool => finite(false, u128::from(bits != 0), 0),
            DType::E8m0 if bits == 0xff => Number::Nan,
            DType::E8m0 => finite(false, 1, bits as i32 - 127),
            _ if is_signed(dtype) => {
                let value = (bits << (64 - dtype.bits())) as i64 >> (64 - dtype.bits());
                finite(value < 0, u128::from(value.unsigned_abs()), 0)
            }
            _ => finite(false, bits.into(), 0),
        };
    };
    let bits = if dtype == DType::Tf32 { bits >> 13 } else { bits };
    let (fraction, bias) = (bits & ((1 << fractions) - 1), (1 << (exponents - 1)) - 1);
    let (field, negative) =
        (bits >> fractions & ((1 << exponents) - 1), bits >> (exponents + fractions) & 1 == 1);
    if dtype == DType::E4m3 {
        if bits & 0x7f == 0x7f {
            return Number::Nan;
        }
    } else if field == (1 << exponents) - 1 && dtype != DType::E2m1 {
        return if fraction == 0 { Number::Infinite { negative } } else { Number::Nan };
    }
    let mantissa = if field == 0 { fraction } else { fraction | 1 << fractions };
    finite(negative, mantissa.into(), field.max(1) as i32 - bias - fractions as i32)
}

/// `mantissa * 2^shift` as an integer, to nearest even.
fn shifted(mantissa: u128, shift: i32) -> u128 {
    match shift {
        0.. => mantissa.checked_shl(shift as u32).filter(|all| all >> shift == mantissa).unwrap_or(u128::MAX),
        -127..0 => {
            let (down, rest) = (mantissa >> -shift, mantissa & ((1 << -shift) - 1));
            let half = 1 << (-shift - 1);
            down + u128::from(rest > half || rest == half && down & 1 == 1)
        }
        _ => 0,
    }
}

/// The bits of the nearest number of `dtype`; `None` for NaN.
pub(super) fn encode(dtype: DType, number: Number) -> Option<u64> {
    if dtype == DType::Bool {
        return Some(u64::from(!matches!(number, Number::Finite { mantissa: 0, .. })));
    }
    if dtype == DType::E8m0 {
        return match number {
            Number::Nan => None,
            Number::Infinite { negative } => Some(if negative { 0 } else { 254 }),
            Number::Finite { negative: true, .. } | Number::Finite { mantissa: 0, .. } => Some(0),
            Number::Finite { mantissa, exponent, .. } => {
                let length = 127 - mantissa.leading_zeros();
                let code = length as i32 + exponent + 127;
                let (rest, half) = (2 * (mantissa - (1 << length)), 1u128 << length);
                let up = rest > half || rest == half && code & 1 == 1;
                Some((code + i32::from(up)).clamp(0, 254) as u64)
            }
        };
    }
    let Some((exponents, fractions)) = format(dtype) else {
        let bits = dtype.bits();
        let (least, most) = if is_signed(dtype) {
            (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
        } else {
            (0, (1i128 << bits) - 1)
        };
        let value = match number {
            Number::Nan => 0,
            Number::Infinite { negative } => {
                if negative {
                    least
                } else {
                    most
                }
            }
            Number::Finite { negative, mantissa, exponent } => {
                let size = i128::try_from(shifted(mantissa, exponent)).unwrap_or(i128::MAX);
                if negative { -size } else { size }.clamp(least, most)
            }
        };
        return Some(value as u64 & (u64::MAX >> (64 - bits)));
    };
    let infinity = ((1u64 << exponents) - 1) << fractions;
    let most = match dtype {
        DType::E4m3 => 0x7e,
        DType::E5m2 => 0x7b,
        DType::E2m1 => 7,
        _ => infinity,
    };
    let (negative, size) = match number {
        Number::Nan if dtype == DType::E2m1 => (false, most),
        Number::Nan => return None,
        Number::Infinite { negative } => (negative, most),
        Number::Finite { negative, mantissa: 0, .. } => (negative, 0),
        Number::Finite { negative, mantissa, exponent } => {
            let top = 127 - mantissa.leading_zeros() as i32 + exponent;
            let least = 2 - (1 << (exponents - 1));
            let field = top.max(least) - least;
            let size = shifted(mantissa, exponent - (top.max(least) - fractions as i32));
            (negative, u128::min(size + ((field as u128) << fractions), most.into()) as u64)
        }
    };
    Some(stored(dtype, size | u64::from(negative) << (exponents + fractions)))
}
