//! Tokens drawn from scores.

use girih_tile::prelude::*;

/// A token for each row of `logits`, drawn from the `K` likeliest ones with the probabilities `softmax(logits / temperature)`. A row a block,
/// `N` tokens at a time. What is drawn depends on `seed` and the row's index alone.
#[kernel(crate = girih_tile)]
pub fn sample_top_k<T: Float, const K: usize, const N: usize>(
    logits: &Array<T, 2>,
    tokens: &mut Array<i32, 1>,
    temperature: Scalar<f32>,
    seed: Scalar<u64>,
) {
    let row = bid(0);
    let mut best = full::<f32>([1, K], f64::NEG_INFINITY);
    let mut ids = zeros::<i32>([1, K]);
    for c in 0..cdiv(logits.dim(1), N) {
        let logits = logits.tiles([1, N]).padding(Padding::NegInf).load((row, c)).to::<f32>();
        let (value, at) = logits.top_k(K, 1);
        let (value, id) = cat((best, value), 1).sort_with(cat((ids, at + c * N as i64), 1), 1, true);
        best = value.extract([0, 0], [1, K]);
        ids = id.extract([0, 0], [1, K]);
    }
    let weight = ((best - best.max(keep(1))) / temperature).exp();
    // The first token whose running sum is beyond a random part of all.
    let drawn = rand(seed, row) * weight.sum(keep(1));
    let at = minimum((weight.cumsum(1) <= drawn).sum(keep(1)), (K - 1) as i64);
    tokens.tiles_mut([1]).store((row,), where_(arange::<i32>(K) == at, ids, 0).sum(1));
}
