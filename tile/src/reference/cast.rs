//! Conversions between dtypes.

use girih_tensor::DType;

use super::float::{self, Exact};
use super::tile::{Tile, integer, mask};
use crate::dtype::is_integer;
use crate::dtype::number::saturated;
use crate::fit;
use crate::ir::{Rounding, Type};

/// Converts a tile to the result's dtype.
pub(super) fn cast(operand: &Tile, rounding: Rounding, result: Type) -> Tile {
    let from = operand.ty.dtype;
    let elements =
        operand.elements().map(|(bits, poison)| (convert(from, result.dtype, rounding, bits), poison));
    Tile::of(result, elements)
}

/// The bits of an element in another dtype: floats are rounded, floats become integers toward zero and within what the dtype has (NaN
/// becomes 0), integers wrap, bool is `!= 0`.
pub fn convert(from: DType, to: DType, rounding: Rounding, bits: u64) -> u64 {
    let whole = is_integer(from) || from == DType::Bool;
    if to == DType::Bool {
        return u64::from(if whole { integer(from, bits) != 0 } else { float::decode(from, bits) != 0.0 });
    }
    match (whole, is_integer(to)) {
        (true, true) => fit::wrapped(integer(from, bits)) & mask(to),
        (true, false) => Exact::integer(integer(from, bits)).round(to, rounding),
        (false, true) => fit::wrapped(saturated(to, float::decode(from, bits))) & mask(to),
        (false, false) => float::encode(to, float::decode(from, bits), rounding),
    }
}
