//! Operands of the wrong structure: what the compiler finds when it checks types.
#![allow(unused, reason = "only what the compiler says to it counts")]

use girih_tensor::Error;
use girih_typed::host::Array;
use girih_typed::{__, Lt, S, int, layout};

fn main() {}

fn congruent() {
    layout!((4, 8) : (1, 4, 32));
}

fn congruent_types() {
    type L = Lt<(S<4>, usize), (usize, usize, usize)>;
    fn f(_: L) {}
}

fn modes() {
    layout!((4, 8) : (1, 4)).at((1, 2, 3));
}

fn positions() {
    layout!((4, 8) : (1, 4)).at((1i32, 2i32));
}

fn rank_limit() {
    layout!((4, 8) : (1, 4)).at((1usize, 2usize, 3usize));
}

fn tensor_coordinate() -> Result<(), Error> {
    let a = Array::filled(layout!((8, 24) : (1, 8)), 0f32);
    let t = a.view();
    t.get((1, 2, 3))?;
    Ok(())
}

fn tensor_slice() -> Result<(), Error> {
    let a = Array::filled(layout!((8, 24) : (1, 8)), 0f32);
    let t = a.view();
    t.slice((__, 2, 3))?;
    Ok(())
}

fn tensor_tiler() -> Result<(), Error> {
    let a = Array::filled(layout!((8, 24) : (1, 8)), 0f32);
    let t = a.view();
    t.local_tile((int!(4), int!(8), int!(2)), (0, 0))?;
    Ok(())
}

fn tensor_tile_coordinate() -> Result<(), Error> {
    let a = Array::filled(layout!((8, 24) : (1, 8)), 0f32);
    let t = a.view();
    t.local_tile((int!(4), int!(8)), (0, 0, 0))?;
    Ok(())
}

fn tensor_length() {
    let n: usize = 8;
    Array::filled(layout!((4, n) : (1, 4)), 0f32);
}
