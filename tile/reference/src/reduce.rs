//! Reductions, in the order of indices.

use std::cmp::Ordering;

use girih_tensor::DType;

use super::tile::{Tile, lines};
use super::{Block, Result};
use girih_tile::dtype::number::encode;
use girih_tile::dtype::{Category, Const, category};
use girih_tile::exact::apply;
use girih_tile::exact::convert;
use girih_tile::exact::float::decode;
use girih_tile::exact::integer;
use girih_tile::ir::table::{Each, How};
use girih_tile::ir::{Combine, Nan, Op, Rounding, Type};

/// A combination of the built-in ones, with the dtype that it computes in.
pub(super) struct Fold {
    op: Each,
    how: How,
    compute: DType,
}

impl Fold {
    /// How elements of a dtype are combined; `None` for those that are no folds of one element each.
    pub(super) fn new(combine: Combine, dtype: DType) -> Option<Fold> {
        let plain = |op| (op, Nan::Ignored);
        let (op, nan) = match combine {
            Combine::Sum => plain(Each::Add),
            Combine::Prod => plain(Each::Mul),
            Combine::Max(nan) => (Each::Max, nan),
            Combine::Min(nan) => (Each::Min, nan),
            Combine::And => plain(Each::And),
            Combine::Or => plain(Each::Or),
            Combine::Xor => plain(Each::Xor),
            Combine::ArgMax(_) | Combine::ArgMin(_) | Combine::By(()) => return None,
        };
        let wide =
            matches!(combine, Combine::Sum | Combine::Prod) && matches!(dtype, DType::F16 | DType::Bf16);
        let how = How { rounding: Rounding::Nearest, ftz: false, nan };
        Some(Fold { op, how, compute: if wide { DType::F32 } else { dtype } })
    }

    /// An element in the dtype that is computed in.
    pub(super) fn enter(&self, dtype: DType, (bits, poison): (u64, bool)) -> (u64, bool) {
        (convert(dtype, self.compute, Rounding::Nearest, bits), poison)
    }

    /// A combination in the tile's dtype.
    pub(super) fn leave(&self, dtype: DType, (bits, poison): (u64, bool)) -> (u64, bool) {
        (convert(self.compute, dtype, Rounding::Nearest, bits), poison)
    }

    /// Two combined.
    pub(super) fn join(&self, (a, bad): (u64, bool), (b, worse): (u64, bool)) -> (u64, bool) {
        match apply(self.op, self.how, self.compute, [a, b, 0]) {
            Some(bits) => (bits, bad || worse),
            None => (0, true),
        }
    }

    /// What changes nothing, in the dtype that is computed in.
    pub(super) fn identity(&self) -> (u64, bool) {
        // Of integers the nearest that the dtype has.
        let number = |x: f64| encode(self.compute, Const::Float(x));
        let bits = match (self.op, category(self.compute)) {
            (Each::Mul, _) => number(1.0),
            (Each::Max, _) => number(f64::NEG_INFINITY),
            (Each::Min, _) => number(f64::INFINITY),
            (Each::And, Category::Bool) => 1,
            (Each::And, _) => girih_tile::exact::mask(self.compute),
            _ => 0,
        };
        (bits, false)
    }
}

/// The index that a line's greatest or least element has.
fn arg(combine: Combine, dtype: DType, line: impl Iterator<Item = (u64, bool)>) -> (u64, bool) {
    let (greatest, nan) = match combine {
        Combine::ArgMax(nan) => (true, nan),
        Combine::ArgMin(nan) => (false, nan),
        _ => (true, Nan::Ignored),
    };
    let float = category(dtype) == Category::Float;
    let (mut best, mut poison): (Option<(usize, u64)>, bool) = (None, false);
    for (i, (bits, bad)) in line.enumerate() {
        poison |= bad;
        let better = match best {
            _ if float && decode(dtype, bits).is_nan() => {
                nan == Nan::Propagated && best.is_none_or(|(_, other)| !decode(dtype, other).is_nan())
            }
            None => true,
            Some((_, other)) => {
                let order = match float {
                    true => decode(dtype, bits).partial_cmp(&decode(dtype, other)),
                    false => Some(integer(dtype, bits).cmp(&integer(dtype, other))),
                };
                order == Some(if greatest { Ordering::Greater } else { Ordering::Less })
            }
        };
        if better {
            best = Some((i, bits));
        }
    }
    (best.map_or(0, |(i, _)| i as u64), poison)
}

/// Reduces tiles of one shape along an axis.
pub(super) fn reduce(block: &mut Block<'_>, op: &Op, axis: usize, combine: Combine) -> Result<Vec<Tile>> {
    let operands = block.all(&op.operands)?;
    let types: Vec<Type> = op.results.iter().map(|&value| block.func.ty(value)).collect();
    let (firsts, extent, step) = lines(operands[0].ty.dims, axis);
    let mut results: Vec<Vec<(u64, bool)>> = vec![Vec::new(); operands.len()];
    for &first in &firsts {
        let line = |tile: &Tile, i: usize| tile.at(first + i * step);
        if let [tile] = &operands[..]
            && combine != Combine::By(())
        {
            let dtype = tile.ty.dtype;
            let elements = (0..extent).map(|i| line(tile, i));
            results[0].push(match Fold::new(combine, dtype) {
                None => arg(combine, dtype, elements),
                Some(fold) => {
                    let entered = elements.map(|element| fold.enter(dtype, element));
                    let all = entered.reduce(|a, b| fold.join(a, b)).unwrap_or(fold.identity());
                    fold.leave(dtype, all)
                }
            });
            continue;
        }
        let mut all: Vec<(u64, bool)> = operands.iter().map(|tile| line(tile, 0)).collect();
        for i in 1..extent {
            let next: Vec<(u64, bool)> = operands.iter().map(|tile| line(tile, i)).collect();
            all = block.combine(op, &all, &next)?;
        }
        results.iter_mut().zip(all).for_each(|(result, element)| result.push(element));
    }
    Ok(types.into_iter().zip(results).map(|(ty, elements)| Tile::of(ty, elements)).collect())
}
