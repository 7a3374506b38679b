//! Products of matrices.

use super::tile::Tile;
use girih_tile::exact::float::encode;
use girih_tile::exact::{integer, mask, number};
use girih_tile::ir::Rounding;

/// `a * b + acc`, of matrices or of batches of them.
pub(super) fn mma(a: &Tile, b: &Tile, acc: &Tile) -> Tile {
    let extent = |tile: &Tile, back: usize| tile.ty.dims[tile.ty.dims.rank() - back] as usize;
    let (m, k, n) = (extent(acc, 2), extent(a, 1), extent(acc, 1));
    let dtype = acc.ty.dtype;
    let [x, y] = [a, b].map(|tile| tile.elements().collect::<Vec<_>>());
    let elements = acc.elements().enumerate().map(|(at, (start, mut poison))| {
        let (batch, row, column) = (at / (m * n), at / n % m, at % n);
        let pairs = (0..k).map(|i| (x[(batch * m + row) * k + i], y[(batch * k + i) * n + column]));
        let pairs: Vec<_> = pairs.collect();
        poison |= pairs.iter().any(|((_, left), (_, right))| *left || *right);
        let bits = if dtype.is_integer() {
            let product = |&((p, _), (q, _)): &((u64, bool), (u64, bool))| {
                integer(a.ty.dtype, p) * integer(b.ty.dtype, q)
            };
            (integer(dtype, start) + pairs.iter().map(product).sum::<i128>()) as u64 & mask(dtype)
        } else {
            let product = |&((p, _), (q, _)): &((u64, bool), (u64, bool))| {
                number(a.ty.dtype, p) * number(b.ty.dtype, q)
            };
            encode(
                dtype,
                pairs.iter().map(product).fold(number(dtype, start), |sum, p| sum + p),
                Rounding::Nearest,
            )
        };
        (bits, poison)
    });
    Tile::of(acc.ty, elements)
}
