//! Order along an axis, and counts of numbers.

use std::cmp::Ordering;

use super::tile::{Tile, lines};
use girih_tile::dtype::{Category, category};
use girih_tile::exact::float::decode;
use girih_tile::exact::integer;
use girih_tile::ir::Type;

/// Sorts tiles along an axis by the first. A line with an undetermined key is undetermined.
pub(super) fn sort(operands: &[&Tile], axis: usize, descending: bool) -> Vec<Tile> {
    let key = operands[0];
    let dtype = key.ty.dtype;
    let (firsts, extent, step) = lines(key.ty.dims, axis);
    let mut results: Vec<Vec<(u64, bool)>> = operands.iter().map(|tile| tile.elements().collect()).collect();
    for first in firsts {
        let at: Vec<usize> = (0..extent).map(|i| first + i * step).collect();
        let poison = at.iter().any(|&i| key.at(i).1);
        let mut order = at.clone();
        order.sort_by(|&i, &j| compare(dtype, key.bits[i], key.bits[j], descending));
        for (tile, result) in operands.iter().zip(&mut results) {
            for (&to, &from) in at.iter().zip(&order) {
                let (bits, bad) = tile.at(from);
                result[to] = (bits, bad || poison);
            }
        }
    }
    operands.iter().zip(results).map(|(tile, elements)| Tile::of(tile.ty, elements)).collect()
}

fn compare(dtype: girih_tensor::DType, a: u64, b: u64, descending: bool) -> Ordering {
    let turned = |order: Ordering| if descending { order.reverse() } else { order };
    if category(dtype) != Category::Float {
        return turned(integer(dtype, a).cmp(&integer(dtype, b)));
    }
    let (x, y) = (decode(dtype, a), decode(dtype, b));
    match x.partial_cmp(&y) {
        Some(order) => turned(order),
        None => x.is_nan().cmp(&y.is_nan()),
    }
}

/// Counts of the numbers `0..n` in a tile of integers.
pub(super) fn histogram(operand: &Tile, result: Type) -> Tile {
    let mut counts = vec![0u64; result.dims.size() as usize];
    let mut poison = false;
    for (bits, bad) in operand.elements() {
        poison |= bad;
        if let Some(count) =
            usize::try_from(integer(operand.ty.dtype, bits)).ok().and_then(|i| counts.get_mut(i))
        {
            *count += 1;
        }
    }
    Tile::of(result, counts.into_iter().map(|count| (count, poison)))
}
