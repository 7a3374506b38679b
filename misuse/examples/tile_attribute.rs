//! Kernels that the attribute refuses.
#![allow(unused, reason = "only what the compiler says to it counts")]

use girih_tile::prelude::*;

fn main() {}

#[kernel]
fn result(a: &Array<f32, 1>) -> i32 {
    0
}

#[kernel]
fn owned_array(a: Array<f32, 1>) {}

#[kernel]
fn other_reference(a: &[f32]) {}

#[kernel]
fn pattern((a, b): (Scalar<i32>, Scalar<i32>)) {}

#[kernel]
fn value_of_a_loop(n: Scalar<i32>) {
    let x = loop {
        break n;
    };
}

#[kernel(ocupancy)]
fn unknown_flag() {}

#[kernel(dialect = "fortran")]
fn unknown_dialect() {}
