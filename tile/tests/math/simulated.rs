//! Expanded functions on the simulator, for every dtype and with arguments of every size.

use girih_tensor::DType;
use girih_tile::dtype::Const;
use girih_tile::ir::{ArrayId, ArrayParam, Build, Dims, Known, Rounding, Value};
use girih_tile::math;
use girih_tile::ops::Mode;
use girih_tile::ops::memory::Tiles;
use girih_tile::ops::table::{Each, TABLE};
use girih_tile::reference::{ArrayData, float};
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

#[test]
fn the_simulator_computes_what_the_reference_does() {
    let dims = Dims::new(&[SIZE]).unwrap();
    let mut done = 0;
    for (i, row) in TABLE.iter().enumerate() {
        for dtype in [DType::F32, DType::F64, DType::F16, DType::Bf16] {
            let roundings = [Rounding::Nearest, Rounding::Zero, Rounding::Down, Rounding::Up];
            for rounding in roundings {
                if !math::expands(row.op, dtype, rounding) {
                    continue;
                }
                let mut b = Build::new("k");
                let inputs: Vec<ArrayId> =
                    (0..row.arity).map(|i| array(&mut b, &format!("x{i}"), dtype, false)).collect();
                let y = array(&mut b, "y", dtype, true);
                let zero = b.full(DType::S32, Dims::SCALAR, Const::Int(0));
                let values: Vec<Value> =
                    inputs.iter().map(|&x| b.load(&Tiles::new(x, dims), &[zero.into()]).unwrap()).collect();
                let args: Vec<_> = values.iter().map(|&value| value.into()).collect();
                let rounding = (rounding != Rounding::Nearest).then_some(rounding);
                let Ok(value) = b.each(row.op, &args, Mode { rounding, ..Mode::default() }) else { continue };
                b.store(&Tiles::new(y, dims), &[zero.into()], value.into()).unwrap();
                let mut arrays: Vec<ArrayData> =
                    (0..row.arity).map(|j| numbers(dtype, (i * 8 + j) as u64)).collect();
                arrays.push(zeros(dtype, &[SIZE.into()]));
                let exact = matches!(
                    row.op,
                    Each::Add
                        | Each::Sub
                        | Each::Mul
                        | Each::TrueDiv
                        | Each::Sqrt
                        | Each::FloorDiv
                        | Each::Mod
                        | Each::Floor
                        | Each::Ceil
                        | Each::Round
                        | Each::Trunc
                        | Each::Fma
                );
                let tolerance = |dtype| if exact { Tolerance::EXACT } else { Tolerance::of(dtype) };
                differ(&b.finish(), [1, 1, 1], &arrays, &[], tolerance)
                    .unwrap_or_else(|error| panic!("{} of {dtype}, {rounding:?}: {error}", row.name));
                done += 1;
            }
        }
    }
    assert!(done > 60, "{done}");
}
