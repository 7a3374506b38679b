//! Reductions, scans, order along an axis.

use girih_tile::error::Fault;
use girih_tile::ir::{Build, RegionId, Value};
use girih_tile::ops::table::Each;
use girih_tile::ops::{Axes, Mode, Reduce, Reduction, Running, Scan};

use super::Stop;
use super::case::{Asked, Case};
use super::record::Record;

pub(super) fn answer(case: &mut Case, record: &Record<'_>) -> Result<Asked, Stop> {
    let values =
        (0..record.inputs.len()).map(|i| case.value(record, i)).collect::<Result<Vec<Value>, Stop>>()?;
    let Some(&value) = values.first() else {
        return Err(Stop::Record(format!("`{}` without an input", record.op)));
    };
    let how = Reduce { keepdims: record.truth("keepdims"), nan: record.nan() };
    let scan =
        Scan { reverse: record.truth("reverse"), exclusive: record.truth("exclusive"), nan: record.nan() };
    let one = || if record.attr("axis").is_some() { record.int("axis") } else { Ok(0) };
    if let Some(&op) = Reduction::ALL.iter().find(|op| op.name() == record.op) {
        let axes = match record.attr("axis") {
            None => Axes::All,
            Some(axis) if axis.is_array() => Axes::Many(record.ints("axis")?),
            Some(_) => Axes::One(record.int("axis")?),
        };
        return Ok(Asked::Tile(case.b.reduce(op, value, &axes, how)?));
    }
    if let Some(&op) = Running::ALL.iter().find(|op| op.name() == record.op) {
        return Ok(Asked::Tile(case.b.scan(op, value, one()?, scan)?));
    }
    let axis = one()?;
    let found = match record.op {
        "reduce" => {
            let region = combination(&mut case.b, record.text("func")?, &values)?;
            case.b.reduce_by(&values, axis, &record.constants("identity")?, region, how)?
        }
        "scan" => {
            let region = combination(&mut case.b, record.text("func")?, &values)?;
            case.b.scan_by(&values, axis, &record.constants("identity")?, region, scan)?
        }
        "sort" => case.b.sort(&values, axis, record.truth("descending"))?,
        "argsort" => vec![case.b.argsort(value, axis, record.truth("descending"))?],
        "top_k" => {
            let k = u32::try_from(record.int("k")?).unwrap_or(0);
            let (values, positions) = case.b.top_k(value, k, axis, record.truth("smallest"))?;
            vec![values, positions]
        }
        "histogram" => vec![case.b.histogram(value, record.int("bins")?)?],
        _ => return Err(Stop::Unsupported),
    };
    Ok(match found[..] {
        [one] => Asked::Tile(one),
        _ => Asked::Tiles(found),
    })
}

/// The combination of a name.
fn combination(b: &mut Build, name: &str, values: &[Value]) -> Result<RegionId, Stop> {
    let (left, right) = b.open_combine(values);
    let results = combined(b, name, &left, &right);
    // The region is closed before a fault is reported.
    let region = b.close_combine(values, results.as_deref().unwrap_or(&left));
    match results {
        Ok(_) => Ok(region?),
        Err(fault) => Err(fault),
    }
}

fn combined(b: &mut Build, name: &str, left: &[Value], right: &[Value]) -> Result<Vec<Value>, Stop> {
    let mut each = |op, args: &[Value]| -> Result<Value, Fault> {
        b.each(op, &args.iter().map(|&value| value.into()).collect::<Vec<_>>(), Mode::default())
    };
    Ok(match (name, left, right) {
        ("xor", &[a], &[b]) => vec![each(Each::Xor, &[a, b])?],
        ("max", &[a], &[b]) => vec![each(Each::Max, &[a, b])?],
        ("add", &[a], &[b]) => vec![each(Each::Add, &[a, b])?],
        _ if name.starts_with("argmax_pair") => {
            let (&[x, i], &[y, j]) = (left, right) else { return Err(pairs(name)) };
            let (greater, equal, before) =
                (each(Each::Greater, &[x, y])?, each(Each::Equal, &[x, y])?, each(Each::Less, &[i, j])?);
            let tie = each(Each::And, &[equal, before])?;
            let first = each(Each::Or, &[greater, tie])?;
            vec![each(Each::Select, &[first, x, y])?, each(Each::Select, &[first, i, j])?]
        }
        _ if name.starts_with("linrec_pair") => {
            let (&[a1, b1], &[a2, b2]) = (left, right) else { return Err(pairs(name)) };
            let product = each(Each::Mul, &[a2, b1])?;
            vec![each(Each::Mul, &[a1, a2])?, each(Each::Add, &[product, b2])?]
        }
        _ => return Err(Stop::Unsupported),
    })
}

fn pairs(name: &str) -> Stop {
    Stop::Record(format!("{name} combines two tiles"))
}
