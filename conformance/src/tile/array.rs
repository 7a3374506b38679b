//! Inputs of records as arrays in memory.

use girih_device::host_fits;
use girih_device::sizes::size;
use girih_tensor::DType;
use girih_tile_reference::{ArrayData, row_major};
use serde_json::Value;

use super::{Stop, json};

/// The dtype and the extents of a tile or an array.
pub(super) fn typed(input: &Value) -> Result<(DType, Vec<i64>), Stop> {
    let dtype = input.get("dtype").and_then(Value::as_str).and_then(json::dtype);
    let shape = input.get("shape").or_else(|| input.get("array_shape")).and_then(Value::as_array);
    let shape = shape.and_then(|list| list.iter().map(Value::as_i64).collect::<Option<Vec<_>>>());
    match (dtype, shape) {
        (Some(dtype), Some(shape)) => Ok((dtype, shape)),
        _ => Err(Stop::Record(format!("{input} is no tile and no array: \"dtype\" or \"shape\" is missing"))),
    }
}

/// The elements of a tile or an array in memory. What has no elements is filled with ones. A scalar is an array of one.
pub(super) fn data(input: &Value) -> Result<ArrayData, Stop> {
    let (dtype, mut shape) = typed(input)?;
    if shape.is_empty() {
        shape = vec![1];
    }
    let list = |key: &str| input.get(key).and_then(Value::as_array);
    let bits =
        |list: &[Value]| list.iter().map(|value| json::element(dtype, value)).collect::<Result<Vec<_>, _>>();
    let count = elements(&shape)?;
    if let (Some(storage), Some(strides)) = (list("storage"), list("strides")) {
        let storage = bits(storage)?;
        let strides = strides.iter().map(Value::as_i64).collect::<Option<Vec<_>>>();
        let strides = strides.ok_or_else(|| Stop::Record("strides are integers".into()))?;
        let whole = ArrayData::dense(dtype, &[storage.len() as i64], &storage);
        return Ok(ArrayData { extents: shape, strides, ..whole });
    }
    let bits = match list("data") {
        Some(list) => bits(list)?,
        None => {
            // The bits, and the bytes that become of them.
            host_fits(bytes(count, DType::U64).saturating_add(bytes(count, dtype)))?;
            vec![json::element(dtype, &Value::from(1))?; size(count)]
        }
    };
    if i64::try_from(bits.len()) != Ok(count) {
        return Err(Stop::Record(format!("{} elements for the shape {shape:?}", bits.len())));
    }
    Ok(ArrayData::dense(dtype, &shape, &bits))
}

/// An array of zeros, which the memory must have room for.
pub(super) fn zeros(dtype: DType, shape: &[i64]) -> Result<ArrayData, Stop> {
    let needed = bytes(elements(shape)?, dtype);
    host_fits(needed)?;
    Ok(ArrayData { dtype, extents: shape.to_vec(), strides: row_major(shape), bytes: vec![0; size(needed)] })
}

/// The bytes of this many elements, or all that 64 bits count.
fn bytes(elements: i64, dtype: DType) -> u64 {
    let bits = u64::try_from(elements).unwrap_or(0).saturating_mul(dtype.bits().into());
    bits.div_ceil(8)
}

/// The number of elements of an array, whose strides are numbers too.
fn elements(shape: &[i64]) -> Result<i64, Stop> {
    let farthest = shape.iter().try_fold(1i64, |size, &n| size.checked_mul(n.max(1)));
    match farthest {
        Some(size) if shape.iter().all(|&n| n > 0) => Ok(size),
        Some(_) if shape.iter().all(|&n| n >= 0) => Ok(0),
        _ => Err(Stop::Record(format!(
            "{shape:?} is no shape: extents of 0 or more are accepted, and fewer than 2^63 elements"
        ))),
    }
}
