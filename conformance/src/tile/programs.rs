//! Whole kernels, by name.

use girih_tensor::DType;
use girih_tile::dtype::Const;
use girih_tile::error::Fault;
use girih_tile::ir::{ArrayId, Build, End, Kind, Padding, Rmw, Type, Value};
use girih_tile::ops::indexed::Elements;
use girih_tile::ops::memory::Tiles;
use girih_tile::ops::table::Each;
use girih_tile::ops::{Arg, Axes, Mode, Reduce, Reduction};

use super::case::{Asked, Case, dims};
use super::record::Record;
use super::{Stop, array, products};

pub(super) fn answer(case: &mut Case, record: &Record<'_>) -> Result<Asked, Stop> {
    if let Some(grid) = record.attr("grid").map(|_| record.ints("grid")).transpose()? {
        for (extent, &n) in case.grid.iter_mut().zip(&grid) {
            *extent = u32::try_from(n).map_err(|_| Stop::Record("a grid has extents of 0 or more".into()))?;
        }
    }
    match record.op {
        "tiled_copy_1d" => copy(case, record),
        "tiled_transpose_2d" => transpose(case, record),
        "saxpy" => saxpy(case, record),
        "block_sum_atomic" => block_sum(case, record),
        "histogram_atomic" => histogram(case, record),
        "tile_lanes_one_slot" => one_slot(case, record),
        "softmax_rows" => rows(case, record, softmax),
        "layernorm_rows" => rows(case, record, layernorm),
        "rmsnorm_rows" => rows(case, record, rmsnorm),
        "irange_sum" => range_sum(case, record),
        "gemm_tiled" => products::gemm(case, record),
        "attention_online_softmax" => products::attention(case, record),
        _ => Err(Stop::Unsupported),
    }
}

pub(super) fn each(b: &mut Build, op: Each, args: &[Arg]) -> Result<Value, Fault> {
    b.each(op, args, Mode::default())
}

pub(super) fn int(n: i64) -> Arg {
    Arg::Loose(Const::Int(n.into()))
}

pub(super) fn shape_of(record: &Record<'_>, i: usize) -> Result<(DType, Vec<i64>), Stop> {
    array::typed(record.input(i)?)
}

fn copy(case: &mut Case, record: &Record<'_>) -> Result<Asked, Stop> {
    let (dtype, shape) = shape_of(record, 0)?;
    let from = case.input_array(record, 0, false)?;
    let guard = record.attr("guard").map_or(Ok(0), |_| record.int("guard"))?;
    let to = case.guarded(dtype, &shape, guard)?;
    let tile = dims(&record.ints("tile_shape")?)?;
    let block = [case.b.bid(0)?.into()];
    let value = case.b.load(&Tiles::new(from, tile), &block)?;
    case.b.store(&Tiles::new(to, tile), &block, value.into())?;
    Ok(Asked::Array(to))
}

fn transpose(case: &mut Case, record: &Record<'_>) -> Result<Asked, Stop> {
    let (dtype, shape) = shape_of(record, 0)?;
    let from = case.input_array(record, 0, false)?;
    let turned: Vec<i64> = shape.into_iter().rev().collect();
    let to = case.array(array::zeros(dtype, &turned)?, true);
    let tile = record.ints("tile_shape")?;
    let turned: Vec<i64> = tile.iter().rev().copied().collect();
    let (i, j) = (case.b.bid(0)?.into(), case.b.bid(1)?.into());
    let value = case.b.load(&Tiles::new(from, dims(&tile)?), &[i, j])?;
    let value = case.b.transpose(value, None)?;
    case.b.store(&Tiles::new(to, dims(&turned)?), &[j, i], value.into())?;
    Ok(Asked::Array(to))
}

fn saxpy(case: &mut Case, record: &Record<'_>) -> Result<Asked, Stop> {
    let x = case.input_array(record, 0, false)?;
    let y = case.input_array(record, 1, true)?;
    let tile = dims(&record.ints("tile_shape")?)?;
    let block = [case.b.bid(0)?.into()];
    let alpha = Arg::Loose(Const::Float(record.float("alpha")?));
    let a = case.b.load(&Tiles::new(x, tile), &block)?;
    let b = case.b.load(&Tiles::new(y, tile), &block)?;
    let scaled = each(&mut case.b, Each::Mul, &[alpha, a.into()])?;
    let sum = each(&mut case.b, Each::Add, &[scaled.into(), b.into()])?;
    case.b.store(&Tiles::new(y, tile), &block, sum.into())?;
    Ok(Asked::Array(y))
}

fn block_sum(case: &mut Case, record: &Record<'_>) -> Result<Asked, Stop> {
    let (dtype, _) = shape_of(record, 0)?;
    let from = case.input_array(record, 0, false)?;
    let to = case.array(array::zeros(dtype, &[1])?, true);
    let tile = dims(&record.ints("tile_shape")?)?;
    let block = [case.b.bid(0)?.into()];
    let value = case.b.load(&Tiles { padding: Padding::Zero, ..Tiles::new(from, tile) }, &block)?;
    let sum = case.b.reduce(Reduction::Sum, value, &Axes::All, Reduce::default())?;
    case.b.atomic(Rmw::Add, &Elements::new(to), &[int(0)], None, sum.into(), None)?;
    Ok(Asked::Array(to))
}

fn histogram(case: &mut Case, record: &Record<'_>) -> Result<Asked, Stop> {
    let from = case.input_array(record, 0, false)?;
    let to = case.array(array::zeros(DType::S32, &[record.int("bins")?])?, true);
    let tile = dims(&record.ints("tile_shape")?)?;
    let block: Arg = case.b.bid(0)?.into();
    let value = case.b.load(&Tiles { padding: Padding::Zero, ..Tiles::new(from, tile) }, &[block])?;
    let inside = positions_inside(&mut case.b, from, block, tile[0].into())?;
    case.b.atomic(Rmw::Add, &Elements::new(to), &[value.into()], None, int(1), Some(inside.into()))?;
    Ok(Asked::Array(to))
}

/// Which elements of the tile of `width` at an index are inside of an array of rank 1.
fn positions_inside(b: &mut Build, array: ArrayId, at: Arg, width: i64) -> Result<Value, Fault> {
    let offsets = b.arange(DType::S32, width, Const::Int(0), Const::Int(1))?;
    let first = each(b, Each::Mul, &[at, int(width)])?;
    let positions = each(b, Each::Add, &[first.into(), offsets.into()])?;
    let extent = b.dim(array, -1)?;
    each(b, Each::Less, &[positions.into(), extent.into()])
}

fn one_slot(case: &mut Case, record: &Record<'_>) -> Result<Asked, Stop> {
    let to = case.input_array(record, 0, true)?;
    let values = case.b.arange(DType::S32, record.int("lanes")?, Const::Int(0), Const::Int(1))?;
    let zeros = case.b.filled(DType::S32, &[record.int("lanes")?], Const::Int(0))?;
    case.b.atomic(Rmw::Add, &Elements::new(to), &[zeros.into()], None, values.into(), None)?;
    Ok(Asked::Array(to))
}

/// What a program does with a row.
type Row = fn(&mut Build, &Line) -> Result<Value, Fault>;

/// A row in the making.
struct Line {
    value: Value,
    /// Which elements are inside of the array.
    inside: Value,
    /// The number of these as a float.
    count: Value,
    /// Further rows that all blocks share.
    shared: Vec<Value>,
    eps: f64,
}

/// A block for each row, which is in one tile.
fn rows(case: &mut Case, record: &Record<'_>, row: Row) -> Result<Asked, Stop> {
    let (dtype, shape) = shape_of(record, 0)?;
    let from = case.input_array(record, 0, false)?;
    let shared = (1..record.inputs.len())
        .map(|i| case.input_array(record, i, false))
        .collect::<Result<Vec<_>, _>>()?;
    let to = case.array(array::zeros(dtype, &shape)?, true);
    case.grid = [u32::try_from(shape[0]).unwrap_or(1), 1, 1];
    let tile = record.ints("tile_shape")?;
    let width = tile[tile.len() - 1];
    let at = [case.b.bid(0)?.into(), int(0)];
    let padding = match record.padding()? {
        Padding::Undetermined => Padding::Zero,
        padding => padding,
    };
    let value = case.b.load(&Tiles { padding, ..Tiles::new(from, dims(&tile)?) }, &at)?;
    let line = dims(&[width])?;
    let shared = shared
        .into_iter()
        .map(|array| case.b.load(&Tiles { padding: Padding::Zero, ..Tiles::new(array, line) }, &[int(0)]))
        .collect::<Result<Vec<_>, _>>()?;
    let inside = positions_inside(&mut case.b, from, int(0), width)?;
    let columns = case.b.dim(from, 1)?;
    let count = case.b.cast(columns, dtype, Default::default())?;
    let eps = record.attr("eps").map_or(Ok(0.0), |_| record.float("eps"))?;
    let result = row(&mut case.b, &Line { value, inside, count, shared, eps })?;
    case.b.store(&Tiles::new(to, dims(&tile)?), &at, result.into())?;
    Ok(Asked::Array(to))
}

pub(super) fn over_row(b: &mut Build, op: Reduction, value: Value) -> Result<Value, Fault> {
    b.reduce(op, value, &Axes::One(1), Reduce { keepdims: true, ..Reduce::default() })
}

fn softmax(b: &mut Build, row: &Line) -> Result<Value, Fault> {
    let most = over_row(b, Reduction::Max, row.value)?;
    let below = each(b, Each::Sub, &[row.value.into(), most.into()])?;
    let powers = each(b, Each::Exp, &[below.into()])?;
    let sum = over_row(b, Reduction::Sum, powers)?;
    each(b, Each::TrueDiv, &[powers.into(), sum.into()])
}

fn mean(b: &mut Build, row: &Line, value: Value) -> Result<Value, Fault> {
    let zero = Arg::Loose(Const::Float(0.0));
    let inside = each(b, Each::Select, &[row.inside.into(), value.into(), zero])?;
    let sum = over_row(b, Reduction::Sum, inside)?;
    each(b, Each::TrueDiv, &[sum.into(), row.count.into()])
}

/// `value / sqrt(mean of squares + eps)`.
fn normalised(b: &mut Build, row: &Line, value: Value) -> Result<Value, Fault> {
    let squares = each(b, Each::Mul, &[value.into(), value.into()])?;
    let mean = mean(b, row, squares)?;
    let sum = each(b, Each::Add, &[mean.into(), Arg::Loose(Const::Float(row.eps))])?;
    let scale = each(b, Each::Rsqrt, &[sum.into()])?;
    each(b, Each::Mul, &[value.into(), scale.into()])
}

fn layernorm(b: &mut Build, row: &Line) -> Result<Value, Fault> {
    let mean = mean(b, row, row.value)?;
    let centred = each(b, Each::Sub, &[row.value.into(), mean.into()])?;
    let normal = normalised(b, row, centred)?;
    let scaled = each(b, Each::Mul, &[normal.into(), row.shared[0].into()])?;
    each(b, Each::Add, &[scaled.into(), row.shared[1].into()])
}

fn rmsnorm(b: &mut Build, row: &Line) -> Result<Value, Fault> {
    let normal = normalised(b, row, row.value)?;
    each(b, Each::Mul, &[normal.into(), row.shared[0].into()])
}

fn range_sum(case: &mut Case, record: &Record<'_>) -> Result<Asked, Stop> {
    let step = record.int("step")?;
    case.b.range_step(int(step))?;
    let ty = Type::scalar(DType::S32);
    let bound = |n: i64| -> Result<u64, Stop> {
        let n = i32::try_from(n).map_err(|_| Stop::Unsupported)?;
        Ok(n.cast_unsigned().into())
    };
    let low = case.scalar(DType::S32, bound(record.int("lo")?)?);
    let high = case.scalar(DType::S32, bound(record.int("hi")?)?);
    let b = &mut case.b;
    let step = b.filled(DType::S32, &[], Const::Int(step.into()))?;
    let zero = b.filled(DType::S32, &[], Const::Int(0))?;
    let (body, args) = b.open(&[ty, ty]);
    let sum = each(b, Each::Add, &[args[1].into(), args[0].into()])?;
    b.close(End::Continue(0, vec![sum]));
    let results = b.push_regions(Kind::For, &[low, high, step, zero], &[ty], vec![body]);
    Ok(Asked::Tile(results[0]))
}
