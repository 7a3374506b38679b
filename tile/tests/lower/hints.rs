//! Hints leave results as they are.

use girih_tensor::DType;
use girih_tile::dtype::Const;
use girih_tile::hints::Hint;
use girih_tile::ir::{Build, Combine, Dims, Func, Kind, Known, Padding, Type, Value};
use girih_tile::ops::Arg;
use girih_tile::ops::memory::Tiles;
use girih_tile::ops::reduce::{Axes, Reduce, Reduction};
use girih_tile::ops::table::Each;

use super::memory::param;
use crate::common::differ::{Tolerance, array, differ, random, zeros};

/// What stands at an access.
#[derive(Clone, Copy)]
struct At {
    latency: Option<i64>,
    tma: bool,
}

const NONE: At = At { latency: None, tma: true };

/// A kernel over tiles of 8x32 of an array, which gives rows of sums, transposed tiles, or running sums in a loop.
fn kernel(which: usize, at: At, hints: &[(Option<&str>, Hint, i64)]) -> Func {
    let mut b = Build::new("hinted");
    for &(arch, hint, value) in hints {
        b.hints_mut().set(arch, hint, value).unwrap();
    }
    let any = [Known::MultipleOf(1), Known::MultipleOf(4)];
    let x = b.array(param("x", DType::F32, false, &any, &[any[1], Known::Is(1)], 16));
    let y = b.array(param("y", DType::F32, true, &any, &[any[1], Known::Is(1)], 16));
    let [rows, columns] = [0, 1].map(|axis| b.bid(axis).unwrap());
    let tiles = |array, extents: &[u32]| Tiles {
        padding: Padding::Zero,
        latency: at.latency,
        tma: at.tma,
        ..Tiles::new(array, Dims::new(extents).unwrap())
    };
    let load = |b: &mut Build, column: Arg| b.load(&tiles(x, &[8, 32]), &[rows.into(), column]).unwrap();
    let value = match which {
        0 => {
            let value = load(&mut b, columns.into());
            let how = Reduce { keepdims: true, ..Reduce::default() };
            let most = b.reduce(Reduction::Max, value, &Axes::One(1), how).unwrap();
            b.each(Each::Sub, &[value.into(), most.into()], girih_tile::ops::Mode::default()).unwrap()
        }
        1 => {
            let value = load(&mut b, columns.into());
            let turned = b.permute(value, &[1, 0]).unwrap();
            let kind = Kind::Scan {
                axis: 0,
                combine: Combine::Max(girih_tile::ir::Nan::Ignored),
                identity: [].into(),
                reverse: false,
                exclusive: false,
            };
            let ty = b.ty(turned);
            let most = b.push1(kind, &[turned], ty);
            b.permute(most, &[1, 0]).unwrap()
        }
        _ => looped(&mut b, load),
    };
    b.store(&tiles(y, &[8, 32]), &[rows.into(), columns.into()], value.into()).unwrap();
    b.finish()
}

/// The greatest elements of three tiles, one after the other.
fn looped(b: &mut Build, load: impl Fn(&mut Build, Arg) -> Value) -> Value {
    let number = |b: &mut Build, n| b.full(DType::S32, Dims::SCALAR, Const::Int(n));
    let bounds = [number(b, 0), number(b, 3), number(b, 1)];
    let tile = Type { dtype: DType::F32, dims: Dims::new(&[8, 32]).unwrap() };
    let first = b.full(tile.dtype, tile.dims, Const::Float(0.0));
    let (_, args) = b.open(&[Type::scalar(DType::S32), tile]);
    let value = load(b, args[0].into());
    let most = b.each(Each::Max, &[args[1].into(), value.into()], girih_tile::ops::Mode::default()).unwrap();
    let region = b.close(girih_tile::ir::End::Continue(0, vec![most]));
    b.push_regions(Kind::For, &[bounds[0], bounds[1], bounds[2], first], &[tile], vec![region])[0]
}

#[test]
fn hints_leave_results_as_they_are() {
    let mut rng = random(31);
    let x = array(&mut rng, DType::F32, &[21, 68]);
    let check = |which: usize, at: At, hints: &[(Option<&str>, Hint, i64)]| {
        let func = kernel(which, at, hints);
        let arrays = [x.clone(), zeros(DType::F32, &[21, 68])];
        differ(&func, [3, 3, 1], &arrays, &[], |_| Tolerance::EXACT)
            .unwrap_or_else(|error| panic!("kernel {which}, {hints:?}, latency {:?}: {error}", at.latency));
    };
    for which in 0..3 {
        for hint in [Hint::NumCtas, Hint::Occupancy, Hint::NumWorkerWarps, Hint::OptLevel, Hint::NumStages] {
            let legal: Vec<i64> = (0..=32).filter(|&n| hint.check(n, None).is_ok()).collect();
            for &n in legal.iter().filter(|n| hint != Hint::Occupancy || n.count_ones() == 1) {
                check(which, NONE, &[(None, hint, n)]);
                if hint.check(n, Some(90)).is_ok() {
                    check(which, NONE, &[(Some("sm_90"), hint, n)]);
                }
            }
        }
        for latency in 1..=10 {
            check(which, At { latency: Some(latency), tma: latency % 2 == 0 }, &[]);
        }
        check(which, NONE, &[(None, Hint::Occupancy, 32), (Some("sm_80"), Hint::NumWorkerWarps, 32)]);
    }
}
