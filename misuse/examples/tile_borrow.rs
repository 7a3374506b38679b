//! Tile kernels that the borrow checker refuses.
#![allow(unused, reason = "only what the compiler says to it counts")]

use girih_tile::prelude::*;

fn main() {}

#[kernel]
fn store_into_what_is_read(a: &Array<f16, 2>) {
    a.tiles_mut([64, 64]).store((0, 0), zeros::<f16>([64, 64]));
}

#[kernel]
fn deferred_let(y: &mut Array<f32, 1>, n: Scalar<i32>) {
    let t;
    if n > 3 {
        t = zeros::<f32>([4]);
    } else {
        t = ones::<f32>([4]);
    }
    y.tiles_mut([4]).store((0,), t);
}

#[kernel]
fn moved_in_a_branch(y: &mut Array<f32, 1>, n: Scalar<i32>) {
    let name = String::from("x");
    let t = if n > 3 {
        drop(name);
        zeros::<f32>([4])
    } else {
        ones::<f32>([4])
    };
    y.tiles_mut([4]).store((0,), t);
}
