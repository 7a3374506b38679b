//! Recurrences over tokens, a chunk at a time.

use std::f64::consts::LOG2_E;

use girih_tile::prelude::*;

/// Linear attention with decay, which is the scan of a state-space model (T. Dao, A. Gu, "Transformers are SSMs", 2024): for each token `t` of a
/// head, `state = exp(decay[t]) state + k[t]^T v[t]` and `y[t] = q[t] state`. `q` and `k` are heads x tokens x `D`, `v` and `y` are heads x tokens
/// x `E`; `decay` is heads x tokens, and 0 or less. A block has a head, and takes `C` tokens at a time: inside of a chunk by products of
/// matrices, from chunk to chunk by the state.
#[kernel(crate = girih_tile)]
pub fn chunk_scan<T: Float + Mma<f32>, const C: usize, const D: usize, const E: usize>(
    q: &Array<T, 3>,
    k: &Array<T, 3>,
    v: &Array<T, 3>,
    decay: &Array<f32, 2>,
    y: &mut Array<T, 3>,
) {
    let head = bid(0);
    let mut state = zeros::<f32>([D, E]);
    for c in 0..cdiv(q.dim(1), C) {
        let q = q.tiles([1, C, D]).padding(Padding::Zero).load((head, c, 0)).reshape([C, D]);
        let k = k.tiles([1, C, D]).padding(Padding::Zero).load((head, c, 0)).reshape([C, D]);
        let v = v.tiles([1, C, E]).padding(Padding::Zero).load((head, c, 0)).reshape([C, E]);
        // The logarithm to base 2 of what is left, at each token, of the state before the chunk.
        let left = decay.tiles([1, C]).padding(Padding::Zero).load((head, c)).cumsum(1);
        let left = left * LOG2_E;
        let (row, column) = (left.reshape([C, 1]), left);
        let before = arange::<i32>(C).reshape([C, 1]) >= arange::<i32>(C);
        let weight = where_(before, (row - column).exp2(), 0.0);
        let score = mma(q, k.t(), zeros::<f32>([C, C])) * weight;
        let from_state = mma(q, state.to::<T>(), zeros::<f32>([C, E])) * row.exp2();
        let sum = mma(score.to::<T>(), v, from_state);
        y.tiles_mut([1, C, E]).store((head, c, 0), sum.to::<T>().reshape([1, C, E]));

        let whole = left.extract([0, (C - 1) as i64], [1, 1]);
        let kept = (k.to::<f32>() * (whole - row).exp2()).to::<T>();
        state = mma(kept.t(), v, state * whole.exp2());
    }
}
