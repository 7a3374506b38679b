//! Expanded functions on the simulator, for every dtype and with arguments of every size.

use girih_tensor::DType;
use girih_tile::dtype::Const;
use girih_tile::ir::{ArrayId, ArrayParam, Build, Dims, Known, Rounding};
use girih_tile::math;
use girih_tile::ops::memory::Tiles;
use girih_tile::ops::table::{Each, Rounds, TABLE, Takes};
use girih_tile::ops::{Arg, Mode};
use girih_tile_reference::{ArrayData, float};
use rand::RngExt;

use crate::common::differ::{Tolerance, differ, random, zeros};

const SIZE: u32 = 128;

fn array(b: &mut Build, name: &str, dtype: DType, mutable: bool) -> ArrayId {
    b.array(ArrayParam {
        name: name.into(),
        dtype,
        mutable,
        extents: vec![Known::MultipleOf(1)],
        strides: vec![Known::Is(1)],
        align: 16,
        assume_disjoint: None,
    })
}

/// Numbers of all exponents of a dtype, and what is special; of moderate size every other time.
fn numbers(dtype: DType, seed: u64) -> ArrayData {
    let mut rng = random(seed);
    let special = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -3.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    let reach = match dtype {
        DType::F64 => 1000.0,
        DType::F16 => 12.0,
        _ => 120.0,
    };
    let bits: Vec<u64> = (0..SIZE as usize)
        .map(|i| {
            let size: f64 = if i % 2 == 0 { 3.0 } else { reach };
            let x = rng.random_range(-size..size).exp2() * if rng.random::<bool>() { 1.0 } else { -1.0 };
            let x = if i % 8 == 7 { special[rng.random_range(0..special.len())] } else { x };
            float::encode(dtype, x, Rounding::Nearest)
        })
        .collect();
    ArrayData::dense(dtype, &[SIZE.into()], &bits)
}

/// A kernel of a function of one tile, run on both.
fn compare(op: Each, dtype: DType, mode: Mode, seed: u64, tolerance: Tolerance) -> Result<(), String> {
    let dims = Dims::new(&[SIZE]).unwrap();
    let mut b = Build::new("k");
    let arity = op.arity();
    let inputs: Vec<ArrayId> = (0..arity).map(|i| array(&mut b, &format!("x{i}"), dtype, false)).collect();
    let y = array(&mut b, "y", dtype, true);
    let zero = b.full(DType::S32, Dims::SCALAR, Const::Int(0));
    let load = |&x: &ArrayId| b.load(&Tiles::new(x, dims), &[zero.into()]).unwrap().into();
    let args: Vec<Arg> = inputs.iter().map(load).collect();
    let value = b.each(op, &args, mode).map_err(|fault| fault.to_string())?;
    b.store(&Tiles::new(y, dims), &[zero.into()], value.into()).unwrap();
    let mut arrays: Vec<ArrayData> = (0..arity as u64).map(|j| numbers(dtype, seed * 8 + j)).collect();
    arrays.push(zeros(dtype, &[SIZE.into()]));
    differ(&b.finish(), [1, 1, 1], &arrays, &[], |_| tolerance)
}

#[test]
fn the_simulator_computes_what_the_reference_does() {
    let mut done = 0;
    for (i, row) in TABLE.iter().enumerate() {
        for dtype in [DType::F32, DType::F64, DType::F16, DType::Bf16] {
            for rounding in [Rounding::Nearest, Rounding::Zero, Rounding::Down, Rounding::Up] {
                let has = match row.rounds {
                    Rounds::Directed | Rounds::Division | Rounds::Root => true,
                    _ => rounding == Rounding::Nearest,
                };
                if !has || !math::expands(row.op, dtype, rounding) {
                    continue;
                }
                let exact = matches!(row.op, Each::FloorDiv | Each::Mod)
                    || row.takes == Takes::FloatsOnly
                    || matches!(row.rounds, Rounds::Directed | Rounds::Division | Rounds::Root);
                let tolerance = if exact { Tolerance::EXACT } else { Tolerance::of(dtype) };
                let mode = Mode {
                    rounding: Some(rounding).filter(|&rounding| rounding != Rounding::Nearest),
                    ..Mode::default()
                };
                compare(row.op, dtype, mode, i as u64, tolerance)
                    .unwrap_or_else(|error| panic!("{} of {dtype}, {rounding:?}: {error}", row.name));
                done += 1;
            }
        }
    }
    assert!(done > 60, "{done}");
}

#[test]
fn roundings_and_flushing_are_those_of_the_reference() {
    for (i, row) in TABLE.iter().enumerate() {
        for dtype in [DType::F32, DType::F64] {
            for rounding in [Rounding::Nearest, Rounding::Zero, Rounding::Down, Rounding::Up] {
                let directed = matches!(row.rounds, Rounds::Directed | Rounds::Division | Rounds::Root);
                for ftz in [false, true] {
                    let plain = rounding == Rounding::Nearest && !ftz;
                    if plain
                        || rounding != Rounding::Nearest && !directed
                        || ftz && (!row.ftz || dtype != DType::F32)
                    {
                        continue;
                    }
                    let mode = Mode { rounding: Some(rounding).filter(|_| directed), ftz, ..Mode::default() };
                    let exact = directed || matches!(row.op, Each::Min | Each::Max | Each::Fma);
                    let tolerance = if exact { Tolerance::EXACT } else { Tolerance::of(dtype) };
                    compare(row.op, dtype, mode, i as u64, tolerance).unwrap_or_else(|error| {
                        panic!("{} of {dtype}, {rounding:?}, ftz {ftz}: {error}", row.name)
                    });
                }
            }
        }
    }
}
