//! Products of matrices.

use std::ops::{Add, Mul};

use super::tile::Tile;
use girih_tensor::DType;
use girih_tile::exact::float::encode;
use girih_tile::exact::{integer, mask, number};
use girih_tile::ir::Rounding;

/// `a * b + acc`, of matrices or of batches of them.
pub(super) fn mma(a: &Tile, b: &Tile, acc: &Tile) -> Tile {
    let dtype = acc.ty.dtype;
    let bits: Vec<u64> = if dtype.is_integer() {
        sums(a, b, acc, integer).into_iter().map(|sum| sum as u64 & mask(dtype)).collect()
    } else {
        sums(a, b, acc, number).into_iter().map(|sum| encode(dtype, sum, Rounding::Nearest)).collect()
    };
    if [a, b, acc].iter().all(|tile| tile.poison.is_none()) {
        return Tile::new(acc.ty, bits);
    }
    let [m, k, n] = extents(a, acc);
    let poison = |at: usize| {
        let (row, batch, column) = (at / n, at / (m * n), at % n);
        acc.at(at).1 || (0..k).any(|i| a.at(row * k + i).1 || b.at((batch * k + i) * n + column).1)
    };
    Tile::of(acc.ty, bits.into_iter().enumerate().map(|(at, bits)| (bits, poison(at))))
}

/// The extents of one product: M, K and N.
fn extents(a: &Tile, acc: &Tile) -> [usize; 3] {
    let extent = |tile: &Tile, back: usize| tile.ty.dims[tile.ty.dims.rank() - back] as usize;
    [extent(acc, 2), extent(a, 1), extent(acc, 1)]
}

/// The elements of the sum as numbers: each adds to the accumulator's one product after the other along K.
fn sums<T: Copy + Add<Output = T> + Mul<Output = T>>(
    a: &Tile,
    b: &Tile,
    acc: &Tile,
    number: fn(DType, u64) -> T,
) -> Vec<T> {
    let [m, k, n] = extents(a, acc);
    let [a, b, mut sums] =
        [a, b, acc].map(|tile| tile.bits.iter().map(|&bits| number(tile.ty.dtype, bits)).collect::<Vec<_>>());
    for (row, sums) in sums.chunks_mut(n.max(1)).enumerate() {
        for i in 0..k {
            let (left, right) = (a[row * k + i], &b[(row / m * k + i) * n..][..n]);
            sums.iter_mut().zip(right).for_each(|(sum, &right)| *sum = *sum + left * right);
        }
    }
    sums
}
