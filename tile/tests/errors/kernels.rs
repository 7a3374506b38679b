//! Kernels that are refused while they are built, or whose blocks are not proved to store disjoint elements.
#![allow(unused_must_use, unused_variables, unused_assignments, reason = "what is refused has no use")]

use std::cell::Cell;

use girih_tile::error::{Error, Fault};
use girih_tile::facts;
use girih_tile::ir::Func;
use girih_tile::prelude::*;

thread_local! {
    static KEPT: Cell<Option<Tile<i32>>> = const { Cell::new(None) };
}

#[kernel(occupance = 1)]
fn hinted() {}

#[kernel]
fn control(n: Scalar<i32>) {
    KEPT.with(|of| of.get()).map(|kept| kept + 1);
    let zeros_of = [4, 8].map(|m| zeros::<f32>([m]));
    if zeros_of[0] > 0.0 {
        let y = n;
    }
    let mut grown = zeros_of[0];
    for i in 0..n {
        grown = zeros_of[1];
        KEPT.with(|of| of.set(Some(i)));
    }
    KEPT.with(|of| of.get()).map(|kept| kept + 1);
    let chosen = if n > 3 { zeros_of[0] } else { zeros_of[1] };
    let cell = if n > 3 { Cell::new(1) } else { Cell::new(2) };
    let mut steps = 0;
    for i in 0..n {
        steps += 1;
    }
    if n > 3 {
        steps += 1;
    }
    let name = if n > 3 { "many" } else { "few" };
    for i in 0..4 {
        if n > i as i64 {
            break;
        }
    }
    early(n);
    loop {
        let x = n;
    }
    select(arange::<i32>(8) < 4, 1 << 40, 0);
    cdiv(7, 0);
    cat(Vec::<Tile<f32>>::new(), 0);
    static_assert!(false);
    reduce(zeros_of[0], [0, 0], 0.0, |a, b| a * b);
    for i in (0..n).step_by(-2) {}
}

#[function]
fn early(n: Scalar<i32>) -> Tile<i32> {
    if n > 3 {
        return n;
    }
    n + 1
}

#[kernel]
fn unstable(y: &mut Array<i32, 1>, n: Scalar<i32>) {
    let seen = Cell::new(0i64);
    let mut sum = scalar::<i32>(0);
    for i in 0..n {
        sum += seen.get();
        seen.set(seen.get() + 1);
    }
}

#[kernel]
fn left(n: Scalar<i32>) {
    fallible(n);
}

#[function]
fn fallible(n: Scalar<i32>) -> Option<Tile<i32>> {
    if n > 3 {
        None?;
    }
    Some(n)
}

#[kernel]
fn one_tile(x: &Array<f32, 1>, y: &mut Array<f32, 1>) {
    let i = bid(0);
    y.tiles_mut([8]).store((0,), i.to::<f32>() + x.tiles([8]).load((0,)));
}

#[kernel(deny_in_kernel_checks)]
fn ragged(x: &Array<f32, 1>, y: &mut Array<f32, 1>, n: Scalar<i32>) {
    y.tiles_mut([8]).store((bid(0),), x.tiles([8]).load((n,)));
}

fn found(func: Result<Func, Error>) -> Vec<Fault> {
    let Err(Error::Build(found)) = func else { panic!("not refused: {func:?}") };
    found.into_iter().map(|diagnostic| diagnostic.fault).collect()
}

/// The faults of all kernels.
pub(super) fn faults() -> Vec<Fault> {
    // A tile of another build.
    KEPT.with(|of| of.set(None));
    found(control::ir());
    let mut all = [control::ir(), hinted::ir(), unstable::ir(), left::ir()].map(found).concat();
    for func in [one_tile::ir(), ragged::ir()] {
        let refused = facts::check(&func.unwrap()).unwrap_err();
        all.extend(refused.into_iter().map(|diagnostic| diagnostic.fault));
    }
    all
}
