//! Products of matrices, and whole kernels of them.

use girih_tensor::DType;
use girih_tile::dtype::Const;
use girih_tile::error::Fault;
use girih_tile::ir::{ArrayId, Build, End, Kind, Padding, Rounding, Type, Value};
use girih_tile::ops::memory::Tiles;
use girih_tile::ops::table::Each;
use girih_tile::ops::{Arg, Reduction};

use super::case::{Asked, Case, dims};
use super::programs::{each, int, over_row, shape_of};
use super::record::Record;
use super::{Stop, array, json};

pub(super) fn answer(case: &mut Case, record: &Record<'_>) -> Result<Asked, Stop> {
    let values =
        (0..record.inputs.len()).map(|i| case.value(record, i)).collect::<Result<Vec<Value>, Stop>>()?;
    match (record.op, &values[..]) {
        ("mma", &[a, b, acc]) => Ok(Asked::Tile(case.b.mma(a, b, acc)?)),
        ("matmul", &[a, b]) => Ok(Asked::Tile(case.b.matmul(a, b)?)),
        ("mma" | "matmul", _) => Err(Stop::Record(format!("`{}` with {} inputs", record.op, values.len()))),
        _ => Err(Stop::Unsupported),
    }
}

/// A loop over `0..stop` with what it carries.
fn counted(
    b: &mut Build,
    stop: Value,
    carried: &[Value],
    body: impl FnOnce(&mut Build, Value, &[Value]) -> Result<Vec<Value>, Fault>,
) -> Result<Vec<Value>, Fault> {
    let types: Vec<Type> = carried.iter().map(|&value| b.ty(value)).collect();
    let args: Vec<Type> = [Type::scalar(DType::S32)].into_iter().chain(types.iter().copied()).collect();
    let start = b.filled(DType::S32, &[], Const::Int(0))?;
    let step = b.filled(DType::S32, &[], Const::Int(1))?;
    let (_, values) = b.open(&args);
    let next = body(b, values[0], &values[1..]);
    // The region is closed before a fault is reported.
    let region = b.close(End::Continue(0, next.clone().unwrap_or_else(|_| values[1..].to_vec())));
    next?;
    let operands: Vec<Value> = [start, stop, step].into_iter().chain(carried.iter().copied()).collect();
    Ok(b.push_regions(Kind::For, &operands, &types, vec![region]))
}

/// The number of tiles of an extent that an array has along an axis.
fn tiles_along(b: &mut Build, array: ArrayId, axis: i64, tile: i64) -> Result<Value, Fault> {
    let extent = b.dim(array, axis)?;
    each(b, Each::CeilDiv, &[extent.into(), int(tile)])
}

fn padded(array: ArrayId, shape: &[i64]) -> Result<Tiles, Stop> {
    Ok(Tiles { padding: Padding::Zero, ..Tiles::new(array, dims(shape)?) })
}

/// A tile of C a block: a loop over tiles along K.
pub(super) fn gemm(case: &mut Case, record: &Record<'_>) -> Result<Asked, Stop> {
    let [m, n, k] = record.ints("tile")?[..] else {
        return Err(Stop::Record("`tile` has three extents".into()));
    };
    let sum = json::dtype(record.text("acc_dtype")?)
        .ok_or_else(|| Stop::Record("`acc_dtype` is no dtype".into()))?;
    let ((_, rows), (_, columns)) = (shape_of(record, 0)?, shape_of(record, 1)?);
    let (a, b) = (case.input_array(record, 0, false)?, case.input_array(record, 1, false)?);
    let written = record.written.unwrap_or(sum);
    let c = case.array(array::zeros(written, &[rows[0], columns[1]])?, true);
    let of = [padded(a, &[m, k])?, padded(b, &[k, n])?, padded(c, &[m, n])?];
    let build = &mut case.b;
    let (row, column): (Arg, Arg) = (build.bid(0)?.into(), build.bid(1)?.into());
    let zeros = build.filled(sum, &[m, n], Const::Int(0))?;
    let steps = tiles_along(build, a, 1, k)?;
    let sums = counted(build, steps, &[zeros], |build, step, acc| {
        let left = build.load(&of[0], &[row, step.into()])?;
        let right = build.load(&of[1], &[step.into(), column])?;
        Ok(vec![build.mma(left, right, acc[0])?])
    })?;
    let result = build.cast(sums[0], written, Rounding::Nearest)?;
    build.store(&of[2], &[row, column], result.into())?;
    Ok(Asked::Array(c))
}

/// A tile of queries a block, in one pass over the keys.
pub(super) fn attention(case: &mut Case, record: &Record<'_>) -> Result<Asked, Stop> {
    let (dtype, shape) = shape_of(record, 0)?;
    let (size, width) = (shape[0], shape[1]);
    let (queries, keys) = (record.int("q_tile")?, record.int("k_tile")?);
    let (causal, scale) = (record.truth("causal"), record.float("scale")?);
    let arrays = (0..3).map(|i| case.input_array(record, i, false)).collect::<Result<Vec<_>, _>>()?;
    let to = case.array(array::zeros(dtype, &shape)?, true);
    case.grid = [u32::try_from((size + queries - 1) / queries).unwrap_or(1), 1, 1];
    let of_queries = padded(arrays[0], &[queries, width])?;
    let of_keys = [padded(arrays[1], &[keys, width])?, padded(arrays[2], &[keys, width])?];
    let b = &mut case.b;
    let block: Arg = b.bid(0)?.into();
    let float = |x: f64| Arg::Loose(Const::Float(x));
    let query = b.load(&of_queries, &[block, int(0)])?;
    let least = b.filled(dtype, &[queries, 1], Const::Float(f64::NEG_INFINITY))?;
    let sum = b.filled(dtype, &[queries, 1], Const::Int(0))?;
    let result = b.filled(dtype, &[queries, width], Const::Int(0))?;
    let steps = tiles_along(b, arrays[1], 0, keys)?;
    let rows = positions(b, block, queries)?;
    let rows = b.expand_dims(rows, 1)?;
    let extent = b.dim(arrays[1], 0)?;
    let done = counted(b, steps, &[least, sum, result], |b, step, carried| {
        let (most, sum, result) = (carried[0], carried[1], carried[2]);
        let key = b.load(&of_keys[0], &[step.into(), int(0)])?;
        let value = b.load(&of_keys[1], &[step.into(), int(0)])?;
        let key = b.transpose(key, None)?;
        let zeros = b.filled(dtype, &[queries, keys], Const::Int(0))?;
        let scores = b.mma(query, key, zeros)?;
        let scores = each(b, Each::Mul, &[scores.into(), float(scale)])?;
        let columns = positions(b, step.into(), keys)?;
        let mut seen = each(b, Each::Less, &[columns.into(), extent.into()])?;
        if causal {
            let before = each(b, Each::LessEqual, &[columns.into(), rows.into()])?;
            seen = each(b, Each::And, &[seen.into(), before.into()])?;
        }
        let scores = each(b, Each::Select, &[seen.into(), scores.into(), float(f64::NEG_INFINITY)])?;
        let here = over_row(b, Reduction::Max, scores)?;
        let next = each(b, Each::Max, &[most.into(), here.into()])?;
        let below = each(b, Each::Sub, &[scores.into(), next.into()])?;
        let weights = each(b, Each::Exp, &[below.into()])?;
        let fallen = each(b, Each::Sub, &[most.into(), next.into()])?;
        let fallen = each(b, Each::Exp, &[fallen.into()])?;
        let of_weights = over_row(b, Reduction::Sum, weights)?;
        let sum = each(b, Each::Mul, &[sum.into(), fallen.into()])?;
        let sum = each(b, Each::Add, &[sum.into(), of_weights.into()])?;
        let result = each(b, Each::Mul, &[result.into(), fallen.into()])?;
        Ok(vec![next, sum, b.mma(weights, value, result)?])
    })?;
    let result = each(b, Each::TrueDiv, &[done[2].into(), done[1].into()])?;
    let tiles = padded(to, &[queries, width])?;
    b.store(&tiles, &[block, int(0)], result.into())?;
    Ok(Asked::Array(to))
}

/// The numbers of the elements of a tile of `count` at an index.
fn positions(b: &mut Build, at: Arg, count: i64) -> Result<Value, Fault> {
    let offsets = b.arange(DType::S32, count, Const::Int(0), Const::Int(1))?;
    let first = each(b, Each::Mul, &[at, int(count)])?;
    each(b, Each::Add, &[first.into(), offsets.into()])
}
