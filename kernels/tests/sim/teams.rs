//! Teams of warpgroups that take tiles by turns.

use girih_kernels::gemm::{Layout, Problem};
use girih_tensor::DType;

use girih_device::{Device, SimOptions};

use crate::common::{Failure, fused, teams};

/// The most columns of a tile: with small tiles and few multiprocessors, a small problem has several for each block.
const COLUMNS: i64 = 64;

fn small() -> Result<Device, Failure> {
    Ok(Device::open_sim(SimOptions { multiprocessors: Some(4), ..SimOptions::checked() })?)
}

#[test]
fn teams_multiply() -> Result<(), Failure> {
    let device = small()?;
    for (dtype, layout) in [
        (DType::Bf16, Layout::Tn),
        (DType::F16, Layout::Nt),
        (DType::Tf32, Layout::Tn),
        (DType::E4m3, Layout::Tn),
        (DType::S8, Layout::Tn),
    ] {
        let problem = Problem::new(dtype, [400, 200, 72], layout)?;
        assert!(teams::verify(&device, &problem, COLUMNS, 61)? > 0, "{problem:?}");
    }
    let batch = Problem::new(DType::Bf16, [264, 136, 72], Layout::Tn)?.batched(3, [None; 3])?;
    assert!(teams::verify(&device, &batch, COLUMNS, 61)? > 0, "{batch:?}");
    Ok(())
}

#[test]
fn teams_have_epilogues() -> Result<(), Failure> {
    let problem = Problem::new(DType::Bf16, [400, 136, 72], Layout::Tn)?;
    let device = small()?;
    (0..fused::epilogues().len())
        .try_for_each(|number| teams::verify_epilogue(&device, &problem, COLUMNS, number))
}
