//! Shapes, factories, bits.

use girih_tile::dtype::Const;
use girih_tile::ops::Nested;
use serde_json::Value;

use super::case::{Asked, Case, dims};
use super::record::Record;
use super::{Stop, json};

pub(super) fn answer(case: &mut Case, record: &Record<'_>) -> Result<Asked, Stop> {
    if record.group == "factory" {
        return factory(case, record);
    }
    let value = case.value(record, 0)?;
    Ok(Asked::Tile(match record.op {
        "reshape" => case.b.reshape(value, &record.ints("shape")?)?,
        "permute" => case.b.permute(value, &record.ints("axes")?)?,
        "transpose" => {
            let axes = match record.attr("axes") {
                None => None,
                Some(_) => match record.ints("axes")?[..] {
                    [a, b] => Some((a, b)),
                    _ => return Err(Stop::Record("`transpose` has two axes".into())),
                },
            };
            case.b.transpose(value, axes)?
        }
        "expand_dims" => case.b.expand_dims(value, record.int("axis")?)?,
        "cat" => {
            let other = case.value(record, 1)?;
            case.b.cat(value, other, record.int("axis")?)?
        }
        "flip" => case.b.flip(value, record.int("axis")?)?,
        "extract" => case.b.extract(value, &record.ints("index")?, dims(&record.ints("shape")?)?)?,
        "insert" => {
            let part = case.value(record, 1)?;
            case.b.insert(value, &record.ints("index")?, part)?
        }
        "bitcast" => case.b.bitcast(value, record.dtype()?)?,
        "pack_to_bytes" => case.b.pack_to_bytes(value)?,
        "unpack_from_bytes" => case.b.unpack_from_bytes(value, record.dtype()?)?,
        _ => return Err(Stop::Unsupported),
    }))
}

fn factory(case: &mut Case, record: &Record<'_>) -> Result<Asked, Stop> {
    let dtype = record.dtype()?;
    Ok(Asked::Tile(match record.op {
        "arange" => {
            let (start, step) = (record.constant("start")?, record.constant("step")?);
            case.b.arange(dtype, record.int("size")?, start, step)?
        }
        "full" => case.b.filled(dtype, &record.ints("shape")?, record.constant("value")?)?,
        "zeros" => case.b.filled(dtype, &record.ints("shape")?, Const::Int(0))?,
        "ones" => case.b.filled(dtype, &record.ints("shape")?, Const::Int(1))?,
        "iota" => case.b.iota(dtype, &record.ints("shape")?)?,
        "astile" => {
            let value = record.attr("value").ok_or_else(|| Stop::Record("`astile` has no value".into()))?;
            case.b.tile_of(dtype, &nested(value)?)?
        }
        _ => return Err(Stop::Unsupported),
    }))
}

fn nested(value: &Value) -> Result<Nested, Stop> {
    Ok(match value {
        Value::Array(list) => Nested::Many(list.iter().map(nested).collect::<Result<_, _>>()?),
        one => Nested::One(json::constant(one)?),
    })
}
