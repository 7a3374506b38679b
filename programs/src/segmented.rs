//! Sums of segments of any length.

use girih_tile::prelude::*;

/// Numbers that a search for a place among offsets looks at at a time: a million are searched by two looks.
const PROBES: usize = 1024;
/// Offsets that are read at a time.
const OFFSETS: usize = 256;

/// `y[s] = sum(x[offsets[s]..offsets[s + 1]])`, in one launch: a block for every `N` elements of `x`, however segments are in them, so that
/// long ones and empty ones cost no more than others. `offsets` has an element more than `y`, does not fall, and is at most the length of
/// `x`; sums are of `A`, a type of 32 bits. `state` is what [`Turn`] says, `W` how many turns a look back has.
#[kernel(crate = girih_tile)]
pub fn segment_sum<T: Num, A: Num, const N: usize, const W: usize>(
    x: &Array<T, 1>,
    offsets: &Array<i32, 1>,
    y: &mut Array<A, 1>,
    state: &mut Array<u64, 1>,
) {
    let turn = Turn::take(state);
    let tile = turn.number();
    let (start, length) = (tile * N as i64, N as i64);
    let is_last = tile == num_blocks(0) - 1;
    // It comes while places are searched.
    let loaded = x.tiles([N]).padding(Padding::Zero).load((tile,));
    // How many segments begin at an element, and end after it, by the offsets from the first element to after the last.
    let end = start + length + 1;
    let from = from_on(offsets, scalar::<i32>(0), start);
    let mut to = from + counted(offsets, from, scalar::<i32>(1), end);
    if to == from + PROBES as i64 {
        to = from_on(offsets, to, end);
    }
    let mut begins = zeros::<i32>([N]);
    let mut ends = zeros::<i32>([N]);
    for k in 0..cdiv(to - from, OFFSETS) {
        let s = from + k * OFFSETS as i64 + arange::<i32>(OFFSETS);
        let at = where_(s < to, offsets.gather((s,)) - start, -1);
        begins += at.histogram(N);
        ends += (at - 1).histogram(N);
        let next = offsets.elements().padding(-1).gather((s + 1,)) - start;
        let empty = (at >= 0) & (at == next) & ((at < length) | is_last);
        y.elements_mut().mask(empty).scatter((s,), zeros::<A>([OFFSETS]));
    }

    let zero = A::from_f64(0.0);
    let (segment, sum) = scan((begins, loaded.to::<A>()), 0, (0, zero), Scan::default(), |left, right| {
        (left.0 + right.0, where_(right.0 > 0, right.1, left.1 + right.1))
    });
    let last = [(N - 1) as i64];
    let anew = segment.extract(last, [1]).reshape(()) > 0;
    let own = sum.extract(last, [1]).reshape(());
    let before = turn.since(state, own, anew, zero, W, |left, right| left + right);
    let sum = where_(segment > 0, sum, before + sum);
    #[expect(unsafe_code, reason = "where segments end is known at run time")]
    // SAFETY: a block stores the segments whose last elements it has, and empty ones that lie before an element that it has.
    let y = unsafe { y.elements_mut().assume_disjoint("a segment ends in one block's elements") };
    y.mask(ends > 0).scatter((from - 1 + segment,), sum);
}

/// How many of the offsets at `PROBES` places, `step` apart, are below a number.
#[function(crate = girih_tile)]
fn counted(
    offsets: &Array<i32, 1>,
    from: Scalar<i32>,
    step: Scalar<i32>,
    number: Scalar<i32>,
) -> Scalar<i32> {
    let places = from + arange::<i32>(PROBES) * step;
    ((places < offsets.dim(0)) & (offsets.gather((places,)) < number)).sum(0)
}

/// The place of the first offset from a place on that is not below a number.
#[function(crate = girih_tile)]
fn from_on(offsets: &Array<i32, 1>, first: Scalar<i32>, number: Scalar<i32>) -> Scalar<i32> {
    let (mut from, mut to) = (first, offsets.dim(0));
    while from < to {
        let step = cdiv(to - from, PROBES);
        let count = counted(offsets, from, step, number);
        let next = from + count * step;
        from = where_(count == 0, from, next - step + 1);
        to = minimum(to, next);
    }
    from
}
