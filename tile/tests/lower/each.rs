//! Every row of the table of functions, every conversion.

use girih_tensor::DType;
use girih_tile::dtype::is_restricted;
use girih_tile::ir::{Build, DTYPES, Dims, Kind, Known, Nan, Overflow, Rounding, Type};
use girih_tile::math::expands;
use girih_tile::ops::memory::Tiles;
use girih_tile::ops::table::{Each, Gives, Rounds, TABLE, Takes};
use rand::RngExt;

use super::memory::param;
use crate::common::differ::{Tolerance, array, cases, differ, random, zeros};

fn takes(takes: Takes, dtype: DType) -> bool {
    match takes {
        Takes::Numbers => dtype != DType::Bool && !is_restricted(dtype),
        Takes::Floats | Takes::FloatsOnly => dtype.is_float() && !is_restricted(dtype),
        Takes::Integers => dtype.is_integer() && !is_restricted(dtype),
        Takes::Bits => dtype.is_integer() && !is_restricted(dtype) || dtype == DType::Bool,
        Takes::Ordered => !is_restricted(dtype),
    }
}

#[test]
fn every_function_agrees_with_the_reference() {
    let mut rng = random(2);
    let wanted = std::env::var("GIRIH_ROW").ok();
    for row in TABLE {
        for &dtype in DTYPES.iter().filter(|&&dtype| takes(row.takes, dtype)) {
            if expands(row.op, dtype, Rounding::Nearest)
                || wanted.as_deref().is_some_and(|name| name != row.name)
            {
                continue;
            }
            for case in 0..cases(2).min(20) {
                let mut rounding = Rounding::Nearest;
                let directed = !matches!(row.rounds, Rounds::No | Rounds::Fast);
                if directed && case > 0 && dtype.is_float() {
                    rounding = [Rounding::Zero, Rounding::Down, Rounding::Up][rng.random_range(0..3)];
                }
                if expands(row.op, dtype, rounding) {
                    continue;
                }
                let nan = if rng.random() { Nan::Ignored } else { Nan::Propagated };
                let ftz = row.ftz && dtype == DType::F32 && rng.random_range(0..4) == 0;
                let n = [1u32, 7, 100, 256][rng.random_range(0..4)];
                let operands: Vec<DType> = (0..row.arity)
                    .map(|i| if row.op == Each::Select && i == 0 { DType::Bool } else { dtype })
                    .collect();
                let result = if row.gives == Gives::Bool { DType::Bool } else { dtype };
                let mut arrays: Vec<_> =
                    operands.iter().map(|&dtype| array(&mut rng, dtype, &[n.into()])).collect();
                if dtype.is_integer() && matches!(row.op, Each::FloorDiv | Each::CeilDiv | Each::Mod) {
                    let width = dtype.bits() as usize / 8;
                    arrays[1]
                        .bytes
                        .chunks_mut(width)
                        .filter(|x| x.iter().all(|&b| b == 0))
                        .for_each(|x| x[0] = 3);
                }
                arrays.push(zeros(result, &[n.into()]));
                let mut b = Build::new("each");
                let size = n.next_power_of_two();
                let dims = Dims::new(&[size]).unwrap();
                let mut values = Vec::new();
                for (i, &dtype) in operands.iter().enumerate() {
                    let known = [Known::MultipleOf(1)];
                    let x = b.array(param(&format!("x{i}"), dtype, false, &known, &[Known::Is(1)], 16));
                    let padding = girih_tile::ir::Padding::Undetermined;
                    values.push(
                        b.load(
                            &Tiles { padding, ..Tiles::new(x, dims) },
                            &[girih_tile::dtype::Const::Int(0).into()],
                        )
                        .unwrap(),
                    );
                }
                let y = b.array(param("y", result, true, &[Known::MultipleOf(1)], &[Known::Is(1)], 16));
                let kind = Kind::Each { op: row.op, rounding, ftz, nan, overflow: Overflow::Wraps };
                let value = b.push1(kind, &values, Type { dtype: result, dims });
                b.store(&Tiles::new(y, dims), &[girih_tile::dtype::Const::Int(0).into()], value.into())
                    .unwrap();
                let inexact = matches!(
                    row.op,
                    Each::Exp2 | Each::Rsqrt | Each::Log2 | Each::Sin | Each::Cos | Each::Tanh
                );
                differ(&b.finish(), [1; 3], &arrays, &[], |dtype| {
                    if inexact { Tolerance::of(dtype) } else { Tolerance::EXACT }
                })
                .unwrap_or_else(|error| {
                    panic!("{} of {dtype}, {rounding:?}, {nan:?}, ftz {ftz}, {n}: {error}", row.name)
                });
            }
        }
    }
}

#[test]
fn every_conversion_agrees_with_the_reference() {
    let mut rng = random(3);
    for &from in DTYPES {
        for &to in DTYPES.iter().filter(|&&to| to != from) {
            // Elements smaller than a byte come in pairs.
            let packed = from.bits().min(to.bits()) < 8;
            let n = [if packed { 6u32 } else { 5 }, 64, 130][rng.random_range(0..3)];
            let dims = Dims::new(&[n.next_power_of_two()]).unwrap();
            let mut b = Build::new("cast");
            let known = [Known::MultipleOf(1)];
            let x = b.array(param("x", from, false, &known, &[Known::Is(1)], 16));
            let y = b.array(param("y", to, true, &known, &[Known::Is(1)], 16));
            let value = b.load(&Tiles::new(x, dims), &[girih_tile::dtype::Const::Int(0).into()]).unwrap();
            let value = b.cast(value, to, Rounding::Nearest).unwrap();
            b.store(&Tiles::new(y, dims), &[girih_tile::dtype::Const::Int(0).into()], value.into()).unwrap();
            let arrays = [array(&mut rng, from, &[n.into()]), zeros(to, &[n.into()])];
            differ(&b.finish(), [1; 3], &arrays, &[], |_| Tolerance::EXACT)
                .unwrap_or_else(|error| panic!("{from} to {to}, {n}: {error}"));
        }
    }
}
