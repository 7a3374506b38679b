//! Tile kernels that the compiler refuses: dtypes that do not mix, numbers of indices, values of the run time where the build needs them.
#![allow(unused, reason = "only what the compiler says to it counts")]

use girih_tile::prelude::*;

fn main() {}

#[kernel]
fn f16_and_bf16(a: &Array<f16, 1>, b: &Array<bf16, 1>) {
    let sum = a.tiles([64]).load((0,)) + b.tiles([64]).load((0,));
}

#[kernel]
fn mixed_signs(a: &Array<i32, 1>, b: &Array<u32, 1>) {
    let product = maximum(a.tiles([64]).load((0,)), b.tiles([64]).load((0,)));
}

#[kernel]
fn restricted(a: &Array<F8E4M3, 1>) {
    let twice = a.tiles([64]).load((0,)) + a.tiles([64]).load((0,));
}

#[kernel]
fn truth_values(a: &Array<bool, 1>) {
    let sum = a.tiles([64]).load((0,)) + a.tiles([64]).load((0,));
}

#[kernel]
fn shape_of_the_run_time(n: Scalar<i32>) {
    let z = zeros::<f32>([4, n]);
}

#[kernel]
fn narrowing_store(c: &mut Array<f16, 2>) {
    c.tiles_mut([64, 64]).store((0, 0), zeros::<f32>([64, 64]));
}

#[kernel]
fn rank_of_the_tile(a: &Array<f16, 2>) {
    let t = a.tiles([64]);
}

#[kernel]
fn rank_of_the_index(a: &Array<f16, 2>) {
    let t = a.tiles([64, 64]).load((0,));
}

#[kernel]
fn index_of_a_float(a: &Array<f16, 1>, x: Scalar<f32>) {
    let t = a.tiles([64]).load((x,));
}

struct State {
    m: Tile<f32>,
}

#[kernel]
fn state_without_derive(x: &Array<f32, 1>, n: Scalar<i32>) {
    let mut s = State { m: zeros([64]) };
    for i in 0..n {
        s = State { m: s.m + x.tiles([64]).load((i,)) };
    }
}

#[kernel]
fn condition_of_a_number(n: Scalar<i32>) {
    if n {
        let z = zeros::<f32>([4]);
    }
}

#[kernel]
fn branches_of_two_types(n: Scalar<i32>) {
    let t = if n > 3 { zeros::<f32>([4]) } else { zeros::<f16>([4]) };
}

#[kernel]
fn bitwise_of_two_types(a: Scalar<i32>, b: Scalar<i64>) {
    let c = a & b;
}

#[kernel]
fn shift_of_a_float(x: Scalar<f32>) {
    let y = x << 1;
}

#[kernel]
fn rounding_integers(n: Scalar<i32>) {
    let m = floor(n);
}

fn comparison_without_attribute(x: Tile<f32>) -> Tile<bool> {
    x < 0.0
}

fn branch_without_attribute(x: Scalar<bool>) -> Tile<f32> {
    if x { zeros([4]) } else { ones([4]) }
}

fn cast_by_as(x: Tile<f32>) -> Tile<f16> {
    x as Tile<f16>
}

fn constants_of_f32(x: Tile<f32>) -> Tile<f32> {
    x * 2.0f32
}

fn narrowing_assignment(mut x: Tile<f16>, y: Tile<f32>) {
    x += y;
}

fn element_of_a_string(x: Tile<f32>) {
    x.to::<String>();
}

fn generic_without_promotion<T: Float>(a: Tile<T>, b: Tile<f32>) -> Tile<T> {
    a + b
}

#[function]
fn loop_from_a_float(n: Scalar<i32>) {
    for i in 0.5..n {}
}

#[kernel]
fn product_in_bf16(a: &Array<bf16, 2>) {
    let x = a.tiles([64, 64]).load((0, 0));
    let y = mma(x, x, zeros::<bf16>([64, 64]));
}

#[kernel]
fn product_of_f16_and_f32(a: &Array<f16, 2>) {
    let y = mma(a.tiles([64, 64]).load((0, 0)), zeros::<f32>([64, 64]), zeros::<f32>([64, 64]));
}

#[kernel]
fn matmul_of_integers(a: &Array<i32, 2>) {
    let x = a.tiles([64, 64]).load((0, 0));
    let y = x.matmul(x);
}
