//! Products by `wgmma`, against sums in f64 and the assembler's judgement.

mod attention;
mod chain;
mod gemm;

use std::path::PathBuf;
use std::process::Command;

use girih_tensor::DType;
use girih_tile::ir::{Func, Rounding, parse};
use girih_tile::reference::{ArrayData, float};
use girih_tile::{compile, place};
use rand::RngExt;
use rand::rngs::StdRng;

use crate::common::differ::simulate;

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
    let func = program(text);
    simulate(&func, 90, grid, arrays, scalars)
        .unwrap_or_else(|error| panic!("{error}\n{}", place::place(&func, 90).unwrap().func))
}

fn program(text: &str) -> Func {
    parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The program's kernel for sm_90 as text, which the assembler takes without complaint where there is one.
fn assembled(text: &str) -> String {
    let kernel = compile(&program(text), 90).unwrap().kernel.module().to_string();
    for line in complaints(&kernel).unwrap_or_default() {
        panic!("{line}\n{kernel}");
    }
    kernel
}

/// What the assembler objects to; none where it is not found.
fn complaints(kernel: &str) -> Option<Vec<String>> {
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../target/ptx-tools/ptxas");
    let ptxas = if own.exists() { own } else { PathBuf::from("ptxas") };
    let folder = std::env::temp_dir().join(format!("girih-wgmma-{}-{:p}", std::process::id(), kernel));
    std::fs::create_dir_all(&folder).unwrap();
    let source = folder.join("kernel.ptx");
    std::fs::write(&source, kernel).unwrap();
    let output = Command::new(ptxas)
        .args(["-v", "-arch=sm_90a", "-o"])
        .arg(folder.join("kernel.cubin"))
        .arg(&source)
        .output();
    std::fs::remove_dir_all(&folder).unwrap();
    let output = output.ok()?;
    let log = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    if std::env::var("GIRIH_PTXAS").is_ok() {
        println!("{log}");
    }
    let nonzero = |line: &str| {
        line.split(", ").any(|part| {
            (part.contains("stack") || part.contains("spill")) && !part.trim_start().starts_with("0 bytes")
        })
    };
    let bad = |line: &&str| {
        line.contains("C75")
            || line.contains("error")
            || line.contains("warning")
            || line.contains("bytes stack") && nonzero(line)
    };
    Some(log.lines().filter(bad).map(str::to_string).collect())
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
