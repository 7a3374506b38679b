//! The configurations that are chosen for `wgmma`.

use girih_codegen::gemm::{Epilogue, generate};
use girih_kernels::gemm::{KernelKind, Layout, Problem, choose};
use girih_tensor::DType;

use crate::common::Failure;

fn tile(m: i64, n: i64, multiprocessors: u32) -> Result<[i64; 3], Failure> {
    let problem = Problem::new(DType::Bf16, [m, n, 64], Layout::Tn)?;
    Ok(choose(&problem, KernelKind::Sm90, multiprocessors)?.tile)
}

/// The tiles that a measurement on 132 multiprocessors found fastest.
#[test]
fn tiles_are_those_that_were_fastest() -> Result<(), Failure> {
    for (side, columns) in
        [(512, 64), (1024, 64), (1536, 192), (2048, 256), (3072, 192), (4096, 256), (8192, 256)]
    {
        assert_eq!(tile(side, side, 132)?, [128, columns, 64], "{side}");
    }
    Ok(())
}

/// The larger a device, the smaller the tiles that occupy it.
#[test]
fn more_multiprocessors_take_no_larger_tiles() -> Result<(), Failure> {
    assert_eq!(tile(1024, 1024, 1)?, [128, 256, 64]);
    for n in [8, 64, 1000, 4096] {
        assert_eq!(tile(128, n, 10_000)?, [128, 64, 64], "{n}");
    }
    Ok(())
}

#[test]
fn every_choice_can_be_built() -> Result<(), Failure> {
    for dtype in [DType::F16, DType::Bf16] {
        for layout in Layout::ALL {
            for n in [64, 1024, 1536, 4096] {
                let problem = Problem::new(dtype, [n, n, 64], layout)?;
                generate(&choose(&problem, KernelKind::Sm90, 132)?, &Epilogue::new())?;
            }
        }
    }
    Ok(())
}
