//! Loads, stores, views, gathers, scatters, atomic operations.

use girih_tensor::DType;
use girih_tile::dtype::Const;
use girih_tile::ir::{ArrayId, Rmw, Value};
use girih_tile::ops::indexed::{Along, Elements};
use girih_tile::ops::memory::Tiles;
use girih_tile::ops::table::Each;
use girih_tile::ops::{Arg, Mode};

use super::case::{Asked, Case, dims};
use super::record::Record;
use super::{Stop, array};

pub(super) fn answer(case: &mut Case, record: &Record<'_>) -> Result<Asked, Stop> {
    match record.op {
        "load" | "tiled_view_load" => {
            let array = case.input_array(record, 0, false)?;
            let tiles = tiles(record, array)?;
            Ok(Asked::Tile(case.b.load(&tiles, &index(record)?)?))
        }
        "array_slice_load" => {
            let array = case.input_array(record, 0, false)?;
            let shape = record.ints("tile_shape")?;
            // Parameters come before parts of arrays.
            let (dtype, _) = array::typed(record.input(0)?)?;
            let result = case.array(array::zeros(dtype, &shape)?, true);
            let (start, stop) = (number(record.int("start")?), number(record.int("stop")?));
            let part = case.b.array_slice(array, record.int("axis")?, start, stop)?;
            let value = case.b.load(&tiles(record, part)?, &index(record)?)?;
            case.b.store(&Tiles::new(result, dims(&shape)?), &vec![number(0); shape.len()], value.into())?;
            Ok(Asked::Array(result))
        }
        "store" => {
            let array = case.input_array(record, 0, true)?;
            let value = case.operand(record, 1)?;
            let (_, shape) = array::typed(record.input(1)?)?;
            let tiles = Tiles { axes: axes(record, shape.len())?, ..Tiles::new(array, dims(&shape)?) };
            case.b.store(&tiles, &index(record)?, value)?;
            Ok(Asked::Array(array))
        }
        "num_tiles" => {
            let array = case.input_array(record, 0, false)?;
            let tiles = tiles(record, array)?;
            let counts = (0..tiles.tile.rank()).map(|axis| case.b.num_tiles(&tiles, axis as i64));
            Ok(Asked::Integers(counts.collect::<Result<_, _>>()?))
        }
        "ceil_div" => {
            let strict = |key| Ok::<Arg, Stop>(Arg::Strict(DType::S32, Const::Int(record.int(key)?.into())));
            let value = case.b.each(Each::CeilDiv, &[strict("x")?, strict("y")?], Mode::default())?;
            Ok(Asked::Integers(vec![value]))
        }
        "gather" => {
            let array = case.input_array(record, 0, false)?;
            let count = count(record, "indices")?;
            let indices = (1..=count).map(|i| case.operand(record, i)).collect::<Result<Vec<_>, _>>()?;
            let mask = record.truth("mask").then(|| case.operand(record, count + 1)).transpose()?;
            let padding =
                record.attr("padding_value").map(|_| record.constant("padding_value")).transpose()?;
            let value = case.b.gather(&elements(record, array)?, &indices, mask, padding.map(Arg::Loose))?;
            Ok(Asked::Tile(value))
        }
        "scatter" => {
            let array = case.input_array(record, 0, true)?;
            let count = count(record, "indices")?;
            let indices = (1..=count).map(|i| case.operand(record, i)).collect::<Result<Vec<_>, _>>()?;
            let value = case.operand(record, count + 1)?;
            let mask = record.truth("mask").then(|| case.operand(record, count + 2)).transpose()?;
            case.b.scatter(&elements(record, array)?, &indices, value, mask)?;
            Ok(Asked::Array(array))
        }
        "load_rows" => load_rows(case, record),
        "atomic_order_scope" => order_scope(case, record),
        name => match name.strip_prefix("view_") {
            Some(name) => {
                let rmw = rmw(name)?;
                let array = case.input_array(record, 0, true)?;
                let update = case.operand(record, 1)?;
                case.b.atomic_tile(rmw, &tiles(record, array)?, &index(record)?, update)?;
                Ok(Asked::Array(array))
            }
            None => {
                let contended = name.strip_suffix("_contended");
                let rmw = rmw(contended.unwrap_or(name))?;
                let array = case.input_array(record, 0, true)?;
                let place = case.operand(record, 1)?;
                let expected = (rmw == Rmw::Cas).then(|| case.operand(record, 2)).transpose()?;
                let update = case.operand(record, if rmw == Rmw::Cas { 3 } else { 2 })?;
                let old = case.b.atomic(rmw, &elements(record, array)?, &[place], expected, update, None)?;
                Ok(match contended {
                    Some(_) => Asked::Multiset(array, old),
                    None => Asked::Returned(array, old),
                })
            }
        },
    }
}

fn number(n: i64) -> Arg {
    Arg::Loose(Const::Int(n.into()))
}

fn count(record: &Record<'_>, key: &str) -> Result<usize, Stop> {
    usize::try_from(record.int(key)?).map_err(|_| Stop::Record(format!("\"{key}\" is negative")))
}

fn index(record: &Record<'_>) -> Result<Vec<Arg>, Stop> {
    Ok(record.ints("index")?.into_iter().map(number).collect())
}

/// The axes of a view, where it has another order than the array.
fn axes(record: &Record<'_>, rank: usize) -> Result<Option<girih_tile::ir::Dims>, Stop> {
    match record.attr("order") {
        Some(_) if rank > 0 => Ok(Some(dims(&record.ints("order")?)?)),
        _ => Ok(None),
    }
}

fn tiles(record: &Record<'_>, array: ArrayId) -> Result<Tiles, Stop> {
    let shape = record.ints("tile_shape")?;
    let steps = record.attr("traversal_steps").map(|_| record.ints("traversal_steps")).transpose()?;
    Ok(Tiles {
        axes: axes(record, shape.len())?,
        steps: steps.map(|steps| dims(&steps)).transpose()?,
        padding: record.padding()?,
        ..Tiles::new(array, dims(&shape)?)
    })
}

fn elements(record: &Record<'_>, array: ArrayId) -> Result<Elements, Stop> {
    Ok(Elements { order: record.order()?, scope: record.scope()?, ..Elements::new(array) })
}

fn rmw(name: &str) -> Result<Rmw, Stop> {
    let all = [Rmw::Add, Rmw::Min, Rmw::Max, Rmw::And, Rmw::Or, Rmw::Xor, Rmw::Xchg, Rmw::Cas];
    all.into_iter().find(|rmw| rmw.name() == name).ok_or(Stop::Unsupported)
}

fn load_rows(case: &mut Case, record: &Record<'_>) -> Result<Asked, Stop> {
    let array = case.input_array(record, 0, false)?;
    let rows = case.operand(record, 1)?;
    let start = number(record.int("dense_start")?);
    let len = count(record, "dense_len")?;
    let count =
        u32::try_from(len).map_err(|_| Stop::Record(format!("\"dense_len\" is {len}: at most 2^32 - 1")))?;
    let span = Along::Span { start, count };
    let along = match record.int("sparse_axis")? {
        0 => [Along::Rows(rows), span],
        _ => [span, Along::Rows(rows)],
    };
    Ok(Asked::Tile(case.b.load_rows(&Elements::new(array), &along, None)?))
}

/// An access that has an order and a scope, to a small array.
fn order_scope(case: &mut Case, record: &Record<'_>) -> Result<Asked, Stop> {
    let op = record.text("op")?;
    let array = case.array(array::zeros(DType::S32, &[4])?, op != "load");
    let (order, scope) = (record.order()?, record.scope()?);
    let one: Value = case.b.filled(DType::S32, &[4], Const::Int(1))?;
    let tiles = Tiles { order: order.unwrap_or_default(), scope, ..Tiles::new(array, dims(&[4])?) };
    match op {
        "load" => return Ok(Asked::Tile(case.b.load(&tiles, &[number(0)])?)).map(|_| Asked::Accepted),
        "store" => case.b.store(&tiles, &[number(0)], one.into())?,
        name => {
            let at = Elements { order, scope, ..Elements::new(array) };
            let places = case.b.arange(DType::S32, 4, Const::Int(0), Const::Int(1))?;
            case.b.atomic(rmw(name)?, &at, &[places.into()], None, one.into(), None)?;
        }
    }
    Ok(Asked::Accepted)
}
