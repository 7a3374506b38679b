//! Configurations of teams that take tiles by turns, on problems with several tiles for each block.

use girih_device::Device;
use girih_kernels::gemm::{GemmConfig, Gemms, Problem, configurations, described};
use half::bf16;

use super::{Failure, configs, fused};

/// The configurations of teams that a sweep may measure for `problem`, of tiles of at most so many columns.
fn all(device: &Device, problem: &Problem, columns: i64) -> Vec<GemmConfig> {
    let of_teams = |config: &GemmConfig| {
        let several = config.mainloop.warp_specialized().is_some_and(|parts| parts.teams > 1);
        several && config.tile[1] <= columns
    };
    configurations(problem, device.limits().multiprocessors).into_iter().filter(of_teams).collect()
}

/// Runs every `step`-th of them, and says how many these are.
pub(crate) fn verify(
    device: &Device,
    problem: &Problem,
    columns: i64,
    step: usize,
) -> Result<usize, Failure> {
    let some: Vec<GemmConfig> = all(device, problem, columns).into_iter().step_by(step).collect();
    for config in &some {
        configs::verify_on(device, problem, config)
            .map_err(|error| format!("{problem:?} by {}: {error}", described(config)))?;
    }
    Ok(some.len())
}

/// Runs the likeliest of them with one of [`fused::epilogues`].
pub(crate) fn verify_epilogue(
    device: &Device,
    problem: &Problem,
    columns: i64,
    number: usize,
) -> Result<(), Failure> {
    let config = *all(device, problem, columns).first().ok_or("no configuration of teams")?;
    let (epilogue, expected) = &fused::epilogues()[number];
    fused::verify::<bf16>(&Gemms::new(device), device, problem, config, epilogue, *expected)
        .map_err(|error| format!("{problem:?} by {}, {epilogue:?}: {error}", described(&config)).into())
}
