//! Random elements.

use girih_tensor::DType;
use girih_tile::dtype::Const;
use girih_tile::ops::number::encode;
use rand::RngExt;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;

/// What elements have to be like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Data {
    /// Small integers, whose sums are exact.
    Sums,
    /// Numbers whose products are exact.
    Products,
    /// Any, with few different ones, zeros of both signs, infinities, NaN.
    Ordered,
    /// Any bits.
    Bits,
}

pub(super) fn elements(rng: &mut StdRng, dtype: DType, count: i64, data: Data) -> Vec<u64> {
    let mask = if dtype.bits() == 64 { u64::MAX } else { (1 << dtype.bits()) - 1 };
    let rare = rng.random_bool(0.3);
    let missing = rng.random_bool(0.1);
    (0..count)
        .map(|_| match (dtype, data) {
            (DType::Bool, _) => u64::from(rng.random_bool(if rare { 0.02 } else { 0.5 })),
            (_, Data::Bits) => rng.random::<u64>() & mask,
            (dtype, Data::Sums) if dtype.is_float() => {
                encode(dtype, Const::Float(f64::from(rng.random_range(-2..=2))))
            }
            (dtype, Data::Products) if dtype.is_float() => {
                let all = [1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 2.0, 0.5];
                encode(dtype, Const::Float(*all.choose(rng).unwrap()))
            }
            (dtype, _) if dtype.is_float() => {
                let special = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
                let x = match rng.random_range(0..10) {
                    _ if missing => f64::NAN,
                    0 => *special.choose(rng).unwrap(),
                    _ => f64::from(rng.random_range(-4..=4)) / 2.0,
                };
                encode(dtype, Const::Float(x))
            }
            (dtype, Data::Ordered) if dtype.is_integer() => match rng.random_range(0..8) {
                0 => mask >> u32::from(dtype.is_signed()),
                1 if dtype.is_signed() => 1 << (dtype.bits() - 1),
                _ => rng.random_range(0..12u64).wrapping_sub(if dtype.is_signed() { 6 } else { 0 }) & mask,
            },
            _ => rng.random::<u64>() & mask,
        })
        .collect()
}
