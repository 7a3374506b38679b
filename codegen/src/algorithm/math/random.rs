//! Random numbers: words of Philox 4x32-10 (Salmon et al., Parallel random numbers: as easy as 1, 2, 3, 2011) and their distributions.

use girih_tensor::DType;

use super::emit::{Emit, X};
use crate::algorithm::element::Each;

/// Factors of the two products of a round, and what is added to the key after one: the golden ratio and the root of 3, less 1.
const FACTORS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
const STEPS: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

/// Four words of random bits for a counter and a key, all of them u32.
pub fn philox<'e, E: Emit>(counter: [X<'e, E>; 4], key: [X<'e, E>; 2]) -> [X<'e, E>; 4] {
    let ([mut a, mut b, mut c, mut d], [mut k0, mut k1]) = (counter, key);
    let [f0, f1] = FACTORS.map(|n| a.n(DType::U32, n));
    let [s0, s1] = STEPS.map(|n| a.n(DType::U32, n));
    for round in 0..10 {
        if round > 0 {
            (k0, k1) = (k0 + s0, k1 + s1);
        }
        let (high0, low0) = (a.op(Each::MulHi, f0), a * f0);
        let (high1, low1) = (c.op(Each::MulHi, f1), c * f1);
        a = high1 ^ b ^ k0;
        c = high0 ^ d ^ k1;
        (b, d) = (low1, low0);
    }
    [a, b, c, d]
}

/// An f32 from 0 to 1, without 1, of the upper 24 bits of a word; or without 0 and with 1.
pub fn unit<'e, E: Emit>(word: X<'e, E>, with_one: bool) -> X<'e, E> {
    let bits = word >> 8;
    let bits = if with_one { bits + 1 } else { bits };
    bits.cast(DType::F32) * 2f64.powi(-24)
}

/// An f32 of the normal distribution of mean 0 and variance 1, by Box and Muller's transform of two words: the root of `-2 ln(u)`, for u
/// from 0 to 1 without 0, times the cosine of a turn. No number is beyond 5.8.
pub fn normal<'e, E: Emit>(first: X<'e, E>, second: X<'e, E>) -> X<'e, E> {
    let u = unit(first, true);
    let cosine = second.cosine_of_turn();
    let radius = (u.map(Each::Log) * -2.0).map(Each::Sqrt);
    radius * cosine
}
