//! Attention with a softmax that goes along with the keys.

use std::f64::consts::LOG2_E;

use girih_tile::prelude::*;

/// `o = softmax(scale q k^T) v`. `q` and `o` are batch x heads x queries x `D`, `k` and `v` are batch x groups x keys x `D`: heads that follow
/// each other share a group of keys. A block has `BM` queries of a head and takes `BN` keys at a time.
///
/// With `CAUSAL`, the last query sees all keys, and each query before it one key less.
#[kernel(crate = girih_tile)]
pub fn attention<
    T: Mma<f32> + StoreTo<T>,
    const BM: usize,
    const BN: usize,
    const D: usize,
    const CAUSAL: bool,
>(
    q: &Array<T, 4>,
    k: &Array<T, 4>,
    v: &Array<T, 4>,
    o: &mut Array<T, 4>,
    scale: Scalar<f32>,
) {
    let (i, head, batch) = (bid(0), bid(1), bid(2));
    let group = floordiv(head, floordiv(q.dim(1), k.dim(1)));
    let keys = Keys::seen::<BM>(i, q.dim(2), k.dim(2), CAUSAL);
    let q = q.tiles([1, 1, BM, D]).padding(Padding::Zero).load((batch, head, i, 0)).reshape([BM, D]);
    let sum = attend::<T, BM, BN, D>(q, keys, scale, |j| {
        let k = k.tiles([1, 1, BN, D]).padding(Padding::Zero).load((batch, group, j, 0));
        let v = v.tiles([1, 1, BN, D]).padding(Padding::Zero).load((batch, group, j, 0));
        (k.reshape([BN, D]), v.reshape([BN, D]))
    });
    o.tiles_mut([1, 1, BM, D]).store((batch, head, i, 0), sum.to::<T>().reshape([1, 1, BM, D]));
}

/// [`attention`] of sequences that follow each other without gaps: `q` and `o` are tokens x heads x `D`, `k` and `v` are tokens x groups x `D`,
/// and sequence `s` has the tokens `starts[s]..starts[s + 1]`. The grid is tiles of the longest sequence x heads x sequences.
#[kernel(crate = girih_tile)]
pub fn attention_varlen<
    T: Mma<f32> + StoreTo<T>,
    const BM: usize,
    const BN: usize,
    const D: usize,
    const CAUSAL: bool,
>(
    q: &Array<T, 3>,
    k: &Array<T, 3>,
    v: &Array<T, 3>,
    starts: &Array<i32, 1>,
    o: &mut Array<T, 3>,
    scale: Scalar<f32>,
) {
    let (i, head, sequence) = (bid(0), bid(1), bid(2));
    let group = floordiv(head, floordiv(q.dim(1), k.dim(1)));
    let start = |at: Scalar<i32>| starts.tiles([1]).load((at,)).reshape(());
    let (from, to) = (start(sequence), start(sequence + 1));
    if to - from > i * BM as i64 {
        let keys = Keys::seen::<BM>(i, to - from, to - from, CAUSAL);
        let q = q.slice(0, from, to).tiles([BM, 1, D]).padding(Padding::Zero).load((i, head, 0));
        let sum = attend::<T, BM, BN, D>(q.reshape([BM, D]), keys, scale, |j| {
            let k = k.slice(0, from, to).tiles([BN, 1, D]).padding(Padding::Zero).load((j, group, 0));
            let v = v.slice(0, from, to).tiles([BN, 1, D]).padding(Padding::Zero).load((j, group, 0));
            (k.reshape([BN, D]), v.reshape([BN, D]))
        });
        let mut rows = o.slice_mut(0, from, to);
        // SAFETY: `starts` does not fall, and a tile of a sequence is that of one block.
        #[expect(unsafe_code, reason = "that sequences do not overlap, the numbers in memory say")]
        let mut rows = unsafe { rows.tiles_mut([BM, 1, D]).assume_disjoint("sequences follow each other") };
        rows.store((i, head, 0), sum.to::<T>().reshape([BM, 1, D]));
    }
}

/// The keys that the queries of a block see.
struct Keys {
    /// Keys from this one on are seen by none.
    end: Scalar<i32>,
    /// The last key that each query sees, a column.
    last: Tile<i32>,
}

impl Keys {
    fn seen<const BM: usize>(i: Scalar<i32>, queries: Scalar<i32>, keys: Scalar<i32>, causal: bool) -> Keys {
        let last = arange::<i32>(BM).reshape([BM, 1]) + i * BM as i64 + (keys - queries);
        if causal {
            let first = i * BM as i64 + (keys - queries);
            Keys { end: minimum(first + BM as i64, keys), last }
        } else {
            Keys { end: keys, last: full::<i32>([BM, 1], keys - 1) }
        }
    }
}

/// The weighted sums of values, `BM` x `D`. `load` gives tiles of keys and of values.
#[function(crate = girih_tile)]
fn attend<T: Mma<f32>, const BM: usize, const BN: usize, const D: usize>(
    q: Tile<T>,
    keys: Keys,
    scale: Scalar<f32>,
    load: impl Fn(Scalar<i32>) -> (Tile<T>, Tile<T>),
) -> Tile<f32> {
    let scale = scale * LOG2_E;
    // A score of each query than which none so far is greater by more than 8 in powers of two, and what relates to it: the sum of powers, and that of weighted
    // values. The start is finite: the difference of two infinities is NaN.
    let mut most = full::<f32>([BM, 1], f64::from(f32::MIN));
    let mut powers = zeros::<f32>([BM, 1]);
    let mut sum = zeros::<f32>([BM, D]);
    for j in 0..cdiv(keys.end, BN) {
        let (k, v) = load(j);
        let key = arange::<i32>(BN) + j * BN as i64;
        // Most tiles lie on one side of the last keys, where no element is compared.
        let seen = (key <= keys.last) & (key < keys.end);
        let score = where_(seen, mma(q, k.t(), zeros::<f32>([BM, BN])), f64::NEG_INFINITY);
        let greatest = maximum(most, score.max(keep(1)));
        // Sums are scaled anew where weights would grow beyond 2^8, and by 1 else, which is left out.
        let next = where_((greatest - most) * scale > 8.0, greatest, most);
        // The difference comes before the scale: of large scores a product is rounded by more than a power's exponent may be off. Weights below the least normal
        // number weigh nothing.
        let weight = exp2_with((score - next) * scale, Mode::new().ftz());
        let shrink = exp2_with((most - next) * scale, Mode::new().ftz());
        powers = powers * shrink + weight.sum(keep(1));
        sum = mma(weight.to::<T>(), v, sum * shrink);
        most = next;
    }
    sum / powers
}
