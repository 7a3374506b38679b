//! Rearrangements: elements go to other places.

use super::tile::{Tile, coordinates, position};
use girih_tile::exact::mask;
use girih_tile::ir::{Kind, Type};

/// The result of an operation that rearranges elements; `None` for other kinds.
pub(super) fn rearrange(kind: &Kind, operands: &[&Tile], result: Type) -> Option<Tile> {
    let &operand = operands.first()?;
    let from = operand.ty.dims;
    Some(match kind {
        Kind::Reshape | Kind::Bitcast | Kind::Convert => operand.with(result),
        Kind::Broadcast => pick(result, |at| {
            let at: Vec<u32> =
                at.iter().zip(from.iter()).map(|(&i, &n)| if n == 1 { 0 } else { i }).collect();
            operand.at(position(&from, &at))
        }),
        Kind::Permute(axes) => pick(result, |at| {
            let mut source = vec![0; at.len()];
            axes.iter().zip(at).for_each(|(&axis, &i)| source[axis as usize] = i);
            operand.at(position(&from, &source))
        }),
        Kind::Extract(start) => pick(result, |at| {
            let at: Vec<u32> = at.iter().zip(start.iter()).map(|(i, start)| i + start).collect();
            operand.at(position(&from, &at))
        }),
        Kind::Insert(start) => {
            let part = operands.get(1)?;
            pick(result, |at| {
                let inside = at.iter().zip(start.iter()).zip(part.ty.dims.iter());
                let there: Option<Vec<u32>> =
                    inside.map(|((i, start), &n)| i.checked_sub(*start).filter(|&i| i < n)).collect();
                match there {
                    Some(there) => part.at(position(&part.ty.dims, &there)),
                    None => operand.at(position(&from, at)),
                }
            })
        }
        &Kind::Cat(axis) => {
            let (axis, second) = (usize::from(axis), operands.get(1)?);
            pick(result, |at| match at[axis].checked_sub(from[axis]) {
                None => operand.at(position(&from, at)),
                Some(i) => {
                    let mut at = at.to_vec();
                    at[axis] = i;
                    second.at(position(&second.ty.dims, &at))
                }
            })
        }
        &Kind::Flip(axis) => pick(result, |at| {
            let mut at = at.to_vec();
            at[usize::from(axis)] = from[usize::from(axis)] - 1 - at[usize::from(axis)];
            operand.at(position(&from, &at))
        }),
        Kind::Pack => {
            let bytes = operand.ty.dtype.bits() / 8;
            let elements = operand.elements();
            Tile::of(
                result,
                elements.flat_map(|(bits, poison)| (0..bytes).map(move |i| (bits >> (8 * i) & 0xff, poison))),
            )
        }
        Kind::Unpack => {
            let bytes = result.dtype.bits() as usize / 8;
            Tile::of(
                result,
                (0..result.dims.size() as usize).map(|i| {
                    let parts = (0..bytes).map(|k| operand.at(bytes * i + k));
                    let joined = parts.enumerate().fold((0, false), |(sum, bad), (k, (byte, poison))| {
                        (sum | byte << (8 * k), bad || poison)
                    });
                    (joined.0 & mask(result.dtype), joined.1)
                }),
            )
        }
        _ => return None,
    })
}

fn pick(result: Type, element: impl Fn(&[u32]) -> (u64, bool)) -> Tile {
    let mut elements = Vec::new();
    coordinates(&result.dims, |at| elements.push(element(at)));
    Tile::of(result, elements)
}
