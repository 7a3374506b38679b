//! Writes the modules of products of tiles, and says how long each takes from the Rust function to its PTX.
//!
//! `cargo run --release -p girih-tile --example product_modules -- FOLDER`

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use girih_tensor::DType;
use girih_tile::error::Error;
use girih_tile::facts::{ArrayFacts, Facts};
use girih_tile::ir::{Func, Known};
use girih_tile::prelude::*;
use girih_tile::product;

/// `c = a * b`.
#[kernel]
fn gemm<const BM: usize, const BN: usize, const BK: usize>(
    a: &Array<bf16, 2>,
    b: &Array<bf16, 2>,
    c: &mut Array<bf16, 2>,
) {
    let (i, j) = (bid(0), bid(1));
    let mut acc = zeros::<f32>([BM, BN]);
    for k in 0..cdiv(a.dim(1), BK) {
        let x = a.tiles([BM, BK]).padding(Padding::Zero).load((i, k));
        acc = mma(x, b.tiles([BK, BN]).padding(Padding::Zero).load((k, j)), acc);
    }
    c.tiles_mut([BM, BN]).store((i, j), acc.to::<bf16>());
}

/// `c = gelu(a * b + bias + residual)`, by the approximation with a hyperbolic tangent.
#[kernel]
fn gemm_gelu<const BM: usize, const BN: usize, const BK: usize>(
    a: &Array<bf16, 2>,
    b: &Array<bf16, 2>,
    bias: &Array<bf16, 1>,
    residual: &Array<bf16, 2>,
    c: &mut Array<bf16, 2>,
) {
    let (i, j) = (bid(0), bid(1));
    let mut acc = zeros::<f32>([BM, BN]);
    for k in 0..cdiv(a.dim(1), BK) {
        let x = a.tiles([BM, BK]).padding(Padding::Zero).load((i, k));
        acc = mma(x, b.tiles([BK, BN]).padding(Padding::Zero).load((k, j)), acc);
    }
    let x = acc + bias.tiles([BN]).load((j,)).to::<f32>() + residual.tiles([BM, BN]).load((i, j)).to::<f32>();
    let exponent = x * fma(x * x, -0.102_943_24, -2.302_208_2);
    let fast = Mode::new().rounding(Rounding::Approx).ftz();
    let y = truediv_with(x, exp2_with(exponent, fast) + 1.0, fast);
    c.tiles_mut([BM, BN]).store((i, j), y.to::<bf16>());
}

/// Row-major arrays of whole vectors; of B the rows are contiguous along K where `by_k` says so.
fn facts(ranks: &[usize], by_k: bool) -> Facts {
    let aligned = |rank: usize| ArrayFacts {
        extents: vec![Known::MultipleOf(8); rank],
        strides: [vec![Known::MultipleOf(8); rank - 1], vec![Known::Is(1)]].concat(),
        align: 16,
    };
    let mut arrays: Vec<ArrayFacts> = ranks.iter().map(|&rank| aligned(rank)).collect();
    if by_k {
        arrays[1].strides.reverse();
    }
    Facts { arrays, scalars: Vec::new() }
}

/// A program by the facts of its arrays.
type Build = fn(&Facts) -> Result<Func, Error>;

/// Times of a build that are taken.
const TIMES: usize = 7;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).map(PathBuf::from);
    folder.iter().try_for_each(fs::create_dir_all)?;
    let programs: [(&str, Build, &[usize]); 4] = [
        ("gemm_128x256x64", |facts| gemm::<128, 256, 64>::ir_with(facts), &[2, 2, 2]),
        ("gemm_128x128x64", |facts| gemm::<128, 128, 64>::ir_with(facts), &[2, 2, 2]),
        ("gemm_gelu_128x256x64", |facts| gemm_gelu::<128, 256, 64>::ir_with(facts), &[2, 2, 1, 2, 2]),
        ("gemm_gelu_128x128x64", |facts| gemm_gelu::<128, 128, 64>::ir_with(facts), &[2, 2, 1, 2, 2]),
    ];
    println!("{} from the function to its text, of {TIMES} builds: the least and the median", DType::Bf16);
    for (name, build, ranks) in programs {
        for (layout, by_k) in [("tn", true), ("tt", false)] {
            let facts = facts(ranks, by_k);
            let mut times: Vec<Duration> = Vec::new();
            let mut text = String::new();
            for _ in 0..TIMES {
                let start = Instant::now();
                let found = product::find(&build(&facts)?, 90, None).map_err(|why| why.to_string())?;
                text = found.kernel.kernel.module().to_string();
                times.push(start.elapsed());
            }
            times.sort();
            println!("{name} {layout}: {:.2?} {:.2?}", times[0], times[TIMES / 2]);
            if let Some(folder) = &folder {
                fs::write(folder.join(format!("{name}_{layout}.ptx")), text)?;
            }
        }
    }
    Ok(())
}
