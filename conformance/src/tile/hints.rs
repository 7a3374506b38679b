//! Hints, and what is decided while a kernel is built.

use girih_tensor::DType;
use girih_tile::dtype::Const;
use girih_tile::hints::{self, Construct, Hint, Hints};
use girih_tile::ops::Arg;
use serde_json::Value;

use super::Stop;
use super::case::{Asked, Case};
use super::record::Record;

pub(super) fn answer(case: &mut Case, record: &Record<'_>) -> Result<Asked, Stop> {
    match record.op {
        "hint_value" => {
            let name = record.text("hint")?;
            let hint =
                Hint::named(name).ok_or_else(|| Stop::Record(format!("no hint is called {name:?}")))?;
            let arch = record.attr("arch").and_then(Value::as_str).map(hints::arch).transpose()?;
            hint.check(record.int("value")?, arch)?;
        }
        "arch_key" => {
            hints::arch(record.text("key")?)?;
        }
        "by_target_resolve" => return resolve(record),
        "allow_tma_accepted" => {
            let on = record.text("on")?;
            let construct = Construct::ALL.iter().copied().find(|construct| construct.name() == on);
            Hint::AllowTma.check_on(construct.ok_or(Stop::Unsupported)?)?;
        }
        "static_assert_true" => case.b.static_assert(true, "holds")?,
        "static_assert_false" => case.b.static_assert(false, "does not hold")?,
        "shape_from_constant" => {
            let extent = case.b.extent(Arg::Loose(Const::Int(8)))?;
            let value = case.b.filled(DType::F32, &[extent], Const::Int(0))?;
            return Ok(Asked::Tile(value)).map(|_| Asked::Accepted);
        }
        "shape_from_runtime_value" => {
            let block = case.b.bid(0)?;
            let extent = case.b.extent(block.into())?;
            case.b.filled(DType::F32, &[extent], Const::Int(0))?;
        }
        "bid_axis_3" => {
            case.b.bid(3)?;
        }
        "tile_item_assignment" => return Err(Stop::Unwritten("tile_item_assignment")),
        _ => return Err(Stop::Unsupported),
    }
    Ok(Asked::Accepted)
}

/// What a table of values by architecture says for one.
fn resolve(record: &Record<'_>) -> Result<Asked, Stop> {
    let table = record.attr("table").and_then(Value::as_object);
    let table = table.ok_or_else(|| Stop::Record("`by_target_resolve` has a table".into()))?;
    let mut hints = Hints::default();
    for (key, value) in table {
        let value = value.as_i64().ok_or_else(|| Stop::Record("values of hints are integers".into()))?;
        hints.set((key != "default").then_some(key.as_str()), Hint::Occupancy, value)?;
    }
    let found = hints.resolve(hints::arch(record.text("arch")?)?).occupancy;
    Ok(Asked::Known(vec![found.map(i64::from)]))
}
