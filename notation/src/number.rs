//! The types and numbers of arguments.

use half::{bf16, f16};

/// The name that arguments have for a type that C, numpy or Triton names `name`. Other names are returned unchanged.
pub(crate) fn canonical(name: &str) -> &str {
    match name {
        "i8" | "int8" | "char" => "s8",
        "i16" | "int16" | "short" => "s16",
        "i32" | "int32" | "int" => "s32",
        "i64" | "int64" | "long" => "s64",
        "uint8" => "u8",
        "uint16" => "u16",
        "uint32" | "uint" => "u32",
        "uint64" => "u64",
        "fp16" | "float16" | "half" => "f16",
        "bfloat16" => "bf16",
        "fp32" | "float32" | "float" => "f32",
        "fp64" | "float64" | "double" => "f64",
        name => name,
    }
}

/// The bytes of a number of this type. The result is `None` if there is no such type and `Some(None)` if the type has no such number.
pub(crate) fn number(ty: &str, text: &str) -> Option<Option<Vec<u8>>> {
    macro_rules! integer {
        ($t:ty) => {{
            let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
            let magnitude = match digits.strip_prefix("0x") {
                Some(hexadecimal) => i128::from_str_radix(hexadecimal, 16),
                None => digits.parse::<i128>(),
            };
            let value = magnitude.ok().filter(|magnitude| *magnitude >= 0);
            value
                .and_then(|value| <$t>::try_from(sign * value).ok())
                .map(|value| value.to_le_bytes().to_vec())
        }};
    }
    macro_rules! float {
        ($t:ty, $from:expr) => {
            text.parse::<$t>().ok().map(|value| $from(value).to_le_bytes().to_vec())
        };
    }
    Some(match canonical(ty) {
        "u8" => integer!(u8),
        "s8" => integer!(i8),
        "u16" => integer!(u16),
        "s16" => integer!(i16),
        "u32" => integer!(u32),
        "s32" => integer!(i32),
        "u64" => integer!(u64),
        "s64" => integer!(i64),
        "f16" => float!(f64, f16::from_f64),
        "bf16" => float!(f64, bf16::from_f64),
        "f32" => float!(f32, std::convert::identity),
        "f64" => float!(f64, std::convert::identity),
        _ => return None,
    })
}

/// The values of an array that is not read from a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fill {
    /// Nothing: to read an element before it is written is an error.
    Unwritten,
    Zeros,
    Ones,
    /// Random floats from -1 to 1, without 1, or random integers of all values.
    Random,
}

impl Fill {
    /// The bytes of `count` elements of the type `ty`. Random elements depend on `seed`.
    pub(crate) fn bytes(self, ty: &str, size: usize, count: usize, seed: u64) -> Vec<u8> {
        let one = number(ty, "1").flatten().unwrap_or_default();
        let mut state = seed;
        match self {
            Fill::Unwritten | Fill::Zeros => vec![0; size * count],
            Fill::Ones => one.repeat(count),
            Fill::Random => {
                let mut bytes = Vec::with_capacity(size * count);
                (0..count).for_each(|_| bytes.extend(random(ty, size, &mut state)));
                bytes
            }
        }
    }
}

/// A random element. A float takes as many random bits as its significand has, so that the float is exact.
fn random(ty: &str, size: usize, state: &mut u64) -> Vec<u8> {
    let bits = next(state);
    // The float is an even number of steps of 2^-bits above -1.
    let uniform = |precision: u32| (bits >> (63 - precision)) as f64 / (1u64 << precision) as f64 - 1.0;
    match ty {
        "f64" => uniform(52).to_le_bytes().to_vec(),
        "f32" => rounded(uniform(23)).to_le_bytes().to_vec(),
        "f16" => f16::from_f64(uniform(10)).to_le_bytes().to_vec(),
        "bf16" => bf16::from_f64(uniform(7)).to_le_bytes().to_vec(),
        _ => bits.to_le_bytes()[8 - size..].to_vec(),
    }
}

/// The nearest f32.
#[expect(clippy::cast_possible_truncation, reason = "a float is rounded")]
fn rounded(number: f64) -> f32 {
    number as f32
}

/// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators).
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}
