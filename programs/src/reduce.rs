//! Sums and greatest elements of rows, columns and everything.

use girih_tile::prelude::*;

/// `y[r] = sum(x[r, ..])`, `R` rows a block, `N` columns at a time.
#[kernel(crate = girih_tile)]
pub fn row_sum<const R: usize, const N: usize>(x: &Array<f32, 2>, y: &mut Array<f32, 1>) {
    let rows = bid(0);
    let mut sum = zeros::<f32>([R, N]);
    for k in 0..cdiv(x.dim(1), N) {
        sum += x.tiles([R, N]).padding(Padding::Zero).load((rows, k));
    }
    y.tiles_mut([R]).store((rows,), sum.sum(1));
}

/// `y[c] = sum(x[.., c])`, `N` columns a block, `R` rows at a time.
#[kernel(crate = girih_tile)]
pub fn column_sum<const R: usize, const N: usize>(x: &Array<f32, 2>, y: &mut Array<f32, 1>) {
    let columns = bid(0);
    let mut sum = zeros::<f32>([R, N]);
    for k in 0..cdiv(x.dim(0), R) {
        sum += x.tiles([R, N]).padding(Padding::Zero).load((k, columns));
    }
    y.tiles_mut([N]).store((columns,), sum.sum(0));
}

/// Adds the sum of all elements to `y[0]`. Blocks take tiles of `N` elements in a grid-stride loop, and add up in no fixed order.
#[kernel(crate = girih_tile)]
pub fn full_sum<const N: usize>(x: &Array<f32, 1>, y: &mut Array<f32, 1>) {
    let mut sum = zeros::<f32>([N]);
    for k in (bid(0)..cdiv(x.dim(0), N)).step_by(num_blocks(0)) {
        sum += x.tiles([N]).padding(Padding::Zero).load((k,));
    }
    y.tiles_mut([1]).atomic_add((0,), sum.sum(0).reshape([1]));
}

/// The column of the greatest element of each row, the first of equals; a row of up to `N` columns a block.
#[kernel(crate = girih_tile)]
pub fn argmax_rows<T: Num, const N: usize>(x: &Array<T, 2>, y: &mut Array<i32, 1>) {
    let row = bid(0);
    let columns = x.dim(1);
    let x = x.tiles([1, N]).load((row, 0));
    // The first column stands for what is beyond the last, and is greater than none.
    let x = where_(arange::<i32>(N) < columns, x, x.extract([0, 0], [1, 1]));
    y.tiles_mut([1]).store((row,), x.argmax(1));
}

/// `y[0] = sum(x)`, read once and the same each time: blocks take tiles of `N` elements in a grid-stride loop and leave a sum each in `parts`, which has an
/// element for each block; the last one to come adds these. Sums are of `A`. `count` is what [`last_block`] says.
#[kernel(crate = girih_tile)]
pub fn sum_all<T: Num, A: Num, const N: usize>(
    x: &Array<T, 1>,
    y: &mut Array<A, 1>,
    parts: &mut Array<A, 1>,
    count: &mut Array<u32, 1>,
) {
    let mut sum = zeros::<A>([N]);
    for k in (bid(0)..cdiv(x.dim(0), N)).step_by(num_blocks(0)) {
        sum = sum + x.tiles([N]).padding(Padding::Zero).load((k,)).to::<A>();
    }
    parts.tiles_mut([1]).memory_order(Order::Relaxed, Scope::Device).store((bid(0),), sum.sum(0));
    if last_block(count) {
        let mut sum = zeros::<A>([PARTS]);
        let parts = parts.slice(0, 0, num_blocks(0));
        for k in 0..cdiv(num_blocks(0), PARTS) {
            let parts = parts.tiles([PARTS]).padding(Padding::Zero);
            sum = sum + parts.memory_order(Order::Relaxed, Scope::Device).load((k,));
        }
        y.tiles_mut([1]).memory_order(Order::Relaxed, Scope::Device).store((0,), sum.sum(0));
    }
}

/// `y[0]` is where the greatest element of `x` is, the first of equals; NaN is passed over, and of nothing but NaN it is 0. It is read
/// once: blocks take tiles of `N` elements in a grid-stride loop and leave what they find in `most` and `places`, which have an element for each block.
/// `count` is what [`last_block`] says.
#[kernel(crate = girih_tile)]
pub fn argmax_all<T: Float, const N: usize>(
    x: &Array<T, 1>,
    y: &mut Array<i32, 1>,
    most: &mut Array<T, 1>,
    places: &mut Array<i32, 1>,
    count: &mut Array<u32, 1>,
) {
    let (tiles, blocks) = (cdiv(x.dim(0), N), num_blocks(0));
    let lowest = T::from_f64(f64::NEG_INFINITY);
    let mut best = full::<T>([N], strict(lowest));
    let mut tile = full::<i32>([N], -1);
    // From the last tile to the first, so that what is equal to a later one stands before it.
    let count_of = cdiv(tiles - bid(0), blocks);
    for turn in 0..count_of {
        let k = bid(0) + (count_of - 1 - turn) * blocks;
        let x = x.tiles([N]).padding(Padding::NegInf).load((k,));
        let better = x >= best;
        best = where_(better, x, best);
        tile = where_(better, k, tile);
    }
    let place = where_(tile < 0, i64::from(i32::MAX), tile * N as i64 + arange::<i32>(N));
    let (best, place) = first_of(best, place, lowest);
    most.tiles_mut([1]).memory_order(Order::Relaxed, Scope::Device).store((bid(0),), best);
    places.tiles_mut([1]).memory_order(Order::Relaxed, Scope::Device).store((bid(0),), place);
    if last_block(count) {
        let mut best = full::<T>([PARTS], strict(lowest));
        let mut place = full::<i32>([PARTS], i32::MAX);
        let (most, places) = (most.slice(0, 0, blocks), places.slice(0, 0, blocks));
        for k in 0..cdiv(blocks, PARTS) {
            let most =
                most.tiles([PARTS]).padding(Padding::NegInf).memory_order(Order::Relaxed, Scope::Device);
            let places =
                places.tiles([PARTS]).padding(Padding::Zero).memory_order(Order::Relaxed, Scope::Device);
            let (x, at) = (most.load((k,)), places.load((k,)));
            let inside = arange::<i32>(PARTS) < blocks - k * PARTS as i64;
            let better = inside & ((x > best) | ((x == best) & (at < place)));
            best = where_(better, x, best);
            place = where_(better, at, place);
        }
        let (_, place) = first_of(best, place, lowest);
        // What stands beyond the end, where nothing but NaN was found, is nowhere.
        let place = where_(place < x.dim(0), place, 0);
        y.tiles_mut([1]).memory_order(Order::Relaxed, Scope::Device).store((0,), place);
    }
}

/// Parts of blocks that are combined at a time.
const PARTS: usize = 512;

/// The greatest, and the least place of those that are equal to it.
#[function(crate = girih_tile)]
fn first_of<T: Float>(value: Tile<T>, place: Tile<i32>, lowest: T) -> (Scalar<T>, Scalar<i32>) {
    reduce((value, place), 0, (lowest, i32::MAX), |a, b| {
        let first = (a.0 > b.0) | ((a.0 == b.0) & (a.1 < b.1));
        (where_(first, a.0, b.0), where_(first, a.1, b.1))
    })
}
