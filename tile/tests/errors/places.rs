//! Programs that no placement fits, and operations that a device does not have.

use girih_codegen::plan::Dist;
use girih_tensor::DType;
use girih_tile::compile;
use girih_tile::dtype::Const;
use girih_tile::error::{Error, Fault};
use girih_tile::ir::table::Each;
use girih_tile::ir::{ArrayParam, Build, Dims, Func, Pin, Rmw};
use girih_tile::ops::indexed::Elements;
use girih_tile::ops::memory::Tiles;
use girih_tile::ops::{Arg, Mode};

use crate::facts::kernels::param;

const ZERO: Arg = Arg::Loose(Const::Int(0));

/// A program that computes a tile of an array with as many products as there are warps that it is placed for.
fn squares(extent: u32, change: impl FnOnce(&mut Build, girih_tile::ir::Value)) -> Func {
    let mut b = Build::new("squares");
    let x = b.array(param("x", 2, true));
    let tiles = Tiles::new(x, Dims::new(&[extent, extent]).unwrap());
    let value = b.load(&tiles, &[ZERO; 2]).unwrap();
    let square = b.each(Each::Mul, &[value.into(), value.into()], Mode::default()).unwrap();
    change(&mut b, square);
    b.store(&tiles, &[ZERO; 2], square.into()).unwrap();
    b.finish()
}

fn product() -> Func {
    let mut b = Build::new("product");
    let x = b.array(param("x", 2, true));
    let tiles = Tiles::new(x, Dims::new(&[256, 256]).unwrap());
    let value = b.load(&tiles, &[ZERO; 2]).unwrap();
    let sums = b.mma(value, value, value).unwrap();
    b.store(&tiles, &[ZERO; 2], sums.into()).unwrap();
    b.hints_mut().all.num_worker_warps = Some(4);
    b.finish()
}

fn sum_in_memory() -> Func {
    let mut b = Build::new("sum");
    let x = b.array(ArrayParam { dtype: DType::Bf16, ..param("x", 1, true) });
    b.atomic(Rmw::Add, &Elements::new(x), &[ZERO], None, ZERO, None).unwrap();
    b.finish()
}

fn printed() -> Func {
    let mut b = Build::new("printed");
    let x = b.filled(DType::F32, &[2048], Const::Int(1)).unwrap();
    b.print("%f", &[x.into()]).unwrap();
    b.finish()
}

/// The faults of all programs.
pub(super) fn faults() -> Vec<Fault> {
    let programs = [
        squares(16, |b, _| b.hints_mut().all.num_worker_warps = Some(3)),
        squares(16, |b, value| {
            let dist = Dist::blocked(&[16, 8], &[0, 1], 1, 128);
            b.pin(value, Pin { dist: Some(dist), swizzle: None });
        }),
        squares(2048, |_, _| ()),
        product(),
        sum_in_memory(),
        printed(),
    ];
    programs
        .map(|func| match compile(&func, 80) {
            Err(Error::Place(fault)) => *fault,
            Err(Error::Lower(diagnostic)) => diagnostic.fault,
            other => panic!("{other:?}"),
        })
        .into()
}
