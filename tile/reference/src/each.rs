//! Functions element by element.

use girih_tensor::DType;
use girih_tile::exact::{apply, convert, mask};
use girih_tile::ir::table::{Each, How};
use girih_tile::ir::{Kind, Overflow, Rounding, Type};

use super::tile::Tile;

/// Applies a function of [`Kind::Each`] to tiles of one shape. Other kinds give `None`.
pub(super) fn tiles(kind: &Kind, operands: &[&Tile], result: Type) -> Option<Tile> {
    let &Kind::Each { op, rounding, ftz, nan, overflow } = kind else { return None };
    let how = How { rounding, ftz, nan };
    let dtype = operands.last()?.ty.dtype;
    let size = result.dims.size() as usize;
    let elements = (0..size).map(|i| {
        if op == Each::Select {
            let (cond, poison) = operands[0].at(i);
            let (value, other) = operands[if cond != 0 { 1 } else { 2 }].at(i);
            return (value, poison || other);
        }
        let mut args = [0; 3];
        let mut poison = false;
        for (arg, operand) in args.iter_mut().zip(operands) {
            let (bits, bad) = operand.at(i);
            *arg = bits;
            poison |= bad;
        }
        match apply(op, how, dtype, args) {
            Some(bits) => (bits, poison || broken(op, overflow, dtype, args)),
            None => (0, true),
        }
    });
    Some(Tile::of(result, elements))
}

/// Whether a promise about overflow does not hold.
fn broken(op: Each, overflow: Overflow, dtype: DType, args: [u64; 3]) -> bool {
    let bits = dtype.bits();
    let beyond = |signed: bool| {
        let number = |bits_of: u64| match signed {
            true => i128::from((bits_of << (64 - bits)) as i64 >> (64 - bits)),
            false => i128::from(bits_of & mask(dtype)),
        };
        let (a, b) = (number(args[0]), number(args[1]));
        let exact = match op {
            Each::Add => a.checked_add(b),
            Each::Sub => a.checked_sub(b),
            Each::Mul => a.checked_mul(b),
            // Beyond the width as the width.
            Each::Shl => Some(a << args[1].min(u64::from(bits)) as u32),
            _ => return false,
        };
        let range = match signed {
            true => -(1i128 << (bits - 1))..1 << (bits - 1),
            false => 0..1 << bits,
        };
        !exact.is_some_and(|exact| range.contains(&exact))
    };
    match overflow {
        Overflow::Wraps => false,
        Overflow::NoSigned => beyond(true),
        Overflow::NoUnsigned => beyond(false),
        Overflow::Never => beyond(true) || beyond(false),
    }
}

/// Converts a tile to the result's dtype.
pub(super) fn cast(operand: &Tile, rounding: Rounding, result: Type) -> Tile {
    let from = operand.ty.dtype;
    let elements =
        operand.elements().map(|(bits, poison)| (convert(from, result.dtype, rounding, bits), poison));
    Tile::of(result, elements)
}
