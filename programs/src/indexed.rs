//! Accesses by index.

use girih_tile::prelude::*;

/// `y[i, ..] = x[rows[i], ..]`, `R` rows and `N` columns a block.
#[kernel(crate = girih_tile)]
pub fn gather_rows<T: Elem + StoreTo<T>, const R: usize, const N: usize>(
    x: &Array<T, 2>,
    rows: &Array<i32, 1>,
    y: &mut Array<T, 2>,
) {
    let (i, j) = (bid(0), bid(1));
    let from = rows.tiles([R]).padding(Padding::Zero).load((i,));
    y.tiles_mut([R, N]).store((i, j), x.load_rows((from, span(j * N as i64, N))));
}

/// Adds to `counts[b]` how often `b` is in `x`, a number from 0 to `BINS` - 1. Blocks take tiles of `N` elements in a grid-stride loop, and count in
/// shared memory until they have no more.
#[kernel(crate = girih_tile)]
pub fn histogram<const N: usize, const BINS: usize>(x: &Array<u8, 1>, counts: &mut Array<i32, 1>) {
    let mut found = zeros::<i32>([BINS]);
    let elements = x.dim(0);
    let whole = floordiv(elements, N as i64);
    for k in (bid(0)..whole).step_by(num_blocks(0)) {
        found += x.tiles([N]).load((k,)).histogram(BINS);
    }
    if (bid(0) == num_blocks(0) - 1) & (elements > whole * N as i64) {
        let inside = arange::<i32>(N) < elements - whole * N as i64;
        found += where_(inside, x.tiles([N]).load((whole,)).to::<i32>(), -1).histogram(BINS);
    }
    counts.tiles_mut([BINS]).atomic_add((0,), found);
}
