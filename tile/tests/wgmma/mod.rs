//! Products by `wgmma`, against sums in f64 and the assembler's judgement.

pub(crate) mod attention;
mod chain;
mod gathers;
mod gemm;
mod loops;
mod operands;
mod overlap;
mod persistent;
pub(crate) mod random;
mod shared;
mod stores;

use girih_tensor::DType;
use girih_tile::ir::{Func, Rounding, parse};
use girih_tile::{compile, place};
use girih_tile_reference::{ArrayData, float};
use rand::RngExt;
use rand::rngs::StdRng;

use crate::common::assembler::complaints;
use crate::common::differ::{on_gpu, simulate};

/// Random numbers between -1 and 1 that a dtype has; small integers of integers.
fn numbers(rng: &mut StdRng, dtype: DType, extents: &[i64]) -> ArrayData {
    let one = |_| match dtype {
        DType::S8 => rng.random_range(-100i64..100) as u64 & 0xff,
        DType::U8 => rng.random_range(0u64..200),
        _ => float::encode(dtype, rng.random_range(-1.0..1.0), Rounding::Nearest),
    };
    ArrayData::dense(dtype, extents, &(0..extents.iter().product()).map(one).collect::<Vec<_>>())
}

/// The elements as numbers.
fn decoded(array: &ArrayData) -> Vec<f64> {
    let decode = |&bits: &u64| match array.dtype {
        DType::S8 => f64::from(bits as i8),
        DType::S32 => f64::from(bits as i32),
        dtype if dtype.is_float() => float::decode(dtype, bits),
        _ => bits as f64,
    };
    array.elements().unwrap().iter().map(decode).collect()
}

/// Runs a program for sm_90.
fn run(text: &str, grid: [u32; 3], arrays: &[ArrayData], scalars: &[u64]) -> Vec<ArrayData> {
    run_for(90, text, grid, arrays, scalars)
}

/// Runs a program for sm_`sm`.
fn run_for(sm: u32, text: &str, grid: [u32; 3], arrays: &[ArrayData], scalars: &[u64]) -> Vec<ArrayData> {
    let func = program(text);
    simulate(&func, sm, grid, arrays, scalars)
        .unwrap_or_else(|error| panic!("{error}\n{}", place::place(&func, sm).unwrap().func))
}

fn program(text: &str) -> Func {
    parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The program's kernel for sm_90 as text, which the assembler takes without complaint where there is one.
fn assembled(text: &str) -> String {
    let kernel = compile(&program(text), 90).unwrap().kernel.module().to_string();
    let bad = complaints(&kernel, "90a").unwrap_or_default();
    assert!(bad.is_empty(), "{bad:?}\n{kernel}");
    kernel
}

/// The bound of f32 sums of 8-bit floats over so many products of 32 elements: `wgmma` cuts off up to 2^-10 of the largest sum at each, as
/// `girih_kernels::gemm::check` says; the simulator does not.
fn bound_of_bytes(products: u32) -> f64 {
    if on_gpu() { f64::from(products) / 1024.0 } else { 1e-4 }
}

/// Asserts that numbers are near those wanted.
fn assert_near(got: &ArrayData, wanted: &[f64], bound: f64) {
    let got = decoded(got);
    assert_eq!(got.len(), wanted.len());
    for (i, (got, want)) in got.iter().zip(wanted).enumerate() {
        let near = (got - want).abs() <= bound * want.abs().max(1.0);
        assert!(near, "element {i} is {got}, {want} is right");
    }
}
